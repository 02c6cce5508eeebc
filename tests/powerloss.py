"""What a disk may hold after the power failed: plays back the notes that powerloss.c took of a process.

The model is stricter than file systems are: data that was not synced may be there, be missing, or be there in some
sectors alone; names that were given, changed or taken away count for sure only once their folder was synced.
"""

import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import workers

SECTOR = 512
_HEAD = struct.Struct("<cIIQqQ")

Luck = Literal["none", "some", "all"]
"""How much of what was not synced is on the disk all the same."""


@dataclass(frozen=True)
class Note:
    """One change, sync, or line on stdout."""

    kind: str
    path: str
    other: str
    number: int
    offset: int
    data: bytes


@dataclass
class File:
    """What was synced of a file, and what was not."""

    synced: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Where, and what; None: cut off here."""

    def sync(self) -> None:
        self.synced = self.after(random.Random(0), "all")  # noqa: S311  # a storm that can be repeated
        self.pending = []

    def after(self, chance: random.Random, luck: Luck) -> bytes:
        """The content that the disk may hold."""
        content = bytearray(self.synced)
        for place, data in self.pending:
            if luck == "none":
                break
            if data is None:
                if luck == "all" or chance.random() < 0.5:
                    _resize(content, place)
                continue
            for first in range(0, len(data), SECTOR):
                if luck == "all" or chance.random() < 0.5:
                    part = data[first : first + SECTOR]
                    _resize(content, max(len(content), place + first + len(part)))
                    content[place + first : place + first + len(part)] = part
        return bytes(content)


def _resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


class Disk:
    """A folder tree as it is said to be, and as much of it as is certain."""

    def __init__(self) -> None:
        self.now: dict[str, File | None] = {}
        """Paths with their files; None for folders."""
        self.certain: dict[str, File | None] = {}
        self._by_number: dict[int, File | None] = {}

    def play(self, note: Note) -> None:
        """Take one note in."""
        if note.kind in "CM":
            made = File() if note.kind == "C" else None
            self._by_number[note.number] = self.now[note.path] = made
        elif note.kind in "WT" and (file := self._by_number.get(note.number)):
            file.pending.append((note.offset, note.data if note.kind == "W" else None))
        elif note.kind == "S" and (file := self._by_number.get(note.number)):
            file.sync()
        elif note.kind == "U":
            self.now.pop(note.path, None)
        elif note.kind == "R":
            for path in [path for path in self.now if path == note.other or path.startswith(f"{note.other}/")]:
                self.now[note.path + path[len(note.other) :]] = self.now.pop(path)
        elif note.kind == "L":
            self._sync_folder(note)

    def _sync_folder(self, note: Note) -> None:
        lines = [line.rpartition("/") for line in note.data.decode().splitlines()]
        held = {f"{note.path}/{name}": int(number) for name, _, number in lines}
        for names in (self.now, self.certain):
            for path in [path for path in names if path.rpartition("/")[0] == note.path and path not in held]:
                del names[path]
            names |= {path: self._by_number[number] for path, number in held.items() if number in self._by_number}

    def write(self, watched: str, target: Path, chance: random.Random, luck: Luck) -> None:
        """Make the tree that may be left, without what lives in memory alone."""
        names = dict(self.certain)
        for path in {*self.now, *self.certain}:
            if luck == "all" or (luck == "some" and chance.random() < 0.5):
                names.pop(path, None)
                if path in self.now:
                    names[path] = self.now[path]
        target.mkdir(parents=True)
        for path, file in sorted(names.items()):
            place = target / path.removeprefix(watched).lstrip("/")
            if path.endswith("-shm") or not place.parent.is_dir():
                continue
            if file is None:
                place.mkdir(exist_ok=True)
            else:
                place.write_bytes(file.after(chance, luck))


def notes_of(file: Path) -> Iterator[Note]:
    """The notes in their order."""
    data, place = file.read_bytes(), 0
    while place < len(data):
        kind, first, second, number, offset, size = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        path, other = data[place : place + first], data[place + first : place + first + second]
        place += first + second
        yield Note(kind.decode(), path.decode(), other.decode(), number, offset, data[place : place + size])
        place += size


def compiled(folder: Path) -> Path | None:
    """The library to preload; None where it cannot be made."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        return None
    library = folder / "powerloss.so"
    source = Path(__file__).with_suffix(".c")
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=False, capture_output=True
    )
    return library if done.returncode == 0 else None


def run_noted(library: Path, watched: Path, notes: Path | None, *arguments: object, fault: str = "") -> tuple[int, str]:
    """Run a worker with the library; returns its exit code and what it said on stderr."""
    import os

    environment = os.environ | {"LD_PRELOAD": str(library), "WATCHED": str(watched)}
    environment |= {"NOTES": str(notes)} if notes else {}
    environment |= {"FAULT": fault} if fault else {}
    done = subprocess.run(
        workers.command(*arguments), env=environment, check=False, capture_output=True, timeout=120, encoding="utf-8"
    )
    return done.returncode, done.stdout + done.stderr
