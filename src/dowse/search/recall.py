"""Candidates and their evidence: each leg's best passages, and each leg's exact value for the others' candidates.

Several searches by words become one leg, each by its share of what its words could reach, weighted; several by
meaning too, by their mean beside words, and by the best of them where only meaning is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from dowse.ports import Snapshot
from dowse.records import record
from dowse.search.asking import Words
from dowse.search.describing import with_descriptions, with_gains
from dowse.search.fuse import Evidence, LegName
from dowse.types import ModelIdentity, Ranked, Ref, Scope

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Legs", "recall"]

Vectors = Sequence[tuple["Vector", float]]
_One = TypeVar("_One")
_Other = TypeVar("_Other")


@record
class Legs:
    """What is searched with: words, vectors with the model that made them, or both."""

    words: tuple[Words, ...]
    identity: ModelIdentity | None = None
    vectors: "tuple[tuple[Vector, float], ...]" = ()


def recall(snapshot: Snapshot, scope: Scope, legs: Legs, depth: int) -> tuple[dict[LegName, Evidence], bool]:
    """The evidence of every leg, and whether there is nothing more to be had."""
    if not legs.vectors or legs.identity is None:
        words, is_all = _by_words(snapshot, scope, legs.words, depth)
        return {"lex": words}, is_all
    if not legs.words:
        near, is_all = _by_meaning(snapshot, scope, legs, depth)
        return {"vec": near}, is_all
    if any(each.required for each in legs.words):
        # Only what has the phrases' words can answer, whatever else is near.
        words, no_more_words = _by_words(snapshot, scope, legs.words, depth)
        near, no_more_near = _judged(snapshot, legs, list(words.values)), True
    else:
        (words, no_more_words), (near, no_more_near) = _both(
            snapshot,
            lambda: _by_words(snapshot, scope, legs.words, depth),
            lambda: _by_meaning(snapshot, scope, legs, depth),
        )
    only_near = [ref for ref in near.values if ref not in words.values]
    only_words = [ref for ref in words.values if ref not in near.values]
    more_words, more_near = _both(
        snapshot,
        lambda: _word_values(snapshot, legs.words, only_near),
        lambda: _cosines(snapshot, legs, only_words),
    )
    evidence: dict[LegName, Evidence] = {
        "lex": Evidence(words.ranked, {**words.values, **more_words}),
        "vec": Evidence(near.ranked, {**near.values, **more_near}),
    }
    return evidence, no_more_words and no_more_near


def _both(snapshot: Snapshot, one: Callable[[], _One], other: Callable[[], _Other]) -> tuple[_One, _Other]:
    """What both find: at once where the store is elsewhere, else one after the other."""
    if not snapshot.is_remote:
        return one(), other()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as beside:
        begun = beside.submit(other)
        return one(), begun.result()


def _by_words(snapshot: Snapshot, scope: Scope, words: Sequence[Words], depth: int) -> tuple[Evidence, bool]:
    lists = [snapshot.lexical(each.terms, depth, scope, each.alternatives, each.required) for each in words]
    is_all = all(len(each.hits) < depth for each in lists)
    lists = [
        with_descriptions(snapshot, scope, each, found, depth) if each.places else _judged_by_all(each, found)
        for each, found in zip(words, lists, strict=True)
    ]
    if len(lists) == 1:
        return Evidence(lists[0], dict(lists[0].hits)), is_all
    refs = list(dict.fromkeys(ref for each in lists for ref, _ in each.hits))
    known = [dict(each.hits) for each in lists]
    values = _weighed(snapshot, words, refs, known, [each.ceiling for each in lists])
    return Evidence(_ranked(values), values), is_all


def _judged_by_all(words: Words, ranked: Ranked) -> Ranked:
    """The same list, with a ceiling that counts also the words that no passage has."""
    return replace(ranked, ceiling=ranked.ceiling / words.known) if 0 < words.known < 1 else ranked


def _weighed(
    snapshot: Snapshot,
    words: Sequence[Words],
    refs: Sequence[Ref],
    known: Sequence[Mapping[Ref, float]],
    ceilings: Sequence[float],
) -> dict[Ref, float]:
    """The weighted mean of the shares that the searches give each ref."""
    total = sum(each.weight for each in words)
    values = dict.fromkeys(refs, 0.0)
    for each, held, ceiling in zip(words, known, ceilings, strict=True):
        if not ceiling:
            continue
        missing = [ref for ref in refs if ref not in held]
        scores = {**held, **_scores(snapshot, each, missing)}
        for ref in refs:
            values[ref] += each.weight / total * min(scores[ref] / ceiling, 1.0)
    return values


def _word_values(snapshot: Snapshot, words: Sequence[Words], refs: Sequence[Ref]) -> dict[Ref, float]:
    """The values of just these refs, on the scale of `_by_words`."""
    if not refs:
        return {}
    if len(words) == 1:
        return _scores(snapshot, words[0], refs)
    ceilings = [sum(each.worth.values()) for each in words]
    return _weighed(snapshot, words, refs, [{} for _ in words], ceilings)


def _scores(snapshot: Snapshot, words: Words, refs: Sequence[Ref]) -> dict[Ref, float]:
    scores = snapshot.lexical_scores(words.terms, refs, words.alternatives)
    return with_gains(snapshot, words, scores) if words.places else scores


def _by_meaning(snapshot: Snapshot, scope: Scope, legs: Legs, depth: int) -> tuple[Evidence, bool]:
    assert legs.identity is not None  # noqa: S101 - whoever has vectors has their model
    lists = [snapshot.nearest(legs.identity, vector, depth, scope) for vector, _ in legs.vectors]
    is_all = all(len(each.hits) < depth for each in lists)
    if len(lists) == 1:
        return Evidence(lists[0], dict(lists[0].hits)), is_all
    return _judged(snapshot, legs, list(dict.fromkeys(ref for each in lists for ref, _ in each.hits))), is_all


def _judged(snapshot: Snapshot, legs: Legs, refs: Sequence[Ref]) -> Evidence:
    """What meaning says of just these."""
    values = _cosines(snapshot, legs, refs)
    return Evidence(_ranked(values), values)


def _cosines(snapshot: Snapshot, legs: Legs, refs: Sequence[Ref]) -> dict[Ref, float]:
    """The cosines of these refs over all vectors: their mean, or without words the best."""
    assert legs.identity is not None  # noqa: S101 - whoever has vectors has their model
    if not refs:
        return {}
    found = [(snapshot.cosines(legs.identity, vector, refs), weight) for vector, weight in legs.vectors]
    if len(found) == 1:
        return found[0][0]
    total = sum(weight for _, weight in found)
    have = [ref for ref in refs if ref in found[0][0]]
    if not legs.words:
        return {ref: max(cosines[ref] for cosines, _ in found) for ref in have}
    return {ref: sum(weight * cosines[ref] for cosines, weight in found) / total for ref in have}


def _ranked(values: Mapping[Ref, float]) -> Ranked:
    return Ranked(tuple(sorted(values.items(), key=lambda hit: (-hit[1], hit[0]))), 1.0)
