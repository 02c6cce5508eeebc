"""The dialects over HTTP: streamable HTTP at /mcp, /mcp/NAME and /NAME/mcp, the older SSE at /sse and /NAME/sse.

These are routes of the one application (`interfaces/http/app.py`). Its guard has looked at Host, Origin and token
before a request comes here, and what the request may do is in `current_access`.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.server import Serving, build

from mcp.server.sse import SseServerTransport  # isort: skip  # server.py prepares these imports
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # isort: skip
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings  # isort: skip
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS  # isort: skip
from starlette.datastructures import Headers  # isort: skip
from starlette.routing import BaseRoute, Route  # isort: skip
from starlette.types import ASGIApp, Message, Receive, Scope, Send  # isort: skip

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

__all__ = ["endpoints_of"]

_LARGEST_BODY = 32 << 20  # a document can come inside of a call
_GUARDED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The library need not look at Host and Origin again."""


def endpoints_of(
    dialects: Iterable[Dialect], default: str, serving: Serving
) -> tuple[list[BaseRoute], Callable[[], AbstractAsyncContextManager[None]]]:
    """The routes, and what has to be open while requests are answered; `default` is the dialect at /mcp and /sse."""
    endpoints: list[_Streamable] = []
    routes: list[BaseRoute] = []
    for dialect in dialects:
        server = build(dialect, serving)
        endpoint = _Streamable(server)
        endpoints.append(endpoint)
        name = dialect.name
        is_default = name == default
        addresses = [*(["/mcp"] if is_default else []), f"/mcp/{name}", f"/{name}/mcp"]
        routes += [Route(path, endpoint=endpoint) for path in addresses]
        for path in [*(["/sse"] if is_default else []), f"/{name}/sse"]:
            older = _Sse(server, f"{path}/messages")
            routes.append(Route(path, endpoint=older, methods=["GET"]))
            routes.append(Route(f"{path}/messages", endpoint=_Messages(older)))

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for endpoint in endpoints:
                await stack.enter_async_context(endpoint.running())
            yield

    return routes, running


class _Streamable:
    """Streamable HTTP for every kind of client: with a session, without one, and of the stateless protocol.

    A session lets a client of the handshake versions cancel a call. One that never asked for a session, or lost it
    with a restart, is answered all the same: nothing of ours depends on sessions.
    """

    def __init__(self, server: "Server[Any]") -> None:
        def manager(*, stateless: bool) -> StreamableHTTPSessionManager:
            return StreamableHTTPSessionManager(
                server,
                stateless=stateless,
                security_settings=_GUARDED,
                max_request_body_size=_LARGEST_BODY,
                max_sessions=1_000,
            )

        self._with_session = manager(stateless=False)
        self._without = manager(stateless=True)
        self._whole = RequestBodyLimitMiddleware(self._choose, _LARGEST_BODY)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While this is open, requests are answered."""
        async with self._with_session.run(), self._without.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._whole(scope, receive, send)

    async def _choose(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        version = headers.get("mcp-protocol-version")
        if scope["method"] != "POST" or "mcp-session-id" in headers:
            await self._with_session.handle_request(scope, receive, send)
        elif version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._without.handle_request(scope, receive, send)
        else:
            message = await receive()  # all of it: the middleware around this has collected it
            manager = self._with_session if _opens_session(message.get("body", b"")) else self._without
            await manager.handle_request(scope, _again(message, receive), send)


class _Sse:
    """The transport before streamable HTTP: one stream of events out, and posts to an address of its own in."""

    def __init__(self, server: "Server[Any]", messages: str) -> None:
        self._server = server
        self._transport = SseServerTransport(messages, _GUARDED, _LARGEST_BODY)
        self.messages: ASGIApp = self._transport.handle_post_message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ValueError):  # the transport has refused the request, and told the client
            async with self._transport.connect_sse(scope, receive, send) as (read, write):
                await self._server.run(read, write, self._server.create_initialization_options())


class _Messages:
    """What is posted to a stream; Starlette takes only objects for ASGI applications."""

    def __init__(self, stream: _Sse) -> None:
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._stream.messages(scope, receive, send)


def _opens_session(body: bytes) -> bool:
    if b'"initialize"' not in body:
        return False
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, Mapping) and message.get("method") == "initialize"


def _again(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives this message first."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
