"""Dates as people write them: whole or in part, absolute or counted back from now."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

from dowse.types import MetadataValue

__all__ = ["Period", "instant_of", "period_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = 86_400_000
_ISO = re.compile(
    r"(?P<year>\d{4})(?:[-/](?P<month>\d{1,2})(?:[-/](?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r" ?(?P<zone>Z|[-+]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_AGO = re.compile(r"(?P<count>\d{1,5})(?P<unit>[hdwmy])", re.ASCII | re.IGNORECASE)
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"m": 1, "y": 12}
_DAYS_AGO = {"today": 0, "yesterday": 1}
_YEARS = range(1000, 10_000)


class Period(NamedTuple):
    """From the first of these milliseconds since 1970 up to, but without, the second."""

    start: int
    end: int


def period_of(text: str, now: datetime) -> Period | None:
    """What a date stands for; None for what is none.

    `2024`, `2024-05`, `2024-05-01`, `2024-05-01T10:30`, with seconds and a zone if need be (UTC without one);
    `today` and `yesterday`, and the day that is `7d`, `2w`, `3m` (months) or `1y` ago, in the zone of `now`; `12h`
    is that moment.
    """
    text = text.strip()
    if found := _ISO.fullmatch(text):
        return _absolute(found)
    ago = _AGO.fullmatch(text)
    if text.lower() not in _DAYS_AGO and not ago:
        return None
    count, unit = (int(ago["count"]), ago["unit"].lower()) if ago else (_DAYS_AGO[text.lower()], "d")
    try:
        then = _milliseconds(_ago(count, unit, now))
    except (OverflowError, ValueError):  # before the year 1
        return None
    return Period(then, then + (1 if unit == "h" else _DAY))


def instant_of(value: MetadataValue) -> int | None:
    """When that is, as a document says it: the start of what the date stands for. A number is a year."""
    if isinstance(value, int) and not isinstance(value, bool) and value in _YEARS:
        value = str(value)
    return _start_of(value) if isinstance(value, str) else None


@lru_cache(maxsize=4_096)
def _start_of(text: str) -> int | None:
    """A filter reads the dates of all documents: most are of a form that the library reads twenty times as fast."""
    text = text.strip()
    if text[4:5] == text[7:8] == "-":
        with suppress(ValueError):
            moment = datetime.fromisoformat(text)
            return _milliseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    found = _ISO.fullmatch(text)
    period = _absolute(found) if found else None
    return period.start if period else None


def _absolute(found: re.Match[str]) -> Period | None:
    year, month, day, hour, minute, second = (
        int(part) if part else None for part in found.group("year", "month", "day", "hour", "minute", "second")
    )
    try:
        start = _milliseconds(
            datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=_zone(found["zone"]))
        )
    except ValueError:
        return None
    if fraction := found["fraction"]:
        start += int(fraction[:3].ljust(3, "0"))
        return Period(start, start + 10 ** max(0, 3 - len(fraction)))
    if second is not None:
        return Period(start, start + 1_000)
    if minute is not None:
        return Period(start, start + 60_000)
    if day is not None:
        return Period(start, start + _DAY)
    days = [_days_in(year or 1, each) for each in ([month] if month else range(1, 13))]
    return Period(start, start + sum(days) * _DAY)


def _zone(text: str | None) -> timezone:
    if not text or text in "zZ":
        return UTC
    digits = text[1:].replace(":", "")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-away if text[0] == "-" else away)


def _ago(count: int, unit: str, now: datetime) -> datetime:
    if unit == "h":
        return now - timedelta(hours=count)
    now = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in _DAYS:
        return now - timedelta(days=count * _DAYS[unit])
    months = now.year * 12 + now.month - 1 - count * _MONTHS[unit]
    year, month = divmod(months, 12)
    if year < 1:
        raise OverflowError(year)
    return now.replace(year=year, month=month + 1, day=min(now.day, _days_in(year, month + 1)))


def _days_in(year: int, month: int) -> int:
    from calendar import monthrange  # rarely needed, and it imports the locale

    return monthrange(year, month)[1]


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
