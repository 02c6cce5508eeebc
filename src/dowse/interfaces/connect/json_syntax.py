"""JSON with comments and trailing commas, read into values that know where they stand."""

import json
import re
from typing import Any

from dowse.interfaces.connect.text import BadTextError
from dowse.records import record

__all__ = ["Member", "Node", "line_at", "parse"]

_DEEPEST = 200
"""Levels; a file of settings has a handful."""
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_SCALAR = re.compile(
    r'"(?:[^"\\\x00-\x1f]++|\\.)*+"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)'
)


@record
class Member:
    """`"key": value` and the comma after it, if there is one."""

    key: str
    start: int
    value: "Node"
    comma: int | None


@record
class Node:
    """A value and its place; `members` is None where it is no object."""

    start: int
    end: int
    data: Any
    members: tuple[Member, ...] | None = None

    def member(self, key: str) -> Member | None:
        """The last member of this name: the one that counts."""
        return next((each for each in reversed(self.members or ()) if each.key == key), None)


def line_at(text: str, position: int) -> int:
    """The number of the line, from 1, that a position is in."""
    return text.count("\n", 0, position) + 1


def parse(text: str) -> Node | None:
    """The value that a text consists of; None where there is nothing but white space and comments.

    Raises:
        BadTextError: it is no JSON.
    """
    reader = _Reader(text)
    start = reader.blank(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    end = reader.blank(node.end)
    if end < len(text):
        raise reader.unexpected(end, "the end")
    return node


class _Reader:
    """Reads values from one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def blank(self, position: int) -> int:
        """Where white space and comments end."""
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def unexpected(self, position: int, wanted: str) -> BadTextError:
        there = repr(self.text[position]) if position < len(self.text) else "the end"
        return BadTextError(f"{wanted} is missing where {there} is", line_at(self.text, position))

    def value(self, position: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise BadTextError("this is nested too deeply", line_at(self.text, position))
        if self.text.startswith("{", position):
            return self._object(position, depth)
        if self.text.startswith("[", position):
            return self._array(position, depth)
        return self._scalar(position)

    def _scalar(self, position: int) -> Node:
        found = _SCALAR.match(self.text, position)
        if not found:
            raise self.unexpected(position, "a value")
        try:
            return Node(position, found.end(), json.loads(found[0]))
        except ValueError as error:  # a wrong escape, a number beyond what can be read
            raise BadTextError(str(error), line_at(self.text, position)) from error

    def _array(self, start: int, depth: int) -> Node:
        items: list[Any] = []
        position = self.blank(start + 1)
        while not self.text.startswith("]", position):
            node = self.value(position, depth + 1)
            items.append(node.data)
            position, _ = self._comma(node.end, "]")
        return Node(start, position + 1, items)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        position = self.blank(start + 1)
        while not self.text.startswith("}", position):
            if not self.text.startswith('"', position):
                raise self.unexpected(position, "a name in quotes")
            key = self._scalar(position)
            colon = self.blank(key.end)
            if not self.text.startswith(":", colon):
                raise self.unexpected(colon, "a colon")
            node = self.value(self.blank(colon + 1), depth + 1)
            following, comma = self._comma(node.end, "}")
            members.append(Member(key.data, position, node, comma))
            position = following
        data = {each.key: each.value.data for each in members}
        return Node(start, position + 1, data, tuple(members))

    def _comma(self, position: int, closing: str) -> tuple[int, int | None]:
        """Where the next item or the closing bracket is, and where the comma before it."""
        position = self.blank(position)
        if self.text.startswith(",", position):
            return self.blank(position + 1), position
        if not self.text.startswith(closing, position):
            raise self.unexpected(position, f"a comma or {closing}")
        return position, None
