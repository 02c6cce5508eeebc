"""Filters as conditions of SQL, over the tables of `rows.DOCUMENT_TABLES` and `chunks c`.

What SQLite says as we mean it is said in SQL. The rest is one function of ours that SQLite calls with the
columns of a row: it makes the values of the field as `filters` does and compares them as `filters` does, so
that there is nothing to agree on. It depends on its arguments alone: they carry the comparison, as JSON.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from dowse.filters.dates import period_of
from dowse.filters.fields import Field, field_of
from dowse.filters.matching import comparison_of, local_now
from dowse.filters.tree import And, Compare, Filter, Not, Operator, leaves
from dowse.records import record
from dowse.types import MetadataValue

__all__ = ["Condition", "condition_of", "metadata_keys", "prepare"]

_FUNCTION = "dowse_compare"
# The columns of each raw part, in the order in which `_PARTS` takes them.
_COLUMNS: dict[str, str] = {
    "id": "lower(hex(d.uuid))",
    "collection": "l.name",
    "path": "d.path",
    "uri": "d.uri",
    "title": "d.title",
    "hash": "n.hash",
    "media_type": "d.media_type",
    "origin": "d.origin",
    "size": "d.size",
    "mtime_ns": "d.mtime_ns",
    "created_at": "d.created_at",
    "updated_at": "d.updated_at",
    "metadata": "d.metadata, n.metadata",
    "page": "c.page",
    "headings": "c.headings",
    "level": "c.level",
    "first_line": "c.first_line",
    "last_line": "c.last_line",
    "ordinal": "c.ordinal",
    "place": "c.place, ''",
}
_MAPPINGS = frozenset({"metadata", "place"})
# Fields that are one integer column, with how many of its units make one of the field's.
_INTEGERS: dict[str, int] = {
    **dict.fromkeys(("size", "page", "level", "first_line", "last_line", "ordinal", "created_at", "updated_at"), 1),
    "modified": 1_000_000,
}
_SIGNS: dict[Operator, str] = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
# How a column relates to the start (0) or the end (1) of a period.
_BOUNDS: dict[Operator, tuple[tuple[str, int], ...]] = {
    "eq": ((">=", 0), ("<", 1)),
    "gt": ((">=", 1),),
    "gte": ((">=", 0),),
    "lt": (("<", 0),),
    "lte": (("<", 1),),
}
_INT64 = range(-(2**63), 2**63)
_PLAIN_SUFFIX = re.compile(r"[a-z0-9.+-]+")
_MOST_SUFFIXES = 50  # a long chain of OR is slower than a function, and at a thousand refused

_value_at = json.JSONDecoder().raw_decode

Parameters: TypeAlias = tuple[Any, ...]
_Said: TypeAlias = tuple[str, Parameters]


@record
class Condition:
    """What stands after WHERE, with one value for each of its question marks. It is never NULL."""

    sql: str
    parameters: Parameters
    of_passages: bool
    """Whether it looks at `chunks c` as well, so that passages of one document may differ."""


def prepare(connection: sqlite3.Connection) -> None:
    """Teach a connection the function that conditions call; once for each connection."""
    connection.create_function(_FUNCTION, -1, _compare, deterministic=True)


def condition_of(filter: Filter, now: datetime | None = None) -> Condition:  # noqa: A002 - the noun of filters
    """The filter as a condition; `now` is what `7d` and `today` count from."""
    sql, parameters = _said(filter, now or local_now())
    return Condition(sql, parameters, any(field_of(leaf.field).of_passage for leaf in leaves(filter)))


def metadata_keys(connection: sqlite3.Connection) -> frozenset[str]:
    """Every key of metadata that some document has."""
    readable = "CASE WHEN json_valid({0}) THEN {0} END"  # most have none, which is no JSON
    query = (
        f"SELECT DISTINCT e.key FROM documents d, json_each({readable.format('d.metadata')}) e UNION "
        f"SELECT e.key FROM contents n, json_each({readable.format('n.metadata')}) e WHERE n.released_at IS NULL"
    )
    return frozenset(key for (key,) in connection.execute(query))


def _said(filter: Filter, now: datetime) -> _Said:  # noqa: A002 - the noun of filters
    if isinstance(filter, Compare):
        return _leaf(filter, now)
    if isinstance(filter, Not):
        sql, parameters = _said(filter.part, now)
        return f"NOT {sql}", parameters
    said = [_said(part, now) for part in filter.parts]
    word, empty = (" AND ", "1") if isinstance(filter, And) else (" OR ", "0")
    return f"({word.join(sql for sql, _ in said) or empty})", tuple(each for _, values in said for each in values)


def _leaf(leaf: Compare, now: datetime) -> _Said:
    field = field_of(leaf.field)
    if leaf.op in _SIGNS and field.name in _INTEGERS and (said := _integer(leaf, field, now)):
        return said
    if leaf.op in {"eq", "in"} and leaf.field == "type" and (said := _type(leaf, field, now)):
        return said
    columns = ", ".join(_COLUMNS[part] for part in field.parts)
    call = f"{_FUNCTION}(?, {columns})"
    if leaf.field == "collection":  # there are few of them: ask for each, not for each document
        call = f"(d.collection IN (SELECT l.id FROM collections l WHERE {call}))"
    return call, (_spec(leaf, now),)


def _spec(leaf: Compare, now: datetime) -> str:
    return json.dumps([leaf.field, leaf.op, leaf.value, now.isoformat()])


def _integer(leaf: Compare, field: Field, now: datetime) -> _Said | None:
    """A column compared as it is; None where SQLite has no such number."""
    column, unit, value = _COLUMNS[field.parts[0]], _INTEGERS[field.name], leaf.value
    if field.kind == "date":
        period = period_of(value, now) if isinstance(value, str) else None
        if period is None or any(bound * unit not in _INT64 for bound in period):
            return None
        bounds = _BOUNDS[leaf.op]
        sql = " AND ".join(f"{column} {sign} ?" for sign, _ in bounds)
        return f"({sql})", tuple(period[which] * unit for _, which in bounds)
    if type(value) is not int or value not in _INT64:
        return None
    return f"ifnull({column} {_SIGNS[leaf.op]} ?, 0)", (value,)


def _type(leaf: Compare, field: Field, now: datetime) -> _Said | None:
    """By the few media types that there are, and by the ends of paths; None where LIKE compares otherwise."""
    values = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
    suffixes = [field.given(value) for value in values if isinstance(value, str)]
    if len(suffixes) > _MOST_SUFFIXES or not all(map(_PLAIN_SUFFIX.fullmatch, suffixes)):
        return None
    known = (
        "d.media_type IN (WITH m AS MATERIALIZED (SELECT DISTINCT media_type AS name FROM documents) "
        f"SELECT name FROM m WHERE {_FUNCTION}(?, name, ''))"
    )
    return (
        f"({' OR '.join([known, *['d.path LIKE ?'] * len(suffixes)])})",
        (_spec(leaf, now), *(f"%.{suffix}" for suffix in suffixes)),
    )


def _compare(spec: str, *columns: Any) -> bool:
    """What SQLite calls: whether the comparison holds for a row's columns."""
    return _comparison(spec)(columns)


@lru_cache(maxsize=1_024)
def _comparison(spec: str) -> Callable[[Sequence[Any]], bool]:
    name, op, value, now = json.loads(spec)
    field = field_of(name)
    given = tuple(value) if isinstance(value, list) else value
    holds = comparison_of(Compare(name, op, given), datetime.fromisoformat(now))
    values = field.values
    if field.parts[0] not in _MAPPINGS:
        return lambda columns: holds(values(*columns))
    keys = [_Key(key) for key in field.keys]

    def compare(columns: Sequence[Any]) -> bool:
        said, content, *rest = columns
        return holds(values(_mapping(said, content, keys), *rest))

    return compare


class _Key:
    """A key of metadata, and what it looks like in JSON, so that one value can be read and not all of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.mark = json.dumps(name, ensure_ascii=False)
        # As `rows.metadata_to` writes it. Inside of a text these quotes would be escaped.
        self.first, self.later = f"{{{self.mark}: ", f", {self.mark}: "


def _mapping(said: str, content: str, keys: Sequence[_Key]) -> Mapping[str, MetadataValue]:
    """The values of these keys: what the user said of a document beats what its content says of itself."""
    found: dict[str, MetadataValue] = {}
    for stored in (content, said):
        if not stored:
            continue
        for key in keys:
            if key.mark not in stored:
                continue
            if stored.startswith(key.first):
                found[key.name] = _value_at(stored, len(key.first))[0]
            elif (at := stored.find(key.later)) >= 0:  # otherwise it is one of the values
                found[key.name] = _value_at(stored, at + len(key.later))[0]
    return found
