"""Whose vectors the index holds: those of the model that answers, and those of its successor while they are made.

The one with the lowest id answers. `contents.missing` counts for the newest, which is the one that is worked on.
Each has vector files of its own; the switch takes the old one's rows away in the commit that lets the new answer.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.errors import ModelMismatchError
from dowse.store.sqlite import rows
from dowse.store.sqlite.vector_files import VectorFiles
from dowse.store.sqlite.writing import read_meta
from dowse.types import ModelIdentity, now_ms

if TYPE_CHECKING:
    from dowse.ports import Vector


class Held(NamedTuple):
    """A row of the table of models."""

    id: int
    identity: str
    dims: int
    generation: int
    rows: int

    def files(self, directory: Path) -> VectorFiles:
        """Its vector files."""
        return VectorFiles(directory, self.generation, self.dims)


def held(connection: sqlite3.Connection) -> list[Held]:
    """The models of an index, the one that answers first."""
    query = "SELECT id, identity, dims, generation, rows FROM models ORDER BY id"
    return [Held(*row) for row in connection.execute(query)]


def next_generation(connection: sqlite3.Connection) -> int:
    """A number that no vector files have had yet."""
    generation = int(read_meta(connection, "vectors") or 0) + 1
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('vectors', ?)", (generation,))
    return generation


def room_for(connection: sqlite3.Connection, model: ModelIdentity, *, as_successor: bool = False) -> Held:
    """The row of this model, made where it may be: as the first, or beside the one that answers."""
    wanted, known = rows.identity_to(model), held(connection)
    for each in known:
        if each.identity == wanted:
            return each
    answering = known[0] if known and known[0].rows else None
    if answering is not None and not as_successor:
        other = rows.identity_from(answering.identity)
        raise ModelMismatchError.between(f"{other.name} ({other.precision})", f"{model.name} ({model.precision})")
    connection.execute("DELETE FROM models WHERE id <> ?", (answering.id if answering else 0,))
    generation = next_generation(connection)
    made = connection.execute(
        "INSERT INTO models (identity, dims, generation, rows, touched_at) VALUES (?, ?, ?, 0, ?)",
        (wanted, model.dims, generation, now_ms()),
    )
    connection.execute("UPDATE contents SET missing = chunks WHERE missing <> chunks")
    return Held(int(made.lastrowid or 0), wanted, model.dims, generation, 0)


def put(
    connection: sqlite3.Connection, directory: Path, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]
) -> None:
    """Add the vectors that are not there yet: to the files first, then to the rows that count."""
    from dowse.store.sqlite.vectors import stack

    matrix = stack([vector for _, vector in vectors])
    place = room_for(connection, model)
    known = "SELECT 1 FROM vectors WHERE model = ? AND key = ?"
    fresh = [
        index for index, (key, _) in enumerate(vectors) if not connection.execute(known, (place.id, key)).fetchone()
    ]
    place.files(directory).write(place.rows, matrix[fresh])
    connection.executemany(
        "INSERT INTO vectors (model, row, key, vector) VALUES (?, ?, ?, ?)",
        [
            (place.id, place.rows + number, vectors[index][0], matrix[index].tobytes())
            for number, index in enumerate(fresh)
        ],
    )
    connection.execute(
        "UPDATE models SET rows = rows + ?, touched_at = ? WHERE id = ?", (len(fresh), now_ms(), place.id)
    )
    if place.id == held(connection)[-1].id:
        connection.executemany(
            "UPDATE contents SET missing = missing - (SELECT count(*) FROM chunks c "
            "WHERE c.content = contents.id AND c.key = ?1) "
            "WHERE id IN (SELECT content FROM chunks WHERE key = ?1)",
            [(vectors[index][0],) for index in fresh],
        )


def switch(connection: sqlite3.Connection, model: ModelIdentity) -> None:
    """Let the successor answer, if this is the one."""
    wanted = rows.identity_to(model)
    if wanted in [each.identity for each in held(connection)[1:]]:
        connection.execute("DELETE FROM models WHERE identity <> ?", (wanted,))


def give_up_successor(connection: sqlite3.Connection, untouched_since: int) -> None:
    """Forget a successor that nobody has worked on since; what is missing then counts for the other one again."""
    known = held(connection)
    gone = connection.execute(
        "DELETE FROM models WHERE touched_at <= ? AND id > (SELECT min(id) FROM models)", (untouched_since,)
    ).rowcount
    if gone:
        connection.execute(
            "UPDATE contents SET missing = (SELECT count(*) FROM chunks c WHERE c.content = contents.id AND NOT EXISTS "
            "(SELECT 1 FROM vectors v WHERE v.model = ? AND v.key = c.key))",
            (known[0].id,),
        )
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")  # readers remember the successor
