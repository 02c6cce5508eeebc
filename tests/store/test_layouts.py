"""Indexes that earlier versions of Dowse wrote: `layouts/N.zip` holds one of layout N, with its derived files.

A new layout leaves a new one here: index the two notes that the others hold with the version before the change.
"""

import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest

from contract.builders import make_draft, search_words
from dowse.errors import StoreVersionError
from dowse.store.sqlite import SqliteStore
from dowse.store.sqlite.database import MIGRATIONS

LAYOUTS = Path(__file__).parent / "layouts"
EARLIER = range(1, len(MIGRATIONS))


@pytest.fixture(params=EARLIER, ids=lambda number: f"layout {number}")
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with zipfile.ZipFile(LAYOUTS / f"{request.param}.zip") as archive:
        archive.extractall(tmp_path / "index")
    return tmp_path / "index"


def version_of(index: Path) -> int:
    connection = sqlite3.connect(index / "dowse.db")
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


def test_there_is_an_index_of_every_earlier_layout() -> None:
    assert sorted(path.name for path in LAYOUTS.glob("*.zip")) == [f"{number}.zip" for number in EARLIER]


def test_reading_an_earlier_layout_brings_it_up_to_date_and_loses_nothing(index: Path) -> None:
    assert version_of(index) < len(MIGRATIONS)
    store = SqliteStore(index)
    with store.snapshot() as view:
        assert [info.path for info in view.documents()] == ["garden.md", "sub/kitchen.md"]
        garden = view.documents()[0]
        assert (garden.title, garden.metadata, garden.chunks) == ("Garden", {"tags": ["garden", "spring"]}, 2)
        assert view.stats().vectors == 3
        assert view.notes == ()
        assert [entry.path for entry in view.ledger()] == ["photo.png"]
        assert view.collections()[0].chunking is None
        assert [context.text for context in view.contexts()] == ["My notes"]
    assert {file for file, _ in search_words(store, "walnut")} == {"notes/garden.md"}
    assert [finding.check for finding in store.check(deep=True) if not finding.ok] == []
    store.close()
    assert version_of(index) == len(MIGRATIONS)


def test_writing_to_an_earlier_layout_brings_it_up_to_date(index: Path) -> None:
    store = SqliteStore(index)
    store.put([make_draft("new.md", "# New\n\nchestnut")])
    assert {file for file, _ in search_words(store, "chestnut")} == {"notes/new.md"}
    assert {file for file, _ in search_words(store, "walnut")} == {"notes/garden.md"}
    store.close()


def test_examining_an_earlier_layout_changes_nothing_and_says_what_it_is(index: Path) -> None:
    before = version_of(index)
    (finding,) = SqliteStore(index).check()
    assert not finding.ok
    assert "earlier version" in finding.message
    assert version_of(index) == before


def test_an_index_of_a_later_version_is_refused_politely(index: Path) -> None:
    connection = sqlite3.connect(index / "dowse.db")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    copy = shutil.copytree(index, index.with_name("copy"))
    for touch in (lambda store: store.snapshot().__enter__(), lambda store: store.drop_vectors()):
        store = SqliteStore(index)
        with pytest.raises(StoreVersionError, match="newer Dowse"):
            touch(store)
        store.close()
    assert (index / "dowse.db").read_bytes() == (copy / "dowse.db").read_bytes()
