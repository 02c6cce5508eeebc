"""What travels between two processes: a head in JSON and a body of bytes, each with its length before it.

The text of a document goes as the body and everything else as the head: that is as fast as any format that could
build objects of all kinds, and whoever has taken over the other side can send nonsense, but no more than nonsense.
"""

import json
import struct
from io import RawIOBase
from itertools import starmap
from typing import Any, get_args

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted, Unit

__all__ = ["NonsenseError", "encode", "pack", "receive", "send", "unpack"]

_LENGTHS = struct.Struct("<QQ")
_KINDS = frozenset(get_args(BlockKind))
_COLUMNS = (str, int, int, int, str)
"""Of a block. Columns are three times as fast as rows, and a large document has fifty thousand blocks."""
_PART = 1 << 20
"""Bytes that are asked for at once: nobody's word is taken for how many there will be."""


class NonsenseError(Exception):
    """What came is not what was agreed on."""


def encode(head: object) -> bytes:
    """A head as it travels."""
    # Text from a file may hold halves of characters, which UTF-8 proper refuses.
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def send(stream: RawIOBase, head: bytes, body: bytes = b"") -> None:
    """Write one message."""
    for part in (_LENGTHS.pack(len(head), len(body)), head, body):
        rest = memoryview(part)
        while rest:
            rest = rest[stream.write(rest) or 0 :]


def receive(stream: RawIOBase, most: int | None = None) -> tuple[Any, bytes] | None:
    """Read one message, None when the other side is gone.

    Raises:
        NonsenseError: it is longer than `most` bytes, or cannot be understood.
    """
    lengths = _read(stream, _LENGTHS.size)
    if lengths is None:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if most is not None and head_length + body_length > most:
        raise NonsenseError
    head, body = _read(stream, head_length), _read(stream, body_length)
    if head is None or body is None:
        return None
    try:
        return json.loads(head.decode("utf-8", "surrogatepass")), body
    except (ValueError, RecursionError) as error:
        raise NonsenseError from error


def _read(stream: RawIOBase, length: int) -> bytes | None:
    found = bytearray()
    while len(found) < length:
        part = stream.read(min(length - len(found), _PART))
        if not part:
            return None
        found += part
    return bytes(found)


def pack(extracted: Extracted) -> tuple[object, bytes]:
    """An extracted document as head and body."""
    head = (
        list(zip(*extracted.blocks, strict=True)) or [()] * len(_COLUMNS),
        extracted.title,
        dict(extracted.metadata),
        [(unit.start, unit.page, dict(unit.place)) for unit in extracted.units],
    )
    return head, extracted.text.encode("utf-8", "surrogatepass")


def unpack(head: Any, body: bytes) -> Extracted:
    """The document again.

    Raises:
        NonsenseError: these are not what `pack` makes of a document.
    """
    try:
        columns, title, metadata, units = head
        text = body.decode("utf-8", "surrogatepass")
        is_sound = (
            all({kind}.issuperset(map(type, column)) for column, kind in zip(columns, _COLUMNS, strict=True))
            and _KINDS.issuperset(columns[0])
            and isinstance(title, str | None)
            and _is_metadata(metadata)
            and all(type(start) is int and type(page) in {int, type(None)} for start, page, _ in units)
            and all(_is_metadata(place) for _, _, place in units)
        )
        blocks = tuple(starmap(Block, zip(*columns, strict=True)))
    except (TypeError, ValueError) as error:
        raise NonsenseError from error
    if not is_sound:
        raise NonsenseError
    return Extracted(text, blocks, title, metadata, tuple(starmap(Unit, units)))


def _is_metadata(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(value, str | int | float)
        or (isinstance(value, list) and all(isinstance(each, str) for each in value))
        for value in found.values()
    )
