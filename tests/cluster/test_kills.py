"""Nodes are killed while documents come in and questions are asked: nothing acknowledged is lost, and all is answered.

Only where the nodes are ours to kill: `make test-cluster` starts them and says where they are.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median

import pytest

from cluster.corpus import QUESTIONS, sentences
from cluster.nodes import NODES, Cluster
from contract.builders import (
    EVERYWHERE,
    MODEL,
    add_collections,
    bag_of_words,
    content_hash,
    embed_backlog,
    make_draft,
    terms,
)
from dowse.errors import StoreError
from dowse.store.opensearch import Address, OpenSearchStore, care
from dowse.types import Ref

KILLS = int(os.environ.get("DOWSE_TEST_KILLS", "10"))
ANSWERED_WITHIN = float(os.environ.get("DOWSE_TEST_ANSWERED_WITHIN", "10"))
"""Seconds; for machines that do much else at the same time."""
ANCHORS = 20

pytestmark = [
    pytest.mark.skipif(not os.environ.get(NODES), reason="the nodes are not ours to kill"),
    pytest.mark.timeout(3_600),
]


@dataclass
class Load:
    """A writer and a reader that go on whatever happens, and what became of their work."""

    address: Address
    acknowledged: dict[str, str] = field(default_factory=dict)
    """The text of each path whose put returned."""
    answers: list[float] = field(default_factory=list)
    """When each whole answer was asked for."""
    refused: list[tuple[float, float, str]] = field(default_factory=list)
    """When a question was asked in vain, how long it took to hear so, and why."""
    wrong: list[str] = field(default_factory=list)
    given_up: int = 0
    """How many puts were refused."""
    stopping: threading.Event = field(default_factory=threading.Event)

    def write(self) -> None:
        store, number = OpenSearchStore(self.address), 0
        while not self.stopping.is_set():
            # Every third batch replaces documents that were acknowledged before.
            first = number - 4 if number % 3 == 2 and number >= 4 else 2 * number
            texts = {f"{first + place}.md": f"storm number{number} place{place}" for place in range(2)}
            try:
                store.put([make_draft(path, text, collection="work") for path, text in texts.items()])
            except StoreError:
                self.given_up += 1
                continue
            self.acknowledged |= texts
            number += 1
        store.close()

    def ask(self) -> None:
        store = OpenSearchStore(self.address)
        while not self.stopping.is_set():
            asked = time.monotonic()
            try:
                with store.snapshot() as view:
                    found = view.lexical(terms("anchor"), 100, EVERYWHERE).hits
                    near = view.nearest(MODEL, bag_of_words("anchor"), ANCHORS, EVERYWHERE).hits
                    passages = view.passages([ref for ref, _ in found])
            except StoreError as error:
                self.refused.append((asked, time.monotonic() - asked, error.message))
                continue
            if not len(found) == len(near) == len(passages) == ANCHORS:
                self.wrong.append(f"{len(found)} by words, {len(near)} by meaning, {len(passages)} passages")
            self.answers.append(asked)
        store.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=act) for act in (self.write, self.ask)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stopping.set()
            for thread in threads:
                thread.join(120)

    def seconds_until_answered(self, since: float) -> float:
        """How long after that moment somebody asked and got a whole answer."""
        while time.monotonic() - since < 60:
            later = [asked for asked in self.answers if asked >= since]
            if later:
                return time.monotonic() - since
            time.sleep(0.05)
        return float("inf")


def all_answers(store: OpenSearchStore) -> tuple[list[dict[Ref, float]], list[dict[Ref, float]]]:
    """Everything that is found by words and by meaning, with its scores."""
    with store.snapshot() as view:
        words = [dict(view.lexical(terms(question), 1_000, EVERYWHERE).hits) for question in QUESTIONS]
        near = [dict(view.nearest(MODEL, bag_of_words(question), 1_000, EVERYWHERE).hits) for question in QUESTIONS]
    return words, near


def test_ten_kills_under_load_lose_nothing_that_was_acknowledged(
    address: Address, figure: Callable[[str, Mapping[str, object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster.from_description(os.environ[NODES])
    patient = replace(address, timeout=10.0)
    store = OpenSearchStore(patient)
    add_collections(store, "notes", "work")
    store.put([make_draft(f"anchor{number}.md", f"anchor {'x ' * number}") for number in range(ANCHORS)])
    store.put([make_draft(f"{number}.md", text) for number, text in enumerate(sentences(40))])
    embed_backlog(store)
    load = Load(patient)
    waits = []
    with load.running():
        for kill in range(KILLS):
            before = len(load.acknowledged)
            node = cluster.nodes[kill % len(cluster.nodes)]
            node.kill()
            waits.append(load.seconds_until_answered(time.monotonic()))
            cluster.start(node)
            cluster.wait()
            while len(load.acknowledged) == before and not load.wrong:
                time.sleep(0.1)  # at least one write between two kills
    with store.snapshot() as view:
        shown = {info.path: info.content_hash for info in view.documents("work")}
    lost = [path for path, text in load.acknowledged.items() if shown.get(path) != content_hash(text)]
    figure(
        "nodes of a cluster killed",
        {
            "kills": KILLS,
            "acknowledged documents": len(load.acknowledged),
            "lost": len(lost),
            "whole answers": len(load.answers),
            "partial answers": len(load.wrong),
            "refused": len(load.refused),
            "longest until answered again, s": round(max(waits), 1),
            "median until answered again, s": round(median(waits), 1),
            "longest refusal, s": round(max((took for _, took, _ in load.refused), default=0.0), 1),
        },
    )
    print(waits, *(f"{took:.1f} s: {why}" for _, took, why in load.refused), sep="\n")  # noqa: T201 - shown if it fails
    assert load.wrong == []
    assert lost == []
    words, near = all_answers(store)
    cluster.nodes[0].kill()
    cluster.start(cluster.nodes[0])
    cluster.wait()
    recovered = OpenSearchStore(patient)
    words_again, near_again = all_answers(recovered)
    assert near_again == [pytest.approx(each) for each in near]
    # Copies of a shard differ in which deleted entries they have merged away, and BM25 counts those.
    assert words_again == [pytest.approx(each, rel=0.25) for each in words]
    # A write that was refused half-way leaves a version that no search finds, until it is old enough to be swept.
    wrong = {finding.check for finding in recovered.check(deep=True) if not finding.ok}
    assert wrong <= ({"versions"} if load.given_up else set())
    monkeypatch.setattr(care, "_GRACE_MS", 0)
    recovered.cleanup(0)
    assert [finding for finding in recovered.check(deep=True) if not finding.ok] == []
    assert all_answers(recovered)[1] == [pytest.approx(each) for each in near]
    recovered.close()
    store.close()
    assert max(waits) < ANSWERED_WITHIN
