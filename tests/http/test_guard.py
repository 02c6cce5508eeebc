"""What stands before every route: Host, Origin, limits, headers, the log, and clients that mean no good."""

import json
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from dowse.errors import UsageError
from dowse.interfaces.http import bodies
from dowse.interfaces.http import serving as http_serving
from dowse.interfaces.http.app import Options
from dowse.interfaces.http.guard import Limits
from dowse.interfaces.http.serving import Tls, config_for
from dowse.interfaces.http.table import TABLE
from http_api import bad, build_index, good, make_certificate, serving, until

PATHS = ["/", "/health", "/ready", "/metrics", "/openapi.json", "/api/v1/status", "/api/v1/nothing", "/nothing", "/mcp"]
JSON = {"Content-Type": "application/json"}


def everything_from(connection):
    """What comes until the other side closes."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize("path", PATHS)
def test_a_foreign_host_or_origin_is_refused_everywhere(api, anybody, path):
    for host in ("evil.example", f"127.0.0.1.evil.example:{api.port}", "localhost@evil.example", ""):
        bad(anybody.get(path, headers={"Host": host}), 421, "foreign_host")
    foreign = ["http://evil.example", "null", "http://127.0.0.1:1", f"http://127.0.0.1:{api.port}/x", "file://", ""]
    for origin in foreign:
        bad(anybody.get(path, headers={"Origin": origin}), 403, "foreign_origin")
    for host in (f"localhost:{api.port}", "LOCALHOST", f"[::1]:{api.port}"):
        assert anybody.get(path, headers={"Host": host}).status_code not in {403, 421}
    assert anybody.get(path, headers={"Origin": api.address}).status_code != 403


@pytest.mark.parametrize("path", PATHS)
def test_every_response_tells_browsers_to_be_careful(anybody, path):
    headers = anybody.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_pages_of_other_origins_may_call_only_where_that_is_configured(tmp_path):
    build_index(tmp_path)
    with serving(tmp_path, origins=("https://app.example",)) as api, api.client() as client:
        answer = client.get("/api/v1/status", headers={"Origin": "https://app.example"})
        assert good(answer)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert "Origin" in answer.headers["vary"]
        asking = {"Origin": "https://app.example", "Access-Control-Request-Method": "DELETE"}
        allowed = client.options("/api/v1/documents/x", headers=asking)
        assert allowed.status_code == 204
        assert "DELETE" in allowed.headers["access-control-allow-methods"]
        assert "access-control-allow-credentials" not in allowed.headers
        bad(client.get("/api/v1/status", headers={"Origin": "https://app.example.evil"}), 403, "foreign_origin")


def test_a_request_keeps_its_own_id_if_that_is_sane(anybody):
    assert anybody.get("/health", headers={"X-Request-ID": "abc-123"}).headers["x-request-id"] == "abc-123"
    for strange in ("", "a b", "x" * 65, "a\tb", "{}"):
        made = anybody.get("/health", headers={"X-Request-ID": strange}).headers["x-request-id"]
        assert len(made) == 32


def test_unknown_addresses_and_methods_have_the_error_shape(owner):
    for path in ("/nothing", "/api/v1", "/api/v1/", "/api/v2/search", "/api/v1/search/", "/web/../../etc/passwd"):
        bad(owner.get(path), 404, "not_found")
    for method, path in (
        ("PUT", "/api/v1/search"),
        ("PATCH", "/api/v1/documents"),
        ("DELETE", "/"),
        ("POST", "/health"),
    ):
        answer = owner.request(method, path)
        bad(answer, 405, "method_not_allowed")
        assert answer.headers["allow"]


def test_bodies_must_be_json_objects_in_utf8(anybody):
    def post(content, **headers):
        return anybody.post("/api/v1/search", content=content, headers=headers)

    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""):
        bad(post(b'{"query": "a"}', **{"Content-Type": kind}), 415, "unsupported_media_type")
    for content in (
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b'{"query": NaN}',
        b"[" * 100_000,
        b'{"query": "\xff"}',
        b"\xfe\xff",
    ):
        bad(post(content, **JSON), 400, "unreadable")
    bad(post(b'{"query": "\\ud800"}', **JSON), 400, "unreadable")
    good(
        anybody.post(
            "/api/v1/search", content=b'{"query": "a"}', headers={"Content-Type": "Application/JSON; charset=utf-8"}
        )
    )


@pytest.mark.parametrize(
    "path",
    ["/api/v1/search?query=%ff", "/api/v1/documents/%ff", "/api/v1/documents/%c0%af", "/api/v1/jobs/%80"],
)
def test_addresses_must_be_utf8(anybody, path):
    bad(anybody.get(path), 400, "unreadable")


def test_parameters_are_checked_like_bodies(anybody):
    for query in (
        "query=a&query=b",
        "query=a&limit=ten",
        "query=a&limit=1e3",
        "query=a&explain=maybe",
        "q=a",
        "query=a&x=1",
    ):
        bad(anybody.get(f"/api/v1/search?{query}"), 400, "bad_arguments")
    bad(anybody.get("/api/v1/search?query=a&filters={"), 400, "bad_arguments")
    bad(anybody.get("/api/v1/search?" + "&".join(f"a{number}=1" for number in range(300))), 400, "unreadable")
    error = bad(anybody.get("/api/v1/status?verbose=1"), 400, "bad_arguments")
    assert "verbose" in error["message"]
    bad(anybody.get("/api/v1/jobs/x/events?verbose=1"), 400, "bad_arguments")
    bad(anybody.post("/api/v1/search?limit=1", json={"query": "a"}), 400, "bad_arguments")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "file:%2f%2f%2fetc%2fpasswd",
        "tea/../../etc/passwd",
        "C:%5CWindows%5Cwin.ini",
        "dowse:%2f%2f..%2f..%2fetc%2fpasswd",
        "%00",
        "tea%00",
    ],
)
def test_no_name_reads_a_file_that_is_not_indexed(api, name):
    with socket.create_connection(("127.0.0.1", api.port)) as raw:  # clients tidy such addresses up
        raw.sendall(f"GET /api/v1/documents/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = everything_from(raw)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b" 404 " in head or b" 400 " in head
    assert set(json.loads(body)) == {"error"}
    assert b"root:" not in body


class TestLimits:
    """How much one server takes."""

    def test_a_body_that_is_too_large_is_refused_before_it_is_read(self, api, owner):
        bad(owner.post("/api/v1/search", content=b"x" * ((1 << 20) + 1), headers=JSON), 413, "too_large")
        with socket.create_connection(("127.0.0.1", api.port)) as raw:
            raw.sendall(b"PUT /api/v1/collections/tea/documents/x HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            raw.sendall(f"Authorization: Bearer {api.token}\r\nContent-Length: {1 << 40}\r\n\r\n".encode())
            assert b" 413 " in raw.recv(4096)

    def test_a_body_without_a_length_is_counted_as_it_comes(self, owner):
        def parts():
            for _ in range(20):
                yield b" " * (1 << 16)

        bad(owner.post("/api/v1/search", content=parts(), headers=JSON), 413, "too_large")

    def test_a_head_that_is_too_large_is_refused(self, api):
        for head in (b"GET /" + b"x" * 100_000, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100_000):
            with socket.create_connection(("127.0.0.1", api.port)) as raw:
                raw.sendall(head)
                answer = everything_from(raw)
            assert answer.startswith(b"HTTP/1.1 431 ")
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "headers_too_large"

    def test_what_is_no_http_is_refused(self, api):
        with socket.create_connection(("127.0.0.1", api.port)) as raw:
            raw.sendall(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
            answer = everything_from(raw)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "unreadable"

    def test_clients_that_send_their_head_too_slowly_are_cut(self, api, monkeypatch):
        monkeypatch.setattr(http_serving, "_HEADER_SECONDS", 0.3)
        with socket.create_connection(("127.0.0.1", api.port), timeout=30) as silent:
            assert silent.recv(1) == b""
        with socket.create_connection(("127.0.0.1", api.port), timeout=30) as slow:
            slow.sendall(b"GET /health HTTP/1.1\r\n")
            assert slow.recv(1) == b""
        with socket.create_connection(("127.0.0.1", api.port), timeout=30) as second:
            second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HT")
            answers = everything_from(second)
            assert answers.count(b"HTTP/1.1 200") == 1

    @pytest.mark.parametrize("path", ["/api/v1/search", "/mcp", "/mcp/qmd", "/sse/messages", "/query"])
    def test_clients_that_send_their_body_too_slowly_are_told_and_cut(self, api, monkeypatch, path):
        monkeypatch.setattr(bodies, "_SECONDS", 0.3)
        monkeypatch.setattr(http_serving, "_HEADER_SECONDS", 1_000)  # else the next rule might be what cuts
        with socket.create_connection(("127.0.0.1", api.port), timeout=20) as slow:
            slow.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % path.encode())
            slow.sendall(b"Content-Length: 100\r\n\r\n{")
            answer = everything_from(slow)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"\r\nconnection: close\r\n" in answer.lower()

    @pytest.mark.parametrize("path", ["/api/v1/search", "/mcp", "/sse/messages", "/query"])
    def test_clients_that_leave_in_the_middle_of_their_body_are_counted_and_not_complained_about(
        self, api, anybody, caplog, path
    ):
        def left():
            lines = anybody.get("/metrics").text.splitlines()
            return sum(float(line.split()[-1]) for line in lines if "requests_total" in line and 'status="499"' in line)

        before = left()
        with socket.create_connection(("127.0.0.1", api.port)) as leaving:
            leaving.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{" % path.encode())
        until(lambda: left() > before)
        assert not caplog.records

    def test_clients_that_go_on_with_a_body_that_is_refused_are_cut(self, api, monkeypatch):
        monkeypatch.setattr(http_serving, "_HEADER_SECONDS", 0.5)
        with socket.create_connection(("127.0.0.1", api.port), timeout=20) as endless:
            endless.sendall(b"POST /api/v1/search HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 10000000\r\n\r\n{")
            assert endless.recv(65_536).startswith(b"HTTP/1.1 421 ")

            def is_cut():
                try:
                    endless.sendall(b" ")
                except ConnectionError:
                    return True
                return False

            until(is_cut)

    def test_a_refused_body_that_comes_in_time_costs_no_connection(self, api):
        with socket.create_connection(("127.0.0.1", api.port), timeout=20) as steady:
            steady.sendall(b"POST /api/v1/search HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{")
            refusal = steady.recv(65_536)
            steady.sendall(b"}GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answers = refusal + everything_from(steady)
        assert answers.startswith(b"HTTP/1.1 421 ")
        assert answers.count(b"HTTP/1.1 200 ") == 1

    def test_one_client_may_not_ask_all_the_time_and_others_do_not_suffer(self, tmp_path):
        build_index(tmp_path)
        limits = Limits(rate=0.001, burst=3_000)
        with serving(tmp_path, options=Options(limits)) as api, api.client() as greedy, api.client(api.token) as other:
            for _ in range(3):
                good(greedy.get("/api/v1/status"))
            answer = greedy.get("/api/v1/status")
            error = bad(answer, 429, "rate_limited")
            assert int(answer.headers["retry-after"]) == error["details"]["retry_after"] >= 1
            good(other.get("/api/v1/status"))
            assert greedy.get("/health").status_code == 200

    def test_more_requests_at_once_than_are_allowed_are_told_to_come_again(self, tmp_path, monkeypatch):
        build_index(tmp_path)
        entered, leave = threading.Event(), threading.Event()
        with serving(tmp_path, options=Options(Limits(requests=1))) as api, api.client() as client:
            real = api.engine.stats

            def slow():
                entered.set()
                assert leave.wait(60)
                return real()

            monkeypatch.setattr(api.engine, "stats", slow)
            with ThreadPoolExecutor(1) as pool:
                first = pool.submit(httpx2.get, f"{api.address}/api/v1/status", timeout=60)
                assert entered.wait(60)
                answer = client.get("/api/v1/contexts")
                leave.set()
                bad(answer, 503, "busy")
                assert answer.headers["retry-after"] == "1"
                good(first.result())
            good(client.get("/api/v1/contexts"))

    def test_an_answer_that_takes_too_long_is_given_up(self, api, anybody, monkeypatch):
        leave = threading.Event()
        monkeypatch.setattr(api.engine, "contexts", lambda: leave.wait(60) and ())
        row = next(row for row in TABLE if row.name == "list_contexts")
        object.__setattr__(row, "seconds", 0.2)
        try:
            bad(anybody.get("/api/v1/contexts"), 504, "timeout")
        finally:
            leave.set()
            object.__setattr__(row, "seconds", 30.0)

    def test_slow_models_keep_no_search_by_words_waiting(self, api, anybody, monkeypatch):
        """More questions of meaning than there are threads hang; words are answered all the same."""
        leave = threading.Event()
        asked = threading.Semaphore(0)
        real = api.engine._parts.embedder.embed_query

        def slow(text):
            asked.release()
            assert leave.wait(60)
            return real(text)

        monkeypatch.setattr(api.engine._parts.embedder, "embed_query", slow)
        with ThreadPoolExecutor(12) as pool:
            url = f"{api.address}/api/v1/search?mode=hybrid&query=water"
            hanging = [pool.submit(httpx2.get, f"{url} {number}", timeout=60) for number in range(12)]
            assert asked.acquire(timeout=60)
            assert asked.acquire(timeout=60)
            words = good(anybody.get("/api/v1/search?mode=lex&query=water"))
            assert words["results"]
            assert not any(each.done() for each in hanging)
            leave.set()
            for each in hanging:
                good(each.result())


def test_the_log_tells_of_requests_but_not_of_questions_or_tokens(tmp_path, capfd):
    build_index(tmp_path)
    with serving(tmp_path, options=Options(log=True)) as api, api.client(api.token) as owner:
        made, secret = api.tokens.create()
        owner.get("/api/v1/search?query=very+private+question&mode=lex")
        owner.post("/api/v1/search", json={"query": "very private question", "mode": "lex"})
        owner.get("/api/v1/documents/private-name")
        owner.get("/private-address")
        httpx2.get(f"{api.address}/api/v1/status", headers={"Authorization": f"Bearer {secret}"})
        owner.get("/health", headers={"Host": "evil.example"})
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    said = [json.loads(line) for line in lines]
    assert [(each["route"], each["status"]) for each in said] == [
        ("GET /api/v1/search", 200),
        ("POST /api/v1/search", 200),
        ("GET /api/v1/documents/{id}", 404),
        ("other", 404),
        ("GET /api/v1/status", 200),
        ("other", 421),
    ]
    assert said[4]["who"] == f"token {made.id}"
    assert all(each["request_id"] and each["ms"] >= 0 for each in said)
    for word in ("private", secret, api.token, "evil"):
        assert word not in "\n".join(lines)


def test_https_with_certificate_files(tmp_path):
    build_index(tmp_path)
    certificate, key = make_certificate(tmp_path)
    with serving(tmp_path, tls=Tls(certificate, key)) as api:
        context = ssl.create_default_context(cafile=str(certificate))
        with httpx2.Client(base_url=f"https://localhost:{api.port}", verify=context) as client:
            assert good(client.get("/api/v1/status"))["documents"] == 5
            assert client.get("/", headers={"Origin": f"https://localhost:{api.port}"}).status_code == 200
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"http://127.0.0.1:{api.port}/health")


def test_a_certificate_that_cannot_be_used_is_told(tmp_path):
    certificate, _ = make_certificate(tmp_path)
    other = tmp_path / "other.pem"
    other.write_text("nonsense")

    async def app(scope, receive, send):
        raise AssertionError

    for tls in (Tls(certificate), Tls(other, other), Tls(certificate, other)):
        with pytest.raises(UsageError) as failure:
            config_for(app, tls)
        assert "--tls-cert" in failure.value.hint
