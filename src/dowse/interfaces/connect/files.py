"""Reads and replaces the files of other programs without ever leaving half of one behind."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from dowse.errors import ConflictError, SourceError

__all__ = ["Kept", "backup_of"]

_BOM = "\ufeff"


class Kept:
    """A file as it was when it was read; it is replaced only while it still is like that.

    A link is followed: what it leads to is replaced, and the link stays.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            SourceError: it is there and cannot be read.
        """
        self.named = path
        self.path = path.resolve()
        self._bytes = _bytes_of(self.path)
        try:
            decoded = None if self._bytes is None else self._bytes.decode()
        except UnicodeDecodeError as error:
            line = (self._bytes or b"").count(b"\n", 0, error.start) + 1
            raise SourceError(f"{path}, line {line}: this is not UTF-8.", reason="encoding") from error
        self._bom = _BOM if decoded and decoded.startswith(_BOM) else ""
        self.text = None if decoded is None else decoded.removeprefix(_BOM)
        """What is in it; None where there is no file."""

    @property
    def content(self) -> bytes | None:
        """Its bytes; None where there is no file."""
        return self._bytes

    def encoded(self, text: str) -> bytes:
        """This text as the file would hold it."""
        return (self._bom + text).encode()

    def replace(self, content: bytes | None) -> None:
        """Put something else in its place, whole or not at all; None removes it.

        Raises:
            ConflictError: somebody else has changed it since it was read.
            SourceError: it may not be changed.
        """
        if self._bytes is not None and not self.path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise self._refused("it is read-only")
        try:
            if _bytes_of(self.path) != self._bytes:
                raise ConflictError(
                    f"{self.named} was changed by somebody else just now.", hint="Nothing was written; try again."
                )
            if content is None:
                self.path.unlink(missing_ok=True)
            else:
                _write(self.path, content)
        except OSError as error:
            raise self._refused(error.strerror or str(error)) from error

    def _refused(self, reason: str) -> SourceError:
        return SourceError(
            f"{self.named} cannot be written: {reason}.",
            reason="unwritable",
            hint="Make it writable, or put in yourself what `dowse connect CLIENT --print` shows.",
        )


def backup_of(path: Path, name: str) -> Path:
    """Where the file is kept as it was before an entry of this name came into it."""
    return path.with_name(f"{path.name}.before-{name}")


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(
            f"{path} cannot be read: {error.strerror or error}.",
            reason="unreadable",
            hint="Put in yourself what `dowse connect CLIENT --print` shows.",
        ) from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            Path(name).chmod(stat.S_IMODE(path.stat().st_mode))  # a new file is its owner's alone
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
