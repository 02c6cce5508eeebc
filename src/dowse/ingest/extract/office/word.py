"""Word documents: headings by style, lists with their marks, tables, notes behind the text that cites them.

What the page adds is left out: headers, footers, the table of contents. So are comments and deleted text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.ingest.extract.blocks import BlockKind, Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.office.drawing import write_graphic
from dowse.ingest.extract.office.inline import Inline
from dowse.ingest.extract.office.names import COMPATIBILITY, WORD
from dowse.ingest.extract.office.notes import Notes
from dowse.ingest.extract.office.numbering import Numbering
from dowse.ingest.extract.office.package import Package
from dowse.ingest.extract.office.styles import Style, Styles, level_of, list_place, value_of
from dowse.ingest.extract.office.word_tables import grid_of, rows_of
from dowse.ingest.extract.tables import one_line, slices_below_first

__all__ = ["read_word"]

_PARAGRAPH, _TABLE, _PROPERTIES = (f"{WORD}{tag}" for tag in ("p", "tbl", "pPr"))
_ALTERNATIVES = f"{COMPATIBILITY}AlternateContent"
_NOT_SHOWN = {f"{WORD}del", f"{WORD}moveFrom", f"{WORD}sdtPr", f"{COMPATIBILITY}Fallback"}
_EMBEDDED = f"{WORD}altChunk"
_BLOCKS = {_PARAGRAPH, _TABLE, _ALTERNATIVES, _EMBEDDED}
_NO_LIST = "0"
_NOTE_MARK = re.compile(r"\[\^e?\d+\]")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")


def read_word(package: Package) -> Extracted:
    """Read a document."""
    reader = _Reader(package)
    for element in package.archive.elements(package.main, _BLOCKS):
        reader.block(element)
        if reader.composer.full:
            break
    reader.flush()
    for problem in package.problems:
        reader.composer.cut(problem)
    title, metadata = package.properties()
    return reader.composer.extracted(reader.title or title or reader.first_heading, metadata)


class _Role(NamedTuple):
    """What a paragraph is in its document."""

    kind: BlockKind
    level: int = 0
    marker: str = ""
    depth: int = 0


class _Reader:
    """Writes the blocks of a document, and holds back lines that belong to one block."""

    def __init__(self, package: Package) -> None:
        self.composer = Composer(package.size)
        self.title: str | None = None
        self.first_heading: str | None = None
        self._package = package
        self._relations = package.relations(package.main)
        parts = {each.kind: each.target for each in self._relations.values()}
        self._styles = Styles(package.optional(parts.get("styles")))
        self._numbering = Numbering(package.optional(parts.get("numbering")))
        self._notes = Notes(package, parts)
        self._inline = Inline(self._relations, self._notes.cite)
        self._open: BlockKind | None = None
        """The kind of the lines that are held back: items of a list, or lines of code."""
        self._lines: list[str] = []

    def block(self, element: Element) -> None:
        """Read a paragraph, a table, or whatever lies around some of them."""
        if element.tag == _PARAGRAPH:
            self._paragraph(element)
        elif element.tag == _TABLE:
            self._table(element)
        elif element.tag == _EMBEDDED:
            self.composer.cut("an embedded document is left out")
        elif element.tag not in _NOT_SHOWN:
            for child in element:
                self.block(child)

    def flush(self) -> None:
        """Write what is held back, and then the notes that were cited in it."""
        if self._open:
            text = "\n".join(self._lines)
            self.composer.block(self._open, f"```\n{text}\n```" if self._open == "code" else text)
        self._open, self._lines = None, []
        for note in self._notes.take():
            self.composer.block("paragraph", note)

    def _paragraph(self, paragraph: Element) -> None:
        properties = paragraph.find(_PROPERTIES)
        style = self._styles["" if properties is None else value_of(properties.find(f"{WORD}pStyle"))]
        if style.is_contents:
            return
        role = self._role(properties, style)
        if role.kind != self._open:
            self.flush()
        text = self._inline.text(paragraph)
        if role.kind == "code":
            self._hold(role, text.rstrip())
        elif words := text.strip():
            self._write(role, words, is_title=style.is_title)
        graphics = self._inline.take_graphics()
        for box in self._inline.take_boxes():
            self.block(box)
        self._graphics(graphics)

    def _role(self, properties: Element | None, style: Style) -> _Role:
        level = level_of(properties)
        level = style.level if level is None else level
        list_id, depth = list_place(properties)
        list_id = style.list_id if list_id is None else list_id
        depth = style.list_level if depth is None else depth
        # Also an empty item is counted: Word shows its number.
        marker = self._numbering.marker(list_id, depth) if list_id and list_id != _NO_LIST else ""
        if style.is_title or level:
            return _Role("heading", 1 if style.is_title else level, "" if marker == "-" else marker)
        if marker:
            return _Role("list", marker=marker, depth=depth + style.indent)
        return _Role("code" if style.is_code else "paragraph")

    def _write(self, role: _Role, text: str, *, is_title: bool) -> None:
        marked = f"{role.marker} {text}" if role.marker else text
        if role.kind == "heading":
            label = _LINK.sub(r"\1", _NOTE_MARK.sub("", marked))
            self.composer.heading(role.level, marked, label)
            self.first_heading = self.first_heading or label
            if is_title:
                self.title = self.title or label
        elif role.kind == "list":
            margin = "  " * role.depth
            self._hold(role, margin + marked.replace("\n", f"\n{margin}  "))
        else:
            self.composer.block("paragraph", text)
            self.flush()

    def _hold(self, role: _Role, line: str) -> None:
        self._open = role.kind
        self._lines.append(line)

    def _graphics(self, relations: list[str]) -> None:
        for each in relations:
            relation = self._relations.get(each)
            if relation and not relation.external:
                write_graphic(self.composer, self._package, relation.target)

    def _table(self, table: Element) -> None:
        self.flush()
        grid = grid_of(table)
        if all(len(row.cells) <= 1 for row in grid):
            # A frame around text, not a table: its content stands for itself.
            for row in grid:
                for cell in row.cells:
                    for child in cell.element:
                        self.block(child)
            self.flush()
            return
        rows = rows_of(grid, lambda cell: one_line(" ".join(self._texts(cell))))
        for part in slices_below_first(rows):
            self.composer.block(part.kind, part.text)
            if self.composer.full:
                break
        self.flush()
        self._graphics(self._inline.take_graphics())

    def _texts(self, element: Element) -> Iterator[str]:
        """The text of everything in a cell, one paragraph after the other."""
        if element.tag == _PARAGRAPH:
            properties = element.find(_PROPERTIES)
            style = self._styles["" if properties is None else value_of(properties.find(f"{WORD}pStyle"))]
            text = self._inline.text(element)
            boxes = self._inline.take_boxes()
            yield f"{self._role(properties, style).marker} {text}"
            for box in boxes:
                yield from self._texts(box)
        elif element.tag not in _NOT_SHOWN:
            for child in element:
                yield from self._texts(child)
