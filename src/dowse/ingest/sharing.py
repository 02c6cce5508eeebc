"""Work that several processes share: each takes a part by a lease, and what one leaves undone another takes over.

A lease is held from before the work until its result is stored, then given back. Whoever gets one looks again what
the store knows: a file that somebody else read meanwhile is not read a second time.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence

from dowse.ingest.intake import Source
from dowse.ports import Store
from dowse.types import Collection, Known, new_document_id

__all__ = ["LEASE_SECONDS", "PAUSE", "Sharing"]

LEASE_SECONDS = 240.0
PAUSE = 1.0
"""Between two looks, where all that is left is in the hands of others."""
_SLICE = 32  # sources leased at once: what a process that dies keeps from the others for a while


class Sharing:
    """The part of a collection's sources that falls to this process."""

    def __init__(self, store: Store, collection: Collection, known: dict[str, Known]) -> None:
        """`known` is what the store knew before the walk; it is brought up to date for each source that is taken."""
        self._store, self._collection, self._known = store, collection, known
        self._owner = new_document_id().hex
        self._held: list[str] = []
        self._since = 0.0
        self.elsewhere: set[str] = set()
        """Paths of sources that others have taken in meanwhile."""

    def taken(self, sources: Sequence[Source], settle: Callable[[], None]) -> Generator[Source, None, None]:
        """Those that nobody else has taken or takes, until all of them are done by somebody.

        `settle` stores what was made of those that were taken so far; it is called before waiting for others.
        """
        try:
            left = list(sources)
            while left:
                denied: list[Source] = []
                for first in range(0, len(left), _SLICE):
                    part = left[first : first + _SLICE]
                    granted = self._lease([source.path for source in part])
                    denied += [source for source in part if source.path not in granted]
                    for source in self._undone([source for source in part if source.path in granted]):
                        self._renew()
                        yield source
                settle()
                self.release()
                if len(denied) == len(left):
                    time.sleep(PAUSE)
                left = denied
        finally:
            self.release()

    def claim(self, documents: Mapping[str, Known]) -> dict[str, Known]:
        """Those of these documents, by path, that are still there and that nobody else moves or removes."""
        granted = sorted(self._lease(sorted(documents))) if documents else []
        now = self._store.fingerprints(self._collection.name, granted) if granted else {}
        return {path: documents[path] for path in granted if path in now and now[path].id == documents[path].id}

    def release(self) -> None:
        """Give back what is held: it is stored, or nobody will store it."""
        held, self._held, self._since = self._held, [], 0.0
        if held:
            self._store.lease([self._name(path) for path in held], self._owner, 0)

    def _name(self, path: str) -> str:
        return f"update {self._collection.name}/{path}"

    def _lease(self, paths: Sequence[str]) -> frozenset[str]:
        names = {self._name(path): path for path in paths}
        granted = frozenset(names[name] for name in self._store.lease(list(names), self._owner, LEASE_SECONDS))
        self._held += sorted(granted)
        self._since = self._since or time.monotonic()
        return granted

    def _renew(self) -> None:
        if time.monotonic() - self._since > LEASE_SECONDS / 4:
            self._store.lease([self._name(path) for path in self._held], self._owner, LEASE_SECONDS)
            self._since = time.monotonic()

    def _undone(self, sources: Sequence[Source]) -> list[Source]:
        """Those that the store still knows as it did before the walk, or that changed since others read them."""
        if not sources:
            return []
        paths = [source.path for source in sources]
        now = self._store.fingerprints(self._collection.name, paths)
        done = {source.path for source in sources if _is_done(source, self._known.get(source.path), now)}
        for path in paths:
            self._known.pop(path, None)
        self._known.update(now)
        self.elsewhere |= done
        return [source for source in sources if source.path not in done]


def _is_done(source: Source, before: Known | None, now: Mapping[str, Known]) -> bool:
    """Whether somebody else has read this since, and as it is."""
    there = now.get(source.path)
    if there is None or there == before:
        return False
    read, found = there.fingerprint, source.fingerprint
    return source.origin != "walked" or (read.size, read.mtime_ns) == (found.size, found.mtime_ns)
