"""A circuit breaker: a service that keeps failing is left alone for a while, so that answers come without it."""

import random
import time
from collections.abc import Callable
from threading import Lock

from dowse.records import record

FAILURES = 3
"""So many calls in a row fail before the service is left alone."""
PAUSE = 30.0
"""Seconds for which it is."""


@record
class Clock:
    """Where time and chance come from; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1, for waiting times that do not make many clients come back at once."""


class Breaker:
    """Counts failures in a row. Open, it lets nobody through; then one call tries, and its end decides."""

    def __init__(self, clock: Clock, failures: int = FAILURES, pause: float = PAUSE) -> None:
        self._clock = clock
        self._most = failures
        self._pause = pause
        self._lock = Lock()
        self._failures = 0
        self._closed_until = 0.0
        self.reason = ""
        """What went wrong last."""

    def wait(self) -> float:
        """For how many seconds the service is to be left alone; 0: ask it."""
        with self._lock:
            left = self._closed_until - self._clock.now()
            if self._failures >= self._most and left <= 0:
                self._closed_until = self._clock.now() + self._pause  # others wait while this caller tries
            return max(left, 0.0)

    def succeeded(self) -> None:
        """Forget every failure."""
        with self._lock:
            self._failures = 0
            self._closed_until = 0.0

    def failed(self, reason: str, *, pause: float = 0.0) -> None:
        """Count a failure; `pause`: the service itself asked to be left alone for so many seconds."""
        with self._lock:
            self._failures += 1
            self.reason = reason
            alone = self._pause if self._failures >= self._most else 0.0
            self._closed_until = self._clock.now() + max(alone, pause)
