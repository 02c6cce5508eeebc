"""One file: its bytes, and the fingerprint that belongs to just these bytes.

Paths are given without links, as whoever allowed the file resolved them. They are opened the same way: a link that
is put in the place of the file or of a folder above it, after it was looked at, leads nowhere.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dowse.errors import SourceError
from dowse.types import Fingerprint

__all__ = ["fingerprint_of", "read", "read_head"]

_TRIES = 4


def read(path: Path, max_file_size: int) -> tuple[bytes, Fingerprint]:
    """The bytes of a file and its fingerprint; a file that is written to meanwhile is read again.

    Raises:
        SourceError: reason `missing`, `unreadable`, `special`, `too_large`, or `changing` when it does not
            hold still.
    """
    for _ in range(_TRIES):
        started = time.time_ns()
        before, data, after = _read_once(path, max_file_size)
        fingerprint = fingerprint_of(after, started)
        if fingerprint_of(before, started) == fingerprint and len(data) == fingerprint.size:
            return data, fingerprint
    raise SourceError(
        f"{path.name} changes faster than it can be read.", reason="changing", hint="The next run tries it again."
    )


def read_head(path: Path, size: int = 8192) -> bytes:
    """The first bytes of a file, enough to see what it is.

    Raises:
        SourceError: as `read`.
    """
    with _in_our_words(path), open(path, "rb", buffering=0, opener=_open) as file:
        return file.read(size)


def fingerprint_of(status: os.stat_result, read_ns: int = 0) -> Fingerprint:
    """What identifies this version of a file; `read_ns` is when it was opened, 0 if it was not."""
    # On Windows a folder's listing knows no file numbers; leaving them out keeps both ways comparable.
    inode = 0 if os.name == "nt" else status.st_ino
    return Fingerprint(status.st_size, status.st_mtime_ns, inode, read_ns)


def _read_once(path: Path, max_file_size: int) -> tuple[os.stat_result, bytes, os.stat_result]:
    with _in_our_words(path), open(path, "rb", buffering=0, opener=_open) as file:
        before = os.fstat(file.fileno())
        _check(path.name, before, max_file_size)
        # One byte more than there should be shows that it grew.
        data = file.read(before.st_size + 1)
        return before, data, os.fstat(file.fileno())


@contextmanager
def _in_our_words(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise SourceError(f"{path.name} is not there.", reason="missing", hint="Was it moved or deleted?") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise SourceError(
                f"A link has taken the place of {path.name}, or of a folder above it.",
                reason="changing",
                hint="If that is meant, name the place that it leads to.",
            ) from error
        raise SourceError(f"{path.name} cannot be read ({error.strerror}).", hint="Check its permissions.") from error


def _open(path: str, flags: int) -> int:
    """Open without following links, nor waiting for a writer, should a pipe have taken the file's place."""
    flags |= getattr(os, "O_NONBLOCK", 0)
    if hasattr(os, "O_NOFOLLOW_ANY"):  # macOS looks at every part of a path by itself
        return os.open(path, flags | os.O_NOFOLLOW_ANY)
    if not hasattr(os, "O_PATH"):  # on Windows it takes an administrator to make links
        return os.open(path, flags)
    return _open_step_by_step(path, flags)


def _open_step_by_step(path: str, flags: int) -> int:
    """Open a file from folder to folder, each of which must be one."""
    root, *folders, name = Path(path).parts
    folder = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for each in folders:
            above, folder = folder, os.open(each, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(above)
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _check(name: str, status: os.stat_result, max_file_size: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(
            f"{name} is not a regular file.", reason="special", hint="Pipes, sockets and devices cannot be indexed."
        )
    if status.st_size > max_file_size:
        raise SourceError(
            f"{name} has {status.st_size:,} bytes; the limit is {max_file_size:,}.",
            reason="too_large",
            hint="Raise max_file_size, and max_memory if it is set.",
        )
