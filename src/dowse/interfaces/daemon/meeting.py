"""Where a daemon and its clients find each other: a folder of this user alone, with a few files per daemon.

A daemon is known by a key of all that its clients must have in common: the index, the version of the program and the
settings. Its files:

    KEY.json    where it listens, and two secrets: what clients show to it, and what it shows to them
    KEY.sock    the socket, where the system has sockets in the file system; else it listens on the loopback address
    KEY.lock    locked as long as it lives, so that there is one at most
    KEY.start   locked by a client that starts it, so that others wait instead of starting another
    KEY.log     what it says; KEY.log.old is what it said before
"""

import json
import os
import socket
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from dowse import __version__
from dowse.config import SETTINGS, Config
from dowse.locks import try_lock

__all__ = ["PROTOCOL", "Hello", "RefusedError", "Spot", "UnavailableError", "ask", "endpoints", "join", "receive_line"]

PROTOCOL = 1
"""Of the first line in each direction; what follows is the Model Context Protocol."""
Hello = dict[str, Any]

_LONGEST_SOCKET = 100  # bytes of a socket's path: some systems take no more than 103
_LONGEST_HELLO = 1 << 20
_HIGHEST_PORT = 65_535
_START_SECONDS = 60.0
_WELCOME_SECONDS = 30.0
_PAUSE = 0.02


class UnavailableError(Exception):
    """There is no daemon and there can be none; the text says why."""


class RefusedError(Exception):
    """The daemon is there and does not take this client, for a reason that a user can mend."""

    def __init__(self, message: str, hint: str, exit_code: int) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


class Spot(NamedTuple):
    """The files of one daemon."""

    folder: Path
    key: str

    @classmethod
    def of(cls, config: Config) -> "Spot":
        """That of the daemon for these settings."""
        return cls(folder_of(config), _key(config))

    def file(self, kind: str) -> Path:
        """One of the files in the table above."""
        return self.folder / f"{self.key}.{kind}"

    @property
    def socket(self) -> str | None:
        """The path of the socket; None where there can be none."""
        path = str(self.file("sock"))
        fits = len(os.fsencode(path)) <= _LONGEST_SOCKET
        return path if fits and hasattr(socket, "AF_UNIX") else None


def folder_of(config: Config) -> Path:
    """The folder for things that live as long as a login, where there is one; else one in the cache."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.access(runtime, os.W_OK):  # noqa: PTH117  # no Path for a text that is none
        return Path(runtime, "dowse")
    return config.cache_dir / "daemon"


def make_private(folder: Path) -> None:
    """Make the folder, for this user alone.

    Raises:
        OSError: it cannot be made, or it is somebody else's.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise PermissionError(f"{folder} is not a folder of this user")
    if hasattr(os, "getuid") and found.st_mode & 0o077:
        folder.chmod(0o700)


def _key(config: Config) -> str:
    import hashlib

    said = {name: str(getattr(config, name)) for name in SETTINGS if name not in {"daemon", "data_dir"}}
    said["index"] = os.path.realpath(config.index_dir)
    # Models of services are asked with keys from the environment, which are the client's as well.
    lines = f"{config.embedder};{config.reranker};{config.expander}"
    names = [option.partition("=")[2] for option in lines.split(";") if option.startswith("key=")]
    secrets = {name: os.environ.get(name, "") for name in names}
    home = os.path.expanduser("~") if "~" in lines else ""  # noqa: PTH111  # a text; of models in folders of the home
    told = json.dumps([__version__, home, said, secrets], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def join(config: Config, hello: Hello) -> tuple[socket.socket, dict[str, Any]]:
    """A connection to the daemon, which is started if there is none, and what it answered to the hello.

    Raises:
        UnavailableError: there is none and can be none.
        RefusedError: it does not take this client.
    """
    spot = Spot.of(config)
    try:
        make_private(spot.folder)
        met = _meet(spot, hello)
        if met is None:
            with _only_one_starts(spot):
                met = _meet(spot, hello)
                if met is None:
                    _start(spot, config)
                    met = _meet(spot, hello)
    except OSError as error:
        raise UnavailableError(f"{error.strerror or error} ({spot.folder})") from error
    if met is None:
        raise UnavailableError(f"it ended as soon as it was started; see {spot.file('log')}")
    return met


def ask(endpoint: Mapping[str, Any], what: str) -> dict[str, Any] | None:
    """What a daemon answers to `status` or `stop`; None where there is none any more."""
    try:
        found = _greet(endpoint, {"ask": what})
    except (OSError, UnavailableError):
        return None
    if found is None:
        return None
    found[0].close()
    return found[1]


def endpoints(folder: Path) -> Iterator[dict[str, Any]]:
    """What the daemons of a folder wrote down, also those that died since."""
    with suppress(OSError):
        for file in sorted(folder.glob("*.json")):
            found = _read(file)
            if found is not None:
                yield found


def _meet(spot: Spot, hello: Hello) -> tuple[socket.socket, dict[str, Any]] | None:
    endpoint = _read(spot.file("json"))
    return None if endpoint is None else _greet(endpoint, hello)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("protocol") == PROTOCOL and _is_whole(found) else None


def _is_whole(endpoint: Mapping[str, Any]) -> bool:
    """Whether it says where somebody listens and how to greet him; somebody may have edited the file."""
    place = endpoint.get("port", endpoint.get("socket"))
    is_place = type(place) is int and 0 < place <= _HIGHEST_PORT if "port" in endpoint else isinstance(place, str)
    return is_place and all(isinstance(endpoint.get(name), str) for name in ("index", "secret", "proof"))


def _greet(endpoint: Mapping[str, Any], hello: Hello) -> tuple[socket.socket, dict[str, Any]] | None:
    """Say hello and wait for the answer; None where nobody listens any more."""
    try:
        connection = _connected(endpoint)
    except TimeoutError as error:
        raise UnavailableError("it does not answer") from error
    except OSError:
        return None
    try:
        said = hello | {"protocol": PROTOCOL, "version": __version__, "secret": endpoint["secret"]}
        connection.sendall(json.dumps(said).encode() + b"\n")
        line = receive_line(connection)
        connection.settimeout(None)
        welcome = json.loads(line) if line else None
    except TimeoutError as error:
        connection.close()
        raise UnavailableError("it does not answer") from error
    except (OSError, ValueError):
        welcome = None
    if not isinstance(welcome, dict) or welcome.get("proof") != endpoint["proof"]:
        connection.close()  # it is about to end, or somebody else listens at a port that was its own
        return None
    if "error" in welcome:
        connection.close()
        refused = welcome["error"]
        raise RefusedError(refused["message"], refused["hint"], refused["exit_code"])
    return connection, welcome


def _connected(endpoint: Mapping[str, Any]) -> socket.socket:
    if "port" in endpoint:
        return socket.create_connection(("127.0.0.1", endpoint["port"]), timeout=_WELCOME_SECONDS)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_WELCOME_SECONDS)
        connection.connect(endpoint["socket"])
    except ValueError as error:  # a path that is none
        connection.close()
        raise FileNotFoundError(endpoint["socket"]) from error
    except OSError:
        connection.close()
        raise
    return connection


def receive_line(connection: socket.socket) -> bytes:
    """The first line; nothing where the other end left before it was whole, or it is too long for one."""
    line = b""
    while not line.endswith(b"\n"):
        block = connection.recv(1 << 16, socket.MSG_PEEK)
        end = block.find(b"\n") + 1
        block = connection.recv(end or len(block)) if block else b""
        line += block
        if not block or len(line) > _LONGEST_HELLO:
            return b""
    return line


@contextmanager
def _only_one_starts(spot: Spot) -> Iterator[None]:
    descriptor = os.open(spot.file("start"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise UnavailableError("another client has been starting it for too long")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)  # which also unlocks it


def _start(spot: Spot, config: Config) -> None:
    """Start the daemon and wait until it listens."""
    import subprocess  # the first client alone needs it
    from threading import Thread

    settings = {name: getattr(config, name) for name in SETTINGS}
    told = {"folder": str(spot.folder), "key": spot.key, "settings": settings}
    log = os.open(spot.file("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    # `-P`: nothing in a folder that the client happens to stand in is imported.
    command = [sys.executable, "-P", "-m", "dowse.interfaces.daemon", str(config.index_dir)]
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        process = subprocess.Popen(  # noqa: S603  # this very program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=spot.folder, **detached
        )
    finally:
        os.close(log)
    assert process.stdin  # noqa: S101  # asked for above
    assert process.stdout  # noqa: S101  # the same
    said: list[bytes] = []
    hearing = Thread(target=lambda out: said.append(out.readline()), args=(process.stdout,), daemon=True)
    with suppress(BrokenPipeError):  # it has died; its silence tells
        process.stdin.write(json.dumps(told, default=str).encode())
        process.stdin.close()
    hearing.start()
    hearing.join(_START_SECONDS)
    if hearing.is_alive():
        process.kill()
        raise UnavailableError(f"it did not start within {_START_SECONDS:g} s; see {spot.file('log')}")
    process.stdout.close()
    _started.append(process)
    if said != [b"ready\n"]:
        process.wait()
        raise UnavailableError(f"it did not start; see {spot.file('log')}")


_started: list[Any] = []
"""The daemons that this process started: to be let go of without a word, for they live on."""
