"""The parts that a page is read into, and the tables among them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import zip_longest

from dowse.ingest.extract.blocks import BlockKind
from dowse.ingest.extract.tables import Row, slices

__all__ = ["Cell", "Part", "Table", "Zone"]

_LONGEST_CELL = 2_000
_MOST_PARTS = 12
"""A cell with more of either is no datum: the table is there for the layout of the page."""
_MOST_COLUMNS = 256
_LONGEST_REPEATED = 80
_MOST_FILLED = 20_000
"""Of the cells that others reach over, in one table."""
_MARKER = re.compile(r"\s*(?:[-:>]|\d{1,9}\.)\s+")
_STRUCTURE = frozenset({"heading", "table", "code"})
_PAIR = 2
_MOST_HEAD = 5


class Zone(IntEnum):
    """How likely a part is what the page is about."""

    MAIN = 0
    ARTICLE = 1
    BODY = 2
    CHROME = 3
    """Menus, banners, footers: what surrounds the content on every page of a site."""


@dataclass(slots=True, eq=False)
class Part:
    """A heading, a paragraph, an item, a piece of code or of a table, ready to be written."""

    kind: BlockKind
    text: str
    zone: Zone = Zone.BODY
    level: int = 0
    """Of a heading."""
    joins: bool = False
    """An item that follows the one before without an empty line."""
    words: int = 0
    """The number of its characters outside of links."""


@dataclass(slots=True)
class Cell:
    """What stands in one cell."""

    is_header: bool
    columns: int
    rows: int
    parts: list[Part] = field(default_factory=list)

    def text(self) -> str:
        """All of it in one line."""
        if len(self.parts) == 1 and self.parts[0].kind != "list":
            return " ".join(self.parts[0].text.split())
        return "; ".join(_MARKER.sub("", " ".join(part.text.split()), count=1) for part in self.parts)


class Table:
    """A table while it is read; whether it holds data or lays out the page is known at its end."""

    def __init__(self, zone: Zone, *, is_layout: bool) -> None:
        self.rows: list[list[Cell]] = []
        self.outside: list[Part] = []
        """The caption, and whatever stands in no cell."""
        self._zone = zone
        self._is_layout = is_layout
        self._headed = 0
        """The number of rows that are marked as the head."""

    def begin_row(self) -> None:
        """Begin a row."""
        if not self.rows or self.rows[-1]:
            self.rows.append([])

    def begin_cell(self, *, is_header: bool, columns: int, rows: int) -> Cell:
        """Begin a cell of the last row."""
        if not self.rows:
            self.begin_row()
        cell = Cell(is_header, max(1, columns), max(1, rows))
        self.rows[-1].append(cell)
        return cell

    def end_head(self) -> None:
        """The rows so far name the columns."""
        self._headed = len(self.rows)

    def parts(self) -> Iterator[Part]:
        """What to write: rows of data, or the contents of the cells one after the other."""
        yield from self.outside
        if not self._holds_data():
            for row in self.rows:
                for cell in row:
                    yield from cell.parts
            return
        if self._names_rows():
            lines = [f"- {row[0].text()}: {row[1].text()}" for row in self.rows if len(row) == _PAIR]
            yield self._part("list", "\n".join(lines))
            return
        header, rows = self._grid()
        for piece in slices(header, rows):
            yield self._part(piece.kind, piece.text)

    def _part(self, kind: BlockKind, text: str) -> Part:
        return Part(kind, text, self._zone, words=len(text))

    def _holds_data(self) -> bool:
        filled = [row for row in self.rows if any(cell.parts for cell in row)]
        cells = [cell for row in filled for cell in row]
        return (
            not self._is_layout
            and len(filled) > 1
            and (max(map(len, filled)) > 1 or cells[0].is_header)
            and not any(part.kind in _STRUCTURE for cell in cells for part in cell.parts)
            and all(len(cell.parts) <= _MOST_PARTS for cell in cells)
            and all(sum(len(part.text) for part in cell.parts) <= _LONGEST_CELL for cell in cells)
        )

    def _names_rows(self) -> bool:
        """Whether every row is a name and a value."""
        pairs = [row for row in self.rows if row]
        return all(len(row) == _PAIR and row[0].is_header and not row[1].is_header for row in pairs)

    def _grid(self) -> tuple[Row | None, list[Row]]:
        """The names of the columns, and the rows below them."""
        marked = any(cell.is_header for row in self.rows for cell in row)
        named = not marked or all(cell.is_header for cell in self.rows[0])
        head = self._headed if 0 < self._headed < min(len(self.rows), _MOST_HEAD) else int(named)
        grid = self._filled(head)
        rows = [Row(number, cells) for number, cells in enumerate(grid[head:], 1) if any(cells)]
        if not head:
            return None, rows
        # A name above several columns goes before the name of each.
        columns = zip_longest(*grid[:head], fillvalue="")
        return Row(0, [" ".join(dict.fromkeys(filter(None, names))) for names in columns]), rows

    def _filled(self, head: int) -> list[list[str]]:
        """The rows with a cell in every column, also where another one reaches over it."""
        grid: list[list[str]] = []
        carried: dict[int, tuple[int, str]] = {}
        """By column: for how many rows the cell above reaches on, and what is repeated of it."""
        budget = _MOST_FILLED
        for index, row in enumerate(self.rows):
            above = carried
            cells: list[str] = []
            carried = {column: (left - 1, text) for column, (left, text) in above.items() if left > 1}
            for cell in row:
                while len(cells) in above:
                    cells.append(above[len(cells)][1])
                column, text = len(cells), cell.text()
                width = min(cell.columns, max(_MOST_COLUMNS - column, 1), max(budget, 1))
                repeated = text if len(text) <= _LONGEST_REPEATED else ""
                beside = repeated if index < head else ""
                cells += [text, *[beside] * (width - 1)]
                if cell.rows > 1:
                    carried[column] = (cell.rows - 1, repeated)
                    carried |= dict.fromkeys(range(column + 1, column + width), (cell.rows - 1, beside))
                budget -= width - 1
            while len(cells) in above:
                cells.append(above[len(cells)][1])
            budget -= len(carried)
            if budget <= 0:
                carried = {}
            grid.append(cells)
        return grid
