"""Clusters that are ill in one way or another: an error in words, or nothing; never a part of an answer."""

import os
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from cluster.nodes import NODES, Cluster
from contract.builders import add_collections, make_draft, put_texts, search_words
from contract.emptied import remove
from dowse.errors import NotFoundError, StoreFullError, StoreUnavailableError, StoreVersionError
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.connection import Connection
from dowse.store.opensearch.layout import Indexes


def request(address: Address, method: str, path: str, body: object = None) -> None:
    connection = Connection(address)
    connection.request(method, path, body)
    connection.close()


def test_indexes_of_another_version_are_refused(address: Address) -> None:
    other = replace(address, prefix=f"{address.prefix}-old")
    OpenSearchStore(other).close()
    chunks = Indexes.of(other.prefix).chunks
    request(other, "PUT", f"/{chunks}/_mapping", {"_meta": {"dowse": {"layout": 99, "analyser": "other"}}})
    with pytest.raises(StoreVersionError) as refused:
        OpenSearchStore(other)
    assert "layout" in refused.value.message
    remove(other)


def test_a_store_that_must_be_there_is_not_made(address: Address) -> None:
    with pytest.raises(NotFoundError):
        OpenSearchStore(replace(address, prefix=f"{address.prefix}-nowhere"), create=False)


def test_where_nothing_may_be_written_reading_goes_on(cluster_store: OpenSearchStore) -> None:
    add_collections(cluster_store, "notes")
    put_texts(cluster_store, {"a.md": "alpha"})
    address = cluster_store.address
    everything = Indexes.of(address.prefix).all
    request(address, "PUT", f"/{everything}/_settings", {"index.blocks.read_only_allow_delete": True})
    try:
        with pytest.raises(StoreFullError) as refused:
            put_texts(cluster_store, {"b.md": "beta"})
        assert "read_only_allow_delete" in refused.value.hint
        assert search_words(cluster_store, "alpha") == [("notes/a.md", 0)]
        assert search_words(cluster_store, "beta") == []
    finally:
        request(address, "PUT", f"/{everything}/_settings", {"index.blocks.read_only_allow_delete": None})
    put_texts(cluster_store, {"b.md": "beta"})
    assert search_words(cluster_store, "beta") == [("notes/b.md", 0)]


def open_many_times(address: Address) -> None:
    """The other nodes may need a moment to notice that one is gone."""
    for _ in range(100):
        OpenSearchStore(address).close()


@pytest.mark.skipif(not os.environ.get(NODES), reason="the nodes are not ours to kill")
def test_a_red_cluster_is_no_answer_at_all(address: Address) -> None:
    red = replace(address, prefix=f"{address.prefix}-red", replicas=0, timeout=5.0)
    store = OpenSearchStore(red)
    add_collections(store, "notes")
    store.put([make_draft(f"{number}.md", "alpha") for number in range(9)])
    assert len(search_words(store, "alpha", k=100)) == 9
    cluster = Cluster.from_description(os.environ[NODES])
    cluster.nodes[2].kill()  # with it go the only copies of some shards
    try:
        with pytest.raises(StoreUnavailableError):
            search_words(store, "alpha", k=100)
        with pytest.raises(StoreUnavailableError) as refused:
            open_many_times(red)
        assert "is red" in refused.value.message
        assert refused.value.hint
    finally:
        cluster.start(cluster.nodes[2])
        cluster.wait()
    assert len(search_words(store, "alpha", k=100)) == 9
    store.close()
    remove(red)


@pytest.mark.skipif(not os.environ.get(NODES), reason="the nodes are not ours to stop")
def test_a_node_that_hangs_costs_time_but_no_answer(cluster_store: OpenSearchStore) -> None:
    add_collections(cluster_store, "notes")
    put_texts(cluster_store, {f"{number}.md": "alpha" for number in range(30)})
    node = Cluster.from_description(os.environ[NODES]).nodes[1]
    node.pause()
    try:
        started = time.monotonic()
        answers = set()
        while 30 not in answers and time.monotonic() - started < 120:
            with suppress(StoreUnavailableError):  # refused, in words: until the others have given the node up
                impatient = OpenSearchStore(replace(cluster_store.address, timeout=2.0))
                answers.add(len(search_words(impatient, "alpha", k=100)))
        assert answers == {30}
    finally:
        node.go_on()
    Cluster.from_description(os.environ[NODES]).wait()
    assert len(search_words(cluster_store, "alpha", k=100)) == 30
