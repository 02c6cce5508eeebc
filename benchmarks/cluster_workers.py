"""Two embedding workers against one, on a cluster that they share: how much faster, and is anything embedded twice?

Each worker is a process that embeds with one thread, as `dowse embed` with `workers = 1` does on a machine of its own.
Where they have fewer processors than themselves and the nodes need, the time on the clock tells of the machine; the
processor time of the busier worker tells what it would take with a core for each.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import dowse
from dowse import Config
from dowse.store.opensearch import Address, OpenSearchStore
from quality import write_files

ROUNDS = 2

Figures = dict[str, float]
Run = tuple[float, list[tuple[int, float]]]
"""Seconds until the last worker was done, and for each how many texts it embedded and its processor time."""

_WORKER = """
import json, sys, time
from dataclasses import replace
import dowse
from dowse import Config
with dowse.open(config=replace(Config.load(), index=sys.argv[1], workers=1)) as engine:
    engine.embed_texts(["a text that loads the model"])
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.process_time()
    report = engine.embed()
    print(json.dumps([report.embedded, time.process_time() - started]), flush=True)
"""


def measure_workers(address: Address, url: str, judged: Path, texts: int) -> Figures:
    """One worker, two, and the same again; the better round of each counts."""
    config = replace(Config.load(), index=url)
    with tempfile.TemporaryDirectory() as folder, dowse.open(config=config) as engine:
        files = Path(folder)
        for name in sorted(write_files(judged, files))[texts:]:
            (files / name).unlink()
        engine.add_collection(files, name="set")
        engine.index("set")
        runs: dict[int, list[Run]] = {1: [], 2: []}
        for _ in range(ROUNDS):
            for count, measured in runs.items():
                store = OpenSearchStore(address)
                store.drop_vectors()
                store.close()
                measured.append(_run(count, url))
        vectors = engine.stats().vectors
    made = [sum(done for done, _ in workers) for measured in runs.values() for _, workers in measured]
    one, two = (min(runs[count], key=lambda run: run[0]) for count in (1, 2))
    alone, busier = (min(max(busy for _, busy in workers) for _, workers in runs[count]) for count in (1, 2))
    return {
        "texts": float(vectors),
        "embedded by the first of two": float(two[1][0][0]),
        "embedded by the second of two": float(two[1][1][0]),
        "embedded twice, at most": float(max(made) - vectors),
        "one worker, s": one[0],
        "two workers, s": two[0],
        "times as fast by the clock": one[0] / two[0],
        "one worker, CPU-s": alone,
        "the busier of two workers, CPU-s": busier,
        "times as fast with a core for each": alone / busier,
    }


def _run(count: int, url: str) -> Run:
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for worker in workers:
        _line(worker)
    started = time.monotonic()
    for worker in workers:
        worker.stdin.close()  # type: ignore[union-attr]  # it is a pipe
    done = [tuple(json.loads(_line(worker))) for worker in workers]
    seconds = time.monotonic() - started
    for worker in workers:
        worker.wait()
    return seconds, done


def _line(worker: "subprocess.Popen[str]") -> str:
    line = worker.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
    if not line:
        raise SystemExit("A worker failed; its reason is above.")
    return line
