"""The sections of a document: what stands between two headings in one unit, with the headings above it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dowse.ingest.extract import Block, Unit

__all__ = ["Section", "sections"]


class Section(NamedTuple):
    """The blocks that chunks may be made of together."""

    headings: tuple[str, ...]
    """Its own heading and those above it, outermost first."""
    blocks: list[Block]
    level: int = 0
    """The depth of its own heading."""
    unit: int = 0
    """Which of the document's units it lies in."""


def sections(blocks: Iterable[Block], units: Sequence[Unit] = ()) -> Iterator[Section]:
    """Cut a document at its headings and where its units meet; a heading reaches on into the next unit.

    A heading that is directly followed by a deeper one has nothing of its own to say: it opens the
    deeper section's first chunk instead of being a chunk without a body. Front matter is a section of
    its own, under no heading.
    """
    path: list[tuple[int, str]] = []
    current: list[Block] = []
    has_body = False
    unit = 0
    for block in blocks:
        if unit + 1 < len(units) and block.start >= units[unit + 1].start:
            if current:
                yield _section(path, current, unit)
                current = []
            has_body = False
            while unit + 1 < len(units) and block.start >= units[unit + 1].start:
                unit += 1
        if block.kind == "heading":
            deeper = not path or block.level > path[-1][0]
            if current and (has_body or not deeper):
                yield _section(path, current, unit)
                current = []
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.label))
            has_body = False
        elif current and current[-1].kind == "front matter":
            yield Section((), current, 0, unit)
            current = []
            has_body = True
        else:
            has_body = True
        current.append(block)
    if current:
        yield _section(path, current, unit)


def _section(path: list[tuple[int, str]], blocks: list[Block], unit: int) -> Section:
    labelled = [(level, label) for level, label in path if label]
    return Section(tuple(label for _, label in labelled), blocks, labelled[-1][0] if labelled else 0, unit)
