"""Bulk writes: in several requests, repeated where they must be, each outcome with its write; no cluster is needed."""

import http.server
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dowse.errors import StoreError
from dowse.store.opensearch import Address
from dowse.store.opensearch.connection import Connection, Outcome, Write

Answer = Callable[[str, int], dict[str, Any]]
"""What becomes of the write of an id that is tried for the so-many-th time."""

TAKEN = {"status": 201, "_shards": {"successful": 2}}


@contextmanager
def cluster(answer: Answer) -> Iterator[tuple[Connection, list[list[str]]]]:
    """A connection to a server that takes bulks so, and the ids of each bulk that came."""
    bulks: list[list[str]] = []
    tries: Counter[str] = Counter()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
            ids = [json.loads(line)["index"]["_id"] for line in lines[::2]]
            bulks.append(ids)
            tries.update(ids)
            data = json.dumps({"items": [{"index": answer(each, tries[each])} for each in ids]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    connection = Connection(Address.parse(f"opensearch://127.0.0.1:{server.server_address[1]}/x", {}))
    try:
        yield connection, bulks
    finally:
        connection.close()
        server.shutdown()
        thread.join()
        server.server_close()


def writes(count: int, size: int = 1) -> list[Write]:
    return [Write("index", "x", str(number), {"text": "a" * size}) for number in range(count)]


def test_many_writes_go_in_several_bulks_and_each_outcome_stands_where_its_write_stood() -> None:
    def every_seventh_conflicts(id_: str, _: int) -> dict[str, Any]:
        return {"status": 409, "error": {"reason": "newer"}} if int(id_) % 7 == 0 else TAKEN

    with cluster(every_seventh_conflicts) as (connection, bulks):
        outcomes = connection.write(writes(40, size=100_000))
    assert [outcome.conflict for outcome in outcomes] == [number % 7 == 0 for number in range(40)]
    assert len(bulks) > 3
    assert sorted(int(each) for bulk in bulks for each in bulk) == list(range(40))


def test_nothing_to_write_asks_nobody() -> None:
    with cluster(lambda *_: TAKEN) as (connection, bulks):
        assert connection.write([]) == []
    assert bulks == []


@pytest.mark.parametrize(
    "at_first",
    [{"status": 429, "error": {"reason": "busy"}}, {"status": 201, "_shards": {"successful": 1}}],
    ids=["rejected", "on one copy only"],
)
def test_what_the_cluster_did_not_take_wholly_is_sent_again_alone(at_first: dict[str, Any]) -> None:
    with cluster(lambda id_, count: at_first if id_ == "3" and count < 3 else TAKEN) as (connection, bulks):
        outcomes = connection.write(writes(5))
    assert outcomes == [Outcome(201)] * 5
    assert bulks == [["0", "1", "2", "3", "4"], ["3"], ["3"]]


def test_one_refusal_among_many_bulks_is_an_error() -> None:
    refused = {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no such field"}}
    with (
        cluster(lambda id_, _: refused if id_ == "30" else TAKEN) as (connection, _),
        pytest.raises(StoreError, match="no such field"),
    ):
        connection.write(writes(40, size=100_000))
