"""A snapshot is one unchanging view: nothing that is written later reaches it, in whole or in part."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from contract.builders import (
    EVERYWHERE,
    MODEL,
    OTHER_MODEL,
    add_collections,
    all_refs,
    bag_of_words,
    embed_backlog,
    id_at,
    ledger_entry,
    located,
    make_draft,
    paths,
    put_texts,
    terms,
)
from contract.emptied import statistics_lag
from dowse.errors import DowseError
from dowse.ports import Snapshot, Store
from dowse.store.memory import MemoryStore
from dowse.types import Collection, Context, Fingerprint, Ref

WORDS = ("alpha", "beta", "gamma", "fresh")


def fill(*stores: Store) -> None:
    """Put the same into each store: something of everything."""
    drafts = [
        make_draft("a.md", "alpha beta\n\ngamma"),
        make_draft("b.md", "beta"),
        make_draft("a.md", "alpha beta\n\ngamma", collection="work"),
        make_draft("c.md", "alpha alpha", collection="work"),
    ]
    for store in stores:
        store.put(drafts)
        store.put_context(Context("notes", "", "Notes."))
        store.record([ledger_entry("broken.md")])
        embed_backlog(store, limit=2)


def replace_documents(store: Store) -> None:
    put_texts(store, {"a.md": "fresh", "b.md": "fresh alpha"})


def add_documents(store: Store) -> None:
    put_texts(store, {f"{number}.md": f"alpha fresh {number}" for number in range(20)})


def move_document(store: Store) -> None:
    store.put([make_draft("fresh.md", "beta", id=id_at(store, "notes/b.md"), collection="work", linked=True)])


def delete_documents(store: Store) -> None:
    store.delete([id_at(store, "notes/a.md"), id_at(store, "work/c.md")])


def exclude_document(store: Store) -> None:
    store.delete([id_at(store, "notes/a.md")], exclude=True)


def clean_up(store: Store) -> None:
    delete_documents(store)
    store.cleanup(0)


def embed(store: Store) -> None:
    embed_backlog(store)


def change_model(store: Store) -> None:
    store.drop_vectors()
    waiting = store.unembedded(OTHER_MODEL, 100)
    store.put_vectors(OTHER_MODEL, [(key, bag_of_words(text)) for key, text in waiting])


def change_collections(store: Store) -> None:
    store.rename_collection("notes", "diary")
    store.put_collection(Collection("work", "/elsewhere"))
    add_collections(store, "fresh")


def change_ledger(store: Store) -> None:
    store.forget("notes", ["broken.md"])
    store.record([ledger_entry("fresh.md")])
    store.restat("notes", {"a.md": Fingerprint(1, 1)})
    store.drop_context("notes", "")


def rebuild(store: Store) -> None:
    store.rebuild()


def drop_and_rebuild(store: Store) -> None:
    store.drop_collection("work")
    store.drop_vectors()
    store.cleanup(0)
    store.rebuild()
    put_texts(store, {"a.md": "fresh start"})
    embed_backlog(store)


CHANGES = [
    replace_documents,
    add_documents,
    move_document,
    delete_documents,
    exclude_document,
    clean_up,
    embed,
    change_model,
    change_collections,
    change_ledger,
    rebuild,
    drop_and_rebuild,
]


def facts(view: Snapshot) -> dict[str, object]:
    """All that a snapshot can tell, without refs, file sizes and scores."""
    stats = view.stats()
    found = view.lexical(terms(*WORDS), 100, EVERYWHERE)
    near = view.nearest(MODEL, bag_of_words("alpha gamma"), 100, EVERYWHERE)
    return {
        "collections": view.collections(),
        "contexts": view.contexts(),
        "documents": view.documents(),
        "texts": [view.document(info.id) for info in view.documents()],
        "ledger": view.ledger(),
        "stats": (stats.collections, stats.documents, stats.chunks, stats.vectors, stats.model),
        "model": view.model(),
        "words": located(view, found),
        "near": located(view, near),
        "passages": [passage.chunk for passage in view.passages([ref for ref, _ in found.hits])],
        "found": [paths(view.find("a.md", "suffix")), paths(view.find("notes/b.md", "path"))],
    }


def unranked(found: dict[str, object]) -> dict[str, object]:
    """The same with what was found by words in no order."""
    return {**found, **{name: sorted(map(str, found[name])) for name in ("words", "passages")}}  # type: ignore[call-overload]


def scores(view: Snapshot) -> list[float]:
    """The scores of both legs, and the ceiling."""
    found = view.lexical(terms(*WORDS), 100, EVERYWHERE)
    near = view.nearest(MODEL, bag_of_words("alpha gamma"), 100, EVERYWHERE)
    return [score for _, score in (*found.hits, *near.hits)] + [found.ceiling]


@pytest.mark.parametrize("change", CHANGES)
def test_reads_are_repeatable_whatever_is_written_meanwhile(store: Store, change: Callable[[Store], None]) -> None:
    fill(store)
    with store.snapshot() as view:
        facts_before, scores_before = facts(view), scores(view)
        change(store)
        assert facts(view) == facts_before
        assert scores(view) == pytest.approx(scores_before)


@pytest.mark.parametrize("change", CHANGES)
def test_a_snapshot_shows_the_moment_it_was_opened_even_when_first_read_later(
    store: Store, change: Callable[[Store], None]
) -> None:
    # What is expected comes from another store, so that no earlier read has anything loaded for this one.
    twin = MemoryStore()
    add_collections(twin, "notes", "work")
    fill(store, twin)
    with store.snapshot() as view, twin.snapshot() as expected:
        change(store)
        if statistics_lag(store):
            assert unranked(facts(view)) == unranked(facts(expected))
        else:
            assert facts(view) == facts(expected)
            assert scores(view) == pytest.approx(scores(expected), rel=1e-4)


def test_refs_stay_good_within_their_snapshot(store: Store) -> None:
    fill(store)
    with store.snapshot() as view:
        refs = all_refs(view, "alpha", "beta", "gamma")
        passages = view.passages(refs)
        word_scores = view.lexical_scores(terms("alpha"), refs)
        cosines = view.cosines(MODEL, bag_of_words("alpha"), refs)
        drop_and_rebuild(store)
        assert view.passages(refs) == passages
        assert view.lexical_scores(terms("alpha"), refs) == pytest.approx(word_scores)
        assert view.cosines(MODEL, bag_of_words("alpha"), refs) == pytest.approx(cosines)
        assert cosines


def test_a_new_snapshot_sees_what_was_written(store: Store) -> None:
    fill(store)
    with store.snapshot() as old:
        replace_documents(store)
        with store.snapshot() as new:
            assert "notes/a.md" not in dict(located(old, old.lexical(terms("fresh"), 10, EVERYWHERE)))
            fresh = [place for place, _ in located(new, new.lexical(terms("fresh"), 10, EVERYWHERE))]
            assert sorted(fresh) == ["notes/a.md", "notes/b.md"]


def test_many_snapshots_may_be_open_each_at_its_own_moment(store: Store) -> None:
    trees = ("ash", "birch", "cedar", "maple", "willow")
    with ExitStack() as stack:
        views = []
        for number, tree in enumerate(trees):
            put_texts(store, {"a.md": f"alpha {tree}", f"{number}.md": "beta"})
            views.append(stack.enter_context(store.snapshot()))
        for number, view in enumerate(views):
            assert len(view.documents()) == number + 2
            assert located(view, view.lexical(terms(trees[number]), 10, EVERYWHERE)) == [("notes/a.md", 0)]
            others = trees[:number] + trees[number + 1 :]
            assert view.lexical(terms(*others), 10, EVERYWHERE).hits == ()


def test_the_old_version_is_found_until_the_new_one_is_there(store: Store) -> None:
    put_texts(store, {"a.md": "alpha old"})
    for number in range(3):
        with store.snapshot() as before:
            put_texts(store, {"a.md": f"alpha new {number}"})
            assert len(before.lexical(terms("alpha"), 10, EVERYWHERE).hits) == 1
        with store.snapshot() as after:
            assert len(after.lexical(terms("alpha"), 10, EVERYWHERE).hits) == 1


def test_a_failed_write_is_seen_by_nobody(store: Store) -> None:
    fill(store)
    with store.snapshot() as view:
        before = facts(view)
    failing: list[Callable[[], object]] = [
        lambda: store.put([make_draft("a.md", "fresh"), make_draft("z.md", "unknown words", linked=True)]),
        lambda: store.put([make_draft("a.md", "fresh"), make_draft("z.md", "z", collection="nowhere")]),
        lambda: store.rename_collection("notes", "work"),
        lambda: store.drop_collection("nowhere"),
        lambda: store.put_context(Context("nowhere", "", "x")),
        lambda: store.record([ledger_entry("z.md"), ledger_entry("z.md", collection="nowhere")]),
        lambda: store.put_vectors(OTHER_MODEL, [(b"0" * 16, bag_of_words("alpha"))]),
    ]
    for write in failing:
        with pytest.raises(DowseError):
            write()
        with store.snapshot() as view:
            assert facts(view) == before


def test_a_store_that_is_well_has_nothing_to_note(store: Store) -> None:
    fill(store)
    with store.snapshot() as view:
        assert view.notes == ()


def test_a_ref_of_a_document_that_was_replaced_is_unknown_to_a_new_snapshot(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        refs: list[Ref] = all_refs(view, "alpha")
    put_texts(store, {"a.md": "beta"})
    with store.snapshot() as view:
        assert view.passages(refs) == []
