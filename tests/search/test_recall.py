"""Both legs find what each finds alone; where the store is elsewhere, they are asked at the same time."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from contract.builders import EVERYWHERE, MODEL, add_collections, bag_of_words, make_draft, terms
from dowse.ports import Snapshot
from dowse.search.asking import Words
from dowse.search.recall import Legs, recall
from dowse.store.memory import MemoryStore
from dowse.text.passage import embedding_text, vector_key

TEXTS = [
    "green tea wants cool water",
    "black tea wants boiling water",
    "a pot of clay",
    "the kettle boils",
    "water for the pot",
]


@pytest.fixture
def snapshot() -> Iterator[Snapshot]:
    store = MemoryStore()
    add_collections(store, "notes")
    drafts = [make_draft(f"{number}.md", text) for number, text in enumerate(TEXTS)]
    store.put(drafts)
    passages = [embedding_text(draft.content.title, (), text) for draft, text in zip(drafts, TEXTS, strict=True)]
    store.put_vectors(MODEL, [(vector_key(text), bag_of_words(text)) for text in passages])
    assert store.count_unembedded(MODEL) == 0
    with store.snapshot() as view:
        yield view


class Elsewhere:
    """A snapshot whose calls, as if other machines answered them, end only when their partners are under way."""

    is_remote = True

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._legs, self._values = threading.Barrier(2), threading.Barrier(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def lexical(self, *given: Any) -> Any:
        return self._beside(self._legs, self._snapshot.lexical, *given)

    def nearest(self, *given: Any) -> Any:
        return self._beside(self._legs, self._snapshot.nearest, *given)

    def lexical_scores(self, *given: Any) -> Any:
        return self._beside(self._values, self._snapshot.lexical_scores, *given)

    def cosines(self, *given: Any) -> Any:
        return self._beside(self._values, self._snapshot.cosines, *given)

    def _beside(self, barrier: threading.Barrier, act: Callable[..., Any], *given: Any) -> Any:
        barrier.wait(30)
        return act(*given)


class Unreachable(Elsewhere):
    """One leg of which fails."""

    def nearest(self, *given: Any) -> Any:
        super().nearest(*given)
        raise ConnectionError


def legs() -> Legs:
    """Words and a meaning that have different answers."""
    words = Words(tuple(terms("water for green tea")), {}, (), 1.0)
    return Legs((words,), MODEL, ((bag_of_words("a pot of clay"), 1.0),))


def test_every_candidate_of_one_leg_has_a_value_of_the_other(snapshot):
    evidence, is_all = recall(snapshot, EVERYWHERE, legs(), 2)
    by_words, by_meaning = evidence["lex"], evidence["vec"]
    assert by_words.values.keys() == by_meaning.values.keys()
    assert len(by_words.ranked.hits) == len(by_meaning.ranked.hits) == 2
    assert not is_all


def test_calls_that_wait_for_other_machines_wait_together_and_find_the_same(snapshot):
    found = recall(snapshot, EVERYWHERE, legs(), 1)
    assert len(found[0]["lex"].values) == 2, "each leg has to be asked for the other's"
    assert recall(Elsewhere(snapshot), EVERYWHERE, legs(), 1) == found


def test_a_leg_that_fails_fails_the_search(snapshot):
    with pytest.raises(ConnectionError):
        recall(Unreachable(snapshot), EVERYWHERE, legs(), 2)
