"""Texts by the hash of what they were made of, also where no document shows them any more."""

from contract.builders import DAY_MS, add_collections, content_hash, id_at, make_draft, put_texts


def texts(store, start):
    with store.snapshot() as view:
        return view.texts(start)


def test_a_text_is_found_by_the_start_of_its_hash(store):
    add_collections(store, "notes")
    put_texts(store, {"a.md": "one", "b.md": "two"})
    assert texts(store, content_hash("one")) == ["one"]
    assert texts(store, content_hash("one")[:12]) == ["one"]
    assert texts(store, "0" * 64) == []


def test_a_text_is_remembered_after_its_document_was_replaced_or_deleted(store):
    add_collections(store, "notes")
    put_texts(store, {"a.md": "one", "b.md": "two"})
    store.put([make_draft("a.md", "three", id=id_at(store, "notes/a.md"))])
    store.delete([id_at(store, "notes/b.md")])
    assert texts(store, content_hash("one")) == ["one"]
    assert texts(store, content_hash("two")) == ["two"]
    store.cleanup(-DAY_MS)
    assert texts(store, content_hash("one")) == []
    assert texts(store, content_hash("three")) == ["three"]


def test_the_same_bytes_read_in_two_ways_have_two_texts_the_newest_first(store):
    add_collections(store, "notes")
    store.put([make_draft("a.md", "one")])
    store.put([make_draft("b.md", "one", recipe="whole")])
    assert texts(store, content_hash("one")) == ["one", "one"]
