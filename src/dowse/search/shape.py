"""What an answer looks like as a whole, where a query asks for it: no copies, neighbours as one passage, variety.

All of it works on what was found, best first, and each step is off unless it is asked for: recency (newer documents
rise), folding (of texts that are nearly the same only the best stays, and names the others), merging (passages that
follow each other become one, with the exact span of both), diversity (what says the same as a better hit sinks).
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from dowse.ports import Snapshot
from dowse.search.asking import Asked
from dowse.search.fuse import CALIBRATION, score
from dowse.text.analyse import analyse
from dowse.types import Chunk, Explain, Feature, Passage, Query, Ref, version_of

if TYPE_CHECKING:
    from dowse.search.matching import Matcher

__all__ = ["Found", "is_shaped", "recent_first", "shaped"]

_ALIKE = 0.85  # share of words in common from which on two texts say the same
_MOST_MERGED = 4  # passages in one
_RECENT = 2.0  # what a document of today gains, in units of the logistic
_DAY_MS = 86_400_000


class Found(NamedTuple):
    """A passage on its way into an answer."""

    passage: Passage
    explain: Explain
    copies: tuple[str, ...] = ()


def is_shaped(query: Query) -> bool:
    """Whether anything is asked for that may need more hits than are shown."""
    return query.fold or query.merge or query.diversity > 0


def recent_first(query: Query, mode: str, found: Sequence[tuple[Passage, Explain]]) -> list[tuple[Passage, Explain]]:
    """With what their age adds to their evidence, best first; as they are where recency is not asked for."""
    if not query.recency:
        return list(found)
    from dowse.filters.fields import FIELDS, values_of  # most queries do not ask for it

    now = time.time_ns() // 1_000_000
    slope, _ = CALIBRATION[mode]
    aged = []
    for passage, explain in found:
        date = next(iter(values_of(FIELDS["date"], passage.info)), None)
        days = max(0.0, (now - date) / _DAY_MS) if isinstance(date, int | float) else float("inf")
        gain = Feature("recent", 0.5 ** (days / query.recency), _RECENT / slope)
        fused = explain.fused + gain.weight * gain.value
        parts = (*explain.features, gain)
        aged.append((passage, replace(explain, fused=fused, score=score(mode, fused), features=parts)))
    return sorted(aged, key=lambda each: -each[1].score)


def shaped(snapshot: Snapshot, query: Query, found: Iterable[tuple[Passage, Explain]], asked: Asked) -> list[Found]:
    """What was found, in the shape that the query asks for, best first."""
    made = [Found(passage, explain) for passage, explain in found]
    if query.fold:
        made = _folded(made)
    if query.merge:
        made = _merged(snapshot, made, asked.matcher)
    return _varied(made, query.diversity) if query.diversity else made


def _folded(found: Sequence[Found]) -> list[Found]:
    """The best of each text, and in which other files nearly the same stands."""
    kept: list[tuple[Found, frozenset[str]]] = []
    for each in found:
        words = _words(each)
        place = next((at for at, (best, others) in enumerate(kept) if _is_copy(each, words, best, others)), None)
        if place is None:
            kept.append((each, words))
            continue
        best, others = kept[place]
        file = each.passage.info.file
        if each.passage.info.id != best.passage.info.id and file not in best.copies:
            kept[place] = best._replace(copies=(*best.copies, file)), others
    return [each for each, _ in kept]


def _is_copy(one: Found, words: frozenset[str], other: Found, others: frozenset[str]) -> bool:
    """Whether two passages say the same; in one document, and where numbers differ, only the very same words do."""
    if one.passage.info.id == other.passage.info.id:
        return words == others
    return _likeness(words, others) >= _ALIKE and not any(map(_has_digit, words ^ others))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _varied(found: Sequence[Found], diversity: float) -> list[Found]:
    """In an order in which each is both good and unlike those before it; scores stay as they are."""
    words = [_words(each) for each in found]
    left = list(range(len(found)))
    likeness = [0.0] * len(found)
    order: list[int] = []
    while left:
        best = max(left, key=lambda at: ((1 - diversity) * found[at].explain.score - diversity * likeness[at], -at))
        left.remove(best)
        order.append(best)
        for at in left:
            likeness[at] = max(likeness[at], _likeness(words[at], words[best]))
    return [found[at] for at in order]


def _words(found: Found) -> frozenset[str]:
    return frozenset(analyse(found.passage.chunk.text))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common."""
    if one == other:
        return 1.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def _merged(snapshot: Snapshot, found: Sequence[Found], matcher: "Matcher") -> list[Found]:
    """With passages that follow each other in a document as one, in the place of the best of them.

    A passage is found by the words around it, too: only those count that have some themselves, or are near in meaning.
    """
    refs = {each.passage.ref for each in found}
    beside = [each for each in found if not refs.isdisjoint((each.passage.ref - 1, each.passage.ref + 1))]
    runs = _runs([each for each in beside if _hits_itself(each, matcher)])
    made: dict[Ref, Found] = {}
    for each in found:
        run = runs.get(each.passage.ref, [each])
        first = run[0].passage.ref
        if first not in made:
            document = snapshot.document(each.passage.info.id) if len(run) > 1 else None
            made[first] = _one(each, run, document.text) if document else each
    return list(made.values())


def _hits_itself(found: Found, matcher: "Matcher") -> bool:
    is_near = any(leg.name == "vec" and leg.rank is not None for leg in found.explain.legs)
    return is_near or bool(matcher.matches(found.passage.chunk.text))


def _runs(found: Sequence[Found]) -> dict[Ref, list[Found]]:
    """For each passage those that it is one with, itself included, in the order of the text."""
    runs: dict[Ref, list[Found]] = {}
    last: list[Found] = []
    for each in sorted(found, key=lambda each: each.passage.ref):  # a ref counts on from passage to passage
        is_next = bool(last) and each.passage.ref == last[-1].passage.ref + 1
        if not is_next or version_of(each.passage.ref) != version_of(last[-1].passage.ref) or len(last) == _MOST_MERGED:
            last = []
        last.append(each)
        runs[each.passage.ref] = last
    return runs


def _one(best: Found, together: Sequence[Found], text: str) -> Found:
    """One passage of several that follow each other, with the evidence of the best."""
    chunks = [each.passage.chunk for each in together]
    first, last = chunks[0], chunks[-1]
    start, end = first.start, max(chunk.end for chunk in chunks)
    headings = tuple(_common([chunk.headings for chunk in chunks]))
    chunk = Chunk(
        text[start:end],
        start,
        end,
        first.first_line,
        last.last_line,
        sum(chunk.tokens for chunk in chunks),
        headings,
        min(chunk.level for chunk in chunks),
        first.page,
        first.place,
    )
    copies = tuple(dict.fromkeys(file for each in together for file in each.copies))
    passage = replace(best.passage, chunk=chunk, ordinal=together[0].passage.ordinal)
    return Found(passage, best.explain, copies)


def _common(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """What the heading paths have in common, from the outermost on."""
    return [names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))]
