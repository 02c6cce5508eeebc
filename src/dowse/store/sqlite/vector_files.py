"""The vector files: one row per vector, as float32 and as int8 with one scale per row.

SQLite says how many rows count and which vector each one is. Rows are appended before SQLite counts
them, and what a crash left behind the last counted row is overwritten: a reader never sees it. Files
never shrink while they are in use; dropping rows makes files of a new generation.

No numpy here: a search by words opens the files, so that its snapshot stays whole, and never looks in.
"""

import os
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dowse.durable import sync_folder

if TYPE_CHECKING:
    from dowse.ports import Vector
    from dowse.store.sqlite.vectors import VectorRows


class VectorFiles:
    """The files of one generation."""

    def __init__(self, directory: Path, generation: int, dims: int) -> None:
        self._dims = dims
        self._widths = {"f32": dims * 4, "i8": dims, "scale": 4}
        self._paths = {kind: directory / f"vectors-{generation}.{kind}" for kind in self._widths}

    def rows_on_disk(self) -> int:
        """How many whole rows every file holds."""
        sizes = {kind: path.stat().st_size if path.exists() else 0 for kind, path in self._paths.items()}
        return min(size // self._widths[kind] for kind, size in sizes.items())

    def write(self, first_row: int, vectors: "Vector") -> None:
        """Write rows at this place and make them durable; nobody reads them before SQLite counts them."""
        from dowse.store.sqlite.vectors import columns_of

        are_new = not all(path.exists() for path in self._paths.values())
        for kind, data in columns_of(vectors).items():
            descriptor = os.open(self._paths[kind], os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(descriptor, "r+b") as file:
                file.seek(first_row * self._widths[kind])
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        if are_new:
            sync_folder(self._paths["f32"].parent)

    def open(self) -> "OpenVectors":
        """Hold the files, so that they can be read even after a writer has replaced them."""
        files: dict[str, IO[bytes]] = {}
        try:
            for kind, path in self._paths.items():
                files[kind] = path.open("rb")
        except FileNotFoundError:
            for file in files.values():
                file.close()
            files = {}
        return OpenVectors(files, self._widths, self._dims)


class OpenVectors:
    """Open files of one generation, mapped when they are first asked for; closed with the last snapshot."""

    def __init__(self, files: Mapping[str, IO[bytes]], widths: Mapping[str, int], dims: int) -> None:
        self._files, self._widths, self._dims = files, widths, dims
        self._mapped: tuple[int, VectorRows] | None = None
        # Not `__del__`: in a circle of references the files could be collected before it is called.
        weakref.finalize(self, _close, files)

    def rows(self) -> int:
        """How many whole rows every file holds."""
        sizes = {kind: os.fstat(file.fileno()).st_size for kind, file in self._files.items()}
        return min((size // self._widths[kind] for kind, size in sizes.items()), default=0)

    def map(self, rows: int) -> "VectorRows":
        """The first rows; fewer where the files are damaged."""
        from dowse.store.sqlite.vectors import VectorRows

        if self._mapped is None or self._mapped[0] != rows:
            self._mapped = (rows, VectorRows(self._files, min(rows, self.rows()), self._dims))
        return self._mapped[1]


def _close(files: Mapping[str, IO[bytes]]) -> None:
    for file in files.values():
        with suppress(OSError):
            file.close()
