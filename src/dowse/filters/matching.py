"""What a filter means, comparison by comparison: the reference that every store agrees with."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from dowse.errors import UsageError
from dowse.filters.dates import Period, instant_of, period_of
from dowse.filters.fields import Field, field_of, values_of
from dowse.filters.tree import And, Compare, Filter, Not, Operator, Scalar
from dowse.filters.values import Values, fold
from dowse.text.globs import compile_glob
from dowse.types import Chunk, DocumentInfo, MetadataValue

__all__ = ["GLOB_SIGNS", "Comparison", "Predicate", "comparison_of", "local_now", "matches", "predicate", "unmet"]

Predicate: TypeAlias = Callable[[DocumentInfo, Chunk | None, int], bool]
"""Takes a document, one of its chunks or None, and the chunk's ordinal."""
Comparison: TypeAlias = Callable[[Values], bool]
"""Takes the values of one field."""
_One: TypeAlias = Callable[[Any], bool]
"""Takes one value; that it may be of a wrong type is the caller's business."""

GLOB_SIGNS = frozenset("*?[{")
_EXACT: dict[Operator, Callable[[Any], _One]] = {
    "eq": lambda given: lambda value: bool(value == given),
    "gt": lambda given: lambda value: bool(value > given),
    "gte": lambda given: lambda value: bool(value >= given),
    "lt": lambda given: lambda value: bool(value < given),
    "lte": lambda given: lambda value: bool(value <= given),
}
_PERIODS: dict[Operator, Callable[[Period], _One]] = {
    "eq": lambda period: lambda value: period.start <= value < period.end,
    "gt": lambda period: lambda value: bool(value >= period.end),
    "gte": lambda period: lambda value: bool(value >= period.start),
    "lt": lambda period: lambda value: bool(value < period.start),
    "lte": lambda period: lambda value: bool(value < period.end),
}


def matches(
    filter: Filter,  # noqa: A002 - the noun of this package
    info: DocumentInfo,
    chunk: Chunk | None = None,
    ordinal: int = 0,
    *,
    now: datetime | None = None,
) -> bool:
    """Whether a passage, or a document without one, may answer."""
    return predicate(filter, now)(info, chunk, ordinal)


def predicate(filter: Filter, now: datetime | None = None) -> Predicate:  # noqa: A002 - the noun of this package
    """The same for many: what the filter itself says is read once. `now` is what `7d` and `today` count from."""
    now = now or local_now()
    if isinstance(filter, Compare):
        field, test = field_of(filter.field), comparison_of(filter, now)
        return lambda info, chunk, ordinal: test(values_of(field, info, chunk, ordinal))
    if isinstance(filter, Not):
        part = predicate(filter.part, now)
        return lambda info, chunk, ordinal: not part(info, chunk, ordinal)
    parts = [predicate(part, now) for part in filter.parts]
    join = all if isinstance(filter, And) else any
    return lambda info, chunk, ordinal: join(part(info, chunk, ordinal) for part in parts)


def unmet(
    filter: Filter,  # noqa: A002 - the noun of this package
    info: DocumentInfo,
    chunk: Chunk | None = None,
    ordinal: int = 0,
    *,
    now: datetime | None = None,
) -> Filter | None:
    """The first part that does not hold, to tell why something was left out; None where all hold."""
    parts = filter.parts if isinstance(filter, And) else (filter,)
    failing = (part for part in parts if not matches(part, info, chunk, ordinal, now=now))
    return next(failing, None)


def local_now() -> datetime:
    """The present in the zone of this machine, which says when today began."""
    return datetime.now(UTC).astimezone()


def comparison_of(compare: Compare, now: datetime) -> Comparison:
    """A comparison as a test of its field's values; one that makes no sense holds for nothing."""
    field = field_of(compare.field)
    if compare.op == "exists":
        return lambda found: bool(found) is bool(compare.value)
    given = compare.value if isinstance(compare.value, tuple) else (compare.value,)
    if compare.op == "in":
        return _any_equal(field, given, now)
    one = _one(field, compare.op, given[0], now) if len(given) == 1 else _never
    return lambda found: any(map(one, found))


def _any_equal(field: Field, given: tuple[Scalar, ...], now: datetime) -> Comparison:
    """Equal to one of many: by looking it up where equality is just that."""
    if field.kind == "text":
        wanted = frozenset(field.given(each) for each in given if isinstance(each, str))
        return lambda found: not wanted.isdisjoint(found)
    ones = [_one(field, "eq", each, now) for each in given]
    return lambda found: any(one(value) for value in found for one in ones)


def _never(_value: object) -> bool:
    return False


def _one(field: Field, op: Operator, given: Scalar, now: datetime) -> _One:
    """A comparison as a test of one value."""
    if field.kind == "metadata":
        return _metadata(op, given, now)
    if field.kind == "text":
        return _text(op, field.given(given)) if isinstance(given, str) else _never
    if field.kind == "date":
        period = _period(given, now)
        return _PERIODS[op](period) if period and op in _PERIODS else _never
    return _never if isinstance(given, bool | str) or op not in _EXACT else _EXACT[op](given)


def _period(given: Scalar, now: datetime) -> Period | None:
    if isinstance(given, str):
        return period_of(given, now)
    if isinstance(given, bool | float):
        return None
    return Period(given, given + 1)


def _text(op: Operator, given: str) -> _One:
    if op == "contains":
        return lambda value: given in value
    if op == "prefix":
        return lambda value: bool(value.startswith(given))
    if op == "glob":
        return _glob(given)
    return _EXACT[op](given)


def _glob(given: str) -> _One:
    """Without a slash it is for the last segment, at any depth; with one at its end, for all below."""
    is_name = "/" not in given
    try:
        pattern = compile_glob(f"{given}**" if given.endswith("/") else given)
    except UsageError:
        return _never
    if is_name:
        return lambda value: pattern.fullmatch(value, value.rfind("/") + 1) is not None
    return lambda value: pattern.fullmatch(value) is not None


def _metadata(op: Operator, given: Scalar, now: datetime) -> _One:
    """A comparison with a raw value: types stay apart, and a list holds where one of its members does."""
    alone = _alone(op, given, now)
    # Lists hold text only, so that a number or truth value is compared as it is written there.
    written = str(given).lower() if isinstance(given, bool) else str(given)
    member = alone if isinstance(given, str) or op != "eq" else _alone(op, written, now)
    return lambda value: any(map(member, value)) if isinstance(value, list) else alone(value)


def _alone(op: Operator, given: Scalar, now: datetime) -> _One:
    if isinstance(given, bool):
        return (lambda value: value is given) if op == "eq" else _never
    if not isinstance(given, str):
        compare = _EXACT[op](given) if op in _EXACT else _never
        return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and compare(value)
    if op == "eq":
        return lambda value: bool(value == given)
    if op in _EXACT:
        period = period_of(given, now)
        return _dated(_PERIODS[op](period)) if period else _of_text(_EXACT[op](given))
    return _of_text(_text(op, fold(given)), fold)


def _of_text(test: _One, of: Callable[[str], str] = str) -> _One:
    return lambda value: isinstance(value, str) and test(of(value))


def _dated(test: _One) -> _One:
    def dated(value: MetadataValue) -> bool:
        instant = instant_of(value) if isinstance(value, str) else None
        return instant is not None and test(instant)

    return dated
