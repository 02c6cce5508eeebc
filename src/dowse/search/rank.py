"""From evidence to an order: fused, and for the best candidates of a hybrid search, read.

Reading costs some 50 microseconds a passage, and what stands further down hardly ever comes up among the first
ten: twenty are read. The others count as what reading usually finds in passages with as many of the words, so that
scores mean the same above and below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dowse.ports import Snapshot
from dowse.search.asking import Asked
from dowse.search.features import Closeness, is_code, names_something
from dowse.search.fuse import Evidence, LegName, Weights, best_unseen, explain, fuse, without_vector
from dowse.search.matching import Matcher
from dowse.types import Explain, Feature, Passage, Ref

__all__ = ["Ranking", "rank"]

_READ = 20
_SAMPLED = 10  # candidates by which it is told whether the answers are code


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates in their order, with all that explains it."""

    mode: str
    evidence: Mapping[LegName, Evidence]
    hits: Sequence[tuple[Ref, float]]
    weights: Weights
    features: Mapping[Ref, tuple[Feature, ...]] = field(default_factory=dict)

    def explain(self, refs: Sequence[Ref]) -> dict[Ref, Explain]:
        """How each of these came by its score."""
        return explain(self.mode, self.evidence, refs, self.weights, self.features)

    @property
    def best_unseen(self) -> float:
        """The most that a passage could score that is not among the candidates."""
        return best_unseen(self.mode, self.evidence, self.weights)


def rank(
    snapshot: Snapshot, asked: Asked, mode: str, evidence: Mapping[LegName, Evidence], matcher: Matcher
) -> Ranking:
    """The candidates, best first."""
    hits, weights = fuse(mode, evidence), Weights.of(mode)
    if mode != "hybrid" or not hits:
        return Ranking(mode, evidence, hits, weights)
    read = {passage.ref: passage for passage in snapshot.passages([ref for ref, _ in hits[:_READ]])}
    code = _share_of_code([read[ref] for ref, _ in hits[:_SAMPLED] if ref in read])
    if code and not names_something(asked.text):
        weights = Weights.of(mode, code)
        hits = fuse(mode, evidence, weights)
        missing = [ref for ref, _ in hits[:_READ] if ref not in read]
        read |= {passage.ref: passage for passage in snapshot.passages(missing)}
    closeness = Closeness(asked.words[0], asked.terms)
    unjudged = set(without_vector(evidence))
    features = {}
    for ref, _ in hits[:_READ]:
        if ref in read and ref not in unjudged:
            window, pairs = closeness.of(matcher.matches(_said(read[ref])))
            worth = weights.features
            features[ref] = (Feature("window", window, worth["window"]), Feature("pairs", pairs, worth["pairs"]))
    explained = explain(mode, evidence, list(features), weights, features)
    hits = [(ref, explained[ref].fused if ref in explained else fused) for ref, fused in hits]
    hits.sort(key=lambda each: (-each[1], each[0]))
    return Ranking(mode, evidence, hits, weights, features)


def _share_of_code(passages: Sequence[Passage]) -> float:
    return sum(is_code(passage.chunk.text) for passage in passages) / len(passages) if passages else 0.0


def _said(passage: Passage) -> str:
    """What is read of a passage: its own text, for headings repeat what BM25 has counted twice already."""
    return passage.chunk.text
