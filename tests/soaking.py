"""Many processes on one index for as long as one likes: four readers beside `update`, `watch`, MCP and HTTP that write.

Every document says its version. What a writer has acknowledged is noted here; whoever asks afterwards, in any process,
must see that version or a later one. Processes are killed at random and started again. Run as a program, this is a
reader: `python soaking.py FOLDER` answers each name on stdin with the versions that `get` and a search find.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowse import Query
from workbench import environment_for, open_at

KINDS = ("update", "watch", "mcp", "http", "read")
"""Operations of which there must be some."""
PER_WRITER = 3
"""Documents that each writer replaces again and again."""
_PATIENCE = 90.0
_CHANCE_OF_DEATH = 0.08
_PORT = re.compile(r"http://(127\.0\.0\.1:\d+)/mcp")


@dataclass
class Tally:
    """What happened."""

    operations: Counter[str] = field(default_factory=Counter)
    processes: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def numbers(self) -> dict[str, int]:
        """All of it, added up."""
        writes = sum(self.operations[kind] for kind in KINDS if kind != "read")
        return {
            "processes started": self.processes.total(),
            "killed": self.kills.total(),
            "writes": writes,
            "reads": self.operations["read"],
            "errors": len(self.errors),
        }


def text_of(name: str, version: int) -> str:
    """A document that says which version it is."""
    return f"# {name}\n\nThe {name} is at version {version} now.\n"


def version_in(text: str) -> int:
    """What it says."""
    return int(text.split("version ")[1].split(maxsplit=1)[0])


class Soak:
    """The writers, the readers, and what is acknowledged."""

    def __init__(self, folder: Path, seed: int, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = environment_for(folder) | env
        self.chance = random.Random(seed)  # noqa: S311  # a choice that can be repeated
        self.tally = Tally()
        self._acknowledged: dict[str, int] = {}
        self._versions: Counter[str] = Counter()
        self._guard = threading.Lock()
        self._over = threading.Event()

    def run(self, seconds: float, readers: int) -> Tally:
        """Let everybody work for this time, counted from when all of them do, then look at what is left."""
        with open_at(self.folder) as engine:
            for name in ("walked", "watched"):
                (self.folder / name).mkdir()
                engine.add_collection(self.folder / name, name=name)
            (self.folder / "given").mkdir()
            engine.add_collection(None, name="given")
        work: list[Callable[[], None]] = [self._update, self._watch, self._mcp, self._http, *[self._read] * readers]
        threads = [threading.Thread(target=self._guarded, args=(each,)) for each in work]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 2 * _PATIENCE
        while not set(KINDS) <= set(self.tally.operations) and time.monotonic() < deadline:
            if self._over.wait(0.05):
                break
        self._over.wait(seconds)
        self._over.set()
        for thread in threads:
            thread.join()
        self._check_the_end()
        return self.tally

    # What everybody does

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  # whatever it is, the test tells
            self._fail(f"{work.__name__}: {type(error).__name__}: {error}")

    def _fail(self, message: str) -> None:
        self.tally.errors.append(message)
        self._over.set()

    def _start(self, what: str, command: list[str], **pipes: Any) -> "subprocess.Popen[str]":
        self.tally.processes[what] += 1
        log = (self.folder / f"{what}.stderr").open("a")
        with log:
            return subprocess.Popen(command, env=self.env, stderr=log, encoding="utf-8", **pipes)

    def _dowse(self, what: str, *arguments: object, **pipes: Any) -> "subprocess.Popen[str]":
        return self._start(what, [sys.executable, "-m", "dowse", *map(str, arguments)], **pipes)

    def _dies(self) -> bool:
        return self.chance.random() < _CHANCE_OF_DEATH

    def _kill(self, what: str, process: "subprocess.Popen[str]") -> None:
        self.tally.kills[what] += 1
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()

    def _acknowledge(self, what: str, documents: list[str], version: int) -> None:
        self.tally.operations[what] += 1
        with self._guard:
            self._acknowledged.update(dict.fromkeys(documents, version))

    def _write(self, collection: str, who: str, version: int) -> list[str]:
        """The next version of the documents of one writer, replaced as editors do."""
        names = [f"{who}{number}" for number in range(PER_WRITER)]
        for name in names:
            draft = self.folder / collection / f".{name}"
            draft.write_text(text_of(name, version), encoding="utf-8")
            draft.replace(self.folder / collection / f"{name}.md")
        return [f"{collection}/{name}.md" for name in names]

    # The writers

    def _update(self) -> None:
        version = 0
        while not self._over.is_set():
            version += 1
            documents = self._write("walked", "cli", version)
            process = self._dowse("update", "update", "-q", "-c", "walked", stdout=subprocess.DEVNULL)
            if self._dies():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self.chance.random())
                if process.poll() is None:
                    self._kill("update", process)
                    continue
            if process.wait(_PATIENCE):
                self._fail(f"update ended with {process.returncode}")
            else:
                self._acknowledge("update", documents, version)

    def _watch(self) -> None:
        version = 0
        with open_at(self.folder) as engine:
            process = self._dowse("watch", "watch", "-q", "-c", "watched")
            try:
                while not self._over.is_set():
                    version += 1
                    documents = self._write("watched", "eye", version)
                    if self._dies():
                        self._kill("watch", process)
                        process = self._dowse("watch", "watch", "-q", "-c", "watched")
                    deadline = time.monotonic() + _PATIENCE
                    known: dict[str, int] = {}
                    while not all(known.get(each) == version for each in documents):
                        if time.monotonic() > deadline or process.poll() is not None:
                            self._fail(f"watch did not see version {version}; exit {process.poll()}")
                            return
                        with open_at(self.folder) as newcomer:
                            known = {
                                info.file: version_in(newcomer.get(info.file).text)
                                for info in newcomer.documents("watched")
                            }
                        self._over.wait(0.05)
                    self._acknowledge("watch", documents, version)
                    assert engine.stats().documents >= PER_WRITER
            finally:
                process.terminate()
                process.wait(_PATIENCE)

    def _mcp(self) -> None:
        """Through the daemon, which is killed now and then: the client stays."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = self._dowse("mcp", "mcp", "--dialect", "rag", "--allow-root", self.folder, **pipes)
        assert process.stdin
        assert process.stdout
        request = 0

        def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            nonlocal request
            request += 1
            said = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
            process.stdin.write(json.dumps(said) + "\n")
            process.stdin.flush()
            if method == "tools/call" and self._dies():
                self._kill_daemon()
            while (answer := json.loads(process.stdout.readline())).get("id") != request:
                pass
            return dict(answer)

        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        ask("initialize", client)
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        self._ingesting("mcp", lambda params: ask("tools/call", params))
        process.stdin.close()
        if process.wait(_PATIENCE):
            self._fail(f"mcp ended with {process.returncode}")
        process.stdout.close()

    def _kill_daemon(self) -> None:
        from dowse.interfaces.daemon.meeting import endpoints

        for endpoint in endpoints(Path(self.env["XDG_RUNTIME_DIR"]) / "dowse"):
            with suppress(ProcessLookupError):
                os.kill(endpoint["pid"], 9)
                self.tally.kills["daemon"] += 1

    def _http(self) -> None:
        import httpx2

        while not self._over.is_set():
            log = self.folder / "http.stderr"
            log.unlink(missing_ok=True)
            arguments = ("--transport", "http", "--port", "0", "--token", "t", "--allow-root", self.folder)
            process = self._dowse("http", "server", *arguments)
            try:
                while not (found := _PORT.search(log.read_text())):
                    if process.poll() is not None:
                        self._fail(f"the HTTP server ended: {log.read_text()}")
                        return
                    time.sleep(0.05)
                headers = {
                    "Authorization": "Bearer t",
                    "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": "2025-06-18",
                }
                with httpx2.Client(base_url=f"http://{found[1]}", headers=headers, timeout=_PATIENCE) as http:

                    def call(params: dict[str, Any], http: httpx2.Client = http) -> dict[str, Any]:
                        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                        body = http.post("/rag/mcp", json=said).text
                        return dict(json.loads(body[body.index("{") :]))

                    self._ingesting("http", call, until_death=True)
            finally:
                self._kill("http", process)

    def _ingesting(
        self, who: str, call: Callable[[dict[str, Any]], dict[str, Any]], *, until_death: bool = False
    ) -> None:
        while not self._over.is_set():
            self._versions[who] += 1
            version = self._versions[who]
            for document in self._write("given", who, version):
                arguments = {"uri": (self.folder / document).as_uri(), "collection": "given"}
                answer: dict[str, Any] = {}
                for _ in range(10):
                    answer = call({"name": "rag_ingest", "arguments": arguments})
                    if "unknown" not in answer.get("error", {}).get("message", ""):
                        break
                    self.tally.operations["writes told to be unknown, repeated"] += 1
                if "error" in answer or answer["result"].get("isError"):
                    self._fail(f"{who}: {answer}")
                    return
                self._acknowledge(who, [f"given/{Path(document).name}"], version)
            if until_death and self._dies():
                return

    # The readers

    def _read(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        while not self._over.is_set():
            process = self._start("reader", [sys.executable, __file__, str(self.folder)], **pipes)
            assert process.stdin
            assert process.stdout
            due: dict[str, int] = {}
            while not self._over.is_set() and not (due and self._dies()):
                with self._guard:
                    due = dict(self._acknowledged)
                for document, version in due.items():
                    process.stdin.write(f"{document}\n")
                    process.stdin.flush()
                    line = process.stdout.readline()
                    seen = json.loads(line) if line else {}
                    if not seen or min(seen.values()) < version:
                        self._fail(f"{document} is at version {version}, a reader saw {seen or 'nothing'}")
                        break
                    self.tally.operations["read"] += 1
                self._over.wait(0.02)
            self._kill("reader", process)

    def _check_the_end(self) -> None:
        for log in sorted(self.folder.glob("*.stderr")):
            said = [line for line in log.read_text().splitlines() if "error" in line.lower() or "Traceback" in line]
            self.tally.errors += [f"{log.name}: {line}" for line in said]
        with open_at(self.folder) as engine:
            for document, version in self._acknowledged.items():
                if version_in(engine.get(document).text) < version:
                    self.tally.errors.append(f"{document} lost version {version}")
            self.tally.errors += [each.message for each in engine.doctor(deep=True) if not each.ok]


def answer_names(folder: Path) -> None:
    """A reader: for each name, the versions that it sees."""
    with ExitStack() as stack:
        engine = stack.enter_context(open_at(folder))
        for line in sys.stdin:
            name = line.strip()
            word = name.rpartition("/")[2].removesuffix(".md")
            hits = engine.search(Query(word, mode="lex", fresh="ignore")).hits
            document = engine.get(name)
            found = [version_in(hit.chunk.text) for hit in hits if hit.info.id == document.info.id]
            seen = {"search": max(found, default=-1), "get": version_in(document.text)}
            print(json.dumps(seen), flush=True)  # noqa: T201  # the answer


if __name__ == "__main__":
    answer_names(Path(sys.argv[1]))
