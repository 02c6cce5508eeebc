"""The dialects over HTTP: streamable HTTP at /mcp, /mcp/NAME and /NAME/mcp, the older SSE at /sse and /NAME/sse.

One Starlette application carries them all, and whatever other routes it is given. Who may do what is decided per
request, by its token. Requests that a web page of somebody else's makes are refused by their Host and Origin.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address
from secrets import compare_digest
from typing import TYPE_CHECKING, Any

from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.server import Serving, build, current_access

from mcp.server.sse import SseServerTransport  # isort: skip  # server.py prepares these imports
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # isort: skip
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings  # isort: skip
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS  # isort: skip
from starlette.applications import Starlette  # isort: skip
from starlette.datastructures import Headers  # isort: skip
from starlette.responses import PlainTextResponse  # isort: skip
from starlette.routing import BaseRoute, Route  # isort: skip
from starlette.types import ASGIApp, Message, Receive, Scope, Send  # isort: skip

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

__all__ = ["Door", "is_loopback", "make_app"]

_LARGEST_BODY = 32 << 20  # a document can come inside of a call
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Door:
    """Who is let in: by which names the server may be called, and what a token is good for."""

    access: Access
    """What whoever has the token may do."""
    token: str
    hosts: tuple[str, ...] = _LOCAL_NAMES
    """Names and addresses, without ports, that requests may be addressed to."""
    reads_need_token: bool = False
    """Else whoever has none may read."""

    def access_of(self, headers: Headers) -> Access | None:
        """What a request may do; None: not even come in."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if given:
            good = scheme.lower() == "bearer" and compare_digest(given.strip().encode(), self.token.encode())
            return self.access if good else None
        return None if self.reads_need_token else replace(self.access, lacks_token=True)

    @property
    def security(self) -> TransportSecuritySettings:
        """The same names for the library's check of Host and Origin."""
        origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in self.hosts]
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*self.hosts, *(f"{host}:*" for host in self.hosts)],
            allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host == "localhost"


def make_app(
    dialects: Iterable[Dialect], default: str, serving: Serving, door: Door, more: Sequence[BaseRoute] = ()
) -> Starlette:
    """The application; `default` is the dialect at /mcp and /sse, `more` are routes beside those of MCP."""
    endpoints: list[_Streamable] = []
    routes: list[BaseRoute] = []
    for dialect in dialects:
        server = build(dialect, serving)
        endpoint = _Streamable(server, door)
        endpoints.append(endpoint)
        name = dialect.name
        is_default = name == default
        addresses = [*(["/mcp"] if is_default else []), f"/mcp/{name}", f"/{name}/mcp"]
        routes += [Route(path, endpoint=_guarded(endpoint, door)) for path in addresses]
        for path in [*(["/sse"] if is_default else []), f"/{name}/sse"]:
            older = _Sse(server, door, f"{path}/messages")
            routes.append(Route(path, endpoint=_guarded(older, door), methods=["GET"]))
            routes.append(Route(f"{path}/messages", endpoint=_guarded(older.messages, door)))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for endpoint in endpoints:
                await stack.enter_async_context(endpoint.running())
            yield

    return Starlette(routes=[*routes, *more], lifespan=lifespan)


class _guarded:  # noqa: N801  # reads as the function that it is; Starlette takes only objects for ASGI applications
    """Lets in whom the door lets in, and remembers for the request what it may do."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = self._door.access_of(Headers(scope=scope))
        if access is None:
            refusal = PlainTextResponse(
                "This needs the server's token.", 401, headers={"WWW-Authenticate": 'Bearer realm="dowse"'}
            )
            await refusal(scope, receive, send)
            return
        token = current_access.set(access)
        try:
            await self._app(scope, receive, send)
        finally:
            current_access.reset(token)


class _Streamable:
    """Streamable HTTP for every kind of client: with a session, without one, and of the stateless protocol.

    A session lets a client of the handshake versions cancel a call. One that never asked for a session, or lost it
    with a restart, is answered all the same: nothing of ours depends on sessions.
    """

    def __init__(self, server: "Server[Any]", door: Door) -> None:
        def manager(*, stateless: bool) -> StreamableHTTPSessionManager:
            return StreamableHTTPSessionManager(
                server,
                stateless=stateless,
                security_settings=door.security,
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

    def __init__(self, server: "Server[Any]", door: Door, messages: str) -> None:
        self._server = server
        self._transport = SseServerTransport(messages, door.security, _LARGEST_BODY)
        self.messages: ASGIApp = self._transport.handle_post_message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ValueError):  # the transport has refused the request, and told the client
            async with self._transport.connect_sse(scope, receive, send) as (read, write):
                await self._server.run(read, write, self._server.create_initialization_options())


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
