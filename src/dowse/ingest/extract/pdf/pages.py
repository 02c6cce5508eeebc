"""The pages of an open PDF, one after the other: each is read, laid out and closed before the next is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, NamedTuple

from dowse.ingest.extract.pdf.aligned import aligned_tables
from dowse.ingest.extract.pdf.drawings import image_share, object_count, rulings
from dowse.ingest.extract.pdf.file import PdfFile
from dowse.ingest.extract.pdf.layout import zones
from dowse.ingest.extract.pdf.page import SKEWED, Fragment, PageText, read_text
from dowse.ingest.extract.pdf.paragraphs import Part, parts_of
from dowse.ingest.extract.pdf.rows import Item, Table
from dowse.ingest.extract.pdf.ruled import ruled_tables
from dowse.ingest.extract.pdf.words import is_right_to_left

__all__ = ["Page", "Reading", "read_pages"]

_MOST_PAGES = 50_000
_MOST_WORK = 60_000_000
"""Characters and drawn objects of all pages together; a thousand pages of a book have some four million."""
_MOST_SECONDS = 300.0
_ALWAYS_SECONDS = 20.0
_SECONDS_PER_BYTE = 40e-6
"""Of CPU time; a thousand pages of a book have some three megabytes and take some ten seconds."""
_HARDLY_ANY = 20
"""Characters on a scanned page that do not make it a page of text: a stamp, a number."""
_MOST_OF_PAGE = 0.5
_SIDE_BY_SIDE = 2


class Page(NamedTuple):
    """A page with text."""

    number: int
    """Counted from 1."""
    label: str
    """What is printed on it as its number, where that is another one."""
    parts: list[Part]
    upright: bool
    """Whether its text is not turned, so that the outline's heights apply."""


@dataclass(slots=True)
class Reading:
    """What was found on the pages of a file; numbers of pages count from 1."""

    pages: list[Page] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    """Pages whose fonts do not say which letters they draw."""
    cuts: list[str] = field(default_factory=list)
    """Why something is left out, if it is."""


def read_pages(file: PdfFile, size: int) -> Reading:
    """Read all pages of a file of so many bytes, as far as the limits allow."""
    found = Reading()
    count = file.page_count()
    deadline = thread_time() + min(_MOST_SECONDS, _ALWAYS_SECONDS + _SECONDS_PER_BYTE * size)
    work = 0
    for index in range(min(count, _MOST_PAGES)):
        if work > _MOST_WORK or thread_time() > deadline:
            found.cuts.append(f"the pages from {index + 1} on: reading them takes too long")
            return found
        with file.page(index) as page:
            if page is None:
                found.damaged.append(index + 1)
            else:
                work += _read_page(file, page, index, found)
    if count > _MOST_PAGES:
        found.cuts.append(f"the pages from {_MOST_PAGES + 1} on")
    return found


def _read_page(file: PdfFile, page: Any, index: int, found: Reading) -> int:
    """Read one page; returns how much work it was."""
    text = read_text(file.raw, page)
    drawn = object_count(file.raw, page)
    letters = sum(len(fragment.text) for fragments in text.turns.values() for fragment in fragments)
    if letters < _HARDLY_ANY:
        share = image_share(file.raw, page)
        if share > _MOST_OF_PAGE or (share and not letters):
            found.scanned.append(index + 1)
    if not text.readable:
        found.unreadable.append(index + 1)
    if text.cut:
        found.cuts.append(f"the end of page {index + 1}")
    if text.turns:
        label = file.label(index)
        turn = _main_turn(text)
        parts = _parts(file.raw, page, text, turn)
        found.pages.append(Page(index + 1, label if label != str(index + 1) else "", parts, turn == 0))
    return text.characters + drawn


def _main_turn(text: PageText) -> int:
    """The way that most of the text runs."""
    return max(text.turns, key=lambda turn: sum(len(fragment.text) for fragment in text.turns[turn]))


def _parts(raw: Any, page: Any, text: PageText, main: int) -> list[Part]:
    """The parts of a page: first of the text that runs the main way, then of what is written across it."""
    found: list[Part] = []
    for turn, fragments in sorted(text.turns.items(), key=lambda each: each[0] != main):
        if turn == SKEWED:
            found.extend(Part("paragraph", each.text, each.y, margin=True) for each in fragments)
            continue
        lines = rulings(raw, page, turn) if turn == main and _may_hold_table(fragments) else []
        items: list[Item] = ruled_tables(fragments, lines) if lines else list(fragments)
        if is_right_to_left(fragment.text for fragment in fragments):
            items = [_mirrored(item) for item in items]
        ready = [zone if zone.margin else zone._replace(rows=aligned_tables(zone.rows)) for zone in zones(items)]
        found.extend(parts_of(ready))
    return found


def _may_hold_table(fragments: Sequence[Fragment]) -> bool:
    """Whether some lines have several fragments; looking for ruled lines costs as much as reading the text."""
    heights: dict[int, int] = {}
    for fragment in fragments:
        key = round(fragment.y)
        heights[key] = heights.get(key, 0) + 1
    return sum(count > 1 for count in heights.values()) >= _SIDE_BY_SIDE


def _mirrored(item: Item) -> Item:
    """As seen in a mirror: what is written from right to left is laid out as if it ran to the right."""
    if isinstance(item, Table):
        return item._replace(x0=-item.x1, x1=-item.x0, cells=tuple(row[::-1] for row in item.cells))
    words = [word._replace(x0=-word.x1, x1=-word.x0) for word in item.words]
    return item._replace(x0=-item.x1, x1=-item.x0, words=words)
