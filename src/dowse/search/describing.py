"""What users' descriptions of places add to a search by words, where they have words of the question.

A passage is then also looked for in the described place alone, so that it comes up however many others have more of
the words; and where no passage there has any, the place's first documents answer.
"""

from collections.abc import Iterator, Mapping

from dowse.ports import Snapshot
from dowse.search.asking import Words
from dowse.search.contexts import gains, lies_in
from dowse.types import Compare, Context, DocumentInfo, Filter, Or, Ranked, Ref, Scope

__all__ = ["with_descriptions", "with_gains"]

_SHOWN = 10  # documents of a place that is found by its description alone


def with_descriptions(snapshot: Snapshot, scope: Scope, words: Words, ranked: Ranked, depth: int) -> Ranked:
    """A list with what descriptions add to it, below a ceiling that counts all words."""
    scores = dict(ranked.hits)
    for place in words.places:
        inside = _inside(scope, place.context)
        if inside is None:
            continue
        found = snapshot.lexical(words.terms, depth, inside, words.alternatives, words.required).hits
        scores |= dict(found)
        if not found and not words.required:
            scores |= dict.fromkeys(_first_passages(snapshot, scope, place.context), 0.0)
    hits = sorted(with_gains(snapshot, words, scores).items(), key=lambda hit: (-hit[1], hit[0]))
    return Ranked(tuple(hits), sum(words.worth.values()))


def with_gains(snapshot: Snapshot, words: Words, scores: Mapping[Ref, float]) -> dict[Ref, float]:
    """These scores with what the descriptions of each passage's document add."""
    known: dict[str, float] = {}
    gained = dict(scores)
    for passage in snapshot.passages(list(scores)):
        file = passage.info.file
        if file not in known:
            known[file] = gains(words.places, words.worth, passage.info)
        gained[passage.ref] += known[file]
    return gained


def _inside(scope: Scope, context: Context) -> Scope | None:
    """The scope within a place; None where they have nothing in common."""
    if context.collection is None or (scope.collections is not None and context.collection not in scope.collections):
        return None
    return Scope(frozenset({context.collection}), _both(scope.filter, context.prefix))


def _both(condition: Filter | None, prefix: str) -> Filter | None:
    if not prefix:
        return condition
    from dowse.filters import both  # few questions meet a description

    return both(condition, Or((Compare("path", "eq", prefix), Compare("path", "prefix", f"{prefix}/"))))


def _first_passages(snapshot: Snapshot, scope: Scope, context: Context) -> Iterator[Ref]:
    from dowse.filters import predicate  # few questions meet a description

    is_let_through = predicate(scope.filter) if scope.filter else None
    for info in _documents(snapshot, scope, context):
        for passage in snapshot.chunks(info.id):
            if is_let_through is None or is_let_through(info, passage.chunk, passage.ordinal):
                yield passage.ref
                break


def _documents(snapshot: Snapshot, scope: Scope, context: Context) -> list[DocumentInfo]:
    """Those of a folder, or the file that the context is about."""
    for prefix in (f"{context.prefix}/", context.prefix) if context.prefix else ("",):
        listed = snapshot.documents(context.collection, prefix=prefix, filter=scope.filter, limit=_SHOWN)
        if found := [info for info in listed if lies_in(info, context)]:
            return found
    return []
