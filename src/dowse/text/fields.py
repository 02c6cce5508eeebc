"""What the lexical index holds of a chunk, and what each field is worth.

A chunk is too small to be judged alone: a question's words are often spread over its section. So a row
holds the chunk's own words in `body` and, in `around`, the same with the words next to it: BM25 over both
ranks documents about as well as BM25 over whole documents, and passages better than BM25 over
passages. Both start with the title and the headings above the chunk. Any store that scores with
these fields, boosts and constants ranks alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import log
from types import MappingProxyType

from dowse.text.analyse import analyse, by_word
from dowse.types import Chunk

__all__ = ["AROUND", "BOOSTS", "K1", "B", "ceiling", "each_row", "idf", "lexical_rows"]

BOOSTS: Mapping[str, float] = MappingProxyType({"body": 0.5, "around": 0.5, "title": 0.3, "path": 0.3})
"""The weight of each field's BM25. A higher one for paths buries verbatim sentences below files so named."""

K1 = 1.2
B = 0.75
"""The constants of BM25; tantivy's are fixed to these."""

AROUND = 100
"""How many words before and after a chunk its `around` holds; terms, beyond ASCII."""


def lexical_rows(title: str, path: str, chunks: Sequence[Chunk]) -> list[dict[str, str]]:
    """The terms of each field for each chunk of one document, joined by spaces, in the order of the chunks."""
    return list(each_row(title, path, chunks))


def each_row(title: str, path: str, chunks: Sequence[Chunk]) -> Iterator[dict[str, str]]:
    """The same one by one: together they take several times the document."""
    path_terms = " ".join(by_word(path))
    heads: dict[tuple[str, ...], str] = {}
    # A word of a script without spaces may be a paragraph long, and AROUND of them would be everything.
    own = [by_word(chunk.text) if chunk.text.isascii() else analyse(chunk.text) for chunk in chunks]
    whole = list(chain.from_iterable(own))
    end = 0
    for chunk, words in zip(chunks, own, strict=True):
        head = heads.get(chunk.headings)
        if head is None:
            head = heads[chunk.headings] = _head(title, chunk.headings)
        start, end = end, end + len(words)
        before, body, after = whole[max(0, start - AROUND) : start], " ".join(words), whole[end : end + AROUND]
        yield {
            "body": f"{head} {body}",
            "around": f"{head} {' '.join(before)} {body} {' '.join(after)}",
            "title": head,
            "path": path_terms,
        }


def idf(documents: int, containing: int) -> float:
    """How much a term tells that `containing` of all `documents` rows hold in a field."""
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def ceiling(idfs: Mapping[str, Iterable[float]]) -> float:
    """The most that any row could score, from the idf of each query term that a field knows, by field."""
    return sum(BOOSTS[field] * (K1 + 1) * sum(values) for field, values in idfs.items())


def _head(title: str, headings: Sequence[str]) -> str:
    """The terms of the title and the headings; a title that is the first heading counts once."""
    names = [*headings] if headings and headings[0] == title else [title, *headings]
    return " ".join([word for name in names for word in by_word(name)])
