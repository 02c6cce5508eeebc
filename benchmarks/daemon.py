"""What does a further client of an index cost? Thin clients beside one daemon, and a client that does it all alone.

    python benchmarks/daemon.py [FOLDER] [--clients N] [--starts N]

Processor time of a start is that of the client's process from its first instruction to the answer to `initialize`, of
the daemon it does not count. Memory is what the process has in memory then (RSS), and for all clients together the
same without what they share (PSS), as Linux tells both; the daemon has loaded its model. Results go to
benchmarks/results/daemon.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dowse
from dowse.interfaces.daemon.meeting import ask, endpoints

RESULTS = Path(__file__).parent / "results"
MB = 1 << 20
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Client:
    """One process of `dowse mcp` after the handshake."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        command = [str(Path(sys.executable).with_name("dowse")), "mcp", *options]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("initialize", HELLO)
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        self.cpu_ms = 1_000 * sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        """One line."""
        assert self.process.stdin  # noqa: S101 - asked for above
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to the only request under way."""
        assert self.process.stdout  # noqa: S101 - asked for above
        self.send({"id": 1, "method": method, "params": params})
        while (answer := json.loads(self.process.stdout.readline())).get("id") != 1:
            pass
        return dict(answer["result"])

    def close(self) -> None:
        """Leave as clients do."""
        self.process.communicate()


def memory(pid: int) -> tuple[int, int]:
    """RSS and PSS in bytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    found = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
    return found["Rss"], found["Pss"]


def main() -> int:
    """Measure, print a table, write it; 1 where a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs"))
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--output", type=Path, default=RESULTS / "daemon.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        env = os.environ | {
            "DOWSE_INDEX": f"{scratch}/index",
            "DOWSE_CONFIG": os.devnull,
            "XDG_RUNTIME_DIR": scratch,
            "DOWSE_DAEMON": "on",
        }
        subprocess.run(
            [sys.executable, "-m", "dowse", "collection", "add", str(options.folder.resolve()), "-q"],
            env=env,
            check=True,
        )
        try:
            results = measure(env, options.clients, options.starts)
        finally:
            for endpoint in endpoints(Path(scratch, "dowse")):
                ask(endpoint, "stop")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"version": dowse.__version__} | results, indent=2))
    for name, value in results.items():
        print(f"{name:<50}{value:>12,}")
    return int(results["thin start, CPU-ms"] > 150 or results["thin client, MB"] > 40)  # noqa: PLR2004 - the budgets


def measure(env: dict[str, str], clients: int, starts: int) -> dict[str, float]:
    """All figures by name."""
    with ExitStack() as stack:
        question = {"name": "search", "arguments": {"query": "how are results ranked?"}}
        alone = Client(env, "--no-daemon")
        alone.ask("tools/call", question)
        alone_memory = memory(alone.process.pid)[0]
        alone.close()
        first = Client(env)
        stack.callback(first.close)
        first.ask("tools/call", question)
        starting = []
        for _ in range(starts):
            one = Client(env)
            starting.append(one.cpu_ms)
            one.close()
        more = [Client(env) for _ in range(clients)]
        for client in more:
            stack.callback(client.close)
            client.ask("tools/call", question)
        thin = [memory(client.process.pid) for client in more]
        (endpoint,) = endpoints(Path(env["XDG_RUNTIME_DIR"], "dowse"))
        return {
            "thin start, CPU-ms": round(statistics.median(starting)),
            "start without a daemon, CPU-ms": round(alone.cpu_ms),
            "thin client, MB": round(max(rss for rss, _ in thin) / MB, 1),
            f"{clients} thin clients, MB": round(sum(rss for rss, _ in thin) / MB),
            f"{clients} thin clients without what they share, MB": round(sum(pss for _, pss in thin) / MB),
            f"daemon with {clients + 1} clients, MB": round(memory(endpoint["pid"])[0] / MB),
            "a client without a daemon, MB": round(alone_memory / MB),
        }


if __name__ == "__main__":
    sys.exit(main())
