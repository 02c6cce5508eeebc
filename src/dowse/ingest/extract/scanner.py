"""One pass over the lines of a text that becomes blocks: what the readers of lightweight markup share.

A format's own scanner says what lines mean by the character that they begin with, as a table of readers.
The text itself is never changed, so that lines and offsets are those of the file.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from dowse.ingest.extract.blocks import Block, BlockKind

__all__ = ["DEEPEST_LEVEL", "LONGEST_LABEL", "Line", "Scanner"]

DEEPEST_LEVEL = 6
LONGEST_LABEL = 300
"""How much of a heading is read for its label; strangers write headings of a megabyte."""
_TAB = 8
# Lines that begin with a letter mean nothing special inside a paragraph, in any of these formats; taken at
# once, since most lines are of this kind.
_PLAIN_LINES = re.compile(r"(?:\n[^\W\d_][^\n]*+)++")


class Line(NamedTuple):
    """A line that is not empty: where it stands, and what follows its indent."""

    start: int
    end: int
    content: str
    indent: int


class Scanner:
    """The blocks found so far, and the open one, which grows until a line ends it."""

    __slots__ = ("blocks", "end", "kind", "last_line", "lines", "start", "text")

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {}
    """By the first character of a line's content. A reader returns where the line, or the block that it opens
    and closes, ends (never 0), or None when the line is nothing special after all."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.kind: BlockKind | None = None
        """Of the open block; None between blocks."""
        self.start = 0
        self.end = 0
        self.last_line = 0
        """Where the last line of the open block starts."""
        self.lines = 0

    def scan(self, position: int = 0) -> list[Block]:
        """All blocks from this position on, which is the start of a line."""
        text, readers, size = self.text, self.READERS, len(self.text)
        while position < size:
            end = text.find("\n", position)
            if end < 0:
                end = size
            line = text[position:end]
            content = line.strip()
            if not content:
                self.blank()
            else:
                indent = 0 if line[0] == content[0] else _indent(line)
                found = Line(position, end, content, indent)
                reader = readers.get(content[0])
                reached = reader(self, found) if reader else None
                end = self.prose(found) if reached is None else reached
            position = end + 1
        self.close()
        return self.blocks

    def blank(self) -> None:
        """An empty line."""
        self.close()

    def prose(self, line: Line) -> int:
        """A line that no reader takes, and those below it that go on likewise; returns where they end."""
        kind = self.kind or "paragraph"
        self.grow(kind, line.start, line.end)
        more = _PLAIN_LINES.match(self.text, line.end) if kind == "paragraph" else None
        if not more:
            return line.end
        self.lines += more[0].count("\n")
        self.last_line = self.text.rfind("\n", line.end, more.end()) + 1
        self.end = more.end()
        return self.end

    def grow(self, kind: BlockKind, start: int, end: int) -> None:
        """Add a line to the open block if it is of this kind, else begin one."""
        if self.kind != kind:
            self.close()
            self.kind = kind
            self.start = start
            self.lines = 0
        self.end = end
        self.last_line = start
        self.lines += 1

    def add(self, kind: BlockKind, start: int, end: int) -> int:
        """Add a block that is complete."""
        self.close()
        self.grow(kind, start, end)
        self.close()
        return end

    def add_heading(self, start: int, end: int, level: int, label: str) -> int:
        """Add a heading, whose last line ends here."""
        self.close()
        trimmed = start + len(self.text[start:end].rstrip())
        self.blocks.append(Block("heading", start, trimmed, min(level, DEEPEST_LEVEL), label))
        return end

    def close(self) -> None:
        """End the open block, without the white space after it."""
        if self.kind is None:
            return
        end = self.end
        if self.text[end - 1].isspace():
            end = self.start + len(self.text[self.start : end].rstrip())
        self.blocks.append(Block(self.kind, self.start, end))
        self.kind = None


def _indent(line: str) -> int:
    margin = line[: len(line) - len(line.lstrip())]
    return len(margin.expandtabs(_TAB)) if "\t" in margin else len(margin)
