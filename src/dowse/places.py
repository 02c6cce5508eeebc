"""Where a relative path starts and what `~` means: the process's own folders, unless whoever asks stands elsewhere.

A process that several clients share has one working directory, and each of its clients another.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

__all__ = ["Place", "full_path", "here", "standing_at"]


class Place(NamedTuple):
    """A working directory and a home."""

    folder: Path
    home: Path


_standing: ContextVar[Place | None] = ContextVar("standing", default=None)


def here() -> Place:
    """Where paths start now."""
    return _standing.get() or Place(Path.cwd(), Path.home())


@contextmanager
def standing_at(place: Place | None) -> Iterator[None]:
    """Let paths start there meanwhile, in this thread or task; None: where the process stands."""
    token = _standing.set(place)
    try:
        yield
    finally:
        _standing.reset(token)


def full_path(path: Path | str) -> Path:
    """The absolute path that is meant, links resolved.

    Raises:
        OSError: it is too long.
        RuntimeError: its links go round in a circle, or it starts with the `~` of nobody.
        ValueError: it has a NUL in it.
    """
    place, path = _standing.get(), Path(path)
    if place is None:
        return path.expanduser().resolve()
    if path.parts[:1] == ("~",):
        return place.home.joinpath(*path.parts[1:]).resolve()
    return (place.folder / path.expanduser()).resolve()
