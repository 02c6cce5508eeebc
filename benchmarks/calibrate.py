"""What is a score worth? Fits the logistic of `search/fuse.py` and says how well it tells found from not found.

    python benchmarks/calibrate.py FOLDER... --keep DIR

Every judged collection is asked its own queries (their answers are in it) and those of the other collections
(their answers are not). The evidence for the first hit of each, before calibration, is what the logistic is fitted
to, per mode; each collection counts alike. Prints slope and middle for `CALIBRATION`, the area under the curve, and
the share of wrong verdicts at a score of 0.5. The folders and `--keep` are those of quality.py.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dowse
from dowse import Config, Engine, Query
from dowse.text.scripts import share_beyond_latin
from quality import MODES, RESULTS, collections_in, judgements, prepare, rows_of, write_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUERIES = 150  # of each collection
ROUNDS = 100  # of Newton's method; some ten are enough
PULL = 1e-4
FOREIGN_SHARE = 0.3
EVEN = 0.5  # the score of an even bet


def main() -> int:
    """Fit every mode and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="where quality.py keeps the indexes")
    parser.add_argument("--output", type=Path, default=RESULTS / "calibration.json")
    options = parser.parse_args()
    # Collections in scripts that the model does not know are answered by words alone, at any score.
    folders = [
        each for each in collections_in(options.folders) if share_beyond_latin(" ".join(sample(each))) < FOREIGN_SHARE
    ]
    if len(folders) < 2:  # noqa: PLR2004 - one to ask and one to ask for
        print("error: two judged collections are needed, so that one can be asked for what is in the other")
        return 2
    queries = {folder.name: sample(folder) for folder in folders}
    evidence: dict[str, list[tuple[float, bool, str]]] = {mode: [] for mode in MODES}
    for folder in folders:
        place = options.keep / folder.name
        write_files(folder, place / "files")
        with dowse.open(config=replace(Config.load(), index=str(place / "index"))) as engine:
            prepare(engine, place / "files", embed=True)
            for mode in MODES:
                evidence[mode] += gather(engine, mode, folder.name, queries)
    results = {}
    for mode, rows in evidence.items():
        results[mode] = fit(rows)
        print(f"{mode:<8}" + "  ".join(f"{name} {value:.3f}" for name, value in results[mode].items()))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    report = {"version": dowse.__version__, "sets": sorted(queries), "modes": results}
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def sample(folder: Path) -> list[str]:
    """Some of the judged queries, evenly spread."""
    judged = judgements(folder)
    texts = [row["text"] for row in rows_of(folder / "queries.jsonl") if row["_id"] in judged]
    return texts[:: max(1, len(texts) // QUERIES)][:QUERIES]


def gather(engine: Engine, mode: str, name: str, queries: dict[str, list[str]]) -> Iterator[tuple[float, bool, str]]:
    """The first hit's evidence, whether the answer is there, and which collection was asked."""
    for other, texts in queries.items():
        for text in texts:
            hits = engine.search(Query(text, mode=mode, limit=1)).hits  # type: ignore[arg-type]  # a known mode
            yield hits[0].explain.fused if hits else 0.0, other == name, name


def fit(rows: Sequence[tuple[float, bool, str]]) -> dict[str, float]:
    """A logistic in one variable by Newton's method, both answers of every collection weighing alike."""
    x = np.array([value for value, _, _ in rows])
    y = np.array([there for _, there, _ in rows], dtype=float)
    groups = [f"{name}{there}" for _, there, name in rows]
    weights = np.array([1 / groups.count(group) for group in groups])
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
    verdict = 1 / (1 + np.exp(-design @ parameters))
    return {
        "slope": float(slope),
        "middle": float(mean - offset / slope),
        "auc": auc(x, y),
        "false accepts": float(np.mean(verdict[y == 0] >= EVEN)),
        "false rejects": float(np.mean(verdict[y == 1] < EVEN)),
        "queries": float(len(rows)),
    }


def auc(x: "NDArray[np.float64]", y: "NDArray[np.float64]") -> float:
    """The chance that a query whose answer is there has more evidence than one whose answer is not."""
    there, absent = x[y == 1], x[y == 0]
    return float(np.mean((there[:, None] > absent[None, :]) + 0.5 * (there[:, None] == absent[None, :])))


if __name__ == "__main__":
    sys.exit(main())
