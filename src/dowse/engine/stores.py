"""Which store an index is kept in, and how a whole one moves into another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dowse.config import Config, is_cluster
from dowse.errors import UsageError
from dowse.ports import Store
from dowse.store.sqlite import SqliteStore
from dowse.types import Event, TransferReport

__all__ = ["migrate", "open_store"]


def open_store(settings: Config, *, create: bool) -> Store:
    """The store that the configuration names: a folder, or a cluster by its address."""
    if is_cluster(settings.index):
        from dowse.store.opensearch import OpenSearchStore  # few indexes are on a cluster

        return OpenSearchStore(settings.index, create=create)
    return SqliteStore(
        settings.index_dir, create=create, lock_timeout=settings.lock_timeout, max_memory=settings.max_memory
    )


def migrate(
    store: Store, config: Config, to: str | Path, *, on_event: Callable[[Event], None] | None
) -> TransferReport:
    """Copy everything that a store holds into the index of another name, path or address."""
    from dowse.store.portable.moving import move

    settings = replace(config, index=str(to.resolve()) if isinstance(to, Path) else to)
    if settings.where == config.where:
        raise UsageError("The index cannot move into itself.", hint="Name another one.")
    target = open_store(settings, create=True)
    try:
        return move(store, target, on_event=on_event)
    finally:
        target.close()
