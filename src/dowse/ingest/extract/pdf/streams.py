"""A guard before pdfium unpacks anything: a small file must not become gigabytes in memory.

pdfium unpacks the streams of a page as a whole and knows no limit that would help. So everything that is packed
the usual way is unpacked here once, in small steps that are thrown away, only to see how much it is. Images are
left out: nobody looks at them. Streams of an encrypted file, or packed another way, cannot be measured so.
"""

import re
import zlib
from base64 import a85decode
from collections.abc import Iterator

from dowse.errors import SourceError

__all__ = ["refuse_bombs"]

_MOST_OF_STREAM = 200_000_000
_MOST_ALWAYS = 300_000_000
_MOST_PER_BYTE = 60
_STEP = 1 << 20
_LONGEST_DICTIONARY = 4_096
_STREAM = re.compile(rb"stream\r?\n")
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_ASCII = re.compile(rb"/(?:ASCII85Decode|A85)\b")
_SHORTEST_ASCII = 40_000
"""A shorter one cannot unpack to too much, and unpacking it is slow."""
_UNSEEN = re.compile(rb"/(?:Image|EmbeddedFile)\b")


def refuse_bombs(data: bytes, name: str) -> None:
    """Look at all packed streams.

    Raises:
        SourceError: reason `too_large`, when one of them, or all together, unpack to too much.
    """
    room = _MOST_ALWAYS + _MOST_PER_BYTE * len(data)
    for packed, layers in _packed(data):
        size = _unpacked_size(packed, layers, min(room, _MOST_OF_STREAM))
        room -= size
        if size >= _MOST_OF_STREAM or room <= 0:
            raise SourceError(
                f"{name} is too large: unpacked, its pages are hundreds of megabytes.",
                reason="too_large",
                hint="Print it to a new PDF, or split it.",
            )


def _packed(data: bytes) -> Iterator[tuple[bytes | memoryview, int]]:
    """Each packed stream, and how many times over it is packed."""
    whole = memoryview(data)
    for found in _STREAM.finditer(data):
        start = found.start()
        if data[max(0, start - 3) : start] == b"end":
            continue
        before = data.rfind(b"obj", max(0, start - _LONGEST_DICTIONARY), start)
        dictionary = data[before:start] if before >= 0 else b""
        layers = len(_FLATE.findall(dictionary))
        if layers and not _UNSEEN.search(dictionary):
            end = data.find(b"endstream", found.end())
            packed = whole[found.end() : end if end >= 0 else len(data)]
            if not _ASCII.search(dictionary):
                yield packed, layers
            elif layers > 1 or len(packed) > _SHORTEST_ASCII:
                yield _from_ascii(packed), layers


def _from_ascii(packed: memoryview) -> bytes:
    """What is written in 85 letters as bytes; empty when it is not."""
    try:
        return a85decode(bytes(packed).strip().removesuffix(b"~>"))
    except ValueError:
        return b""


def _unpacked_size(packed: bytes | memoryview, layers: int, limit: int) -> int:
    """How much a stream unpacks to, counted up to a limit; what is damaged counts as far as it goes."""
    unpackers = [zlib.decompressobj() for _ in range(layers)]
    size = 0
    try:
        for part in _unpack(unpackers, packed):
            size += part
            if size >= limit:
                break
    except zlib.error:
        pass
    return size


def _unpack(unpackers: list["zlib._Decompress"], packed: bytes | memoryview) -> Iterator[int]:
    """The sizes of the parts that come out of the last of these, each at most a step."""
    first, *others = unpackers
    while packed and not first.eof:
        part = first.decompress(packed, _STEP)
        packed = first.unconsumed_tail
        if others:
            yield from _unpack(others, part)
        else:
            yield len(part)
        if not part and not packed:
            return
