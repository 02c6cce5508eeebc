"""Spoil sound inputs, reproducibly from a number: their bytes, a member of an archive, or a value inside of JSON."""

import json
import random
import zipfile
from collections.abc import Sequence
from io import BytesIO
from typing import Any

__all__ = ["spoiled"]

_JUNK = (
    *(
        b"\0",
        b"\xff",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\r\n",
        b"\n\n",
        b"\t",
        b" ",
        b'"',
        b"'",
        b"\\",
        b"/",
        b"..",
        b"%00",
    ),
    *(
        b"[",
        b"](",
        b"<",
        b"</",
        b"<!--",
        b"<![CDATA[",
        b"&#x110000;",
        b"&#0;",
        b"{",
        b"}",
        b"$",
        b"*",
        b"**",
        b"`",
        b"|",
        b"#",
    ),
    *(b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80"),
    *(
        "\u2028".encode(),
        "\u202e".encode(),
        "\ufeff".encode(),
        "é".encode(),
        "e\u0301".encode(),
        "語".encode(),
        "😀".encode(),
    ),
    *(
        b"%PDF",
        b"PK\x03\x04",
        b"obj",
        b"endobj",
        b"stream",
        b"xref",
        b"<w:tbl>",
        b"<row>",
        b"colspan=99999999",
        b"From ",
    ),
    *(b"null", b"true", b"[[", b"]]", b"::", b"://", b"@", b"%2e%2e%2f", b"\x1b[31m", b"SQLite format 3\0"),
)
_LARGEST = 1 << 20
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 0.5, -0.0, 1e308, 2**31, 2**63, 10**30, "", " ", "0", "-1", "null", "NaN", "*"),
    *(
        "\x00",
        "\ud800",
        "\u202e",
        "\x1b[2J",
        "é" * 50,
        "a" * 5_000,
        "../../../etc/passwd",
        "file:///etc/passwd",
        "~",
        "%2e%2e/",
    ),
    *(
        "http://127.0.0.1/",
        "data:text/html,<b>",
        "tea/green.md",
        "tea",
        "#abcdef",
        "(" * 200,
        '"' * 7,
        "a:b:c",
        "[",
        "{}",
    ),
    *([], {}, [[]], [None], {"": {}}, {"$not": {}}, {"$or": []}, [0] * 300, {"a": {"$in": [1, "x"]}}, ["tea", "tea"]),
)


def spoiled(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the seeds with a few things wrong; of an archive, mostly a member of it."""
    data = chance.choice(seeds)
    if data.startswith(b"PK\x03\x04") and chance.random() < 0.7:
        return _repacked(data, chance)
    if chance.random() < 0.6 and (made := _with_another_value(data, chance)) is not None:
        return made
    return _changed(data, seeds, chance)


def _with_another_value(data: bytes, chance: random.Random) -> bytes | None:
    """The same with other values in one line that is JSON; None where there is none."""
    lines = data.split(b"\n")
    places = [place for place, line in enumerate(lines) if line[:1] in {b"{", b"["}]
    if not places:
        return None
    place = chance.choice(places)
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        return None
    for _ in range(chance.choice((1, 1, 2, 4))):
        value = _revalued(value, chance)
    lines[place] = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _revalued(value: Any, chance: random.Random) -> Any:
    """The value with one thing in it replaced, dropped, added or called otherwise."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(_VALUES)
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = chance.choice(places)
    inner = value[place]
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    match chance.choice(("into", "into", "into", "drop", "add", "rename")):
        case "drop":
            del changed[place]
        case "add" if isinstance(changed, dict):
            changed[chance.choice(("query", "path", "limit", "x", ""))] = chance.choice(_VALUES)
        case "rename" if isinstance(changed, dict):
            changed[f"{place}_"] = changed.pop(place)
        case _:
            changed[place] = _revalued(inner, chance)
    return changed


def _changed(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        data = chance.choice(_CHANGES)(data, seeds, chance)[:_LARGEST]
    return data


def _repacked(data: bytes, chance: random.Random) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    members[name] = _changed(members[name], list(members.values()), chance)
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return made.getvalue()


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + chance.choice((1, 2, 4, 16, 64, 512)))


def _flip(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _replace(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + chance.choice(_JUNK) + data[end:]


def _insert(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(_JUNK) * chance.choice((1, 1, 2, 50, 2_000)) + data[place:]


def _remove(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[start:end] * chance.choice((2, 3, 100)) + data[end:]


def _splice(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]


def _cut(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _zeros(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + b"\0" * (end - start) + data[end:]


_CHANGES = (_flip, _flip, _replace, _insert, _remove, _repeat, _splice, _cut, _zeros)
