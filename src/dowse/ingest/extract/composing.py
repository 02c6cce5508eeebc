"""Puts together the text of a format that is not text by itself, with the blocks and units of it.

A reader of such a format says what comes next (a heading, a paragraph, a page); this keeps the offsets,
writes headings as Markdown does, and stops where the text would outgrow what its source can account for.
"""

from collections.abc import Mapping
from types import MappingProxyType

from dowse.ingest.extract.blocks import Block, BlockKind, Extracted, Unit
from dowse.types import MetadataValue

__all__ = ["Composer"]

_MOST_CHARACTERS = 50_000_000
_MOST_PER_BYTE = 20
_ALWAYS = 1_000_000
_DEEPEST_HEADING = 6
_LONGEST_LABEL = 300
_NOWHERE: Mapping[str, MetadataValue] = MappingProxyType({})


class Composer:
    """The text that a reader writes; `size` is that of the source in bytes and bounds the text."""

    __slots__ = ("_blocks", "_length", "_reasons", "_room", "_texts", "_units")

    def __init__(self, size: int) -> None:
        self._room = min(_MOST_CHARACTERS, _MOST_PER_BYTE * size + _ALWAYS)
        self._texts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._units: list[Unit] = []
        self._reasons: dict[str, None] = {}

    @property
    def full(self) -> bool:
        """Whether everything from here on is left out, so that a reader may stop."""
        return self._room <= 0

    def unit(self, page: int | None = None, place: Mapping[str, MetadataValue] = _NOWHERE) -> None:
        """Begin a page, a slide, a sheet; one that nothing is written to leaves no trace."""
        if self._units and self._units[-1].start == self._length:
            self._units.pop()
        self._units.append(Unit(self._length, page, place))

    def heading(self, level: int, words: str, label: str | None = None) -> None:
        """Write a heading; the words are put on one line, and without any nothing is written.

        Args:
            level: 1 is the outermost; those beyond 6 are 6.
            words: As they stand in the text.
            label: The same without links and marks of notes, where there are any.
        """
        words = " ".join(words.split())
        level = max(1, min(level, _DEEPEST_HEADING))
        if words:
            label = " ".join((words if label is None else label).split())
            self._write("heading", f"{'#' * level} {words}", level, label[:_LONGEST_LABEL].rstrip())

    def block(self, kind: BlockKind, text: str) -> None:
        r"""Write a block; lines end in `\n`, and one without any character to read is left out."""
        text = text.strip("\n").rstrip()
        if text:
            self._write(kind, text)

    def cut(self, reason: str) -> None:
        """Remember that something was left out, and why."""
        self._reasons[reason] = None

    def extracted(self, title: str | None = None, metadata: Mapping[str, MetadataValue] = _NOWHERE) -> Extracted:
        """Everything that was written."""
        if self._units and self._units[-1].start == self._length and len(self._units) > 1:
            self._units.pop()
        title = " ".join(title.split())[:_LONGEST_LABEL].rstrip() if title else None
        said: dict[str, MetadataValue] = dict(metadata)
        if self._reasons:
            said |= {"truncated": True, "truncated_reason": "; ".join(self._reasons)}
        return Extracted("".join(self._texts), tuple(self._blocks), title or None, said, tuple(self._units))

    def _write(self, kind: BlockKind, text: str, level: int = 0, label: str = "") -> None:
        if len(text) > self._room:
            self.cut("the text is longer than the limit")
            text = text[: max(self._room, 0)].rstrip()
            self._room = 0
            if not text:
                return
        start = self._length
        self._blocks.append(Block(kind, start, start + len(text), level, label))
        self._texts += (text, "\n\n")
        self._length = start + len(text) + 2
        self._room -= len(text)
