"""Filters as programs write them: JSON objects, flat or with operators."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from dowse.errors import UsageError
from dowse.filters.checking import problem_of, spelled
from dowse.filters.tree import OPERATORS, And, Compare, Filter, Not, Or, Scalar, both, leaves

__all__ = ["from_flat", "from_operators"]

_MOST_CONDITIONS = 256
_MOST_VALUES = 1_000
_LONGEST_TEXT = 4_096
_DEEPEST = 16
_JOINING = "$and, $or, $not"
_NO_NAMES: Mapping[str, str] = {}


def from_flat(conditions: Mapping[str, Any], *, names: Mapping[str, str] = _NO_NAMES) -> Filter | None:
    """Fields and the values that they must equal, all of them; None where there are none.

    Args:
        conditions: values by field: text, numbers, true or false.
        names: what the caller calls our fields, as `{"library": "collection"}`.

    Raises:
        UsageError: a value that is none of these, or that its field cannot have.
    """
    for name, value in conditions.items():
        if isinstance(value, dict | list | tuple):
            raise UsageError(f"The filter's {name} must be a single value: text, a number, true or false.")
    return from_operators(conditions, names=names)


def from_operators(conditions: Mapping[str, Any], *, names: Mapping[str, str] = _NO_NAMES) -> Filter | None:
    """Fields with values or operators, joined by `$and`, `$or` and `$not`; None where there are none.

    Args:
        conditions: `{"page": {"$gte": 10}, "$or": [{"tag": "a"}, {"tag": "b"}]}`; a plain value means `$eq`.
        names: what the caller calls our fields, as `{"page_number": "page"}`.

    Raises:
        UsageError: something else, with the place where it stands.
    """
    if not isinstance(conditions, Mapping):
        raise UsageError(f"A filter is an object of fields and values, not {conditions!r}.")
    found = _object(conditions, "", names, 0)
    if found is not None and sum(1 for _ in leaves(found)) > _MOST_CONDITIONS:
        raise UsageError(f"A filter has at most {_MOST_CONDITIONS} conditions.", hint="Use $in for many values.")
    return found


def _object(conditions: Mapping[str, Any], place: str, names: Mapping[str, str], depth: int) -> Filter | None:
    if depth > _DEEPEST:
        raise UsageError("The filter is nested too deeply.", hint=f"At most {_DEEPEST} levels can be read.")
    parts: list[Filter | None] = []
    for name, value in conditions.items():
        here = f"{place}.{name}" if place else name
        if not name:
            raise UsageError(f"A field without a name, in the filter at {here}.")
        if name in _JOINS:
            parts.append(_JOINS[name](value, here, names, depth + 1))
        elif name.startswith("$"):
            raise UsageError(
                f"{here} is no operator that joins conditions.",
                hint=f"These do: {_JOINING}. Comparisons stand inside of a field, as {{FIELD: {{OPERATOR: VALUE}}}}.",
            )
        elif isinstance(value, Mapping):
            parts.append(_compared(names.get(name, name), value, here, depth + 1))
        else:
            parts.append(_leaf(names.get(name, name), "$eq", value, here))
    return both(*parts)


def _joined(value: Any, place: str, names: Mapping[str, str], depth: int) -> tuple[Filter, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise UsageError(f"{place} takes a list of conditions.", hint='Write {"$or": [{"tag": "a"}, {"tag": "b"}]}.')
    return tuple(_inner(each, f"{place}[{at}]", names, depth) for at, each in enumerate(value))


def _inner(value: Any, place: str, names: Mapping[str, str], depth: int) -> Filter:
    found = _object(value, place, names, depth) if isinstance(value, Mapping) else None
    if found is None:
        raise UsageError(f"{place} must be an object of fields and values.")
    return found


_JOINS: dict[str, Callable[[Any, str, Mapping[str, str], int], Filter]] = {
    "$and": lambda value, place, names, depth: And(_joined(value, place, names, depth)),
    "$or": lambda value, place, names, depth: Or(_joined(value, place, names, depth)),
    "$not": lambda value, place, names, depth: Not(_inner(value, place, names, depth)),
}


def _compared(field: str, operators: Mapping[str, Any], place: str, depth: int) -> Filter:
    """One field with one or more operators, all of which must hold."""
    if not operators:
        raise UsageError(f"{place} has no operator.", hint=f"There are {spelled(OPERATORS)}, $not.")
    if depth > _DEEPEST:
        raise UsageError("The filter is nested too deeply.", hint=f"At most {_DEEPEST} levels can be read.")
    parts: list[Filter] = []
    for operator, value in operators.items():
        here = f"{place}.{operator}"
        if operator == "$not" and isinstance(value, Mapping):
            parts.append(Not(_compared(field, value, here, depth + 1)))
        else:
            parts.append(_leaf(field, operator, value, here))
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def _leaf(field: str, operator: str, value: Any, place: str) -> Filter:
    negated = {"$ne": "$eq", "$nin": "$in"}.get(operator)
    name = (negated or operator).removeprefix("$")
    op = next((each for each in OPERATORS if each == name and operator.startswith("$")), None)
    if op is None:
        raise UsageError(
            f"{place}: there is no operator {operator!r}.", hint=f"There are {spelled(OPERATORS)}, {_JOINING}."
        )
    if isinstance(value, list | tuple):
        if len(value) > _MOST_VALUES:
            raise UsageError(f"{place} has more than {_MOST_VALUES} values.")
        leaf = Compare(field, op, tuple(_scalar(each, f"{place}[{at}]") for at, each in enumerate(value)))
    else:
        leaf = Compare(field, op, _scalar(value, place))
    if problem := problem_of(leaf):
        raise UsageError(f"The filter at {place}: {problem}", details={"place": place})
    return Not(leaf) if negated else leaf


def _scalar(value: Any, place: str) -> Scalar:
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not isfinite(value)):
        raise UsageError(f"{place}: a value is text, a number, true or false, not {value!r}.")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise UsageError(f"{place}: a text has at most {_LONGEST_TEXT} characters.")
    return value
