"""Where do passages lie among each other? Their vectors, laid flat for a map: near means alike.

Principal components: the plane in which the sample spreads the most. Exact, without chance in it, and quick enough
to be made while somebody waits. What it cannot show is told as `explained`.
"""

import threading
from typing import TYPE_CHECKING

from dowse.ports import Snapshot
from dowse.records import record
from dowse.types import DocumentInfo, Scope

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Landscape", "Landscapes", "Point"]

_REMEMBERED = 8


@record
class Point:
    """A passage and its place."""

    info: DocumentInfo
    ordinal: int
    x: float
    y: float
    """Both in [-1, 1]."""


@record
class Landscape:
    """A map of a corpus."""

    points: tuple[Point, ...] = ()
    total: int = 0
    """How many passages have a vector; the points are a sample of them."""
    explained: tuple[float, float] = (0.0, 0.0)
    """Which part of all variance each direction shows."""
    model: str = ""


class Landscapes:
    """The latest maps, each for as long as the index stays as it is."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int, Scope], Landscape] = {}
        self._guard = threading.Lock()

    def of(self, snapshot: Snapshot, k: int, scope: Scope) -> Landscape:
        """A map of up to k passages in this scope, which names every collection that may be seen, or None for all."""
        key = (snapshot.mark(), k, scope)
        with self._guard:
            if key in self._made:
                return self._made[key]
        made = _landscape(snapshot, k, scope)
        with self._guard:
            self._made[key] = made
            while len(self._made) > _REMEMBERED:
                del self._made[next(iter(self._made))]
        return made


def _landscape(snapshot: Snapshot, k: int, scope: Scope) -> Landscape:
    model = snapshot.model()
    if model is None:
        return Landscape()
    refs, vectors, total = snapshot.sample(model, k, scope)
    places, explained = _flat(vectors)
    at = dict(zip(refs, places, strict=True))
    points = tuple(Point(each.info, each.ordinal, *at[each.ref]) for each in snapshot.passages(refs))
    return Landscape(points, total, explained, model.name)


def _flat(vectors: "Vector") -> tuple[list[tuple[float, float]], tuple[float, float]]:
    import numpy as np

    if not len(vectors):
        return [], (0.0, 0.0)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    # The covariance is small however many points there are; its largest directions come last.
    values, directions = np.linalg.eigh(centred.T @ centred)
    plane = directions[:, [-1, -2]] if directions.shape[1] > 1 else np.hstack([directions, np.zeros_like(directions)])
    # A direction has no sign of its own: the one whose largest entry is positive, every time.
    largest = np.abs(plane).argmax(axis=0)
    plane = plane * np.where(plane[largest, [0, 1]] < 0, -1.0, 1.0)
    flat = centred @ plane
    everything = float(values.clip(min=0).sum())
    widest = float(np.abs(flat).max())
    flat = flat / widest if widest > 1e-9 else np.zeros_like(flat)  # noqa: PLR2004  # all alike but for rounding
    shares = [float(value) / everything if everything > 0 else 0.0 for value in (values[-1], values[-2:][0])]
    return [(round(float(x), 4), round(float(y), 4)) for x, y in flat], (round(shares[0], 4), round(shares[1], 4))
