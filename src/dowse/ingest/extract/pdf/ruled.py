"""Tables by the lines that rule them: words between the same lines are a cell.

What may be something else (a frame around text, the boxes of a form, the grid of a chart) stays text, since a
wrong table says wrong things.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dowse.ingest.extract.pdf.drawings import Ruling
from dowse.ingest.extract.pdf.page import Fragment
from dowse.ingest.extract.pdf.rows import Item, Table, rows_of
from dowse.ingest.extract.pdf.words import join_lines, tidy

__all__ = ["ruled_tables"]

_NEAR = 2.5
"""Points between the ends of lines that meet."""
_MOST_LINES = 600
_MOST_FRAGMENTS = 20_000
_MOST_COLUMNS = 24
_MOST_ROWS = 400
_LEAST_FILLED = 0.35
_LONGEST_CELL = 600
"""A longer one is a frame around text."""
_REGULAR = 0.6
_WIDE_GAP = 1.5
_MOST_PARTED = 0.2


class _Cell(NamedTuple):
    row: int
    column: int


def ruled_tables(fragments: Sequence[Fragment], lines: Sequence[Ruling]) -> list[Item]:
    """The items of a page, where what stands in a ruled grid has become a table."""
    left: list[Item] = list(fragments)
    for grid in _grids(lines) if len(fragments) <= _MOST_FRAGMENTS else ():
        inside = [item for item in left if isinstance(item, Fragment) and grid.holds(item)]
        table = grid.table(inside)
        if table:
            taken = set(map(id, inside))
            left = [item for item in left if id(item) not in taken]
            left.append(table)
    return left


class _Grid:
    """Lines that touch, and so may rule a table."""

    def __init__(self, lines: Sequence[Ruling]) -> None:
        self._uprights = [line for line in lines if not line.level]
        self._levels = [line for line in lines if line.level]
        x0, x1 = min(line.x0 for line in lines), max(line.x1 for line in lines)
        y0, y1 = min(line.y0 for line in lines), max(line.y1 for line in lines)
        self._xs = _distinct([x0, x1, *(line.x0 for line in self._uprights)])
        self._ys = _distinct([y0, y1, *(line.y0 for line in self._levels)])[::-1]

    def holds(self, item: Fragment) -> bool:
        """Whether a fragment lies inside."""
        (left, right), (top, bottom) = (self._xs[0], self._xs[-1]), (self._ys[0], self._ys[-1])
        return left - _NEAR <= item.x0 and item.x1 <= right + _NEAR and bottom < item.middle < top

    def table(self, fragments: Sequence[Fragment]) -> Table | None:
        """The table that it rules, if it is one."""
        columns, rows = len(self._xs) - 1, len(self._ys) - 1
        if not (1 < columns <= _MOST_COLUMNS and 1 < rows <= _MOST_ROWS and fragments and self._is_regular()):
            return None
        cells: dict[_Cell, list[Fragment]] = {}
        for fragment in fragments:
            row = _place(fragment.middle, self._ys)
            for piece in self._pieces(fragment):
                cells.setdefault(_Cell(row, _place(piece.x0 + 0.5 * piece.first, self._xs)), []).append(piece)
        used_rows, used_columns = sorted({cell.row for cell in cells}), sorted({cell.column for cell in cells})
        if len(used_rows) < 2 or len(used_columns) < 2 or not _are_cells(cells, len(used_rows) * len(used_columns)):  # noqa: PLR2004 - plural
            return None
        written = tuple(
            tuple(_cell_text(cells.get(_Cell(row, column), ())) for column in used_columns) for row in used_rows
        )
        return Table(
            written, self._xs[0], self._xs[-1], self._ys[-1], self._ys[0], min(each.order for each in fragments)
        )

    def _is_regular(self) -> bool:
        """Whether most of the lines inside go through; those of forms begin and end anywhere."""
        (left, right), (top, bottom) = (self._xs[0], self._xs[-1]), (self._ys[0], self._ys[-1])
        uprights = [
            sum(line.y1 - line.y0 for line in self._uprights if abs(line.x0 - x) <= _NEAR) for x in self._xs[1:-1]
        ]
        levels = [sum(line.x1 - line.x0 for line in self._levels if abs(line.y0 - y) <= _NEAR) for y in self._ys[1:-1]]
        return sum(uprights) >= _REGULAR * len(uprights) * (top - bottom) and sum(levels) >= _REGULAR * len(levels) * (
            right - left
        )

    def _pieces(self, fragment: Fragment) -> Iterable[Fragment]:
        """A fragment cut where an upright line goes through it."""
        middle = fragment.middle
        borders = [
            line.x0
            for line in self._uprights
            if fragment.x0 < line.x0 < fragment.x1 and line.y0 - _NEAR < middle < line.y1 + _NEAR
        ]
        if not borders:
            return [fragment]
        pieces: dict[int, list[int]] = {}
        for index, word in enumerate(fragment.words):
            middle = (word.x0 + word.x1) / 2
            pieces.setdefault(sum(middle > border for border in borders), []).append(index)
        return [
            fragment._replace(
                text=tidy(" ".join(fragment.words[index].text for index in indexes)),
                x0=min(fragment.words[index].x0 for index in indexes),
                x1=max(fragment.words[index].x1 for index in indexes),
                words=[fragment.words[index] for index in indexes],
            )
            for indexes in pieces.values()
        ]


def _grids(lines: Sequence[Ruling]) -> list[_Grid]:
    """Lines put together where they touch; too many are a drawing."""
    merged = _merged(lines)
    if len(merged) > _MOST_LINES:
        return []
    groups: list[list[Ruling]] = []
    for line in merged:
        touching = [group for group in groups if any(_touch(line, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in touching)]
        groups.append([line, *(other for group in touching for other in group)])
    return [
        _Grid(group) for group in groups if any(line.level for line in group) and any(not line.level for line in group)
    ]


def _merged(lines: Sequence[Ruling]) -> list[Ruling]:
    """Lines in pieces made whole: tables are often ruled cell by cell."""
    whole: list[Ruling] = []
    level = sorted((line for line in lines if line.level), key=lambda line: (round(line.y0), line.x0))
    upright = sorted((line for line in lines if not line.level), key=lambda line: (round(line.x0), line.y0))
    for line in level:
        if whole and abs(whole[-1].y0 - line.y0) <= 1 and line.x0 <= whole[-1].x1 + _NEAR:
            whole[-1] = whole[-1]._replace(x1=max(whole[-1].x1, line.x1))
        else:
            whole.append(line)
    count = len(whole)
    for line in upright:
        if len(whole) > count and abs(whole[-1].x0 - line.x0) <= 1 and line.y0 <= whole[-1].y1 + _NEAR:
            whole[-1] = whole[-1]._replace(y1=max(whole[-1].y1, line.y1))
        else:
            whole.append(line)
    return whole


def _touch(one: Ruling, other: Ruling) -> bool:
    return (
        one.x0 <= other.x1 + _NEAR
        and other.x0 <= one.x1 + _NEAR
        and one.y0 <= other.y1 + _NEAR
        and other.y0 <= one.y1 + _NEAR
    )


def _distinct(values: Iterable[float]) -> list[float]:
    """Positions in rising order, near ones as one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NEAR:
            found.append(value)
    return found


def _place(value: float, borders: Sequence[float]) -> int:
    """Between which two borders a value lies, the borders rising or falling."""
    rising = borders[0] < borders[-1]
    inner = sum((value > border) if rising else (value < border) for border in borders[1:-1])
    return int(inner)


def _are_cells(cells: Mapping[_Cell, Sequence[Fragment]], room: int) -> bool:
    """Whether enough of them are filled, none is a frame around text, and few have columns of their own inside."""
    if len(cells) < _LEAST_FILLED * room:
        return False
    if any(sum(len(fragment.text) for fragment in fragments) > _LONGEST_CELL for fragments in cells.values()):
        return False
    parted = sum(
        any(
            other.x0 - one.x1 > _WIDE_GAP * (one.top - one.bottom)
            for row in rows_of(fragments)
            for one, other in pairwise(row.items)
        )
        for fragments in cells.values()
    )
    return parted <= _MOST_PARTED * len(cells)


def _cell_text(fragments: Sequence[Fragment]) -> str:
    return join_lines(
        " ".join(item.text for item in row.items if isinstance(item, Fragment)) for row in rows_of(fragments)
    )
