"""Does a cluster answer as the embedded store does, and how fast? Both stores, one run, side by side.

    python benchmarks/cluster.py JUDGED [--keep DIR] [--parts quality,scale,cost,workers] [--chunks N] [--sample N] ...

JUDGED is a judged collection (corpus.jsonl, queries.jsonl, qrels/). `quality` indexes it embedded (kept in DIR, as
benchmarks/quality.py does), moves it onto the cluster and asks the same questions of both: nDCG@10 for each mode, and
how many of the ten best documents are the same. `scale` puts made-up passages with random vectors into both and times
what a hybrid search asks of a store; `cost` counts the processor time of that. `workers` has one process embed a part
of the collection, then two. The cluster is DOWSE_TEST_CLUSTER, or three nodes that are started here and share the
processors with everything else. Results go to benchmarks/results/cluster.json.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np

import dowse
from cluster_workers import measure_workers
from dowse import Config, Engine, Query
from dowse.ports import Store
from dowse.search.asking import Words
from dowse.search.recall import Legs, recall
from dowse.store.opensearch import Address, OpenSearchStore
from dowse.store.opensearch.connection import Connection
from dowse.store.opensearch.layout import Indexes
from dowse.store.sqlite import SqliteStore
from dowse.text.analyse import query_terms
from dowse.types import Chunk, Collection, Content, DocumentInfo, Draft, Fingerprint, ModelIdentity, Scope
from quality import MODES, RESULTS, judgements, metrics, prepare, rows_of, write_files

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "cluster"))
from nodes import running

CHUNKS_PER_DOCUMENT = 20
WORDS_PER_CHUNK = 120
DIMS = 384
BATCH = 25  # documents in one put
VECTORS = 512  # in one put
QUERIES = 100
WARM_UP = 200  # questions before those that count: a server's first ones run before its code is compiled
COST_CHUNKS = 8_000
LEASE = 60  # seconds after which nothing is kept any more for replicas that lag
DEPTH = 100
MODEL = ModelIdentity("random", "1", DIMS, "none", "f32", 512)

Figures = dict[str, float]


def main() -> int:
    """Measure the parts that were asked for, print them and remember them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judged", type=Path)
    parser.add_argument("--keep", type=Path, help="where to keep the embedded index of the judged collection")
    parser.add_argument("--parts", default="quality,scale,cost,workers")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=1, help="ask only every so many-th question")
    parser.add_argument("--texts", type=int, default=600, help="how many documents the workers embed")
    parser.add_argument("--output", type=Path, default=RESULTS / "cluster.json")
    options = parser.parse_args()
    report = json.loads(options.output.read_text()) if options.output.is_file() else {}
    report["version"] = dowse.__version__
    with cluster() as address:
        for part in options.parts.split(","):
            own = replace(address, prefix=f"bench-{part}-{os.getpid()}")
            try:
                report[part] = PARTS[part](own, options)
            finally:
                remove(own)
            print(part)
            for name, value in report[part].items():
                print(f"  {name:<48}{value:>12.4f}", flush=True)
            options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


@contextmanager
def cluster() -> Iterator[Address]:
    """The cluster that the environment names, or one of our own."""
    named = os.environ.get("DOWSE_TEST_CLUSTER")
    if named:
        yield Address.parse(named)
        return
    with running() as nodes:
        yield Address.parse(nodes.url)


def remove(address: Address) -> None:
    """Delete the indexes of one store."""
    connection = Connection(address)
    connection.request("DELETE", f"/{Indexes.of(address.prefix).all}", params={"ignore_unavailable": True})
    connection.close()


# The judged collection


def measure_quality(address: Address, options: argparse.Namespace) -> Figures:
    """Both stores, the same questions."""
    with tempfile.TemporaryDirectory() as scratch:
        place = options.keep / options.judged.name if options.keep else Path(scratch)
        names = write_files(options.judged, place / "files")
        config = replace(Config.load(), index=str(place / "index"))
        with dowse.open(config=config) as embedded:
            prepare(embedded, place / "files", embed=True)
            url = url_of(address)
            chunks = embedded.stats().chunks
            started = time.monotonic()
            embedded.migrate(url)
            figures = {"chunks": float(chunks), "moved, chunks/s": chunks / (time.monotonic() - started)}
            with dowse.open(config=replace(config, index=url)) as there:
                figures |= compare(embedded, there, options, names)
                figures["bytes per chunk, one copy"] = there.stats().bytes_on_disk / chunks / (1 + address.replicas)
                figures["embedded, bytes per chunk"] = embedded.stats().bytes_on_disk / chunks
    return figures


def compare(embedded: Engine, there: Engine, options: argparse.Namespace, names: dict[str, str]) -> Figures:
    """nDCG@10 of both for each mode, and how much of their ten best is the same."""
    questions = {row["_id"]: row["text"] for row in rows_of(options.judged / "queries.jsonl")}
    judged = {query: grades for query, grades in judgements(options.judged).items() if query in questions}
    chosen = sorted(judged)[:: options.sample]
    figures: Figures = {"questions": float(len(chosen))}
    for mode in MODES:
        gains = {"embedded": 0.0, "cluster": 0.0}
        common, seconds = 0.0, {"embedded": [], "cluster": []}  # type: ignore[var-annotated]
        for query in chosen:
            asked = Query(questions[query], mode=mode, limit=10, per_document=1, fresh="ignore")
            found = {}
            for name, engine in (("embedded", embedded), ("cluster", there)):
                started = time.monotonic()
                found[name] = [names[hit.info.path] for hit in engine.search(asked).hits]
                seconds[name].append(time.monotonic() - started)
                gains[name] += metrics(found[name], judged[query])["ndcg@10"] / len(chosen)
            common += len(set(found["embedded"]) & set(found["cluster"])) / max(1, len(found["embedded"]))
        figures |= {f"{mode} nDCG@10, {name}": gain for name, gain in gains.items()}
        figures[f"{mode} overlap of the ten best"] = common / len(chosen)
        figures |= {f"{mode} p95 ms, {name}": 1000 * percentile(values, 95) for name, values in seconds.items()}
    return figures


# Many passages


def measure_scale(address: Address, options: argparse.Namespace) -> Figures:
    """The same passages into both; then what a hybrid search asks of a store."""
    figures: Figures = {"chunks": float(options.chunks)}
    with tempfile.TemporaryDirectory() as scratch:
        stores: dict[str, Callable[[], Store]] = {
            "embedded": lambda: SqliteStore(Path(scratch) / "index"),
            "cluster": lambda: OpenSearchStore(address),
        }
        for name, make in stores.items():
            store = make()
            figures |= {f"{what}, {name}": value for what, value in fill(store, options.chunks).items()}
            times = [ask(store, number) for number in range(WARM_UP + QUERIES)][WARM_UP:]
            figures |= {f"hybrid p{share} ms, {name}": 1000 * percentile(times, share) for share in (50, 95)}
            with store.snapshot() as view:
                copies = 1 + address.replicas if name == "cluster" else 1
                figures[f"bytes per chunk, {name}, one copy"] = view.stats().bytes_on_disk / options.chunks / copies
            store.close()
    figures["bytes per chunk, cluster, one copy, merged"] = merged_bytes(address) / options.chunks
    return figures


def merged_bytes(address: Address) -> float:
    """What a copy takes once each shard is one segment.

    What was written is kept as it came until it is flushed and no replica may ask for it any more, and files that were
    merged until that is flushed, too.
    """
    connection, indexes = Connection(address), Indexes.of(address.prefix)

    def settle() -> None:
        connection.request("POST", f"/{indexes.all}/_refresh")
        connection.request("POST", f"/{indexes.all}/_flush", params={"force": True})
        time.sleep(LEASE)

    settle()
    connection.request("POST", f"/{indexes.all}/_forcemerge", params={"max_num_segments": 1}, timeout=3_600)
    settle()
    size = connection.request("GET", f"/{indexes.all}/_stats/store")["_all"]["total"]["store"]["size_in_bytes"]
    connection.close()
    return float(size) / (1 + address.replicas)


def measure_cost(address: Address, _: argparse.Namespace) -> Figures:
    """Processor time of all nodes and of this process: what a busy machine cannot spoil."""
    store, connection = OpenSearchStore(address), Connection(address)
    figures: Figures = {"chunks": float(COST_CHUNKS), "questions": float(QUERIES)}

    def spent() -> tuple[float, float]:
        nodes = connection.request("GET", "/_nodes/stats/process")["nodes"].values()
        return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes), 1000 * time.process_time()

    steps: dict[str, tuple[Callable[[], object], int]] = {
        "a chunk's words": (lambda: put_words(store, COST_CHUNKS), COST_CHUNKS),
        "a chunk's vector": (lambda: put_vectors(store), COST_CHUNKS),
        "a first hybrid search": (lambda: [ask(store, number) for number in range(QUERIES)], QUERIES),
        "a hybrid search": (lambda: [ask(store, number) for number in range(QUERIES, 2 * QUERIES)], QUERIES),
    }
    for what, (act, count) in steps.items():
        before = spent()
        act()
        for who, then, now in zip(("nodes", "client"), before, spent(), strict=True):
            figures[f"{what}, CPU-ms of the {who}"] = (now - then) / count
    store.close()
    connection.close()
    return figures


def fill(store: Store, chunks: int) -> Figures:
    """Put so many passages and their vectors; returns the rates."""
    started = time.monotonic()
    put_words(store, chunks)
    words = time.monotonic() - started
    put_vectors(store)
    both = time.monotonic() - started
    return {"words, chunks/s": chunks / words, "words and vectors, chunks/s": chunks / both}


def put_words(store: Store, chunks: int) -> None:
    """Put so many passages."""
    store.put_collection(Collection("bench"))
    documents = chunks // CHUNKS_PER_DOCUMENT
    for first in range(0, documents, BATCH):
        store.put([document(number) for number in range(first, min(first + BATCH, documents))])


def put_vectors(store: Store) -> None:
    """Give every passage a vector."""
    while waiting := store.unembedded(MODEL, 8 * VECTORS):
        for first in range(0, len(waiting), VECTORS):
            part = waiting[first : first + VECTORS]
            store.put_vectors(MODEL, [(key, vector_of(key)) for key, _ in part])


def document(number: int) -> Draft:
    """A document of words that are spread as words are."""
    chance = random.Random(number)  # noqa: S311 - the same every time, not a secret
    texts = [
        " ".join(f"w{int(chance.paretovariate(0.6)) % 50_000}" for _ in range(WORDS_PER_CHUNK))
        for _ in range(CHUNKS_PER_DOCUMENT)
    ]
    text, pieces, start = "\n\n".join(texts), [], 0
    for line, each in enumerate(texts):
        pieces.append(Chunk(each, start, start + len(each), 2 * line + 1, 2 * line + 1, WORDS_PER_CHUNK))
        start += len(each) + 2
    info = DocumentInfo(
        id=UUID(int=number + 1),
        collection="bench",
        path=f"part{number // 100}/{number}.md",
        uri=f"file:///bench/{number}.md",
        title=f"document {number}",
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        media_type="text/markdown",
        origin="ingested",
        fingerprint=Fingerprint(len(text), 0),
    )
    return Draft(info, "bench", Content(text, None, tuple(pieces)))


def vector_of(key: bytes) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Near one of a hundred directions, as texts are near their subjects."""
    chance = np.random.default_rng(int.from_bytes(key[:8], "big"))
    subject = np.random.default_rng(key[8] % 100).normal(size=DIMS)
    vector = subject + chance.normal(size=DIMS)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def ask(store: Store, number: int) -> float:
    """What the engine asks of a store for one hybrid search; returns the seconds."""
    chance = random.Random(-number)  # noqa: S311 - the same every time, not a secret
    terms = query_terms(" ".join(f"w{int(chance.paretovariate(0.6)) % 50_000}" for _ in range(6)))
    vector = vector_of(hashlib.sha256(str(number).encode()).digest()[:16])
    started = time.monotonic()
    with store.snapshot() as view:
        legs = Legs((Words(tuple(terms), {}, (), 1.0),), MODEL, ((vector, 1.0),))
        evidence, _ = recall(view, Scope(), legs, DEPTH)
        view.passages(sorted(evidence["lex"].values)[:10])
    return time.monotonic() - started


def percentile(values: Sequence[float], share: int) -> float:
    """The value that so many per cent are not above."""
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


def url_of(address: Address) -> str:
    """The address as the configuration takes it."""
    hosts = ",".join(f"{host}:{port}" for host, port in address.hosts)
    return f"opensearch://{hosts}/{address.prefix}?shards={address.shards}&replicas={address.replicas}"


PARTS = {
    "quality": measure_quality,
    "scale": measure_scale,
    "cost": measure_cost,
    "workers": lambda address, options: measure_workers(address, url_of(address), options.judged, options.texts),
}

if __name__ == "__main__":
    sys.exit(main())
