"""What may be taken, and how that can go wrong."""

from typing import Literal

from dowse.records import record

__all__ = ["Cause", "Limits", "LostError"]

Cause = Literal["time", "memory", "crash", "start"]

_CLOCK_FACTOR = 5
"""Processor time tells a file that is slow to read from a machine that is busy; the clock is for what only waits."""


@record
class Limits:
    """What reading one file may take."""

    seconds: float = 120.0
    """Of processor time. 0: no limits at all, and no process of its own."""
    memory: int = 1 << 30
    """Bytes, of the whole process that reads."""

    @property
    def clock_seconds(self) -> float:
        """The same by the clock, for whatever waits instead of computing."""
        return self.seconds * _CLOCK_FACTOR


class LostError(Exception):
    """The process is lost, and the answer with it."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(cause, detail)
        self.cause, self.detail = cause, detail
