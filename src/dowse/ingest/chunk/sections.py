"""The sections of a document: what stands between two headings, with the headings above it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dowse.ingest.extract import Block

__all__ = ["Section", "sections"]


class Section(NamedTuple):
    """The blocks that chunks may be made of together."""

    headings: tuple[str, ...]
    """Its own heading and those above it, outermost first."""
    blocks: list[Block]


def sections(blocks: Iterable[Block]) -> Iterator[Section]:
    """Cut a document at its headings.

    A heading that is directly followed by a deeper one has nothing of its own to say: it opens the
    deeper section's first chunk instead of being a chunk without a body. Front matter is a section of
    its own, under no heading.
    """
    path: list[tuple[int, str]] = []
    current: list[Block] = []
    has_body = False
    for block in blocks:
        if block.kind == "heading":
            deeper = not path or block.level > path[-1][0]
            if current and (has_body or not deeper):
                yield Section(_labels(path), current)
                current = []
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.label))
            has_body = False
        elif current and current[-1].kind == "front matter":
            yield Section((), current)
            current = []
            has_body = True
        else:
            has_body = True
        current.append(block)
    if current:
        yield Section(_labels(path), current)


def _labels(path: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(label for _, label in path if label)
