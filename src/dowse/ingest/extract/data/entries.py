"""From the entries of a data file to blocks and units, so that chunks hold whole entries.

A data file is text that stays as it is; only its borders matter: where a key, an item or a record begins.
Small neighbours share a block, a long entry is cut where the entries inside it begin. An entry that is
worth several chunks by itself is a unit, and its chunks say which one they belong to.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from dowse.ingest.extract.blocks import Block, Unit
from dowse.types import MetadataValue

__all__ = ["Entry", "arrange"]

_LARGE = 4_000
"""Characters from which on an entry is a unit of its own: several chunks, whatever the settings."""
_LONGEST_BLOCK = 1_500
_SHORTEST_BLOCK = 250


class Entry(NamedTuple):
    """One entry of the outermost level; it begins at the start of a line and reaches to the next one."""

    start: int
    name: str | int = ""
    """Its key, or the number of its record."""
    document: int = 0
    """Which of several documents in the file it belongs to, from 1; 0 where there is only one."""


class _Part(NamedTuple):
    """Entries that may share chunks."""

    start: int
    end: int
    entries: list[Entry]


def arrange(
    text: str, entries: Sequence[Entry], borders: Sequence[Sequence[int]], label: str = "key"
) -> tuple[tuple[Block, ...], tuple[Unit, ...]]:
    """Blocks and units of a text whose entries begin here, and the entries inside them at these borders.

    Borders are starts of lines in order, for one level of nesting after the other. The first entry takes
    what stands before it; `label` is what the place of a large entry calls its name.
    """
    if not entries:
        return tuple(_blocks(text, 0, len(text), borders)), ()
    parts = list(_parts(text, [entries[0]._replace(start=0), *entries[1:]]))
    blocks = tuple(block for part in parts for block in _blocks(text, part.start, part.end, borders, part.entries))
    units = tuple(_unit(part, label) for part in parts)
    return blocks, units if any(unit.place for unit in units) else ()


def _parts(text: str, entries: Sequence[Entry]) -> Iterator[_Part]:
    """Each large entry, and each run of smaller ones between them, within one document."""
    ends = [*(entry.start for entry in entries[1:]), len(text)]
    sized = enumerate(zip(entries, ends, strict=True))

    def group(numbered: tuple[int, tuple[Entry, int]]) -> tuple[int, int]:
        number, (entry, end) = numbered
        return entry.document, number if end - entry.start >= _LARGE else -1

    for _, members in groupby(sized, group):
        run = [pair for _, pair in members]
        yield _Part(run[0][0].start, run[-1][1], [entry for entry, _ in run])


def _unit(part: _Part, label: str) -> Unit:
    first = part.entries[0]
    alone = len(part.entries) == 1 and part.end - part.start >= _LARGE
    return Unit(part.start, place=_place("document", first.document) | (_place(label, first.name) if alone else {}))


def _place(label: str, value: MetadataValue) -> dict[str, MetadataValue]:
    return {label: value} if value else {}


def _blocks(
    text: str, start: int, end: int, borders: Sequence[Sequence[int]], entries: Iterable[Entry] = ()
) -> Iterator[Block]:
    """The text from here to there, cut at entries and, where they are long, inside them."""
    starts = [entry.start for entry in entries] or [start]
    first = stop = start
    for each, next_start in zip(starts, [*starts[1:], end], strict=True):
        for low, high in _cut(each, next_start, borders):
            if high - first > _SHORTEST_BLOCK and stop > first:
                yield from _block(text, first, stop)
                first = low
            stop = high
    yield from _block(text, first, stop)


def _cut(start: int, end: int, borders: Sequence[Sequence[int]], depth: int = 0) -> Iterator[tuple[int, int]]:
    if end - start <= _LONGEST_BLOCK or depth == len(borders):
        yield start, end
        return
    level = borders[depth]
    for border in level[bisect_right(level, start) : bisect_left(level, end)]:
        yield from _cut(start, border, borders, depth + 1)
        start = border
    yield from _cut(start, end, borders, depth + 1)


def _block(text: str, start: int, end: int) -> Iterator[Block]:
    body = text[start:end].rstrip()
    if body:
        margin = len(body) - len(body.lstrip())
        first_line = body.rfind("\n", 0, margin) + 1
        yield Block("code", start + first_line, start + len(body))
