"""Filters of the docvec dialect: fields of a result's metadata with values or operators, read as one of ours."""

import re
from collections.abc import Mapping
from typing import Any

from dowse.filters import Filter, from_operators
from dowse.interfaces.mcp.dialect import BadArgumentsError
from dowse.places import full_path

__all__ = ["filter_of"]

_NAMES = {
    "source_file": "source",
    "file_format": "type",
    "chunk_index": "ordinal",
    "header_path": "heading_path",
    "header_level": "level",
    "page_number": "page",
    "page_position": "place.page_position",
    "class_name": "place.class_name",
    "function_name": "place.function_name",
    "start_line": "first_line",
    "end_line": "last_line",
}
"""What results call them -> what filters do."""
_LISTS = ("$and", "$or")
_EQUAL = frozenset({"$eq", "$ne", "$in", "$nin"})
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # one letter before a colon is a drive of Windows


def filter_of(conditions: Mapping[str, Any]) -> Filter | None:
    """What the argument `filters` means; None where it is empty.

    Raises:
        UsageError: it has a field or an operator that there is not, or a value that its field cannot have.
    """
    return from_operators(_in_our_words(conditions), names=_NAMES)


def _in_our_words(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The same with every field known and every path spelled as it is indexed; operators are checked later."""
    made: dict[str, Any] = {}
    for name, value in conditions.items():
        if name in _LISTS and isinstance(value, list):
            made[name] = [_in_our_words(each) if isinstance(each, Mapping) else each for each in value]
        elif name == "$not" and isinstance(value, Mapping):
            made[name] = _in_our_words(value)
        elif not name.startswith("$") and name not in _NAMES:
            raise BadArgumentsError(
                f"Unknown filter field '{name[:100]}': filters take {', '.join(_NAMES)}.",
                details={"argument": "filters", "field": name[:100]},
            )
        else:
            made[name] = _absolute(value) if name == "source_file" else value
    return made


def _absolute(value: Any) -> Any:
    """Paths that must be equal, as a document's path is stored: absolute, links resolved."""
    if isinstance(value, str):
        return _resolved(value)
    if isinstance(value, list):
        return [_absolute(each) for each in value]
    if isinstance(value, Mapping):
        return {operator: _absolute(each) if operator in _EQUAL else each for operator, each in value.items()}
    return value


def _resolved(text: str) -> str:
    if _ADDRESS.match(text):
        return text
    try:
        return str(full_path(text))
    except (OSError, RuntimeError, ValueError):  # links in a circle, `~` of nobody, a NUL
        return text
