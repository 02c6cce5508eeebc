"""What is asked again is not understood again, until something has changed."""

import pytest

from contract.builders import put_texts
from dowse.ports import Store
from dowse.search import asking
from dowse.store.scoped import ScopedStore
from dowse.types import Context
from search.asking import ask, files

TEXTS = {"gate.md": "The harbour gate is closed.", "bread.md": "Bread rises at night.", "keys.md": "Keys of the gate."}


@pytest.fixture(autouse=True)
def _texts(store: Store) -> None:
    put_texts(store, TEXTS)


def test_the_same_answer_comes_the_second_time(store: Store) -> None:
    for text in ("harbour gate", "gat*", '"harbour gate"', "gate -bread", "nowhere gate", "type:md gate"):
        assert ask(store, text, mode="lex") == ask(store, text, mode="lex")
        assert ask(store, text, mode="lex", plain=True) == ask(store, text, mode="lex", plain=True)


def test_a_change_is_seen_by_a_question_that_was_asked_before(store: Store) -> None:
    ask(store, "zebra gate", mode="lex")
    put_texts(store, {"zebra.md": "A zebra at the gate."})
    after = ask(store, "zebra gate", mode="lex")
    assert files(after)[0] == "notes/zebra.md"
    assert after.hits == ask(store, "zebra  gate", mode="lex").hits  # as of a question that nobody has asked yet


def test_a_description_counts_for_a_question_that_was_asked_before(store: Store) -> None:
    assert not ask(store, "bakery", mode="lex").hits
    store.put_context(Context("notes", "bread.md", "What the bakery does."))
    assert files(ask(store, "bakery", mode="lex")) == ["notes/bread.md"]


def test_whoever_sees_less_does_not_get_what_others_have_asked(store: Store) -> None:
    store.put_context(Context("notes", "bread.md", "What the bakery does."))
    assert ask(store, "bakery", mode="lex").hits
    assert not ask(ScopedStore(store, frozenset({"elsewhere"})), "bakery", mode="lex").hits


def test_only_so_many_questions_are_remembered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_QUESTIONS_KEPT", 4)
    for number in range(10):
        ask(store, f"gate {number}", mode="lex")
        ask(store, f"gate {number} {'x' * 2_000}", mode="lex")
        with store.snapshot() as snapshot:
            assert len(snapshot.memory.get("questions", {})) <= 4
