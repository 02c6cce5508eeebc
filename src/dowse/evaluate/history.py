"""What earlier evaluations found, in a JSON file beside the index, and what changed since.

Two runs are compared query by query over those that both asked: a difference counts when it is larger than twice
its standard error, and larger than what three queries could make.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from dowse.evaluate.results import METRICS, Comparison, Difference, Evaluation

__all__ = ["FILE", "compared", "remembered"]

FILE = "evaluations.json"
_MOST_RUNS = 200
_FEWEST_QUERIES = 3
_ERRORS = 2
_SLOWER = 1.5
_DIGITS = 4


def compared(directory: Path, evaluation: Evaluation) -> Evaluation:
    """The evaluation with what changed since the last one of its name."""
    runs, problem = _runs(directory)
    notes = (*evaluation.notes, problem) if problem else evaluation.notes
    last = next((run for run in reversed(runs) if run["name"] == evaluation.name and run["modes"]), None)
    if last is None:
        return replace(evaluation, notes=notes)
    comparison = Comparison(
        since=last["at"],
        common=max((len(_common(mode.scores, last, mode.mode)) for mode in evaluation.modes), default=0),
        changes=(*_changes(last["state"], evaluation.state), *_latencies(last, evaluation)),
        differences=tuple(_differences(last, evaluation)),
    )
    return replace(evaluation, notes=notes, compared=comparison)


def remembered(directory: Path, evaluation: Evaluation) -> Evaluation:
    """Add it to the history; where that may not be written, the evaluation says so."""
    runs, _ = _runs(directory)
    for run in runs:
        if run["name"] == evaluation.name:
            run["modes"] = {name: {**mode, "scores": {}} for name, mode in run["modes"].items()}  # the newest suffice
    runs.append(_written(evaluation))
    part = directory / f"{FILE}.part"
    try:
        part.write_text(json.dumps(runs[-_MOST_RUNS:]) + "\n", encoding="utf-8")
        part.replace(directory / FILE)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        note = f"This run could not be remembered: {error.strerror or error}."
        return replace(evaluation, notes=(*evaluation.notes, note))
    return evaluation


def _written(evaluation: Evaluation) -> dict[str, Any]:
    modes = {
        mode.mode: {
            "queries": mode.queries,
            "figures": {metric: round(value, _DIGITS) for metric, value in mode.figures.items()},
            "p50_ms": round(mode.p50_ms, 2),
            "p95_ms": round(mode.p95_ms, 2),
            "scores": {key: [round(value, _DIGITS) for value in scores] for key, scores in mode.scores.items()},
        }
        for mode in evaluation.modes
    }
    return {"name": evaluation.name, "at": evaluation.at, "state": dict(evaluation.state), "modes": modes}


def _runs(directory: Path) -> tuple[list[dict[str, Any]], str]:
    """The runs so far, oldest first, and what is wrong with the file."""
    path = directory / FILE
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
        if not all(map(_is_run, runs)) or not isinstance(runs, list):
            raise ValueError
    except FileNotFoundError:
        return [], ""
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [], f"{path} is damaged, so there is nothing to compare with; it starts anew."
    return runs, ""


def _is_run(run: dict[str, Any]) -> bool:
    """Whether a run is as `_written` writes it."""
    for mode in run["modes"].values():
        _ = [float(mode["p50_ms"]), *(float(value) for row in mode["scores"].values() for value in row)]
    return isinstance(run["name"], str) and isinstance(run["at"], int) and isinstance(run["state"], dict)


def _common(scores: Mapping[str, Sequence[float]], last: Mapping[str, Any], mode: str) -> list[str]:
    before = last["modes"].get(mode, {}).get("scores", {})
    return [key for key in scores if key in before]


def _differences(last: Mapping[str, Any], evaluation: Evaluation) -> Iterator[Difference]:
    for mode in evaluation.modes:
        common = _common(mode.scores, last, mode.mode)
        if len(common) < _FEWEST_QUERIES:
            continue
        earlier = last["modes"][mode.mode]["scores"]
        for place, metric in enumerate(METRICS):
            before = [float(earlier[key][place]) for key in common]
            now = [round(mode.scores[key][place], _DIGITS) for key in common]
            error = stdev(b - a for a, b in zip(before, now, strict=True)) / math.sqrt(len(common))
            noise = max(_ERRORS * error, _FEWEST_QUERIES / len(common))
            yield Difference(mode.mode, metric, fmean(before), fmean(now), noise)


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name, "nothing"), now.get(name, "nothing")
        if old != new:
            yield f"{name}: {old} -> {new}"


def _latencies(last: Mapping[str, Any], evaluation: Evaluation) -> Iterator[str]:
    """Times that are far from what they were: told, never judged, for another program may have been busy."""
    for mode in evaluation.modes:
        before = last["modes"].get(mode.mode, {}).get("p50_ms")
        if before and not 1 / _SLOWER <= mode.p50_ms / before <= _SLOWER:
            yield f"p50 of {mode.mode}: {before:.1f} ms -> {mode.p50_ms:.1f} ms"
