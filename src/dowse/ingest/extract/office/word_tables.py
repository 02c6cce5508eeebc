"""The grid behind a table of a Word document: which cells stand where, and which reach over several."""

from collections.abc import Callable, Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.names import WORD
from dowse.ingest.extract.office.styles import value_of
from dowse.ingest.extract.tables import Row

__all__ = ["Cell", "GridRow", "grid_of", "rows_of"]

_ROW, _CELL = f"{WORD}tr", f"{WORD}tc"
_AROUND = {f"{WORD}{tag}" for tag in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
_MOST_SPANNED = 64


class Cell(NamedTuple):
    """A cell and its columns."""

    element: Element
    first: int
    last: int
    goes_on: bool
    """It continues the cell above it."""


class GridRow(NamedTuple):
    """A row of a table, and whether it is repeated on every page, as headers are."""

    cells: list[Cell]
    is_header: bool


def grid_of(table: Element) -> list[GridRow]:
    """The cells of a table, row by row; rows that were deleted with changes tracked are left out."""
    return [
        GridRow(list(_cells(row)), row.find(f"{WORD}trPr/{WORD}tblHeader") is not None)
        for row in _inside(table, _ROW)
        if row.find(f"{WORD}trPr/{WORD}del") is None
    ]


def rows_of(grid: list[GridRow], text_of: Callable[[Element], str]) -> Iterator[Row]:
    """The rows as texts; a cell that reaches down stands in each of its rows."""
    above: dict[int, str] = {}
    for number, (cells, is_header) in enumerate(grid, 1):
        texts = [""] * (cells[-1].last + 1 if cells else 0)
        for cell in cells:
            texts[cell.first] = above.get(cell.first, "") if cell.goes_on else text_of(cell.element)
        above = dict(enumerate(texts))
        wide = [(cell.first, cell.last) for cell in cells if cell.last > cell.first]
        yield Row(number, texts, wide, is_header)


def _cells(row: Element) -> Iterator[Cell]:
    column = _span(row.find(f"{WORD}trPr/{WORD}gridBefore"), 0)
    for element in _inside(row, _CELL):
        properties = element.find(f"{WORD}tcPr")
        span, goes_on = 1, False
        if properties is not None:
            span = max(_span(properties.find(f"{WORD}gridSpan"), 1), 1)
            merge = properties.find(f"{WORD}vMerge")
            goes_on = merge is not None and value_of(merge) != "restart"
        yield Cell(element, column, column + span - 1, goes_on)
        column += span


def _inside(element: Element, tag: str) -> Iterator[Element]:
    """The children with this tag, also those that something without a look of its own lies around."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND:
            yield from _inside(child, tag)


def _span(element: Element | None, default: int) -> int:
    value = value_of(element)
    return min(int(value), _MOST_SPANNED) if value.isdecimal() and len(value) <= len("9999") else default
