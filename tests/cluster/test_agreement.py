"""What the cluster answers is what the filter means, what the oracle answers, and what the embedded store ranks."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, stateful

from cluster.corpus import QUESTIONS, sentences
from contract.builders import EVERYWHERE, MODEL, add_collections, bag_of_words, make_draft, terms
from contract.emptied import empty, own_address, remove
from dowse.filters import Filter, predicate
from dowse.ports import Snapshot, Store
from dowse.store.memory import MemoryStore
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.filtering import asks_passages, query_of
from dowse.store.opensearch.snapshot import OpenSearchSnapshot
from dowse.store.opensearch.views import of_kind
from dowse.store.sqlite import SqliteStore
from dowse.text.passage import embedding_text, vector_key
from dowse.types import Draft, Ranked
from property.test_filters import NOW, Stored, beside_halves, filters, make_drafts
from property.test_store_agrees_with_oracle import Stores

CLUSTER = os.environ.get("DOWSE_TEST_CLUSTER", "")
TOLERANCE = 1e-3
"""How far a score may be from the oracle's: float32 arithmetic in another order."""


@pytest.fixture(scope="module")
def view(address: Address) -> Iterator[OpenSearchSnapshot]:
    store = OpenSearchStore(address)
    empty(address)
    add_collections(store, "notes", "Work")
    store.put(list(make_drafts(60)))
    with store.snapshot() as snapshot:
        yield snapshot
    store.close()


@pytest.fixture(scope="module")
def stored(view: OpenSearchSnapshot) -> Stored:
    return Stored.of(view)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(filters)
@beside_halves
def test_the_cluster_selects_what_the_filter_means(
    view: OpenSearchSnapshot,
    stored: Stored,
    filter: Filter,  # noqa: A002 - the noun of filters
) -> None:
    query, holds = query_of(filter, NOW), predicate(filter, NOW)
    if asks_passages(filter):
        expected = {passage.ref for passage in stored.passages if holds(passage.info, passage.chunk, passage.ordinal)}
        found = {hit["_source"]["ref"] for hit in view._view.chunks.scan(of_kind("chunk", query), ["ref"], ["ref"])}
    else:
        expected = {info.id.hex for info in view.documents() if holds(info, None, 0)}
        hits = view._view.chunks.scan(of_kind("document", query), ["version"], ["document"])
        found = {hit["_source"]["document"] for hit in hits}
    assert found == expected


class OnCluster(Stores):
    """The history of the embedded store's property test, told to a cluster."""

    def __init__(self) -> None:
        self.address = own_address(CLUSTER, "-history")
        OpenSearchStore(self.address).close()
        empty(self.address)
        super().__init__()

    def rebuild(self) -> None:
        super().rebuild()
        self.statistics_are_fresh = False  # what was written over is merged away when the cluster likes

    def open(self) -> OpenSearchStore:  # type: ignore[override]  # it only needs to be a store
        return OpenSearchStore(self.address)


@pytest.mark.timeout(1_200)
def test_the_cluster_agrees_with_the_oracle_after_every_step_of_any_history() -> None:
    stateful.run_state_machine_as_test(
        OnCluster, settings=settings(max_examples=6, stateful_step_count=12, deadline=None)
    )


def places(view: Snapshot, ranked: Ranked) -> dict[tuple[str, int], float]:
    scores = dict(ranked.hits)
    return {(each.info.file, each.ordinal): scores[each.ref] for each in view.passages(list(scores))}


def assert_same_ranks(found: dict[tuple[str, int], float], wanted: dict[tuple[str, int], float]) -> None:
    """Scores within the tolerance, and so ranks that differ only where the oracle's scores differ by less."""
    assert found == pytest.approx(wanted, rel=TOLERANCE, abs=TOLERANCE)
    scores = [wanted[place] for place in found]
    assert all(one >= other * (1 - TOLERANCE) - TOLERANCE for one, other in pairwise(scores))


def texts_of(drafts: Sequence[Draft]) -> list[str]:
    return [
        embedding_text(draft.content.title, chunk.headings, chunk.text)
        for draft in drafts
        if draft.content
        for chunk in draft.content.chunks
    ]


def test_ranks_and_scores_are_those_of_the_oracle_and_of_the_embedded_store(tmp_path: Path) -> None:
    fresh = own_address(CLUSTER, "-ranks")
    stores: list[Store] = [MemoryStore(), SqliteStore(tmp_path / "index"), OpenSearchStore(fresh)]
    drafts = [make_draft(f"{number}.md", text) for number, text in enumerate(sentences(120))]
    for store in stores:
        add_collections(store, "notes")
        # Vectors that are there before their documents: what is written once counts once in the statistics.
        store.put_vectors(MODEL, [(vector_key(text), bag_of_words(text)) for text in texts_of(drafts)])
        store.put(drafts)
        assert store.count_unembedded(MODEL) == 0
    for question in QUESTIONS:
        answers = []
        for store in stores:
            with store.snapshot() as view:
                words = view.lexical(terms(question), 1_000, EVERYWHERE)
                near = view.nearest(MODEL, bag_of_words(question), 1_000, EVERYWHERE)
                answers.append((places(view, words), words.ceiling, places(view, near)))
        oracle, embedded, cluster = answers
        for other in (oracle, embedded):
            assert_same_ranks(cluster[0], other[0])
            assert cluster[1] == pytest.approx(other[1], rel=TOLERANCE)
            assert_same_ranks(cluster[2], other[2])
    for store in stores:
        store.close()
    remove(fresh)
