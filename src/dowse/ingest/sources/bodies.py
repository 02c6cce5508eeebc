"""The body of a web server's answer, unpacked within a limit that counts what comes out."""

import zlib
from collections.abc import Iterable, Iterator

from dowse.errors import SourceError

__all__ = ["CODINGS", "check_announced", "read_body"]

CODINGS = "gzip, deflate"
"""What may be asked for, as the Accept-Encoding header says it."""

_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MARK = b"\x1f"
_BLOCK = 1 << 16
"""How much is unpacked at once: a bomb is noticed after one of these."""


def check_announced(length: str, max_bytes: int, name: str) -> None:
    """Refuse what its own Content-Length header says to be too large, before any of it is read.

    Raises:
        SourceError: reason `too_large`.
    """
    if length.isdecimal() and int(length) > max_bytes:
        raise _too_large(name, f"{int(length):,}", max_bytes)


def read_body(pieces: Iterable[bytes], coding: str, max_bytes: int, name: str) -> bytes:
    """All bytes of a body, with its Content-Encoding undone.

    Raises:
        SourceError: reason `too_large` when more than `max_bytes` come in or out, `bad_response` when they
            cannot be unpacked.
    """
    layers = [each for each in coding.lower().replace(" ", "").split(",") if each not in {"", "identity"}]
    arriving = _limited(pieces, max_bytes, name)
    if not layers:
        return b"".join(arriving)
    if layers not in (["gzip"], ["x-gzip"], ["deflate"]):
        raise SourceError(
            f"{name} came packed as {coding}, which was not asked for.",
            reason="bad_response",
            hint="Download the file and give its path.",
        )
    unpacked = _unpacked_deflate(arriving) if layers == ["deflate"] else _unpacked_gzip(arriving)
    try:
        return b"".join(_limited(unpacked, max_bytes, name))
    except zlib.error as error:
        raise SourceError(
            f"{name} came damaged: it cannot be unpacked ({error}).", reason="bad_response", hint="Try again later."
        ) from error


def _limited(pieces: Iterable[bytes], max_bytes: int, name: str) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise _too_large(name, f"more than {max_bytes:,}", max_bytes)
        yield piece


def _too_large(name: str, size: str, max_bytes: int) -> SourceError:
    return SourceError(
        f"{name} has {size} bytes; the limit is {max_bytes:,}.",
        reason="too_large",
        hint="Raise max_file_size, and max_memory if it is set.",
    )


def _unpacked_gzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack member after member; what follows the last one without being one is padding."""
    unpacker = None
    members = 0
    for piece in pieces:
        rest = piece
        while rest:
            if unpacker is None:
                if members and not rest.startswith(_GZIP_MARK):
                    return
                unpacker = zlib.decompressobj(_GZIP)
            yield unpacker.decompress(rest, _BLOCK)
            rest = unpacker.unconsumed_tail
            if unpacker.eof:
                rest, unpacker, members = unpacker.unused_data, None, members + 1
    if unpacker is not None:
        yield _finished(unpacker)


def _unpacked_deflate(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack zlib's format, which the name means, or the bare stream that some servers send under it."""
    unpacker = None
    for piece in pieces:
        rest = piece
        while rest:
            if unpacker is None:
                is_wrapped = rest[0] & 0x8F == 0x08  # noqa: PLR2004 - zlib's header: method 8, window of 32 KB at most
                unpacker = zlib.decompressobj(zlib.MAX_WBITS if is_wrapped else -zlib.MAX_WBITS)
            yield unpacker.decompress(rest, _BLOCK)
            rest = unpacker.unconsumed_tail
            if unpacker.eof:
                return
    if unpacker is not None:
        yield _finished(unpacker)


def _finished(unpacker: "zlib._Decompress") -> bytes:
    """What was held back at the end of the input, a few kilobytes at most."""
    rest = unpacker.flush()
    if not unpacker.eof:
        raise zlib.error("it ends too early")
    return rest
