"""BM25 as tantivy computes it, written out term by term."""

import math
from collections.abc import Mapping, Sequence

from dowse.text.fields import BOOSTS, K1, B
from dowse.types import Ref

_EXACT_LENGTHS = 24
_LENGTH_BITS = 4


class Bm25:
    """The statistics of every indexed chunk, and the scores that follow from them.

    Statistics are kept per field and over the whole index: what a search may look at does not change them.
    """

    def __init__(self, chunks: Mapping[Ref, Mapping[str, Sequence[str]]]) -> None:
        self._chunks = chunks

    def matches(self, terms: Sequence[str], ref: Ref) -> bool:
        """Whether any field of the chunk has any of the terms."""
        return any(term in self._words(ref, field) for field in BOOSTS for term in terms)

    def score(self, terms: Sequence[str], ref: Ref) -> float:
        """The sum over fields and distinct terms of boost * idf * saturated frequency."""
        return sum(
            boost * self._idf(field, term) * self._saturation(field, term, ref)
            for field, boost in BOOSTS.items()
            for term in set(terms)
        )

    def ceiling(self, terms: Sequence[str]) -> float:
        """What a text would score if it were full of every term in each field that knows the term at all.

        The more often a word stands in a text, the nearer its saturation comes to k1 + 1.
        """
        return sum(
            boost * self._idf(field, term) * (K1 + 1)
            for field, boost in BOOSTS.items()
            for term in set(terms)
            if self.having(field, term)
        )

    def words(self, field: str) -> list[str]:
        """Every word of the field, once for each chunk that has it."""
        return [word for ref in self._chunks for word in set(self._words(ref, field))]

    def having(self, field: str, term: str) -> int:
        """How many chunks have the term in this field."""
        return sum(1 for ref in self._chunks if term in self._words(ref, field))

    def _words(self, ref: Ref, field: str) -> Sequence[str]:
        return self._chunks[ref].get(field, ())

    def _idf(self, field: str, term: str) -> float:
        having = self.having(field, term)
        return math.log(1 + (len(self._chunks) - having + 0.5) / (having + 0.5))

    def _saturation(self, field: str, term: str, ref: Ref) -> float:
        words = self._words(ref, field)
        frequency = sum(1 for word in words if word == term)
        if frequency == 0:
            return 0.0
        average = sum(len(self._words(other, field)) for other in self._chunks) / len(self._chunks)
        length = rounded_length(len(words))
        return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))


def rounded_length(words: int) -> int:
    """The length of a field as tantivy keeps it, in one byte: exact at first, then four binary digits."""
    above = max(0, words - _EXACT_LENGTHS)
    shift = max(0, above.bit_length() - _LENGTH_BITS)
    return words - above + (above >> shift << shift)
