"""Descriptions that users gave to places: which of them apply to a document, and what they add to a search by words.

A description counts like a field of everything below its place, but is not indexed: there are few of them, so they are
read when a question comes, and a change of one costs nothing. A word of the question that stands in one adds a part
of its worth to every passage there. Those that apply to all documents tell none from another and add nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from dowse.records import record
from dowse.text.analyse import analyse
from dowse.types import Context, DocumentInfo

__all__ = ["CONTEXT", "Described", "contexts_of", "described", "gains", "lies_in"]

CONTEXT = 0.2
"""Which part of a word's worth a passage gets where the word stands in a description of its place: about as much as
in its path. benchmarks/chunking.py measures it; on its documents 0.15 to 0.5 rank alike."""
_KEPT = 1_000


@record
class Described:
    """A place whose description has words of a question."""

    context: Context
    terms: frozenset[str]


def described(contexts: Iterable[Context], terms: Sequence[str]) -> tuple[Described, ...]:
    """The places whose descriptions have some of these terms."""
    found = [
        Described(each, shared)
        for each in contexts
        if each.collection is not None and (shared := _terms(each.text).intersection(terms))
    ]
    return tuple(found)


def gains(places: Sequence[Described], worth: Mapping[str, float], info: DocumentInfo) -> float:
    """What the descriptions of a document add to its passages' BM25; a word counts once, however many have it."""
    said = frozenset().union(*(each.terms for each in places if lies_in(info, each.context)))
    return CONTEXT * sum(worth.get(term, 0.0) for term in said)


def contexts_of(info: DocumentInfo, contexts: Iterable[Context]) -> tuple[str, ...]:
    """The texts of every context whose place the document lies in: the general ones first, then nearer ones."""
    return tuple(context.text for context in contexts if lies_in(info, context))


def lies_in(info: DocumentInfo, context: Context) -> bool:
    """Whether a context is about this document; a prefix is made of whole path segments."""
    return context.collection is None or (
        context.collection == info.collection and f"{info.path}/".startswith(_with_slash(context.prefix))
    )


@lru_cache(_KEPT)
def _terms(text: str) -> frozenset[str]:
    return frozenset(analyse(text))


def _with_slash(prefix: str) -> str:
    return f"{prefix}/" if prefix else ""
