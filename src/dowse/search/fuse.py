"""How evidence becomes one score.

Each leg's evidence is absolute: BM25 as a share of the most that the query's words could reach, and the
cosine itself. So scores of different queries compare, nothing is rescaled by the list it stands in, and a
good first place in a bad list stays a bad hit. Reciprocal ranks lose all that; docs/concepts/ranking.md
has the figures.

A question in words and an answer in code have few words in common, and those by chance: the more of the best
candidates are code, the less words weigh. The weights turn around a point of even evidence, so that scores keep
their meaning.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Literal

from dowse.records import record
from dowse.types import Explain, Feature, Leg, Ranked, Ref

LegName = Literal["lex", "vec"]
FeatureName = Literal["window", "pairs"]

WEIGHTS: Mapping[str, Mapping[LegName, float]] = {
    "lex": {"lex": 1.0},
    "vec": {"vec": 1.0},
    "hybrid": {"lex": 0.36, "vec": 0.64},
}
FEATURES: Mapping[FeatureName, float] = {"window": 0.1, "pairs": 0.06}
"""What reading a candidate of a hybrid search adds; see features.py."""
CODE_WEIGHTS: Mapping[LegName, float] = {"lex": 0.05, "vec": 0.95}
"""Those of a hybrid search whose best candidates are all code."""
_EVEN: Mapping[LegName, float] = {"lex": 0.25, "vec": 0.68}
"""Evidence that speaks neither for a passage nor against it, whatever the legs weigh."""


_NO_FEATURES: Mapping[Ref, tuple[Feature, ...]] = MappingProxyType({})


@record
class Evidence:
    """What one leg says: its own list, and the values of every candidate of any list."""

    ranked: Ranked
    values: Mapping[Ref, float]


# The score is a logistic of the fused evidence: slope and middle per mode, fitted on judged queries against
# queries of other collections (benchmarks/calibrate.py). It keeps the order and makes 0.5 the even bet.
CALIBRATION: Mapping[str, tuple[float, float]] = {
    "lex": (8.8, 0.35),
    "vec": (33.0, 0.668),
    "hybrid": (22.0, 0.575),
    "ranks": (6.0, 0.5),  # of places nothing can be fitted: even where one of two lists has it first
}


@record
class Weights:
    """What counts how much in one search."""

    legs: Mapping[LegName, float]
    features: Mapping[FeatureName, float] = field(default_factory=dict)
    level: Feature | None = None
    """What keeps scores comparable to those of other weights."""

    @classmethod
    def of(cls, mode: str, code: float = 0.0) -> "Weights":
        """Those of a mode, with this share of code among the best candidates."""
        legs = WEIGHTS[mode]
        if mode != "hybrid":
            return cls(legs)
        if not code:
            return cls(legs, FEATURES)
        turned = {name: legs[name] + code * (CODE_WEIGHTS[name] - legs[name]) for name in legs}
        level = sum((legs[name] - CODE_WEIGHTS[name]) * _EVEN[name] for name in legs)
        # In code, words that stand close together are no less chance than words that do not.
        features = {**FEATURES, "window": (1 - code) * FEATURES["window"]}
        return cls(turned, features, Feature("code", code, level))

    @property
    def unread(self) -> float:
        """What a passage's words are worth in place of features: on average a feature is as large as their value."""
        return sum(self.features.values())

    @property
    def offset(self) -> float:
        """The level as a number."""
        return self.level.weight * self.level.value if self.level else 0.0


def fuse(mode: str, evidence: Mapping[LegName, Evidence], weights: Weights | None = None) -> list[tuple[Ref, float]]:
    """Every candidate of both legs with its fused evidence, best first; ties by ref, so that answers repeat."""
    weights = weights or Weights.of(mode)
    words, meaning = evidence["lex"], evidence["vec"]
    unread, offset = weights.unread, weights.offset
    fused = {
        ref: _together(weights, lexical, _value(meaning, ref)) + (offset + unread * lexical)
        for ref in dict.fromkeys(ref for leg in (words, meaning) for ref, _ in leg.ranked.hits)
        for lexical in (_value(words, ref),)
    }
    for ref in without_vector(evidence):
        fused[ref] = _by_words_alone(mode, _value(words, ref))
    return sorted(fused.items(), key=lambda each: (-each[1], each[0]))


def _together(weights: Weights, lexical: float, cosine: float) -> float:
    """What the legs say; in one place, so that a ranking and its explanation round alike."""
    return weights.legs["lex"] * lexical + weights.legs["vec"] * cosine


def added(weights: Weights, features: Sequence[Feature]) -> float:
    """What stands beside the legs: the level of the weights, and what reading found."""
    return weights.offset + sum(each.weight * each.value for each in features)


def read_again(
    evidence: Mapping[LegName, Evidence], weights: Weights, features: Mapping[Ref, tuple[Feature, ...]]
) -> dict[Ref, float]:
    """The fused evidence of the candidates that were read."""
    words, meaning = evidence["lex"], evidence["vec"]
    return {
        ref: _together(weights, _value(words, ref), _value(meaning, ref)) + added(weights, found)
        for ref, found in features.items()
    }


def without_vector(evidence: Mapping[LegName, Evidence]) -> list[Ref]:
    """The candidates of a hybrid search that have no vector yet."""
    if len(evidence) == 1:
        return []
    return [ref for ref, _ in evidence["lex"].ranked.hits if ref not in evidence["vec"].values]


def _by_words_alone(mode: str, value: float) -> float:
    """The fused evidence that scores as much as the words would in a search by words."""
    (slope, middle), (words_slope, words_middle) = CALIBRATION[mode], CALIBRATION["lex"]
    return middle + words_slope * (value - words_middle) / slope


def best_unseen(mode: str, evidence: Mapping[LegName, Evidence], weights: Weights | None = None) -> float:
    """The most that a passage could score that is in none of the lists: in each it would stand behind the last."""
    weights = weights or Weights.of(mode)
    lasts = {name: _value(leg, leg.ranked.hits[-1][0]) for name, leg in evidence.items() if leg.ranked.hits}
    together = weights.offset + weights.unread * lasts.get("lex", 0.0)
    together += sum(weights.legs[name] * value for name, value in lasts.items())
    return score(mode, max(together, _by_words_alone(mode, lasts.get("lex", 0.0))) if len(evidence) > 1 else together)


def score(mode: str, fused: float) -> float:
    """The fused evidence as a score from 0 to 1."""
    slope, middle = CALIBRATION[mode]
    return 1 / (1 + math.exp(-slope * (fused - middle)))


def explain(
    mode: str,
    evidence: Mapping[LegName, Evidence],
    refs: Sequence[Ref],
    weights: Weights | None = None,
    features: Mapping[Ref, tuple[Feature, ...]] = _NO_FEATURES,
) -> dict[Ref, Explain]:
    """How each of these came by its score."""
    if len(evidence) == 1:
        return _explained_by_one(mode, evidence, refs)
    alone = set(without_vector(evidence))
    weights = weights or Weights.of(mode)
    sides = [
        (name, weights.legs[name], leg, {ref: rank for rank, (ref, _) in enumerate(leg.ranked.hits, start=1)})
        for name, leg in evidence.items()
    ]
    explained = {}
    for ref in refs:
        if ref in alone:
            explained[ref] = _explained_by_words(mode, evidence["lex"], ref, *sides[0][1::2])
            continue
        values = [(name, weight, leg, ranks, _value(leg, ref)) for name, weight, leg, ranks in sides]
        legs = [
            Leg(name, ranks.get(ref), leg.values.get(ref, 0.0), value, weight)
            for name, weight, leg, ranks, value in values
        ]
        read = features.get(ref)
        if read is None and weights.unread:
            read = (Feature("unread", _value(evidence["lex"], ref), weights.unread),)
        parts = (*((weights.level,) if weights.level else ()), *(read or ()))
        fused = _together(weights, legs[0].value, legs[1].value)
        if parts:
            fused += added(weights, read or ())
        explained[ref] = Explain(tuple(legs), fused, score(mode, fused), features=parts)
    return explained


def _explained_by_one(mode: str, evidence: Mapping[LegName, Evidence], refs: Sequence[Ref]) -> dict[Ref, Explain]:
    """The same where one leg says all."""
    ((name, leg),) = evidence.items()
    ceiling, values = leg.ranked.ceiling, leg.values
    ranks = {ref: rank for rank, (ref, _) in enumerate(leg.ranked.hits, start=1)}
    slope, middle = CALIBRATION[mode]
    explained = {}
    for ref in refs:
        raw = values.get(ref, 0.0)
        value = raw / ceiling if ceiling else 0.0
        if not 0.0 <= value <= 1.0:
            value = min(max(value, 0.0), 1.0)
        score = 1 / (1 + math.exp(-slope * (value - middle)))
        explained[ref] = Explain((Leg(name, ranks.get(ref), raw, value, 1.0),), value, score)
    return explained


def _explained_by_words(mode: str, leg: Evidence, ref: Ref, weight: float, ranks: Mapping[Ref, int]) -> Explain:
    """Of a candidate without a vector."""
    value = _value(leg, ref)
    fused = _by_words_alone(mode, value)
    return Explain((Leg("lex", ranks.get(ref), leg.values.get(ref, 0.0), value, weight),), fused, score(mode, fused))


def _value(leg: Evidence, ref: Ref) -> float:
    """What the leg says of a candidate, as a share of the most that it could say."""
    ceiling = leg.ranked.ceiling
    return min(max(leg.values.get(ref, 0.0) / ceiling, 0.0), 1.0) if ceiling else 0.0
