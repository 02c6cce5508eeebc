"""What happens inside, for whoever wants to listen: events with a name, a level and a few numbers.

Nobody listens unless an interface says so, and then an event costs next to nothing. Events never carry document
text, names of files, or questions: a log may be shown to others.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Level", "Record", "is_heard", "listen", "log", "timed"]

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
Value: TypeAlias = str | int | float | bool | None


class Record(NamedTuple):
    """One event."""

    event: str
    level: Level
    fields: Mapping[str, Value]


_listeners: list[Callable[[Record], None]] = []


@contextmanager
def listen(listener: Callable[[Record], None]) -> Iterator[None]:
    """Have every event told to this function, until the block ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def is_heard() -> bool:
    """Whether anybody listens."""
    return bool(_listeners)


def log(event: str, /, level: Level = "debug", **fields: Value) -> None:
    """Tell whoever listens."""
    for listener in _listeners:
        listener(Record(event, level, fields))


@contextmanager
def timed(event: str, /, **fields: Value) -> Iterator[dict[str, Value]]:
    """The same when the block ends, with the milliseconds that it took, or the kind of the error that ended it."""
    if not _listeners:
        yield {}
        return
    more: dict[str, Value] = dict(fields)
    started = time.perf_counter()
    try:
        yield more
    except BaseException as error:
        log(event, "warning", **more, ms=_since(started), error=type(error).__name__)
        raise
    log(event, "debug", **more, ms=_since(started))


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
