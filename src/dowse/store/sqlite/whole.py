"""What leaves an index as a whole: documents as they could be put again, vectors by their keys, a succession."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowse.store.sqlite import rows
from dowse.store.sqlite.models import held
from dowse.types import Content, Draft, Succession

if TYPE_CHECKING:
    from dowse.ports import Vector

_WAITING = (
    "SELECT count(DISTINCT c.key) FROM contents n JOIN chunks c ON c.content = n.id "
    "LEFT JOIN vectors v ON v.model = ? AND v.key = c.key "
    "WHERE v.id IS NULL AND n.missing > 0 AND n.id IN (SELECT content FROM documents)"
)


def succession(connection: sqlite3.Connection) -> Succession | None:
    """How far the vectors of the next model are; None where there is none."""
    known = held(connection)
    if len(known) < 2:  # noqa: PLR2004  # the one that answers, and its successor
        return None
    last = known[-1]
    waiting = connection.execute(_WAITING, (last.id,)).fetchone()[0]
    return Succession(rows.identity_from(last.identity), last.rows, waiting)


def vectors(connection: sqlite3.Connection, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
    """Those vectors of the model that answers which have these keys."""
    import numpy as np

    query = "SELECT vector FROM vectors WHERE model = (SELECT min(id) FROM models) AND key = ?"
    found = {key: connection.execute(query, (key,)).fetchone() for key in keys}
    return {key: np.frombuffer(row[0], dtype="<f4") for key, row in found.items() if row is not None}


def drafts(connection: sqlite3.Connection, collection: str) -> Iterator[Draft]:
    """Every document of a collection, one at a time."""
    query = (
        f"SELECT {rows.DOCUMENT_COLUMNS}, n.id, n.recipe, n.title, n.metadata, n.text, d.metadata, o.data "
        f"FROM {rows.DOCUMENT_TABLES} LEFT JOIN originals o ON o.hash = n.hash WHERE l.name = ? ORDER BY d.path"
    )
    for *columns, identifier, recipe, title, metadata, stored, said, original in connection.execute(
        query, (collection,)
    ):
        info = replace(rows.document_from(tuple(columns)), metadata=rows.metadata_from(said))
        content = _content(connection, identifier, title, metadata, rows.text_from(stored).decode())
        yield Draft(info, recipe, content, None if original is None else bytes(original))


def _content(connection: sqlite3.Connection, identifier: int, title: str | None, metadata: str, text: str) -> Content:
    query = f"SELECT {rows.CHUNK_COLUMNS} FROM chunks c WHERE c.content = ? ORDER BY c.ordinal"
    found: list[tuple[Any, ...]] = connection.execute(query, (identifier,)).fetchall()
    chunks = tuple(rows.chunk_from(row, text[row[0] : row[1]].encode()) for row in found)
    return Content(text, title, chunks, rows.metadata_from(metadata))
