"""What is remembered of files that are not documents, and of those that are, for the comparison with the disk."""

from dataclasses import replace

import pytest

from contract.builders import RECIPE, id_at, ledger_entry, make_draft, paths, put_texts, search_words
from dowse.errors import NotFoundError
from dowse.ports import Store
from dowse.types import Fingerprint, Known


def test_entries_come_back_as_recorded_by_collection_and_path(store: Store) -> None:
    entries = [
        ledger_entry("b.md"),
        ledger_entry("c.bin", state="skipped"),
        ledger_entry("a.md", collection="work", state="excluded"),
    ]
    store.record(list(reversed(entries)))
    with store.snapshot() as view:
        assert view.ledger() == entries
        assert view.ledger("notes") == entries[:2]
        assert view.ledger("nowhere") == []


def test_recording_a_path_again_replaces_its_entry(store: Store) -> None:
    store.record([ledger_entry("a.md")])
    newer = ledger_entry("a.md", state="skipped", size=9)
    store.record([newer])
    with store.snapshot() as view:
        assert view.ledger() == [newer]


def test_recording_in_an_unknown_collection_is_not_found_and_records_nothing(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.record([ledger_entry("a.md"), ledger_entry("a.md", collection="nowhere")])
    with store.snapshot() as view:
        assert view.ledger() == []


def test_a_failure_leaves_the_document_that_has_the_path_as_it_is(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.record([ledger_entry("a.md")])
    assert search_words(store, "alpha") == [("notes/a.md", 0)]
    with store.snapshot() as view:
        assert [entry.path for entry in view.ledger()] == ["a.md"]
        assert paths(view.documents()) == ["notes/a.md"]


def test_putting_a_path_clears_its_entry_and_no_other(store: Store) -> None:
    store.record([ledger_entry("a.md"), ledger_entry("b.md"), ledger_entry("a.md", collection="work")])
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        assert [(entry.collection, entry.path) for entry in view.ledger()] == [("notes", "b.md"), ("work", "a.md")]


def test_moving_to_a_path_clears_its_entry(store: Store) -> None:
    draft = make_draft("a.md", "alpha")
    store.put([draft])
    store.record([ledger_entry("b.md")])
    store.put([make_draft("b.md", "alpha", id=draft.info.id)])
    with store.snapshot() as view:
        assert view.ledger() == []


def test_forgetting_drops_the_entries_of_these_paths_only(store: Store) -> None:
    put_texts(store, {"doc.md": "alpha"})
    store.record([ledger_entry("a.md"), ledger_entry("b.md"), ledger_entry("a.md", collection="work")])
    store.forget("notes", ["a.md", "unknown.md", "doc.md"])
    with store.snapshot() as view:
        assert [(entry.collection, entry.path) for entry in view.ledger()] == [("notes", "b.md"), ("work", "a.md")]
        assert paths(view.documents()) == ["notes/doc.md"]


def test_excluding_leaves_an_entry_for_a_walked_document(store: Store) -> None:
    draft = make_draft("a.md", "alpha")
    store.put([draft])
    assert store.delete([draft.info.id], exclude=True) == 1
    with store.snapshot() as view:
        (entry,) = view.ledger()
    assert (entry.collection, entry.path, entry.state, entry.code) == ("notes", "a.md", "excluded", "excluded")
    assert entry.reason
    assert entry.at > 0
    known = store.fingerprints("notes")["a.md"]
    assert (known.id, known.state) == (None, "excluded")


def test_excluding_an_ingested_document_only_deletes_it(store: Store) -> None:
    draft = make_draft("a.md", "alpha", origin="ingested")
    store.put([draft])
    assert store.delete([draft.info.id], exclude=True) == 1
    with store.snapshot() as view:
        assert view.ledger() == []


def test_plain_deleting_leaves_no_entry(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.delete([id_at(store, "notes/a.md")])
    with store.snapshot() as view:
        assert view.ledger() == []
    assert dict(store.fingerprints("notes")) == {}


def test_putting_an_excluded_path_lifts_the_exclusion(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.delete([id_at(store, "notes/a.md")], exclude=True)
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        assert view.ledger() == []
    assert search_words(store, "alpha") == [("notes/a.md", 0)]


def test_fingerprints_tell_of_documents_and_of_entries(store: Store) -> None:
    draft = make_draft("a.md", "alpha", origin="ingested", metadata={"team": "x"}, content_metadata={"by": "y"})
    draft = replace(draft, info=replace(draft.info, declared_type="text/markdown"))
    store.put([draft])
    store.record([ledger_entry("b.md", size=3), ledger_entry("c.md", state="skipped")])
    put_texts(store, {"elsewhere.md": "beta"}, collection="work")
    info = draft.info
    assert dict(store.fingerprints("notes")) == {
        "a.md": Known(
            info.fingerprint,
            info.content_hash,
            info.id,
            "ingested",
            RECIPE,
            media_type="text/markdown",
            declared_type="text/markdown",
            metadata={"team": "x"},
        ),
        "b.md": Known(Fingerprint(size=3, mtime_ns=5), state="failed", code="unreadable"),
        "c.md": Known(Fingerprint(size=1, mtime_ns=5), state="skipped", code="unreadable"),
    }


def test_where_a_path_has_both_the_document_is_what_is_known(store: Store) -> None:
    draft = make_draft("a.md", "alpha")
    store.put([draft])
    store.record([ledger_entry("a.md")])
    known = store.fingerprints("notes")["a.md"]
    assert (known.id, known.content_hash) == (draft.info.id, draft.info.content_hash)


def test_new_fingerprints_are_remembered_for_documents_and_entries(store: Store) -> None:
    draft = make_draft("a.md", "alpha")
    store.put([draft])
    store.record([ledger_entry("b.md")])
    touched = Fingerprint(size=5, mtime_ns=99, inode=7, read_ns=100)
    store.restat("notes", {"a.md": touched, "b.md": touched, "unknown.md": touched})
    known = store.fingerprints("notes")
    assert {path: entry.fingerprint for path, entry in known.items()} == {"a.md": touched, "b.md": touched}
    with store.snapshot() as view:
        (info,) = view.documents()
    assert info.fingerprint == touched
    assert info.updated_at == draft.info.updated_at
    assert search_words(store, "alpha") == [("notes/a.md", 0)]


def test_new_fingerprints_reach_the_named_collection_only(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    put_texts(store, {"a.md": "alpha"}, collection="work")
    before = store.fingerprints("work")["a.md"]
    store.restat("notes", {"a.md": Fingerprint(size=1, mtime_ns=1)})
    assert store.fingerprints("work")["a.md"] == before
