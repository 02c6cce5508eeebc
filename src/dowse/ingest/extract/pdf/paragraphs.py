"""From lines to paragraphs: which line ends are the author's, and which the page's.

A line belongs to the paragraph above it unless something says otherwise: more white than between the other
lines, another size, a first line set in, the mark of a list item. A line that ends although the next word
would still have fitted was ended on purpose: after a full stop that ends the paragraph, elsewhere the line
end is kept, as in addresses, poems and code.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from dowse.ingest.extract.pdf.layout import Zone
from dowse.ingest.extract.pdf.page import Fragment
from dowse.ingest.extract.pdf.rows import Row, Table
from dowse.ingest.extract.pdf.words import joint

__all__ = ["Part", "parts_of"]

_USUAL_LEADING = 1.25
_LEADINGS = (0.8, 2.6)
"""Distances of lines, in ems, that can be those inside a paragraph."""
_MORE_WHITE = 1.3
_OTHER_SIZE = 1.12
_OTHER_UNEVEN_SIZE = 1.35
"""Where sizes vary from line to line, as in text that was recognised on a scan."""
_EVEN = 0.5
_JITTER = 0.05
_LEADERS = re.compile(r"\s*(?:\. ?){5,}|\s*\u2026{2,} ?")
_ENTRY = re.compile(r" \.\.\. \S{1,8}$")
"""The end of a line in a table of contents."""
_INDENT = 0.8
_NO_SPACE = 0.12
_OVERLAP = 0.3
"""Ems between fragments that are parts of one word, and ems that they may overlap by."""
_WIDE_GAP = 2.0
"""Ems between parts of a line that no paragraph has."""
_EMPTY_LINES = 3.3
"""Distances of lines inside code: it has empty lines."""
_LETTER_WIDTH = 0.6
"""Of fixed-width type, in ems."""
_DEEPEST_INDENT = 40

_BULLET = re.compile("[\u2022\u2023\u2043\u2219\u25a0-\u25ff\u2713\u2714\u2794\u27a2\u27a4\u00b7\u25cf](?=\\s|$)\\s*")
_MARK = re.compile(
    r"(?:[-*\u2013\u2014] |\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)] |\d{1,3}[.)](?=[^\W\d])|\[\d{1,3}\] )"
)
_FULL_STOP = re.compile("[.!?:;\u2026\u3002\uff01\uff1f\uff1a][\"'\u2019\u201d)\\]\u300d\u300f]*$")


class _Line(NamedTuple):
    text: str
    x0: float
    x1: float
    y: float
    size: float
    first: float
    """How wide the first word is."""
    inner: float
    """Where its words begin, after the mark of a list item if it has one."""
    mark: Literal["", "bullet", "number"]
    mono: bool
    gaps: bool
    """Whether there is more white inside it than a paragraph has."""


class _Style(NamedTuple):
    """What is usual on a page."""

    tolerance: float
    """How much larger letters are another size."""
    leading: float
    """The distance of lines, in ems."""

    def same_size(self, one: _Line, other: _Line) -> bool:
        return max(one.size, other.size) <= self.tolerance * min(one.size, other.size)


@dataclass(slots=True)
class Part:
    """A paragraph, list, table or piece of code of one page; changed by what is found out about the document."""

    kind: Literal["paragraph", "list", "table", "code"]
    text: str
    top: float
    size: float = 0.0
    lines: int = 1
    margin: bool = False
    cells: tuple[tuple[str, ...], ...] = ()
    plain: tuple["Part", ...] = ()
    """Of fixed-width type: the paragraphs that it makes where such type is nothing special."""
    level: int = 0
    """Of a heading."""


def parts_of(zones: Sequence[Zone]) -> list[Part]:
    """The paragraphs of a page, in reading order."""
    ready = [(zone, [_line(row) for row in zone.rows]) for zone in zones]
    lines = [line for _, lines in ready for line in lines if isinstance(line, _Line)]
    style = _Style(_tolerance(lines), _USUAL_LEADING)
    style = style._replace(leading=_leading((lines for _, lines in ready), style))
    found: list[Part] = []
    for zone, zone_lines in ready:
        for part in _zone_parts(zone_lines, style):
            part.margin = zone.margin
            found.append(part)
    return found


def _line(row: Row) -> _Line | Table:
    """The fragments of a row as one line; a table has a row for itself."""
    first, *others = row.items
    if isinstance(first, Table):
        return first
    text, before, main, mono, gaps = first.text, first, first, first.mono, False
    mark = _mark(first)
    inner = first.x0 if not mark else first.words[1].x0 if len(first.words) > 1 else first.x1
    for item in others:
        if isinstance(item, Table):
            continue
        gap = (item.x0 - before.x1) / max(item.size, before.size)
        text = text + item.text if -_OVERLAP < gap < _NO_SPACE else f"{text} {item.text}"
        if before is first and mark and len(first.words) == 1:
            inner = item.x0
        else:
            gaps = gaps or gap > _WIDE_GAP
        main = max(main, item, key=lambda each: len(each.text))
        mono = mono and item.mono
        before = item
    text = _LEADERS.sub(" ... ", text).strip()
    return _Line(text, first.x0, before.x1, main.y, main.size, first.first, inner, mark, mono, gaps)


def _mark(fragment: Fragment) -> Literal["", "bullet", "number"]:
    """What a line begins with, when that is the mark of a list item."""
    if _BULLET.match(fragment.text):
        return "bullet"
    return "number" if _MARK.match(f"{fragment.text} ") else ""


def _tolerance(lines: Sequence[_Line]) -> float:
    """How much larger letters are another size."""
    sizes = [line.size for line in lines]
    usual = median(sizes) if sizes else 0.0
    even = sum(abs(size - usual) <= _JITTER * usual for size in sizes)
    return _OTHER_SIZE if even >= _EVEN * len(sizes) else _OTHER_UNEVEN_SIZE


def _leading(columns: Iterable[Sequence[_Line | Table]], style: _Style) -> float:
    """The usual distance of lines on a page, in ems."""
    low, high = _LEADINGS
    distances = [
        distance
        for lines in columns
        for one, other in pairwise(lines)
        if isinstance(one, _Line) and isinstance(other, _Line) and style.same_size(one, other)
        if low <= (distance := (one.y - other.y) / one.size) <= high
    ]
    return median(distances) if len(distances) > 1 else _USUAL_LEADING


def _zone_parts(lines: Sequence[_Line | Table], style: _Style) -> Iterator[Part]:
    group: list[_Line] = []
    for line in lines:
        if isinstance(line, Table):
            yield from _group_parts(group, style)
            group = []
            yield Part("table", "", line.top, cells=line.cells)
            continue
        if group and _is_apart(group[-1], line, style):
            yield from _group_parts(group, style)
            group = []
        group.append(line)
    yield from _group_parts(group, style)


def _is_apart(before: _Line, line: _Line, style: _Style) -> bool:
    """Whether white or type part two lines so clearly that they are of different blocks."""
    if before.mono != line.mono or not style.same_size(before, line):
        return True
    white = _EMPTY_LINES if line.mono else _MORE_WHITE
    return before.y - line.y > white * style.leading * max(before.size, line.size)


def _group_parts(lines: Sequence[_Line], style: _Style) -> Iterator[Part]:
    """The paragraphs among lines of one size with even distances, and code."""
    if not lines:
        return
    if lines[0].mono and len(lines) > 1:
        yield _code(lines, style)
    else:
        yield from _prose(lines)


def _prose(lines: Sequence[_Line]) -> Iterator[Part]:
    right = max(line.x1 for line in lines)
    held = [lines[0]]
    pieces = [lines[0].text]
    for before, line in pairwise(lines):
        end = _line_end(before, line, right)
        if end == "paragraph" or (line.mark == "bullet" and not held[0].mark):
            yield _part("".join(pieces), held)
            held, pieces = [], []
        else:
            pieces[-1:] = joint(pieces[-1], line.text) if end == "space" else (pieces[-1], "\n")
        held.append(line)
        pieces.append(line.text)
    yield _part("".join(pieces), held)


def _line_end(before: _Line, line: _Line, right: float) -> Literal["space", "line", "paragraph"]:
    """What stands between two lines of a group."""
    if before.gaps or line.gaps or line.mark == "bullet" or _ENTRY.search(before.text):
        return "line"
    em = line.size
    ended = right - before.x1 > line.first + 0.3 * em
    full_stop = bool(_FULL_STOP.search(before.text))
    if line.mark and (ended or full_stop or (before.mark and abs(line.x0 - before.x0) < _INDENT * em)):
        return "line"
    if full_stop and (ended or abs(line.x0 - before.inner) > _INDENT * em):
        return "paragraph"
    return "line" if ended else "space"


def _part(text: str, lines: Sequence[_Line]) -> Part:
    kind: Literal["paragraph", "list"] = "paragraph"
    if lines[0].mark == "bullet" or (lines[0].mark and sum(bool(line.mark) for line in lines) > 1):
        kind = "list"
        text = "\n".join(_BULLET.sub("- ", item, count=1) if _BULLET.match(item) else item for item in text.split("\n"))
    return Part(kind, text, lines[0].y + lines[0].size, lines[0].size, len(lines))


def _code(lines: Sequence[_Line], style: _Style) -> Part:
    """Fixed-width type: the lines as they are, set in as they stand."""
    left = min(line.x0 for line in lines)
    width = _LETTER_WIDTH * lines[0].size
    paragraphs = [[lines[0]]]
    code = [_set_in(lines[0], left, width)]
    for before, line in pairwise(lines):
        if before.y - line.y > _MORE_WHITE * style.leading * line.size:
            paragraphs.append([])
            code.append("")
        paragraphs[-1].append(line)
        code.append(_set_in(line, left, width))
    plain = tuple(part for paragraph in paragraphs for part in _prose(paragraph))
    return Part("code", "\n".join(code), lines[0].y + lines[0].size, lines[0].size, len(lines), plain=plain)


def _set_in(line: _Line, left: float, width: float) -> str:
    return " " * min(_DEEPEST_INDENT, round((line.x0 - left) / width)) + line.text
