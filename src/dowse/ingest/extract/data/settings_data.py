"""TOML, INI and properties: text as it is, cut along its tables or sections, and in long ones along keys."""

import re
import tomllib

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.data.entries import Entry, arrange
from dowse.ingest.extract.encoding import decode
from dowse.types import MetadataValue

__all__ = ["extract_ini", "extract_toml"]

_LONGEST_NAME = 200
_LONGEST_CHECKED = 256 * 1024
_MOST_DOTS = 500
"""In one line: the parser's time grows with the square of a key's parts."""

# Strings may hold anything; one that never closes reaches to the end of its line or of the text, so that
# nothing is looked at twice.
_TOML_LINE = re.compile(
    r"""
      \"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3}|\Z) | '{3}(?:[^']|'(?!''))*+(?:'{3}|\Z)
    | "(?:[^"\\\n]|\\.)*+"?+ | '[^'\n]*+'?+
    | (?P<comment>(?:^[ \t]*+\#[^\n]*+\n)++) | \#[^\n]*+
    | ^[ \t]*+\[\[?(?P<table>[^\[\]\n,]++)\]\]?[ \t]*+(?=\#|$)
    | ^(?P<key>[A-Za-z0-9_-]++)[ \t]*[=.]
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_INI_LINE = re.compile(
    r"(?P<comment>(?:^[ \t]*+[#;!][^\n]*+\n)++)|^[ \t]*+\[(?P<table>[^\]\n]+)\]|^(?P<key>[^\s=:#;!\[][^=:\n]*+)[=:]",
    re.MULTILINE,
)


def extract_toml(data: bytes, name: str) -> Extracted:
    """Read a TOML file; a small one is also parsed, to know its title and whether it is damaged."""
    text = decode(data, name)
    tree: dict[str, object] = {}
    metadata: dict[str, MetadataValue] = {}
    if len(text) <= _LONGEST_CHECKED and all(line.count(".") < _MOST_DOTS for line in text.split("\n")):
        try:
            tree = tomllib.loads(text)
        except RecursionError:
            pass  # nested too deep to be looked at, which is not to say that it is damaged
        except ValueError:
            metadata["damaged"] = True
    title = tree.get("title")
    words = " ".join(title[:_LONGEST_NAME].split()) if isinstance(title, str) else ""
    return _arranged(text, _TOML_LINE, words or None, metadata)


def extract_ini(data: bytes, name: str) -> Extracted:
    """Read a file of sections in brackets with lines of `key = value`."""
    return _arranged(decode(data, name), _INI_LINE, None, {})


def _arranged(text: str, pattern: re.Pattern[str], title: str | None, metadata: dict[str, MetadataValue]) -> Extracted:
    entries: list[Entry] = []
    keys: list[int] = []
    comment = -1, -1
    """Start and end of the last comment on lines of its own: it belongs to what follows directly."""
    for found in pattern.finditer(text):
        kind = found.lastgroup
        start = comment[0] if comment[1] == found.start() else found.start()
        if kind == "comment":
            comment = found.span()
        elif kind == "table":
            entries.append(Entry(start, found["table"].strip()[:_LONGEST_NAME]))
        elif kind == "key":
            keys.append(start)
    if entries and keys and keys[0] < entries[0].start:
        entries.insert(0, Entry(0))
    blocks, units = arrange(text, entries, [keys])
    return Extracted(text, blocks, title, metadata, units)
