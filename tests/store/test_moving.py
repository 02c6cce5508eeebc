"""A whole store moves into another one and back: ids, vectors, ledger and contexts, also after an interruption."""

from pathlib import Path

import pytest

from contract.builders import (
    DAY_MS,
    MODEL,
    add_collections,
    embed_backlog,
    id_at,
    ledger_entry,
    make_draft,
    put_texts,
    search_near,
    search_words,
)
from contract.test_snapshots import facts
from dowse.errors import ConflictError, StoreUnavailableError
from dowse.ports import Store
from dowse.store.memory import MemoryStore
from dowse.store.portable.moving import move
from dowse.store.sqlite import SqliteStore
from dowse.types import Context, Draft


def filled(store: Store) -> Store:
    add_collections(store, "notes", "work", "empty")
    put_texts(store, {"a.md": "alpha beta\n\ngamma", "b.md": "beta", "copy.md": "beta"})
    store.put([make_draft("c.md", "alpha alpha", collection="work", origin="ingested", metadata={"tags": ["x"]})])
    store.put_context(Context(None, "", "All."))
    store.put_context(Context("notes", "sub", "About it."))
    store.record([ledger_entry("broken.md")])
    embed_backlog(store, limit=3)
    store.delete([id_at(store, "notes/copy.md")], exclude=True)
    store.cleanup(DAY_MS)
    return store


def all_facts(store: Store) -> dict[str, object]:
    """What the snapshots' suite compares; equally near passages come in each store's own order."""
    with store.snapshot() as view:
        found = facts(view)
    return {**found, "near": sorted(map(str, found["near"]))}  # type: ignore[call-overload]


def test_everything_arrives_and_comes_back(tmp_path: Path) -> None:
    source, there, back = filled(MemoryStore()), SqliteStore(tmp_path / "index"), MemoryStore()
    report = move(source, there)
    assert (report.documents, report.vectors) == (3, 3)
    move(there, back)
    assert all_facts(there) == all_facts(source) == all_facts(back)
    assert there.count_unembedded(MODEL) == source.count_unembedded(MODEL)
    there.close()


def test_moving_again_brings_what_is_new_and_nothing_twice(tmp_path: Path) -> None:
    source, target = filled(MemoryStore()), SqliteStore(tmp_path / "index")
    move(source, target)
    put_texts(source, {"new.md": "delta", "b.md": "beta changed"})
    embed_backlog(source)
    report = move(source, target)
    assert report.vectors == source_vectors(source) - 3
    assert all_facts(target) == all_facts(source)
    target.close()


def source_vectors(store: Store) -> int:
    with store.snapshot() as view:
        return view.stats().vectors


class Failing(MemoryStore):
    """A store that takes so many batches and then loses its connection."""

    left = 1

    def put(self, drafts: "list[Draft] | tuple[Draft, ...]") -> None:  # type: ignore[override]
        if not self.left:
            raise StoreUnavailableError("It is gone.")
        self.left -= 1
        super().put(drafts)


def test_an_interrupted_move_goes_on_where_it_stopped() -> None:
    source, target = filled(MemoryStore()), Failing()
    with pytest.raises(StoreUnavailableError):
        move(source, target)
    target.left = 100
    move(source, target)
    assert all_facts(target) == all_facts(source)
    assert search_words(target, "alpha", k=1) == search_words(source, "alpha", k=1)
    assert search_near(target, "beta", k=1) == search_near(source, "beta", k=1)


def test_a_target_with_documents_of_its_own_is_refused_unchanged() -> None:
    source, target = filled(MemoryStore()), MemoryStore()
    add_collections(target, "notes")
    put_texts(target, {"other.md": "other"})
    before = all_facts(target)
    with pytest.raises(ConflictError) as refused:
        move(source, target)
    assert "other.md" in refused.value.message
    assert all_facts(target)["documents"] == before["documents"]
