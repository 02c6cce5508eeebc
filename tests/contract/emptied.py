"""Stores on a cluster for tests: one set of indexes for each process, emptied before each test.

Making indexes takes a cluster seconds; emptying them, with what was deleted merged away, takes a fraction of one.
"""

import os
from dataclasses import replace
from typing import Any

from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.catalog import CATALOG, Catalog
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes


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
    connection.request("POST", f"/{indexes.chunks}/_forcemerge", params={"only_expunge_deletes": True})
    connection.write([Write("index", indexes.state, CATALOG, {"kind": "catalog", "kept": Catalog().kept()})])
    connection.close()


def remove(address: Address) -> None:
    """Delete the indexes of one store."""
    connection = Connection(address)
    connection.request("DELETE", f"/{Indexes.of(address.prefix).all}", params={"ignore_unavailable": True})
    connection.close()
