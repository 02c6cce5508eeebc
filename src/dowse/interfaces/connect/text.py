"""What the editors of texts share: where in a text something is wrong, and the protocol that both fulfil."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

__all__ = ["BadTextError", "Editor", "newline_of"]


class BadTextError(ValueError):
    """A text that cannot be read, or not be changed at the wanted place."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"line {line}: {what}")


class Editor(Protocol):
    """Changes one place of a text and leaves every other character as it is."""

    def read(self, text: str) -> Mapping[str, Any]:
        """All that the text says, without comments.

        Raises:
            BadTextError: it cannot be understood.
        """
        ...

    def put(self, text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
        """The text with these members at a path; what else is there stays, also in an object that was there before.

        Raises:
            BadTextError: it cannot be understood, or something else than an object is in the way.
        """
        ...

    def remove(self, text: str, path: Sequence[str]) -> str:
        """The text without what is at a path.

        Raises:
            BadTextError: it cannot be understood, or not be changed there.
        """
        ...


def newline_of(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"
