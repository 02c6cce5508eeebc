"""Searches in which meaning weighs as much as a collection's `hybrid_alpha` says.

The engine's own weights are fixed, so its hits, with what each leg says of them, are taken further down its list
and put into another order. Between the weights that scores were fitted for, they are fitted in proportion.
"""

import math
from dataclasses import replace

from dowse.engine import Engine
from dowse.search.fuse import CALIBRATION, WEIGHTS
from dowse.types import Answer, Explain, Feature, Hit, Leg, Query

__all__ = ["search_weighed"]

_DEPTH = 100  # hits that may change places
_DEPTH_PER_HIT = 4
_OWN_WEIGHT = WEIGHTS["hybrid"]["vec"]


def search_weighed(engine: Engine, asked: Query, alpha: float) -> Answer:
    """Answer a hybrid query with this weight of the vector leg, from 0 to 1."""
    if alpha == _OWN_WEIGHT:
        return engine.search(asked)
    found = engine.search(replace(asked, limit=max(_DEPTH, _DEPTH_PER_HIT * asked.limit)))
    hits = sorted((_weighed(hit, alpha) for hit in found.hits), key=lambda hit: -hit.score)
    return replace(found, hits=tuple(hits[: asked.limit]))


def _weighed(hit: Hit, alpha: float) -> Hit:
    """The same hit with the score that it has under this weight; what has no vector keeps that of its words."""
    if len(hit.explain.legs) == 1:
        return hit
    weights = {"lex": 1 - alpha, "vec": alpha}
    legs = tuple(replace(leg, weight=weights[leg.name]) for leg in hit.explain.legs)
    features = tuple(each for each in hit.explain.features if each.name != "code")
    parts: tuple[Leg | Feature, ...] = (*legs, *features)
    fused = sum(part.weight * part.value for part in parts)
    slope, middle = _calibration(alpha)
    score = 1 / (1 + math.exp(-slope * (fused - middle)))
    return replace(hit, score=score, explain=Explain(legs, fused, score, features=features))


def _calibration(alpha: float) -> tuple[float, float]:
    """Slope and middle of the logistic between those of words alone, of the engine's weights, and of meaning alone."""
    low, high, share = ("lex", "hybrid", alpha / _OWN_WEIGHT)
    if alpha > _OWN_WEIGHT:
        low, high, share = ("hybrid", "vec", (alpha - _OWN_WEIGHT) / (1 - _OWN_WEIGHT))
    (low_slope, low_middle), (high_slope, high_middle) = CALIBRATION[low], CALIBRATION[high]
    return low_slope + share * (high_slope - low_slope), low_middle + share * (high_middle - low_middle)
