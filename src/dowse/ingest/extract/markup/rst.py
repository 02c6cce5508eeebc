"""reStructuredText: the file as it is, cut into blocks by its lines.

Sections follow docutils: a line of one punctuation mark under a line of text, or above and below it, at
the left margin; each new style of adornment is one level deeper than those before it. Code, tables and
literal blocks are blocks of their kind; what other directives hold is read like text around it, but
opens no section, since it is indented. Fields at the top are metadata.
"""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.markup.fields import metadata_of
from dowse.ingest.extract.scanner import LONGEST_LABEL, Line, Scanner
from dowse.types import MetadataValue

__all__ = ["extract_rst"]

_SURE_ADORNMENT = 4
"""An adornment of this length makes a title of a longer line too."""
_DEEPEST_INDENT = 200
_MOST_TITLES = 2

_OVERLINED = re.compile(r"(([!-/:-@\[-`{-~])\2*+)[^\S\n]*+\n(?P<title>[^\S\n]*+\S[^\n]*+)\n\1[^\S\n]*+(?:\n|\Z)")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)")
_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]+\|\s+)?(?P<name>[A-Za-z][\w.+:-]*?)\s?::(?:\s|$)")
_TARGET = re.compile(r"\.\. _[^\n]*:(?:\n\.\. _[^\n]*:)*")
_BULLET = re.compile(r"(?:[-*+\u2022\u2023\u2043]|\(?(?:\d+|#)[.)])(?:\s|$)")
_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+$")
_SIMPLE_BORDER = re.compile(r"=+(?: +=+)+$")
_SIMPLE_END = re.compile(r"^[ \t]*=+(?: +=+)*[ \t]*(?=\n[^\S\n]*(?:\n|\Z)|\Z)", re.MULTILINE)
_FIELD = re.compile(r"^:(?P<name>[^:\s](?:[^:\n]|:(?! ))*):(?:[ \t]+|$)(?P<value>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_META = re.compile(r"^\.\. meta::[ \t]*\n(?P<fields>(?:[ \t]*+\n|[ \t]++\S.*+(?:\n|\Z))++)", re.MULTILINE)

_ONE_BLOCK: Mapping[BlockKind, str] = {
    "code": "code code-block digraph doctest graphviz ipython literalinclude math mermaid parsed-literal plot"
    " productionlist prompt raw sourcecode testcleanup testcode testoutput testsetup uml",
    "table": "csv-table flat-table list-table table",
}
_KINDS = {name: kind for kind, names in _ONE_BLOCK.items() for name in names.split()}
"""Directives whose whole body is one block."""

_INLINE = re.compile(
    r"""
      ``(?P<literal>.+?)``
    | (?P<role>:[\w+.:-]+:)?`(?P<text>[^`]+)`_{0,2}
    | \\(?P<escaped>\S)|\\\s
    | \*\*?(?=\S)|(?<=\S)\*\*?
    | \|(?P<substitution>[^\s|][^|]*)\|_{0,2}
    | (?<=\w)_(?=[\s.,:;!?)]|$)
    """,
    re.VERBOSE,
)
_LINK_TARGET = re.compile(r"\s*<[^<>]*>$")


def extract_rst(data: bytes, name: str) -> Extracted:
    """Read a reStructuredText file: sections, code, tables, and the fields at its top."""
    text = decode(data, name)
    blocks = _Scanner(text).scan()
    metadata = _metadata(text, blocks)
    title = next((block.label for block in blocks if block.label), None)
    return Extracted(text, tuple(blocks), title, metadata)


def _metadata(text: str, blocks: list[Block]) -> dict[str, MetadataValue]:
    """The fields before or directly below the title, and those of `meta`; the former become front matter."""
    fields: list[tuple[str, str]] = []
    titles = 0
    for at, block in enumerate(blocks):
        if block.kind == "heading" and titles < _MOST_TITLES:
            titles += 1
        elif not text.startswith("..", block.start):
            if _FIELD.match(text, block.start):
                fields = list(_fields(text[block.start : block.end]))
                if at == 0:
                    blocks[0] = block._replace(kind="front matter")
            break
    if ".. meta::" in text:
        for found in _META.finditer(text):
            fields += _fields(re.sub(r"^[ \t]+(?=:)", "", found["fields"], flags=re.MULTILINE))
    return metadata_of(fields)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    return ((found["name"], found["value"]) for found in _FIELD.finditer(text))


def _label(title: str) -> str:
    """The words of a title as a reader sees them."""
    return " ".join(_INLINE.sub(_visible, title[:LONGEST_LABEL]).split())


def _visible(found: re.Match[str]) -> str:
    text = found["text"]
    if text is None:
        return found["literal"] or found["escaped"] or found["substitution"] or ""
    shown = _LINK_TARGET.sub("", text) or text
    if found["role"] and shown[0] == "~":
        return shown.rpartition(".")[2].lstrip("~")
    return shown.lstrip("!") if found["role"] else shown


class _Scanner(Scanner):
    __slots__ = ("_in_list", "_styles", "_tables")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._styles: list[tuple[str, bool]] = []
        """Adornments, and whether they stand above the title too, outermost first."""
        self._in_list = False
        self._tables = True
        """Whether the end of a simple table may still come."""

    def prose(self, line: Line) -> int:
        if self.kind is None:
            if line.indent and self._in_list:
                return self._grow_list(line)
            self._in_list = False
        end = super().prose(line)
        if end > line.end:
            return self._literal_after(end, 0)
        return self._literal_after(end, line.indent)

    def _literal_after(self, end: int, indent: int) -> int:
        """Take the literal block that `::` at the end of a paragraph announces."""
        if not self.text[self.last_line : end].rstrip().endswith("::"):
            return end
        first = self.text.find("\n", end + 1)
        if first < 0 or not self.text[end:first].isspace():
            return end
        stop = _end_of_body(self.text, first + 1, indent)
        if not stop:
            return end
        body = self.text[first:stop]
        start = first + body.rfind("\n", 0, len(body) - len(body.lstrip())) + 1
        return self.add("code", start, stop)

    # Readers by first character, see the table below.

    def _adornment(self, line: Line) -> int | None:
        mark = line.content[0]
        if line.indent or line.content.strip(mark):
            return None
        if self.kind is None:
            return self._overlined(line)
        title = self.text[self.start : self.end].rstrip()
        long_enough = len(line.content) >= min(len(title), _SURE_ADORNMENT)
        if self.kind != "paragraph" or self.lines > 1 or not long_enough or not _has_words(title):
            return None
        if line.content == "::" or title[0].isspace() or title.startswith(".. "):
            return None
        self.kind = None
        return self._add_title(self.start, line.end, title, (mark, False))

    def _overlined(self, line: Line) -> int | None:
        found = _OVERLINED.match(self.text, line.start)
        title = found["title"].strip() if found else ""
        if found and _has_words(title) and len(line.content) >= min(len(title), _SURE_ADORNMENT):
            end = found.end() - 1 if self.text[found.end() - 1] == "\n" else found.end()
            return self._add_title(line.start, end, title, (line.content[0], True))
        if len(line.content) < _SURE_ADORNMENT:
            return None
        self._in_list = False
        return self.add("paragraph", line.start, line.end)

    def _add_title(self, start: int, end: int, title: str, style: tuple[str, bool]) -> int:
        """A section; the names that links know it by, just above it, belong to it."""
        self._in_list = False
        while self.blocks and _TARGET.fullmatch(self.text, self.blocks[-1].start, self.blocks[-1].end):
            start = self.blocks.pop().start
        if style not in self._styles:
            self._styles.append(style)
        return self.add_heading(start, end, self._styles.index(style) + 1, _label(title))

    def _explicit(self, line: Line) -> int | None:
        if not _EXPLICIT.match(line.content):
            return self._adornment(line)
        found = _DIRECTIVE.match(line.content)
        kind = _KINDS.get(found["name"].lower()) if found else None
        if kind:
            return self.add(kind, line.start, max(line.end, _end_of_body(self.text, line.end + 1, line.indent)))
        if self.kind != "paragraph" or line.indent == 0:
            self.close()
        self.grow("paragraph", line.start, line.end)
        return line.end

    def _bullet(self, line: Line) -> int | None:
        if self.kind == "paragraph" or not _BULLET.match(line.content):
            return self._adornment(line)
        return self._grow_list(line)

    def _grow_list(self, line: Line) -> int:
        self.grow("list", line.start, line.end)
        self._in_list = True
        return self._literal_after(line.end, line.indent)

    def _plus(self, line: Line) -> int | None:
        if self.kind == "table" or (self.kind is None and _GRID_BORDER.match(line.content)):
            self.grow("table", line.start, line.end)
            return line.end
        return self._bullet(line)

    def _equals(self, line: Line) -> int | None:
        if self.kind is None and self._tables and _SIMPLE_BORDER.match(line.content):
            closing = _SIMPLE_END.search(self.text, line.end)
            if closing:
                return self.add("table", line.start, closing.end())
            self._tables = False
        return self._adornment(line)

    def _prompt(self, line: Line) -> int | None:
        if self.kind is None and line.content.startswith(">>> "):
            self.grow("code", line.start, line.end)
            return line.end
        return self._adornment(line)

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {
        **dict.fromkeys(string.punctuation, _adornment),
        **dict.fromkeys("-*(#\u2022\u2023\u20430123456789", _bullet),
        ".": _explicit,
        "+": _plus,
        "=": _equals,
        ">": _prompt,
    }


def _has_words(title: str) -> bool:
    return any(map(str.isalnum, title))


def _end_of_body(text: str, position: int, indent: int) -> int:
    """Where the last of the lines ends that are indented deeper than this; 0 when there is none."""
    found = _deeper(min(indent, _DEEPEST_INDENT) + 1).match(text, position)
    return position + len(found[0].rstrip()) if found and not found[0].isspace() else 0


@lru_cache(maxsize=_DEEPEST_INDENT + 1)
def _deeper(indent: int) -> re.Pattern[str]:
    return re.compile(rf"(?:(?: {{{indent}}}| *\t)[^\n]*+(?:\n|\Z)|[^\S\n]*+\n)++")
