"""Org: the file as it is, cut into blocks by its lines.

A headline begins with stars at the left margin, and wins over everything else, as in Org itself: code that
holds such a line must escape it. Keywords (`#+TITLE:`) and properties before the first headline are
metadata; states, priorities and tags are no part of a headline's words.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.markup.fields import metadata_of
from dowse.ingest.extract.scanner import LONGEST_LABEL, Line, Scanner

__all__ = ["extract_org"]

_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_FIRST_HEADLINE = re.compile(r"^\*+[ \t]+\S", re.MULTILINE)
_KEYWORD = re.compile(r"^[ \t]*#\+(?P<name>[A-Za-z_]+):[ \t]*(?P<value>.*)", re.MULTILINE)
_DRAWER = re.compile(
    r"\s*^:PROPERTIES:[ \t]*\n(?P<properties>(?:[ \t]*:.*\n){0,100}?)[ \t]*:END:", re.MULTILINE | re.IGNORECASE
)
_PROPERTY = re.compile(r"^[ \t]*:(?P<name>[\w-]+):[ \t]+(?P<value>.*)", re.MULTILINE)
_TOP = re.compile(r"(?:[ \t]*+(?:#(?:\+\w+:|[ \t]|(?=\n|\Z))|:[\w-]+:).*+(?:\n|\Z))++")
_NAMED = {"author", "category", "created", "date", "description", "email", "identifier", "keywords", "language"}
_STATES = {"TODO", "DONE", "NEXT", "WAIT", "WAITING", "HOLD", "STARTED", "CANCELED", "CANCELLED", "COMMENT"}
_STATE_KEYWORDS = {"todo", "seq_todo", "typ_todo"}
_PRIORITY = re.compile(r"\[#[A-Za-z0-9]{1,2}\]\s*")
_TAGS = re.compile(r"\s+:(?:[\w@#%]+:)+\s*$")
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]]*)\](?:\[(?P<words>[^\[\]]*)\])?\]"
    r"|(?<![\w])(?P<mark>[*/_=~+])(?=\S)(?P<marked>.+?)(?<=\S)(?P=mark)(?!\w)"
)
_KINDS: Mapping[str, BlockKind] = {
    "src": "code",
    "example": "code",
    "export": "code",
    "comment": "paragraph",
    "verse": "paragraph",
}
_BLOCK = re.compile(rf"#\+begin_({'|'.join(_KINDS)})\b", re.IGNORECASE)
_BLOCK_END = {
    name: re.compile(rf"^(?:[ \t]*#\+end_{name}\b.*|(\*+[ \t].*))$", re.MULTILINE | re.IGNORECASE) for name in _KINDS
}
"""What ends a block: its own mark, or a headline, which shows that there is none."""
_ITEM = re.compile(r"(?:[-+*]|\d+[.)])(?:[ \t]|$)")


def extract_org(data: bytes, name: str) -> Extracted:
    """Read an Org file: headlines, source blocks, tables, and the keywords at its top."""
    text = decode(data, name)
    first = _FIRST_HEADLINE.search(text)
    top = text[: first.start()] if first else text
    keywords = [(found["name"].lower(), found["value"].strip()) for found in _KEYWORD.finditer(top)]
    states = {word.partition("(")[0] for key, value in keywords if key in _STATE_KEYWORDS for word in value.split()}
    blocks = _Scanner(text, _STATES | states).scan()
    if blocks and (found := _TOP.match(text, blocks[0].start)) and found.end() >= blocks[0].end:
        blocks[0] = blocks[0]._replace(kind="front matter")
    title = " ".join(value for key, value in keywords if key == "title" and value)
    metadata = metadata_of(_fields(top, keywords, title))
    return Extracted(text, tuple(blocks), _words(title) or _first_label(blocks), metadata)


def _fields(top: str, keywords: list[tuple[str, str]], title: str) -> Iterator[tuple[str, str]]:
    yield "title", _words(title)
    for name, value in keywords:
        if name == "filetags":
            yield "tags", value.strip(":").replace(":", ",").replace(" ", ",")
        elif name in _NAMED:
            yield name, value
    drawer = _DRAWER.match(top)
    if drawer:
        for found in _PROPERTY.finditer(drawer["properties"]):
            yield found["name"], found["value"]


def _first_label(blocks: list[Block]) -> str | None:
    return next((block.label for block in blocks if block.label), None)


def _words(headline: str) -> str:
    """The words of a headline as a reader sees them."""
    return " ".join(_INLINE.sub(_visible, headline[:LONGEST_LABEL]).split())


def _visible(found: re.Match[str]) -> str:
    return found["marked"] or found["words"] or found["target"] or ""


class _Scanner(Scanner):
    __slots__ = ("_in_list", "_open_until", "_states")

    def __init__(self, text: str, states: set[str]) -> None:
        super().__init__(text)
        self._states = states
        self._in_list = False
        self._open_until: dict[str, int] = {}
        """Up to where a kind of block is known to have no end."""

    def prose(self, line: Line) -> int:
        if self.kind is None and line.indent and self._in_list:
            self.grow("list", line.start, line.end)
            return line.end
        if self.kind in {"table", "code"} or (self.kind == "list" and line.indent == 0):
            self.close()
        if line.indent == 0:
            self._in_list = False
        return super().prose(line)

    # Readers by first character, see the table below.

    def _star(self, line: Line) -> int | None:
        found = None if line.indent else _HEADLINE.fullmatch(line.content)
        if not found:
            return self._item(line) if line.indent else None
        self._in_list = False
        return self.add_heading(line.start, line.end, len(found[1]), self._label(found[2]))

    def _label(self, headline: str) -> str:
        words = _TAGS.sub("", headline[:LONGEST_LABEL])
        state, _, rest = words.partition(" ")
        while state in self._states and rest:
            words = rest.lstrip()
            state, _, rest = words.partition(" ")
        return _words(_PRIORITY.sub("", words, count=1))

    def _hash(self, line: Line) -> int | None:
        found = _BLOCK.match(line.content)
        if found:
            return self._block(line, found[1].lower())
        if self.kind == "table" and line.content[:2] == "#+":
            self.grow("table", line.start, line.end)
            return line.end
        return None

    def _block(self, line: Line, name: str) -> int | None:
        if line.start < self._open_until.get(name, 0):
            return None
        found = _BLOCK_END[name].search(self.text, line.end)
        if not found or found[1]:
            self._open_until[name] = found.start() if found else len(self.text)
            return None
        return self.add(_KINDS[name], line.start, found.end())

    def _row(self, line: Line) -> int | None:
        self.grow("table", line.start, line.end)
        return line.end

    def _colon(self, line: Line) -> int | None:
        """A line that is shown as it is; other lines that begin so are drawers and properties."""
        if line.content != ":" and not line.content.startswith(": "):
            return None
        self.grow("code", line.start, line.end)
        return line.end

    def _item(self, line: Line) -> int | None:
        if not _ITEM.match(line.content):
            return None
        self.grow("list", line.start, line.end)
        self._in_list = True
        return line.end

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {
        "*": _star,
        "#": _hash,
        "|": _row,
        ":": _colon,
        **dict.fromkeys("-+0123456789", _item),
    }
