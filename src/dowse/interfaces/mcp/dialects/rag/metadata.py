"""What is said of a document, any JSON object, in the simple values that the index keeps.

What is neither a text, a number, true, false nor a list of texts is kept as `json:` and its JSON, and so is a text
that begins like this: everything comes back as it was given.
"""

import json
from collections.abc import Mapping
from typing import Any

from dowse.interfaces.mcp.dialect import BadArgumentsError, Json
from dowse.types import MetadataValue

__all__ = ["shown", "stored"]

_MARK = "json:"
_LONGEST = 65_536  # characters of all of it as JSON


def stored(given: Mapping[str, Any]) -> dict[str, MetadataValue]:
    """As the index keeps it.

    Raises:
        BadArgumentsError: it is too much, or has a number in it that JSON does not know, or a name without a letter.
    """
    try:
        length = len(json.dumps(given, allow_nan=False))
    except ValueError as error:
        raise _refused("has a number in it that is none") from error
    if length > _LONGEST:
        raise _refused(f"is too long: at most {_LONGEST:,} characters")
    if not all(key.strip() for key in given):
        raise _refused("has an empty name in it")
    return {key: _simple(value) for key, value in given.items()}


def shown(kept: Mapping[str, MetadataValue]) -> Json:
    """As it was given."""
    return {key: _original(value) for key, value in kept.items()}


def _simple(value: Any) -> MetadataValue:
    is_simple = isinstance(value, str | int | float) and not (isinstance(value, str) and value.startswith(_MARK))
    if is_simple or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        kept: MetadataValue = value
        return kept
    return _MARK + json.dumps(value, ensure_ascii=False)


def _original(value: MetadataValue) -> Any:
    if isinstance(value, str) and value.startswith(_MARK):
        try:
            return json.loads(value.removeprefix(_MARK))
        except ValueError:
            return value  # what the document itself says
    return value


def _refused(problem: str) -> BadArgumentsError:
    return BadArgumentsError(f"Argument 'metadata' {problem}.", details={"argument": "metadata"})
