"""A client that speaks JSON-RPC line by line, so that it can also say what no real client would."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench import environment_for

TESTS = Path(__file__).parents[2]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Lines:
    """A process and the two ends of its pipe."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin
        assert process.stdout
        self.process, self.stdin, self.stdout = process, process.stdin, process.stdout

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.stdin.write(line + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.stdout.readline()
        assert line, "the server has closed its end"
        message = json.loads(line)
        assert isinstance(message, dict)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, request: int) -> dict[str, Any]:
        """The next answer to this request; what comes before it is dropped."""
        while (message := self.receive()).get("id") != request:
            pass
        return message

    def ask(self, request: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"id": request, "method": method, "params": params})
        return self.answer(request)

    def open(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "lines", "version": "1"}
        got = self.ask(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send({"method": "notifications/initialized"})
        return got

    def call(self, request: int, tool: str, arguments: Mapping[str, Any], **meta: Any) -> None:
        params = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
        self.send({"id": request, "method": "tools/call", "params": params})

    def end(self) -> int:
        self.stdin.close()
        return self.process.wait(60)


@contextmanager
def lines(command: Sequence[str], folder: Path, **environment: str) -> Iterator[Lines]:
    """Start this and talk to it; what it says on stderr is in `folder/stderr`."""
    env = environment_for(folder) | {"PYTHONPATH": str(TESTS)} | environment
    pipe = subprocess.PIPE
    with (folder / "stderr").open("wb") as log:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, env=env)
        try:
            yield Lines(process)
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream
                with suppress(BrokenPipeError):
                    stream.close()


def probe(folder: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("probe.py")), str(folder)]


def program(*arguments: str, name: str = "dowse") -> list[str]:
    """The real program under one of its names."""
    script = f"import sys; sys.argv[0] = {name!r}; from dowse.interfaces.cli import main; sys.exit(main())"
    return [sys.executable, "-c", script, *arguments]


def until(condition: Callable[[], bool]) -> None:
    """Wait for another process, but not for ever."""
    end, pause = time.monotonic() + 60, threading.Event()
    while not condition():
        assert time.monotonic() < end
        pause.wait(0.01)  # and leave the processor to it


def announced(folder: Path) -> str:
    """The address that a server says it serves, once it does."""
    until(lambda: "/mcp" in (folder / "stderr").read_text())
    return next(word for word in (folder / "stderr").read_text().replace(",", " ").split() if word.endswith("/mcp"))
