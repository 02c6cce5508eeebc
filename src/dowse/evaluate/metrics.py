"""The figures of one ranking against what is relevant, and of many timings. Linear gains, as trec_eval has them."""

import math
from collections.abc import Mapping, Sequence

__all__ = ["hit", "ndcg", "percentile", "recall", "reciprocal_rank"]


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """The discounted gain of the first places, as a share of the best that there could be."""
    ideal = _discounted(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth])
    return _discounted([grades.get(name, 0) for name in ranking[:depth]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """How much of what is relevant stands in the first places."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """One over the place of the first that is relevant; 0 where none is."""
    return next((1 / rank for rank, name in enumerate(ranking[:depth], start=1) if grades.get(name, 0) > 0), 0.0)


def hit(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 3) -> float:
    """1 where something relevant stands in the first places."""
    return float(any(grades.get(name, 0) > 0 for name in ranking[:depth]))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed; 0 without values."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
