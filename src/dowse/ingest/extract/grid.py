"""Sheets of cells as people fill them: titles, notes and tables below one another, found by their shape.

Empty rows part regions. In each, rows with a single value before the first wider one are a title or a
note and become lines of text. The first wider row names the columns if it looks like it: short, different
words, no values. After an empty row the same table may go on; only a row of words above values begins a
new one. Every part becomes a unit of its own, so that its passages know the numbers of their rows.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.tables import Row, Slice, joined, slices, spread, weight
from dowse.types import MetadataValue

__all__ = ["write_grid"]

_LOOK_AHEAD = 32
_LONGEST_NAME = 100
_NOTE_TOKENS = 200
_SHORT_NOTE = 50
_YEAR = re.compile(r"(?:19|20)\d\d")
_VALUE = re.compile(
    r"[-+(]?[$\u20ac\u00a3\u00a5]?\s?[-+]?[.,]?\d[\d.,'\s]*(?:e[-+]?\d+)?\s?[%\u20ac$]?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?.{0,6}|true|false|#[A-Z/0!?]+",
    re.IGNORECASE,
)


def write_grid(
    composer: Composer, rows: Iterable[Row], place: Mapping[str, MetadataValue], heading: tuple[int, str] | None = None
) -> None:
    """Write the rows that hold anything; a gap in their numbers is an empty row.

    Args:
        composer: Takes the text.
        rows: In the order of their numbers, without trailing empty cells.
        place: What every passage says of its place, besides its rows.
        heading: Level and words of the heading above all of it; not written above nothing.
    """
    for parts in _together(_parts(_Ahead(rows))):
        first, last = parts[0].first, parts[-1].last
        composer.unit(place={**place, "rows": f"{first}-{last}" if last > first else str(first)})
        if heading:
            composer.heading(*heading)
            heading = None
        for part in parts:
            composer.block(part.kind, part.text)
        if composer.full:
            composer.cut("rows are left out")
            return


def _together(parts: Iterable[Slice]) -> Iterator[list[Slice]]:
    """Each part by itself, but a short note with what it stands above."""
    held: list[Slice] = []
    for part in parts:
        held.append(part)
        if part.kind != "paragraph" or sum(weight(each.text) for each in held) > _SHORT_NOTE:
            yield held
            held = []
    if held:
        yield held


class _Ahead:
    """The rows to come, with a look at the next ones of the same region."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)
        self._next: deque[Row] = deque()

    def look(self) -> list[Row]:
        """The next rows, up to an empty one or as far as it is worth looking."""
        while len(self._next) < _LOOK_AHEAD and (row := next(self._rows, None)):
            self._next.append(row)
        region: list[Row] = []
        for row in self._next:
            if region and row.number != region[-1].number + 1:
                break
            region.append(row)
        return region

    def take(self, count: int) -> list[Row]:
        """The next rows, of those that were looked at."""
        return [self._next.popleft() for _ in range(count)]

    def region(self) -> Iterator[Row]:
        """All rows up to an empty one."""
        last: Row | None = None
        for row in chain(iter(self._pop, None), self._rows):
            if last and row.number != last.number + 1:
                self._next.appendleft(row)
                return
            last = row
            yield row

    def _pop(self) -> Row | None:
        return self._next.popleft() if self._next else None


def _parts(ahead: _Ahead) -> Iterator[Slice]:
    header: Row | None = None
    while region := ahead.look():
        notes = next((index for index, row in enumerate(region) if _filled(row) > 1), len(region))
        if notes:
            yield from _lines(ahead.take(notes))
            continue
        count, header = _header(region, header)
        ahead.take(count)
        yield from slices(header, ahead.region())


def _lines(rows: Sequence[Row]) -> Iterator[Slice]:
    """Single values as lines of text, together as far as a passage has room."""
    held: list[str] = []
    first, used = rows[0].number, 0
    for row in rows:
        line = next(filter(None, row.cells), "")
        cost = weight(line)
        if held and used + cost > _NOTE_TOKENS:
            yield Slice("paragraph", "\n".join(held), first, row.number - 1)
            held, first, used = [], row.number, 0
        held.append(line)
        used += cost
    yield Slice("paragraph", "\n".join(held), first, rows[-1].number)


def _header(region: Sequence[Row], before: Row | None) -> tuple[int, Row | None]:
    """How many rows name the columns of a region, and the header that these, or those before, make."""
    first, *rest = region
    width = max(map(_filled, region))
    if first.wide and rest and _contrasts(rest[0], rest[1:]):
        both = joined(first, rest[0])
        if _are_names(both, width) and not any(map(_VALUE.fullmatch, rest[0].cells)):
            return 2, both
    named = _are_names(first, width)
    if before and not (named and _contrasts(first, rest)) and len(first.cells) <= len(before.cells):
        return 0, before
    return (1, spread(first)) if named else (0, None)


def _are_names(row: Row, width: int) -> bool:
    names = [cell.lower() for cell in row.cells if cell]
    words = [name for name in names if not _YEAR.fullmatch(name)]
    return (
        2 * len(names) >= width
        and bool(words)
        and len(set(names)) == len(names)
        and all(len(name) <= _LONGEST_NAME for name in names)
        and not any(map(_VALUE.fullmatch, words))
    )


def _contrasts(names: Row, rows: Sequence[Row]) -> bool:
    """Whether values stand below a name."""
    return any(
        name and cell and _VALUE.fullmatch(cell)
        for row in rows
        for name, cell in zip(names.cells, row.cells, strict=False)
    )


def _filled(row: Row) -> int:
    return sum(map(bool, row.cells))
