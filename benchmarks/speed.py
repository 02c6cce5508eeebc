"""How fast, how large? Indexing, cold and warm searches, memory and size over any folder.

    python benchmarks/speed.py FOLDER [--embed] [--queries N]

Times are CPU-seconds of the program's own processes (user and system, children included), because the
machines that run this are shared; compare figures of one run with each other. A warm search is one that was asked
before: what its words are worth and the passages that it found are in memory, though no answer is kept and the search
itself is made each time; what it costs the first time stands beside it.

Two searches of tantivy alone stand beside the engine's, for the same terms in the same fields with as many
candidates. The bare one runs on the engine's own index and returns numbers: no texts, no documents, no citations. The
one "with texts" runs on an index that also stores the passages, and returns the best passage of ten files, as one
would who had nothing but tantivy. Results go to benchmarks/results/speed.json.
"""

import argparse
import json
import os
import random
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import dowse
from dowse import Config, Engine, Query

RESULTS = Path(__file__).parent / "results"
REPEATS = 5
LONGEST_QUERY = 5
LIMIT = 10
CANDIDATES = 4 * LIMIT  # what the engine asks for at first when ten files are wanted
BLOCK = 20
WARM_ROUNDS = 3


def main() -> int:
    """Measure one folder and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs"))
    parser.add_argument("--embed", action="store_true", help="also embed, and time searches by meaning")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--output", type=Path, default=RESULTS / "speed.json")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"error: there is no folder {options.folder}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        results = measure(options.folder.resolve(), Path(scratch), options.queries, embed=options.embed)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(
        json.dumps({"version": dowse.__version__, "folder": options.folder.name} | results, indent=2)
    )
    for name, value in results.items():
        print(f"{name:<62}{value:>14.4f}" if isinstance(value, float) else f"{name:<62}{value:>14}")
    return 0


def measure(folder: Path, scratch: Path, count: int, *, embed: bool) -> dict[str, float | int]:
    """Every figure, by name."""
    index = scratch / "index"
    start_up = min(cpu_of("--version", index=index)[0] for _ in range(REPEATS))
    cpu, peak = cpu_of("collection", "add", str(folder), "--name", "bench", "--no-embed", "--quiet", index=index)
    config = replace(Config.load(), index=str(index))
    results: dict[str, float | int] = {"start-up, CPU-s": start_up, "first index (words), CPU-s": cpu}
    results["first index, peak MB"] = peak / 1024
    with dowse.open(config=config) as engine:
        stats = engine.stats()
        results |= {"documents": stats.documents, "chunks": stats.chunks, "index size, MB": stats.bytes_on_disk / 1e6}
        results["text size, MB"] = sum(info.fingerprint.size for info in engine.documents()) / 1e6
        results |= {"files per CPU-s": stats.documents / cpu, "chunks per CPU-s": stats.chunks / cpu}
        queries = sample_queries(engine, count)
    no_op = min(cpu_of("update", "--no-embed", "--quiet", index=index)[0] for _ in range(REPEATS))
    results |= {"no-op update, CPU-s": no_op, "no-op update beyond start-up, CPU-s": no_op - start_up}
    results["cold search, CPU-s"] = min(cpu_of("search", queries[0], "--json", index=index)[0] for _ in range(REPEATS))
    if embed:
        started = time.monotonic()
        cpu, peak = cpu_of("embed", "--quiet", index=index)
        results |= {"embed, CPU-s": cpu, "embed, s": time.monotonic() - started, "embed, peak MB": peak / 1024}
        results["passages per CPU-s"] = stats.chunks / cpu
    results |= compared(config, index, store_texts(config, scratch / "tantivy"), queries)
    with dowse.open(config=config) as engine:
        if embed:
            results["vectors: recall@10 against exact f32"] = recall(engine, index, queries)
        for mode in ("vec", "hybrid") if embed else ():
            results |= named(f"warm {mode}", times(partial(ask, engine, mode=mode), queries))
        shown = partial(ask, engine, mode="lex", shown=True)
        results |= named("warm lex with snippets and verdict", times(shown, queries))
    results["peak MB of this process"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return results


def compared(config: Config, index: Path, stored: Path, queries: Sequence[str]) -> dict[str, float]:
    """The engine's search by words and tantivy's, in turns of a few queries: what disturbs one disturbs all."""
    with dowse.open(config=config) as engine:
        calls: dict[str, Callable[[str], object]] = {
            "warm lex": partial(ask, engine, mode="lex"),
            "bare tantivy": bare_tantivy(index),
            "tantivy with texts": tantivy_with_texts(stored),
        }
        for call in calls.values():
            times(call, queries[:BLOCK])
        first, *again = (in_turns(calls, queries[BLOCK:]) for _ in range(1 + WARM_ROUNDS))
    results = named("lex asked for the first time", first["warm lex"])
    for name in calls:
        results |= named(name, [value for found in again for value in found[name]])
    for name in ("bare tantivy", "tantivy with texts"):
        results[f"warm lex / {name}, p50"] = results["warm lex p50, ms"] / results[f"{name} p50, ms"]
        middle = statistics.median(first[name])
        results[f"lex / {name}, p50, all asked for the first time"] = statistics.median(first["warm lex"]) / middle
    return results


def in_turns(calls: Mapping[str, Callable[[str], object]], queries: Sequence[str]) -> dict[str, list[float]]:
    """CPU-milliseconds of each query by each of the calls."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for first in range(0, len(queries), BLOCK):
        for name, call in calls.items():
            found[name] += [timed(call, query) for query in queries[first : first + BLOCK]]
    return found


def cpu_of(*arguments: str, index: Path) -> tuple[float, int]:
    """CPU-seconds and peak memory (KB) of one run of the program in a process of its own, compiled as installed."""
    command = [sys.executable, "-m", "dowse", "--index", str(index), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def sample_queries(engine: Engine, count: int) -> list[str]:
    """Runs of two to five words from the documents themselves, the same ones every time."""
    chance = random.Random(7)  # noqa: S311 - a fixed sample, not a secret
    documents = engine.documents()
    queries: list[str] = []
    while len(queries) < count:
        words = re.findall(r"[A-Za-z]{3,}", engine.get(chance.choice(documents).file).text)
        if len(words) > LONGEST_QUERY:
            at = chance.randrange(len(words) - LONGEST_QUERY)
            queries.append(" ".join(words[at : at + chance.randint(2, LONGEST_QUERY)]))
    return queries


def ask(engine: Engine, text: str, mode: Any, *, shown: bool = False) -> object:
    """One search for ten files with their best passages; as people see it, with snippets and a verdict."""
    return engine.search(
        Query(text, mode=mode, limit=LIMIT, per_document=1, snippets=shown, verdict=shown, fresh="ignore")
    )


def recall(engine: Engine, index: Path, queries: Sequence[str]) -> float:
    """The share of the ten nearest passages, by an exact float32 scan of the database, that the engine finds."""
    import numpy as np

    from dowse.types import Scope

    with closing(sqlite3.connect(f"file:{index / 'dowse.db'}?mode=ro", uri=True)) as database:
        stored = [row[0] for row in database.execute("SELECT vector FROM vectors ORDER BY row")]
    matrix = np.frombuffer(b"".join(stored), dtype="<f4").reshape(len(stored), -1)
    embedder, store = engine._parts.embedder, engine._store  # noqa: SLF001 - below the door on purpose
    found = 0
    for text in queries:
        vector = embedder.embed_query(text)
        exact = np.sort(matrix @ vector)[::-1][:10]
        with store.snapshot() as snapshot:
            near = snapshot.nearest(embedder.identity, vector, 10, Scope()).hits
        found += sum(cosine >= exact[-1] - 1e-6 for _, cosine in near)
    return found / (10 * len(queries))


def bare_tantivy(index: Path) -> Callable[[str], object]:
    """Straight from tantivy, with the stored handles."""
    search, searcher = any_word(next(index.glob("lexical-*")))

    def run(text: str) -> object:
        return searcher.fast_field_values("ref", [address for _, address in search(text)])

    return run


def tantivy_with_texts(stored: Path) -> Callable[[str], object]:
    """The same, then the passages themselves: the best one of each of ten files."""
    from dowse.types import version_of

    search, searcher = any_word(stored)

    def run(text: str) -> object:
        hits = search(text)
        refs = searcher.fast_field_values("ref", [address for _, address in hits])
        best: dict[int, tuple[float, Any]] = {}
        for ref, hit in zip(refs, hits, strict=True):
            best.setdefault(version_of(ref), hit)
            if len(best) == LIMIT:
                break
        return [(score, searcher.doc(address).to_dict()) for score, address in best.values()]

    return run


def any_word(index: Path) -> tuple[Callable[[str], list[tuple[float, Any]]], Any]:
    """A search for any of a text's terms in any field, and the searcher that runs it."""
    import tantivy

    from dowse.text.analyse import query_terms
    from dowse.text.fields import BOOSTS

    opened = tantivy.Index.open(str(index))
    searcher, schema = opened.searcher(), opened.schema

    def search(text: str) -> list[tuple[float, Any]]:
        query = tantivy.Query.boolean_query(
            [
                (
                    tantivy.Occur.Should,
                    tantivy.Query.boost_query(tantivy.Query.term_query(schema, field, term, "freq"), boost),
                )
                for term in query_terms(text)
                for field, boost in BOOSTS.items()
            ]
        )
        return list(searcher.search(query, limit=CANDIDATES, count=False).hits)

    return search, searcher


def store_texts(config: Config, directory: Path) -> Path:
    """Make a tantivy index of the same rows that also stores what a hit shows."""
    import tantivy

    from dowse.text.fields import BOOSTS, lexical_rows

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("ref", fast=True)
    for field in BOOSTS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    builder.add_json_field("shown", stored=True)
    directory.mkdir()
    writer = tantivy.Index(builder.build(), str(directory)).writer(50_000_000, num_threads=1)
    with dowse.open(config=config) as engine, engine._store.snapshot() as snapshot:  # noqa: SLF001 - as above
        for info in snapshot.documents():
            passages = snapshot.chunks(info.id)
            rows = lexical_rows(info.title, info.path, [passage.chunk for passage in passages])
            for passage, fields in zip(passages, rows, strict=True):
                chunk = passage.chunk
                document = tantivy.Document()
                document.add_unsigned("ref", passage.ref)
                for field, terms in fields.items():
                    document.add_text(field, terms)
                shown = {"file": info.file, "line": chunk.first_line, "headings": chunk.headings, "text": chunk.text}
                document.add_json("shown", shown)
                writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return directory


def timed(call: Callable[[str], object], query: str) -> float:
    """CPU-milliseconds of one call."""
    started = time.process_time_ns()
    call(query)
    return (time.process_time_ns() - started) / 1e6


def times(call: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    """CPU-milliseconds of each call, when it is made again."""
    for query in queries:
        call(query)
    return [timed(call, query) for query in queries]


def named(what: str, values: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile."""
    return {
        f"{what} p50, ms": statistics.median(values),
        f"{what} p95, ms": statistics.quantiles(values, n=20)[-1],
    }


if __name__ == "__main__":
    sys.exit(main())
