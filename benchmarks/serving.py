"""What does an MCP client wait for? The start of a server on stdio, and its calls over a folder that is made up here.

    python benchmarks/serving.py [--files N] [--starts N] [--calls N] [--index DIR]

Times are CPU time of the server's process, from /proc, so on Linux. The start is measured until `tools/list` is
answered. What a call costs beyond the engine is its time in the server less that of the same call to an engine in
this process. Files are indexed by words alone. Results go to benchmarks/results/serving.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dowse
from dowse import Engine, Query
from watch import RESULTS, cpu_of, make_files

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
WARM = 20  # calls before those that count


class Client:
    """Speaks JSON-RPC with a server of ours, line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._asked = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self._asked += 1
        self.send({"id": self._asked, "method": method, "params": params})
        assert self.process.stdout is not None  # noqa: S101  # it is a pipe
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"{method} failed: {answer}")
        return answer

    def send(self, message: dict[str, Any]) -> None:
        """Send any message."""
        assert self.process.stdin is not None  # noqa: S101  # it is a pipe
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def served(index: Path, dialect: str) -> Iterator[Client]:
    """A server that has shown its tools."""
    command = [sys.executable, "-m", "dowse", "--index", str(index), "mcp", "--no-daemon", "--dialect", dialect]
    environment = os.environ | {"DOWSE_EMBEDDER": "hashed"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        client = Client(process)
        client.ask("initialize", **HELLO)
        client.send({"method": "notifications/initialized"})
        client.ask("tools/list")
        yield client


def main() -> int:
    """Make the files, ask, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--index", type=Path, help="where to make files and index, or find those of an earlier run")
    parser.add_argument("--output", type=Path, default=RESULTS / "serving.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = (options.index or Path(scratch)).resolve()
        if not (place / "index").is_dir():
            make_files(place / "files", options.files)
            with dowse.open(place / "index") as engine:
                engine.add_collection(place / "files", name="bench")
                engine.index("bench")
        results = starts(place / "index", options.starts) | calls(place / "index", options.calls)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"version": dowse.__version__, "files": options.files} | results, indent=2))
    for name, value in results.items():
        print(f"{name:<60}{value:>10.3f}")
    return 0


def starts(index: Path, count: int) -> dict[str, float]:
    """Until the tools are listed, per dialect."""
    return {
        f"start to tools/list, {dialect}, CPU-s": statistics.median(start(index, dialect) for _ in range(count))
        for dialect in ("dowse", "qmd")
    }


def start(index: Path, dialect: str) -> float:
    """CPU-seconds of one."""
    with served(index, dialect) as client:
        return cpu_of(client.process.pid)


def calls(index: Path, count: int) -> dict[str, float]:
    """Each tool of the qmd dialect, and what it costs beyond the engine."""
    with dowse.open(index) as engine, served(index, "qmd") as client:
        names = [info.file for info in engine.documents(limit=count + WARM)]
        twenty = ",".join(names[:20])
        asked: dict[str, tuple[dict[str, Any], Callable[[Engine], object]]] = {
            "get": ({"file": names[-1]}, lambda engine: engine.get(names[-1])),
            "multi_get": ({"pattern": twenty}, lambda engine: engine.get_many(twenty, max_bytes=10_240)),
            "status": ({}, lambda engine: engine.stats()),
            "search": (
                {"query": "note 77"},
                lambda engine: engine.search(
                    Query("note 77", mode="lex", per_document=1, verdict=False, fresh="ignore")
                ),
            ),
        }
        results = {}
        for tool, (arguments, call) in asked.items():
            served_ms = 1e3 * in_server(client, tool, arguments, count)
            beyond = served_ms - 1e3 * in_engine(engine, call, count)
            results[f"{tool}{' of 20 files' if tool == 'multi_get' else ''}, CPU-ms"] = served_ms
            results[f"of it beyond the engine, {tool}, CPU-ms"] = beyond
        return results


def in_server(client: Client, tool: str, arguments: dict[str, Any], count: int) -> float:
    """CPU-seconds of one call, on average."""
    for _ in range(WARM):
        client.ask("tools/call", name=tool, arguments=arguments)
    before = cpu_of(client.process.pid)
    for _ in range(count):
        client.ask("tools/call", name=tool, arguments=arguments)
    return (cpu_of(client.process.pid) - before) / count


def in_engine(engine: Engine, call: Callable[[Engine], object], count: int) -> float:
    """The same without a server."""
    for _ in range(WARM):
        call(engine)
    before = time.process_time()
    for _ in range(count):
        call(engine)
    return (time.process_time() - before) / count


if __name__ == "__main__":
    sys.exit(main())
