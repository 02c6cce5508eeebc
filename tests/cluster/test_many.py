"""Many writers and readers on one cluster: one document for each path, whole versions, and work that is shared."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster.corpus import sentences
from contract.builders import (
    EVERYWHERE,
    MODEL,
    add_collections,
    bag_of_words,
    embed_backlog,
    ledger_entry,
    make_draft,
    put_texts,
    search_words,
    terms,
)
from contract.emptied import own_address, remove
from contract.test_snapshots import facts, fill, unranked
from dowse.ingest import backlog
from dowse.ingest.pipeline import index_collection
from dowse.ingest.settings import IndexSettings
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.portable.moving import move
from dowse.store.sqlite import SqliteStore
from dowse.types import Chunking, Collection
from workbench import many, write

CLUSTER = os.environ.get("DOWSE_TEST_CLUSTER", "")


def test_what_one_acknowledged_the_others_see_at_once(address: Address, cluster_store: OpenSearchStore) -> None:
    other = OpenSearchStore(address)
    add_collections(cluster_store, "notes")
    for number in range(5):
        put_texts(cluster_store, {"a.md": f"alpha number{number}"})
        assert search_words(other, f"number{number}") == [("notes/a.md", 0)]
        other.delete([draft.id for draft in _documents(other)])
        assert search_words(cluster_store, "alpha") == []
    other.close()


def _documents(store: OpenSearchStore) -> list:
    with store.snapshot() as view:
        return view.documents()


def test_writers_of_the_same_paths_end_with_one_whole_document_each(
    address: Address, cluster_store: OpenSearchStore
) -> None:
    add_collections(cluster_store, "notes")
    paths = [f"{number}.md" for number in range(4)]

    def write(writer: int) -> None:
        store = OpenSearchStore(address)
        for turn in range(3):
            text = "\n\n".join(f"writer{writer} turn{turn} part{part}" for part in range(3 + writer))
            store.put([make_draft(path, text) for path in paths])
        store.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    infos = _documents(cluster_store)
    assert sorted(info.path for info in infos) == paths
    with cluster_store.snapshot() as view:
        for info in infos:
            found = view.passages([ref for ref, _ in view.lexical(terms("turn2"), 100, EVERYWHERE).hits])
            mine = {each.chunk.text.split()[0] for each in found if each.info.id == info.id}
            assert len(mine) == 1
    assert [finding.message for finding in cluster_store.check(deep=True) if not finding.ok] == []


def test_a_reader_sees_the_old_version_or_the_new_one_never_parts_of_both(
    address: Address, cluster_store: OpenSearchStore
) -> None:
    add_collections(cluster_store, "notes")

    def text(version: int) -> str:
        return "\n\n".join(f"alpha version{version} part{part}" for part in range(12))

    cluster_store.put([make_draft("a.md", text(0))])
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [cluster_store.put([make_draft("a.md", text(each))]) for each in range(1, 12)])
        reader, seen = OpenSearchStore(address), set()
        while not writing.done():
            with reader.snapshot() as view:
                passages = view.passages([ref for ref, _ in view.lexical(terms("alpha"), 100, EVERYWHERE).hits])
            assert len(passages) == 12
            versions = {passage.chunk.text.split()[1] for passage in passages}
            assert len(versions) == 1
            seen |= versions
        writing.result()
        reader.close()
    assert seen


def test_two_workers_embed_each_text_once(address: Address, cluster_store: OpenSearchStore) -> None:
    add_collections(cluster_store, "notes")
    cluster_store.put([make_draft(f"{number}.md", text) for number, text in enumerate(sentences(60))])
    expected = len({key for key, _ in cluster_store.unembedded(MODEL, 10_000)})

    def work(_: int) -> list[bytes]:
        store, done = OpenSearchStore(address), []
        for part in backlog._shares(store, MODEL):
            store.put_vectors(MODEL, [(key, bag_of_words(text)) for key, text in part])
            done += [key for key, _ in part]
        store.close()
        return done

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(work, range(2))
    assert len(one) + len(other) == len({*one, *other}) == expected
    assert cluster_store.count_unembedded(MODEL) == 0


def test_two_updates_read_each_file_once(address: Address, cluster_store: OpenSearchStore, tmp_path: Path) -> None:
    write(tmp_path, many(100))
    collection = Collection("notes", str(tmp_path))
    cluster_store.put_collection(collection)
    settings = IndexSettings(1 << 20, Chunking(), "words", lambda: None)

    def update(_: int) -> tuple[int, list[str]]:
        store, read = OpenSearchStore(address), []
        report = index_collection(
            store, collection, settings, on_event=lambda event: read.append(event.path) if event.path else None
        )
        store.close()
        return report.added, read

    with ThreadPoolExecutor(2) as pool:
        (added, one), (added_too, other) = pool.map(update, range(2))
    assert len(one) + len(other) == len({*one, *other}) == added + added_too == 100
    assert sorted(info.path for info in _documents(cluster_store)) == sorted(many(100))
    assert update(0) == (0, [])


def test_an_index_moves_onto_the_cluster_and_back(tmp_path: Path) -> None:
    address = own_address(CLUSTER, "-moved")
    source, there = SqliteStore(tmp_path / "source"), OpenSearchStore(address)
    back = SqliteStore(tmp_path / "back")
    add_collections(source, "notes", "work")
    fill(source)
    source.record([ledger_entry("other.md", state="skipped")])
    embed_backlog(source)
    report = move(source, there)
    assert (report.documents, report.vectors) == (4, 4)
    assert move(source, there).vectors == 0
    move(there, back)
    found = []
    for store in (source, there, back):
        with store.snapshot() as view:
            found.append({name: value for name, value in unranked(facts(view)).items() if name != "near"})
        store.close()
    remove(address)
    assert found[0] == found[1] == found[2]
