"""A cluster that cannot be used is told apart in words, within a time limit; no cluster is needed for this."""

import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dowse.errors import ConfigError, StoreError, StoreFullError, StoreUnavailableError
from dowse.store.opensearch import Address, OpenSearchStore


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("opensearch://a:1,b/notes?shards=5&replicas=2", Address((("a", 1), ("b", 9200)), "notes", 5, 2)),
        ("opensearch://[::1]:9201", Address((("::1", 9201),), "dowse")),
        ("opensearchs://a/x", Address((("a", 9200),), "x", tls=True)),
        (
            "opensearch://a/x?tls=1&verify=0&timeout=5",
            Address((("a", 9200),), "x", tls=True, verify=False, timeout=5.0),
        ),
    ],
)
def test_an_address_says_hosts_prefix_shards_and_copies(url, expected):
    assert Address.parse(url, {}) == expected


def test_credentials_come_from_the_environment():
    env = {"DOWSE_OPENSEARCH_USER": "u", "DOWSE_OPENSEARCH_PASSWORD": "p", "DOWSE_OPENSEARCH_TOKEN": "t"}
    address = Address.parse("opensearch://a", env)
    assert (address.user, address.password, address.token) == ("u", "p", "t")
    assert "p" not in str(address).replace("opensearch", "")


@pytest.mark.parametrize(
    "url",
    [
        "http://a/x",
        "opensearch://user:secret@a/x",
        "opensearch://a/Big",
        "opensearch://a/x/y",
        "opensearch://a/x?shards=0",
        "opensearch://a/x?shards=many",
        "opensearch://a/x?colour=blue",
        "opensearch://a:99999/x",
        "opensearch:///x",
    ],
)
def test_an_address_that_makes_no_sense_is_refused_without_repeating_it(url):
    with pytest.raises(ConfigError) as refused:
        Address.parse(url, {})
    assert "secret" not in refused.value.message
    assert "opensearch://host1:9200" in refused.value.hint


def test_at_least_two_copies_are_asked_for_where_there_are_replicas():
    assert [Address.parse(f"opensearch://a?replicas={count}", {}).copies for count in (0, 1, 3)] == [1, 2, 2]


@contextmanager
def answering(act: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server on 127.0.0.1 that answers each request so; yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            act(self)

        do_GET = do_POST = do_PUT = do_HEAD = do_any  # noqa: N815 - the names that the library calls

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"opensearch://127.0.0.1:{server.server_address[1]}/x?timeout=1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def saying(status: int, body: object) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
    def act(handler: http.server.BaseHTTPRequestHandler) -> None:
        data = json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return act


def refusal(url: str) -> StoreError:
    started = time.monotonic()
    with pytest.raises(StoreError) as refused:
        OpenSearchStore(url)
    assert time.monotonic() - started < 30
    assert refused.value.hint
    return refused.value


def test_nodes_that_are_not_there_are_unavailable():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = refusal(f"opensearch://127.0.0.1:{port}/x?timeout=1")
    assert isinstance(error, StoreUnavailableError)
    assert "cannot be reached" in error.message


def test_a_node_that_hangs_is_given_up_within_the_time_limit():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        error = refusal(f"opensearch://127.0.0.1:{silent.getsockname()[1]}/x?timeout=1")
    assert isinstance(error, StoreUnavailableError)
    assert "did not answer in time" in error.message


@pytest.mark.parametrize("status", [401, 403])
def test_wrong_credentials_are_said_so(status):
    with answering(saying(status, {"error": {"type": "security_exception", "reason": "no"}, "status": status})) as url:
        error = refusal(url)
    assert isinstance(error, StoreUnavailableError)
    assert "credentials" in error.message
    assert "DOWSE_OPENSEARCH_USER" in error.hint


def test_what_is_no_cluster_is_said_so():
    with answering(saying(500, {"error": "boom"})) as url:
        assert isinstance(refusal(url), StoreUnavailableError)


def test_a_read_only_cluster_is_full():
    reason = "index [x] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"
    blocked = {"error": {"type": "cluster_block_exception", "reason": reason}, "status": 403}
    with answering(saying(403, blocked)) as url:
        assert isinstance(refusal(url), StoreFullError)
