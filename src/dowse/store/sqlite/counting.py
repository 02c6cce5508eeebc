"""How much there is: documents, passages and vectors, what was refused, and the bytes on disk."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dowse.store.sqlite import rows, whole
from dowse.types import CollectionStats, ModelIdentity, StoreStats

__all__ = ["bytes_below", "counted"]

_DOCUMENTS = (
    "SELECT d.collection, count(*), sum(n.chunks), sum(n.missing > 0), sum(n.missing) FROM documents d "
    "JOIN contents n INDEXED BY contents_counts ON n.id = d.content GROUP BY d.collection"
)
_REFUSED = "SELECT collection, state, count(*) FROM ledger GROUP BY collection, state"
_VECTORS = "SELECT count(*) FROM vectors WHERE model = (SELECT min(id) FROM models)"


def counted(
    connection: sqlite3.Connection,
    directory: Path,
    remembered: Callable[[str], tuple[Any, ...]],
    model: ModelIdentity | None,
) -> StoreStats:
    """See `ports.Snapshot.stats`; `remembered` asks what holds until the next change only once."""
    counts = {row[0]: row[1:] for row in remembered(_DOCUMENTS)}
    refused = {row[:2]: row[2] for row in remembered(_REFUSED)}
    collections = []
    for identifier, *columns in connection.execute(
        f"SELECT id, {rows.COLLECTION_COLUMNS} FROM collections ORDER BY name"
    ):
        documents, chunks, unembedded, missing = counts.get(identifier, (0, 0, 0, 0))
        collections.append(
            CollectionStats(
                rows.collection_from(tuple(columns)),
                documents,
                chunks,
                unembedded,
                refused.get((identifier, "failed"), 0),
                refused.get((identifier, "skipped"), 0),
                missing,
            )
        )
    return StoreStats(
        tuple(collections),
        documents=sum(each.documents for each in collections),
        chunks=sum(each.chunks for each in collections),
        vectors=remembered(_VECTORS)[0][0],
        bytes_on_disk=bytes_below(directory),
        model=model,
        successor=whole.succession(connection),
    )


def bytes_below(directory: Path) -> int:
    """The size of every file of an index."""
    total = 0
    for path in directory.rglob("*"):
        # A writer may remove a file between the listing and the look at it.
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total
