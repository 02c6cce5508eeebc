"""The columns of a page: what white parts from top to bottom.

Going down the page, items belong to the same columns for as long as a gutter stays that none of them crosses; a
title across the page ends the columns above it and begins those below. What a gutter parts is taken for columns
when the text of each fills its column, or is drawn column by column. Otherwise it is read line by line, as a table
or a form is.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from dowse.ingest.extract.pdf.rows import Item, Span, Table, cover, rows_of

__all__ = ["ColumnSearch"]

_GUTTER = 0.7
"""The narrowest gutter, in ems."""
_NARROWEST_COLUMN = 7.0
_FEWEST_LETTERS = 10
"""In the middle line of a column."""
_FEWEST_LINES = 3
_FILLED = 0.6
_FULL_WIDTH = 0.62
_DEEPEST = 3
_MOST_STEPS = 20_000
"""Of the search on one page; beyond, the rest is read line by line."""
_SAME_SIZE = 1.1
_NEXT_LINE = 1.35
_SAME_ROW = 0.3
_FEW_CHANGES = 0.15
_MOST_TRIES = 8


class ColumnSearch:
    """Looks for columns on one page, within a bound of steps."""

    def __init__(self, em: float) -> None:
        self._em = em
        self._steps = 0

    def parts(self, items: Sequence[Item], depth: int = 0) -> Iterator[list[Item]]:
        """The items cut into columns, and the stretches between columns."""
        items = sorted(items, key=lambda item: (-item.top, item.x0))
        width = max((item.x1 for item in items), default=0.0) - min((item.x0 for item in items), default=0.0)
        plain: list[Item] = []
        index = 0
        while index < len(items):
            item = items[index]
            goes_on = bool(plain) and (
                plain[-1].top - item.top < _SAME_ROW * self._em or _goes_on(plain[-1], item, _FULL_WIDTH * width)
            )
            columns, count = ([], 0) if goes_on or depth == _DEEPEST else self._columns(items, index, width)
            if columns:
                if plain:
                    yield plain
                    plain = []
                for column in columns:
                    yield from self.parts(column, depth + 1)
                index += count
            else:
                plain.append(item)
                index += 1
        if plain:
            yield plain

    def _columns(self, items: Sequence[Item], start: int, width: float) -> tuple[list[list[Item]], int]:
        """The columns that begin with an item, and how many items they take; none where there are none."""
        covered: list[Span] = []
        earlier: list[tuple[list[Span], int]] = []
        end = start
        while end < len(items):
            self._steps += 1
            grown = cover(covered, items[end], _GUTTER * self._em)
            if len(grown) == 1 and (len(covered) > 1 or grown[0][1] - grown[0][0] > _FULL_WIDTH * width):
                break
            if len(grown) < len(covered):
                earlier.append((covered, self._row_start(items, start, end)))
            if self._steps > _MOST_STEPS:
                return [], 0
            covered = grown
            end += 1
        found = self._accept(items[start:end], covered)
        # Three columns above two are columns of their own.
        for spans, stop in earlier[:_MOST_TRIES]:
            if self._wide(spans) > max(2, len(found)):
                columns = self._accept(items[start:stop], spans)
                if len(columns) > len(found):
                    return columns, stop - start
        return found, end - start

    def _row_start(self, items: Sequence[Item], start: int, end: int) -> int:
        """Where the row of an item begins, so that a cut before it parts no row."""
        top = items[end].top
        while end > start and items[end - 1].top - top < _SAME_ROW * self._em:
            end -= 1
        return end

    def _wide(self, spans: Sequence[Span]) -> int:
        """How many of them are wide enough for a column."""
        return sum(end - start >= _NARROWEST_COLUMN * self._em for start, end in spans)

    def _accept(self, items: Sequence[Item], covered: Sequence[Span]) -> list[list[Item]]:
        """What the gutters part, when that is columns."""
        if self._wide(covered) <= 1:
            return []
        self._steps += len(items)
        parts = [[item for item in items if low <= item.x0 <= high] for low, high in covered]
        columns = self._merge_narrow([part for part in parts if part])
        if len(columns) <= 1:
            return []
        return columns if _is_by_column(columns) or all(map(_is_filled, columns)) else []

    def _merge_narrow(self, parts: Sequence[list[Item]]) -> list[list[Item]]:
        """Parts that are too slight for a column go with the next one, as the marks of a list do."""
        columns: list[list[Item]] = []
        slight: list[Item] = []
        for part in parts:
            column = [*slight, *part]
            if self._is_column(part):
                columns.append(column)
                slight = []
            else:
                slight = column
        if slight and columns:
            columns[-1].extend(slight)
        return columns

    def _is_column(self, items: Sequence[Item]) -> bool:
        width = max(item.x1 for item in items) - min(item.x0 for item in items)
        if width < _NARROWEST_COLUMN * self._em:
            return False
        lines = [sum(_letters(item) for item in row.items) for row in rows_of(items)]
        return len(lines) > 1 and median(lines) >= _FEWEST_LETTERS


def _goes_on(before: Item, item: Item, width: float) -> bool:
    """Whether an item is the next line of a paragraph that is wider than a column."""
    if isinstance(before, Table) or isinstance(item, Table) or before.x1 - before.x0 < width:
        return False
    sizes = sorted((before.size, item.size))
    return sizes[1] <= _SAME_SIZE * sizes[0] and 0 < before.y - item.y < _NEXT_LINE * item.size


def _is_by_column(columns: Sequence[Sequence[Item]]) -> bool:
    """Whether one column is drawn after the other, but for a few items."""
    drawn = sorted((item.order, index) for index, column in enumerate(columns) for item in column)
    changes = sum(one != other for (_, one), (_, other) in pairwise(drawn))
    return changes <= max(len(columns) - 1, _FEW_CHANGES * len(drawn))


def _letters(item: Item) -> int:
    """How much it has to read; columns of figures are parts of a table."""
    return _FEWEST_LETTERS if isinstance(item, Table) else sum(map(str.isalpha, item.text))


def _is_filled(items: Sequence[Item]) -> bool:
    """Whether most lines reach across most of the column."""
    left, right = min(item.x0 for item in items), max(item.x1 for item in items)
    rows = rows_of(items)
    full = sum(row.items[-1].x1 - row.items[0].x0 >= _FILLED * (right - left) for row in rows)
    return len(rows) >= _FEWEST_LINES and 2 * full >= len(rows)
