"""For tests of the HTTP API: an index, a real server on it in this process, and what answers must look like."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dowse import Engine
from dowse.interfaces.http.app import Options, make_app
from dowse.interfaces.http.door import Door
from dowse.interfaces.http.serving import Tls, config_for
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialects import DIALECTS, load
from dowse.interfaces.mcp.server import Serving
from dowse.interfaces.tokens import Tokens
from workbench import open_at, write

TOKEN = "open-sesame"  # noqa: S105  # of servers that live for a test
PATIENCE = 60.0  # seconds for something that comes

TEA = {
    "green.md": "---\ntag: leaf\n---\n# Green tea\n\nGreen tea wants water below eighty degrees.\n\n## Water\n\n"
    "Soft water brings out the taste of green tea.\n",
    "black.md": "# Black tea\n\nBlack tea wants boiling water.\n",
    "tools/pot.txt": "A pot of clay keeps the heat.\n",
}
VAULT = {
    "plans.md": "---\nclearance: secret\n---\n# Plans\n\nThe xylophone of green tea lies in the vault.\n",
    "codes.md": "# Codes\n\nThe code is swordfish. Water is not needed.\n",
}


@dataclass(frozen=True)
class Api:
    """A running server."""

    address: str
    folder: Path
    engine: Engine
    tokens: Tokens
    serving: Serving
    token: str = TOKEN

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        """A client, with a token or without."""
        given = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.address, headers=given | headers, timeout=60, verify=False)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])


def build_index(folder: Path) -> None:
    """Two collections: `tea`, and `vault`, of which not everybody may know."""
    with open_at(folder) as engine:
        for name, texts in (("tea", TEA), ("vault", VAULT)):
            engine.add_collection(write(folder / name, texts), name=name)
            engine.index(name)
        engine.add_context("All about tea.", collection="tea")
        engine.add_context("Nothing to see.", collection="vault")
        engine.embed()


@contextmanager
def serving(
    folder: Path,
    access: Access | None = None,
    options: Options | None = None,
    tls: Tls | None = None,
    max_memory: int = 0,
    **door: Any,
) -> Iterator[Api]:
    """The whole application on a free port of this machine, in a thread."""
    policy = access or Access.over_http([folder])
    with open_at(folder, max_memory=max_memory) as engine, socket.create_server(("127.0.0.1", 0)) as listener:
        tokens = Tokens(engine.config.index_dir)
        shared = Serving(engine, policy)
        rules = Door(policy, **{"token": TOKEN, "find": tokens.find, **door})
        app = make_app([load(name) for name in DIALECTS], "dowse", shared, rules, options=options)
        server = uvicorn.Server(config_for(app, tls))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            scheme = "https" if tls else "http"
            yield Api(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", folder, engine, tokens, shared)
        finally:
            server.should_exit = True
            thread.join()
            shared.jobs.close()


def until(true: Callable[[], object]) -> None:
    """Wait for something that has to come."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def good(response: httpx2.Response, status: int = 200) -> Any:
    """The data of a success, which has the one shape."""
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) == {"data", "meta"}
    assert set(body["meta"]) <= {"request_id", "elapsed_ms", "next_cursor", "notes"}
    assert body["meta"]["request_id"] == response.headers["x-request-id"]
    return body["data"]


def bad(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The error, which has the one shape."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "hint", "details"}
    assert error["code"] == code, error
    assert error["message"]
    return error


def events_in(text: str) -> list[tuple[str, Any]]:
    """The events of a stream."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption()))
    return files
