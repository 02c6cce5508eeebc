"""Stores on a cluster for tests: one set of indexes for each process, emptied before each test.

Making indexes takes a cluster seconds, emptying them a fraction of one.
"""

import os
from dataclasses import replace
from itertools import count
from typing import Any

from dowse.ports import Store
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.catalog import CATALOG, Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import NEWEST, Indexes

_serial = count(1)


def own_address(url: str, name: str = "") -> Address:
    """The cluster of the tests, with a prefix that no other process of theirs has."""
    address = Address.parse(url)
    return replace(address, prefix=f"{address.prefix}-test{name}-{os.getpid()}")


def emptied_store(url: str, *, fresh: bool) -> OpenSearchStore:
    """A store with nothing in it, in indexes that may have been used before; `fresh` ones never were."""
    if fresh:
        return OpenSearchStore(own_address(url, f"-fresh{next(_serial)}"))
    store = OpenSearchStore(own_address(url))
    empty(store.address)
    return store


def empty(address: Address) -> None:
    """Delete all that a store holds."""
    connection, indexes = Connection(address), Indexes.of(address.prefix)
    body: dict[str, Any] = {"query": {"match_all": {}}}
    both = f"{indexes.chunks},{indexes.contents}"
    connection.refresh(both)
    connection.request("POST", f"/{both}/_delete_by_query", body, {"refresh": True, "conflicts": "proceed", **NEWEST})
    Counters(connection, indexes).acknowledge()
    connection.write([Write("index", indexes.state, CATALOG, {"kind": "catalog", "kept": Catalog().kept()})])
    connection.close()


def statistics_lag(store: Store) -> bool:
    """Whether what was deleted or written over counts in BM25 until it is merged away.

    A cluster does that when it likes; among a handful of passages such entries change scores by tens of per cent.
    """
    return isinstance(store, OpenSearchStore)


def remove(address: Address) -> None:
    """Delete the indexes of one store."""
    connection = Connection(address)
    connection.request("DELETE", f"/{Indexes.of(address.prefix).all}", params={"ignore_unavailable": True})
    connection.close()
