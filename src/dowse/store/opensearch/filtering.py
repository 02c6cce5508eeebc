"""A filter tree in the query language of the cluster; `dowse.filters` says what it means."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

from dowse.errors import UsageError
from dowse.filters import And, Compare, Filter, Not, Operator, field_of, leaves, period_of
from dowse.filters.dates import Period
from dowse.filters.fields import Field
from dowse.filters.matching import local_now
from dowse.filters.tree import Scalar
from dowse.filters.values import fold
from dowse.store.opensearch.facts import LONGEST, Kind, canonical, head, number, term
from dowse.text.globs import compile_glob

__all__ = ["EVERYTHING", "NOTHING", "asks_passages", "query_of"]

Dsl: TypeAlias = dict[str, Any]

EVERYTHING: Dsl = {"match_all": {}}
NOTHING: Dsl = {"match_none": {}}
_FIELD = "facts"
_BEYOND = "\U0010ffff"
_PYTHON_ONLY = re.compile(r"\\.|\(\?[>:]|\(\?!/\)(\[(?:\\.|[^\]\\])*\])|\*\?|[\"@<>]", re.DOTALL)
"""What a glob's regular expression has that Lucene spells otherwise."""
_HALF = re.compile("[\ud800-\udfff]")
"""Of a surrogate pair: it can neither be sent nor be stored, so it equals nothing. Only order knows where it stands."""
_AFTER_HALVES = "\ue000"


def query_of(filter: Filter, now: datetime | None = None) -> Dsl:  # noqa: A002 - the noun
    """The query that finds what the filter lets through. `now` is what `7d` and `today` count from."""
    now = now or local_now()
    if isinstance(filter, Compare):
        return _comparison(filter, now)
    if isinstance(filter, Not):
        return {"bool": {"must_not": [query_of(filter.part, now)]}}
    parts = [query_of(part, now) for part in filter.parts]
    if isinstance(filter, And):
        return {"bool": {"filter": parts}} if parts else EVERYTHING
    return any_of(parts)


def asks_passages(filter: Filter) -> bool:  # noqa: A002 - the noun
    """Whether passages of one document may differ in what it asks."""
    return any(field_of(leaf.field).of_passage for leaf in leaves(filter))


def any_of(parts: list[Dsl]) -> Dsl:
    """What one of the parts finds."""
    return {"bool": {"should": parts, "minimum_should_match": 1}} if parts else NOTHING


def _comparison(compare: Compare, now: datetime) -> Dsl:
    field, name = field_of(compare.field), canonical(compare.field)
    if compare.op == "exists":
        there = _equal(name, "x", [""])
        return there if compare.value else {"bool": {"must_not": [there]}}
    given = compare.value if isinstance(compare.value, tuple) else (compare.value,)
    if compare.op == "in":
        return any_of([_one(field, name, "eq", each, now) for each in given])
    return _one(field, name, compare.op, given[0], now) if len(given) == 1 else NOTHING


def _one(field: Field, name: str, op: Operator, given: Scalar, now: datetime) -> Dsl:
    if isinstance(given, str) and (half := _HALF.search(given)):
        if op not in _BESIDE_HALVES:
            return NOTHING
        op, given = _BESIDE_HALVES[op], given[: half.start()] + _AFTER_HALVES
    if field.kind == "metadata":
        return _metadata(name, op, given, now)
    if field.kind == "text":
        return _text(name, "f", op, field.given(given)) if isinstance(given, str) else NOTHING
    if field.kind == "date":
        period = _period(given, now)
        return _within(name, "n", op, period) if period and op in _PERIODS else NOTHING
    return NOTHING if isinstance(given, bool | str) or op not in _ORDER else _number(name, op, given)


def _metadata(name: str, op: Operator, given: Scalar, now: datetime) -> Dsl:
    if isinstance(given, bool):
        if op != "eq":
            return NOTHING
        return any_of([_equal(name, "b", [str(given)]), _equal(name, "m", [str(given).lower()])])
    if not isinstance(given, str):
        if op == "eq":
            return any_of([_number(name, op, given), _equal(name, "m", [str(given)])])
        return _number(name, op, given) if op in _ORDER else NOTHING
    if op == "eq":
        return _equal(name, "s", [given])
    if op in _ORDER:
        period = period_of(given, now)
        return _within(name, "d", op, period) if period else _text(name, "s", op, given)
    return _text(name, "f", op, fold(given))


def _text(name: str, kind: Kind, op: Operator, given: str) -> Dsl:
    start = head(name, kind)
    if op == "eq":
        return _equal(name, kind, [given])
    if op == "prefix":
        return {"prefix": {_FIELD: {"value": start + given[:LONGEST]}}}
    if op == "contains":
        return _matching(f"{_quoted(start)}.*{_quoted(given)}.*")
    if op == "glob":
        return _glob(start, given)
    return _range(start, _ORDER[op](given[:LONGEST]))


def _glob(start: str, given: str) -> Dsl:
    try:
        pattern = compile_glob(f"{given}**" if given.endswith("/") else given).pattern
    except UsageError:
        return NOTHING
    spelled = "|".join(f"({_PYTHON_ONLY.sub(_lucene, each)})" for each in _choices(pattern))
    if "/" not in given:
        spelled = f"(.*/)?(({spelled})&[^/]*)"
    return _matching(f"{_quoted(start)}({spelled})")


def _choices(pattern: str) -> list[str]:
    """The branches of a glob's expression; a bar that stands for itself is escaped."""
    return re.split(r"(?<!\\)\|", pattern)


def _lucene(found: re.Match[str]) -> str:
    text = found[0]
    if found[1]:
        return f"({found[1]}&[^/])"
    if text.startswith("(?"):
        return "("
    return "*" if text == "*?" else text if text.startswith("\\") else f"\\{text}"


def _number(name: str, op: Operator, given: float) -> Dsl:
    if given != given:  # noqa: PLR0124 - NaN is like nothing
        return NOTHING
    return _equal(name, "n", [number(given)]) if op == "eq" else _range(head(name, "n"), _ORDER[op](number(given)))


def _period(given: Scalar, now: datetime) -> Period | None:
    if isinstance(given, str):
        return period_of(given, now)
    return None if isinstance(given, bool | float) else Period(given, given + 1)


def _within(name: str, kind: Kind, op: Operator, period: Period) -> Dsl:
    return _range(head(name, kind), _PERIODS[op](number(period.start), number(period.end)))


def _equal(name: str, kind: Kind, values: list[str]) -> Dsl:
    return {"terms": {_FIELD: [term(name, kind, value) for value in values]}}


def _range(start: str, bounds: dict[str, str]) -> Dsl:
    """The terms of one head between bounds; the head itself bounds the other side."""
    spelled = {side: start + value for side, value in bounds.items()}
    if not spelled.keys() & {"gt", "gte"}:
        spelled["gte"] = start
    if not spelled.keys() & {"lt", "lte"}:
        spelled["lt"] = start + _BEYOND
    return {"range": {_FIELD: spelled}}


def _matching(pattern: str) -> Dsl:
    return {"regexp": {_FIELD: {"value": pattern, "flags": "INTERSECTION", "max_determinized_states": 100_000}}}


def _quoted(text: str) -> str:
    """A text that stands for itself in Lucene's regular expressions."""
    return "".join(each if each.isalnum() else f"\\{each}" for each in text)


_ORDER: dict[Operator, Callable[[str], dict[str, str]]] = {
    "eq": lambda value: {"gte": value, "lte": value},
    "gt": lambda value: {"gt": value},
    "gte": lambda value: {"gte": value},
    "lt": lambda value: {"lt": value},
    "lte": lambda value: {"lte": value},
}
_BESIDE_HALVES: dict[Operator, Operator] = {"gt": "gte", "gte": "gte", "lt": "lt", "lte": "lt"}
_PERIODS: dict[Operator, Callable[[str, str], dict[str, str]]] = {
    "eq": lambda start, end: {"gte": start, "lt": end},
    "gt": lambda _start, end: {"gte": end},
    "gte": lambda start, _end: {"gte": start},
    "lt": lambda start, _end: {"lt": start},
    "lte": lambda _start, end: {"lt": end},
}
