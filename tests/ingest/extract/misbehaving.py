"""Readers that a process should not survive, and some that it should: each takes bytes, a media type and a name."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from dowse.errors import SourceError
from dowse.ingest.extract import Block, Extracted, extract

_served: list[bytes] = []


def _said(text: str) -> Extracted:
    return Extracted(text, (Block("paragraph", 0, len(text)),))


def echo(data: bytes, _media_type: str, _name: str) -> Extracted:
    return _said(data.decode())


def process(_data: bytes, _media_type: str, _name: str) -> Extracted:
    return _said(str(os.getpid()))


def chatter(data: bytes, _media_type: str, _name: str) -> Extracted:
    """Prints by Python and by C, and asks for input."""
    sys.stdout.write("words among the answers")
    sys.stdout.flush()
    sys.stderr.write("and complaints")
    os.write(1, b"and bytes")
    ctypes.CDLL(None).puts(b"and a line")
    return _said(data.decode() + sys.stdin.read() + os.read(0, 100).decode())


def babble(_data: bytes, _media_type: str, name: str) -> None:
    """Writes what the name says straight to whoever asked, as a reader could that a file has taken over."""
    for descriptor in range(3, 32):
        with suppress(OSError):
            os.write(descriptor, bytes.fromhex(name))
    time.sleep(3600)


def spin(_data: bytes, _media_type: str, _name: str) -> None:
    while True:
        pass


def spin_in_c(_data: bytes, _media_type: str, _name: str) -> None:
    """Lets no other thread run and looks at no signal."""
    pow(7, 10**12, 10**400_000)


def sleep(_data: bytes, _media_type: str, _name: str) -> None:
    time.sleep(3600)


def eat(data: bytes, _media_type: str, name: str) -> Extracted:
    return _said(data.decode() + bytearray(int(name)).decode()[:0])


def eat_slowly(_data: bytes, _media_type: str, _name: str) -> None:
    held: list[bytes] = []
    while True:
        held.append(b"x" * (1 << 20))


def keep(data: bytes, _media_type: str, name: str) -> Extracted:
    """Never gives back what it took."""
    _served.append(b"x" * int(name))
    return _said(f"{os.getpid()} {data.decode()}")


def leave(_data: bytes, _media_type: str, name: str) -> None:
    os._exit(int(name))


def die(_data: bytes, _media_type: str, name: str) -> None:
    signal.raise_signal(signal.Signals[name])


def abort(_data: bytes, _media_type: str, _name: str) -> None:
    os.abort()


def read_nowhere(_data: bytes, _media_type: str, _name: str) -> None:
    ctypes.string_at(0)


def grow_tired(data: bytes, _media_type: str, _name: str) -> Extracted:
    """Crashes for the second file, whatever that is."""
    if _served:
        os._exit(1)
    _served.append(data)
    return _said(data.decode())


def fail(_data: bytes, _media_type: str, name: str) -> None:
    raise ValueError(name)


def recurse(data: bytes, media_type: str, name: str) -> None:
    recurse(data, media_type, name)


def refuse(_data: bytes, _media_type: str, name: str) -> None:
    raise SourceError(f"{name} is empty.", reason="empty", hint="Fill it.")


def return_nothing(_data: bytes, _media_type: str, _name: str) -> None:
    return None


def return_objects(data: bytes, _media_type: str, _name: str) -> Extracted:
    return Extracted(data.decode(), (), None, {"where": Path()})  # type: ignore[dict-item]


def say_when(data: bytes, media_type: str, name: str) -> None:
    """Tells through the pipe of this name which process it is, and goes on for ever."""
    Path(name).write_text(str(os.getpid()), encoding="utf-8")
    spin(data, media_type, name)


def real_but_for_one(data: bytes, media_type: str, name: str) -> Extracted:
    """The real reader, with a fault."""
    if name.startswith("bad"):
        os._exit(1)
    return extract(data, media_type, name)
