"""One message per line: how lines are put together from whatever arrives. Light, for the thin client needs it too."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

__all__ = ["LONGEST_LINE", "Receive", "Send", "lines_of"]

LONGEST_LINE = 64 << 20
_BLOCK = 1 << 16

Receive: TypeAlias = Callable[[int], bytes]
"""Waits for at most so many bytes; none at the end."""
Send: TypeAlias = Callable[[memoryview], int]
"""Writes as much as it can, and tells how much that was."""


def lines_of(receive: Receive) -> Iterator[bytes | None]:
    """The lines, without their ends; None for one that is too long, which is forgotten as it comes."""
    parts: list[bytes] = []
    size = 0
    while block := receive(_BLOCK):
        *ended, rest = block.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line]) if size <= LONGEST_LINE else None
            parts, size = [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= LONGEST_LINE else []
    yield b"".join(parts) if size <= LONGEST_LINE else None
