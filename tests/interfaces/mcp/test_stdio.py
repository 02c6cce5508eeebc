"""Serving on stdin and stdout: what no client should send, what no tool should do, and who leaves when."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from dowse.interfaces.mcp import framing
from interfaces.mcp.lines import ENVELOPE, lines, probe, program, until
from workbench import open_at, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
    return folder


@pytest.fixture(scope="module")
def started(folder):
    """A server of the probe after the handshake, for tests that leave it as it is."""
    with lines(probe(folder), folder) as server:
        server.open()
        yield server


def said(answer):
    return json.loads(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
def test_old_and_newer_versions_with_a_handshake_are_spoken(folder, version):
    with lines(program("mcp", "--dialect", "qmd"), folder) as server:
        result = server.open(version)["result"]
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "qmd"
        assert set(result["capabilities"]) == {"tools", "resources", "prompts"}
        assert len(server.ask(1, "tools/list")["result"]["tools"]) == 6
        assert server.end() == 0


def test_the_version_without_a_handshake_is_spoken_on_the_same_pipe(folder):
    with lines(probe(folder), folder) as server:
        found = server.ask(1, "server/discover", _meta=ENVELOPE)["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert found["instructions"] == "1 documents"
        assert server.ask(2, "tools/list", _meta=ENVELOPE)["result"]["tools"]
        call = server.ask(3, "tools/call", name="echo", arguments={"text": "hi"}, _meta=ENVELOPE)
        assert call["result"]["structuredContent"] == {"said": "hi"}
        assert call["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "the-probe"
        assert server.end() == 0


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"nonsense", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/list"', None, -32700),
        (b"\xff\xfe\x00", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"[]", None, -32600),
        (b'"text"', None, -32600),
        (b'{"jsonrpc": "1.0", "id": 6, "method": "tools/list"}', 6, -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, -32600),
        (b'{"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": []}', 8, -32600),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "no/such/method"}', 9, -32601),
        (b'{"jsonrpc": "2.0", "id": 10, "method": "tools/call"}', 10, -32602),
        (b'{"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": {"name": 5}}', 11, -32602),
        (b'{"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": {"name": "nope"}}', 12, -32602),
        (
            b'{"jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": {"name": "echo", "arguments": 5}}',
            13,
            -32602,
        ),
        (b'{"jsonrpc": "2.0", "id": 14, "method": "tools/list", "params": {"cursor": "x"}}', 14, -32602),
        (b'{"jsonrpc": "2.0", "id": 15, "method": "prompts/get", "params": {"name": "nope"}}', 15, -32602),
        (b'{"jsonrpc": "2.0", "id": 16, "method": "prompts/get", "params": {"name": "greet"}}', 16, -32602),
        (b'{"jsonrpc": "2.0", "id": 17, "method": "resources/read", "params": {"uri": "probe://none"}}', 17, -32002),
    ],
)
def test_what_is_wrong_gets_the_error_of_the_protocol_and_the_server_goes_on(started, line, request_id, code):
    started.send(line)
    answer = started.receive()
    assert answer["error"]["code"] == code
    assert answer["id"] == request_id
    assert started.ask(100, "ping")["result"] == {}


def test_empty_lines_answers_to_nothing_and_unknown_notifications_are_ignored(started):
    started.send(b"", b"  ", {"id": 99, "result": {}}, {"method": "notifications/unknown"})
    started.send({"method": "notifications/cancelled", "params": {"requestId": [1]}})
    assert started.ask(101, "ping")["result"] == {}


def test_a_bug_of_ours_is_an_error_of_the_tool_that_tells_no_secrets(started, folder):
    answer = started.ask(1, "tools/call", name="crash", arguments={})["result"]
    assert answer["isError"] is True
    assert json.loads(answer["content"][0]["text"])["code"] == "internal"
    assert "secret" not in json.dumps(answer)
    assert "a secret of the house" in (folder / "stderr").read_text()


def test_nothing_but_protocol_reaches_stdout(started, folder):
    started.call(1, "noise", {})
    assert started.receive()["result"]["content"][0]["text"] == "quiet"
    log = (folder / "stderr").read_text()
    assert all(word in log for word in ("printed", "written", "child"))


def test_a_huge_argument_is_refused_and_a_large_one_is_not(started):
    answer = started.ask(1, "tools/call", name="echo", arguments={"text": "x" * 1_000_000})["result"]
    assert answer["isError"] is True
    assert said({"result": answer})["message"] == "Argument 'text' is too long: at most 65,536 characters."
    assert said(started.ask(2, "tools/call", name="echo", arguments={"text": "x" * 65_536}))["said"]


def test_invisible_and_reordering_characters_are_neutralised(started):
    answer = started.ask(1, "tools/call", name="echo", arguments={"text": "a\u202eb\u200bc\x1b[31m"})
    assert said(answer)["said"] == "a\ufffdb\ufffdc\ufffd[31m"
    assert answer["result"]["structuredContent"]["said"] == "a\ufffdb\ufffdc\ufffd[31m"


def test_progress_is_told_to_whom_it_interests(started):
    started.call(1, "steps", {}, progressToken="mine")
    told = [started.receive() for _ in range(3)]
    assert [each["method"] for each in told] == ["notifications/progress"] * 3
    assert [each["params"]["progress"] for each in told] == [1, 2, 3]
    assert told[0]["params"] == {"progressToken": "mine", "progress": 1, "total": 3, "message": "read file1.md"}
    assert started.receive()["id"] == 1
    started.call(2, "steps", {})
    assert started.receive()["id"] == 2


def test_a_cancelled_call_ends_is_never_answered_and_holds_up_nothing(started, tmp_path):
    file = tmp_path / "file"
    started.call(1, "wait", {"file": str(file)})
    until(Path(f"{file}.started").exists)
    started.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    until(Path(f"{file}.cancelled").exists)
    started.send({"id": 2, "method": "ping"})
    assert started.receive()["id"] == 2


def test_calls_that_look_things_up_do_not_wait_for_those_that_load_a_model(started, tmp_path):
    files = [tmp_path / f"file{number}" for number in range(8)]
    for number, file in enumerate(files):
        started.call(number, "wait", {"file": str(file)})
    assert said(started.ask(50, "tools/call", name="echo", arguments={"text": "quick"})) == {"said": "quick"}
    for file in files:
        file.touch()
    assert {started.receive()["id"] for _ in files} == set(range(8))


def test_many_calls_at_once_are_all_answered(started):
    for number in range(100):
        started.call(number, "echo", {"text": str(number)})
    answers = [started.receive() for _ in range(100)]
    assert {answer["id"]: said(answer)["said"] for answer in answers} == {number: str(number) for number in range(100)}


def test_what_was_asked_before_stdin_closed_is_answered(folder, tmp_path):
    with lines(probe(folder), folder) as server:
        server.open()
        server.call(1, "echo", {"text": "last"})
        server.stdin.close()
        assert said(server.answer(1)) == {"said": "last"}
        assert server.process.wait(60) == 0


def test_a_client_that_vanishes_ends_the_server_and_its_work(folder, tmp_path):
    file = tmp_path / "file"
    with lines(probe(folder), folder) as server:
        server.open()
        server.call(1, "wait", {"file": str(file)})
        until(Path(f"{file}.started").exists)
        server.stdout.close()
        server.send({"id": 2, "method": "ping"})  # the answer has nowhere to go, and stdin stays open
        assert server.process.wait(60) == 0
        assert Path(f"{file}.cancelled").exists()
    assert "Traceback" not in (folder / "stderr").read_text()


def test_lines_are_put_together_and_endless_ones_forgotten(monkeypatch):
    monkeypatch.setattr(framing, "LONGEST_LINE", 10)
    monkeypatch.setattr(framing, "_BLOCK", 4)
    out, into = os.pipe()
    os.write(into, b"one\ntwo and more\n\nthree\nfour and more")
    os.close(into)
    assert list(framing.lines_of(partial(os.read, out))) == [b"one", None, b"", b"three", None]
    os.close(out)


def test_tools_are_listed_and_words_are_found_before_any_model_is_made(folder, tmp_path):
    cache = tmp_path / "cache"
    with lines(
        program("mcp", "--dialect", "qmd"),
        folder,
        DOWSE_EMBEDDER="granite-embedding-30m-english",
        DOWSE_CACHE_DIR=str(cache),
    ) as server:
        server.open()
        assert server.ask(1, "tools/list")["result"]["tools"]
        found = server.ask(2, "tools/call", name="search", arguments={"query": "green tea"})["result"]
        assert found["structuredContent"]["results"][0]["file"] == "notes/tea.md"
        assert not cache.exists()


def test_the_name_of_the_program_decides_the_dialect(folder):
    with lines(program("mcp", name="qmd"), folder) as server:
        assert server.open()["result"]["serverInfo"]["name"] == "qmd"


def test_an_unknown_dialect_is_told_before_anything_starts(folder):
    with lines(program("mcp", "--dialect", "klingon"), folder) as server:
        assert server.process.wait(60) == 2
        assert server.stdout.read() == b""
    assert "There is no dialect klingon." in (folder / "stderr").read_text()


@pytest.mark.covers("mcp-read-only")
def test_read_only_on_the_command_line_offers_nothing_that_writes(folder):
    with lines(program("mcp", "--read-only"), folder) as server:
        server.open()
        listed = [tool["name"] for tool in server.ask(1, "tools/list")["result"]["tools"]]
        assert listed == ["search", "get", "list", "status", "why", "verify"]
        error = server.ask(2, "tools/call", name="ingest", arguments={"source": "x"})["error"]
        assert (error["code"], error["message"]) == (-32602, "Unknown tool: ingest")
