"""YAML: text as it is, cut along documents, keys and items, by the indent of its lines.

The lines decide, not a parser, so that templates, broken files and anchors by the million are read like any
others. A small file is also parsed for its structure, never into values, to say whether it is damaged.
"""

import re

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.data.entries import Entry, arrange
from dowse.ingest.extract.encoding import decode
from dowse.types import MetadataValue

__all__ = ["extract_yaml"]

_LEVELS = 6
_LONGEST_NAME = 200
_LONGEST_CHECKED = 256 * 1024
_DEEPEST_CHECKED = 200
_LINE = re.compile(r"^(?P<indent> *)(?P<content>\S.*)$", re.MULTILINE)
_MARK = re.compile(r"---(?=\s|$)|%[A-Z]")
_NAME = re.compile(r"""(?:"(?P<double>[^"\n]*)"\s*|'(?P<single>[^'\n]*)'\s*|(?P<plain>[^\s#:][^:\n]*+)):(?:\s|$)""")
_TITLE = re.compile(
    r"""^title:[ \t]+(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<plain>[^\s|>&*!#].*?))[ \t]*(?:\s#.*)?$""",
    re.MULTILINE,
)


def extract_yaml(data: bytes, name: str) -> Extracted:
    """Read a YAML file of one or several documents."""
    text = decode(data, name)
    scan = _Scan(text)
    blocks, units = arrange(text, scan.entries, scan.borders)
    return Extracted(text, blocks, _title(text), _metadata(text, scan), units)


def _metadata(text: str, scan: "_Scan") -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {"documents": scan.documents} if scan.documents > 1 else {}
    if _is_damaged(text):
        metadata["damaged"] = True
    return metadata


def _title(text: str) -> str | None:
    found = _TITLE.search(text)
    words = (found["double"] or found["single"] or found["plain"]) if found else ""
    return " ".join(words[:_LONGEST_NAME].split()) or None


class _Scan:
    """What one pass over the lines finds: entries at the left margin, and borders inside them by indent."""

    def __init__(self, text: str) -> None:
        self.entries: list[Entry] = []
        self.documents = 0
        self._indents: dict[int, list[int]] = {}
        self._items = 0
        self._keyed = self._in_document = False
        before = 0
        waiting: int | None = None
        """Where the comments and marks above the next line begin, which belong to that line."""
        for found in _LINE.finditer(text):
            indent, content = len(found["indent"]), found["content"]
            start = found.start() if waiting is None else waiting
            if content[0] == "#" or (not indent and content[0] in "-%" and _MARK.match(content)):
                if content[0] == "-":
                    self._in_document = False
                waiting = start
                continue
            waiting = None
            if not self._in_document:
                self._begin_document(start)
            if indent:
                if indent <= before:
                    self._indents.setdefault(indent, []).append(start)
            else:
                self._at_margin(start, content)
            before = indent
        self.borders = [self._indents[indent] for indent in sorted(self._indents)[:_LEVELS]]
        if self.documents == 1:
            self.entries = [entry._replace(document=0) for entry in self.entries]

    def _begin_document(self, start: int) -> None:
        self.documents += 1
        self.entries.append(Entry(start, "", self.documents))
        self._items = 0
        self._keyed = False
        self._in_document = True

    def _at_margin(self, start: int, content: str) -> None:
        is_item = content == "-" or content.startswith("- ")
        if is_item and self._keyed:
            self._indents.setdefault(0, []).append(start)
        elif is_item:
            self._add(start, f"[{self._items}]")
            self._items += 1
        elif content[0] not in "]}." and (found := _NAME.match(content)):
            self._keyed = True
            self._add(start, (found["double"] or found["single"] or (found["plain"] or "").rstrip())[:_LONGEST_NAME])

    def _add(self, start: int, name: str) -> None:
        if self.entries[-1].start == start:
            self.entries[-1] = self.entries[-1]._replace(name=name)
        else:
            self.entries.append(Entry(start, name, self.documents))


def _is_damaged(text: str) -> bool:
    """Whether a small file is no YAML; one that is too large or nests too deep is not looked at."""
    if len(text) > _LONGEST_CHECKED:
        return False
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEEPEST_CHECKED:
                    return False
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except Exception:  # noqa: BLE001 - besides YAMLError, whatever the bindings say of odd characters
        return True
    return False
