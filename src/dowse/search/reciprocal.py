"""Ranking by places alone: each list gives 1 / (60 + place), whatever the scores in it are.

For what cannot be added up: the scores of a store that says so of itself (`Snapshot.comparable_scores`), and the
blend with a reranker that the qmd specification has. Places say which of the passages is best and nothing of how good
it is; docs/concepts/ranking.md has what that costs.
"""

from collections.abc import Iterable, Mapping, Sequence

from dowse.search.fuse import Evidence, LegName, score
from dowse.types import Explain, Leg, Ranked, Ref

__all__ = ["RANKS", "by_places", "explain_places", "reciprocal", "unseen_place"]

RANKS = "ranks"
"""The mode of such a ranking: its curve from fused evidence to score is one of the order alone."""
_K = 60


def reciprocal(lists: Iterable[tuple[Ranked, float]]) -> dict[Ref, float]:
    """What the places in these lists, each with its weight, come to."""
    sums: dict[Ref, float] = {}
    for ranked, weight in lists:
        for place, (ref, _) in enumerate(ranked.hits, start=1):
            sums[ref] = sums.get(ref, 0.0) + weight / (_K + place)
    return sums


def by_places(evidence: Mapping[LegName, Evidence]) -> list[tuple[Ref, float]]:
    """Every candidate, best first: 1 for what is the first in all lists."""
    share = (_K + 1) / len(evidence)
    sums = reciprocal((leg.ranked, share) for leg in evidence.values())
    return sorted(sums.items(), key=lambda each: (-each[1], each[0]))


def unseen_place(evidence: Mapping[LegName, Evidence]) -> float:
    """The most that a passage could score which is in none of the lists."""
    values = [_value(len(leg.ranked.hits) + 1) for leg in evidence.values()]
    return score(RANKS, sum(values) / len(values))


def explain_places(evidence: Mapping[LegName, Evidence], refs: Sequence[Ref]) -> dict[Ref, Explain]:
    """How each of these came by its score."""
    fused, weight = dict(by_places(evidence)), 1 / len(evidence)
    places = {name: {ref: at for at, (ref, _) in enumerate(leg.ranked.hits, 1)} for name, leg in evidence.items()}
    return {
        ref: Explain(
            tuple(
                Leg(name, at, leg.values.get(ref, 0.0), _value(at) if at else 0.0, weight)
                for name, leg in evidence.items()
                for at in (places[name].get(ref),)
            ),
            fused[ref],
            score(RANKS, fused[ref]),
        )
        for ref in refs
    }


def _value(place: int) -> float:
    return (_K + 1) / (_K + place)
