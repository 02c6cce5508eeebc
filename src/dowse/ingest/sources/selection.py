"""Some places of a folder, for a walk that needs not look at all of it."""

from collections.abc import Iterable, Iterator
from typing import Self

__all__ = ["Selection"]

_FEW = 16  # so many are faster compared one by one; with more, a path's own folders are fewer


class Selection:
    """Paths below a root, as walks spell them; each stands for itself and for everything below it."""

    __slots__ = ("_above", "_paths", "_starts")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._above = frozenset(folder for path in self._paths for folder in _folders_of(path))
        self._starts = tuple(f"{path}/" for path in self._paths) if len(self._paths) <= _FEW else None

    def covers(self, path: str) -> bool:
        """Whether this path is one of those that are meant, or below one."""
        if self._starts is not None:
            return path in self._paths or path.startswith(self._starts)
        return path in self._paths or any(folder in self._paths for folder in _folders_of(path))

    def touches(self, path: str) -> bool:
        """Whether a walk has to look here: at what is meant, or on the way to it."""
        return path in self._above or self.covers(path)

    def with_also(self, paths: Iterable[str]) -> Self:
        """A selection of these paths too."""
        return type(self)(self._paths.union(paths))


def _folders_of(path: str) -> Iterator[str]:
    """The folders that a path is in, the nearest first, without the root."""
    while path := path.rpartition("/")[0]:
        yield path
