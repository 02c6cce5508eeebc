"""What are scores and verdicts worth? Fits their logistic curves, and counts how often verdicts are wrong.

    python benchmarks/calibrate.py FOLDER... --keep DIR

Every judged collection is asked its own queries (their answers are in it) and those of the other collections
(their answers are not): as they are, and two words of each. Gibberish is asked for too, and samples of 10, 50 and
200 documents are asked like whole collections. Every other query of each collection is held back: curves are fitted
to the others alone, and what is counted is counted of those held back, wherever they are asked. `fit` is the
logistic of `search/fuse.py` over the first hit's evidence in whole collections, `fit of verdicts` that of
`search/verdict.py`, fitted to sentences there; every collection, and both answers, count alike. A false accept is a
query of another collection with the verdict `found`, a false reject one of its own with `absent`. The folders and
`--keep` are those of quality.py.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import dowse
from dowse import Config, Engine, Query
from dowse.search import verdict
from dowse.text.analyse import STOP_WORDS
from dowse.text.scripts import share_beyond_latin
from quality import MODES, RESULTS, collections_in, judgements, prepare, rows_of, write_files
from remembering import remembering

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUERIES = 100  # of each collection
FOREIGN = 40  # of each other collection
SIZES = (10, 50, 200)  # documents of a small collection
SAMPLED = ("chunking-eval", "cranfield", "scifact")  # with documents that are about as long as notes
FEW = 50  # documents; a smaller collection is reported with the samples
GIBBERISH = 30
ROUNDS = 100  # of Newton's method; some ten are enough
PULL = 1e-4
PULL_OF_VERDICTS = 0.1  # with three weights, a few queries could say too much
TINY = 1e-9
FOREIGN_SHARE = 0.3


@dataclass(frozen=True)
class Asked:
    """One query to one collection, and what came of it."""

    collection: str
    documents: int
    kind: str
    mode: str
    is_there: bool
    is_held_back: bool
    fused: float
    evidence: tuple[float, ...]
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
    for_fit = [each for each in asked if not each.is_held_back and each.kind != "gibberish"]
    sentences = [each for each in for_fit if each.documents >= FEW and each.kind == "sentences"]
    held_back = [each for each in asked if each.is_held_back]
    report = {
        "version": dowse.__version__,
        "sets": sorted(queries),
        "fit": {mode: fit_scores([each for each in for_fit if each.mode == mode]) for mode in MODES},
        "fit of verdicts": {mode: fit_verdicts([each for each in sentences if each.mode == mode]) for mode in MODES},
        "verdicts": counted([each for each in held_back if each.documents >= FEW]),
        "small": counted(
            [*(each for each in small if each.is_held_back), *(each for each in held_back if each.documents < FEW)],
            by_size=True,
        ),
    }
    print_tables(report)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def texts_of(folder: Path) -> dict[str, bool]:
    """Some of the judged queries, evenly spread, and whether each is held back."""
    judged = judgements(folder)
    texts = [row["text"] for row in rows_of(folder / "queries.jsonl") if row["_id"] in judged]
    chosen = texts[:: max(1, len(texts) // QUERIES)][:QUERIES]
    return {text: bool(number % 2) for number, text in enumerate(chosen)}


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


def whole(folder: Path, queries: Mapping[str, Mapping[str, bool]], keep: Path) -> list[Asked]:
    """A whole collection, asked in every mode."""
    place = keep / folder.name
    write_files(folder, place / "files")
    return ask_all(place, folder.name, list(queries[folder.name]), queries)


def sampled(folder: Path, queries: Mapping[str, Mapping[str, bool]], keep: Path, size: int) -> list[Asked]:
    """So many documents of a collection: those that answer some of its queries first, then any."""
    judged, rows = judgements(folder), {row["_id"]: row for row in rows_of(folder / "corpus.jsonl")}
    asked = [row for row in rows_of(folder / "queries.jsonl") if row["text"] in queries[folder.name]]
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
    return ask_all(place, folder.name, own, queries)


def ask_all(place: Path, name: str, own: Sequence[str], queries: Mapping[str, Mapping[str, bool]]) -> list[Asked]:
    """A collection's own queries, those of others, and gibberish."""
    halves = {text: half for texts in queries.values() for text, half in texts.items()}
    others = [text for other, texts in queries.items() if other != name for text in thinned(list(texts))]
    with dowse.open(config=replace(Config.load(), index=str(place / "index"))) as engine:
        prepare(engine, place / "files", embed=True)
        documents = engine.stats().documents
        return [
            Asked(name, documents, kind, mode, is_there, halves.get(text, True), *evidence(engine, mode, question))
            for mode in MODES
            for kind, is_there, text, question in [
                *(("sentences", True, text, text) for text in own),
                *(("sentences", False, text, text) for text in others),
                *(("two words", True, text, two_words(text)) for text in own),
                *(("two words", False, text, two_words(text)) for text in others),
                *(("gibberish", False, text, text) for text in gibberish()),
            ]
            if question
        ]


def thinned(texts: Sequence[str]) -> list[str]:
    """Some of these, in pairs, so that every other one stays one that is held back."""
    step = max(1, len(texts) // FOREIGN)
    return [text for number, text in enumerate(texts) if number // 2 % step == 0][:FOREIGN]


def evidence(engine: Engine, mode: str, text: str) -> tuple[float, tuple[float, ...], float, str]:
    """The first hit's evidence before calibration, what the verdict was made of, the confidence, and the verdict."""
    seen: list[tuple[float, ...]] = [(0.0, 0.0, 0.0)]
    looked = verdict.evidence_of

    def spy(*given: Any) -> tuple[float, float, float]:
        seen.append(found := looked(*given))
        return found

    with patch.object(verdict, "evidence_of", spy):
        answer = engine.search(Query(text, mode=mode, limit=3, snippets=False, fresh="ignore"))  # type: ignore[arg-type]  # a known mode
    return answer.hits[0].explain.fused if answer.hits else 0.0, seen[-1], answer.confidence, answer.verdict


def fit_scores(asked: Sequence[Asked]) -> dict[str, float]:
    """Slope and middle of the logistic of the first hit's evidence."""
    (slope,), offset = fit(asked, [(each.fused,) for each in asked], PULL)
    return {"slope": slope, "middle": -offset / slope}


def fit_verdicts(asked: Sequence[Asked]) -> dict[str, float]:
    """What the parts of the evidence weigh in the logistic that is the confidence."""
    parts = ("fused", "pairs", "words")[: 1 if asked[0].mode == "vec" else 3]
    weights, offset = fit(asked, [each.evidence[: len(parts)] for each in asked], PULL_OF_VERDICTS)
    return {**dict(zip(parts, weights, strict=True)), "offset": offset}


def fit(asked: Sequence[Asked], values: Sequence[Sequence[float]], pull: float) -> tuple[list[float], float]:
    """A logistic by Newton's method: the weight of each column, and the offset."""
    x = np.array(values)
    y = np.array([each.is_there for each in asked], dtype=float)
    groups = [(each.collection, each.documents, each.kind, each.is_there) for each in asked]
    counts = Counter(groups)
    shares = np.array([1 / counts[group] for group in groups])
    mean, spread = x.mean(axis=0), x.std(axis=0) + TINY
    design = np.column_stack([(x - mean) / spread, np.ones(len(x))])
    parameters = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-design @ parameters))
        # A slight pull towards zero keeps the slopes finite where the two kinds do not overlap.
        gradient = design.T @ (shares * (y - chance)) - pull * parameters
        curvature = (design * (shares * chance * (1 - chance))[:, None]).T @ design + pull * np.eye(len(parameters))
        parameters += np.clip(np.linalg.solve(curvature, gradient), -1, 1)
    weights = parameters[:-1] / spread
    return [float(weight) for weight in weights], float(parameters[-1] - (weights * mean).sum())


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
    curves: Mapping[str, Mapping[str, float]] = report["fit of verdicts"]  # type: ignore[assignment]  # made above
    for mode, found in curves.items():
        yield f"{mode:<8}" + "  ".join(f"{part} {value:.1f}" for part, value in found.items())
    columns = ("documents", "mode", "kind", "queries", "auc", "false accepts", "false rejects", "found", "absent")
    yield "".join(f"{column:>14}" for column in columns)
    for part in ("verdicts", "small"):
        rows: Sequence[Mapping[str, float | str]] = report[part]  # type: ignore[assignment]  # made above
        for row in rows:
            cells = [row.get(column, "") for column in columns]
            yield "".join(f"{cell:>14.3f}" if isinstance(cell, float) else f"{cell:>14}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
