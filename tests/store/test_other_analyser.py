"""An index whose words were cut by other rules: it answers, says so, and is made anew by the next write."""

import sqlite3
from pathlib import Path

from contract.builders import add_collections, make_draft, search_words
from dowse.store.sqlite import SqliteStore
from dowse.text.analyse import ANALYSER


def test_words_cut_by_other_rules_answer_with_a_note_until_something_is_written(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "index")
    add_collections(store, "notes")
    store.put([make_draft("nut.md", "# Nuts\n\nwalnut")])
    store.close()
    database = sqlite3.connect(tmp_path / "index" / "dowse.db")
    with database:
        database.execute("UPDATE meta SET value = 'dowse-0/other' WHERE key = 'analyser'")

    store = SqliteStore(tmp_path / "index")
    with store.snapshot() as view:
        (note,) = view.notes
        assert "another version of the analyser" in note
        assert "dowse update" in note
        (collection,) = view.collections()
    assert {file for file, _ in search_words(store, "walnut")} == {"notes/nut.md"}
    assert [finding.check for finding in store.check() if not finding.ok] == ["words"]

    store.put_collection(collection)  # as every update does, even where no file changed
    with store.snapshot() as view:
        assert view.notes == ()
    assert {file for file, _ in search_words(store, "walnut")} == {"notes/nut.md"}
    assert [finding.check for finding in store.check(deep=True) if not finding.ok] == []
    store.close()
    assert database.execute("SELECT value FROM meta WHERE key = 'analyser'").fetchone() == (ANALYSER,)
    database.close()
