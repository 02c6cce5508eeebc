"""What only a passage's text can tell: whether the question's words stand close together in it, and in their order.

BM25 counts words wherever they stand, and a vector blurs them. A passage that says what is asked says it in one
place: most of the question's words within a few lines (`window`), and neighbours in the question as neighbours in
the passage (`pairs`). Both are shares, from 0 to 1, of what the question's words are worth. And code is another
language than questions: of that a text tells by its signs alone (`is_code`).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dowse.search.asking import Words, is_spelling
from dowse.search.matching import Match
from dowse.text.analyse import analyse

__all__ = ["NOTHING", "Close", "Closeness", "is_code", "names_something"]

_WINDOW = 200  # characters: some thirty words
_GAP = 12  # characters between neighbours: a space, punctuation, a small word
_SIGNS = b"(){}[];=<>_"
_CODE = 0.03  # share of signs: of prose one passage in a hundred has as many, of code nineteen in twenty
_LEAST_SIGNS = 4  # a short sentence may have an aside in brackets
_NAME = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]|::|\w\(\)|\w\.\w+\(")


class Close(NamedTuple):
    """What a passage has of a search by words."""

    window: float
    pairs: float
    words: int
    """How many of its telling words."""


NOTHING = Close(0.0, 0.0, 0)


class Closeness:
    """Looks at passages for one search by words; made once per question."""

    def __init__(self, words: Words, terms: Sequence[str]) -> None:
        """`terms` are those whose bits the matches have: the search's own first, then whatever else is looked for."""
        # Of 数据库, 数 alone says little, and is not looked for.
        parts = {letter for term in words.terms if len(term) > 1 and not term.isascii() for letter in term}
        self._worth = [0.0 if term in parts else words.worth.get(term, 0.0) for term in words.terms]
        self._total = sum(self._worth)
        place = {term: number for number, term in enumerate(words.terms)}
        self._stands_for = [*place.values()]
        others = {other: place[term] for term, group in words.alternatives.items() if term in place for other in group}
        self._stands_for += [others.get(term, -1) for term in terms[len(place) :]]
        order = [place[term] for term in analyse(words.text) if term in place and self._worth[place[term]]]
        self._pairs = {(1 << a, 1 << b): min(self._worth[a], self._worth[b]) for a, b in pairwise(order) if a != b}
        self._total_of_pairs = sum(self._pairs.values())
        self._telling = sum(
            1 << number
            for number, term in enumerate(words.terms)
            if self._worth[number] and not is_spelling(term, words.terms)
        )
        self._own: dict[int, int] = {}
        self._values: dict[int, float] = {}

    def of(self, matches: Sequence[Match]) -> Close:
        """What a passage has, from where it has the question's words."""
        if not self._total or not matches:
            return NOTHING
        found = [(start, end, self._own_terms(bits)) for start, end, bits in matches]
        everything = 0
        for _, _, terms in found:
            everything |= terms
        window = self._best_window(found, self._value(everything)) / self._total
        pairs = self._together(found) / self._total_of_pairs if self._total_of_pairs else 0.0
        return Close(window, pairs, (everything & self._telling).bit_count())

    def _own_terms(self, bits: int) -> int:
        """The search's own terms among the matched ones; an alternative counts as the term that it stands for."""
        own = self._own.get(bits)
        if own is None:
            places = {term for number, term in enumerate(self._stands_for) if bits >> number & 1 and term >= 0}
            own = self._own[bits] = sum(1 << term for term in places)
        return own

    def _value(self, terms: int) -> float:
        value = self._values.get(terms)
        if value is None:
            value = sum(worth for number, worth in enumerate(self._worth) if terms >> number & 1)
            self._values[terms] = value
        return value

    def _best_window(self, found: Sequence[Match], most: float) -> float:
        best = 0.0
        for number, (first, _, terms) in enumerate(found):
            inside, farthest = terms, first + _WINDOW
            for _, end, others in found[number + 1 :]:
                if end > farthest:
                    break
                inside |= others
            best = max(best, self._value(inside))
            if best >= most:
                break
        return best

    def _together(self, found: Sequence[Match]) -> float:
        """What the pairs are worth that stand together: one after the other, or as parts of one word."""
        near = [(terms, terms) for _, _, terms in found if terms & (terms - 1)]
        near += [(a, b) for (_, end, a), (start, _, b) in pairwise(found) if start - end <= _GAP]
        if not near:
            return 0.0
        return sum(worth for (a, b), worth in self._pairs.items() if any(a & one and b & two for one, two in near))


def is_code(text: str) -> bool:
    """Whether a text has as many brackets, semicolons and the like as only code has."""
    data = text.encode(errors="replace")
    signs = len(data) - len(data.translate(None, _SIGNS))
    return signs >= _LEAST_SIGNS and signs > _CODE * len(data)


def names_something(text: str) -> bool:
    """Whether a question spells an identifier, as `read_file` and `Path::new` are: it wants these very words."""
    return bool(_NAME.search(text))
