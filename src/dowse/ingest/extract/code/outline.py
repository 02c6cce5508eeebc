"""The outline of source code, and what it makes of the text: units that share no chunk, and blocks in them.

However the outline was found, it says where regions begin: a function, or a run of other statements in a
class or outside. Regions cover the text; each becomes a unit. Borders are where statements start: a long
unit becomes blocks along them, at empty lines first.

A passage's headings are the names of the classes and the function that it lies in: the first lines of a unit are
marked as these headings. Nothing is added to the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from dowse.ingest.extract.blocks import Block, Extracted, Unit
from dowse.types import MetadataValue

__all__ = ["Mark", "Outline", "assemble"]

_SHORT = 500
"""A unit of fewer characters is one block: it fits into a chunk."""
_LONG = 800
"""A part between empty lines with more characters than this is cut at every statement."""
_LEVELS = 6
"""Of headings."""
_LONGEST_CLOSING = 200
_CLOSING_LINES = re.compile(
    r"(?:[ \t]*+(?:\n|(?:[)\]};,]++|end\b|fi\b|done\b)[)\]};, \t]*+(?:(?://|/\*|--|\#)[^\n]*+)?(?:\n|\Z)))*+"
)
_CLOSING = re.compile(r"(?:[\W_]|\b(?:end|fi|done|esac|endif|endregion|php)\b)*+")


class Mark(NamedTuple):
    """Where a region begins, at the start of a line."""

    start: int
    path: tuple[str, ...] = ()
    """The classes that it lies in, outermost first."""
    function: str | None = None
    """None: a run of statements that are no function."""


class Outline(NamedTuple):
    """Marks and borders, both in the order of the text; of two marks at one place the later holds."""

    marks: list[Mark]
    borders: list[int]
    """Starts of lines with which statements begin."""


def assemble(text: str, outline: Outline, language: str) -> Extracted:
    """Cut the text along its outline."""
    blocks: list[Block] = []
    units: list[Unit] = []
    above: tuple[str, ...] = ()
    for region, end in _regions(text, outline.marks):
        cuts = pairwise([*_cuts(text, region.start, end, outline.borders), end])
        (start, stop), *rest = (span for cut in cuts for span in _trimmed(text, *cut))
        units.append(Unit(start if units else 0, None, _place(region)))
        names = _names(region, above, text[start:stop])
        blocks += _headed(text, start, stop, _changes(above, names))
        blocks += (Block("code", *span) for span in rest)
        above = names
    return Extracted(text, tuple(blocks), metadata={"language": language}, units=tuple(units))


def _place(region: Mark) -> dict[str, MetadataValue]:
    place: dict[str, MetadataValue] = {}
    if region.path:
        place["class_name"] = ".".join(region.path)
    if region.function is not None:
        place["function_name"] = region.function
    return place


def _names(region: Mark, above: tuple[str, ...], first: str) -> tuple[str, ...]:
    """The headings of a region whose first block this is: as many as levels and, beyond those above, lines.

    Those for which there is no room share the last one.
    """
    names = region.path if region.function is None else (*region.path, region.function)
    lines = sum(1 for line in first.split("\n") if line.strip())
    room = min(_LEVELS, _shared(above, names) + lines)
    return (*names[: room - 1], ".".join(names[room - 1 :])) if len(names) > room else names


def _shared(above: tuple[str, ...], names: tuple[str, ...]) -> int:
    """How many headings go on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(above, names, strict=False)))


def _changes(above: tuple[str, ...], names: tuple[str, ...]) -> list[tuple[int, str]]:
    """The headings, by level, that lead from those above to these; one without a name ends what is too deep."""
    shared = _shared(above, names)
    if shared < len(names):
        return list(enumerate(names[shared:], shared + 1))
    return [(shared + 1, "")] if shared < len(above) else []


def _headed(text: str, start: int, end: int, headings: list[tuple[int, str]]) -> Iterator[Block]:
    """The first block of a unit, with its first lines as headings."""
    for level, label in headings:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        for line in _trimmed(text, start, stop):
            yield Block("heading", *line, level, label)
        start = next((rest for rest, _ in _trimmed(text, stop, end)), end)
    if start < end:
        yield Block("code", start, end)


def _regions(text: str, marks: Sequence[Mark]) -> Iterator[tuple[Mark, int]]:
    """Regions with something on them, and where they end.

    A closing brace between two regions belongs to the first; a run that only such a brace interrupts
    goes on.
    """
    current: Mark | None = None
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        start = mark.start
        if current is not None and (closing := _CLOSING_LINES.match(text, start, end)):
            start = closing.end()
        if not _says_something(text, start, end, closing=current is not None):
            continue
        if current is None:
            current = mark._replace(start=0)
        elif mark.function is not None or current.function is not None or mark.path != current.path:
            yield current, start
            current = mark._replace(start=start)
    if current is not None:
        yield current, len(text)


def _says_something(text: str, start: int, end: int, *, closing: bool) -> bool:
    """Whether there is more than white space and, if `closing`, more than what closes something."""
    body = text[start:end].strip()
    if not body or not closing or len(body) > _LONGEST_CLOSING:
        return bool(body)
    return not _CLOSING.fullmatch(body)


def _cuts(text: str, start: int, end: int, borders: Sequence[int]) -> Iterator[int]:
    """Where the blocks of a region start."""
    yield start
    if end - start <= _SHORT:
        return
    inside = borders[bisect_right(borders, start) : bisect_right(borders, end - 1)]
    parts = [start, *(border for border in inside if _below_empty_line(text, border)), end]
    at = 0
    for part, stop in pairwise(parts):
        if part != start:
            yield part
        while at < len(inside) and inside[at] < stop:
            if inside[at] > part and stop - part > _LONG:
                yield inside[at]
            at += 1


def _below_empty_line(text: str, start: int) -> bool:
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return not text[before:start].strip()


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without empty lines at its start and white space at its end; none if nothing remains."""
    body = text[start:end].rstrip()
    if body:
        margin = len(body) - len(body.lstrip())
        yield start + body.rfind("\n", 0, margin) + 1, start + len(body)
