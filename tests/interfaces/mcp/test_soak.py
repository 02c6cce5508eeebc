"""Four clients and an indexing process on one index, all at once: no error, and what is acknowledged is found."""

import json
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

from interfaces.mcp.lines import lines, program
from workbench import environment_for, files_found, many, open_at, problems, write

CLIENTS = 4
FILES = 5  # new ones per run of the indexing process


class Indexing:
    """Runs `update` again and again, each time over a few more files; what went wrong is kept for the end."""

    def __init__(self, folder):
        self.folder, self.runs, self.failures = folder, 0, []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self):
        while not self._ended.is_set() and not self.failures:
            self.runs += 1
            write(self.folder / "walked", {f"run{self.runs}/{path}": text for path, text in many(FILES).items()})
            done = subprocess.run(
                [sys.executable, "-m", "dowse", "update", "--quiet"],
                env=environment_for(self.folder),
                capture_output=True,
                check=False,
            )
            if done.returncode:
                self.failures.append(done.stderr)


def answered(client, number, tool, **arguments):
    """The structured result of a call that must not fail."""
    client.call(number, tool, arguments)
    result = client.answer(number)["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


@pytest.mark.covers("mcp-soak")
@pytest.mark.parametrize(
    "seconds", [8, pytest.param(120, marks=[pytest.mark.slow, pytest.mark.timeout(600)])], ids=lambda value: f"{value}s"
)
def test_what_one_client_ingests_every_client_finds_at_once_while_others_write(tmp_path, seconds, capsys):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "walked", many(FILES)), name="walked")
        engine.add_collection(None, name="given")
        engine.index("walked")
    settings = {name: value for name, value in environment_for(tmp_path).items() if name.startswith("DOWSE_")}
    waits, rounds, searches = [], 0, 0
    with ExitStack() as stack:
        clients = []
        for number in range(CLIENTS):
            log = tmp_path / f"client{number}"
            log.mkdir()
            clients.append(stack.enter_context(lines(program("mcp"), log, **settings)))
        for client in clients:
            client.open()
        indexing = stack.enter_context(Indexing(tmp_path))
        end = time.monotonic() + seconds
        while time.monotonic() < end or rounds < CLIENTS:
            word = f"quagga{rounds}x"
            writer = clients[rounds % CLIENTS]
            content = {"content": f"# {word}\n\nA {word} was seen.\n", "name": f"{word}.md", "collection": "given"}
            made = answered(writer, 10 * rounds, "ingest", **content)
            while made["state"] == "running":  # where writers queue for seconds, the job is what acknowledges
                (made,) = answered(writer, 10 * rounds, "status", job=made.get("job", made.get("id")))["jobs"]
            assert made["state"] == "done", made
            acknowledged = time.monotonic()
            for client in clients:  # all ask before any is answered
                client.call(10 * rounds + 1, "search", {"query": word, "mode": "lex"})
            for client in clients:
                result = client.answer(10 * rounds + 1)["result"]["structuredContent"]
                waits.append(time.monotonic() - acknowledged)
                assert [each["file"] for each in result["results"]] == [f"given/{word}.md"]
                searches += 1
            assert answered(writer, 10 * rounds + 2, "status")["documents"] > rounds
            rounds += 1
        for client in clients:
            assert client.end() == 0
    assert indexing.failures == []
    with open_at(tmp_path) as engine:
        assert engine.stats().documents == rounds + FILES * (1 + indexing.runs)
        assert len(files_found(engine, "zebra", limit=100_000)) == FILES * (1 + indexing.runs)
        assert problems(engine) == []
    for number in range(CLIENTS):
        assert "Traceback" not in (tmp_path / f"client{number}" / "stderr").read_text()
    figures = {
        "seconds": seconds,
        "documents ingested by clients": rounds,
        "runs of the indexing process": indexing.runs,
        "searches": searches,
        "acknowledged to found, longest s": round(max(waits), 3),
        "acknowledged to found, median s": round(sorted(waits)[len(waits) // 2], 3),
    }
    with capsys.disabled():
        print(f"\n{json.dumps(figures)}")  # noqa: T201  # what the issue asks for
