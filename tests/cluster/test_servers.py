"""Several servers on one cluster: whichever is asked answers, and one that is killed takes nothing with it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from contract.emptied import empty
from dowse.store.opensearch import Address, OpenSearchStore
from workbench import environment_for

FRUITS = ("apple", "banana", "cherry", "damson", "elderberry", "fig", "grape")
"""Words that have no part in common."""
TOKEN = "open-sesame"  # noqa: S105  # of servers that live for a test


@contextmanager
def server(url: str, folder: Path) -> Iterator[tuple["subprocess.Popen[str]", httpx2.Client]]:
    """`dowse server` in a process of its own, and a client of it."""
    command = [sys.executable, "-m", "dowse", "server", "--transport", "http", "--port", "0", "--token", TOKEN]
    environment = {**environment_for(folder), "DOWSE_INDEX": url}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            said = ""
            for line in process.stderr:
                said += line
                if found := re.search(r"Serving MCP at (http://[^/]+)/mcp", line):
                    break
            else:
                pytest.fail(said)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with httpx2.Client(base_url=found[1], headers=headers, timeout=60) as client:
                yield process, client
        finally:
            process.kill()


def found_by(client: httpx2.Client, words: str) -> list[str]:
    answer = client.post("/api/v1/search", json={"query": words, "mode": "lex"})
    assert answer.status_code == 200, answer.text
    return [each["file"] for each in answer.json()["data"]["results"]]


@pytest.fixture
def url(address: Address) -> str:
    OpenSearchStore(address).close()
    empty(address)
    hosts = ",".join(f"{host}:{port}" for host, port in address.hosts)
    return f"opensearch://{hosts}/{address.prefix}?shards={address.shards}&replicas={address.replicas}"


def test_what_one_server_was_given_the_others_answer_with_at_once_and_after_it_is_killed(
    url: str, tmp_path: Path
) -> None:
    with server(url, tmp_path / "one") as (process, one), server(url, tmp_path / "other") as (_, other):
        assert one.post("/api/v1/collections", json={"name": "notes"}).status_code == 201
        for number, fruit in enumerate(FRUITS[:6]):
            writer, reader = (one, other) if number % 2 else (other, one)
            path = f"/api/v1/collections/notes/documents/{number}.md"
            assert writer.put(path, content=fruit.encode()).status_code == 201
            assert found_by(reader, fruit) == [f"notes/{number}.md"]
        page = one.get("/api/v1/documents?limit=4").json()
        rest = other.get("/api/v1/documents", params={"limit": 4, "cursor": page["meta"]["next_cursor"]}).json()
        listed = [each["file"] for each in [*page["data"], *rest["data"]]]
        assert listed == [f"notes/{number}.md" for number in range(6)]
        process.kill()
        process.wait()
        assert found_by(other, FRUITS[1]) == ["notes/1.md"]
        assert other.put("/api/v1/collections/notes/documents/6.md", content=FRUITS[6].encode()).status_code == 201
        assert found_by(other, FRUITS[6]) == ["notes/6.md"]
