"""What this server has done since it started: counts and times per route, for `/metrics` and for the page's plots."""

import threading
import time
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["BOUNDS", "Metrics", "RouteTimes"]

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: the upper ends of the histogram's places; one more holds the rest."""
_LATEST = 1_000  # times that percentiles are made of


@dataclass
class RouteTimes:
    """What is known of one route."""

    statuses: dict[int, int] = field(default_factory=dict)
    places: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    latest: list[float] = field(default_factory=list)
    """A ring of the latest times."""

    @property
    def count(self) -> int:
        """How many requests."""
        return sum(self.statuses.values())

    @property
    def errors(self) -> int:
        """Those that the server is to blame for."""
        return sum(count for status, count in self.statuses.items() if status >= 500)  # noqa: PLR2004

    def percentile(self, share: float) -> float:
        """The time that this share of the latest requests did not exceed, in seconds; 0 where there are none."""
        times = sorted(self.latest)
        return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


class Metrics:
    """Counts of one process; threads may add to it."""

    def __init__(self) -> None:
        self.started = time.time()
        self._guard = threading.Lock()
        self._routes: dict[str, RouteTimes] = {}
        self.in_flight = 0

    def add(self, route: str, status: int, seconds: float) -> None:
        """One answered request."""
        with self._guard:
            times = self._routes.setdefault(route, RouteTimes())
            number = times.count
            times.statuses[status] = times.statuses.get(status, 0) + 1
            times.places[bisect_left(BOUNDS, seconds)] += 1
            times.seconds += seconds
            if len(times.latest) < _LATEST:
                times.latest.append(seconds)
            else:
                times.latest[number % _LATEST] = seconds

    def routes(self) -> Mapping[str, RouteTimes]:
        """Those that were asked for, by name."""
        with self._guard:
            return {
                name: RouteTimes(dict(each.statuses), list(each.places), each.seconds, list(each.latest))
                for name, each in sorted(self._routes.items())
            }
