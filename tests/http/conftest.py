"""A real server on a free port, over an index with two collections, and clients with different tokens."""

import threading
from collections.abc import Iterator

import httpx2
import pytest

from http_api import Api, build_index, serving

__all__ = ["Api"]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    build_index(folder)
    with serving(folder) as api:
        yield api


@pytest.fixture
def anybody(api: Api) -> Iterator[httpx2.Client]:
    """Somebody without a token."""
    with api.client() as client:
        yield client


@pytest.fixture
def owner(api: Api) -> Iterator[httpx2.Client]:
    """Somebody with the token that the server prints."""
    with api.client(api.token) as client:
        yield client


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    """Streams and clients end with their test; servers of modules and the pools of theirs may stay."""
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-")]
