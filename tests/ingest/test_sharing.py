"""Several workers embed one backlog: each text once, and what a dead one left is taken over."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from contract.builders import MODEL, add_collections, bag_of_words, make_draft
from dowse.ingest import backlog, sharing
from dowse.ingest.backlog import embed_backlog
from dowse.store.memory import MemoryStore

if TYPE_CHECKING:
    from dowse.ports import Vector


class Worker:
    """An embedder that notes what it was given, and may do something in between."""

    identity = MODEL

    def __init__(self, between: "list[object]", fails: bool = False) -> None:
        self.between, self.fails = between, fails
        self.texts: list[str] = []

    def embed_query(self, text: str) -> "Vector":
        return bag_of_words(text)

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        import numpy as np

        if self.fails:
            raise KeyboardInterrupt
        self.texts += texts
        while self.between:
            self.between.pop()()  # type: ignore[operator]
        return np.stack([bag_of_words(text) for text in texts])

    def close(self) -> None:
        pass


def filled(count: int) -> MemoryStore:
    store = MemoryStore()
    add_collections(store, "notes")
    store.put([make_draft(f"{number}.md", f"text number{number}") for number in range(count)])
    return store


def test_no_text_is_embedded_by_two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "_BATCH", 8)
    store = filled(100)
    second, kept = Worker([]), []

    def second_takes_some() -> None:
        shares = backlog._shares(store, MODEL)
        for _ in range(3):
            part = next(shares)
            vectors = second.embed_passages([text for _, text in part])
            store.put_vectors(MODEL, [(key, vector) for (key, _), vector in zip(part, vectors, strict=True)])
        kept.append(shares)  # a part that is not known to be finished would be given back

    # The second one works while the first has a part in its hands.
    first = Worker([second_takes_some])
    embed_backlog(store, first)
    assert len(second.texts) == 24
    assert sorted(first.texts + second.texts) == sorted(f"text number{number}" for number in range(100))


def test_what_was_not_finished_is_given_back_at_once() -> None:
    store = filled(10)
    with pytest.raises(KeyboardInterrupt):
        embed_backlog(store, Worker([], fails=True))
    after = Worker([])
    embed_backlog(store, after)
    assert len(after.texts) == len(set(after.texts)) == 10


def test_what_a_dead_worker_held_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(10)
    names = [f"embed {key.hex()} {MODEL.name}" for key, _ in store.unembedded(MODEL, 100)]
    assert len(store.lease(names, "dead", 0.2)) == 10
    monkeypatch.setattr(sharing, "PAUSE", 0.05)
    alive = Worker([])
    embed_backlog(store, alive)
    assert len(alive.texts) == 10
    assert store.count_unembedded(MODEL) == 0
