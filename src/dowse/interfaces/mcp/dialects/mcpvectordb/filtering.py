"""The filter of a search: fields that must equal values, all of them.

A field is one of a result's, or else a key of the documents' metadata; `metadata.NAME` is one of these also where a
result has a field of that name.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from dowse.errors import UsageError
from dowse.filters import And, Compare, Filter, Not, Or, both, period_of
from dowse.interfaces.mcp.dialect import BadArgumentsError
from dowse.interfaces.mcp.dialects.mcpvectordb.shapes import WEB, kept, media_types_of
from dowse.records import record

__all__ = ["filter_of", "in_their_words"]

_Kind: TypeAlias = Literal["text", "whole number", "date"]
_METADATA = "metadata."
_MOST_NAMED = 30
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_IS_OF_WEB = Compare("uri", "prefix", WEB)
_HAS_EXTENSION = And((Compare("source", "glob", "?*.?*"), Not(Compare("source", "glob", "*."))))
_HAS_NO_TIME = Compare("modified", "eq", 0)


@record
class _Field:
    """What a field of a result takes, and what it means in our words."""

    kind: _Kind
    condition: Callable[[Any], Filter]


def filter_of(conditions: Mapping[str, Any]) -> Filter | None:
    """The conditions as one filter; None without any.

    Raises:
        BadArgumentsError: a value that its field cannot have.
    """
    return both(*(_condition(name, value) for name, value in conditions.items()))


def _condition(name: str, value: Any) -> Filter:
    if not isinstance(value, str | int) and not (isinstance(value, float) and value.is_integer()):
        raise _bad(f"Argument 'filter.{name}' must be a string, an integer, true or false.")
    if name in _FIELDS:
        field = _FIELDS[name]
        if not _IS[field.kind](value):
            raise _bad(f"Argument 'filter.{name}' must be {_A[field.kind]}, not {value!r}.")
        return field.condition(value)
    key = name.removeprefix(_METADATA)
    return Compare(_METADATA + key, "eq", kept({key: value})[key])  # type: ignore[arg-type]  # no list comes of these


def in_their_words(error: UsageError) -> UsageError:
    """What the engine says of a field that there is not, with the names that there are in this dialect."""
    name, keys = error.details.get("field"), error.details.get("metadata")
    if not isinstance(name, str) or not isinstance(keys, list):
        return error
    named = ", ".join(keys[:_MOST_NAMED]) + (f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else "")
    return _bad(
        f"Argument 'filter' has no field {name.removeprefix(_METADATA)[:60]!r}. "
        f"Fields: {', '.join(_FIELDS)}. Metadata: {named or 'none'}."
    )


def _bad(message: str) -> BadArgumentsError:
    return BadArgumentsError(message, details={"argument": "filter"})


def _equal(field: str) -> Callable[[Any], Filter]:
    return lambda value: Compare(field, "eq", value)


def _page(number: int) -> Filter:
    return Compare("page", "eq", number) if number else Compare("page", "exists", False)


def _last_modified(text: str) -> Filter:
    """Where nobody says when it changed, when it changed here: as results have it."""
    return Or(
        (
            And((Not(_HAS_NO_TIME), Compare("modified", "eq", text))),
            And((_HAS_NO_TIME, Compare("updated_at", "eq", text))),
        )
    )


def _file_type(suffix: str) -> Filter:
    """By extension, where there is one; else by content. As results have it, and thus narrower than our `type`."""
    if "." in suffix or not suffix:
        return Or(())  # what stands behind the last dot has none
    literal = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in suffix)
    by_name = And((Compare("source", "glob", f"?*.{literal}"), Not(_IS_OF_WEB)))
    by_content = And(
        (Or((_IS_OF_WEB, Not(_HAS_EXTENSION))), Compare("media_type", "in", media_types_of(suffix.lower())))
    )
    either = Or((by_name, by_content))
    # A store knows the documents of a type without looking at each, if no URI writes it in another way.
    return And((Compare("type", "eq", suffix), either)) if _PLAIN.fullmatch(suffix) else either


_IS: dict[_Kind, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "whole number": lambda value: not isinstance(value, str | bool),
    "date": lambda value: isinstance(value, str) and period_of(value, _SOME_DAY) is not None,
}
_A: dict[_Kind, str] = {
    "text": "a string",
    "whole number": "an integer",
    "date": "a date and time, such as 2025-01-01T00:00:00+00:00",
}
_FIELDS: dict[str, _Field] = {
    "doc_id": _Field("text", _equal("id")),
    "source": _Field("text", _equal("source")),
    "title": _Field("text", _equal("title")),
    "library": _Field("text", _equal("collection")),
    "file_type": _Field("text", _file_type),
    "last_modified": _Field("date", _last_modified),
    "page": _Field("whole number", _page),
    "chunk_index": _Field("whole number", _equal("ordinal")),
    "content_hash": _Field("text", _equal("hash")),
    "created_at": _Field("date", _equal("created_at")),
}
