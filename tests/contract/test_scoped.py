"""A store of which only some collections can be seen is, to whoever looks, a store with only these."""

import pytest

from contract.builders import (
    EVERYWHERE,
    MODEL,
    add_collections,
    all_refs,
    bag_of_words,
    content_hash,
    embed_backlog,
    id_at,
    ledger_entry,
    located,
    make_draft,
    paths,
    put_texts,
)
from dowse.errors import NotFoundError
from dowse.ports import Store
from dowse.store.scoped import OutOfScopeError, ScopedStore
from dowse.types import Collection, Compare, Context, Scope

SEEN = frozenset({"notes", "later"})
HIDDEN = "alpha zanzibar\n\nzanzibarian"


@pytest.fixture
def scoped(store: Store) -> ScopedStore:
    """`notes` and `work`, of which only the first can be seen; `later` may be made."""
    put_texts(store, {"a.md": "# Tea\n\nalpha beta", "sub/b.md": "alpha gamma"})
    store.put([make_draft("tagged.md", "delta", metadata={"tag": "green"})])
    put_texts(store, {"a.md": HIDDEN, "c.md": "alpha hidden"}, collection="work")
    store.put([make_draft("tagged.md", "epsilon", collection="work", metadata={"clearance": "top"})])
    embed_backlog(store)
    store.record([ledger_entry("bad.pdf"), ledger_entry("worse.pdf", collection="work")])
    for context in (Context(None, "", "All."), Context("notes", "", "Notes."), Context("work", "", "Work.")):
        store.put_context(context)
    return ScopedStore(store, SEEN)


def test_searches_see_only_the_collections(scoped: ScopedStore) -> None:
    with scoped.snapshot() as view:
        for scope in (EVERYWHERE, Scope(frozenset({"notes", "work"}))):
            assert {place for place, _ in located(view, view.lexical(["alpha"], 100, scope))} == {
                "notes/a.md",
                "notes/sub/b.md",
            }
            near = view.nearest(MODEL, bag_of_words("alpha zanzibar"), 100, scope)
            assert {place.partition("/")[0] for place, _ in located(view, near)} == {"notes"}
            refs, vectors, total = view.sample(MODEL, 100, scope)
            assert total == len(refs) == len(vectors)
            assert {each.info.collection for each in view.passages(refs)} == {"notes"}
        assert view.lexical(["alpha"], 100, Scope(frozenset({"work"}))).hits == ()


def test_words_that_stand_elsewhere_are_unknown(scoped: ScopedStore) -> None:
    with scoped.snapshot() as view:
        assert view.frequencies(["zanzibar", "beta"]) == {"zanzibar": 0, "beta": 1}
        assert view.completions("zanz", 10) == []
        assert view.completions("bet", 10) == ["beta"]
        assert view.metadata_keys() == {"tag"}


def test_documents_and_all_that_is_said_of_them_are_those_of_the_collections(store: Store, scoped: ScopedStore) -> None:
    hidden = id_at(store, "work/a.md")
    with scoped.snapshot() as view:
        assert paths(view.documents()) == ["notes/a.md", "notes/sub/b.md", "notes/tagged.md"]
        assert paths(view.documents(limit=1, offset=1)) == ["notes/sub/b.md"]
        assert paths(view.documents(filter=Compare("path", "glob", "*.md"), prefix="s")) == ["notes/sub/b.md"]
        assert view.documents("work") == []
        assert [each.name for each in view.collections()] == ["notes"]
        assert [each.text for each in view.contexts()] == ["All.", "Notes."]
        assert [each.path for each in view.ledger()] == ["bad.pdf"]
        assert view.ledger("work") == []
        assert view.document(hidden) is None
        assert view.chunks(hidden) == []
        assert paths(view.find("a.md", "suffix")) == ["notes/a.md"]
        assert view.find("work/a.md", "path") == []
        assert view.find(content_hash(HIDDEN), "hash") == []
        assert view.texts(content_hash(HIDDEN)) == []
        assert view.texts(content_hash("alpha gamma")) == ["alpha gamma"]


def test_refs_of_hidden_passages_lead_nowhere(store: Store, scoped: ScopedStore) -> None:
    with store.snapshot() as everything:
        refs = all_refs(everything, "alpha", "zanzibar")
    with scoped.snapshot() as view:
        assert {each.info.collection for each in view.passages(refs)} == {"notes"}


def test_counts_are_those_of_the_collections(scoped: ScopedStore) -> None:
    with scoped.snapshot() as view:
        stats = view.stats()
        assert [each.collection.name for each in stats.collections] == ["notes"]
        assert (stats.documents, stats.chunks, stats.bytes_on_disk) == (3, 4, 0)
        assert stats.vectors <= stats.chunks


def test_collections_that_differ_only_in_case_are_told_apart(store: Store) -> None:
    add_collections(store, "Notes")
    put_texts(store, {"a.md": "alpha"})
    put_texts(store, {"b.md": "alpha"}, collection="Notes")
    with ScopedStore(store, SEEN).snapshot() as view:
        assert paths(view.documents()) == ["notes/a.md"]
        assert view.documents(limit=1, offset=1) == []


def test_nothing_outside_of_the_collections_can_be_changed(store: Store, scoped: ScopedStore) -> None:
    entry = ledger_entry("x", collection="work")
    for change in (
        lambda: scoped.put_collection(Collection("work")),
        lambda: scoped.put_collection(Collection("unheard-of")),
        lambda: scoped.rename_collection("notes", "work"),
        lambda: scoped.rename_collection("work", "later"),
        lambda: scoped.drop_collection("work"),
        lambda: scoped.put_context(Context("work", "", "Mine.")),
        lambda: scoped.put_context(Context(None, "", "Mine.")),
        lambda: scoped.drop_context(None, ""),
        lambda: scoped.fingerprints("work"),
        lambda: scoped.put([make_draft("x.md", "x", collection="work")]),
        lambda: scoped.restat("work", {}),
        lambda: scoped.record([entry]),
        lambda: scoped.forget("work", ["worse.pdf"]),
        scoped.drop_vectors,
        scoped.rebuild,
        scoped.check,
        lambda: scoped.cleanup(0),
    ):
        with pytest.raises(OutOfScopeError):
            change()
    with pytest.raises(NotFoundError):
        scoped.delete([id_at(store, "work/a.md")])
    with store.snapshot() as view:
        assert len(view.documents("work")) == 3


def test_inside_of_them_everything_can(store: Store, scoped: ScopedStore) -> None:
    scoped.put_collection(Collection("later"))
    scoped.put([make_draft("new.md", "alpha new", collection="later")])
    assert scoped.delete([id_at(store, "notes/a.md")]) == 1
    scoped.rename_collection("later", "later")
    with scoped.snapshot() as view:
        assert paths(view.documents()) == ["later/new.md", "notes/sub/b.md", "notes/tagged.md"]
    assert scoped.drop_collection("later") == 1
    scoped.close()
    with store.snapshot() as view:
        assert len(view.documents()) == 5
