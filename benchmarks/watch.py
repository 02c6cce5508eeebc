"""How soon is a saved file found? `dowse watch` over a folder that is made up here, and a reader beside it.

    python benchmarks/watch.py [--files N] [--saves N] [--embed]

Files of about 4 KB in folders of 100, indexed by words; then files are saved one by one, and each time a
search by words is repeated until it finds the new word. CPU time is that of the watching process alone (from
/proc, so on Linux). Results go to benchmarks/results/watch.json.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dowse
from dowse import Engine, Query

RESULTS = Path(__file__).parent / "results"
FOLDER = 100  # files
WORDS = 5_000
SECTIONS, LENGTH = 4, 130  # words of a section
PAUSE = 0.02  # between two searches
IDLE = 5.0  # seconds
PATIENCE = 60.0


def main() -> int:
    """Make the files, watch them, save some, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--embed", action="store_true", help="also embed what is saved")
    parser.add_argument("--output", type=Path, default=RESULTS / "watch.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch).resolve()
        files = make_files(place / "files", options.files)
        results = measure(place, files, options.saves, embed=options.embed)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"version": dowse.__version__, "files": options.files} | results, indent=2))
    for name, value in results.items():
        print(f"{name:<42}{value:>14.4f}")
    return 0


def make_files(folder: Path, count: int) -> list[Path]:
    """Notes of random words, the same every time."""
    chance = random.Random(1)  # noqa: S311  # the same files every time
    words = [made_up(chance, chance.randint(3, 9)) for _ in range(WORDS)]
    files = []
    for number in range(count):
        file = folder / f"{number // FOLDER:03}" / f"{number:05}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        sections = [f"## Part {part}\n\n{' '.join(chance.choices(words, k=LENGTH))}\n" for part in range(SECTIONS)]
        file.write_text("\n".join([f"# Note {number}\n", *sections]))
        files.append(file)
    return files


def made_up(chance: random.Random, length: int = 16) -> str:
    """A word that nobody uses."""
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=length))


def measure(place: Path, files: list[Path], saves: int, *, embed: bool) -> dict[str, float]:
    """Every figure, by name."""
    index, chance = place / "index", random.Random(2)  # noqa: S311  # the same
    with dowse.open(index) as engine:
        engine.add_collection(place / "files", name="bench")
        engine.index("bench")
    with watching(index, [] if embed else ["--no-embed"]) as (process, batches), dowse.open(index) as reader:
        caught_up = next(batch for batch in batches if batch["whole"])
        results = {"catching up, s": caught_up["seconds"]}
        before = cpu_of(process)
        time.sleep(IDLE)
        results["idle, CPU-ms per s"] = (cpu_of(process) - before) / IDLE * 1_000
        before = cpu_of(process)
        waits = [save(reader, chance.choice(files), made_up(chance)) for _ in range(saves)]
        cpu = (cpu_of(process) - before) / saves
    return results | {
        "saved to found, median s": statistics.median(waits),
        "saved to found, longest s": max(waits),
        "per save, CPU-s": cpu,
    }


def save(reader: Engine, file: Path, word: str) -> float:
    """Change a file as editors do, and search until the change is found; returns how long that took."""
    draft = file.with_suffix(".draft")
    draft.write_text(f"{file.read_text()}\nA new word: {word}.\n")
    started = time.monotonic()
    draft.replace(file)
    while not reader.search(Query(word, mode="lex", fresh="ignore")).hits:
        if time.monotonic() - started > PATIENCE:
            raise SystemExit(f"{file.name} was not found within {PATIENCE:g} s")
        time.sleep(PAUSE)
    return time.monotonic() - started


@contextmanager
def watching(index: Path, options: list[str]) -> Iterator[tuple[int, Iterator[dict[str, float]]]]:
    """A watcher in a process of its own; its process id, and what it says of its batches."""
    command = [sys.executable, "-m", "dowse", "--index", str(index), "watch", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield process.pid, (json.loads(line) for line in process.stdout or ())
        finally:
            process.terminate()


def cpu_of(process: int) -> float:
    """CPU-seconds of a process so far."""
    fields = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
