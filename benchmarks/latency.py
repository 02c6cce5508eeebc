"""What does a warm search cost beyond the query's embedding? CPU-milliseconds by mode and by step, at 100,000 passages.

    python benchmarks/latency.py FOLDER... [--passages N] [--keep DIR]

The sentences of the judged collections become notes (as in scale.py), their passages get random unit vectors, and
the collections' own queries are asked by an engine that has answered others before, as a server has: once (`first`:
the passages have to be read), then again, the middle one of five times. Where a hit has no word of the question, the
model also chooses its lines; random vectors find many such hits, and what the model takes for them counts as embedding
and stands by itself. Results go to benchmarks/results/latency.json.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import dowse
from dowse import Config, Engine, Query
from dowse.search import pipeline, searching
from quality import MODES, RESULTS, collections_in, judgements, rows_of
from remembering import remembering
from scale import NOTE, Writer, make_once, sentences_of

PASSAGES = 100_000
PASSAGES_OF_NOTE = 5.7  # what scale.py measured
QUERIES = 20  # of each collection
ROUNDS = 5
BATCH = 5_000
STEPS = {"recall": searching, "rank": searching, "judge": pipeline, "_hits": pipeline}
"""What is measured by itself: candidates with their evidence, fusion with features, the verdict, snippets."""


def main() -> int:
    """Make the index, ask, and print one line per mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--keep", type=Path, help="where to make the index; removed afterwards if not given")
    parser.add_argument("--output", type=Path, default=RESULTS / "latency.json")
    options = parser.parse_args()
    folders = list(collections_in(options.folders))
    queries = [text for folder in folders for text in judged_texts(folder)]
    if not queries:
        print("error: no judged collection found\nhint: name a folder with corpus.jsonl, queries.jsonl and qrels/")
        return 2
    with tempfile.TemporaryDirectory() as scratch, remembering():
        place = (options.keep or Path(scratch)).resolve()
        notes = round(options.passages / PASSAGES_OF_NOTE)
        make_once(place / "files", lambda folder: Writer(sentences_of(folders)).notes(folder, notes, NOTE))
        with dowse.open(config=replace(Config.load(), index=str(place / "index"))) as engine:
            fill(engine, place / "files")
            passages = engine.stats().chunks
            modes = {mode: measure(engine, mode, queries) for mode in MODES}
    report = {"version": dowse.__version__, "passages": passages, "queries": len(queries), "modes": modes}
    print_table(report)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def judged_texts(folder: Path) -> list[str]:
    """Some queries of a collection."""
    judged = judgements(folder)
    return [row["text"] for row in rows_of(folder / "queries.jsonl") if row["_id"] in judged][:QUERIES]


def fill(engine: Engine, files: Path) -> None:
    """Index the notes by words, and give every passage a random direction."""
    if not engine.known_collections():
        engine.add_collection(files, name="notes")
    engine.index("notes")
    identity, store = engine._parts.embedder.identity, engine._store  # noqa: SLF001 - a model would take an hour
    dice = np.random.default_rng(11)
    while waiting := store.unembedded(identity, BATCH):
        rows = dice.standard_normal((len(waiting), identity.dims)).astype("f4")
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        store.put_vectors(identity, [(key, row) for (key, _), row in zip(waiting, rows, strict=True)])


def measure(engine: Engine, mode: str, queries: Sequence[str]) -> dict[str, float]:
    """The median over the queries of CPU-milliseconds: of all of it, and of each step."""
    asked = [Query(text, mode=mode, fresh="ignore") for text in queries]  # type: ignore[arg-type]  # a known mode
    for text in queries:
        engine._parts.embedder.embed_query(text)  # noqa: SLF001 - its vector is then known
    engine.search(Query("a question that warms up", mode=mode))  # type: ignore[arg-type]  # a known mode
    first = [timed(engine, query)["all"] for query in asked]
    again = [middle([timed(engine, query) for _ in range(ROUNDS)]) for query in asked]
    steps = {step: float(np.median([spent[step] for spent in again])) for step in ("all", *STEPS)}
    steps["lines by meaning"] = float(np.mean([spent["lines by meaning"] for spent in again]))
    return steps | {"first": float(np.median(first)), "95 %": float(np.percentile([each["all"] for each in again], 95))}


def middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The round that took neither long nor short."""
    return sorted(rounds, key=lambda spent: spent["all"])[len(rounds) // 2]


def timed(engine: Engine, query: Query) -> dict[str, float]:
    """One search, by step, without what the model takes."""
    spent = dict.fromkeys((*STEPS, "lines by meaning"), 0.0)

    def watched(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*given: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return function(*given, **options)
            finally:
                spent[step] += 1000 * (time.process_time() - started)

        return measured

    patches = [patch.object(module, step, watched(step, getattr(module, step))) for step, module in STEPS.items()]
    embedder = engine._parts.embedder  # noqa: SLF001 - as above
    patches.append(patch.object(embedder, "embed_passages", watched("lines by meaning", embedder.embed_passages)))
    for each in patches:
        each.start()
    started = time.process_time()
    engine.search(query)
    everything = 1000 * (time.process_time() - started)
    for each in patches:
        each.stop()
    lines = spent["lines by meaning"]
    return {**spent, "all": everything - lines, "_hits": spent["_hits"] - lines}


def print_table(report: dict[str, Any]) -> None:
    """One line per mode."""
    print(f"{report['passages']:,} passages, CPU-ms without the embedding")
    columns = ["first", "all", "95 %", *STEPS, "lines by meaning"]
    print(f"{'':<10}" + "".join(f"{column:>10}" for column in columns[:-1]) + f"  {columns[-1]}")
    for mode, spent in report["modes"].items():
        print(f"{mode:<10}" + "".join(f"{spent[column]:>10.2f}" for column in columns))


if __name__ == "__main__":
    sys.exit(main())
