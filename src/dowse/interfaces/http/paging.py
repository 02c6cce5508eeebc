"""Cursors of lists: a place, and what it depends on, so that it is not used with other arguments."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any, TypeVar

from dowse.errors import UsageError
from dowse.interfaces.mcp.dialect import Arguments

__all__ = ["next_cursor", "offset_of", "page_of"]

_Entry = TypeVar("_Entry")
_MOST_DIGITS = 9


def offset_of(arguments: Arguments) -> int:
    """Where the page starts.

    Raises:
        UsageError: the cursor is none of ours, or belongs to other arguments.
    """
    cursor = arguments.get("cursor")
    if cursor is None:
        return 0
    try:
        place, _, check = base64.urlsafe_b64decode(cursor.encode()).decode().partition(".")
    except ValueError:
        place, check = "", ""
    if not (place.isascii() and place.isdigit() and len(place) <= _MOST_DIGITS and check == _check(arguments)):
        raise UsageError(
            f"{cursor[:100]!r} is no cursor of this list.",
            hint="Give one exactly as an answer had it, with the same other arguments.",
        )
    return int(place)


def next_cursor(arguments: Arguments, offset: int) -> str:
    """The cursor of the page that starts there."""
    return base64.urlsafe_b64encode(f"{offset}.{_check(arguments)}".encode()).decode()


def page_of(entries: Sequence[_Entry], arguments: Arguments) -> tuple[Sequence[_Entry], str]:
    """One page of a whole list, and the cursor of the next."""
    offset, limit = offset_of(arguments), arguments["limit"]
    rest = next_cursor(arguments, offset + limit) if offset + limit < len(entries) else ""
    return entries[offset : offset + limit], rest


def _check(arguments: Arguments) -> str:
    said: dict[str, Any] = {name: value for name, value in arguments.items() if name not in {"cursor", "limit"}}
    return hashlib.blake2s(json.dumps(said, sort_keys=True).encode(), digest_size=6).hexdigest()
