"""Converted models in the cache directory: each is made once and checked whenever it is opened.

A file is called `STEM.DIGEST.onnx`, DIGEST being the start of the sha256 of its own bytes: whatever is
torn or edited does not match its name and is made anew. A file gets its name when it is complete
(`os.replace`), so any number of processes may convert at the same time; the last one wins, with bytes
that are as good as the others'.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_LENGTH = 16
_ABANDONED_AFTER = 3600
"""Seconds after which a temporary file must belong to a process that was killed."""


def find(folder: Path, stem: str) -> tuple[Path | None, list[Path]]:
    """The intact file of this stem, if there is one, and the damaged ones that were met."""
    damaged: list[Path] = []
    for path in sorted(folder.glob(f"{stem}.*.onnx")):
        if _is_intact(path):
            return path, damaged
        damaged.append(path)
    return None, damaged


def find_or_make(folder: Path, stem: str, make: Callable[[], bytes]) -> Path | bytes:
    """The intact file of this stem, made if need be; just its bytes where the folder takes no files."""
    path, damaged = find(folder, stem)
    if path is not None:
        return path
    data = make()
    try:
        _clear(folder, damaged)
        return _write(folder, stem, data)
    except OSError:
        # A read-only or full cache costs the conversion every time, but no vectors.
        return data


def _is_intact(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return False
    return path.name.split(".")[-2] == digest[:_DIGEST_LENGTH]


def _write(folder: Path, stem: str, data: bytes) -> Path:
    """Write under a temporary name, then rename. No fsync: a torn file fails its digest and is made anew."""
    target = folder / f"{stem}.{hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]}.onnx"
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".tmp", prefix=f"{stem}.", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _clear(folder: Path, damaged: list[Path]) -> None:
    """Remove damaged files, and what killed processes left half written."""
    too_old = time.time() - _ABANDONED_AFTER
    for path in [*damaged, *folder.glob("*.tmp")]:
        with suppress(OSError):  # in use, or gone already; the new file has another name or replaces it
            if path in damaged or path.stat().st_mtime < too_old:
                path.unlink()
