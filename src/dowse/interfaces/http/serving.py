"""Runs the application on a port, alone or beside stdin and stdout, and cuts clients that only hold connections."""

import asyncio
import gc
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.errors import DowseError, UsageError
from dowse.interfaces import wire
from dowse.interfaces.http.errors import HeadersTooLargeError, UnreadableError
from dowse.interfaces.mcp import stdio
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.server import Serving
from dowse.records import record

from starlette.types import ASGIApp  # isort: skip

__all__ = ["Tls", "config_for", "serve"]

_PATIENCE = 5  # seconds for requests under way when the server is asked to end
_HEADER_SECONDS = 10.0  # for the head of a request to come, and for what is left of a body that is answered already
_IDLE_SECONDS = 30  # for the next request on a connection
_LARGEST_HEAD = 32 << 10  # bytes
_MOST_CONNECTIONS = 1_000
_COLLECTED = (20_000, 50, 100)
"""How often circles of objects are looked for: an answer makes thousands of objects, and hardly ever a circle."""


@record
class Tls:
    """Files in PEM."""

    certificate: Path
    key: Path | None = None


class _Protocol(H11Protocol):
    """HTTP that waits for what nobody reads only so long, and refuses in our words.

    uvicorn ends connections that are idle between two requests, but neither those that send a head byte by byte nor
    those that go on sending a body so after its answer.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.abort()
            return
        # asyncio does so for sockets that name their protocol, which those of `socket.create_server` do not. Without it
        # the body of an answer waits for the client to confirm its head, which clients put off for 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._waits_in_vain():
            if self._waiting is None:
                self._wait()
        else:
            self._wait_no_more()  # whoever answers waits for the body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        has_part_of_the_next = self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]
        if has_part_of_the_next or self._is_answered_early():
            self._wait()

    def send_400_response(self, msg: str) -> None:
        # uvicorn calls this for everything that h11 cannot read; a head that is too large is one of these.
        too_large = len(self.conn.trailing_data[0]) >= _LARGEST_HEAD
        error: DowseError = (
            HeadersTooLargeError(f"The head of the request is larger than {_LARGEST_HEAD:,} bytes.", hint="Send less.")
            if too_large
            else UnreadableError("This is no HTTP request.", hint=msg)
        )
        body = wire.compact(dict(wire.error(error))).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        headers.append((b"content-length", str(len(body)).encode()))
        reason = b"Request Header Fields Too Large" if too_large else b"Bad Request"
        events = (
            h11.Response(status_code=error.http_status, headers=headers, reason=reason),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()

    def _waits_in_vain(self) -> bool:
        """Whether nobody but this class waits for what the client sends next."""
        return self.conn.their_state is h11.IDLE or self._is_answered_early()

    def _is_answered_early(self) -> bool:
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def _wait(self) -> None:
        self._wait_no_more()
        self._waiting = self.loop.call_later(_HEADER_SECONDS, self._cut)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _cut(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.abort()


def serve(
    app: ASGIApp,
    listener: socket.socket,
    on_ready: Callable[[], None],
    beside: tuple[Dialect, Serving] | None = None,
    tls: Tls | None = None,
) -> None:
    """Answer until asked to end; with `beside`, also on stdin and stdout, and until that client leaves."""
    gc.freeze()
    gc.set_threshold(*_COLLECTED)
    anyio.run(_serve, config_for(app, tls), listener, on_ready, beside)


def config_for(app: ASGIApp, tls: Tls | None = None) -> uvicorn.Config:
    """How uvicorn runs it.

    Raises:
        UsageError: the certificate cannot be used.
    """
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_PATIENCE,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    try:
        config.load()
    except (OSError, ValueError) as error:
        if tls is None:
            raise
        raise UsageError(
            f"The certificate {tls.certificate} cannot be used: {error}.",
            hint="Give a certificate and its key in PEM: --tls-cert FILE --tls-key FILE",
        ) from error
    return config


async def _serve(
    config: uvicorn.Config,
    listener: socket.socket,
    on_ready: Callable[[], None],
    beside: tuple[Dialect, Serving] | None,
) -> None:
    server = uvicorn.Server(config)
    on_ready()
    if beside is None:
        await server.serve([listener])
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        if await stdio.run(*beside):  # a stdin that was closed from the start, as that of a service, ends nothing
            server.should_exit = True
