"""How evidence becomes one score.

Each leg's evidence is absolute: BM25 as a share of the most that the query's words could reach, and the
cosine itself. So scores of different queries compare, nothing is rescaled by the list it stands in, and a
good first place in a bad list stays a bad hit. Reciprocal ranks lose all that; docs/concepts/ranking.md
has the figures.
"""

import math
from collections.abc import Mapping, Sequence
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


def fuse(mode: str, evidence: Mapping[LegName, Evidence]) -> list[tuple[Ref, float]]:
    """Every candidate with its fused evidence, best first; ties by ref, so that answers repeat."""
    if len(evidence) == 1:
        ((hits, ceiling),) = ((leg.ranked.hits, leg.ranked.ceiling) for leg in evidence.values())
        # Ranked already, by a leg that weighs 1; computed as `explain` does it, so that both round alike.
        if hits and 0 <= hits[-1][1] <= hits[0][1] <= ceiling and ceiling:  # nothing to clamp, as nearly always
            return [(ref, raw / ceiling) for ref, raw in hits]
        return [(ref, min(max(raw / ceiling, 0.0), 1.0) if ceiling else 0.0) for ref, raw in hits]
    fused = {ref: 0.0 for leg in evidence.values() for ref, _ in leg.ranked.hits}
    for name, leg in evidence.items():
        weight, ceiling = WEIGHTS[mode][name], leg.ranked.ceiling
        for ref in fused if ceiling else ():
            value = leg.values.get(ref, 0.0) / ceiling
            if value > 0:  # computed as `explain` does it, so that both round alike
                fused[ref] += weight * min(value, 1.0)
    for ref in without_vector(evidence):
        fused[ref] = _by_words_alone(mode, _value(evidence["lex"], ref))
    return sorted(fused.items(), key=lambda each: (-each[1], each[0]))


def without_vector(evidence: Mapping[LegName, Evidence]) -> list[Ref]:
    """The candidates of a hybrid search that have no vector yet."""
    if len(evidence) == 1:
        return []
    return [ref for ref, _ in evidence["lex"].ranked.hits if ref not in evidence["vec"].values]


def _by_words_alone(mode: str, value: float) -> float:
    """The fused evidence that scores as much as the words would in a search by words."""
    (slope, middle), (words_slope, words_middle) = CALIBRATION[mode], CALIBRATION["lex"]
    return middle + words_slope * (value - words_middle) / slope


def best_unseen(mode: str, evidence: Mapping[LegName, Evidence]) -> float:
    """The most that a passage could score that is in none of the lists: in each it would stand behind the last."""
    lasts = {name: _value(leg, leg.ranked.hits[-1][0]) for name, leg in evidence.items() if leg.ranked.hits}
    together = sum(WEIGHTS[mode][name] * value for name, value in lasts.items())
    return score(mode, max(together, _by_words_alone(mode, lasts.get("lex", 0.0))) if len(evidence) > 1 else together)


def score(mode: str, fused: float) -> float:
    """The fused evidence as a score from 0 to 1."""
    slope, middle = CALIBRATION[mode]
    return 1 / (1 + math.exp(-slope * (fused - middle)))


def explain(mode: str, evidence: Mapping[LegName, Evidence], refs: Sequence[Ref]) -> dict[Ref, Explain]:
    """How each of these came by its score."""
    alone = set(without_vector(evidence))
    sides = [
        (name, WEIGHTS[mode][name], leg, {ref: rank for rank, (ref, _) in enumerate(leg.ranked.hits, start=1)})
        for name, leg in evidence.items()
    ]
    explained = {}
    for ref in refs:
        legs, fused = [], 0.0
        for name, weight, leg, ranks in sides:
            if name == "lex" or ref not in alone:
                value = _value(leg, ref)
                legs.append(Leg(name, ranks.get(ref), leg.values.get(ref, 0.0), value, weight))
                fused += weight * value
        if ref in alone:
            fused = _by_words_alone(mode, legs[0].value)
        explained[ref] = Explain(tuple(legs), fused, score(mode, fused))
    return explained


def _value(leg: Evidence, ref: Ref) -> float:
    """What the leg says of a candidate, as a share of the most that it could say."""
    ceiling = leg.ranked.ceiling
    return min(max(leg.values.get(ref, 0.0) / ceiling, 0.0), 1.0) if ceiling else 0.0
