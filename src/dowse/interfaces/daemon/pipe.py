"""Bytes between a client's stdin and stdout and the daemon, and what happens when the daemon dies.

The client never sees a broken pipe. A new daemon is joined, is told the handshake if the client had one, and is asked
again what had no answer: reads as they are, while a write that may or may not have taken effect is answered with an
error that says so. A daemon that dies again and again is given up for a server in a process of its own.
"""

import json
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import Any, Protocol

from dowse.interfaces.daemon.meeting import RefusedError, UnavailableError
from dowse.interfaces.mcp.framing import LONGEST_LINE, lines_of

__all__ = ["Pipe"]

_DEATHS, _WITHIN = 3, 60.0  # so many in so many seconds are a loop
_PATIENCE = 4.0  # seconds after the end of stdin in which a silent end of the daemon is a death
_INVALID, _INTERNAL = -32600, -32603
_UNKNOWN = (
    "The server's process ended during this call, and whether it took effect is unknown: look before you repeat it."
)

Join = Callable[[], tuple[socket.socket, dict[str, Any]]]


class _Link(Protocol):
    """The other end."""

    def receive(self, most: int, /) -> bytes: ...
    def send(self, line: bytes, /) -> None: ...
    def finish(self) -> None: ...
    def close(self) -> None: ...


class _ToDaemon:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.receive = connection.recv
        self.send = connection.sendall
        self.close = connection.close

    def finish(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)


class _ToChild:
    """A server that this process starts for its own client."""

    def __init__(self, arguments: Sequence[str]) -> None:
        import subprocess  # when everything else has failed

        command = [sys.executable, "-P", "-m", "dowse", *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  # ours
        assert self._process.stdin  # noqa: S101  # asked for above
        assert self._process.stdout  # noqa: S101  # the same
        self._stdin = self._process.stdin
        self.receive = partial(os.read, self._process.stdout.fileno())

    def send(self, line: bytes) -> None:
        self._stdin.write(line)
        self._stdin.flush()

    def finish(self) -> None:
        with suppress(OSError):
            self._stdin.close()

    def close(self) -> None:
        self.finish()
        self._process.wait()


class _Pending:
    """A request without an answer."""

    def __init__(self, line: bytes, *, is_write: bool) -> None:
        self.line = line
        self.is_write = is_write
        self.was_sent = False


class Pipe:
    """One client's connection, over as many daemons as it takes."""

    def __init__(self, join: Join, alone: Sequence[str], say: Callable[[str], None]) -> None:
        """`alone` is the command line of a server without a daemon."""
        self._join = join
        self._alone = alone
        self._say = say
        self._link: _Link
        self._is_alone = False
        self._reads: frozenset[str] = frozenset()
        self._pending: dict[tuple[bool, object], _Pending] = {}
        self._handshake: list[bytes] = []
        """`initialize`, once it was answered, and `initialized`."""
        self._opening: tuple[bool, object] | None = None
        self._state = Lock()
        """Guards what is pending; held for moments."""
        self._sending = Lock()
        """Held while a line is on its way to the daemon, and while the daemon is replaced."""
        self._writing = Lock()
        self._ended_at: float | None = None
        self._deaths: deque[float] = deque(maxlen=_DEATHS)

    def run(self, connection: socket.socket, welcome: Mapping[str, Any]) -> int:
        """Carry everything until the client or the last server leaves; returns the exit code."""
        self._link = _ToDaemon(connection)
        self._reads = frozenset(welcome["reads"])
        Thread(target=self._from_client, name="dowse-stdin", daemon=True).start()
        try:
            while True:
                with suppress(OSError):  # as good as the end
                    for line in lines_of(self._link.receive):
                        self._to_client(line or b"")
                if self._is_over():
                    return 0
                if not self._fail_over():
                    return 1
        except _ClientLeftError:
            return 0
        except KeyboardInterrupt:
            return 130
        finally:
            self._link.close()

    # From the client

    def _from_client(self) -> None:
        with suppress(OSError, _ClientLeftError):
            for line in lines_of(partial(os.read, 0)):
                if line is None:
                    self._answer(None, _INVALID, f"Invalid request: more than {LONGEST_LINE:,} bytes")
                elif line.strip():
                    with self._sending:
                        self._forward(line + b"\n")
        with self._sending:
            self._ended_at = time.monotonic()
            self._link.finish()

    def _forward(self, line: bytes) -> None:
        entry = self._noted(line)
        try:
            self._link.send(line)
        except OSError:
            return  # the other thread notices, and what is pending is sent again
        if entry is not None:
            entry.was_sent = True

    def _noted(self, line: bytes) -> _Pending | None:
        """Remember what this line asks for."""
        message = _parsed(line)
        method, params = message.get("method"), message.get("params")
        with self._state:
            if method == "notifications/initialized":
                self._handshake.append(line)
            elif method == "notifications/cancelled" and isinstance(params, dict):
                self._pending.pop(_key(params.get("requestId")), None)
            elif isinstance(method, str) and "id" in message:
                name = params.get("name") if isinstance(params, dict) else None
                entry = _Pending(line, is_write=method == "tools/call" and name not in self._reads)
                key = _key(message["id"])
                self._pending[key] = entry
                if method == "initialize":
                    self._opening = key
                return entry
        return None

    # To the client

    def _to_client(self, line: bytes) -> None:
        message = _parsed(line)
        if not message:
            return  # the beginning of a line, by a daemon that died over it
        if "id" in message and "method" not in message:
            key = _key(message["id"])
            with self._state:
                answered = self._pending.pop(key, None)
                if answered is not None and key == self._opening and "result" in message:
                    self._handshake = [answered.line]
        self._write(line + b"\n")

    def _answer(self, request: object, code: int, message: str) -> None:
        made = {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}}
        self._write(json.dumps(made).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        try:
            with self._writing:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(1, rest) :]
        except OSError as error:
            raise _ClientLeftError from error

    # When the daemon dies

    def _is_over(self) -> bool:
        """Whether the end of the connection is what the client asked for by closing stdin."""
        ended = self._ended_at
        return ended is not None and (not self._pending or time.monotonic() > ended + _PATIENCE)

    def _fail_over(self) -> bool:
        """Go on with another server; whether there is one."""
        with self._sending:
            while True:
                self._link.close()
                if self._is_alone:
                    self._give_up("The server's process ended.")
                    return False
                try:
                    self._link = self._next_link()
                    self._replay()
                except RefusedError as error:
                    self._give_up(str(error))
                    return False
                except OSError:
                    continue  # this one died as well
                if self._ended_at is not None:
                    self._link.finish()
                return True

    def _next_link(self) -> _Link:
        now = time.monotonic()
        is_loop = len(self._deaths) == _DEATHS and now - self._deaths[0] < _WITHIN
        self._deaths.append(now)
        try:
            if is_loop:
                raise UnavailableError(f"it died {_DEATHS + 1} times within {_WITHIN:g} s")
            connection, _ = self._join()
        except UnavailableError as error:
            self._say(f"note: The shared process is gone: {error}. Going on without.")
            self._is_alone = True
            return _ToChild(self._alone)
        return _ToDaemon(connection)

    def _replay(self) -> None:
        """Tell the new server what the old one knew, and ask it what that one did not answer."""
        if self._handshake:
            self._link.send(self._handshake[0])
            if not _first_line(self._link.receive):
                raise ConnectionResetError
            for line in self._handshake[1:]:
                self._link.send(line)
        with self._state:
            pending = list(self._pending.items())
        for key, entry in pending:
            if entry.is_write and entry.was_sent:
                with self._state:
                    self._pending.pop(key, None)
                self._answer(key[1], _INTERNAL, _UNKNOWN)
            else:
                self._link.send(entry.line)
                entry.was_sent = True

    def _give_up(self, reason: str) -> None:
        with self._state:
            keys = list(self._pending)
            self._pending.clear()
        with suppress(_ClientLeftError):
            for _, request in keys:
                self._answer(request, _INTERNAL, reason)


class _ClientLeftError(Exception):
    """Nobody reads stdout any more."""


def _parsed(line: bytes) -> dict[str, Any]:
    """The message; nothing for what is none, which is the server's to complain about."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _key(request: object) -> tuple[bool, object]:
    """1 and "1" are two requests, and what cannot be an id is none of ours."""
    return isinstance(request, str), request if isinstance(request, str | int | float) else None


def _first_line(receive: Callable[[int], bytes]) -> bytes:
    """The answer to a request that is the only one, and nothing behind it."""
    line = b""
    while not line.endswith(b"\n"):
        block = receive(1 << 16)
        if not block:
            return b""
        line += block
    return line
