"""Some passages with their vectors, spread evenly over all of them."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dowse.types import Ref, ref_of

if TYPE_CHECKING:
    from dowse.ports import Vector
    from dowse.store.sqlite.choosing import Chosen
    from dowse.store.sqlite.vectors import VectorRows

__all__ = ["sample"]


def sample(
    connection: sqlite3.Connection,
    model: "tuple[int, VectorRows] | None",
    dims: int,
    k: int,
    collections: Sequence[int] | None,
    chosen: "Chosen | None",
) -> "tuple[list[Ref], Vector, int]":
    """See `ports.Snapshot.sample`."""
    if model is None:
        return [], np.zeros((0, dims), dtype=np.float32), 0
    model_id, files = model
    condition = "1" if collections is None else f"d.collection IN ({','.join(map(str, collections)) or 'NULL'})"
    query = (
        "SELECT d.version, c.ordinal, v.row FROM documents d JOIN chunks c ON c.content = d.content "
        f"JOIN vectors v ON v.model = ? AND v.key = c.key WHERE {condition} ORDER BY d.version, c.ordinal"
    )
    found = ((ref_of(version, ordinal), row) for version, ordinal, row in connection.execute(query, (model_id,)))
    everything = [(ref, row) for ref, row in found if row < len(files) and (chosen is None or chosen.has(ref))]
    picked = [everything[at * len(everything) // k] for at in range(k)] if len(everything) > k else everything
    rows = np.fromiter((row for _, row in picked), dtype=np.int64, count=len(picked))
    return [ref for ref, _ in picked], files.vectors(rows), len(everything)
