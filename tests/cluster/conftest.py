"""What the tests on a cluster share: its address, or a skip in one line where there is none."""

import os
from collections.abc import Iterator

import pytest

from contract.emptied import empty, own_address, remove
from dowse.store.opensearch import Address, OpenSearchStore

CLUSTER = os.environ.get("DOWSE_TEST_CLUSTER", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "cluster":
            item.add_marker(pytest.mark.cluster)
            if not CLUSTER:
                item.add_marker(pytest.mark.skip("no DOWSE_TEST_CLUSTER: see `make test-cluster`"))


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """Indexes of this module alone, removed afterwards."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    own = own_address(CLUSTER, f"-{name.replace('_', '-')}")
    yield own
    remove(own)


@pytest.fixture
def cluster_store(address: Address) -> Iterator[OpenSearchStore]:
    """An empty store."""
    store = OpenSearchStore(address)
    empty(address)
    yield store
    store.close()
