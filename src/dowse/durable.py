"""Files that are there as a whole or not at all, also after a power failure, and readable by their owner alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from dowse.errors import ConflictError, StoreFullError

__all__ = ["make_folder", "new_file", "sync_folder"]


@contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which gets this name when the block ends well and is synced; else nothing is left of it.

    Raises:
        ConflictError: there is a file of this name, and it is not to be replaced.
        StoreFullError: the place is full, not there, or may not be written to.
    """
    if path.exists() and not replace:
        raise ConflictError(f"There is already a file {path}.", hint="Choose another name, or replace it with --force.")
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFullError(
            f"{path} cannot be written: {error.strerror or error}.",
            hint="Check the permissions and the free space of that directory, or choose another place.",
        ) from error


def sync_folder(folder: Path) -> None:
    """Make names that were given, changed or taken away in a folder durable, where the system knows how."""
    with suppress(OSError):  # Windows opens no folders; some network file systems sync none
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone, with the folders above it, and make their names durable."""
    missing, place = [], folder
    while not place.exists():
        missing.append(place)
        place = place.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        sync_folder(each.parent)
    folder.mkdir(mode=0o700, exist_ok=True)  # which refuses a file in its place
