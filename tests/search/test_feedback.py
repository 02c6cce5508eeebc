"""Pseudo-relevance feedback: the expander that needs no model."""

from contract.builders import put_texts
from dowse.ports import Store
from dowse.search.feedback import Feedback
from dowse.search.pipeline import Models, answer
from dowse.types import Query, Scope
from search.asking import EMBEDDER, IDENTITY, files

TEXTS = {
    "a.md": "The kettle boils; steam rises from the spout.",
    "b.md": "A kettle with a long spout makes steam.",
    "c.md": "Steam from the spout burns.",
    **{f"other{number}.md": f"Nothing about it in note {number}." for number in range(12)},
}


def test_the_words_of_the_first_answers_become_a_further_search(store: Store) -> None:
    put_texts(store, TEXTS)
    with store.snapshot() as view:
        ((kind, words),) = Feedback(view, Scope()).expand("kettle")
    assert kind == "lex"
    assert {"spout"} <= set(words.split())
    assert "kettle" not in words.split()


def test_where_nothing_is_found_there_is_nothing_to_add(store: Store) -> None:
    put_texts(store, TEXTS)
    with store.snapshot() as view:
        assert Feedback(view, Scope()).expand("zorgle") == []


def test_it_finds_what_the_question_did_not_name_and_only_where_it_is_asked_to_expand(store: Store) -> None:
    put_texts(store, TEXTS)
    models = Models(lambda: IDENTITY, lambda: EMBEDDER, feedback=True)
    with store.snapshot() as view:
        plain = answer(view, Query("kettle", mode="lex"), models)
        expanded = answer(view, Query("kettle", mode="lex", expand=True), models)
    assert "notes/c.md" not in files(plain)
    assert "notes/c.md" in files(expanded)
    assert files(expanded)[0] in {"notes/a.md", "notes/b.md"}
