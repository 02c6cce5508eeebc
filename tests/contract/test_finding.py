"""Listing documents in pages, and finding them by path, by the end of it, or by hash."""

import pytest

from contract.builders import content_hash, make_draft, paths, put_texts
from dowse.ports import Store

PLACES = ["A.md", "a.md", "a/b.md", "a/c/deep.md", "ab.md", "b.md", "é.md"]


@pytest.fixture
def shelf(store: Store) -> Store:
    """Documents whose paths are easily confused, put in no order."""
    put_texts(store, {path: f"text of {path}" for path in reversed(PLACES)})
    put_texts(store, {"a/b.md": "work b", "b.md": "work b"}, collection="work")
    return store


def test_documents_are_listed_by_collection_and_path(shelf: Store) -> None:
    with shelf.snapshot() as view:
        assert paths(view.documents()) == [f"notes/{path}" for path in PLACES] + ["work/a/b.md", "work/b.md"]
        assert paths(view.documents("work")) == ["work/a/b.md", "work/b.md"]
        assert view.documents("nowhere") == []


def test_a_prefix_is_a_prefix_of_the_string_case_and_all(shelf: Store) -> None:
    with shelf.snapshot() as view:
        assert paths(view.documents("notes", prefix="a")) == [
            "notes/a.md",
            "notes/a/b.md",
            "notes/a/c/deep.md",
            "notes/ab.md",
        ]
        assert paths(view.documents("notes", prefix="a/")) == ["notes/a/b.md", "notes/a/c/deep.md"]
        assert paths(view.documents(prefix="b")) == ["notes/b.md", "work/b.md"]
        assert paths(view.documents(prefix="é")) == ["notes/é.md"]
        assert view.documents("notes", prefix="/a") == []


@pytest.mark.parametrize("wild", ["%", "_", "*", "?", "[", "\\", "'"])
def test_no_character_of_a_name_is_a_wildcard(store: Store, wild: str) -> None:
    put_texts(store, {"plain.md": "alpha", f"{wild}x.md": "beta", f"sub/{wild}y.md": "gamma"})
    with store.snapshot() as view:
        assert paths(view.documents(prefix=wild)) == [f"notes/{wild}x.md"]
        assert paths(view.find(f"{wild}y.md", "suffix")) == [f"notes/sub/{wild}y.md"]
        assert view.find(f"{wild}lain.md", "suffix") == []
        assert view.find(f"notes/{wild}", "path") == []
        assert view.find(wild, "hash") == []


def test_pages_follow_each_other_without_gaps_or_overlaps(shelf: Store) -> None:
    with shelf.snapshot() as view:
        whole = view.documents()
        for size in (1, 2, 4, 100):
            pages = [view.documents(limit=size, offset=offset) for offset in range(0, len(whole), size)]
            assert [info for page in pages for info in page] == whole
        assert view.documents(offset=len(whole)) == []
        assert view.documents(offset=3) == whole[3:]
        assert view.documents(limit=0) == []
        assert paths(view.documents("notes", prefix="a", limit=2, offset=1)) == ["notes/a/b.md", "notes/a/c/deep.md"]


def test_a_path_is_found_exactly(shelf: Store) -> None:
    with shelf.snapshot() as view:
        assert paths(view.find("notes/a/b.md", "path")) == ["notes/a/b.md"]
        assert view.find("a/b.md", "path") == []
        assert view.find("notes/A/b.md", "path") == []
        assert view.find("", "path") == []


def test_the_end_of_a_path_is_found_from_a_slash_on(shelf: Store) -> None:
    with shelf.snapshot() as view:
        assert paths(view.find("b.md", "suffix")) == ["notes/a/b.md", "notes/b.md", "work/a/b.md", "work/b.md"]
        assert paths(view.find("a/b.md", "suffix")) == ["notes/a/b.md", "work/a/b.md"]
        assert paths(view.find("work/b.md", "suffix")) == ["work/b.md"]
        assert paths(view.find("é.md", "suffix")) == ["notes/é.md"]
        assert view.find("eep.md", "suffix") == []
        assert view.find("B.md", "suffix") == []


def test_a_path_that_goes_over_the_name_of_a_collection_is_no_end(store: Store) -> None:
    put_texts(store, {"x.md": "alpha"})
    with store.snapshot() as view:
        assert view.find("otes/x.md", "suffix") == []
        assert view.find("more/notes/x.md", "suffix") == []


def test_documents_are_found_by_the_start_of_their_hash(store: Store) -> None:
    put_texts(store, {"b.md": "alpha", "a.md": "alpha", "c.md": "beta"})
    digest = content_hash("alpha")
    with store.snapshot() as view:
        for length in (4, 6, 63, 64):
            assert paths(view.find(digest[:length], "hash")) == ["notes/a.md", "notes/b.md"]
        assert view.find(digest[1:7], "hash") == []
        assert view.find(digest + "0", "hash") == []


def test_two_contents_that_share_the_start_of_their_hash_are_both_found(store: Store) -> None:
    drafts = [make_draft(f"{number}.md", f"text {number}") for number in range(40)]
    store.put(drafts)
    firsts = [draft.info.content_hash[0] for draft in drafts]
    digit = max(set(firsts), key=firsts.count)
    with store.snapshot() as view:
        assert len(view.find(digit, "hash")) == firsts.count(digit) > 1


def test_an_unknown_document_is_none(store: Store) -> None:
    with store.snapshot() as view:
        assert view.document(make_draft("a.md", "alpha").info.id) is None
