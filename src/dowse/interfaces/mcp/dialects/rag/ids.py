"""Ids as ULIDs: the 16 bytes of a document's id in Crockford's base 32, whose first part is the time it was made."""

import hashlib
from uuid import UUID

from dowse.interfaces.mcp.dialect import BadArgumentsError

__all__ = ["chunk_ulid", "parse_ulid", "ulid"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {digit: value for value, digit in enumerate(_ALPHABET)}
_LENGTH = 26
_BITS = 5
_TIME_BYTES = 6  # the rest of an id is random
_SHOWN = 60


def ulid(identifier: UUID) -> str:
    """An id as it is printed."""
    return "".join(_ALPHABET[identifier.int >> _BITS * place & 31] for place in reversed(range(_LENGTH)))


def parse_ulid(text: str) -> UUID:
    """The id that is meant, in capitals or not.

    Raises:
        BadArgumentsError: no id looks like this.
    """
    digits = [_VALUES.get(digit) for digit in text.upper()] if len(text) == _LENGTH and text.isascii() else [None]
    number = 0
    for digit in digits:
        if digit is None:
            raise _malformed(text)
        number = number << _BITS | digit
    if number >> 128:
        raise _malformed(text)
    return UUID(int=number)


def chunk_ulid(document: UUID, index: int, content: str) -> str:
    """The id of a passage: of the same time as its document, and the same as long as it stands there unchanged."""
    digest = hashlib.sha256(document.bytes + index.to_bytes(4, "big") + content.encode("utf-8", "surrogatepass"))
    return ulid(UUID(bytes=document.bytes[:_TIME_BYTES] + digest.digest()[: 16 - _TIME_BYTES]))


def _malformed(text: str) -> BadArgumentsError:
    return BadArgumentsError(
        f"{text[:_SHOWN]!r} is no document id.",
        hint="Ids are ULIDs: 26 digits and letters, without I, L, O and U, such as 01HRE4KXQN8Z3J2X5Y7A9B4C6D.",
        details={"argument": "doc_id"},
    )
