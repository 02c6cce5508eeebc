"""Markdown: the file as it is, cut into blocks by the lines that begin them.

No Markdown parser: none keeps exact offsets at a speed that indexing a large folder allows, and a chunker
needs far less than a renderer. One pass looks at the first character of each line and follows CommonMark
for what decides where blocks begin: fences, ATX and setext headings, HTML, comments, lists, tables.
Three liberties: a setext heading has at most two lines (`---` under a longer paragraph is nearly always
meant as a rule), the parts of a list between empty lines are blocks of their own, and a block quote is
a paragraph, so that a heading inside one opens no section.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.frontmatter import read_front_matter
from dowse.ingest.extract.inline import plain_words
from dowse.ingest.extract.scanner import LONGEST_LABEL, Line, Scanner
from dowse.types import MetadataValue

__all__ = ["extract_markdown", "markdown_blocks", "title_of"]

_DEEPEST_INDENT = 3
_MOST_SETEXT_LINES = 2

_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)(.*)")
_ATX_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
# Lines that no reader looks at; taken at once, since most lines are of this kind.
_PLAIN_LINES = re.compile(r"(?:\n[^\s#=\-*_+`~<|:0-9][^\n]*+)++")
_QUOTE = re.compile(r" {0,3}>")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_BULLET = re.compile(r"[-*+](?:[ \t]|$)")
_NUMBER = re.compile(r"(\d{1,9})[.)](?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_DELIMITER_ROW = re.compile(r"(?=.*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_VERBATIM = re.compile(r"<!--|<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
# Only its closing mark ends such a block, whatever empty lines and headings it contains.
_VERBATIM_CLOSING = {"<!--": re.compile("-->")} | {
    f"<{tag}": re.compile(f"</{tag}>", re.IGNORECASE) for tag in ("script", "pre", "style", "textarea")
}
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    r"|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav"
    r"|ol|optgroup|option|p|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    r"(?=[\s/>]|$)",
    re.IGNORECASE,
)
_LONE_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>[ \t]*$")


def extract_markdown(data: bytes, name: str) -> Extracted:
    """Read a Markdown file: blocks, front matter as metadata, and its own title if it has one."""
    text = decode(data, name)
    body, metadata = read_front_matter(text)
    blocks = markdown_blocks(text, body)
    title = title_of(metadata) or next((block.label for block in blocks if block.label), None)
    if body:
        blocks.insert(0, Block("front matter", 0, len(text[:body].rstrip())))
    return Extracted(text, tuple(blocks), title, metadata)


def markdown_blocks(text: str, position: int = 0) -> list[Block]:
    """The blocks of decoded Markdown from the line that begins here."""
    return _Scanner(text).scan(position)


def title_of(metadata: Mapping[str, MetadataValue]) -> str:
    """The title that front matter gives, in one line; empty when it gives none."""
    title = metadata.get("title", "")
    return "" if isinstance(title, list) else " ".join(str(title).split())


class _Scanner(Scanner):
    """One pass over the lines of a text; the open block grows until a line ends it."""

    __slots__ = ("_in_list",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._in_list = False

    def scan(self, position: int = 0) -> list[Block]:
        """All blocks from this position on."""
        text, readers, size = self.text, self.READERS, len(self.text)
        while position < size:
            end = text.find("\n", position)
            if end < 0:
                end = size
            line = text[position:end]
            content = line.lstrip(" \t")
            if not content or content.isspace():
                self.close()
            elif self.kind == "html":
                self.grow("html", position, end)
            else:
                indent = len(line) - len(content)
                if indent and "\t" in line[:indent]:
                    indent = _DEEPEST_INDENT + 1
                reader = readers.get(content[0])
                reached = reader(self, Line(position, end, content, indent)) if reader else None
                end = self._prose(position, end, indent) if reached is None else reached
            position = end + 1
        self.close()
        return self.blocks

    # Each reader takes the lines that begin with its characters. It returns where the line, or the block
    # that it opens and closes, ends (never 0), or None when the line is nothing special after all.

    def _heading(self, line: Line) -> int | None:
        in_item = self._in_list and line.indent > 1
        found = None if line.indent > _DEEPEST_INDENT or in_item else _ATX.match(line.content)
        if not found:
            return None
        label = plain_words(_ATX_CLOSING.sub("", found[2][:LONGEST_LABEL]))
        self._in_list = False
        return self.add_heading(line.start, line.end, len(found[1]), label)

    def _underline(self, line: Line) -> int | None:
        """The line under a setext heading."""
        if self.kind != "paragraph" or self.lines > _MOST_SETEXT_LINES:
            return None
        if line.indent > _DEEPEST_INDENT or not _SETEXT.match(line.content) or _QUOTE.match(self.text, self.start):
            return None
        self.kind = None
        label = plain_words(self.text[self.start : self.end][:LONGEST_LABEL])
        self._in_list = False
        return self.add_heading(self.start, line.end, 1 if line.content[0] == "=" else 2, label)

    def _dash(self, line: Line) -> int | None:
        return self._underline(line) or self._delimiter(line) or self._bullet(line)

    def _bullet(self, line: Line) -> int | None:
        if not line.indent > _DEEPEST_INDENT and _RULE.match(line.content):
            self._in_list = False
            return self.add("paragraph", line.start, line.end)
        return self._item(line) if _BULLET.match(line.content) else None

    def _number(self, line: Line) -> int | None:
        found = _NUMBER.match(line.content)
        if not found or (self.kind == "paragraph" and found[1] != "1"):
            return None
        return self._item(line)

    def _item(self, line: Line) -> int | None:
        if line.indent > _DEEPEST_INDENT and not self._in_list:
            return None
        self.grow("list", line.start, line.end)
        self._in_list = True
        return line.end

    def _delimiter(self, line: Line) -> int | None:
        """The line below a table's head; the head was taken for the last line of a paragraph."""
        head = self.last_line
        if self.kind != "paragraph" or "|" not in self.text[head : line.start]:
            return None
        if not _DELIMITER_ROW.match(line.content):
            return None
        self.end = head - 1
        if self.lines == 1:
            self.kind = None
        self.grow("table", head, line.end)
        return line.end

    def _fence(self, line: Line) -> int | None:
        found = _FENCE.match(line.content)
        if not found or (line.indent > _DEEPEST_INDENT and not self._in_list):
            return None
        closing = _closing_fence(found[1] or found[2], line.indent).search(self.text, line.end)
        return self.add("code", line.start, closing.end() if closing else len(self.text))

    def _tag(self, line: Line) -> int | None:
        if line.indent > _DEEPEST_INDENT:
            return None
        verbatim = _VERBATIM.match(line.content)
        if verbatim:
            closing = _VERBATIM_CLOSING[verbatim[0].lower()].search(self.text, line.start + verbatim.end())
            end = self.text.find("\n", closing.end()) if closing else -1
            return self.add("html", line.start, len(self.text) if end < 0 else end)
        if _BLOCK_TAG.match(line.content) or (self.kind is None and _LONE_TAG.match(line.content)):
            self.grow("html", line.start, line.end)
            return line.end
        return None

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {
        "#": _heading,
        "=": _underline,
        "-": _dash,
        "*": _bullet,
        "_": _bullet,
        "+": _bullet,
        "`": _fence,
        "~": _fence,
        "<": _tag,
        "|": _delimiter,
        ":": _delimiter,
        **dict.fromkeys("0123456789", _number),
    }

    def _prose(self, start: int, end: int, indent: int) -> int:
        """A line that its first character does not give away, and those below it that go on likewise."""
        kind: BlockKind = self.kind or "paragraph"
        if self.kind is None and indent:
            if self._in_list:
                kind = "list"
            elif indent > _DEEPEST_INDENT:
                kind = "code"
        elif self.kind == "code" and indent <= _DEEPEST_INDENT:
            kind = "paragraph"
        if kind == "paragraph":
            self._in_list = False
        self.grow(kind, start, end)
        more = _PLAIN_LINES.match(self.text, end) if kind != "code" else None
        if more:
            self.lines += more[0].count("\n")
            self.last_line = self.text.rfind("\n", end, more.end()) + 1
            self.end = end = more.end()
        return end


@lru_cache(maxsize=64)
def _closing_fence(fence: str, indent: int) -> re.Pattern[str]:
    margin = indent + _DEEPEST_INDENT
    return re.compile(rf"^[ \t]{{0,{margin}}}{re.escape(fence)}{re.escape(fence[0])}*[ \t]*$", re.MULTILINE)
