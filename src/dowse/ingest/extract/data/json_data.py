r"""JSON, JSON Lines and GeoJSON: text as it is, cut along keys, items and records.

The text is scanned for brackets, commas and strings, never parsed into values: nothing nests too deep,
nothing is refused, and comments and trailing commas, which many tools allow, do no harm. A file whose
brackets do not match is marked as damaged and read all the same. Two things change in the text, neither
of them a line where lines can be read at all: `\u00e9` becomes the letter that it stands for, and a file
with lines of more than 2,000 characters is indented anew (`reformatted` says so); one of JSON Lines, where
a line is a record, only if most of it is in such lines.
"""

import json
import re
from itertools import accumulate

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.data.entries import Entry, arrange
from dowse.ingest.extract.data.json_format import OPEN_STRING, STRING, is_crowded, reindent
from dowse.ingest.extract.encoding import decode
from dowse.types import MetadataValue

__all__ = ["extract_json", "extract_json_lines"]

_LEVELS = 8
"""How many levels of nesting a long entry is cut at."""
_LONGEST_NAME = 200
_SHORT_ESCAPE = len(r"\n")

# Comments always match, to the end of the text if need be: nothing is looked at twice.
_TOKEN = re.compile(rf"{OPEN_STRING}(?P<closed>\"|)|[\[\]{{}},]|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)")
_REST_OF_LINE = re.compile(r"[^\S\n]*+(?://[^\n]*+)?\n")
_KEY = re.compile(rf"(?:\s++|//[^\n]*+)*+(?P<key>{STRING})\s*+:\s*+(?P<value>{STRING})?")
_CLOSES = {"[": "]", "{": "}"}
_CLOSER = re.compile(r"\s*+[\]}]")
_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})*+|.)")
_VALUE = re.compile(r"\s*+(?:[\[{\"\d/-]|true\b|false\b|null\b|NaN\b|Infinity\b)")


def extract_json(data: bytes, name: str) -> Extracted:
    """Read a file with one JSON value."""
    text = _readable(decode(data, name))
    is_value = bool(_VALUE.match(text))
    crowded = is_value and is_crowded(text)
    if crowded:
        text = reindent(text)
    scan = _Scan(text)
    blocks, units = arrange(text, scan.entries, scan.borders)
    damaged = scan.damaged or not (is_value or text.isspace() or not text)
    metadata = _flags(damaged=damaged, reformatted=crowded)
    if scan.is_list:
        metadata["records"] = scan.items
    return Extracted(text, blocks, scan.title, metadata, units)


def extract_json_lines(data: bytes, name: str) -> Extracted:
    """Read a file with one JSON value per line; a large one is a unit that tells the number of its record."""
    text = _readable(decode(data, name))
    lines = text.split("\n")
    crowded = 2 * sum(len(line) for line in lines if is_crowded(line)) > len(text)
    damaged = not all(map(_looks_whole, lines))
    shown = [reindent(line) for line in lines] if crowded else lines
    text = "\n".join(shown)
    starts = accumulate((len(line) + 1 for line in shown), initial=0)
    records = [start for start, line in zip(starts, shown, strict=False) if line and not line.isspace()]
    entries = [Entry(start, number) for number, start in enumerate(records, 1)]
    blocks, units = arrange(text, entries, _Scan(text).borders if crowded else (), "record")
    metadata = {"records": len(entries)} | _flags(damaged=damaged, reformatted=crowded)
    return Extracted(text, blocks, None, metadata, units)


def _flags(**flags: bool) -> dict[str, MetadataValue]:
    return {name: True for name, value in flags.items() if value}


def _looks_whole(line: str) -> bool:
    """Whether a record ends with what closes what it begins with."""
    line = line.strip()
    if not line:
        return True
    closing = _CLOSES.get(line[0])
    return line.endswith(closing) if closing else bool(_VALUE.match(line))


def _readable(text: str) -> str:
    r"""Letters instead of `\u` and their number, where they are letters that can be shown as they are."""
    return _ESCAPES.sub(_letters, text) if "\\u" in text else text


def _letters(found: re.Match[str]) -> str:
    escapes = found[0]
    if len(escapes) == _SHORT_ESCAPE:
        return escapes
    letters: str = json.loads(f'"{escapes}"')
    return "".join(
        letter if letter.isprintable() and letter not in '"\\' else json.dumps(letter)[1:-1] for letter in letters
    )


class _Scan:
    """What one pass over the tokens of a text finds: entries begin after a comma at the end of a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[str] = []
        """What will close the containers that are open."""
        self.entries: list[Entry] = []
        self.borders: list[list[int]] = [[] for _ in range(_LEVELS)]
        self.damaged = False
        self.is_list = False
        self.items = 0
        self.title: str | None = None
        self._roots = 0
        for found in _TOKEN.finditer(text):
            mark = found[0]
            if mark == ",":
                if 0 < len(self._stack) <= _LEVELS + 1:
                    self._comma(found.end())
            elif mark in _CLOSES:
                self._open(mark, found.end())
            elif mark in _CLOSES.values():
                self.damaged |= not self._stack or self._stack.pop() != mark
            elif found["closed"] == "":
                self.damaged = True
        self.damaged |= bool(self._stack) or self._roots > 1

    def _open(self, mark: str, end: int) -> None:
        self._stack.append(_CLOSES[mark])
        if len(self._stack) > 1:
            return
        self._roots += 1
        self.is_list = mark == "[" and self._roots == 1
        if not _CLOSER.match(self._text, end):
            self._begin(0 if self._roots == 1 else None, end)

    def _comma(self, end: int) -> None:
        rest = _REST_OF_LINE.match(self._text, end)
        depth = len(self._stack)
        if depth > 1:
            if rest:
                self.borders[depth - 2].append(rest.end())
        elif not _CLOSER.match(self._text, end):
            self._begin(rest.end() if rest else None, end)

    def _begin(self, start: int | None, position: int) -> None:
        """An entry of the outermost level, which begins here if it has its own line."""
        self.items += 1
        name = f"[{self.items - 1}]"
        if not self.is_list:
            found = _KEY.match(self._text, position)
            name = _string(found["key"])[:_LONGEST_NAME] if found else ""
            if found and found["value"] and name == "title":
                self.title = self.title or " ".join(_string(found["value"])[:_LONGEST_NAME].split()) or None
        if start is not None:
            self.entries.append(Entry(start, name))


def _string(string: str) -> str:
    if "\\" not in string:
        return string[1:-1]
    try:
        value = str(json.loads(string, strict=False))
    except ValueError:
        value = string[1:-1]
    return value.encode("utf-8", "replace").decode()
