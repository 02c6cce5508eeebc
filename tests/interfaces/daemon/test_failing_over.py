"""When the daemon dies, its clients go on with another one, and are told where something may be lost."""

import json
import os
import signal
import socket
import threading

import pytest

from dowse import __version__
from dowse.interfaces.daemon.meeting import PROTOCOL, endpoints, receive_line
from interfaces.daemon.sharing import is_alive, state_of
from interfaces.mcp.lines import ENVELOPE, until
from workbench import open_at

TEA = {"query": "tea"}
NOTE = {"content": "# A note\n\nOn zebras.\n", "name": "zebra.md", "collection": "given"}


def wait_until_forwarded(server):
    """The thin client reads its stdin again when it has passed on everything that it read before."""
    from fcntl import ioctl  # of POSIX, as is everything here
    from termios import FIONREAD

    for _ in range(2):
        server.send({"method": "notifications/nothing"})
        until(lambda: ioctl(server.stdin, FIONREAD, bytes(4)) == bytes(4))


def texts(answer):
    return answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_reads_without_an_answer_are_asked_again_and_writes_are_told_to_be_unknown(shared, era):
    meta = {"_meta": ENVELOPE} if era == "stateless" else {}
    with shared.client() as server:
        if era == "handshake":
            server.open()
        assert server.ask(1, "tools/list", **meta)["result"]["tools"]
        before = shared.pid()
        os.kill(before, signal.SIGSTOP)  # in the middle: it has the calls, and answers none
        until(lambda: state_of(before) == "T")
        server.send({"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": TEA} | meta})
        server.send({"id": "2", "method": "tools/call", "params": {"name": "ingest", "arguments": NOTE} | meta})
        server.send({"id": 3, "method": "tools/list", "params": meta})
        server.send({"id": 4, "method": "tools/call", "params": {"name": "search", "arguments": TEA} | meta})
        server.send({"method": "notifications/cancelled", "params": {"requestId": 4}})
        wait_until_forwarded(server)
        os.kill(before, signal.SIGKILL)
        answers = {message["id"]: message for message in (server.receive() for _ in range(3))}
        assert "notes/tea.md" in texts(answers[2])
        assert answers["2"]["error"]["code"] == -32603
        assert "unknown" in answers["2"]["error"]["message"]
        assert answers[3]["result"]["tools"]
        assert shared.pid() != before
        again = server.ask(5, "tools/call", name="ingest", arguments=NOTE, **meta)
        assert "isError" not in again["result"]
        assert server.end() == 0
    with open_at(shared.folder) as engine:
        assert [info.path for info in engine.documents("given")] == ["zebra.md"]


def test_a_daemon_that_dies_again_and_again_is_given_up_and_the_client_is_served(shared):
    with shared.client() as server:
        server.open()
        for number in range(1, 5):
            shared.kill()
            assert "notes/tea.md" in texts(server.ask(number, "tools/call", name="search", arguments=TEA))
        assert "note: The shared process is gone: it died 4 times" in shared.said()
        assert shared.daemons() == []
        content = server.ask(9, "tools/call", name="ingest", arguments=NOTE)["result"]
        assert "isError" not in content
        assert server.end() == 0


def test_calls_of_several_clients_are_all_answered_while_daemons_die(shared):
    failures = []

    def ask_on(server):
        for number in range(1, 16):
            answer = server.ask(number, "tools/call", name="search", arguments=TEA)
            if "notes/tea.md" not in str(answer):
                failures.append(answer)

    with shared.client() as one, shared.client() as other:
        for server in (one, other):
            server.open()
        threads = [threading.Thread(target=ask_on, args=(server,)) for server in (one, other)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            until(lambda: bool(shared.daemons()) and shared.daemon()["clients"])
            shared.kill()
        for thread in threads:
            thread.join(120)
        assert failures == []
        assert len(shared.daemon()["clients"]) == 2


def test_what_a_dead_daemon_left_behind_is_no_obstacle(shared):
    with shared.client() as server:
        server.open()
        server.end()
    dead = shared.kill()
    assert list((shared.runtime / "dowse").glob("*.sock"))
    with shared.client() as server:
        server.open()
        assert shared.pid() != dead


def test_clients_of_a_daemon_that_is_stopped_start_another_one(shared):
    with shared.client() as server:
        server.open()
        before = shared.pid()
        shared.stop_all()
        assert server.ask(1, "ping")["result"] == {}
        assert shared.pid() != before


def test_where_no_daemon_can_be_the_client_is_served_without(shared):
    (shared.runtime / "dowse").write_text("this is no folder")
    with shared.client() as server:
        server.open()
        assert server.ask(1, "tools/list")["result"]["tools"]
        assert server.end() == 0
    assert "note: There is no shared process for this index: " in shared.said()


def test_a_damaged_index_is_told_to_the_caller_and_harms_nobody_else(shared):
    next((shared.folder / "index").glob("*.db")).write_bytes(b"this is no database at all" * 1000)
    with shared.client() as server:
        server.open()
        answer = server.ask(1, "tools/call", name="search", arguments=TEA)["result"]
        assert answer["isError"] is True
        assert server.ask(2, "ping")["result"] == {}


def test_whoever_does_not_know_the_secret_is_not_answered(shared):
    with shared.client() as server:
        server.open()
        (endpoint,) = endpoints(shared.runtime / "dowse")
        hello = {"protocol": PROTOCOL, "version": __version__, "ask": "status", "secret": endpoint["secret"]}
        for wrong in ({"secret": "guess"}, {"secret": None}, {"version": "0.0.1"}, {"protocol": 0}, None):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(endpoint["socket"])
                connection.sendall(json.dumps(hello | wrong if wrong else [1]).encode() + b"\n")
                assert receive_line(connection) == b"", wrong
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(endpoint["socket"])
            connection.sendall(json.dumps(hello).encode() + b"\n")
            assert json.loads(receive_line(connection))["pid"] == endpoint["pid"]
        assert is_alive(endpoint["pid"])
