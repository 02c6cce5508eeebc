"""What stands on a page, line by line: fragments and tables, and the rows that they make."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from dowse.ingest.extract.pdf.page import Fragment

__all__ = ["Item", "Row", "Span", "Table", "cover", "rows_of"]

_INITIAL = 1.6
"""How much higher than its line an initial is that reaches over several."""


class Table(NamedTuple):
    """Cells found on a page, in the place of the fragments that they hold."""

    cells: tuple[tuple[str, ...], ...]
    x0: float
    x1: float
    bottom: float
    top: float
    order: int


Item = Fragment | Table
Span = tuple[float, float]


class Row(NamedTuple):
    """What stands side by side, from the start of the line to its end."""

    items: list[Item]

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return min(item.bottom for item in self.items)

    @property
    def top(self) -> float:
        """The upper edge."""
        return max(item.top for item in self.items)


def rows_of(items: Iterable[Item]) -> list[Row]:
    """Put what stands on one line together; raised and lowered letters belong to the line that they overlap most."""
    rows: list[list[Item]] = []
    low = high = 0.0
    for item in sorted(items, key=_height, reverse=True):
        bottom, top = item.bottom, item.top
        shared = min(high, top) - max(low, bottom)
        if rows and 2 * shared > min(top - bottom, high - low) and not isinstance(item, Table):
            rows[-1].append(item)
            # An initial that is several lines high does not draw all of them into its own.
            if high - low < top - bottom < _INITIAL * (high - low):
                low, high = bottom, top
        else:
            rows.append([item])
            # Nothing joins a table: it has a row for itself.
            low, high = bottom, bottom if isinstance(item, Table) else top
    return [Row(sorted(row, key=attrgetter("x0")) if len(row) > 1 else row) for row in rows]


def _height(item: Item) -> float:
    """Where an item stands on the page; lines are compared by their middles, whatever their size."""
    return item.top if isinstance(item, Table) else item.middle


def cover(covered: Sequence[Span], item: Item, gutter: float) -> list[Span]:
    """The stretches of the line that are covered, with one more item; white below the width of a gutter counts."""
    low, high = item.x0, item.x1
    grown: list[Span] = []
    for start, end in covered:
        if end + gutter <= low or high + gutter <= start:
            grown.append((start, end))
        else:
            low, high = min(low, start), max(high, end)
    grown.append((low, high))
    return sorted(grown)
