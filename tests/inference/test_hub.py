"""A model by its name at the hub: fetched once by the hub's own client, from a hub that the test serves itself."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest

from inference.tiny_onnx import DIMS, write_cross_encoder, write_encoder

COMMIT = "a" * 40
PROGRAM = """
import json, sys
from pathlib import Path
from dowse import inference
from dowse.errors import DowseError
line, cache = sys.argv[1], Path(sys.argv[2])
said = []
try:
    if sys.argv[3] == "rerank":
        made = inference.make_reranker(line, cache_dir=cache, on_message=said.append)
        found = [float(x) for x in made.rerank("green tea", ["tea", "bank"])]
    elif sys.argv[3] == "identity":
        found = inference.identity_of(line, "int8", cache).name
        assert "huggingface_hub" not in sys.modules
        made = None
    else:
        made = inference.make_embedder(line, cache_dir=cache, on_message=said.append)
        found = [made.identity.name, made.embed_query("green tea").shape[0]]
    if made is not None:
        made.close()
    print(json.dumps({"found": found, "said": said}))
except DowseError as error:
    print(json.dumps({"error": error.message, "hint": error.hint}))
"""


class Hub(ThreadingHTTPServer):
    """Serves the files of one folder as the repositories `tiny/*`."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.folder = folder
        self.asked: list[str] = []
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class HubHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub = cast("Hub", self.server)
        path = self.path.split("?")[0]
        hub.asked.append(f"{self.command} {path}")
        if path.startswith(("/api/models/tiny/encoder", "/api/models/tiny/cross")):
            files = [each for each in sorted(hub.folder.rglob("*")) if each.is_file()]
            names = [each.relative_to(hub.folder).as_posix() for each in files]
            entries = [
                {"type": "file", "path": name, "oid": "b" * 40, "size": each.stat().st_size}
                for name, each in zip(names, files, strict=True)
            ]
            info = {"id": "tiny/model", "sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}
            self.send(json.dumps(entries if "/tree/" in path else info).encode(), {"Content-Type": "application/json"})
            return
        file = hub.folder / path.partition(f"/resolve/{COMMIT}/")[2]
        if "/resolve/" in path and file.is_file():
            raw = file.read_bytes()
            self.send(raw, {"ETag": f'"{hashlib.sha256(raw).hexdigest()}"', "X-Repo-Commit": COMMIT})
            return
        code = "EntryNotFound" if "/resolve/" in path else "RepoNotFound"
        self.send(b"{}", {"X-Error-Code": code}, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def send(self, raw: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def hub(tmp_path) -> Iterator[Hub]:
    folder = write_encoder(tmp_path / "remote", config_json={"hidden_size": DIMS})
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    (folder / "pytorch_model.bin").write_bytes(b"never fetched")
    started = Hub(folder)
    yield started
    started.shutdown()
    started.server_close()
    started.thread.join()


def run(hub: Hub, tmp_path: Path, line: str, what: str = "embed", **more: str) -> dict[str, object]:
    """What a fresh process finds; the client reads its settings when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), **more}
    environment.pop("HF_TOKEN", None)
    command = [sys.executable, "-c", PROGRAM, line, str(tmp_path / "cache"), what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_model_is_fetched_once_and_then_nobody_is_asked(hub, tmp_path):
    first = run(hub, tmp_path, "hub:tiny/encoder")
    assert first == {
        "found": ["tiny/encoder", DIMS],
        "said": ["fetching the model tiny/encoder from the hub (once)"],
    }
    assert not any("pytorch_model.bin" in asked for asked in hub.asked)
    hub.asked.clear()

    assert run(hub, tmp_path, "hub:tiny/encoder") == {"found": ["tiny/encoder", DIMS], "said": []}
    assert run(hub, tmp_path, "hub:tiny/encoder", "identity") == {"found": "tiny/encoder", "said": []}
    assert hub.asked == []


def test_a_cross_encoder_comes_from_the_hub_as_well(hub, tmp_path):
    write_cross_encoder(hub.folder)

    found = run(hub, tmp_path, "hub:tiny/cross", "rerank")["found"]

    assert isinstance(found, list)
    assert found[0] > found[1]


def test_a_name_that_the_hub_does_not_know_is_told(hub, tmp_path):
    found = run(hub, tmp_path, "hub:no/such")

    assert "could not be fetched" in str(found["error"])
    assert "onnx:FOLDER" in str(found["hint"])


def test_a_model_without_an_onnx_file_is_told(hub, tmp_path):
    (hub.folder / "onnx" / "model.onnx").unlink()

    assert "has no ONNX file" in str(run(hub, tmp_path, "hub:tiny/encoder")["error"])


def test_offline_nothing_is_asked_and_the_error_says_so(hub, tmp_path):
    found = run(hub, tmp_path, "hub:tiny/encoder", HF_HUB_OFFLINE="1")

    assert "HF_HUB_OFFLINE" in str(found["hint"])
    assert hub.asked == []


def test_a_name_that_cannot_be_one_is_told(hub, tmp_path):
    assert "error" in run(hub, tmp_path, "hub:a/b/c")
