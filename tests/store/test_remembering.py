"""What the SQLite store remembers between changes is bounded, and never outlives what it was true of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.builders import EVERYWHERE, add_collections, all_refs, make_draft, put_texts, search_words, terms
from dowse.store.sqlite import SqliteStore, lexical, passages

WORDS = [f"word{number}" for number in range(30)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Thirty documents with a word each of its own, and one in common."""
    store = SqliteStore(tmp_path / "index")
    add_collections(store, "notes")
    put_texts(store, {f"{word}.md": f"common {word}" for word in WORDS})
    yield store
    store.close()


def test_passages_come_in_the_order_asked_however_few_are_remembered(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "_PASSAGES_KEPT", 8)
    monkeypatch.setattr(passages, "_DOCUMENTS_KEPT", 5)
    with store.snapshot() as view:
        refs = all_refs(view, "common")
        texts = {passage.ref: passage.chunk.text for passage in view.passages(refs)}
        assert len(texts) == len(WORDS)
        for first in (0, 3, 20, 1, 27, 3):
            asked = refs[first : first + 3][::-1]
            assert [(each.ref, each.chunk.text) for each in view.passages(asked)] == [
                (ref, texts[ref]) for ref in asked
            ]


def test_what_was_read_before_a_change_is_read_anew_after_it(store: SqliteStore) -> None:
    assert search_words(store, "word7", k=1) == [("notes/word7.md", 0)]
    store.rename_collection("notes", "papers")
    assert search_words(store, "word7", k=1) == [("papers/word7.md", 0)]


def test_copies_share_a_content_and_keep_their_own_documents(store: SqliteStore) -> None:
    store.put([make_draft("copy.md", "common word7")])
    with store.snapshot() as view:
        found = view.passages(all_refs(view, "word7")[:2])
    assert sorted(passage.info.path for passage in found) == ["copy.md", "word7.md"]
    assert {passage.chunk.text for passage in found} == {"common word7"}


def test_a_term_scores_alike_however_few_are_remembered(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.snapshot() as view:
        before = {word: view.lexical(terms("common", word), 5, EVERYWHERE) for word in WORDS}
    monkeypatch.setattr(lexical, "_WORDS_KEPT", 3)
    with store.snapshot() as view:
        assert {word: view.lexical(terms("common", word), 5, EVERYWHERE) for word in WORDS} == before


def test_a_word_that_only_a_later_change_brings_is_found_after_it(store: SqliteStore) -> None:
    assert search_words(store, "latecomer") == []
    put_texts(store, {"late.md": "a latecomer"})
    assert search_words(store, "latecomer") == [("notes/late.md", 0)]
