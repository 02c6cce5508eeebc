"""Takes the parts of a page as they are finished, and writes them the way Markdown does inside lists and quotes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dowse.ingest.extract.blocks import BlockKind
from dowse.ingest.extract.hypertext.parts import Part, Zone

__all__ = ["Container", "Sink", "fenced"]

_MOST_MARGINS = 8
"""Deeper lists are not indented further, which bounds what an indent can cost."""
_TICKS = re.compile(r"`{3,}")


@dataclass(slots=True, eq=False)
class Container:
    """An open item, definition or quote."""

    marker: str
    """Stands before its first line."""
    indent: str
    """Stands before all others."""
    is_quote: bool = False
    joins: bool = True
    """Whether it follows what is before it without an empty line."""
    is_fresh: bool = True
    """Whether nothing was written to it yet."""
    is_flat: bool = False
    """Whether a heading took its place."""


@dataclass(slots=True)
class _Margins:
    first: str
    rest: str
    kind: BlockKind
    joins: bool


class Sink:
    """Where parts go: the page, or the cell of a table."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.zone = Zone.BODY
        self._containers: list[Container] = []
        self._last_item: Part | None = None

    def enter_cell(self, parts: list[Part]) -> tuple[list[Part], list[Container]]:
        """Write to a cell from here on; returns what `leave_cell` goes back to."""
        before = self.parts, self._containers
        self.parts, self._containers = parts, []
        return before

    def leave_cell(self, before: tuple[list[Part], list[Container]]) -> None:
        """Write to where the cell stands again."""
        self.parts, self._containers = before

    def enter(self, container: Container) -> None:
        """An item, a definition or a quote begins."""
        self._containers.append(container)

    def leave(self, container: Container) -> None:
        """It ends."""
        if container in self._containers:
            self._containers.remove(container)

    def begin_list(self) -> None:
        """A list begins; the items of two lists are not joined."""
        if not self._containers:
            self._last_item = None

    def heading(self, level: int, text: str, words: int) -> None:
        """Write a heading. One in a list takes the item's place, one in a quote is part of what is quoted."""
        if any(container.is_quote for container in self._containers):
            self.write("paragraph", text, words)
            return
        for container in self._containers:
            container.marker = container.indent = ""
            container.is_flat = True
        self.parts.append(Part("heading", " ".join(text.split()), self.zone, level, words=words))

    def write(self, kind: BlockKind, text: str, words: int) -> None:
        """Write anything else."""
        margins = self._margins()
        part = Part(margins.kind if kind == "paragraph" else kind, _indented(text, margins), self.zone, 0, words=words)
        if part.kind in {"list", "paragraph"} and self._containers:
            part.joins = margins.joins and bool(self.parts) and self.parts[-1] is self._last_item
            self._last_item = part
        self.parts.append(part)

    def code(self, text: str, language: str) -> None:
        """Write what stood in a `pre`."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").replace("\0", "\ufffd")
        lines = [line.rstrip() for line in text.split("\n")]
        while lines and not lines[0]:
            del lines[0]
        text = "\n".join(lines).rstrip()
        if text:
            self.write("code", fenced(text, language), len(text))

    def table(self, parts: Iterable[Part]) -> None:
        """Write what a table came to."""
        for part in parts:
            if part.kind != "heading" and self._containers:
                part.text = _indented(part.text, self._margins())
                part.joins = False
            self.parts.append(part)

    def _margins(self) -> _Margins:
        first = rest = ""
        joins = False
        is_item = False
        for container in self._containers[:_MOST_MARGINS]:
            first += container.marker if container.is_fresh else container.indent
            rest += container.indent
            joins = container.is_fresh and container.joins
            is_item = is_item or not container.is_flat
            container.is_fresh = False
        is_item = is_item and not self._containers[0].is_quote
        return _Margins(first, rest, "list" if is_item else "paragraph", joins)


def fenced(text: str, language: str = "") -> str:
    """Code between fences that it does not hold itself."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _indented(text: str, margins: _Margins) -> str:
    if not margins.first and not margins.rest:
        return text
    first, *others = text.split("\n")
    return "\n".join([f"{margins.first}{first}", *(f"{margins.rest}{line}".rstrip() for line in others)])
