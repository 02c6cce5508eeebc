"""Putting, replacing, moving, linking and deleting documents."""

from dataclasses import replace
from typing import Any

import pytest

from contract.builders import (
    RECIPE,
    add_collections,
    all_refs,
    content_hash,
    id_at,
    make_content,
    make_draft,
    new_id,
    paths,
    put_texts,
    search_words,
)
from dowse.errors import NotFoundError, StoreError
from dowse.ports import Store
from dowse.types import Draft, Fingerprint, MetadataValue, ordinal_of, version_of
from workbench import alike

LONG = "# Walnut\n\nalpha beta\nsecond line\n\n# Cherry\n\ngamma délta 数据库 🙂 epsilon\n\nlast words"


def test_a_document_comes_back_with_everything_that_was_put(store: Store) -> None:
    draft = make_draft(
        "deep/walnut.md",
        LONG,
        origin="ingested",
        metadata={"tags": ["a", "b"], "draft": True, "year": 2026, "weight": 0.5, "author": "Ann"},
        created_at=11,
        updated_at=12,
    )
    fingerprint = Fingerprint(size=7, mtime_ns=2**62, inode=2**60, read_ns=2**61, etag='W/"a1"')
    info = replace(draft.info, fingerprint=fingerprint, declared_type="text/markdown")
    store.put([replace(draft, info=info)])
    with store.snapshot() as view:
        assert view.documents() == [info]
        document = view.document(info.id)
    assert document is not None
    assert document.info == info
    assert document.text == LONG
    assert (document.first_line, document.total_lines) == (1, 10)


def test_passages_carry_exact_spans_headings_and_their_document(store: Store) -> None:
    draft = make_draft("walnut.md", LONG)
    store.put([draft])
    with store.snapshot() as view:
        passages = view.passages(all_refs(view, "walnut", "cherry", "alpha", "gamma", "last"))
    by_ordinal = sorted(passages, key=lambda passage: passage.ordinal)
    assert tuple(passage.chunk for passage in by_ordinal) == make_content(LONG).chunks
    assert [passage.ordinal for passage in by_ordinal] == [0, 1, 2, 3, 4]
    for passage in by_ordinal:
        assert passage.info == draft.info
        assert passage.chunk.text == LONG[passage.chunk.start : passage.chunk.end]


def test_the_chunks_of_a_document_come_in_the_order_of_its_text(store: Store) -> None:
    draft, other = make_draft("walnut.md", LONG), make_draft("other.md", "# Other\n\nalpha")
    store.put([draft, other])
    with store.snapshot() as view:
        passages = view.chunks(draft.info.id)
        assert tuple(passage.chunk for passage in passages) == make_content(LONG).chunks
        assert [passage.ordinal for passage in passages] == list(range(draft.info.chunks))
        assert view.chunks(new_id()) == []


def test_what_a_draft_says_of_a_document_beats_what_its_content_says_of_itself(store: Store) -> None:
    said: dict[str, MetadataValue] = {"author": "Ann", "year": 2025}
    store.put([make_draft("a.md", "alpha", content_metadata=said, metadata={"year": 2026, "tags": ["x"]})])
    store.put([make_draft("copy.md", "alpha", linked=True)])
    with store.snapshot() as view:
        original, copy = view.documents()
    assert original.metadata == {"author": "Ann", "year": 2026, "tags": ["x"]}
    assert copy.metadata == said


def test_pages_of_chunks_are_kept(store: Store) -> None:
    draft = make_draft("paper.pdf", "alpha\n\nbeta")
    assert draft.content is not None
    chunks = tuple(replace(chunk, page=page) for page, chunk in enumerate(draft.content.chunks, 1))
    store.put([replace(draft, content=replace(draft.content, chunks=chunks))])
    with store.snapshot() as view:
        pages = {passage.chunk.text: passage.chunk.page for passage in view.passages(all_refs(view, "alpha", "beta"))}
    assert pages == {"alpha": 1, "beta": 2}


def test_passages_come_in_the_order_asked_and_unknown_refs_are_left_out(store: Store) -> None:
    put_texts(store, {"a.md": "alpha one\n\nalpha two\n\nalpha three"})
    with store.snapshot() as view:
        refs = sorted(all_refs(view, "alpha"), reverse=True)
        nobody = type(refs[0])(max(refs) + 1_000_000)
        assert [passage.ref for passage in view.passages([refs[0], nobody, *refs[1:]])] == refs
        assert view.passages([]) == []


def test_a_ref_tells_the_place_of_its_chunk_and_which_chunks_belong_to_one_document(store: Store) -> None:
    put_texts(store, {"a.md": "alpha one\n\nalpha two", "b.md": "alpha three\n\nalpha four"})
    put_texts(store, {"a.md": "alpha one\n\nalpha two\n\nalpha five"})
    with store.snapshot() as view:
        passages = view.passages(all_refs(view, "alpha"))
    assert [ordinal_of(passage.ref) for passage in passages] == [passage.ordinal for passage in passages]
    documents = {version_of(passage.ref): passage.info.id for passage in passages}
    assert len(passages) == 5
    assert len(documents) == 2
    assert all(documents[version_of(passage.ref)] == passage.info.id for passage in passages)


def test_a_document_without_any_text_is_listed_but_has_no_passages(store: Store) -> None:
    put_texts(store, {"empty.md": ""})
    with store.snapshot() as view:
        (info,) = view.documents()
        document = view.document(info.id)
        assert document is not None
        assert document.text == ""
        assert (view.stats().documents, view.stats().chunks) == (1, 0)


def test_documents_are_listed_page_by_page_by_path_or_with_the_newest_first(store: Store) -> None:
    store.put(
        [make_draft(f"{name}.md", name, created_at=at) for name, at in {"a": 2_000, "b": 1_000, "c": 3_000}.items()]
    )
    with store.snapshot() as view:

        def paths(**options: Any) -> list[str]:
            return [info.path for info in view.documents("notes", **options)]

        assert paths() == ["a.md", "b.md", "c.md"]
        assert paths(newest=True) == ["c.md", "a.md", "b.md"]
        assert paths(newest=True, limit=1, offset=1) == ["a.md"]
        assert paths(limit=2, offset=2) == ["c.md"]
        assert paths(limit=10**30) == paths()
        assert paths(offset=10**30) == []


def test_a_docid_is_as_long_as_it_takes_to_tell_contents_apart(store: Store) -> None:
    first, second = alike()
    put_texts(store, {"a.md": first, "other.md": "alpha"})
    with store.snapshot() as view:
        assert [len(info.docid) for info in view.documents()] == [7, 7]
    put_texts(store, {"b.md": second, "copy.md": second})
    with store.snapshot() as view:
        infos = {info.path: info for info in view.documents()}
        found = view.document(infos["a.md"].id)
        assert found is not None
        assert found.info.docid == infos["a.md"].docid
        assert {passage.info.docid for passage in view.chunks(found.info.id)} == {found.info.docid}
    docids = {path: info.docid for path, info in infos.items()}
    assert docids["b.md"] == docids["copy.md"]
    assert len(docids["other.md"]) == 7
    assert len(docids["a.md"]) == len(docids["b.md"]) > 7
    assert docids["a.md"][:7] == docids["b.md"][:7]
    assert docids["a.md"] != docids["b.md"]
    store.delete([infos["a.md"].id])
    with store.snapshot() as view:
        assert {len(info.docid) for info in view.documents()} == {7}


def test_the_title_of_a_document_is_the_one_of_its_draft(store: Store) -> None:
    store.put([make_draft("a.md", "# Walnut\n\nalpha", title="Chestnut")])
    assert ("notes/a.md", 1) in search_words(store, "chestnut")
    with store.snapshot() as view:
        assert view.documents()[0].title == "Chestnut"


def test_replacing_a_path_keeps_the_id_and_the_time_of_creation(store: Store) -> None:
    store.put([make_draft("a.md", "alpha", created_at=1, updated_at=1)])
    old = id_at(store, "notes/a.md")
    newer = make_draft("a.md", "beta", created_at=2, updated_at=2)
    store.put([newer])
    with store.snapshot() as view:
        (info,) = view.documents()
        document = view.document(old)
        assert view.document(newer.info.id) is None
    assert info == replace(newer.info, id=old, created_at=1)
    assert document is not None
    assert document.text == "beta"


def test_a_replaced_document_is_found_by_its_new_words_only(store: Store) -> None:
    put_texts(store, {"a.md": "alpha common\n\nalpha tail"})
    put_texts(store, {"a.md": "beta common"})
    assert search_words(store, "alpha") == []
    assert search_words(store, "beta", "common") == [("notes/a.md", 0)]


def test_the_same_path_in_two_collections_is_two_documents(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    put_texts(store, {"a.md": "beta"}, collection="work")
    assert id_at(store, "notes/a.md") != id_at(store, "work/a.md")
    assert search_words(store, "alpha") == [("notes/a.md", 0)]


def test_a_draft_with_a_known_id_moves_the_document(store: Store) -> None:
    original = make_draft("a.md", "alpha", created_at=1)
    store.put([original])
    store.put([make_draft("sub/b.md", "alpha", id=original.info.id, created_at=9, linked=True)])
    with store.snapshot() as view:
        (info,) = view.documents()
    assert (info.id, info.path, info.created_at) == (original.info.id, "sub/b.md", 1)
    assert search_words(store, "alpha") == [("notes/sub/b.md", 0)]
    assert set(store.fingerprints("notes")) == {"sub/b.md"}


def test_a_document_can_move_into_another_collection(store: Store) -> None:
    original = make_draft("a.md", "alpha")
    store.put([original])
    store.put([make_draft("a.md", "alpha", id=original.info.id, collection="work")])
    with store.snapshot() as view:
        assert paths(view.documents()) == ["work/a.md"]


def test_a_document_can_move_and_change_at_once(store: Store) -> None:
    original = make_draft("a.md", "alpha")
    store.put([original])
    store.put([make_draft("b.md", "beta", id=original.info.id)])
    assert id_at(store, "notes/b.md") == original.info.id
    assert search_words(store, "alpha", "beta") == [("notes/b.md", 0)]


def test_moving_onto_a_taken_path_removes_the_document_that_had_it(store: Store) -> None:
    mover, occupant = make_draft("a.md", "alpha"), make_draft("b.md", "beta")
    store.put([mover, occupant])
    store.put([make_draft("b.md", "alpha", id=mover.info.id, linked=True)])
    with store.snapshot() as view:
        assert [info.id for info in view.documents()] == [mover.info.id]
        assert view.document(occupant.info.id) is None
    assert search_words(store, "alpha", "beta") == [("notes/b.md", 0)]


def test_two_documents_can_swap_places_in_one_batch(store: Store) -> None:
    first, second = make_draft("a.md", "alpha"), make_draft("b.md", "beta")
    aside = make_draft("aside.md", "alpha", id=first.info.id)
    store.put([first, second])
    store.put([aside, make_draft("a.md", "beta", id=second.info.id), make_draft("b.md", "alpha", id=first.info.id)])
    assert id_at(store, "notes/a.md") == second.info.id
    assert id_at(store, "notes/b.md") == first.info.id
    assert search_words(store, "alpha") == [("notes/b.md", 0)]


def test_a_path_left_by_a_move_can_be_filled_in_the_same_batch(store: Store) -> None:
    moved = make_draft("a.md", "alpha")
    store.put([moved])
    store.put([make_draft("b.md", "alpha", id=moved.info.id, linked=True), make_draft("a.md", "beta")])
    assert id_at(store, "notes/b.md") == moved.info.id
    assert search_words(store, "beta") == [("notes/a.md", 0)]
    assert search_words(store, "alpha") == [("notes/b.md", 0)]


def test_the_later_of_two_drafts_for_one_path_wins_and_has_the_id_of_the_first(store: Store) -> None:
    first, second = make_draft("a.md", "alpha"), make_draft("a.md", "beta")
    store.put([first, second])
    assert id_at(store, "notes/a.md") == first.info.id
    assert search_words(store, "alpha", "beta") == [("notes/a.md", 0)]
    with store.snapshot() as view:
        assert view.documents()[0].content_hash == content_hash("beta")


def test_putting_nothing_changes_nothing(store: Store) -> None:
    store.put([])
    with store.snapshot() as view:
        assert view.documents() == []


def test_content_is_known_by_hash_and_recipe_and_comes_with_its_own_title(store: Store) -> None:
    store.put([make_draft("a.md", "alpha", title="Not of the content")])
    put_texts(store, {"b.md": "# Walnut\n\nbeta"})
    plain, titled = (content_hash("alpha"), RECIPE), (content_hash("# Walnut\n\nbeta"), RECIPE)
    other_recipe, other_hash = (content_hash("alpha"), "other"), (content_hash("beta"), RECIPE)
    assert store.known([plain, other_recipe, other_hash, titled]) == {plain: None, titled: "Walnut"}
    assert store.known([]) == {}


def test_a_draft_without_content_links_to_content_that_is_known(store: Store) -> None:
    put_texts(store, {"a.md": "# Walnut\n\nalpha"})
    store.put([make_draft("b.md", "# Walnut\n\nalpha", linked=True)])
    assert sorted(search_words(store, "alpha", k=2)) == [("notes/a.md", 1), ("notes/b.md", 1)]
    with store.snapshot() as view:
        document = view.document(view.documents()[1].id)
    assert document is not None
    assert document.text == "# Walnut\n\nalpha"


def test_a_draft_may_link_to_content_that_comes_earlier_in_its_batch(store: Store) -> None:
    store.put([make_draft("a.md", "alpha"), make_draft("b.md", "alpha", linked=True)])
    assert sorted(search_words(store, "alpha")) == [("notes/a.md", 0), ("notes/b.md", 0)]


def test_linking_to_unknown_content_is_an_error(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with pytest.raises(StoreError):
        store.put([make_draft("b.md", "beta", linked=True)])
    with pytest.raises(StoreError):
        store.put([make_draft("b.md", "alpha", linked=True, recipe="whole")])


def test_one_content_may_be_cut_by_several_recipes(store: Store) -> None:
    text = "alpha one\n\nbeta two"
    store.put([make_draft("a.md", text), make_draft("b.md", text, recipe="whole")])
    with store.snapshot() as view:
        passages = view.passages(all_refs(view, "beta"))
    chunks = {(passage.info.path, passage.ordinal): passage.chunk.text for passage in passages}
    assert chunks["a.md", 1] == "beta two"
    assert chunks["b.md", 0] == text
    assert store.fingerprints("notes")["b.md"].recipe == "whole"


@pytest.mark.parametrize(
    "bad",
    [make_draft("c.md", "gamma", linked=True), make_draft("c.md", "gamma", collection="nowhere")],
    ids=["unknown content", "unknown collection"],
)
def test_a_batch_with_one_bad_draft_changes_nothing(store: Store, bad: Draft) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        before = view.documents()
    with pytest.raises((StoreError, NotFoundError)):
        store.put([make_draft("a.md", "changed"), make_draft("b.md", "beta"), bad])
    with store.snapshot() as view:
        assert view.documents() == before
    assert search_words(store, "changed", "beta") == []
    assert search_words(store, "alpha") == [("notes/a.md", 0)]
    assert store.known([(content_hash("beta"), RECIPE)]) == {}


def test_copies_are_documents_of_their_own(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha"})
    store.delete([id_at(store, "notes/a.md")])
    assert search_words(store, "alpha") == [("notes/b.md", 0)]
    with store.snapshot() as view:
        document = view.document(view.documents()[0].id)
    assert document is not None
    assert document.text == "alpha"


def test_a_deleted_document_is_gone_from_every_answer(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha beta"})
    gone = id_at(store, "notes/a.md")
    assert store.delete([gone]) == 1
    assert search_words(store, "alpha") == [("notes/b.md", 0)]
    assert set(store.fingerprints("notes")) == {"b.md"}
    with store.snapshot() as view:
        assert view.document(gone) is None
        assert paths(view.documents()) == ["notes/b.md"]
        assert view.find("notes/a.md", "path") == []
        assert view.stats().documents == 1


def test_deleting_counts_only_what_was_there(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    first, second = id_at(store, "notes/a.md"), id_at(store, "notes/b.md")
    assert store.delete([first, new_id(), second, first]) == 2
    assert store.delete([first]) == 0
    assert store.delete([]) == 0


def test_content_of_a_deleted_document_can_be_linked_again(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.delete([id_at(store, "notes/a.md")])
    assert store.known([(content_hash("alpha"), RECIPE)]) == {(content_hash("alpha"), RECIPE): None}
    store.put([make_draft("b.md", "alpha", linked=True)])
    assert search_words(store, "alpha") == [("notes/b.md", 0)]


def test_a_path_can_be_used_again_after_its_document_was_deleted(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    old = id_at(store, "notes/a.md")
    store.delete([old])
    newer = make_draft("a.md", "beta")
    store.put([newer])
    assert id_at(store, "notes/a.md") == newer.info.id != old


def test_metadata_changed_by_the_caller_afterwards_does_not_reach_the_store(store: Store) -> None:
    tags = ["a"]
    store.put([make_draft("a.md", "alpha", metadata={"tags": tags})])
    tags.append("b")
    with store.snapshot() as view:
        assert view.documents()[0].metadata == {"tags": ["a"]}


def test_paths_and_texts_of_every_script_come_back_unchanged(store: Store) -> None:
    add_collections(store, "сад")
    draft = make_draft("Übersicht/数据 库%_'\".md", "naïve 😀 текст\r\nמילה\n\n数据库", collection="сад")
    store.put([draft])
    with store.snapshot() as view:
        assert view.documents() == [draft.info]
        document = view.document(draft.info.id)
        passages = view.passages(all_refs(view, "naïve", "数据库"))
    assert document is not None
    assert document.text == "naïve 😀 текст\r\nמילה\n\n数据库"
    assert sorted(passage.chunk.text for passage in passages) == ["naïve 😀 текст\r\nמילה", "数据库"]


def test_drafts_are_documents_as_they_could_be_put_again(store: Store) -> None:
    texts = {"b.md": "# Beta\n\nalpha bétä\n\n# Gamma\n\ndelta", "a.md": "alpha", "copy.md": "alpha", "empty.md": ""}
    drafts = [
        make_draft(path, text, metadata={"said": path}, content_metadata={"says": "itself"})
        for path, text in texts.items()
    ]
    drafts[1] = replace(drafts[1], original=b"alpha")
    store.put(drafts)
    put_texts(store, {"other.md": "elsewhere"}, collection="work")
    with store.snapshot() as view:
        again = list(view.drafts("notes"))
        assert list(view.drafts("nothing")) == []
    expected = {draft.info.path: draft for draft in drafts}
    assert [draft.info.path for draft in again] == sorted(texts)
    for draft in again:
        before = expected[draft.info.path]
        assert (draft.info, draft.recipe, draft.content) == (before.info, before.recipe, before.content)
        assert draft.original == (b"alpha" if draft.info.path in {"a.md", "copy.md"} else None)
