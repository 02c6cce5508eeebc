"""What `make run` and `make demo` start: a server that answers until it is interrupted, and one answer."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from interfaces.mcp.talking import connected
from workbench import environment_for, write

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "run.py"


@pytest.fixture
def notes(tmp_path):
    return write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen tea wants water below eighty degrees.\n"})


def command(tmp_path: Path, *options: str) -> list[str]:
    return [sys.executable, str(SCRIPT), "--keep", str(tmp_path / "kept"), *options]


@contextmanager
def running(tmp_path: Path, *options: str):
    """The script, once it serves, and everything that it has said until then."""
    with subprocess.Popen(
        command(tmp_path, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment_for(tmp_path),
    ) as process:
        try:
            said = ""
            assert process.stdout
            for line in process.stdout:
                said += line
                if line.startswith("Token for"):
                    break
            yield process, said
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_it_serves_what_it_printed_until_it_is_interrupted(tmp_path, notes):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with running(tmp_path, "--dir", str(notes), "--port", port) as (process, said):
            assert f"Port {port} is taken" in said
            pasted = json.loads(re.search(r"^\{$.*?^\}$", said, re.MULTILINE | re.DOTALL)[0])
            server = pasted["mcpServers"]["dowse"]
            assert f"Serving MCP at {server['url']}" in said
            token = server["headers"]["Authorization"].removeprefix("Bearer ")
            with connected(server["url"], "handshake", token) as talk:
                found = talk.call("search", {"query": "green tea", "mode": "lex"})["structuredContent"]
                assert "eighty degrees" in json.dumps(found)
                assert talk.call("ingest", {"content": "# Coffee\n", "name": "coffee.md"}).get("isError") is not True
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(60) == 0
            assert "Traceback" not in rest


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_the_second_run_takes_the_same_index_and_token(tmp_path, notes):
    tokens = []
    for verb in ("collection add", "update"):
        with running(tmp_path, "--dir", str(notes), "--port", "0") as (process, said):
            assert f"$ dowse {verb}" in said
            tokens.append(said.rsplit("index: ", 1)[1])
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    assert tokens[0] == tokens[1]


def test_a_demo_answers_one_question_and_ends(tmp_path, notes):
    done = subprocess.run(
        command(tmp_path, "--dir", str(notes), "--ask", "green tea"),
        check=True,
        capture_output=True,
        text=True,
        env=environment_for(tmp_path),
    )
    assert "notes/tea.md:" in done.stdout
    assert "Ask your own question" in done.stdout


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    done = subprocess.run(
        command(tmp_path, "--dir", str(tmp_path / "nowhere")), check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
