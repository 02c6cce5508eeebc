"""Leases: names of parts of some work, each held by one process for a while.

A lease is a note that is written only if nobody has one, or if the one that is there has run out and is still the
same. Nothing is given back: what is done is not asked for again, and what is not, is free when its time has passed.
Clocks that differ by less than a lease lasts do no harm but work that is done twice.
"""

from collections.abc import Sequence
from typing import Any

from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes
from dowse.store.opensearch.rows import digest
from dowse.types import now_ms

__all__ = ["Leases"]

_SWEEP_EVERY = 100
_FORGOTTEN_AFTER_MS = 60_000


class Leases:
    """Takes leases for the processes of one store."""

    def __init__(self, connection: Connection, indexes: Indexes) -> None:
        self._connection = connection
        self._index = indexes.contents
        self._taken = 0

    def take(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:
        """Those of the names that this owner holds from now on."""
        self._sweep()
        ids = {f"lease-{digest(name)}": name for name in names}
        now = now_ms()
        there = self._connection.get_many([(self._index, id_, "") for id_ in ids])
        free = {id_: there.get(id_) for id_ in ids if _is_free(there.get(id_), owner, now)}
        body = {"kind": "lease", "until": now + int(1000 * seconds), "kept": {"owner": owner}}
        outcomes = self._connection.write(
            Write("index" if note else "create", self._index, id_, body, on=_version(note))
            for id_, note in free.items()
        )
        return frozenset(ids[id_] for id_, outcome in zip(free, outcomes, strict=True) if not outcome.conflict)

    def _sweep(self) -> None:
        """Now and then, delete those that ran out long ago."""
        self._taken += 1
        if self._taken % _SWEEP_EVERY == 0:
            ran_out = {"range": {"until": {"lte": now_ms() - _FORGOTTEN_AFTER_MS}}}
            body = {"query": {"bool": {"filter": [{"term": {"kind": "lease"}}, ran_out]}}}
            self._connection.request("POST", f"/{self._index}/_delete_by_query", body, {"conflicts": "proceed"})


def _is_free(note: dict[str, Any] | None, owner: str, now: int) -> bool:
    return note is None or note["_source"]["until"] <= now or note["_source"]["kept"]["owner"] == owner


def _version(note: dict[str, Any] | None) -> tuple[int, int] | None:
    return (note["_seq_no"], note["_primary_term"]) if note else None
