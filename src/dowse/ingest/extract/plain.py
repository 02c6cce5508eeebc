"""Plain text: paragraphs between empty lines, and nothing else is assumed."""

import re

from dowse.ingest.extract.blocks import Block, Extracted
from dowse.ingest.extract.encoding import decode

__all__ = ["extract_plain"]

# From a line that has something on it to the last one before an empty line; possessive, because a
# paragraph may have a million lines and each one would be kept for backtracking.
_PARAGRAPH = re.compile(r"^[^\S\n]*+\S.*+(?:\n[^\S\n]*+\S.*+)*+", re.MULTILINE)


def extract_plain(data: bytes, name: str) -> Extracted:
    """Cut plain text into paragraphs."""
    text = decode(data, name)
    blocks = (
        Block("paragraph", found.start(), found.start() + len(found.group().rstrip()))
        for found in _PARAGRAPH.finditer(text)
    )
    return Extracted(text, tuple(blocks))
