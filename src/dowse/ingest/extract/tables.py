"""Tables as Markdown rows, in slices that fit into a passage each and repeat the header.

A passage from the middle of a table says nothing without the names of its columns. So a long table is
written as several, each short enough for one passage of the usual size. A row that does not fit beside
its header, because it is long or has too many columns, is written as a list of names and values instead,
which can be cut anywhere. Columns without any value in a slice are left out of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from dowse.ingest.extract.blocks import BlockKind

__all__ = ["Row", "Slice", "column_letters", "joined", "one_line", "slices", "slices_below_first", "spread", "weight"]

_TOKENS = 200
"""The most that a slice should hold; a passage has room for 256, and a heading may come first."""
_LONGEST_NAME = 80
"""Of a column, where it is repeated for every value."""
_PIECE = re.compile(r"[A-Za-z]{1,5}|\d{1,2}|[^\sA-Za-z\d]")
_LETTERS = 26


class Row(NamedTuple):
    """A row of a table and its number in the source."""

    number: int
    cells: Sequence[str]
    """One line each; empty where there is nothing."""
    wide: Sequence[tuple[int, int]] = ()
    """The first and last columns of cells that reach over several."""
    is_header: bool = False
    """The source itself says that it names columns."""


class Slice(NamedTuple):
    """A part of a table, ready to be written as a block."""

    kind: BlockKind
    text: str
    first: int
    last: int
    """The numbers of its rows, without the header."""


def one_line(text: str) -> str:
    """The text of a cell, without line ends and runs of spaces."""
    return " ".join(text.split())


def column_letters(index: int) -> str:
    """The name that spreadsheets give a column without one: A to Z, AA, AB and so on."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, _LETTERS)
        letters = chr(ord("A") + rest) + letters
    return letters


def weight(text: str) -> int:
    """About how many tokens a model makes of this, within some 20 percent and much faster."""
    count = len(_PIECE.findall(text))
    return count if text.isascii() else count + (len(text.encode(errors="replace")) - len(text)) // 3


def spread(row: Row) -> Row:
    """The row with each name that reaches over several columns in all of them."""
    cells = list(row.cells)
    for start, end in row.wide:
        cells += [""] * (end + 1 - len(cells))
        cells[start : end + 1] = [cells[start]] * (end + 1 - start)
    return row._replace(cells=cells)


def joined(upper: Row, lower: Row) -> Row:
    """Two rows of names as one: a name that reaches over several columns goes before each of theirs."""
    pairs = zip_longest(spread(upper).cells, lower.cells, fillvalue="")
    return Row(lower.number, [f"{name} {below}".strip() for name, below in pairs])


def slices_below_first(rows: Iterable[Row]) -> Iterator[Slice]:
    """Cut a table of a text, where the first row names the columns unless it is a caption across several."""
    below = iter(rows)
    header = next(below, None)
    while header and header.wide and sum(map(bool, header.cells)) == 1:
        yield Slice("paragraph", "".join(header.cells), header.number, header.number)
        header = next(below, None)
    second = next(below, None)
    if header and second and second.is_header:
        header = joined(header, second)
    else:
        header = header and spread(header)
        below = chain(filter(None, [second]), below)
    yield from slices(header, below, lettered=False)


def slices(header: Row | None, rows: Iterable[Row], *, lettered: bool = True) -> Iterator[Slice]:
    """Cut a table; nothing is read ahead by more than a slice.

    Args:
        header: The names of the columns.
        rows: What stands below, in order.
        lettered: Whether a column without a name goes by its letters, as in a spreadsheet.
    """
    names = _Names(header.cells if header else (), lettered=lettered)
    named = sum(map(bool, names))
    base = weight(" ".join(names)) + 4 * named
    room = _TOKENS - base
    if header and 2 * base > _TOKENS:
        yield Slice("paragraph", f"Columns: {', '.join(filter(None, names))}", header.number, header.number)
        header, room = None, 0
    held: list[Row] = []
    left = room
    for row in rows:
        cost = weight(" ".join(row.cells)) + max(named, sum(map(bool, row.cells))) + 1
        if held and cost > left:
            yield _table(names, held)
            held, left, header = [], room, None
        if cost > room:
            yield _record(names, row)
            header = None
        else:
            held.append(row)
            left -= cost
    if held:
        yield _table(names, held)
    elif header:
        yield _table(names, [])._replace(first=header.number, last=header.number)


class _Names(list[str]):
    """The names of columns; for those without one their letters, or nothing."""

    def __init__(self, names: Sequence[str], *, lettered: bool) -> None:
        super().__init__(names)
        self._lettered = lettered

    def of(self, column: int) -> str:
        """What a column is called."""
        name = self[column] if column < len(self) else ""
        return name or (column_letters(column) if self._lettered else "")


def _table(names: _Names, rows: Sequence[Row]) -> Slice:
    """Markdown rows under a header, with the columns that have a name or a value; empty without any."""
    first, last = (rows[0].number, rows[-1].number) if rows else (0, 0)
    columns = zip_longest(names, *(row.cells for row in rows), fillvalue="")
    used = [(names.of(index), *column[1:]) for index, column in enumerate(columns) if any(column)]
    if not used:
        return Slice("table", "", first, last)
    lines = [f"| {' | '.join(cells)} |" for cells in zip(*map(_escaped, used), strict=True)]
    lines.insert(1, "|" + " --- |" * len(used))
    return Slice("table", "\n".join(lines), first, last)


def _escaped(column: tuple[str, ...]) -> Iterable[str]:
    """A cell must not hold what parts cells."""
    return [cell.replace("|", "\\|") for cell in column] if any("|" in cell for cell in column) else column


def _record(names: _Names, row: Row) -> Slice:
    """One row as a list of its values with the names of their columns."""
    lines = [f"Row {row.number}:"]
    for index, cell in enumerate(row.cells):
        if cell:
            name = names.of(index)[:_LONGEST_NAME]
            lines.append(f"- {name}: {cell}" if name else f"- {cell}")
    return Slice("list", "\n".join(lines), row.number, row.number)
