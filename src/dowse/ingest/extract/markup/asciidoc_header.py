"""The header of an AsciiDoc file: its title, authors, revision and attributes; and the words of a title."""

import re
from collections.abc import Iterator, Mapping

from dowse.ingest.extract.markup.fields import metadata_of
from dowse.ingest.extract.scanner import LONGEST_LABEL
from dowse.types import MetadataValue

__all__ = ["label_of", "read_header"]

_MOST_LINES = 200
_TITLE = re.compile(r"[=#][ \t]+(\S.*)")
_ENTRY = re.compile(r":(?!title:)(?P<name>[\w][\w-]*):[ \t]+(?P<value>\S.*)")
_AUTHOR = re.compile(r"(?P<name>[^\W\d_][\w.'-]*(?: +[\w.'-]+){0,4})\s*(?:<(?P<email>[^<>\s]+)>)?")
_REVISION = re.compile(r"(?:v(?P<number>[\w.-]+)|(?P<plain>\d[\w.-]*)(?=,))?,?\s*(?P<date>[^:\d]*\d[^:]*?)?\s*(?::.*)?")
_LAYOUT = re.compile(r"toc|sect|icons|source-highlighter|imagesdir|experimental|idprefix|idseparator|stem|xrefstyle")
"""Attributes that only say how pages look."""

_INLINE = re.compile(
    r"""
      \[\[[^\[\]]*\]\]                                          # anchors
    | `\+(?P<literal>.+?)\+`
    | <<[^<>,]*,\s*(?P<reference>[^<>]+)>>
    | (?:btn:|footnote:|ftp:|https?:|icon:|image:|kbd:|link:|mailto:|menu:|xref:)[^\s\[\]]*\[(?P<link>[^\[\]]*)\]
    | \{(?P<attribute>[\w-]+)\}
    | (?<![\w\\])[`*_\#^~]+(?=\S) | (?<=[^\s\\])[`*_\#^~]+(?!\w)
    | \\(?=[^\w\s])
    """,
    re.VERBOSE,
)


def read_header(text: str, position: int = 0) -> dict[str, MetadataValue]:
    """What the lines from here to the first empty one below the title say; empty where there is no header."""
    return metadata_of(_entries(text, position))


def _entries(text: str, position: int) -> Iterator[tuple[str, str]]:
    title = ""
    known: dict[str, str] = {}
    unnamed = 0
    for line in _lines(text, position):
        entry = _ENTRY.fullmatch(line)
        found = _TITLE.fullmatch(line)
        if entry:
            known[entry["name"]] = entry["value"]
            if not _LAYOUT.match(entry["name"]):
                yield entry["name"], entry["value"]
        elif line.startswith(("//", ":")) or (not line and not title):
            continue
        elif found and not title:
            title = label_of(found[1], known)
            yield "title", title
        elif not line or not title:
            return
        else:
            unnamed += 1
            yield from _people(line) if unnamed == 1 else _revision(line)


def _lines(text: str, position: int) -> Iterator[str]:
    """The first lines, those that end in a backslash joined to the next."""
    joined = ""
    for _ in range(_MOST_LINES):
        if position >= len(text):
            break
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].strip()
        position = end + 1
        if line.endswith(" \\") and (joined or line.startswith(":")):
            joined += line[:-1]
        else:
            yield joined + line
            joined = ""


def _people(line: str) -> Iterator[tuple[str, str]]:
    for part in line.split(";"):
        found = _AUTHOR.fullmatch(part.strip())
        if found:
            yield "author", found["name"].replace("_", " ")
            if found["email"]:
                yield "email", found["email"]


def _revision(line: str) -> Iterator[tuple[str, str]]:
    found = _REVISION.fullmatch(line)
    if found:
        yield "revnumber", found["number"] or found["plain"] or ""
        yield "revdate", found["date"] or ""


def label_of(title: str, attributes: Mapping[str, object]) -> str:
    """The words of a title as a reader sees them, with the attributes of the header in their places."""

    def visible(found: re.Match[str]) -> str:
        if found["attribute"]:
            value = attributes.get(found["attribute"])
            return value if isinstance(value, str) else found[0]
        return found["literal"] or found["reference"] or found["link"] or ""

    return " ".join(_INLINE.sub(visible, title[:LONGEST_LABEL]).split())[:LONGEST_LABEL]
