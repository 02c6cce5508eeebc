"""What every verb of the engine works with: the store, the parts that configuration chose, and their end."""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from dowse.config import Config
from dowse.engine.parts import Parts
from dowse.errors import NotFoundError
from dowse.ports import Store
from dowse.types import Collection

__all__ = ["Wired", "no_collection"]


class Wired:
    """An open store with its parts; close it, or use it in a `with`."""

    def __init__(self, store: Store, config: Config, *, on_message: Callable[[str], None] | None = None) -> None:
        self.config = config
        self._store = store
        self._parts = Parts(config, on_message)
        self._scope: frozenset[str] | None = None

    def known_collections(self) -> tuple[Collection, ...]:
        """Every collection without its counts, which take a look at every document."""
        with self._store.snapshot() as snapshot:
            return snapshot.collections()

    def close(self) -> None:
        """Stop workers and release files."""
        if self._scope is None:
            self._parts.close()
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _known(self, name: str) -> Collection:
        """The collection of this name. NotFoundError, with the nearest one, where there is none."""
        known = {collection.name: collection for collection in self.known_collections()}
        if name not in known:
            raise no_collection(name, known)
        return known[name]


def no_collection(name: str, known: Iterable[str]) -> NotFoundError:
    """What to say where no collection has this name."""
    from dowse.ingest import collections

    return collections.no_collection(name, known)
