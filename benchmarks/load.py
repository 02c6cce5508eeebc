"""What does a search cost over HTTP, and does it hold under load? A real server, real connections, one machine.

    python benchmarks/load.py TEXTS [--passages N] [--clients N] [--seconds N] [--keep DIR]

TEXTS is a folder with judged collections, whose sentences become the files (see scale.py). First a few clients ask:
the CPU time of the server per request, less that of the same questions asked of the engine in a process, is what HTTP
costs. Then many clients ask at once, each again as soon as it is answered, while the server indexes another folder.
Results go to benchmarks/results/load.json.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dowse
from dowse import Config, Query
from quality import RESULTS
from scale import LARGE_NOTE, Writer, make_once, sentences_of

ONE_BY_ONE = 1_000
FEW = 4  # clients that keep a server awake: one alone lets it go cold between two questions
BLOCK = 100  # questions that are asked of one, then of the other
MORE = 4_000  # files that are indexed meanwhile
TOKEN = "load-test"  # noqa: S105  # of a server on this machine, for these minutes
LIMIT = 10
PASSAGES_PER_NOTE = 50  # of LARGE_NOTE bytes
LETTERS = re.compile(r"[A-Za-z]{4,}")


@dataclass
class Tally:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    found: int = 0


def main() -> int:
    """Make the files, measure, print a table and remember it; 1 where a request failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=Path, help="where to make the files; removed afterwards if not given")
    parser.add_argument("--output", type=Path, default=RESULTS / "load.json")
    options = parser.parse_args()
    sentences = sentences_of(options.texts)
    if not sentences:
        print("error: no sentences found\nhint: name a folder with judged collections (corpus.jsonl)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        place = (options.keep or Path(scratch)).resolve()
        place.mkdir(parents=True, exist_ok=True)
        prepare(place, Writer(sentences), options.passages)
        figures = measure(place, questions(sentences), options.clients, options.seconds)
    for name, value in figures.items():
        print(f"{name:<58}{value:>12.3f}" if isinstance(value, float) else f"{name:<58}{value:>12}", flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"version": dowse.__version__, **figures}, indent=2) + "\n")
    return 1 if figures["errors"] else 0


def prepare(place: Path, writer: Writer, passages: int) -> None:
    """The folder that is searched, indexed by words, and the one that is indexed meanwhile."""
    make_once(place / "files", lambda folder: writer.notes(folder, passages // PASSAGES_PER_NOTE + 1, LARGE_NOTE))
    make_once(place / "more", lambda folder: writer.notes(folder, MORE, LARGE_NOTE // 10))
    with dowse.open(config=config_of(place)) as engine:
        if not engine.known_collections():
            engine.add_collection(place / "files", name="bench")
            engine.index("bench")
        if any(each.name == "more" for each in engine.known_collections()):
            engine.remove_collection("more")


def questions(sentences: Sequence[str]) -> list[str]:
    """Two to four words of some sentence, as people type them; the same every time."""
    chance = random.Random(5)  # noqa: S311 - the same questions every time, not a secret
    made = []
    while len(made) < ONE_BY_ONE:
        words = LETTERS.findall(chance.choice(sentences))
        if len(words) >= 4:  # noqa: PLR2004  # enough to choose from
            made.append(" ".join(chance.sample(words, chance.randint(2, 4))))
    return made


def measure(place: Path, asked: Sequence[str], clients: int, seconds: float) -> dict[str, float | int]:
    """All figures."""
    with server(place) as (port, process):
        engine_ms, server_ms, alone = one_by_one(place, asked, port, process)
        with indexing(port, place) as runs:
            under_load = asyncio.run(asking(port, asked, clients, seconds))
        passages = call(port, "GET", "/api/v1/collections/bench")["chunks"]
        helpers = len(helpers_of(process))
    times = sorted(under_load.seconds)
    return {
        "passages": passages,
        "engine call, CPU-ms": engine_ms,
        "request, CPU-ms of the server": server_ms,
        "HTTP beyond the engine call, CPU-ms": server_ms - engine_ms,
        "few clients, p50 ms": percentile(sorted(alone.seconds), 50),
        "clients at once": clients,
        "processes that help": helpers,
        "seconds": seconds,
        "index jobs begun meanwhile": len(runs),
        "requests": len(times),
        "errors": under_load.errors + alone.errors,
        "requests per second": len(times) / seconds,
        "p50 ms": percentile(times, 50),
        "p99 ms": percentile(times, 99),
        "longest ms": percentile(times, 100),
        "load of the machine (1 minute)": os.getloadavg()[0],
    }


def one_by_one(place: Path, asked: Sequence[str], port: int, process: int) -> tuple[float, float, Tally]:
    """CPU-ms of the engine and of the server per question: the same ones, by turns, for the machine is shared."""
    engine_seconds, server_seconds, alone = 0.0, 0.0, Tally()
    with dowse.open(config=config_of(place)) as engine:

        def search(texts: Sequence[str]) -> None:
            for text in texts:
                engine.search(Query(text, "lex", limit=LIMIT, min_score=0.1, per_document=3, merge=True))

        search(asked[:BLOCK])
        asyncio.run(asking(port, asked[:BLOCK], FEW, None))
        for first in range(0, len(asked), BLOCK):
            block = asked[first : first + BLOCK]
            before = time.process_time()
            search(block)
            engine_seconds += time.process_time() - before
            before = cpu_of(process)
            tally = asyncio.run(asking(port, block, FEW, None))
            server_seconds += cpu_of(process) - before
            alone.seconds += tally.seconds
            alone.errors += tally.errors
    return engine_seconds * 1000 / len(asked), server_seconds * 1000 / len(asked), alone


# The server


@contextmanager
def server(place: Path) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its id."""
    command = [sys.executable, "-m", "dowse", "server", "--transport", "http", "--port", "0"]
    command += ["--token", TOKEN, "--allow-root", str(place), "--rate-limit", "1000000"]
    config = config_of(place)
    said = (place / "server.log").open("w+")
    environment = {**os.environ, "DOWSE_INDEX": str(config.index_dir), "DOWSE_EMBEDDER": config.embedder}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=said, env=environment)
    try:
        yield _port(process, Path(said.name)), process.pid
    finally:
        process.terminate()
        process.wait(30)
        said.close()


def _port(process: "subprocess.Popen[bytes]", log: Path) -> int:
    while process.poll() is None:
        found = re.search(r"Serving MCP at http://127\.0\.0\.1:(\d+)/", log.read_text())
        if found:
            try:
                call(int(found[1]), "GET", "/api/v1/status")
            except OSError:
                pass
            else:
                return int(found[1])
        time.sleep(0.05)
    raise SystemExit(f"the server ended: {log.read_text()}")


@contextmanager
def indexing(port: int, place: Path) -> Iterator[list[str]]:
    """While this is open, the server indexes the other folder, again and again."""
    jobs: list[str] = []
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            body = {"path": str(place / "more"), "name": "more", "update": False}
            call(port, "POST", "/api/v1/collections", body)
            jobs.append(call(port, "POST", "/api/v1/collections/more/update", {"embed": False})["id"])
            while call(port, "GET", f"/api/v1/jobs/{jobs[-1]}")["state"] == "running":
                if over.wait(0.5):
                    call(port, "DELETE", f"/api/v1/jobs/{jobs[-1]}")
                    return
            call(port, "DELETE", "/api/v1/collections/more")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield jobs
    finally:
        over.set()
        thread.join()


def call(port: int, method: str, path: str, body: object = None) -> Any:
    """One request to the API."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310  # our own server
        return json.load(answer)["data"]


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has used, all its threads and the processes that help it together."""
    ticks = 0
    for each in [str(process), *helpers_of(process)]:
        used = (Path("/proc") / each / "stat").read_text().rpartition(")")[2].split()
        ticks += int(used[11]) + int(used[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def helpers_of(process: int) -> list[str]:
    """The processes that it has started and that still run."""
    return (Path("/proc") / str(process) / "task" / str(process) / "children").read_text().split()


# The clients


async def asking(port: int, asked: Sequence[str], clients: int, seconds: float | None) -> Tally:
    """Clients that ask again as soon as they are answered: for so long, or each question once."""
    tally = Tally()
    until = None if seconds is None else time.monotonic() + seconds
    waiting = iter(asked)
    await asyncio.gather(*(_client(port, asked, number, waiting, until, tally) for number in range(clients)))
    return tally


async def _client(
    port: int, asked: Sequence[str], number: int, waiting: Iterator[str], until: float | None, tally: Tally
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    chance = random.Random(number)  # noqa: S311 - the same questions every time, not a secret
    while until is None or time.monotonic() < until:
        text = next(waiting, None) if until is None else chance.choice(asked)
        if text is None:
            break
        started = time.perf_counter()
        try:
            status, body = await _post(reader, writer, {"query": text, "mode": "lex", "limit": LIMIT})
        except (OSError, asyncio.IncompleteReadError):
            tally.errors += 1
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        tally.seconds.append(time.perf_counter() - started)
        tally.errors += status != 200  # noqa: PLR2004  # OK
        tally.found += b'"rank":1' in body
    writer.close()


async def _post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: object) -> tuple[int, bytes]:
    data = json.dumps(body).encode()
    head = "POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", answer)
    return int(answer[9:12]), await reader.readexactly(int(length[1]) if length else 0)


def percentile(times: Sequence[float], share: int) -> float:
    """In milliseconds, of sorted seconds."""
    return times[min(len(times) - 1, len(times) * share // 100)] * 1000 if times else 0.0


def config_of(place: Path) -> Config:
    """An index beside the files, with no model to load."""
    return Config.load(Path(os.devnull), env={}, index=str(place / "index"), embedder="hashed")


if __name__ == "__main__":
    sys.exit(main())
