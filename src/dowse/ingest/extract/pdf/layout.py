"""The reading order of a page: its head, the columns between, its foot."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from dowse.ingest.extract.pdf.columns import ColumnSearch
from dowse.ingest.extract.pdf.page import Fragment
from dowse.ingest.extract.pdf.rows import Item, Row, Table, rows_of

__all__ = ["Zone", "zones"]

_MARGIN_GAP = 0.9
"""The white, in ems, between a running head or foot and the text."""
_MOST_MARGIN_ROWS = 2
_MOST_MARGIN_PARTS = 3
"""Left, middle and right; more are the names of columns."""
_APART = 2.0
"""Ems between parts of a running head that have nothing to do with each other."""


class Zone(NamedTuple):
    """Rows of one column, from top to bottom."""

    rows: list[Row]
    margin: bool = False
    """Whether it stands apart at the top or the bottom of the page, as running heads and page numbers do."""


def zones(items: Sequence[Item]) -> list[Zone]:
    """The page in reading order."""
    if not items:
        return []
    rows = rows_of(items)
    em = median([item.size for item in items if isinstance(item, Fragment)] or [10.0])
    head = _margin_rows(rows, em) if len(rows) > 1 else 1
    foot = min(_margin_rows(rows[::-1], em), len(rows) - head)
    body = [item for row in rows[head : len(rows) - foot] for item in row.items]
    return [
        *_margin_zones(rows[:head], em),
        *(Zone(rows_of(part)) for part in ColumnSearch(em).parts(body)),
        *_margin_zones(rows[len(rows) - foot :], em),
    ]


def _margin_rows(rows: Sequence[Row], em: float) -> int:
    """How many rows stand apart at the beginning of these: at most two, and never all of them."""
    for count in range(min(_MOST_MARGIN_ROWS, len(rows) - 1), 0, -1):
        outer = rows[:count]
        simple = all(len(_apart(row, em)) <= (_MOST_MARGIN_PARTS if count == 1 else 1) for row in outer)
        tables = any(isinstance(item, Table) for row in outer for item in row.items)
        if simple and not tables and _gap(outer[-1], rows[count]) > _MARGIN_GAP * em:
            return count
    return 0


def _margin_zones(rows: Sequence[Row], em: float) -> Iterator[Zone]:
    """Each part of a running head by itself: its words and the number of the page are told apart so."""
    if len(rows) == _MOST_MARGIN_ROWS and _gap(*rows) <= _MARGIN_GAP * em:
        yield Zone(list(rows), margin=True)
        return
    for row in rows:
        for part in _apart(row, em):
            yield Zone([Row(part)], margin=True)


def _gap(one: Row, other: Row) -> float:
    """The white between two rows, whichever of them is the upper one."""
    return max(one.bottom - other.top, other.bottom - one.top)


def _apart(row: Row, em: float) -> list[list[Item]]:
    """A row cut where the white in it is wide."""
    parts = [row.items[:1]]
    for before, item in pairwise(row.items):
        if item.x0 - before.x1 > _APART * em:
            parts.append([])
        parts[-1].append(item)
    return parts
