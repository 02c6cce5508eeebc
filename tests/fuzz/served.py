"""What is asked of servers: the HTTP application and the JSON-RPC of every dialect, both as they are, in this process.

The index that they serve is made anew when a request took something out of it, so that an input means the same
whatever came before it.
"""

import gzip
import json
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from dowse.interfaces.http.app import make_app
from dowse.interfaces.http.door import Door
from dowse.interfaces.http.table import TABLE
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialects import DIALECTS, load
from dowse.interfaces.mcp.server import Serving
from dowse.interfaces.mcp.stdio import converse
from http_api import TOKEN, build_index
from interfaces.mcp.lines import ENVELOPE
from workbench import open_at

__all__ = ["ask_http", "discard", "http_seeds", "rpc_seeds", "talk"]

_PATIENCE = 60.0  # seconds for an answer
_END = b'{"jsonrpc":"2.0","id":"the-end","method":"ping","params":{"_meta":%s}}\n' % json.dumps(ENVELOPE).encode()


class _Complaints(logging.Handler):
    """Whatever the program itself calls unexpected."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.errors.append(record.exc_info[1])

    def raise_first(self) -> None:
        if self.errors:
            first = self.errors[0]
            self.errors.clear()
            raise first


@dataclass
class _Server:
    """An index, what serves it, and a loop to do so in."""

    serving: Serving
    app: Any
    portal: BlockingPortal
    folder: Path
    open: ExitStack
    complaints: _Complaints = field(default_factory=_Complaints)

    def close(self) -> None:
        """End it and remove its index."""
        self.open.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_running: list[_Server] = []


def _server() -> _Server:
    if not _running:
        _running.append(_started())
    return _running[0]


def discard() -> None:
    """Let the next input find an index as it was."""
    while _running:
        _running.pop().close()


@cache
def _pristine() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dowse-fuzz-")).resolve()
    build_index(folder)
    return folder


def _started() -> _Server:
    """Two collections and no way to the web."""
    folder = Path(tempfile.mkdtemp(prefix="dowse-fuzz-")).resolve()
    shutil.copytree(_pristine(), folder, dirs_exist_ok=True)
    opened = ExitStack()
    engine = opened.enter_context(open_at(folder))
    access = replace(Access.over_http([folder]), url_patterns=())
    serving = Serving(engine, access)
    opened.callback(serving.close)
    app = make_app([load(name) for name in DIALECTS], "dowse", serving, Door(access, token=TOKEN))
    portal = opened.enter_context(start_blocking_portal())
    inner: Any = app.app
    opened.enter_context(portal.wrap_async_context_manager(inner.router.lifespan_context(inner)))
    made = _Server(serving, app, portal, folder, opened)
    for name in ("dowse", "mcp"):
        logger = logging.getLogger(name)
        logger.addHandler(made.complaints)
        opened.callback(logger.removeHandler, made.complaints)
    return made


# HTTP: a request as text, read leniently, and given to the application as a server for HTTP would do


def ask_http(data: bytes) -> None:
    """The answer is a success or a refusal in the one shape; nothing of it is the server's own fault."""
    scope, body = _request(data)
    server = _server()
    sent = server.portal.call(_answered, server.app, scope, body)
    changed = scope["method"] in {"DELETE", "PATCH"} and sent and sent[0]["status"] < 300
    try:
        server.complaints.raise_first()
        _check(scope["path"], sent)
    finally:
        if changed:
            discard()


def _request(data: bytes) -> tuple[dict[str, Any], bytes]:
    """What h11 lets through: a target without blanks, names of headers that are names, values of one line."""
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, target = first.partition(b" ")
    target = bytes(each for each in target if 0x21 <= each <= 0x7E) or b"/"
    raw_path, _, query = target.partition(b"?")
    headers = []
    for line in lines:
        name, _, value = line.partition(b":")
        name = re.sub(rb"[^A-Za-z0-9!#$%&'*+.^_`|~-]", b"", name).lower()
        if name:
            headers.append((name, re.sub(rb"[\x00\r]", b"", value).strip()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": re.sub(rb"[^A-Za-z]", b"", method).decode() or "GET",
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8181),
    }
    return scope, body


async def _answered(app: Any, scope: dict[str, Any], body: bytes) -> list[dict[str, Any]]:
    """What the application sends; its client leaves when it has sent its body."""
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []
    ended = anyio.Event()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        with anyio.move_on_after(0.2):  # a stream goes on until then
            await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            ended.set()

    with anyio.fail_after(_PATIENCE):
        await app(scope, receive, send)
    return sent


def _check(path: str, sent: Sequence[Mapping[str, Any]]) -> None:
    assert [each["type"] for each in sent[:1]] == ["http.response.start"], "no answer"
    status, headers = sent[0]["status"], dict(sent[0]["headers"])
    assert all(b"\n" not in value and b"\r" not in value for value in headers.values()), "a header of two lines"
    assert status < 500 or status in {503, 507}, f"status {status}"
    content = b"".join(each.get("body", b"") for each in sent[1:])
    if headers.get(b"content-encoding") == b"gzip":
        content = gzip.decompress(content)
    is_json = headers.get(b"content-type") == b"application/json"
    if status >= 400 and not _is_mcp(path):
        assert is_json, "an error that is no JSON"
    if is_json and path.startswith("/api/v1/"):
        answer = json.loads(content)
        if status >= 400:
            assert set(answer) == {"error"}
            assert set(answer["error"]) == {"code", "message", "hint", "details"}
        else:
            assert set(answer) == {"data", "meta"}


def _is_mcp(path: str) -> bool:
    return path.endswith(("/mcp", "/sse", "/sse/messages")) or path.startswith("/mcp/")


def http_seeds() -> list[bytes]:
    """A sound request for every route, for MCP over HTTP in both eras, and for what stands at the root."""
    requests = [_seed(row.method, *_spelled(row, given)) for row in TABLE for given in _samples(row.takes)]
    calls = [json.dumps(call).encode() for era in ({}, ENVELOPE) for call in _calls(load("dowse"), era)]
    requests += [_seed("POST", "/mcp", call, _MCP) for call in calls]
    requests += [_seed("POST", "/qmd/mcp", json.dumps(_OPENING).encode(), _MCP)]
    others = ("/health", "/ready", "/metrics", "/openapi.json", "/", "/sse", "/mcp", "/js/main.js")
    requests += [_seed("GET", path) for path in others]
    bodies = {"/query": {"searches": [{"type": "lex", "query": "tea"}]}, "/embed": {"texts": ["tea"]}}
    requests += [_seed("POST", path, json.dumps(body).encode()) for path, body in bodies.items()]
    return requests


_MCP = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}
_OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
_PLACES = {"id": "tea/green.md", "path": "new.md", "name": "tea", "job": "x", "collection": "tea"}


def _spelled(row: Any, arguments: Mapping[str, Any]) -> tuple[str, bytes]:
    """The target and the body of a request that a row takes."""
    variables = re.findall(r"\{(\w+)(?::path)?\}", row.path)
    path = re.sub(r"\{(\w+)(?::path)?\}", lambda found: _PLACES.get(found[1], "tea"), row.path)
    given = {name: value for name, value in arguments.items() if name not in variables}
    if row.in_body:
        return path, json.dumps(given).encode()
    flat = {name: value[0] if isinstance(value, list) else value for name, value in given.items()}
    flat = {name: value if isinstance(value, str) else json.dumps(value) for name, value in flat.items()}
    query = "&".join(f"{name}={quote(value)}" for name, value in flat.items())
    return f"{path}?{query}" if query else path, b"# New" if row.raw_body else b""


def _seed(method: str, target: str, body: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
    headers = {
        "Host": "127.0.0.1:8181",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "*/*",
        **(more or {}),
    }
    lines = [f"{method} {target}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join(lines).encode() + b"\n\n" + body


# JSON-RPC: lines on stdin, in either era


def talk(dialect: str, data: bytes) -> None:
    """Every line out is a message of JSON-RPC, none is the server's own fault, and the last question is answered."""
    server = _server()
    said: list[bytes] = []
    lines = data.rstrip(b"\n") + b"\n"
    half = len(lines) // 2 or 1  # no part is empty: that would be the end
    parts = iter([part for part in (lines[:half], lines[half:], _END) if part])

    def send(line: Any) -> int:
        said.append(bytes(line))
        return len(line)

    async def conversation() -> None:
        with anyio.fail_after(_PATIENCE):
            await converse(load(dialect), server.serving, partial(_next, parts), send)

    try:
        server.portal.call(conversation)
        server.complaints.raise_first()
        answers = [json.loads(line) for line in b"".join(said).splitlines()]
        for answer in answers:
            assert answer["jsonrpc"] == "2.0"
            assert "error" not in answer or answer["error"]["code"] != -32603, answer["error"]["message"]
        assert any(answer.get("id") == "the-end" for answer in answers), "the server did not go on"
    finally:
        if any(word in data for word in (b"delete", b"clear")):
            discard()


def _next(parts: Iterator[bytes], _: int) -> bytes:
    return next(parts, b"")


def rpc_seeds(dialect: str) -> list[bytes]:
    """Both eras, every tool with sound arguments, every list, resource and prompt."""
    table = load(dialect)
    more = [{"method": f"{kind}/list", "params": {}} for kind in ("tools", "resources", "prompts")]
    more += [{"method": "resources/read", "params": {"uri": re.sub(r"\{.*\}", "tea/green.md", each.uri)}}
             for each in table.resources]  # fmt: skip
    more += [{"method": "prompts/get", "params": {"name": each.name, "arguments": {}}} for each in table.prompts]
    more += [{"method": "notifications/cancelled", "params": {"requestId": 1}}, {"method": "server/discover"}]
    found = []
    for era in ({}, ENVELOPE):
        opening = [] if era else [_OPENING, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        asked = _calls(table, era)
        asked += [_asked(each["method"], each.get("params", {}), era, place) for place, each in enumerate(more)]
        for place in range(0, len(asked), 2):
            lines = [*opening, *asked[place : place + 2]]
            found.append(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    return found


def _calls(table: Any, era: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        _asked("tools/call", {"name": tool.name, "arguments": given}, era, number)
        for tool in table.tools
        for number, given in enumerate(_samples(tool.input))
    ]


def _asked(method: str, params: Mapping[str, Any], era: Mapping[str, Any], number: int) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method, "params": {**params, **({"_meta": era} if era else {})}}
    return message if method.startswith("notifications/") else {**message, "id": number}


def _samples(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Arguments that a schema takes: what it wants, and the same with each thing that may be said besides."""
    known = schema.get("properties", {})
    least = {name: _sample(known[name], name) for name in schema.get("required", ())}
    asks = {"query": "tea", **least} if "query" in known else least
    more = [{**(least if name == "searches" else asks), name: _sample(known[name], name)} for name in known]
    return [asks, *(each for each in more if each != asks)]


def _sample(schema: Mapping[str, Any], name: str = "") -> Any:
    """A value that a schema takes, or nearly so."""
    for known in ("default", "const"):
        if schema.get(known) is not None:
            return schema[known]
    if schema.get("enum"):
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return _sample(schema[choice][0], name)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {each: _sample(inner, each) for each, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [_sample(schema.get("items", {}), name)]
    texts = {"mode": "lex", "url": "https://example.org/", "path": "tea/green.md", "file": "tea/green.md"}
    plain = {"integer": schema.get("minimum", 3), "number": 0.5, "boolean": True, "null": None}
    return plain[kind] if kind in plain else texts.get(name, _PLACES.get(name, "tea"))
