"""`dowse server --transport http`, as its users start and end it."""

import re
import signal
import socket
import ssl
import sys

import httpx2
import pytest

from http_api import bad, build_index, good, make_certificate
from interfaces.mcp.lines import announced, lines, program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    build_index(folder)
    return folder


def said(folder):
    return (folder / "stderr").read_text()


def test_it_prints_where_it_is_and_the_token_that_may_write(folder):
    with lines(program("server", "--transport", "http", "--port", "0"), folder):
        address = announced(folder).removesuffix("/mcp")
        page = re.search(rf"Open {re.escape(address)}/#token=(\S+)", said(folder))
        with httpx2.Client(base_url=address, timeout=60) as client:
            assert good(client.get("/api/v1/status"))["documents"] == 5
            bad(client.delete("/api/v1/documents/nothing"), 401, "unauthorized")
            given = {"Authorization": f"Bearer {page[1]}"}
            bad(client.delete("/api/v1/documents/nothing", headers=given), 404, "not_found")
            assert client.get("/").headers["content-type"].startswith("text/html")
        assert '"route": "DELETE /api/v1/documents/{id}", "status": 401' in said(folder)


def test_a_server_for_reading_refuses_its_own_token(folder):
    command = program("server", "--transport", "http", "--port", "0", "--read-only", "--token", "t", "--no-access-log")
    with lines(command, folder):
        address = announced(folder).removesuffix("/mcp")
        answer = httpx2.delete(f"{address}/api/v1/documents/x", headers={"Authorization": "Bearer t"}, timeout=60)
        bad(answer, 403, "refused")
        assert '"route"' not in said(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to catch")
def test_a_request_under_way_is_answered_before_the_server_ends(folder):
    with lines(program("server", "--transport", "http", "--port", "0", "--token", "t"), folder) as server:
        port = int(announced(folder).removesuffix("/mcp").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
            head = "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            body = b'{"query": "water", "mode": "lex"}'
            slow.sendall(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
            assert slow.recv(1_024).startswith(b"HTTP/1.1 100")  # it reads: the request is under way
            server.process.send_signal(signal.SIGTERM)
            slow.sendall(body)
            answer = b"".join(iter(lambda: slow.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"results":[{' in answer
        assert server.process.wait(60) in {0, -signal.SIGTERM}


def test_https_by_options(folder, tmp_path):
    certificate, key = make_certificate(tmp_path)
    options = ["--tls-cert", str(certificate), "--tls-key", str(key), "--port", "0"]
    with lines(program("server", "--transport", "http", *options), folder):
        address = announced(folder).removesuffix("/mcp")
        assert address.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(certificate))
        with httpx2.Client(base_url=address.replace("127.0.0.1", "localhost"), verify=context, timeout=60) as client:
            good(client.get("/api/v1/status"))
