"""A dialect on stdin and stdout, for a client that starts this process itself.

Only protocol goes to stdout: whatever else writes there ends up on stderr, and whatever else reads from stdin finds
nothing. What is no JSON-RPC gets the error that JSON-RPC has for it. When the client closes stdin, the calls that are
under way get a few seconds to be answered; a client that does not read any more ends the server.

The library's own transport drops malformed lines without a word, forgets calls at the end of stdin, and cannot be
ended while it waits for a line; so this one has a thread for each direction.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.framing import LONGEST_LINE, Receive, Send, lines_of
from dowse.interfaces.mcp.server import Serving, build

import mcp_types as types  # isort: skip  # server.py prepares these imports
from mcp.shared.message import SessionMessage  # isort: skip
from pydantic import ValidationError  # isort: skip

__all__ = ["converse", "run", "serve"]

_log = logging.getLogger(__name__)

_PATIENCE = 5.0  # seconds for answers after stdin was closed, and for their way out
_MOST_LINES = 1_000  # that wait for a client to read them
_MOST_CALLS = 1_000  # that wait for their answers
_LOOK_SECONDS = 0.02  # until the next look, where a client is that slow
_Incoming: TypeAlias = SessionMessage | Exception


def serve(dialect: Dialect, serving: Serving) -> None:
    """Answer until the client leaves."""
    anyio.run(run, dialect, serving)


async def run(dialect: Dialect, serving: Serving) -> bool:
    """The same inside of a loop; returns whether anybody ever asked for anything."""
    with _claimed() as (stdin, stdout):
        return await converse(dialect, serving, partial(os.read, stdin), partial(os.write, stdout))


async def converse(dialect: Dialect, serving: Serving, receive: Receive, send: Send) -> bool:
    """The same over any pair of functions that read and write bytes, each called in a thread of its own."""
    server = build(dialect, serving)
    to_server, read = anyio.create_memory_object_stream[_Incoming](0)
    write, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks, _Wire(send, tasks.cancel_scope) as wire:
        tasks.start_soon(wire.send_all, from_server)
        Thread(target=_read_lines, args=(receive, _Reader(wire, to_server)), name="dowse-in", daemon=True).start()
        await server.run(read, write, server.create_initialization_options())
    return wire.was_used


@contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Private descriptors of the client's pipe; the public ones lead to nothing and to stderr meanwhile."""
    sys.stdout.flush()
    private = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield private
    finally:  # the private ones stay open: a thread may still wait for a line
        os.dup2(private[0], 0)
        os.dup2(private[1], 1)


class _Wire:
    """The way out: a thread writes, so that a client that is slow to read holds up nobody."""

    def __init__(self, write: Send, scope: anyio.CancelScope) -> None:
        self._write = write
        self._scope = scope
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._loop = anyio.lowlevel.current_token()
        self._written = anyio.Event()
        self._changed = anyio.Event()
        self._pending: set[str | int] = set()
        self.was_used = False

    async def __aenter__(self) -> Self:
        Thread(target=self._write_lines, name="dowse-out", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._lines.put(None)
        with anyio.move_on_after(_PATIENCE, shield=True):
            await self._written.wait()

    async def send_all(self, messages: ObjectReceiveStream[SessionMessage]) -> None:
        """Send whatever the server says."""
        async with messages:
            async for item in messages:
                await self.send(item.message)

    async def send(self, message: types.JSONRPCMessage) -> None:
        """Send one message, when there is room for it: whoever does not read is not answered any further."""
        while self._lines.qsize() >= _MOST_LINES:  # noqa: ASYNC110 - a thread makes the room
            await anyio.sleep(_LOOK_SECONDS)
        self._lines.put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._pending.discard(message.id)
            self._changed.set()

    async def asked(self, message: types.JSONRPCMessage) -> None:
        """Remember that a message wants an answer, or that another one will never have one."""
        self.was_used = True
        if isinstance(message, types.JSONRPCRequest):
            while len(self._pending) >= _MOST_CALLS:  # noqa: ASYNC110 - rare, and answers come one by one
                await anyio.sleep(_LOOK_SECONDS)
            self._pending.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            with suppress(TypeError):  # an id that is no id
                self._pending.discard((message.params or {}).get("requestId", ""))

    async def all_answered(self) -> None:
        """Wait until nothing is without an answer, but not for ever."""
        with anyio.move_on_after(_PATIENCE):
            while self._pending:
                self._changed = anyio.Event()
                await self._changed.wait()

    def _write_lines(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._write(rest) :]
        except OSError:
            _log.info("the client does not read any more")
            self._in_loop(self._scope.cancel)
        self._in_loop(self._written.set)

    def _in_loop(self, function: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended
            anyio.from_thread.run_sync(function, token=self._loop)


class _Reader:
    """The way in: each line becomes a message to the server or a complaint to the client."""

    def __init__(self, wire: _Wire, to_server: ObjectSendStream[_Incoming]) -> None:
        self._wire = wire
        self._to_server = to_server
        self.loop = anyio.lowlevel.current_token()

    async def line(self, line: bytes) -> None:
        """Take one in."""
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            await self._wire.send(_complaint(error))
            return
        await self._wire.asked(message)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
            await self._to_server.send(SessionMessage(message))

    async def too_long(self) -> None:
        """Refuse a line that nobody should send."""
        await self._wire.send(_error(None, types.INVALID_REQUEST, f"Invalid request: more than {LONGEST_LINE:,} bytes"))

    async def end(self) -> None:
        """There will be no more: see the calls under way to their end, then let the server end."""
        await self._wire.all_answered()
        await self._to_server.aclose()


def _read_lines(receive: Receive, reader: _Reader) -> None:
    """Read until the end, in a thread of its own; without Python's buffers, which cannot be left while one waits."""
    with suppress(RuntimeError, OSError):  # the loop or the client has ended
        for line in lines_of(receive):
            if line is None:
                anyio.from_thread.run(reader.too_long, token=reader.loop)
            elif line.strip():
                anyio.from_thread.run(reader.line, line, token=reader.loop)
        anyio.from_thread.run(reader.end, token=reader.loop)


def _complaint(error: ValidationError) -> types.JSONRPCError:
    """What JSON-RPC says to a line that is no JSON, or no message; with the id, where it has one."""
    errors = error.errors()
    if errors[0]["type"] == "json_invalid":
        return _error(None, types.PARSE_ERROR, "Parse error: this is no JSON")
    whole = (each["input"] for each in errors if isinstance(each["input"], dict))
    sent = next((value["id"] for value in whole if "id" in value), None)
    known = sent if isinstance(sent, str | int) and not isinstance(sent, bool) else None
    return _error(known, types.INVALID_REQUEST, "Invalid request: this is no JSON-RPC 2.0 message")


def _error(request: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request, error=types.ErrorData(code=code, message=message))
