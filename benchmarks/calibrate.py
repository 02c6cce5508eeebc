"""What are scores and verdicts worth? Fits the logistic of `search/fuse.py`, and counts how often verdicts are wrong.

    python benchmarks/calibrate.py FOLDER... --keep DIR

Every judged collection is asked its own queries (their answers are in it) and those of the other collections
(their answers are not): as they are, and two words of each. Gibberish is asked for too, and samples of 10, 50 and
200 documents are asked like whole collections. The evidence for the first hit is what the logistic is fitted to,
per mode; each collection counts alike. A false accept is a query of another collection with the verdict `found`, a
false reject one of its own with `absent`. The folders and `--keep` are those of quality.py.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dowse
from dowse import Config, Engine, Query
from dowse.text.analyse import STOP_WORDS
from dowse.text.scripts import share_beyond_latin
from quality import MODES, RESULTS, collections_in, judgements, prepare, rows_of, write_files
from remembering import remembering

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUERIES = 40  # of each collection
FOREIGN = 15  # of each other collection, to a small one
SIZES = (10, 50, 200)  # documents of a small collection
SAMPLED = ("chunking-eval", "cranfield", "scifact")  # with documents that are about as long as notes
FEW = 50  # documents; a smaller collection is reported with the samples
GIBBERISH = 30
ROUNDS = 100  # of Newton's method; some ten are enough
PULL = 1e-4
FOREIGN_SHARE = 0.3


@dataclass(frozen=True)
class Asked:
    """One query to one collection, and what came of it."""

    collection: str
    documents: int
    kind: str
    mode: str
    is_there: bool
    fused: float
    confidence: float
    verdict: str


def main() -> int:
    """Ask, fit and count; print one table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="where quality.py keeps the indexes")
    parser.add_argument("--output", type=Path, default=RESULTS / "calibration.json")
    options = parser.parse_args()
    # Of a collection in a script that the model does not know, no other one's queries could be in it.
    folders = [
        each for each in collections_in(options.folders) if share_beyond_latin(" ".join(texts_of(each))) < FOREIGN_SHARE
    ]
    if len(folders) < 2:  # noqa: PLR2004 - one to ask and one to ask for
        print("error: two judged collections are needed, so that one can be asked for what is in the other")
        return 2
    queries = {folder.name: texts_of(folder) for folder in folders}
    with remembering():
        asked = [each for folder in folders for each in whole(folder, queries, options.keep)]
        small = [
            each
            for folder in folders
            if folder.name in SAMPLED
            for size in SIZES
            for each in sampled(folder, queries, options.keep, size)
        ]
    report = {
        "version": dowse.__version__,
        "sets": sorted(queries),
        "fit": {mode: fit([each for each in asked if each.mode == mode]) for mode in MODES},
        "verdicts": counted([each for each in asked if each.documents >= FEW]),
        "small": counted([*small, *(each for each in asked if each.documents < FEW)], by_size=True),
    }
    print_tables(report)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def texts_of(folder: Path) -> list[str]:
    """Some of the judged queries, evenly spread."""
    judged = judgements(folder)
    texts = [row["text"] for row in rows_of(folder / "queries.jsonl") if row["_id"] in judged]
    return texts[:: max(1, len(texts) // QUERIES)][:QUERIES]


def two_words(text: str) -> str:
    """The two longest telling words of a question, in its order."""
    words = list(dict.fromkeys(word for word in re.findall(r"[A-Za-z]{3,}", text) if word.lower() not in STOP_WORDS))
    longest = sorted(words, key=len)[-2:]
    return " ".join(word for word in words if word in longest)


def gibberish() -> list[str]:
    """Words that nobody knows, some of them between words that everybody does."""
    dice = random.Random(7)  # noqa: S311 - a benchmark repeats
    word = lambda: "".join(dice.choice(("aeiouy", "bcdfghjklmnpqrstvwxz")[at % 2]) for at in range(dice.randint(4, 9)))  # noqa: E731
    plain = [" ".join(word() for _ in range(dice.randint(2, 6))) for _ in range(GIBBERISH // 2)]
    return plain + [f"what is the {word()} of a {word()}?" for _ in range(GIBBERISH // 2)]


def whole(folder: Path, queries: Mapping[str, Sequence[str]], keep: Path) -> list[Asked]:
    """A whole collection, asked in every mode."""
    place = keep / folder.name
    write_files(folder, place / "files")
    return ask_all(place, folder.name, queries[folder.name], queries)


def sampled(folder: Path, queries: Mapping[str, Sequence[str]], keep: Path, size: int) -> list[Asked]:
    """So many documents of a collection: those that answer some of its queries first, then any."""
    judged, rows = judgements(folder), {row["_id"]: row for row in rows_of(folder / "corpus.jsonl")}
    asked = [row for row in rows_of(folder / "queries.jsonl") if row["text"] in set(queries[folder.name])]
    chosen: dict[str, None] = {}
    own = []
    for row in asked:
        relevant = [document for document, grade in judged[row["_id"]].items() if grade > 0]
        if len(chosen.keys() | relevant) <= max(size * 2 // 3, size - 5):
            chosen |= dict.fromkeys(relevant)
            own.append(row["text"])
    chosen |= dict.fromkeys([each for each in rows if each not in chosen][: size - len(chosen)])
    place = keep / "small" / f"{folder.name}-{size}"
    if not (place / "corpus.jsonl").exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "corpus.jsonl").write_text("".join(json.dumps(rows[each]) + "\n" for each in chosen))
    write_files(place, place / "files")
    return ask_all(place, folder.name, own, {name: texts[:FOREIGN] for name, texts in queries.items()})


def ask_all(place: Path, name: str, own: Sequence[str], queries: Mapping[str, Sequence[str]]) -> list[Asked]:
    """A collection's own queries, those of others, and gibberish."""
    others = [text for other, texts in queries.items() if other != name for text in texts]
    with dowse.open(config=replace(Config.load(), index=str(place / "index"))) as engine:
        prepare(engine, place / "files", embed=True)
        documents = engine.stats().documents
        return [
            Asked(name, documents, kind, mode, is_there, *evidence(engine, mode, text))
            for mode in MODES
            for kind, is_there, text in [
                *(("sentences", True, text) for text in own),
                *(("sentences", False, text) for text in others),
                *(("two words", True, two_words(text)) for text in own),
                *(("two words", False, two_words(text)) for text in others),
                *(("gibberish", False, text) for text in gibberish()),
            ]
            if text
        ]


def evidence(engine: Engine, mode: str, text: str) -> tuple[float, float, str]:
    """The first hit's evidence before calibration, the confidence, and the verdict."""
    answer = engine.search(Query(text, mode=mode, limit=3, snippets=False, fresh="ignore"))  # type: ignore[arg-type]  # a known mode
    return answer.hits[0].explain.fused if answer.hits else 0.0, answer.confidence, answer.verdict


def fit(asked: Sequence[Asked]) -> dict[str, float]:
    """A logistic in one variable by Newton's method, both answers of every collection weighing alike."""
    rows = [each for each in asked if each.kind != "gibberish"]
    x = np.array([each.fused for each in rows])
    y = np.array([each.is_there for each in rows], dtype=float)
    groups = [(each.collection, each.kind, each.is_there) for each in rows]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = np.array([1 / counts[group] for group in groups])
    mean, spread = x.mean(), x.std()
    design = np.column_stack([(x - mean) / spread, np.ones_like(x)])
    parameters = np.zeros(2)
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-design @ parameters))
        # A slight pull towards zero keeps the slope finite where the two kinds do not overlap.
        gradient = design.T @ (weights * (y - chance)) - PULL * parameters
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + PULL * np.eye(2)
        parameters += np.clip(np.linalg.solve(curvature, gradient), -1, 1)
    slope, offset = parameters[0] / spread, parameters[1]
    return {"slope": float(slope), "middle": float(mean - offset / slope)}


def counted(asked: Sequence[Asked], *, by_size: bool = False) -> list[dict[str, float | str]]:
    """How verdicts are spread, by mode, kind of query and, of small collections, size."""

    def key(each: Asked) -> tuple[int, str, str]:
        return each.documents if by_size else 0, each.mode, each.kind

    return [
        {"mode": mode, "kind": kind, **({"documents": size} if by_size else {})} | shares(list(group))
        for (size, mode, kind), group in groupby(sorted(asked, key=key), key)
    ]


def shares(asked: Sequence[Asked]) -> dict[str, float]:
    """The area under the curve of the confidence, and the shares of verdicts, where the answer is there and not."""
    there, absent = ([each for each in asked if each.is_there is wanted] for wanted in (True, False))

    def share(of: Sequence[Asked], verdict: str) -> float:
        return sum(each.verdict == verdict for each in of) / len(of)

    made: dict[str, float] = {"queries": len(asked), "false accepts": share(absent, "found")}
    if there:
        made |= {
            "auc": auc(np.array([each.confidence for each in there]), np.array([each.confidence for each in absent])),
            "false rejects": share(there, "absent"),
            "found": share(there, "found"),
        }
    return made | {"absent": share(absent, "absent")}


def auc(there: "NDArray[np.float64]", absent: "NDArray[np.float64]") -> float:
    """The chance that a query whose answer is there has more evidence than one whose answer is not."""
    return float(np.mean((there[:, None] > absent[None, :]) + 0.5 * (there[:, None] == absent[None, :])))


def print_tables(report: Mapping[str, object]) -> None:
    """The fits, then a line per group of queries."""
    for line in lines_of(report):
        print(line)


def lines_of(report: Mapping[str, object]) -> Iterator[str]:
    """The report as text."""
    fits: Mapping[str, Mapping[str, float]] = report["fit"]  # type: ignore[assignment]  # made above
    for mode, found in fits.items():
        yield f"{mode:<8}slope {found['slope']:.1f}  middle {found['middle']:.3f}"
    columns = ("documents", "mode", "kind", "queries", "auc", "false accepts", "false rejects", "found", "absent")
    yield "".join(f"{column:>14}" for column in columns)
    for part in ("verdicts", "small"):
        rows: Sequence[Mapping[str, float | str]] = report[part]  # type: ignore[assignment]  # made above
        for row in rows:
            cells = [row.get(column, "") for column in columns]
            yield "".join(f"{cell:>14.3f}" if isinstance(cell, float) else f"{cell:>14}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
