"""The daemon: one engine, and a conversation with each client that shows the secret.

What a client may do is in its hello, made from its own command line, and nothing that another client may do widens
it; neither are jobs seen by others. What a client began ends with its connection, as it ends with a process of its own.
"""

import hmac
import json
import logging
import os
import secrets
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from dowse import __version__
from dowse.config import Config
from dowse.engine import Engine, open_engine
from dowse.errors import DowseError
from dowse.interfaces.daemon.meeting import PROTOCOL, Spot, make_private, receive_line
from dowse.interfaces.daemon.standing import bounded_log, memory
from dowse.interfaces.daemon.watching import SharedWatch
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.dialects import default_dialect, load
from dowse.interfaces.mcp.server import Serving
from dowse.interfaces.mcp.stdio import converse
from dowse.locks import try_lock
from dowse.places import Place, standing_at
from dowse.records import record

__all__ = ["run"]

_log = logging.getLogger(__name__)

_BACKLOG = 64
_MOST_CLIENTS = 256
_HELLO_SECONDS = 10.0
_FIRST_SECONDS = 10.0  # for the client that started this process
_PREDECESSOR_SECONDS = 30.0  # one that is about to end still holds the lock
_END_SECONDS = 15.0
_TICK = 1.0
_PRIVATE = 0o600


@record
class _Client:
    """One connection."""

    pid: int
    dialect: str
    folder: str
    since: float


def run(config: Config, spot: Spot) -> None:
    """Be the daemon of this spot until nobody needs it.

    Raises:
        DowseError: the index cannot be opened.
    """
    os.umask(0o077)
    make_private(spot.folder)
    with ExitStack() as stack:
        if not stack.enter_context(_the_only_one(spot)):
            _log.warning("another process does this already")
            return
        engine = stack.enter_context(open_engine(config=config, create=True, on_message=_say))
        daemon = _Daemon(engine, spot, stack)
        anyio.run(daemon.serve)
        daemon.close()


@contextmanager
def _the_only_one(spot: Spot) -> Iterator[bool]:
    """Hold the lock of this spot; whether it could be had."""
    descriptor = os.open(spot.file("lock"), os.O_RDWR | os.O_CREAT, _PRIVATE)
    try:
        deadline = time.monotonic() + _PREDECESSOR_SECONDS
        while not (has_it := try_lock(descriptor)) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield has_it
    finally:
        os.close(descriptor)  # which also unlocks it


def _end_in_time() -> None:
    """What does not end by itself is ended: the index survives that, and the next daemon waits for this one."""
    timer = threading.Timer(_END_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class _Daemon:
    def __init__(self, engine: Engine, spot: Spot, stack: ExitStack) -> None:
        self._engine = engine
        self._spot = spot
        self._listener, self._address = _listening(spot)
        stack.callback(self._listener.close)
        self._secret, self._proof = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._watch = SharedWatch(engine, _say)
        self._clients: dict[int, _Client] = {}
        self._was_used = False
        self._started = self._busy_until = time.monotonic()

    async def serve(self) -> None:
        """Answer until idle for too long, or told to stop."""
        with _announced(self._spot, self._endpoint()):
            async with anyio.create_task_group() as tasks:
                self._stop = tasks.cancel_scope.cancel
                tasks.start_soon(self._look_around)
                tasks.start_soon(self._heed_signals)
                _detach()
                while True:
                    await anyio.wait_readable(self._listener)
                    with suppress(OSError):  # gone before it was let in
                        connection, _ = self._listener.accept()
                        tasks.start_soon(self._meet, connection)
        _end_in_time()

    def close(self) -> None:
        """Let go of what outlives the connections."""
        self._watch.close()

    def _endpoint(self) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "pid": os.getpid(),
            "index": str(self._engine.config.index_dir),
            "secret": self._secret,
            "proof": self._proof,
            **self._address,
        }

    async def _look_around(self) -> None:
        """Now and then: is anybody there, and has the log become too long?"""
        idle = self._engine.config.daemon_idle
        while True:
            if self._clients:
                self._busy_until = time.monotonic()
            elif time.monotonic() - self._busy_until >= (idle if self._was_used else max(idle, _FIRST_SECONDS)):
                self._stop()
            bounded_log(self._spot.file("log"))
            await anyio.sleep(min(_TICK, max(idle / 4, 0.05)))

    async def _heed_signals(self) -> None:
        known = [getattr(signal, name) for name in ("SIGTERM", "SIGINT") if hasattr(signal, name)]
        with suppress(NotImplementedError), anyio.open_signal_receiver(*known) as signals:  # not on Windows
            async for _ in signals:
                self._stop()

    # One client

    async def _meet(self, connection: socket.socket) -> None:
        """Hear the hello and answer it; a client that may come in is served until it leaves."""
        connection.setblocking(True)
        try:
            hello = await anyio.to_thread.run_sync(self._hear, connection, limiter=_greeters())
            if hello is None:
                return
            if hello.get("ask") != "serve":
                await anyio.to_thread.run_sync(self._tell, connection, self._standing())
                if hello.get("ask") == "stop":
                    self._stop()
                return
            try:
                if len(self._clients) >= _MOST_CLIENTS:
                    return  # who is turned away without a word serves itself
                tables = load(hello["dialect"] or default_dialect(hello["program"]))
                serving = self._serving(hello)
            except DowseError as error:
                said = {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}
                await anyio.to_thread.run_sync(self._tell, connection, {"error": said})
                return
            await self._talk(connection, hello, tables, serving)
        except OSError:
            _log.info("a client left")
        finally:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # for the thread that still waits for a line
            connection.close()

    async def _talk(
        self, connection: socket.socket, hello: Mapping[str, Any], tables: Dialect, serving: Serving
    ) -> None:
        number = connection.fileno()
        self._clients[number] = _Client(hello["pid"], tables.name, hello["folder"], time.time())
        self._was_used = True
        try:
            reads = [tool.name for tool in tables.tools if tool.hints.read_only]
            await anyio.to_thread.run_sync(self._tell, connection, {"dialect": tables.name, "reads": reads})
            with self._watch.wanted() if hello["watch"] else nullcontext():
                await converse(tables, serving, connection.recv, connection.send)
        finally:
            self._busy_until = time.monotonic()
            del self._clients[number]
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(serving.close)

    def _serving(self, hello: Mapping[str, Any]) -> Serving:
        place = Place(Path(hello["folder"]), Path(hello["home"]))
        with standing_at(place):
            access = Access.on_stdio(map(Path, hello["roots"])).limited(
                read_only=hello["read_only"],
                url_patterns=hello["url_patterns"],
                allow_private_urls=hello["allow_private_urls"],
            )
        settings = {"collection": hello["collection"]} if hello["collection"] else {}
        return Serving(self._engine, access, settings, place=place)

    def _hear(self, connection: socket.socket) -> dict[str, Any] | None:
        """The hello of somebody who is who he should be; None for everybody else."""
        if not _is_own_user(connection):
            _log.warning("somebody else tried to connect")
            return None
        connection.settimeout(_HELLO_SECONDS)
        try:
            hello = json.loads(receive_line(connection) or b"{}")
        except (OSError, ValueError, RecursionError):
            return None
        connection.settimeout(None)
        known = isinstance(hello, dict) and hello.get("protocol") == PROTOCOL and hello.get("version") == __version__
        shown = str(hello.get("secret", "")) if known else ""
        return hello if hmac.compare_digest(shown.encode(), self._secret.encode()) else None

    def _tell(self, connection: socket.socket, said: Mapping[str, Any]) -> None:
        connection.settimeout(_HELLO_SECONDS)
        connection.sendall(json.dumps({"proof": self._proof, **said}).encode() + b"\n")
        connection.settimeout(None)

    def _standing(self) -> dict[str, Any]:
        """What `dowse daemon status` shows."""
        now = time.monotonic()
        return {
            "pid": os.getpid(),
            "version": __version__,
            "index": str(self._engine.config.index_dir),
            "model": self._engine.config.embedder,
            "uptime_s": round(now - self._started, 1),
            "idle_s": 0.0 if self._clients else round(now - self._busy_until, 1),
            "ends_after_s": self._engine.config.daemon_idle,
            "memory_bytes": memory(),
            "watching": self._watch.is_running,
            "log": str(self._spot.file("log")),
            "clients": [
                {"pid": each.pid, "dialect": each.dialect, "folder": each.folder, "since": round(each.since)}
                for each in self._clients.values()
            ],
        }


def _greeters() -> anyio.CapacityLimiter:
    """Whoever connects and says nothing holds up no tool: a thread of its own waits for each hello."""
    return anyio.CapacityLimiter(1)


def _listening(spot: Spot) -> tuple[socket.socket, dict[str, Any]]:
    """A socket that listens, and how clients find it."""
    path = spot.socket
    if path is not None:
        listener = socket.socket(socket.AF_UNIX)
        try:
            Path(path).unlink(missing_ok=True)  # of one that died: whoever lives holds the lock
            listener.bind(path)
            listener.listen(_BACKLOG)
        except OSError:  # a file system without sockets
            listener.close()
        else:
            listener.setblocking(False)
            return listener, {"socket": path}
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    listener.setblocking(False)
    return listener, {"port": listener.getsockname()[1]}


@contextmanager
def _announced(spot: Spot, endpoint: Mapping[str, Any]) -> Iterator[None]:
    """Let clients find this process meanwhile."""
    file, draft = spot.file("json"), spot.file("new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        json.dump(endpoint, out)
    draft.replace(file)
    try:
        yield
    finally:
        for gone in (file, spot.file("sock")):
            gone.unlink(missing_ok=True)


def _detach() -> None:
    """Tell whoever started this process that it listens, and let go of what it shares with them."""
    os.write(1, b"ready\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def _is_own_user(connection: socket.socket) -> bool:
    """Whether the other end runs as this user, where the system can tell; elsewhere the secret alone does."""
    if connection.family != getattr(socket, "AF_UNIX", None) or not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    uid: int = struct.unpack("3i", credentials)[1]
    return uid == os.getuid()
