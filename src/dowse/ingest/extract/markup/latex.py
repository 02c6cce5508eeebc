"""LaTeX: the file as it is, cut into blocks by its lines.

Sectioning commands that begin a line are headings, with levels from the outermost one that the file uses.
Environments that show text as it is are code, tables are tables; everything else is read in paragraphs,
mathematics and comments included. What stands before the document begins is front matter: macros,
packages, title and authors, where no heading is looked for.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.markup.fields import metadata_of
from dowse.ingest.extract.markup.latex_words import closing_brace, plain_words
from dowse.ingest.extract.scanner import DEEPEST_LEVEL, LONGEST_LABEL, Line, Scanner

__all__ = ["extract_latex"]

_RANKS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_FRAME_RANK = _RANKS.index("paragraph")
_MOST_AUTHORS = 64
_MOST_FAILURES = 1_000
"""After so many headings that never close, no more are looked for: each search costs a little."""

# With the lines below it that only say how pages look, so that they are no passage of their own.
_BEGIN_DOCUMENT = re.compile(
    r"^[ \t]*\\begin[ \t]*\{document\}(?:\s*\\(?:maketitle|tableofcontents|listof\w+|(?:front|main)matter"
    r"|page(?:style|numbering)\{\w+\}|thispagestyle\{\w+\}|(?:clear|new)page|doublespacing|linenumbers)[ \t]*$)*",
    re.MULTILINE,
)
_BEFORE = r"(?:\\(?:clearpage|cleardoublepage|newpage|pagebreak|phantomsection|FloatBarrier|appendix)[ \t]*)*"
_HEADING = re.compile(rf"[ \t]*{_BEFORE}\\(?:({'|'.join(_RANKS)})\*?|(frametitle))[ \t]*(?:<[^<>\n]*>)?(?=[\[{{])")
_FRAME = re.compile(r"[ \t]*\\begin\{frame\}(?:<[^<>\n]*>)?(?:\[[^\]\n]*\])*(?=\{)")
_NAMED_SECTION = re.compile(r"\\begin\{(abstract|thebibliography)\}")
_SECTION_NAMES = {"abstract": "Abstract", "thebibliography": "References"}
_ENVIRONMENT = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")
_LIST = re.compile(r"\\(?:item\b|begin\{(?:itemize|enumerate|description)\})")
_ONE_BLOCK: Mapping[BlockKind, str] = {
    "code": "verbatim verbatim* Verbatim lstlisting minted alltt filecontents filecontents* tikzpicture Sinput Soutput",
    "table": "table table* tabular tabular* tabularx tabulary longtable sidewaystable supertabular",
    "paragraph": "comment",
}
_KINDS = {name: kind for kind, names in _ONE_BLOCK.items() for name in names.split()}
_ARGUMENTS = {
    name: re.compile(rf"^(?:[^%\n\\]|\\(?!{name}\b).)*+\\{name}[ \t]*(?=[\[{{])", re.MULTILINE)
    for name in ("title", "author", "date", "keywords")
}
"""The commands that say what the document is, outside comments."""
_AND = re.compile(r"\\(?:and|And|AND)\b")


def extract_latex(data: bytes, name: str) -> Extracted:
    """Read a LaTeX file: sections, code and tables, title, authors and date."""
    text = decode(data, name)
    begin = _BEGIN_DOCUMENT.search(text)
    preamble = text.find("\n", begin.end()) if begin else 0
    preamble = len(text) if preamble < 0 else preamble
    blocks = _relevelled(_Scanner(text).scan(preamble))
    if begin:
        blocks.insert(0, Block("front matter", 0, len(text[:preamble].rstrip())))
    metadata = metadata_of(_fields(text))
    title = metadata.get("title")
    return Extracted(text, tuple(blocks), title if isinstance(title, str) else _first_label(blocks), metadata)


def _relevelled(blocks: list[Block]) -> list[Block]:
    """Ranks become levels: the outermost one in use is 1."""
    above = min((block.level for block in blocks if block.level), default=1) - 1
    return [block._replace(level=min(block.level - above, DEEPEST_LEVEL)) if block.level else block for block in blocks]


def _first_label(blocks: list[Block]) -> str | None:
    return next((block.label for block in blocks if block.label), None)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for name, pattern in _ARGUMENTS.items():
        commands = pattern.finditer(text) if f"\\{name}" in text else iter(())
        for found in islice(commands, _MOST_AUTHORS if name == "author" else 1):
            argument = _argument(text, found.end())
            value = text[argument[0] : argument[1]] if argument else ""
            if name == "author":
                # Below the name, in the same box, stand affiliations and addresses.
                yield from ((name, plain_words(part.partition("\\\\")[0])) for part in _AND.split(value))
            elif "\\today" not in value:
                yield name, plain_words(value)


def _argument(text: str, position: int) -> tuple[int, int] | None:
    """The span inside the braces of a command's argument, after an optional one in brackets."""
    if text[position] == "[":
        closing = closing_brace(text, position, "[]")
        if closing is None:
            return None
        position = closing + 1
        while text[position : position + 1].isspace():
            position += 1
    closing = closing_brace(text, position) if text.startswith("{", position) else None
    return None if closing is None else (position + 1, closing)


class _Scanner(Scanner):
    __slots__ = ("_endless", "_failures")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._endless: set[str] = set()
        """Environments that end nowhere below."""
        self._failures = 0

    def _command(self, line: Line) -> int | None:
        return self._heading(line) or self._environment(line) or self._item(line)

    def _heading(self, line: Line) -> int | None:
        """A heading is the line of its command, with whatever else stands on it."""
        named = _NAMED_SECTION.match(line.content)
        if named:
            return self.add_heading(line.start, line.end, _RANKS.index("section") + 1, _SECTION_NAMES[named[1]])
        if self._failures > _MOST_FAILURES:
            return None
        found = _HEADING.match(self.text, line.start) or _FRAME.match(self.text, line.start)
        if not found:
            return None
        argument = _argument(self.text, found.end())
        if argument is None:
            self._failures += 1
            return None
        name = found[1] if found.re is _HEADING else None
        rank = _RANKS.index(name) if name else _FRAME_RANK
        label = plain_words(self.text[argument[0] : argument[1]])[:LONGEST_LABEL]
        end = self.text.find("\n", argument[1])
        end = len(self.text) if end < 0 else end
        self.close()
        trimmed = line.start + len(self.text[line.start : end].rstrip())
        self.blocks.append(Block("heading", line.start, trimmed, rank + 1, label))
        return end

    def _environment(self, line: Line) -> int | None:
        found = _ENVIRONMENT.match(line.content)
        name = found[1] if found else ""
        if name not in _KINDS or name in self._endless:
            return None
        closing = self.text.find(f"\\end{{{name}}}", line.start)
        if closing < 0:
            self._endless.add(name)
            return None
        end = self.text.find("\n", closing)
        return self.add(_KINDS[name], line.start, len(self.text) if end < 0 else end)

    def _item(self, line: Line) -> int | None:
        if not _LIST.match(line.content):
            return None
        self.grow("list", line.start, line.end)
        return line.end

    READERS: ClassVar[Mapping[str, Callable[[Any, Line], int | None]]] = {"\\": _command}
