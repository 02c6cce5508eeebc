"""The stores of tests/contract: every test that asks for `store` or `library` runs once on each."""

from collections.abc import Iterator

import pytest

from contract.builders import add_collections, put_texts
from contract.conftest import MAKERS, empty_store, store
from dowse.ports import Store
from search.asking import LIBRARY, embed_all

__all__ = ["empty_store", "library", "store"]


@pytest.fixture(scope="module", params=list(MAKERS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A few notes, searchable by words and by meaning; not to be written to."""
    filled = MAKERS[request.param](tmp_path_factory.mktemp("library"))
    add_collections(filled, "notes")
    put_texts(filled, LIBRARY)
    embed_all(filled)
    yield filled
    filled.close()
