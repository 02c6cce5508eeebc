"""How good are the answers? nDCG@10, recall@100 and MRR@10 per mode on judged collections, through the engine.

    python benchmarks/quality.py FOLDER... [--modes lex,vec,hybrid] [--sample N] [--keep DIR]

A folder is in BEIR layout (corpus.jsonl, queries.jsonl, qrels/test.tsv), or holds such folders. Every document
becomes a file, the files become a collection, and the queries are asked as any user would ask them. `--keep`
stores the indexes so that a second run need not embed again. Results go to benchmarks/results/quality.json.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import dowse
from dowse import Config, Engine, Query
from dowse.evaluate.judged import json_rows as rows_of
from dowse.evaluate.judged import read_qrels
from dowse.evaluate.metrics import hit, ndcg, recall, reciprocal_rank

RESULTS = Path(__file__).parent / "results"
MODES = ("lex", "vec", "hybrid")
DEPTH = 100
METRICS = ("ndcg@10", "recall@100", "mrr@10", "hit@3")


def main() -> int:
    """Measure every collection that was named and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--sample", type=int, help="ask only every so many-th query, to save time")
    parser.add_argument("--keep", type=Path, help="where to keep the indexes")
    parser.add_argument("--output", type=Path, default=RESULTS / "quality.json")
    options = parser.parse_args()
    folders = list(collections_in(options.folders))
    if not folders:
        print("error: no judged collection found\nhint: name a folder with corpus.jsonl, queries.jsonl and qrels/")
        return 2
    results = {}
    for folder in folders:
        with tempfile.TemporaryDirectory() as scratch:
            place = options.keep / folder.name if options.keep else Path(scratch)
            results[folder.name] = measure(folder, place, options.modes.split(","), options.sample or 1)
        print_table(folder.name, results[folder.name])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    report = {"version": dowse.__version__, "config": {"modes": options.modes}, "sets": results}
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def collections_in(folders: Sequence[Path]) -> Iterator[Path]:
    """The folders themselves where they are judged collections, else those inside them."""
    for folder in folders:
        if (folder / "corpus.jsonl").is_file():
            yield folder
        elif folder.is_dir():
            yield from sorted(path.parent for path in folder.glob("*/corpus.jsonl"))


def measure(folder: Path, place: Path, modes: Sequence[str], step: int) -> dict[str, dict[str, float]]:
    """Index one collection (once) and ask its judged queries in every mode."""
    names = write_files(folder, place / "files")
    config = replace(Config.load(), index=str(place / "index"))
    with dowse.open(config=config) as engine:
        prepare(engine, place / "files", embed=modes != ["lex"])
        queries = {row["_id"]: row["text"] for row in rows_of(folder / "queries.jsonl")}
        judged = {query: grades for query, grades in judgements(folder).items() if query in queries}
        chosen = sorted(judged)[::step]
        return {mode: score(engine, mode, {query: queries[query] for query in chosen}, judged, names) for mode in modes}


def write_files(folder: Path, target: Path) -> dict[str, str]:
    """One file per document, under a neutral name; returns the document's id by file name."""
    target.mkdir(parents=True, exist_ok=True)
    names = {}
    for number, row in enumerate(rows_of(folder / "corpus.jsonl")):
        title, text = (row.get("title") or "").strip(), row["text"]
        name = f"d{number:06d}.{'md' if title else 'txt'}"
        names[name] = row["_id"]
        path = target / name
        if not path.exists():
            is_repeated = text.lstrip().startswith(f"# {title}")
            path.write_text(f"# {title}\n\n{text}\n" if title and not is_repeated else f"{text}\n", encoding="utf-8")
    return names


def prepare(engine: Engine, files: Path, *, embed: bool) -> None:
    """Bring the index up to date and say how long it took."""
    if not any(stats.collection.name == "set" for stats in engine.collections()):
        engine.add_collection(files, name="set")
    started = time.process_time()
    report = engine.index("set")
    words = time.process_time() - started
    if report.failed:
        raise SystemExit(f"{len(report.failed)} files failed, the first because: {report.failed[0].reason}")
    if embed:
        done = engine.embed()
        print(f"  {report.added} added, words {words:.1f} CPU-s, {done.embedded} embedded in {done.seconds:.0f} s")


def score(
    engine: Engine,
    mode: str,
    queries: Mapping[str, str],
    judged: Mapping[str, Mapping[str, int]],
    names: Mapping[str, str],
) -> dict[str, float]:
    """The mean of every metric over the queries."""
    totals: dict[str, float] = defaultdict(float)
    started = time.process_time()
    for query, text in queries.items():
        asked = Query(text, mode=mode, limit=DEPTH, per_document=1)  # type: ignore[arg-type]  # checked by the engine
        ranking = [names[found.info.path] for found in engine.search(asked).hits]
        for metric, value in metrics(ranking, judged[query]).items():
            totals[metric] += value
    means = {metric: totals[metric] / len(queries) for metric in METRICS}
    return means | {"queries": len(queries), "cpu_ms": 1000 * (time.process_time() - started) / len(queries)}


def metrics(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Of one query."""
    return {
        "ndcg@10": ndcg(ranking, grades, 10),
        "recall@100": recall(ranking, grades, 100),
        "mrr@10": reciprocal_rank(ranking, grades, 10),
        "hit@3": hit(ranking, grades, 3),
    }


def judgements(folder: Path) -> dict[str, dict[str, int]]:
    """Grades by query and document, of queries that something answers."""
    judged = read_qrels(folder / "qrels" / "test.tsv")
    return {query: grades for query, grades in judged.items() if any(grade > 0 for grade in grades.values())}


def print_table(name: str, results: Mapping[str, Mapping[str, float]]) -> None:
    """One line per mode."""
    print(f"{name:<16} {'mode':<8}" + "".join(f"{metric:>12}" for metric in METRICS) + f"{'CPU-ms':>9}{'queries':>9}")
    for mode, means in results.items():
        figures = "".join(f"{means[metric]:>12.4f}" for metric in METRICS)
        print(f"{'':<16} {mode:<8}{figures}{means['cpu_ms']:>9.1f}{means['queries']:>9.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
