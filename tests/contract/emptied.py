"""Stores on a cluster for tests: one set of indexes for each process, emptied before each test.

Making indexes takes a cluster seconds; emptying them, with what was deleted merged away, takes a fraction of one.
"""

import os
import time
from dataclasses import replace
from typing import Any

from dowse.ports import Store
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.catalog import CATALOG, Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes

_SETTLED_WITHIN = 30


def own_address(url: str, name: str = "") -> Address:
    """The cluster of the tests, with a prefix that no other process of theirs has."""
    address = Address.parse(url)
    return replace(address, prefix=f"{address.prefix}-test{name}-{os.getpid()}")


def emptied_store(url: str) -> OpenSearchStore:
    """A store with nothing in it, in indexes that may have been used before."""
    store = OpenSearchStore(own_address(url))
    empty(store.address)
    return store


def empty(address: Address) -> None:
    """Delete all that a store holds; what was deleted no longer counts in any statistics."""
    connection, indexes = Connection(address), Indexes.of(address.prefix)
    body: dict[str, Any] = {"query": {"match_all": {}}}
    both = f"{indexes.chunks},{indexes.contents}"
    connection.refresh(both)
    connection.request("POST", f"/{both}/_delete_by_query", body, {"refresh": True, "conflicts": "proceed"})
    connection.write([Write("index", indexes.state, CATALOG, {"kind": "catalog", "kept": Catalog().kept()})])
    _merge(connection, indexes)
    connection.close()


def settled(store: Store) -> Store:
    """The same store, with nothing left in its statistics that was deleted or written over.

    BM25 counts such entries until they are merged away, which a cluster does when it likes.
    """
    if isinstance(store, OpenSearchStore):
        connection = Connection(store.address)
        _merge(connection, Indexes.of(store.address.prefix))
        connection.close()
    return store


def _merge(connection: Connection, indexes: Indexes) -> None:
    """Merge until no deleted entry is left; copies that lag hold some back for a moment."""
    at_once = {"index.soft_deletes.retention_lease.sync_interval": "100ms"}
    deadline = time.monotonic() + _SETTLED_WITHIN
    while _deleted(connection, indexes):
        if time.monotonic() > deadline:
            raise TimeoutError("deleted entries are not merged away")
        connection.request("PUT", f"/{indexes.chunks}/_settings", at_once)
        connection.request("POST", f"/{indexes.chunks}/_flush", params={"force": True})
        connection.request("POST", f"/{indexes.chunks}/_forcemerge", params={"only_expunge_deletes": True})
        connection.refresh(indexes.chunks)
    Counters(connection, indexes).acknowledge()


def _deleted(connection: Connection, indexes: Indexes) -> int:
    stats = connection.request("GET", f"/{indexes.chunks}/_stats/docs")
    return int(stats["_all"]["total"]["docs"]["deleted"])


def remove(address: Address) -> None:
    """Delete the indexes of one store."""
    connection = Connection(address)
    connection.request("DELETE", f"/{Indexes.of(address.prefix).all}", params={"ignore_unavailable": True})
    connection.close()
