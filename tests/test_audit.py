"""The audit of dependencies, against a service that answers as OSV does: well, badly, and not at all."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import audit
import pytest

BAD = {
    "id": "GHSA-0000-0000-0000",
    "summary": "Tea leaks.",
    "details": "Tea leaks.",
    "published": "2026-01-01T00:00:00Z",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
            "versions": ["2.4.1"],
        }
    ],
}


@contextmanager
def advisories(vulnerable):
    """A service that knows of one vulnerable package at most."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = {"vulns": [BAD]} if asked["package"]["name"] == vulnerable else {}
            body = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/query"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def pins(tmp_path):
    file = tmp_path / "pins.txt"
    file.write_text("click==8.1.0\njinja2==2.4.1\n")
    return str(file)


def test_nothing_known_against_any_pin_is_told(pins, capsys):
    with advisories("") as service:
        assert audit.main(["--service", service, "--pins", pins]) == 0
    assert capsys.readouterr().out == "audit: no known vulnerabilities\n"


def test_a_vulnerable_pin_fails_the_lint_and_is_named(pins, capsys):
    with advisories("jinja2") as service:
        assert audit.main(["--service", service, "--pins", pins]) == 1
    said = capsys.readouterr().err
    assert "GHSA-0000-0000-0000" in said
    assert "2.4.1" in said


def test_where_nobody_answers_the_audit_says_that_it_did_not_happen(pins, capsys):
    with advisories("") as service:
        pass
    assert audit.main(["--service", service, "--pins", pins]) == 0
    assert capsys.readouterr().out.startswith("audit: skipped, 127.0.0.1 cannot be reached")
