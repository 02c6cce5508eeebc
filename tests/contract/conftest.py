"""Every test that asks for `store` runs once on each store that Dowse has.

On a cluster only where there is one: DOWSE_TEST_CLUSTER is its URL, `make test-cluster` starts it.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contract.builders import add_collections
from contract.emptied import emptied_store, remove
from dowse.ports import Store
from dowse.store.memory import MemoryStore
from dowse.store.sqlite import SqliteStore

CLUSTER = os.environ.get("DOWSE_TEST_CLUSTER", "")
MAKERS: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda directory: SqliteStore(directory / "index"),
}
"""The stores of this machine."""
LOOK_AT_SCORES = ("test_lexical", "test_describing", "test_why")
"""Tests that get indexes of their own: scores count what earlier tests deleted until it is merged away."""
ON_CLUSTER = [pytest.param("opensearch", marks=pytest.mark.cluster)] if CLUSTER else []


@pytest.fixture(params=["memory", "sqlite", *ON_CLUSTER])
def empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store that nothing was put into yet."""
    if request.param == "opensearch" and request.module.__name__.endswith(LOOK_AT_SCORES):
        pristine = emptied_store(CLUSTER, fresh=True)
        yield pristine
        pristine.close()
        remove(pristine.address)
        return
    is_here = request.param in MAKERS
    store: Store = MAKERS[request.param](tmp_path) if is_here else emptied_store(CLUSTER, fresh=False)
    yield store
    store.close()


@pytest.fixture
def store(empty_store: Store) -> Store:
    """A store with two empty collections, `notes` and `work`."""
    add_collections(empty_store, "notes", "work")
    return empty_store
