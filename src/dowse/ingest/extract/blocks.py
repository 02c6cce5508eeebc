"""What an extractor hands on: the text, what it says of itself, and where its parts begin and end.

Extractors know the structure of their format while they read it; blocks carry that to the chunker, so
that nothing is parsed twice and the chunker knows no formats. A format that adds a kind of block adds
its row to the chunker's table of cuts.
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal, NamedTuple

from dowse.records import record
from dowse.types import MetadataValue

__all__ = ["Block", "BlockKind", "Extracted", "Unit"]

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "html", "front matter"]


class Block(NamedTuple):
    """A span of the text that belongs together; a tuple, because a large folder has millions.

    Starts at the start of a line and ends after a character that is not white space.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 is the outermost."""
    label: str = ""
    """Of a heading: its words without markup."""


class Unit(NamedTuple):
    """A part of the text that shares no chunk with its neighbours: a page, a slide, a sheet, a message, a function."""

    start: int
    """It reaches to the start of the next one; no block lies across that."""
    page: int | None = None
    place: Mapping[str, MetadataValue] = MappingProxyType({})
    """What its chunks say of their place, besides the page."""


@record
class Extracted:
    """The readable content of one source."""

    text: str
    """Lines end in `\\n` alone, so that line N here is line N in any editor."""
    blocks: tuple[Block, ...]
    """In order, without overlap; only white space lies between them."""
    title: str | None = None
    """The title that the content itself gives."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    units: tuple[Unit, ...] = ()
    """In order, the first one at 0; none: the text is one unit, without a place of its own."""
