"""The conditions inside a query, and the filter that they mean.

The filters are imported when there is a condition: most queries have none.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from dowse.records import record

if TYPE_CHECKING:
    from dowse.filters import Compare, Filter, Operator

__all__ = ["KEYS", "Condition", "Key", "fits", "joined"]

Key = Literal["collection", "path", "type", "tag", "title", "after", "before"]
KEYS: tuple[Key, ...] = get_args(Key)

_STARS = frozenset("*?")
# The field behind each key, how it is compared, and what makes of its value a pattern.
_COMPARED: dict[Key, tuple[str, "Operator", frozenset[str]]] = {
    "collection": ("collection", "eq", _STARS),
    "path": ("path", "prefix", frozenset("*?[{")),
    "type": ("type", "eq", _STARS),
    "tag": ("tag", "eq", _STARS),
    "title": ("title", "contains", _STARS),
    "after": ("date", "gte", frozenset()),
    "before": ("date", "lt", frozenset()),
}
_EITHER = frozenset({"collection", "path", "type"})
"""Of which a document has one, so that asking twice means either."""


@record
class Condition:
    """A condition inside a query; one of its values must fit."""

    key: Key
    values: tuple[str, ...]
    excluded: bool = False


def fits(key: Key, value: str) -> bool:
    """Whether the value makes sense there; if not, it was never meant as a condition."""
    from dowse.filters.checking import problem_of

    says_something = any(map(str.isalnum, value)) or (key == "path" and bool(value))
    return says_something and not problem_of(_comparison(key, value))


def joined(conditions: Sequence[Condition]) -> "Filter | None":
    """All conditions as one filter; None without any."""
    if not conditions:
        return None
    from dowse.filters import Not, Or, both

    parts: list[Filter | None] = []
    for key in KEYS:
        wanted = [_compared(each) for each in conditions if each.key == key and not each.excluded]
        parts += [Or(tuple(wanted))] if key in _EITHER and len(wanted) > 1 else wanted
        parts += [Not(_compared(each)) for each in conditions if each.key == key and each.excluded]
    return both(*parts)


def _compared(condition: Condition) -> "Filter":
    from dowse.filters import Compare, Or

    parts = [_comparison(condition.key, value) for value in condition.values]
    if len(parts) > 1 and all(part.op == "eq" for part in parts):
        return Compare(parts[0].field, "in", condition.values)
    return Or(tuple(parts)) if len(parts) > 1 else parts[0]


def _comparison(key: Key, value: str) -> "Compare":
    from dowse.filters import Compare

    field, operator, patterns = _COMPARED[key]
    return Compare(field, operator if patterns.isdisjoint(value) else "glob", value)
