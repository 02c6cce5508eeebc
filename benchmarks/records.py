"""What does a class of values cost: to declare, and for each object? Records beside frozen data classes.

    python benchmarks/records.py

Both are declared and made by turns, each several times, and the best of them counts. Results go to
benchmarks/results/records.json.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import dowse
from dowse.records import record
from quality import RESULTS

ROUNDS = 15
CLASSES, OBJECTS = 50, 20_000
KINDS: dict[str, Callable[[type], type]] = {"data class": dataclass(frozen=True, slots=True), "record": record}


def main() -> int:
    """Measure, print a table and remember it."""
    declared = {name: best(lambda kind=kind: [declare(kind) for _ in range(CLASSES)]) for name, kind in KINDS.items()}
    classes = {name: declare(kind) for name, kind in KINDS.items()}
    made = {
        name: best(lambda made=made: [made(1, 2, 0.5, 0.7) for _ in range(OBJECTS)]) for name, made in classes.items()
    }
    figures = {f"declared, {name}, us": seconds * 1e6 / CLASSES for name, seconds in declared.items()}
    figures |= {f"made, {name}, ns": seconds * 1e9 / OBJECTS for name, seconds in made.items()}
    figures["declared, data class / record"] = declared["data class"] / declared["record"]
    figures["made, data class / record"] = made["data class"] / made["record"]
    for name, value in figures.items():
        print(f"{name:<34}{value:>10.2f}")
    (RESULTS / "records.json").write_text(json.dumps({"version": dowse.__version__, **figures}, indent=2) + "\n")
    return 0


def declare(kind: Callable[[type], type]) -> type:
    """A class of five fields, as one leg of a hit has."""

    class Leg:
        """One of many."""

        name: int
        rank: int
        raw: float
        value: float
        weight: float = 1.0

    return kind(Leg)


def best(work: Callable[[], object]) -> float:
    """CPU-seconds of the quickest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
