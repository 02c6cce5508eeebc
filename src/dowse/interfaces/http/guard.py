"""Around every route: names of requests, who may come in and how often, headers for browsers, and the log.

One ASGI application in front of the others, so that nothing that is served, MCP and the page included, can be
reached past it. What it refuses has the one shape of errors.
"""

import json
import logging
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from dowse.errors import DowseError
from dowse.interfaces.http.answering import failed
from dowse.interfaces.http.bodies import in_time
from dowse.interfaces.http.door import Door, Visitor
from dowse.interfaces.http.errors import BusyError, RateError
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.mcp.dialect import UnexpectedError
from dowse.interfaces.mcp.server import current_access
from dowse.records import record

from starlette.datastructures import Headers, MutableHeaders  # isort: skip
from starlette.responses import Response  # isort: skip
from starlette.types import ASGIApp, Message, Receive, Scope, Send  # isort: skip

__all__ = ["Guard", "Limits", "to_stderr"]

_log = logging.getLogger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_OPEN = frozenset({"/health"})
"""What tells nothing of the index, so that whoever watches over servers can ask without a token."""
_MOST_CLIENTS = 10_000  # whose requests are counted
_METHODS = "GET, POST, PUT, PATCH, DELETE"
_ALLOWED = (
    "Authorization, Content-Type, If-None-Match, X-Request-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, "
    "Mcp-Name, Last-Event-ID"
)
_EXPOSED = "X-Request-ID, ETag, Retry-After, Mcp-Session-Id"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every response: nothing of it may run, be framed, or tell where it was read."""
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


@record
class Limits:
    """How much is let in."""

    requests: int = 128
    """Under way at once; streams are not among them."""
    streams: int = 256
    rate: float = 1_000.0
    """Requests per second of one token, or of one address without a token."""
    burst: float = 2.0
    """Seconds of that rate that may come at once."""


@dataclass
class _Bucket:
    """What a client may still send now."""

    left: float
    at: float


@dataclass
class Guard:
    """See the module."""

    app: ASGIApp
    door: Door
    metrics: Metrics = field(default_factory=Metrics)
    limits: Limits = field(default_factory=Limits)
    is_stream: Callable[[str], bool] = lambda _: False
    """Whether answers at this address last as long as the client wants."""
    refused: Callable[[str, DowseError], Response | None] = lambda *_: None
    """The form of errors at this address, where it has another one."""
    log: Callable[[str], None] | None = None
    """Takes a line of JSON per request."""
    _buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict)
    _streams: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope["dowse.request_id"] = request_id
        started = time.perf_counter()
        sent: dict[str, Any] = {"status": 0, "origin": "", "visitor": ""}
        wrapped = self._sending(send, request_id, sent)
        try:
            await self._let_in(scope, headers, sent, receive, wrapped)
        finally:
            seconds = time.perf_counter() - started
            route = scope.get("dowse.route") or _other(scope["path"])
            self.metrics.add(route, sent["status"] or 499, seconds)
            if self.log:
                self.log(_line(scope, route, sent, request_id, seconds))

    async def _let_in(self, scope: Scope, headers: Headers, sent: dict[str, Any], receive: Receive, send: Send) -> None:
        is_stream = self.is_stream(scope["path"])
        try:
            visitor = self._visitor(scope, headers, sent)
            if sent["origin"] and scope["method"] == "OPTIONS":
                await _preflight()(scope, receive, send)
                return
            self._check_load(is_stream=is_stream)
        except DowseError as error:
            await self._failed(scope, error)(scope, receive, send)
            return
        scope["dowse.access"] = visitor.access
        token = current_access.set(visitor.access)
        self._count(is_stream, 1)
        try:
            await self.app(scope, in_time(receive, headers), send)
        except Exception as error:
            _log.exception("%s failed unexpectedly", scope.get("dowse.route") or scope["path"])
            if sent["status"]:
                raise
            unexpected = UnexpectedError("Something went wrong inside of the server.")
            await self._failed(scope, unexpected)(scope, receive, send)
            del error
        finally:
            self._count(is_stream, -1)
            current_access.reset(token)

    def _visitor(self, scope: Scope, headers: Headers, sent: dict[str, Any]) -> Visitor:
        self.door.check_host(headers)
        sent["origin"] = self.door.check_origin(headers)
        client = (scope.get("client") or ("unknown",))[0]
        if scope["path"] in _OPEN or (sent["origin"] and scope["method"] == "OPTIONS"):
            return Visitor(self.door.access, f"address {client}")
        visitor = self.door.visitor_of(headers, client)
        sent["visitor"] = visitor.name
        self._check_rate(visitor.name)
        return visitor

    def _check_rate(self, name: str) -> None:
        """A bucket per client that fills at the rate; only the event loop looks at it."""
        rate, most = self.limits.rate, self.limits.rate * self.limits.burst
        now = time.monotonic()
        bucket = self._buckets.pop(name, None) or _Bucket(most, now)
        bucket.left = min(most, bucket.left + (now - bucket.at) * rate)
        bucket.at = now
        self._buckets[name] = bucket
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if bucket.left < 1:
            wait = max(1, round((1 - bucket.left) / rate + 0.5))
            raise RateError(
                f"More than {rate:g} requests per second.",
                hint=f"Wait {wait} s.",
                details={"retry_after": wait},
            )
        bucket.left -= 1

    def _check_load(self, *, is_stream: bool) -> None:
        under_way, most = (
            (self._streams, self.limits.streams) if is_stream else (self.metrics.in_flight, self.limits.requests)
        )
        if under_way >= most:
            raise BusyError("Too many requests are under way.", hint="Try again.", details={"retry_after": 1})

    def _count(self, is_stream: bool, change: int) -> None:  # noqa: FBT001  # of two kinds, one is counted
        if is_stream:
            self._streams += change
        else:
            self.metrics.in_flight += change

    def _failed(self, scope: Scope, error: DowseError) -> Response:
        return self.refused(scope["path"], error) or failed(error)

    def _sending(self, send: Send, request_id: str, sent: dict[str, Any]) -> Send:
        own = [*_RAW_HEADERS, (b"x-request-id", request_id.encode())]

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
                if self.door.origins:
                    headers = MutableHeaders(scope=message)
                    headers.add_vary_header("Origin")
                    if sent["origin"]:
                        headers["Access-Control-Allow-Origin"] = sent["origin"]
                        headers["Access-Control-Expose-Headers"] = _EXPOSED
                        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            await send(message)

        return with_headers


def to_stderr(line: str) -> None:
    """The access log: lines of JSON, where people and programs look for talk."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex


def _preflight() -> Response:
    allowed = {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": _ALLOWED,
        "Access-Control-Max-Age": "600",
    }
    return Response(None, 204, allowed)


def _other(path: str) -> str:
    """The name of a route that is none of the table's: few of them, whatever is asked for."""
    is_mcp = path.endswith(("/mcp", "/sse", "/sse/messages")) or path.startswith("/mcp/")
    return "mcp" if is_mcp else "other"


def _line(scope: Scope, route: str, sent: dict[str, Any], request_id: str, seconds: float) -> str:
    """Neither the query string nor a header is in it: questions and tokens stay out of logs."""
    said = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "request_id": request_id,
        "client": (scope.get("client") or ("unknown",))[0],
        "who": sent["visitor"] or None,
        "method": scope["method"][:20],
        "route": route,
        "status": sent["status"] or None,
        "ms": round(seconds * 1000, 2),
    }
    return json.dumps(said)
