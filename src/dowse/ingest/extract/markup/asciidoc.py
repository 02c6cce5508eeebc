"""AsciiDoc: the file as it is, cut into blocks by its lines.

Sections are lines of `=` and a title (or `#`, or the old form with the title underlined). What stands between
a pair of equal delimiters is code, a table or a comment as a whole, or a container (example, sidebar,
quote): its paragraphs are blocks like others, but a title inside it opens no section. Lines of attributes
and titles above a block belong to it. The attributes in the header are metadata.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.frontmatter import read_front_matter
from dowse.ingest.extract.markdown import title_of
from dowse.ingest.extract.markup.asciidoc_header import label_of, read_header
from dowse.ingest.extract.scanner import LONGEST_LABEL, Line, Scanner

__all__ = ["extract_asciidoc"]

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_TITLE_CLOSING = re.compile(r"[ \t]+(?:=+|#+)$")
_PLAIN_DELIMITERS = r"--|-{4,}|={4,}|\*{4,}|_{4,}|\.{4,}|\+{4,}|/{4,}|[|,:!]={3,}"
_DELIMITER = re.compile(rf"{_PLAIN_DELIMITERS}|(?P<fence>`{{3,}})[^`\s]*")
_DELIMITER_LINE = re.compile(rf"^(?:{_PLAIN_DELIMITERS}|`{{3,}})(?=[ \t]*$)", re.MULTILINE)
_PAIRS: Mapping[BlockKind, str] = {"code": "-.+`", "table": "|,:!", "paragraph": "/"}
_WHOLE = {mark: kind for kind, marks in _PAIRS.items() for mark in marks}
"""What a pair of delimiters makes of all between them; other pairs are containers."""
_SHORTEST_UNDERLINE = 3
_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ATTRIBUTES = re.compile(r"\[(?:\[?[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]?)\]$")
_BLOCK_TITLE = re.compile(r"\.[^\s.]")
_VERBATIM_STYLE = re.compile(r"\[(?:source|listing|literal|stem|latexmath|asciimath)\b")
_ITEM = re.compile(r"(?:[*-]+|\.+|\d+\.|<(?:\d+|\.)>)[ \t]+\S")
_ENTRY = re.compile(r":!?[\w][\w-]*!?:(?:\s|$)|//(?!/)")
_ARMOUR = "-----BEGIN PGP "


def extract_asciidoc(data: bytes, name: str) -> Extracted:
    """Read an AsciiDoc file: sections, delimited blocks, and its header.

    Raises:
        SourceError: reason `unsupported`, for a key or signature that only shares the suffix `.asc`.
    """
    text = decode(data, name)
    if text.startswith(_ARMOUR):
        raise SourceError(
            f"{name} is a PGP key or signature, not AsciiDoc.",
            reason="unsupported",
            hint="Nothing in it can be read; add it to .dowseignore.",
        )
    body, metadata = read_front_matter(text)
    header = read_header(text, body)
    metadata |= header
    blocks = _Scanner(text, header).scan(body)
    title = title_of(metadata) or next((block.label for block in blocks if block.label), None)
    if body:
        blocks.insert(0, Block("front matter", 0, len(text[:body].rstrip())))
    elif blocks and blocks[0].kind == "paragraph" and _ENTRY.match(text, blocks[0].start):
        blocks[0] = blocks[0]._replace(kind="front matter")
    return Extracted(text, tuple(blocks), title, metadata)


class _Scanner(Scanner):
    __slots__ = ("_attributes", "_containers", "_delimiters", "_in_list", "_leading")

    def __init__(self, text: str, attributes: Mapping[str, object]) -> None:
        super().__init__(text)
        self._attributes = attributes
        self._containers: list[str] = []
        """The delimiters of the containers that are open, outermost first."""
        self._delimiters = _delimiters(text)
        self._in_list = False
        self._leading = 0
        """How many lines of the open block only describe what comes below them."""

    def blank(self) -> None:
        if not self._describes():
            self.close()

    def prose(self, line: Line) -> int:
        if self.kind is None:
            self._leading = 0
            if line.indent and not self._in_list:
                self.grow("code", line.start, line.end)
                return line.end
            if line.indent:
                self.grow("list", line.start, line.end)
                return line.end
            self._in_list = False
        elif self._describes() and _VERBATIM_STYLE.match(self.text, self.start):
            self.kind = "code"
        return super().prose(line)

    def _describes(self) -> bool:
        """Whether the open block has nothing yet but attributes and a title."""
        return self.kind == "paragraph" and self.lines == self._leading > 0

    def _after_entry(self) -> bool:
        """Whether the line above sets an attribute or is a comment; a title needs no empty line below those."""
        return bool(self.kind == "paragraph" and _ENTRY.match(self.text, self.last_line))

    def _take_description(self, start: int) -> int:
        """Where a block that begins here begins with what is said above it."""
        if self._describes():
            start = self.start
            self.kind = None
        self.close()
        self._leading = 0
        return start

    # Readers by first character, see the table below.

    def _mark(self, line: Line) -> int | None:
        return self._title(line) or self._underline(line) or self._delimiter(line) or self._item(line)

    def _title(self, line: Line) -> int | None:
        if line.indent or self._containers or not (self.kind is None or self._describes() or self._after_entry()):
            return None
        found = _TITLE.fullmatch(line.content)
        if not found:
            return None
        return self._add_title(self._take_description(line.start), line.end, len(found[1]), found[2])

    def _add_title(self, start: int, end: int, level: int, title: str) -> int:
        self._in_list = False
        words = _TITLE_CLOSING.sub("", title[:LONGEST_LABEL])
        return self.add_heading(start, end, level, label_of(words, self._attributes))

    def _underline(self, line: Line) -> int | None:
        mark = line.content[0]
        if self.kind != "paragraph" or self.lines != self._leading + 1 or self._containers or line.indent:
            return None
        title = self.text[self.last_line : self.end].rstrip()
        off = abs(len(title) - len(line.content))
        if mark not in _UNDERLINES or off > 1 or len(line.content) < _SHORTEST_UNDERLINE or line.content.strip(mark):
            return None
        if title[0] in " \t.[" or not any(map(str.isalnum, title)):
            return None
        start, self.kind, self._leading = self.start, None, 0
        return self._add_title(start, line.end, _UNDERLINES[mark], title)

    def _delimiter(self, line: Line) -> int | None:
        found = _DELIMITER.fullmatch(line.content)
        if not found or line.indent:
            return None
        delimiter = found["fence"] or line.content
        if delimiter in self._containers:
            return self._close_container(line, delimiter)
        places = self._delimiters.get(delimiter, [])
        after = bisect_right(places, line.start)
        if after == len(places):
            return None
        start = self._take_description(line.start)
        kind = _WHOLE.get(delimiter[0]) if delimiter != "--" else None
        if kind:
            end = self.text.find("\n", places[after])
            return self.add(kind, start, len(self.text) if end < 0 else end)
        self._containers.append(delimiter)
        self._in_list = False
        self.grow("paragraph", start, line.end)
        return line.end

    def _close_container(self, line: Line, delimiter: str) -> int:
        """The delimiter ends the block that it stands below, which is never a title."""
        while self._containers.pop() != delimiter:
            pass
        self._leading = 0
        self.close()
        self.blocks[-1] = self.blocks[-1]._replace(end=line.start + len(line.content))
        self._in_list = False
        return line.end

    def _item(self, line: Line) -> int | None:
        if not _ITEM.match(line.content) or not (self.kind in {None, "list"} or self._describes()):
            return None
        start = self._take_description(line.start) if self.kind != "list" else line.start
        self.grow("list", start, line.end)
        self._in_list = True
        return line.end

    def _describe(self, line: Line) -> int | None:
        """A line of attributes, or the title of a block."""
        if self.kind is not None and not self._describes():
            return None
        if line.indent or not (_ATTRIBUTES.match(line.content) or _BLOCK_TITLE.match(line.content)):
            return None
        if self.kind is None:
            self._leading = 0
        self.grow("paragraph", line.start, line.end)
        self._leading += 1
        return line.end

    def _dot(self, line: Line) -> int | None:
        return self._describe(line) or self._mark(line)

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {
        **dict.fromkeys("=#-*_+/|,:!`~^<0123456789", _mark),
        ".": _dot,
        "[": _describe,
    }


def _delimiters(text: str) -> dict[str, list[int]]:
    """Where each delimiter stands, so that finding the other one of a pair never searches the text."""
    places: dict[str, list[int]] = {}
    for found in _DELIMITER_LINE.finditer(text):
        places.setdefault(found[0], []).append(found.start())
    return places
