"""Statistics, cleaning up, checking, rebuilding and closing."""

import pytest

from contract.builders import (
    DAY_MS,
    MODEL,
    RECIPE,
    content_hash,
    embed_backlog,
    id_at,
    ledger_entry,
    make_draft,
    put_texts,
    search_near,
    search_words,
)
from dowse.errors import StoreError
from dowse.ports import Store
from dowse.types import Collection, CollectionStats


def stats_of(store: Store, name: str) -> CollectionStats:
    with store.snapshot() as view:
        (found,) = (stats for stats in view.stats().collections if stats.collection.name == name)
    return found


def is_known(store: Store, text: str) -> bool:
    return bool(store.known([(content_hash(text), RECIPE)]))


def test_statistics_count_documents_chunks_and_the_ledger_per_collection_and_in_total(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta", "b.md": "gamma", "empty.md": ""})
    put_texts(store, {"a.md": "alpha\n\nbeta"}, collection="work")
    store.record(
        [
            ledger_entry("1", state="failed"),
            ledger_entry("2", state="failed"),
            ledger_entry("3", state="skipped"),
            ledger_entry("4", state="excluded"),
        ]
    )
    with store.snapshot() as view:
        stats = view.stats()
        notes, work = view.collections()
    assert stats.collections == (
        CollectionStats(notes, documents=3, chunks=3, unembedded=2, failed=2, skipped=1, missing=3),
        CollectionStats(work, documents=1, chunks=2, unembedded=1, failed=0, skipped=0, missing=2),
    )
    assert (stats.documents, stats.chunks, stats.vectors, stats.model) == (4, 5, 0, None)


def test_statistics_of_an_empty_collection_are_zero(empty_store: Store) -> None:
    collection = Collection("notes", created_at=1, updated_at=1)
    empty_store.put_collection(collection)
    assert stats_of(empty_store, "notes") == CollectionStats(collection, 0, 0, 0, 0, 0)


def test_a_document_counts_as_unembedded_until_its_last_chunk_has_a_vector(store: Store) -> None:
    put_texts(store, {"a.md": "x\n\nalpha beta gamma", "b.md": "x", "c.md": "x"})
    assert stats_of(store, "notes").unembedded == 3
    assert stats_of(store, "notes").missing == 4
    assert embed_backlog(store, limit=1) == ["x"]
    assert stats_of(store, "notes").unembedded == 1
    assert stats_of(store, "notes").missing == 1
    embed_backlog(store)
    assert stats_of(store, "notes").unembedded == 0
    assert stats_of(store, "notes").missing == 0
    with store.snapshot() as view:
        assert (view.stats().vectors, view.stats().model) == (2, MODEL)


def test_the_unembedded_count_follows_replacing_dropping_and_deleting(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta\n\nalpha", "b.md": "beta"})
    embed_backlog(store)
    put_texts(store, {"b.md": "beta\n\nnew"})
    assert stats_of(store, "notes").unembedded == 1
    store.drop_vectors()
    assert stats_of(store, "notes").unembedded == 2
    embed_backlog(store)
    assert stats_of(store, "notes").unembedded == 0
    store.delete([id_at(store, "notes/a.md")])
    assert stats_of(store, "notes").unembedded == 0


def test_statistics_forget_what_was_deleted(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta", "b.md": "gamma"})
    store.delete([id_at(store, "notes/a.md")])
    with store.snapshot() as view:
        assert (view.stats().documents, view.stats().chunks) == (1, 1)


def test_content_of_deleted_and_replaced_documents_is_known_until_it_is_cleaned_up(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
    store.delete([id_at(store, "notes/a.md")])
    put_texts(store, {"b.md": "beta changed"})
    assert store.cleanup(DAY_MS) >= 0
    assert is_known(store, "alpha")
    assert is_known(store, "beta")

    assert store.cleanup(0) >= 0

    assert not is_known(store, "alpha")
    assert not is_known(store, "beta")
    assert is_known(store, "beta changed")
    assert is_known(store, "gamma")
    with pytest.raises(StoreError):
        store.put([make_draft("a.md", "alpha", linked=True)])


def test_content_of_a_dropped_collection_is_known_until_it_is_cleaned_up(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.drop_collection("notes")
    assert is_known(store, "alpha")
    store.cleanup(0)
    assert not is_known(store, "alpha")


def test_cleaning_up_keeps_what_a_living_copy_uses(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nshared", "copy.md": "alpha\n\nshared", "b.md": "beta\n\nshared"})
    embed_backlog(store)
    store.delete([id_at(store, "notes/a.md"), id_at(store, "notes/b.md")])
    store.cleanup(0)
    assert is_known(store, "alpha\n\nshared")
    assert not is_known(store, "beta\n\nshared")
    assert search_words(store, "shared", k=1) == [("notes/copy.md", 1)]
    assert search_near(store, "shared", k=1) == [("notes/copy.md", 1)]
    with store.snapshot() as view:
        assert view.stats().vectors == 2


def test_what_was_cleaned_up_can_be_put_again(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    store.delete([id_at(store, "notes/a.md")])
    store.cleanup(0)
    put_texts(store, {"a.md": "alpha"})
    assert embed_backlog(store) == ["alpha"]
    assert search_words(store, "alpha") == search_near(store, "alpha") == [("notes/a.md", 0)]


def test_cleaning_up_an_empty_store_does_nothing(empty_store: Store) -> None:
    assert empty_store.cleanup(0) >= 0


def busy(store: Store) -> None:
    """A history with every kind of change in it."""
    put_texts(store, {"a.md": "alpha\n\nbeta", "b.md": "gamma delta", "c.md": "alpha"})
    embed_backlog(store)
    put_texts(store, {"a.md": "alpha\n\nbeta two", "copy.md": "gamma delta"})
    embed_backlog(store, limit=1)
    store.delete([id_at(store, "notes/c.md")])
    put_texts(store, {"d.md": "alpha epsilon"}, collection="work")
    store.rename_collection("work", "office")


@pytest.mark.parametrize("deep", [False, True])
def test_a_store_that_is_well_passes_its_own_check(store: Store, deep: bool) -> None:
    busy(store)
    store.cleanup(0)
    findings = store.check(deep=deep)
    assert findings
    assert [finding for finding in findings if not finding.ok] == []


def test_an_empty_store_passes_its_own_check(empty_store: Store) -> None:
    assert [finding for finding in empty_store.check(deep=True) if not finding.ok] == []


def test_rebuilding_changes_no_answer(store: Store) -> None:
    busy(store)
    words = sorted(search_words(store, "alpha", "beta", "gamma"))
    near = sorted(search_near(store, "alpha gamma"))
    backlog = store.unembedded(MODEL, 100)
    store.rebuild()
    assert sorted(search_words(store, "alpha", "beta", "gamma")) == words
    assert sorted(search_near(store, "alpha gamma")) == near
    assert store.unembedded(MODEL, 100) == backlog
    put_texts(store, {"e.md": "alpha again"})
    assert ("notes/e.md", 0) in search_words(store, "again")
    embed_backlog(store)
    assert search_near(store, "alpha again", k=1) == [("notes/e.md", 0)]


def test_rebuilding_an_empty_store_does_nothing(empty_store: Store) -> None:
    empty_store.rebuild()
    with empty_store.snapshot() as view:
        assert view.documents() == []


def test_rebuilding_reports_its_progress_up_to_the_end(store: Store) -> None:
    busy(store)
    steps: list[tuple[int, int]] = []
    store.rebuild(lambda done, total: steps.append((done, total)))
    assert steps
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] > 0


def test_closing_twice_is_harmless(store: Store) -> None:
    store.close()
    store.close()


def test_a_closed_store_refuses_to_work(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError):
        store.put([make_draft("a.md", "alpha")])
    with pytest.raises(StoreError), store.snapshot() as view:
        view.documents()
