"""A cluster behind TLS and a password: a door that ends the TLS before a node, as a provider's balancer does."""

import http.client
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from contract.builders import add_collections, put_texts, search_words
from dowse.errors import StoreUnavailableError
from dowse.store.opensearch import Address, OpenSearchStore
from http_api import make_certificate

USER, PASSWORD, TOKEN = "reader", "open sesame", "a-token"
ALLOWED = (f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}", f"Bearer {TOKEN}")


@contextmanager
def door(address: Address, certificate: tuple[Path, Path]) -> Iterator[int]:
    """A port that speaks TLS, asks for credentials, and hands everything else on to a node."""
    host, port = address.hosts[0]

    class Guard(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Authorization") not in ALLOWED:
                return self.answer(401, b"Unauthorized", "text/plain")
            node = http.client.HTTPConnection(host, port, timeout=60)
            kept = {name: self.headers[name] for name in ("Content-Type",) if name in self.headers}
            node.request(self.command, self.path, body, kept)
            response = node.getresponse()
            data = response.read()
            node.close()
            return self.answer(response.status, data, response.headers.get("Content-Type", ""))

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 - their names there

        def answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = Server(("127.0.0.1", 0), Guard)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


class Server(ThreadingHTTPServer):
    """Says nothing of clients that hang up because they do not trust it."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


def at(port: int, address: Address, **environment: str) -> Address:
    """The same indexes through the door, with what the environment says."""
    url = f"opensearchs://localhost:{port}/{address.prefix}?shards={address.shards}&replicas={address.replicas}"
    return Address.parse(url, environment)


@pytest.mark.parametrize(
    "credentials",
    [
        {"DOWSE_OPENSEARCH_USER": USER, "DOWSE_OPENSEARCH_PASSWORD": PASSWORD},
        {"DOWSE_OPENSEARCH_TOKEN": TOKEN},
    ],
    ids=["password", "token"],
)
def test_a_trusted_door_opens_with_the_credentials_of_the_environment(
    address: Address,
    cluster_store: OpenSearchStore,
    certificate: tuple[Path, Path],
    credentials: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with door(address, certificate) as port:
        store = OpenSearchStore(at(port, address, **credentials))
        add_collections(store, "notes")
        put_texts(store, {"a.md": "alpha"})
        store.close()
    assert search_words(cluster_store, "alpha") == [("notes/a.md", 0)]


@pytest.mark.parametrize("password", ["", "close sesame"], ids=["none", "wrong"])
def test_a_wrong_password_is_refused_naming_the_variables(
    address: Address, certificate: tuple[Path, Path], password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    given = {"DOWSE_OPENSEARCH_USER": USER, "DOWSE_OPENSEARCH_PASSWORD": password} if password else {}
    with door(address, certificate) as port, pytest.raises(StoreUnavailableError) as refused:
        OpenSearchStore(at(port, address, **given))
    assert "refuses these credentials" in refused.value.message
    assert "DOWSE_OPENSEARCH_PASSWORD" in refused.value.hint
    assert PASSWORD not in str(refused.value)


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(
    address: Address, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    given = {"DOWSE_OPENSEARCH_USER": USER, "DOWSE_OPENSEARCH_PASSWORD": PASSWORD}
    with door(address, certificate) as port, pytest.raises(StoreUnavailableError) as refused:
        OpenSearchStore(at(port, address, **given))
    assert "No trusted connection" in refused.value.message
    assert "SSL_CERT_FILE" in refused.value.hint


def test_a_node_without_tls_is_said_not_to_be_trusted(address: Address) -> None:
    with pytest.raises(StoreUnavailableError) as refused:
        OpenSearchStore(at(address.hosts[0][1], address))
    assert "No trusted connection" in refused.value.message
