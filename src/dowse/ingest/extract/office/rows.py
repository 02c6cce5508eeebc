"""The rows of one sheet of a workbook, read from its XML as they come, with merged cells filled.

A cell that reaches down over several rows stands for each of them, as a reader takes it; one that
reaches over several columns is kept in the first, and the row says how far it goes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dowse.ingest.extract.office.cells import Values
from dowse.ingest.extract.office.names import SHEET
from dowse.ingest.extract.tables import Row
from dowse.ingest.extract.zipped import Archive, too_large

__all__ = ["read_rows"]

_ROW, _CELL, _VALUE, _TEXT, _FORMULA, _PHONETIC = (f"{SHEET}{tag}" for tag in ("row", "c", "v", "t", "f", "rPh"))
_SHOWN = {_VALUE, _TEXT}
_MERGED = re.compile(rb'mergeCell ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_OVERLAP = 64
_MOST_COLUMNS = 16_384
_MOST_PLACES = 20_000_000
"""In one sheet: cells, and the empty places before them in their rows."""
_MOST_MERGED = 100_000
_LONGEST_NUMBER = 7
_DIGITS = "0123456789"


class _Merged(NamedTuple):
    """A cell that reaches over several, in columns from 0 and rows from 1."""

    first_column: int
    last_column: int
    last_row: int


def read_rows(archive: Archive, part: str, values: Values) -> Iterator[Row]:
    """The rows that hold anything, in order, without trailing empty cells."""
    merged = _merged(archive, part)
    reaching: dict[int, tuple[int, str]] = {}
    places = 0
    sheet = _Sheet(values)
    for _ in archive.feed(part, sheet):
        for number, cells in sheet.ready:
            for column, (last_row, text) in list(reaching.items()):
                if number > last_row:
                    del reaching[column]
                else:
                    cells.setdefault(column, text)
            wide = merged.get(number, ())
            reaching |= {
                each.first_column: (each.last_row, cells[each.first_column])
                for each in wide
                if each.last_row > number and each.first_column in cells
            }
            width = max(cells) + 1
            places += width + len(reaching)
            if places > _MOST_PLACES:
                raise too_large(archive.name, f"a sheet in it has more than {_MOST_PLACES:,} cells")
            spans = [(each.first_column, each.last_column) for each in wide if each.last_column > each.first_column]
            yield Row(number, [cells.get(column, "") for column in range(width)], spans)
        sheet.ready.clear()


class _Sheet:
    """Takes the XML of a sheet and makes rows of it."""

    __slots__ = (
        *("_cells", "_collects", "_column", "_columns", "_formula", "_kind", "_number", "_shown"),
        *("_style", "_text", "_values", "ready"),
    )

    def __init__(self, values: Values) -> None:
        self._values = values
        self._columns = _Columns()
        self._number = 0
        self._cells: dict[int, str] = {}
        self._column = -1
        self._kind = self._style = ""
        self._text: list[str] = []
        self._shown = self._text
        """The text before a hint on how to pronounce it."""
        self._formula: list[str] = []
        self._collects: list[str] | None = None
        """Where text goes now."""
        self.ready: list[tuple[int, dict[int, str]]] = []
        """Numbers of rows with their texts by column; only those that have any."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """A row, a cell or a part of one begins."""
        if tag == _CELL:
            column = self._columns[attributes.get("r", "").rstrip(_DIGITS)]
            self._column = self._column + 1 if column < 0 else column
            self._kind = attributes.get("t", "n")
            self._style = attributes.get("s", "0")
            self._text, self._formula = [], []
        elif tag in _SHOWN:
            self._collects = self._text
        elif tag == _FORMULA:
            self._collects = self._formula
        elif tag == _PHONETIC:
            self._shown, self._text = self._text, []
        elif tag == _ROW:
            number = attributes.get("r", "")
            given = int(number) if number.isdecimal() and len(number) <= _LONGEST_NUMBER else 0
            self._number = max(given, self._number + 1)
            self._column = -1

    def data(self, text: str) -> None:
        """Text of a value or a formula."""
        if self._collects is not None:
            self._collects.append(text)

    def end(self, tag: str) -> None:
        """A cell or a row is complete."""
        if tag == _CELL:
            text = self._values.text(self._kind, self._style, "".join(self._text), "".join(self._formula))
            if text and self._column < _MOST_COLUMNS:
                self._cells[self._column] = text
        elif tag == _ROW:
            if self._cells:
                self.ready.append((self._number, self._cells))
                self._cells = {}
        else:
            self._collects = None
            if tag == _PHONETIC:
                self._text = self._shown


class _Columns(dict[str, int]):
    """The numbers of columns by their letters, from 0; -1 for what names none."""

    def __missing__(self, letters: str) -> int:
        column = 0
        for letter in letters if len(letters) <= 3 else "":  # noqa: PLR2004 - the last one is XFD
            place = ord(letter) - ord("A") + 1
            column = column * 26 + place if 1 <= place <= 26 else -(_MOST_COLUMNS**2)  # noqa: PLR2004 - the alphabet
        self[letters] = found = max(column, 0) - 1
        return found


def _merged(archive: Archive, part: str) -> dict[int, list[_Merged]]:
    """The merged cells by their first rows: they are named behind the rows, so the sheet is looked through first."""
    columns = _Columns()
    found: dict[int, list[_Merged]] = {}
    rest = b""
    for piece in archive.pieces(part):
        window = rest + piece
        for first, first_row, last, last_row in _MERGED.findall(window):
            each = _Merged(columns[first.decode()], columns[last.decode()], int(last_row))
            found.setdefault(int(first_row), []).append(each)
            if len(found) > _MOST_MERGED:
                return found
        rest = window[-_OVERLAP:]
    return found
