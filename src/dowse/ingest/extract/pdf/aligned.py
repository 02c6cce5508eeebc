"""Tables without lines: rows whose words stand in the same columns.

A run of rows is a table when gutters go through all of it, each row has something on both sides of one, the
cells of a column share an edge or their middle, and they are drawn row by row. The last tells a table from
columns of short lines, as in the index of a book. A list with its marks, a table of contents with its dots and
prose in columns are none.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from statistics import median
from typing import NamedTuple

from dowse.ingest.extract.pdf.page import Fragment
from dowse.ingest.extract.pdf.rows import Row, Span, Table, cover
from dowse.ingest.extract.pdf.words import join_lines

__all__ = ["aligned_tables"]

_GUTTER = 0.9
_TIGHT = 1.4
"""Ems between the lines of one cell."""
_FEWEST_ROWS = 3
_MOST_COLUMNS = 20
_FILLED = 0.6
_MOST = 0.7
_SAME_EDGE = 0.6
_MOST_LINES = 4_000
"""Of one zone that are looked at; a line is, again, for each run that begins above it and is no table."""
_LONGEST_CELL = 120
_LONGEST_MIDDLE = 32
_LEADERS = re.compile(r"(?:\. ?){4,}|\u2026{2,}|_{4,}")
_MARK = re.compile(r"(?:[-*\u2013\u2022\u25aa\u25cf\u25cb]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[\d{1,3}\])")


class _Run(NamedTuple):
    """Rows that may be a table: those of each row of it, and the columns that all of them leave."""

    rows: list[list[list[Fragment]]]
    """Rows of cells; a row may be several lines on the page, a cell several fragments."""
    columns: list[Span]
    lines: int
    """How many lines of the page it takes."""


def aligned_tables(rows: Sequence[Row]) -> list[Row]:
    """The rows of a zone, where those that make a table have become one."""
    found: list[Row] = []
    index = looked_at = 0
    while index < len(rows):
        run = _run(rows, index) if _is_open(rows[index]) and looked_at < _MOST_LINES else None
        looked_at += run.lines if run else 0
        if run and _is_grid(run) and _is_by_row(run.rows):
            found.append(Row([_table(run)]))
            index += run.lines
        elif run and _is_grid(run):
            # Drawn column by column: no part of it is a table either.
            found.extend(rows[index : index + run.lines])
            index += run.lines
        else:
            found.append(rows[index])
            index += 1
    return found


def _fragments(row: Row) -> list[Fragment]:
    return [item for item in row.items if isinstance(item, Fragment)]


def _is_open(row: Row) -> bool:
    """Whether a table may begin here."""
    return len(_fragments(row)) > 1


def _run(rows: Sequence[Row], start: int) -> _Run:
    """The longest run of rows that keeps as many columns as its first rows have."""
    em = median(item.size for item in _fragments(rows[start]))
    taken: list[list[Fragment]] = []
    columns: list[Span] = []
    for row in islice(rows, start, None):
        fragments = _fragments(row)
        if not fragments:
            break
        grown = columns
        for fragment in fragments:
            grown = cover(grown, fragment, _GUTTER * em)
        wrapped = bool(taken) and _is_wrapped(taken[-1], fragments, columns)
        if len(grown) < len(columns) or not (len(fragments) > 1 or wrapped):
            break
        columns = grown
        taken.append(fragments)
    return _Run(_cells(taken, columns), columns, len(taken))


def _is_wrapped(above: Sequence[Fragment], fragments: Sequence[Fragment], columns: Sequence[Span]) -> bool:
    """Whether a line goes on with cells of the row above: close below it, with nothing in the first column."""
    distance = max(item.y for item in above) - max(item.y for item in fragments)
    return (
        len(columns) > 1
        and distance < _TIGHT * fragments[0].size
        and all(item.x0 > columns[0][1] for item in fragments)
    )


def _cells(lines: Sequence[Sequence[Fragment]], columns: Sequence[Span]) -> list[list[list[Fragment]]]:
    rows: list[list[list[Fragment]]] = []
    above: Sequence[Fragment] = ()
    for line in lines:
        if not (above and _is_wrapped(above, line, columns)):
            rows.append([[] for _ in columns])
        for fragment in line:
            place = sum(fragment.x0 > end for _, end in columns)
            rows[-1][min(place, len(columns) - 1)].append(fragment)
        above = line
    return rows


def _is_grid(run: _Run) -> bool:
    """Whether the cells look like those of a table."""
    rows, columns = run.rows, run.columns
    if not (len(rows) >= _FEWEST_ROWS and 1 < len(columns) <= _MOST_COLUMNS):
        return False
    cells = [cell for row in rows for cell in row if cell]
    if any(sum(map(bool, row)) < 2 for row in rows) or len(cells) < _FILLED * len(rows) * len(columns):  # noqa: PLR2004 - plural
        return False
    texts = [_text(cell) for cell in cells]
    lengths = list(map(len, texts))
    if max(lengths) > _LONGEST_CELL or median(lengths) > _LONGEST_MIDDLE or any(map(_LEADERS.search, texts)):
        return False
    marks = sum(bool(_MARK.fullmatch(_text(row[0]))) for row in rows)
    in_columns = [[row[index] for row in rows if row[index]] for index in range(len(columns))]
    return 2 * marks < len(rows) and all(
        sum(map(_is_whole, column)) >= _MOST * len(column) and _is_even(column) for column in in_columns
    )


def _is_whole(cell: Sequence[Fragment]) -> bool:
    """Whether the cell has no wide white inside its lines, which would be a gutter that some row hides."""
    return all(one.y - other.y > 0.5 * one.size for one, other in pairwise(cell))


def _is_by_row(rows: Sequence[Sequence[Sequence[Fragment]]]) -> bool:
    orders = [[fragment.order for cell in row for fragment in cell] for row in rows]
    in_order = sum(max(one) < min(other) for one, other in pairwise(orders))
    return in_order >= _MOST * (len(rows) - 1)


def _is_even(cells: Sequence[Sequence[Fragment]]) -> bool:
    """Whether the cells of a column share an edge or their middle."""
    boxes = [(min(item.x0 for item in cell), max(item.x1 for item in cell)) for cell in cells]
    em = median(item.size for cell in cells for item in cell)
    for edges in ([x0 for x0, _ in boxes], [x1 for _, x1 in boxes], [(x0 + x1) / 2 for x0, x1 in boxes]):
        usual = median(edges)
        if sum(abs(edge - usual) <= _SAME_EDGE * em for edge in edges) >= _MOST * len(edges):
            return True
    return False


def _text(cell: Sequence[Fragment]) -> str:
    return join_lines(_by_line(cell))


def _by_line(cell: Sequence[Fragment]) -> Iterator[str]:
    """The lines of a cell."""
    held: list[Fragment] = []
    for fragment in cell:
        if held and held[-1].y - fragment.y > 0.5 * fragment.size:
            yield " ".join(each.text for each in held)
            held = []
        held.append(fragment)
    if held:
        yield " ".join(each.text for each in held)


def _table(run: _Run) -> Table:
    fragments = [fragment for row in run.rows for cell in row for fragment in cell]
    return Table(
        tuple(tuple(map(_text, row)) for row in run.rows),
        min(item.x0 for item in fragments),
        max(item.x1 for item in fragments),
        min(item.bottom for item in fragments),
        max(item.top for item in fragments),
        min(item.order for item in fragments),
    )
