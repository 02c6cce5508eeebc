"""Changes one table of a TOML text, comments and all else left as they are.

A new table goes to the end of the text. Whatever was done is read again and compared with what was meant, so that a
spelling that this does not know ends in an error and never in a damaged file.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from dowse.interfaces.connect.text import BadTextError, newline_of
from dowse.records import record

__all__ = ["put", "read", "remove"]

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\r\n]*|\r?\n|.', re.DOTALL
)
_LINE_BREAK = re.compile(r"\r?\n")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = re.compile(rf"{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART})*")


@record
class _Statement:
    """A header or a `key = value`; its end is that of its last line, without the line break."""

    path: tuple[str, ...]
    start: int
    end: int
    is_header: bool


def read(text: str) -> Mapping[str, Any]:
    """All that the text says.

    Raises:
        BadTextError: it is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise BadTextError(
            re.sub(r" \(at .*\)$", "", str(error)), int(found[1]) if found else text.count("\n") + 1
        ) from error


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with these members in the table at a path, which is made if it is not there.

    Raises:
        BadTextError: it is no TOML, or the table is written in a way that cannot be changed here.
    """
    wanted: dict[str, Any] = deepcopy(dict(read(text)))
    place = wanted
    for key in path:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise BadTextError(f"{_key(path)} is no table", 1)
    missing = not place and not _section(text, path)
    changed = {key: each for key, each in value.items() if place.get(key) != each}
    place.update(value)
    if missing:
        newline = newline_of(text)
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        lines = [f"[{_key(path)}]", *(f"{_key([key])} = {_rendered(each)}" for key, each in value.items())]
        return _checked(f"{text}{gap}{newline.join(lines)}{newline}", wanted, path)
    for key, each in changed.items():
        text = _put_one(text, path, key, _rendered(each))
    return _checked(text, wanted, path)


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and those below it.

    Raises:
        BadTextError: it is no TOML, or the table is written in a way that cannot be changed here.
    """
    wanted: dict[str, Any] = deepcopy(dict(read(text)))
    holder = wanted
    for key in path[:-1]:
        holder = holder.get(key, {})
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    for header, last in reversed(list(_sections_below(text, path))):
        start, end = text.rfind("\n", 0, header.start) + 1, _end(_LINE_BREAK, text, last.end)
        blank = re.search(r"(?:^|(?<=\n))\r?\n\Z", text[:start])
        text = text[: blank.start() if blank else start] + text[end:]
    left = read(text)
    if not holder and path[0] not in left:  # the last table of its kind: nothing speaks of the others any more
        wanted.pop(path[0])
    return _checked(text, wanted, path)


def _checked(text: str, wanted: Mapping[str, Any], path: Sequence[str]) -> str:
    try:
        found: Mapping[str, Any] | None = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise BadTextError(f"{_key(path)} is not written as a table of its own, [{_key(path)}]", 1)
    return text


def _put_one(text: str, path: Sequence[str], key: str, rendered: str) -> str:
    """The text with this line in the table, in the place of the one that had its name."""
    line = f"{_key([key])} = {rendered}"
    section = _section(text, path)
    if not section:
        raise BadTextError(f"{_key(path)} is not written as a table of its own, [{_key(path)}]", 1)
    for statement in section[1:]:
        if statement.path == (key,):
            return text[: statement.start] + line + text[_value_end(text, statement) :]
    end = section[-1].end
    return f"{text[:end]}{newline_of(text)}{line}{text[end:]}"


def _value_end(text: str, statement: _Statement) -> int:
    """Where a statement ends without the comment behind it."""
    end = statement.start
    for piece in _PIECE.finditer(text, statement.start, statement.end):
        if not piece[0].startswith("#") and piece[0].strip():
            end = piece.end()
    return end


def _section(text: str, path: Sequence[str]) -> list[_Statement]:
    """The header of a table and what stands below it; nothing where it has none."""
    found: list[_Statement] = []
    for statement in _statements(text):
        if statement.is_header and found:
            break
        if found or (statement.is_header and statement.path == tuple(path)):
            found.append(statement)
    return found


def _sections_below(text: str, path: Sequence[str]) -> Iterator[tuple[_Statement, _Statement]]:
    """The first and the last statement of the table at a path and of each below it."""
    first: _Statement | None = None
    last: _Statement | None = None
    for statement in _statements(text):
        if statement.is_header:
            if first and last:
                yield first, last
            first = statement if statement.path[: len(path)] == tuple(path) else None
        last = statement
    if first and last:
        yield first, last


def _statements(text: str) -> Iterator[_Statement]:
    """The headers and lines of a text that is known to be TOML."""
    position = 0
    while (position := _end(_BLANK, text, position)) < len(text):
        start, depth = position, 0
        for piece in _PIECE.finditer(text, start):
            if depth == 0 and piece[0] in {"\n", "\r\n"}:
                break
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(piece[0], 0)
            position = piece.end()
        is_header = text[start] == "["
        name = _KEY.match(text, re.compile(r"\[{1,2}[ \t]*").match(text, start).end() if is_header else start)  # type: ignore[union-attr]
        if name is None:  # no TOML after all
            raise BadTextError("a key is missing", text.count("\n", 0, start) + 1)
        yield _Statement(_parts(name[0]), start, position, is_header)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _parts(key: str) -> tuple[str, ...]:
    """The parts of a dotted key, without their quotes."""
    parts = []
    found: Any = tomllib.loads(f"{key} = 0")
    while isinstance(found, dict):
        ((part, found),) = found.items()
        parts.append(part)
    return tuple(parts)


def _key(path: Sequence[str]) -> str:
    return ".".join(part if _BARE.fullmatch(part) else _rendered(part) for part in path)


def _rendered(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key([key])} = {_rendered(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_rendered, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
