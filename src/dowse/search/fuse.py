"""How evidence becomes one score.

Each leg's evidence is absolute: BM25 as a share of the most that the query's words could reach, and the
cosine itself. So scores of different queries compare, nothing is rescaled by the list it stands in, and a
good first place in a bad list stays a bad hit. Reciprocal ranks lose all that; docs/concepts/ranking.md
has the figures.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dowse.types import Explain, Leg, Ranked, Ref

LegName = Literal["lex", "vec"]

WEIGHTS: Mapping[str, Mapping[LegName, float]] = {
    "lex": {"lex": 1.0},
    "vec": {"vec": 1.0},
    "hybrid": {"lex": 0.42, "vec": 0.58},
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one leg says: its own list, and the values of every candidate of any list."""

    ranked: Ranked
    values: Mapping[Ref, float]


# The score is a logistic of the fused evidence: slope and middle per mode, fitted on judged queries against
# queries of other collections (benchmarks/calibrate.py). It keeps the order and makes 0.5 the even bet.
CALIBRATION: Mapping[str, tuple[float, float]] = {
    "lex": (8.7, 0.33),
    "vec": (32.0, 0.68),
    "hybrid": (31.0, 0.51),
}


def fuse(mode: str, evidence: Mapping[LegName, Evidence]) -> list[tuple[Ref, Explain]]:
    """Every candidate with its explanation, best first; ties by ref, so that answers repeat."""
    weights = WEIGHTS[mode]
    ranks = {
        name: {ref: rank for rank, (ref, _) in enumerate(leg.ranked.hits, start=1)} for name, leg in evidence.items()
    }
    candidates = {ref for leg in ranks.values() for ref in leg}
    explained = [
        (
            ref,
            _explain(
                mode, [_leg(name, leg, ranks[name].get(ref), ref, weights[name]) for name, leg in evidence.items()]
            ),
        )
        for ref in candidates
    ]
    explained.sort(key=lambda each: (-each[1].fused, each[0]))
    return explained


def best_unseen(mode: str, evidence: Mapping[LegName, Evidence]) -> float:
    """The most that a passage could score that is in none of the lists: in each it would stand behind the last."""
    lasts = [(name, leg, leg.ranked.hits[-1][0]) for name, leg in evidence.items() if leg.ranked.hits]
    return _explain(mode, [_leg(name, leg, None, ref, WEIGHTS[mode][name]) for name, leg, ref in lasts]).score


def _leg(name: LegName, leg: Evidence, rank: int | None, ref: Ref, weight: float) -> Leg:
    raw = leg.values.get(ref, 0.0)
    ceiling = leg.ranked.ceiling
    value = min(max(raw / ceiling, 0.0), 1.0) if ceiling else 0.0
    return Leg(name, rank, raw, value, weight)


def _explain(mode: str, legs: list[Leg]) -> Explain:
    fused = sum(leg.weight * leg.value for leg in legs)
    slope, middle = CALIBRATION[mode]
    return Explain(tuple(legs), fused, 1 / (1 + math.exp(-slope * (fused - middle))))
