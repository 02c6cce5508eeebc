"""Collections and the contexts attached to them."""

import pytest

from contract.builders import (
    add_collections,
    id_at,
    ledger_entry,
    make_draft,
    paths,
    put_texts,
    search_words,
)
from dowse.errors import ConflictError, NotFoundError
from dowse.ports import Store
from dowse.types import Chunking, Collection, Context, Scope


def test_an_empty_store_has_nothing_in_it(empty_store: Store) -> None:
    with empty_store.snapshot() as view:
        assert view.collections() == ()
        assert view.contexts() == ()
        assert view.documents() == []
        assert view.ledger() == []
        assert view.stats().documents == 0


def test_collections_come_back_as_they_were_put_and_sorted_by_name(empty_store: Store) -> None:
    work = Collection("work", "/library/work", "**/*.md", included=False, description="d", created_at=1, updated_at=2)
    books = Collection(
        "books",
        created_at=3,
        updated_at=3,
        exclude=("drafts/", "*.tmp"),
        chunking=Chunking(max_tokens=512, min_tokens=0, overlap_tokens=50),
        settings={"top_k": 10, "hybrid": True, "alpha": 0.5, "words": ["a", "b"]},
    )
    empty_store.put_collection(work)
    empty_store.put_collection(books)
    with empty_store.snapshot() as view:
        assert view.collections() == (books, work)


def test_putting_a_collection_again_replaces_its_settings_and_keeps_its_documents(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.put_collection(Collection("notes", "/elsewhere", "*.txt", included=False, description="new"))
    with store.snapshot() as view:
        notes = view.collections()[0]
        assert (notes.root, notes.pattern, notes.included, notes.description) == ("/elsewhere", "*.txt", False, "new")
        assert paths(view.documents("notes")) == ["notes/a.md"]


def test_putting_a_collection_again_keeps_the_time_of_its_creation(empty_store: Store) -> None:
    empty_store.put_collection(Collection("notes", created_at=5, updated_at=5))
    empty_store.put_collection(Collection("notes", created_at=9, updated_at=9))
    with empty_store.snapshot() as view:
        (notes,) = view.collections()
    assert (notes.created_at, notes.updated_at) == (5, 9)


def test_renaming_a_collection_keeps_ids_words_ledger_and_contexts(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.record([ledger_entry("b.md")])
    store.put_context(Context("notes", "sub", "About it."))
    before = id_at(store, "notes/a.md")

    store.rename_collection("notes", "diary")

    assert id_at(store, "diary/a.md") == before
    assert search_words(store, "alpha", scope=Scope(frozenset({"diary"}))) == [("diary/a.md", 0)]
    assert search_words(store, "alpha", scope=Scope(frozenset({"notes"}))) == []
    assert set(store.fingerprints("diary")) == {"a.md", "b.md"}
    assert dict(store.fingerprints("notes")) == {}
    with store.snapshot() as view:
        assert [collection.name for collection in view.collections()] == ["diary", "work"]
        assert [entry.path for entry in view.ledger("diary")] == ["b.md"]
        assert view.ledger("notes") == []
        assert view.contexts() == (Context("diary", "sub", "About it."),)


def test_renaming_to_a_taken_name_is_a_conflict_and_changes_nothing(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with pytest.raises(ConflictError):
        store.rename_collection("notes", "work")
    with store.snapshot() as view:
        assert paths(view.documents()) == ["notes/a.md"]


def test_a_name_that_was_renamed_away_can_be_used_again(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.rename_collection("notes", "diary")
    add_collections(store, "notes")
    put_texts(store, {"a.md": "alpha again"})
    with store.snapshot() as view:
        assert paths(view.documents()) == ["diary/a.md", "notes/a.md"]
    assert search_words(store, "alpha", scope=Scope(frozenset({"diary"}))) == [("diary/a.md", 0)]


def test_renaming_an_unknown_collection_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.rename_collection("nowhere", "somewhere")


def test_dropping_a_collection_removes_all_that_belongs_to_it_and_nothing_else(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha beta"})
    put_texts(store, {"a.md": "alpha"}, collection="work")
    store.record([ledger_entry("c.md"), ledger_entry("c.md", collection="work")])
    store.put_context(Context("notes", "", "Notes."))
    store.put_context(Context("work", "", "Work."))
    store.put_context(Context(None, "", "All."))

    assert store.drop_collection("notes") == 2

    assert search_words(store, "alpha") == [("work/a.md", 0)]
    with store.snapshot() as view:
        assert [collection.name for collection in view.collections()] == ["work"]
        assert paths(view.documents()) == ["work/a.md"]
        assert [entry.collection for entry in view.ledger()] == ["work"]
        assert view.contexts() == (Context(None, "", "All."), Context("work", "", "Work."))


def test_a_dropped_collection_can_be_made_again_and_starts_empty(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.record([ledger_entry("b.md")])
    store.drop_collection("notes")
    add_collections(store, "notes")
    assert search_words(store, "alpha") == []
    assert dict(store.fingerprints("notes")) == {}


def test_dropping_an_unknown_collection_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.drop_collection("nowhere")


def test_a_document_of_an_unknown_collection_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.put([make_draft("a.md", "alpha", collection="nowhere")])


def test_contexts_are_listed_general_first_then_by_collection_and_prefix(store: Store) -> None:
    expected = (
        Context(None, "", "Everything."),
        Context("notes", "", "Notes."),
        Context("notes", "a/b", "Deep."),
        Context("notes", "c", "Third."),
        Context("work", "", "Work."),
    )
    for context in reversed(expected):
        store.put_context(context)
    with store.snapshot() as view:
        assert view.contexts() == expected


def test_putting_a_context_at_the_same_place_replaces_its_text(store: Store) -> None:
    for where in (None, "notes"):
        store.put_context(Context(where, "", "Old."))
        store.put_context(Context(where, "", "New."))
    with store.snapshot() as view:
        assert view.contexts() == (Context(None, "", "New."), Context("notes", "", "New."))


def test_dropping_a_context_says_whether_there_was_one(store: Store) -> None:
    store.put_context(Context(None, "", "All."))
    store.put_context(Context("notes", "a", "A."))
    assert store.drop_context("notes", "a") is True
    assert store.drop_context("notes", "a") is False
    assert store.drop_context(None, "") is True
    assert store.drop_context(None, "") is False
    with store.snapshot() as view:
        assert view.contexts() == ()


def test_a_context_of_an_unknown_collection_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.put_context(Context("nowhere", "", "Lost."))
