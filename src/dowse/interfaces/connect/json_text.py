"""Changes one place of a JSON text, comments and all else left as they are.

A new member goes to the end of its object, in the style of the text: behind the comment of the member before it, with
a comma behind it only where the text has one behind its last members. So taking it out again is the exact reverse.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.interfaces.connect.json_syntax import Member, Node, line_at, parse
from dowse.interfaces.connect.text import BadTextError, newline_of

__all__ = ["put", "read", "remove"]

_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*+(?://[^\r\n]*+)?(?=\r?\n)")
_LINE_END = re.compile(r"[ \t]*\r?\n")
_INDENT = re.compile(r"[ \t]*")
_USUAL_INDENT = "  "


def read(text: str) -> Mapping[str, Any]:
    """All that the text says; nothing in it counts as an empty object.

    Raises:
        BadTextError: it is no JSON, or no object.
    """
    node = _root(text)
    return {} if node is None else dict(node.data)


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with these members in the object at a path, which is made if it is not there.

    Raises:
        BadTextError: it is no JSON, or something else than an object is in the way.
    """
    node = _root(text)
    if node is None:
        newline = newline_of(text)
        gap = newline if text.strip(" \t") and not text.endswith("\n") else ""  # a comment ends with its line
        return text + gap + _rendered(_nested(path, value), "", _USUAL_INDENT, newline) + newline
    for number, key in enumerate(path):
        member = _object(text, node, path[:number]).member(key)
        if member is None:
            return _inserted(text, node, key, _nested(path[number + 1 :], value))
        node = member.value
    _object(text, node, path)
    for key, each in value.items():
        text = _put_one(text, path, key, each)
    return text


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, however often it is there.

    Raises:
        BadTextError: it is no JSON, or something else than an object is in the way.
    """
    while (found := _holder(text, path)) is not None:
        holder, member = found
        text = _without(text, holder, member)
    return text


def _root(text: str) -> Node | None:
    node = parse(text)
    if node is not None and node.members is None:
        raise BadTextError("this is no object", line_at(text, node.start))
    return node


def _object(text: str, node: Node, path: Sequence[str]) -> Node:
    if node.members is None:
        raise BadTextError(f"{json.dumps('.'.join(path))} is no object", line_at(text, node.start))
    return node


def _holder(text: str, path: Sequence[str]) -> tuple[Node, Member] | None:
    node = _root(text)
    member = None
    for number, key in enumerate(path):
        if member is not None:
            node = member.value
        member = None if node is None else _object(text, node, path[:number]).member(key)
        if member is None:
            return None
    return None if node is None or member is None else (node, member)


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _put_one(text: str, path: Sequence[str], key: str, value: object) -> str:
    """The text with this value in the object at a path, in the place of what had its name."""
    found = _holder(text, path)
    node = found[1].value if found else _root(text)
    if node is None:  # the caller has looked
        raise BadTextError("this is no object", 1)
    member = node.member(key)
    if member is None:
        return _inserted(text, node, key, value)
    if member.value.data == value:
        return text
    indent = _indent_at(text, member.start)
    new = _rendered(value, indent, _unit(text), newline_of(text))
    return text[: member.value.start] + new + text[member.value.end :]


def _inserted(text: str, node: Node, key: str, value: object) -> str:
    if not node.members:
        return _inserted_first(text, node, key, value)
    last = node.members[-1]
    anchor = last.value.end if last.comma is None else last.comma + 1
    needs_comma = last.comma is None
    if "\n" not in text[node.start : last.start]:  # on one line
        new = f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return text[:anchor] + ("," if needs_comma else "") + new + ("" if needs_comma else ",") + text[anchor:]
    rest = _REST_OF_LINE.match(text, anchor)
    place = rest.end() if rest else anchor
    new = _line(text, key, value, _indent_at(text, last.start))
    comma = "," if needs_comma else ""
    return text[:anchor] + comma + text[anchor:place] + new + ("" if needs_comma else ",") + text[place:]


def _inserted_first(text: str, node: Node, key: str, value: object) -> str:
    inner = text[node.start + 1 : node.end - 1]
    outer = _indent_at(text, node.start)
    new = _line(text, key, value, outer + _unit(text))
    if "\n" in inner:  # before the line of the closing brace
        place = node.start + 1 + inner.rindex("\n")
        place -= text[place - 1] == "\r"
        return text[:place] + new + text[place:]
    place = node.start + 1
    return text[:place] + new + newline_of(text) + outer + text[place:]


def _line(text: str, key: str, value: object, indent: str) -> str:
    """A member on lines of its own, from the end of the line before."""
    newline = newline_of(text)
    return f"{newline}{indent}{json.dumps(key)}: {_rendered(value, indent, _unit(text), newline)}"


def _without(text: str, holder: Node, member: Member) -> str:
    members = holder.members or ()
    position = members.index(member)
    before = members[position - 1] if position else None
    token = holder.start + 1 if before is None else before.value.end if before.comma is None else before.comma + 1
    end = member.value.end if member.comma is None else member.comma + 1
    start = _cut_from(text, token, member.start, end)
    if len(members) == 1 and not text[holder.start + 1 : start].strip() and not text[end : holder.end - 1].strip():
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if before is not None and before.comma is not None and member.comma is None:
        return text[: before.comma] + text[before.comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _cut_from(text: str, token: int, start: int, end: int) -> int:
    """Where to begin cutting for a member to leave no empty line; `token` is the end of what comes before it."""
    blank = text[token:start][len(text[token:start].rstrip(" \t\r\n")) :]
    if "\n" not in blank:
        return start - len(blank)
    line = start - len(blank) + blank.rindex("\n")
    if "//" in text[token:line] and not _LINE_END.match(text, end):
        return line + 1  # the line break ends a comment, which must not swallow what follows
    return line - (text[line - 1] == "\r")


def _indent_at(text: str, position: int) -> str:
    """The white space that the line of a position begins with."""
    found = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return found[0] if found else ""


def _unit(text: str) -> str:
    """By what the text is indented."""
    node = parse(text)
    members = node.members if node else ()
    if node and members and "\n" in text[node.start : members[0].start]:
        return _indent_at(text, members[0].start).removeprefix(_indent_at(text, node.start)) or _USUAL_INDENT
    return _USUAL_INDENT


def _rendered(value: object, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{newline}{indent}".join(lines)
