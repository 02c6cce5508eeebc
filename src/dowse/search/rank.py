"""From evidence to an order: fused, and for the best candidates of a hybrid search, read.

Reading costs some 50 microseconds a passage, and what stands further down hardly ever comes up among the first
ten: twenty are read. The others count as what reading usually finds in passages with as many of the words, so that
scores mean the same above and below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from dowse.ports import Snapshot
from dowse.records import record
from dowse.search.asking import Asked
from dowse.search.features import Close, Closeness, is_code, names_something
from dowse.search.fuse import Evidence, LegName, Weights, best_unseen, explain, fuse, read_again, without_vector
from dowse.search.reciprocal import RANKS, by_places, explain_places, unseen_place
from dowse.types import Explain, Feature, Passage, Ref

__all__ = ["Ranking", "rank"]

_READ = 20
_SAMPLED = 10  # candidates by which it is told whether the answers are code
_SENTENCE = 4  # terms; fewer may stand together by chance
_VERBATIM = 0.99


@record
class Ranking:
    """The candidates in their order, with all that explains it."""

    mode: str
    evidence: Mapping[LegName, Evidence]
    hits: Sequence[tuple[Ref, float]]
    """Best first, each with what it was ordered by."""
    weights: Weights
    features: Mapping[Ref, tuple[Feature, ...]] = field(default_factory=dict)

    def explain(self, refs: Sequence[Ref]) -> dict[Ref, Explain]:
        """How each of these came by its score."""
        if self.mode == RANKS:
            return explain_places(self.evidence, refs)
        return explain(self.mode, self.evidence, refs, self.weights, self.features)

    @property
    def best_unseen(self) -> float:
        """The most that a passage could score that is not among the candidates."""
        if self.mode == RANKS:
            return unseen_place(self.evidence)
        return best_unseen(self.mode, self.evidence, self.weights)


def rank(snapshot: Snapshot, asked: Asked, mode: str, evidence: Mapping[LegName, Evidence]) -> Ranking:
    """The candidates, best first."""
    if not snapshot.comparable_scores:
        return Ranking(RANKS, evidence, by_places(evidence), Weights({}))
    weights = Weights.of(mode)
    if len(evidence) == 1:
        (leg,) = evidence.values()
        return Ranking(mode, evidence, leg.ranked.hits, weights)  # in its own order: there is nothing to add up
    hits = fuse(mode, evidence)
    if not hits:
        return Ranking(mode, evidence, hits, weights)
    reading = _Reading(snapshot, asked)
    reading.look_at([ref for ref, _ in hits[:_READ]])
    code = reading.share_of_code([ref for ref, _ in hits[:_SAMPLED]])
    if code and not reading.is_verbatim and not names_something(asked.text):
        weights = Weights.of(mode, code)
        hits = fuse(mode, evidence, weights)
        reading.look_at([ref for ref, _ in hits[:_READ]])
    unjudged = set(without_vector(evidence))
    read = [ref for ref, _ in hits[:_READ] if ref in reading.close and ref not in unjudged]
    features = {ref: _features(weights, reading.close[ref]) for ref in read}
    judged = read_again(evidence, weights, features)
    hits = [(ref, judged.get(ref, fused)) for ref, fused in hits]
    hits.sort(key=lambda each: (-each[1], each[0]))
    return Ranking(mode, evidence, hits, weights, features)


class _Reading:
    """What was found in the passages that were looked at."""

    def __init__(self, snapshot: Snapshot, asked: Asked) -> None:
        self._snapshot, self._matcher = snapshot, asked.matcher
        self._closeness = Closeness(asked.words[0], asked.terms)
        self._may_be_verbatim = len(asked.words[0].terms) >= _SENTENCE
        self._code: dict[Ref, bool] = {}
        self.close: dict[Ref, Close] = {}

    def look_at(self, refs: Sequence[Ref]) -> None:
        """Read those that were not read yet."""
        for passage in self._snapshot.passages([ref for ref in refs if ref not in self.close]):
            self._code[passage.ref] = is_code(passage.chunk.text)
            self.close[passage.ref] = self._closeness.of(self._matcher.matches(_said(passage)))

    def share_of_code(self, refs: Sequence[Ref]) -> float:
        """How many of these are code."""
        known = [self._code[ref] for ref in refs if ref in self._code]
        return sum(known) / len(known) if known else 0.0

    @property
    def is_verbatim(self) -> bool:
        """Whether some passage says what was asked word for word."""
        return self._may_be_verbatim and any(min(close[:2]) >= _VERBATIM for close in self.close.values())


def _features(weights: Weights, close: Close) -> tuple[Feature, ...]:
    worth = weights.features
    return Feature("window", close.window, worth["window"]), Feature("pairs", close.pairs, worth["pairs"])


def _said(passage: Passage) -> str:
    """What is read of a passage: its own text, for headings repeat what BM25 has counted twice already."""
    return passage.chunk.text
