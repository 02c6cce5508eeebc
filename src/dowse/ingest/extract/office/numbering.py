"""The numbers and marks before the items of Word's lists and before numbered headings.

They are not in the text: a list has levels with a format each, and the numbers are counted anew whenever
the document is shown. Lists that share a definition count on, unless one says where it starts.
"""

from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.names import WORD
from dowse.ingest.extract.office.styles import value_of

__all__ = ["Numbering", "written_number"]

_LEVELS = 9
_LARGEST = 32_767
_LAST_LETTERS = 780
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def _roman(number: int) -> str:
    digits = ""
    for value, letters in _ROMAN:
        digits += letters * (number // value)
        number %= value
    return digits


def _letter(number: int) -> str:
    """`a` to `z`, then `aa` to `zz`, as Word counts, up to thirty letters."""
    if number > _LAST_LETTERS:
        return str(number)
    rounds, place = divmod(number - 1, 26)
    return chr(ord("a") + place) * (rounds + 1)


_WRITTEN: dict[str, Callable[[int], str]] = {
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _letter,
    "upperLetter": lambda number: _letter(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
}


def written_number(name: str, number: int) -> str:
    """A number in the format with this name; formats that nobody here can write are decimal."""
    return _WRITTEN.get(name, str)(number) if number > 0 else str(number)


class _Level(NamedTuple):
    """How the items of one depth of a list are marked."""

    format: str = "bullet"
    pattern: str = ""
    """`%1.%2)`: the numbers of the levels, and what stands around them."""
    start: int = 1


class Numbering:
    """The lists of one file, counting while it is read."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._definitions: dict[str, str] = {}
        """Definitions by list."""
        self._starts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, list[int]] = {}
        self._begun: set[tuple[str, int]] = set()
        if root is not None:
            self._read(root)

    def marker(self, list_id: str, depth: int) -> str:
        """Count an item and say what stands before it; empty for a list that marks nothing."""
        definition = self._definitions.get(list_id)
        if definition is None:
            return "-"
        levels = self._levels.get(definition, {})
        level = levels.get(depth, _Level())
        counts = self._counts.setdefault(definition, [0] * _LEVELS)
        if (list_id, depth) in self._starts and (list_id, depth) not in self._begun:
            counts[depth] = self._starts[list_id, depth] - 1
        elif not counts[depth]:
            counts[depth] = level.start - 1
        self._begun.add((list_id, depth))
        counts[depth] = min(counts[depth] + 1, _LARGEST)
        counts[depth + 1 :] = [0] * (_LEVELS - depth - 1)
        if level.format == "bullet":
            return "-"
        return self._written(level.pattern, levels, counts)

    @staticmethod
    def _written(pattern: str, levels: dict[int, _Level], counts: list[int]) -> str:
        marker = pattern
        for depth in range(_LEVELS):
            if f"%{depth + 1}" in marker:
                level = levels.get(depth, _Level())
                marker = marker.replace(f"%{depth + 1}", written_number(level.format, counts[depth] or level.start))
        return " ".join(marker.split())

    def _read(self, root: Element) -> None:
        linked: dict[str, str] = {}
        links: dict[str, str] = {}
        for each in root.iter(f"{WORD}abstractNum"):
            identity = each.get(f"{WORD}abstractNumId", "")
            self._levels[identity] = dict(map(_read_level, each.findall(f"{WORD}lvl")))
            linked[value_of(each.find(f"{WORD}styleLink"))] = identity
            links[identity] = value_of(each.find(f"{WORD}numStyleLink"))
        for each in root.iter(f"{WORD}num"):
            identity = each.get(f"{WORD}numId", "")
            definition = value_of(each.find(f"{WORD}abstractNumId"))
            link = links.get(definition, "")
            self._definitions[identity] = linked.get(link, definition) if link else definition
            for override in each.findall(f"{WORD}lvlOverride"):
                start = value_of(override.find(f"{WORD}startOverride"))
                if start:
                    self._starts[identity, _number(override.get(f"{WORD}ilvl", ""), _LEVELS - 1)] = _number(start)


def _read_level(element: Element) -> tuple[int, _Level]:
    start = value_of(element.find(f"{WORD}start"))
    return _number(element.get(f"{WORD}ilvl", ""), _LEVELS - 1), _Level(
        value_of(element.find(f"{WORD}numFmt")) or "decimal",
        value_of(element.find(f"{WORD}lvlText"))[:100],
        _number(start) if start else 1,
    )


def _number(text: str, most: int = _LARGEST) -> int:
    return min(int(text), most) if text.isdecimal() and len(text) <= len(str(_LARGEST)) else 0
