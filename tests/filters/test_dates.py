"""Dates as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from dowse.filters.dates import Period, instant_of, period_of

NOW = datetime(2024, 3, 31, 15, 30, 45, 123_000, tzinfo=timezone(timedelta(hours=2)))
SECOND, MINUTE, DAY = 1_000, 60_000, 86_400_000


def ms(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp() * 1_000)


@pytest.mark.parametrize(
    ("text", "start", "length"),
    [
        ("2024", ms(2024, 1, 1), 366 * DAY),
        ("2023", ms(2023, 1, 1), 365 * DAY),
        ("2024-02", ms(2024, 2, 1), 29 * DAY),
        ("2024/2", ms(2024, 2, 1), 29 * DAY),
        (" 2024-02-03 ", ms(2024, 2, 3), DAY),
        ("2024-02-03T10:30", ms(2024, 2, 3, 10, 30), MINUTE),
        ("2024-02-03 10:30:15", ms(2024, 2, 3, 10, 30, 15), SECOND),
        ("2024-02-03T10:30:15Z", ms(2024, 2, 3, 10, 30, 15), SECOND),
        ("2024-02-03T10:30:15+02:00", ms(2024, 2, 3, 8, 30, 15), SECOND),
        ("2024-02-03T10:30:15.5-0130", ms(2024, 2, 3, 12, 0, 15) + 500, 100),
        ("2024-02-03T10:30:15.123456", ms(2024, 2, 3, 10, 30, 15) + 123, 1),
        ("9999", ms(9999, 1, 1), 365 * DAY),
        ("today", ms(2024, 3, 30, 22), DAY),
        ("Yesterday", ms(2024, 3, 29, 22), DAY),
        ("12h", ms(2024, 3, 31, 1, 30, 45) + 123, 1),
        ("7d", ms(2024, 3, 23, 22), DAY),
        ("2w", ms(2024, 3, 16, 22), DAY),
        ("1m", ms(2024, 2, 28, 22), DAY),
        ("1y", ms(2023, 3, 30, 22), DAY),
    ],
)
def test_a_date_stands_for_a_period(text, start, length):
    assert period_of(text, NOW) == Period(start, start + length)


@pytest.mark.parametrize(
    "text",
    [
        *("", "banana", "24", "2024-13", "2023-02-29", "2024-05-01T25:00", "2024-05-01T10", "0000", "3000y", "99999m"),
        *("7x", "2024-05-01T10:00+99:00", "٢٠٢٤", "2024-", "20240501"),
    ],
)
def test_what_is_no_date_stands_for_nothing(text):
    assert period_of(text, NOW) is None


def test_a_document_dates_itself_by_the_start_of_what_it_says():
    assert instant_of("2024-05") == ms(2024, 5, 1)
    assert instant_of("2024-05-01T10:00:00+02:00") == ms(2024, 5, 1, 8)
    assert instant_of(2024) == ms(2024, 1, 1)


@pytest.mark.parametrize("value", ["today", "7d", "soon", 7, True, 2024.5, ["2024"], 12_345])
def test_a_document_cannot_date_itself_otherwise(value):
    assert instant_of(value) is None
