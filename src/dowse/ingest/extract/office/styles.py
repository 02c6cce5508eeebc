"""What the styles of a Word file make of a paragraph: a heading, the title, a list item, code.

Word keeps the English names of its own styles in every language (`heading 1`), but translates their ids;
other programs translate names too. An outline level, where there is one, says more than any name. What a
style does not say, the style that it is based on says for it.
"""

import re
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.names import WORD

__all__ = ["Style", "Styles", "level_of", "list_place", "value_of"]

_LONGEST_CHAIN = 32
_BODY_LEVEL = 9
_HEADING = re.compile(
    r"(?:heading|\u00fc?berschrift|titre|t[i\u00ed]?tulo|titolo|kop|rubrik|overskrift|otsikko|nag\u0142?[o\u00f3]?wek"
    r"|nadpis|c\u00edmsor|ba\u015fl\u0131k|\u0437\u0430\u0433\u043e\u043b\u043e\u0432\u043e\u043a|\u6807\u9898"
    r"|\u6a19\u984c|\u898b\u51fa\u3057|\uc81c\ubaa9)[ _-]?([1-9])",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?:book )?title|titel|titre|t\u00edtulo|titolo|\u8868\u984c", re.IGNORECASE)
_CODE = re.compile(r"source ?code|code(?: ?block)?|html ?preformatted|preformatted ?text|macro ?text", re.IGNORECASE)
_DEEPER_LIST = re.compile(r"list ?(?:bullet|number) ?([2-5])", re.IGNORECASE)
_CONTENTS = re.compile(r"toc ?(?:[1-9]|heading)|table ?of ?figures|contents [1-9]", re.IGNORECASE)


class Style(NamedTuple):
    """What a paragraph style says."""

    level: int = 0
    """Of a heading, 1 to 9; 0 for anything else."""
    is_title: bool = False
    is_code: bool = False
    is_contents: bool = False
    """An entry of the table of contents."""
    list_id: str | None = None
    list_level: int = 0
    indent: int = 0
    """How much deeper it stands than its list says: `List Bullet 2` is a list of its own."""


class _Said(NamedTuple):
    """What a style says by itself, None where it leaves the word to its base."""

    names: tuple[str, str]
    base: str
    level: int | None
    list_id: str | None
    list_level: int | None


class Styles:
    """The styles of one file; a style that is used but not defined is known by its id alone."""

    def __init__(self, root: Element | None) -> None:
        self._said: dict[str, _Said] = {}
        self._default = ""
        self._resolved: dict[str, Style] = {}
        for each in root.iter(f"{WORD}style") if root is not None else ():
            identity = each.get(f"{WORD}styleId", "")
            properties = each.find(f"{WORD}pPr")
            list_id, list_level = list_place(properties)
            names = (identity, value_of(each.find(f"{WORD}name")))
            base = value_of(each.find(f"{WORD}basedOn"))
            self._said[identity] = _Said(names, base, level_of(properties), list_id, list_level)
            if each.get(f"{WORD}type") == "paragraph" and each.get(f"{WORD}default") in {"1", "true", "on"}:
                self._default = identity

    def __getitem__(self, identity: str) -> Style:
        """The style with this id; that of ordinary paragraphs for an empty one."""
        found = self._resolved.get(identity)
        if found is None:
            found = self._resolved[identity] = self._resolve(identity or self._default)
        return found

    def _resolve(self, identity: str) -> Style:
        chain: list[_Said] = []
        while len(chain) < _LONGEST_CHAIN:
            said = self._said.get(identity)
            if said is None:
                chain.append(_Said((identity, ""), "", None, None, None))
                break
            chain.append(said)
            identity = said.base
            if not identity:
                break
        names = [name for said in chain for name in said.names if name]
        return Style(
            level=next((level for said in chain if (level := _level(said)) is not None), 0),
            is_title=any(map(_TITLE.fullmatch, chain[0].names)),
            is_code=any(map(_CODE.fullmatch, names)),
            is_contents=any(map(_CONTENTS.fullmatch, names)),
            list_id=next((said.list_id for said in chain if said.list_id is not None), None),
            list_level=next((said.list_level for said in chain if said.list_level is not None), 0),
            indent=next((int(found[1]) - 1 for found in map(_DEEPER_LIST.fullmatch, names) if found), 0),
        )


def _level(said: _Said) -> int | None:
    if said.level is not None:
        return said.level
    found = next(filter(None, map(_HEADING.fullmatch, said.names)), None)
    return int(found[1]) if found else None


def level_of(properties: Element | None) -> int | None:
    """The heading level that the properties of a paragraph or style give, 0 for none, None if they are silent."""
    outline = None if properties is None else properties.find(f"{WORD}outlineLvl")
    value = value_of(outline)
    if not value.isdecimal() or len(value) > 1:
        return None
    return 0 if int(value) == _BODY_LEVEL else int(value) + 1


def list_place(properties: Element | None) -> tuple[str | None, int | None]:
    """The list that properties put a paragraph into, and the depth there; None where they are silent."""
    place = None if properties is None else properties.find(f"{WORD}numPr")
    if place is None:
        return None, None
    depth = value_of(place.find(f"{WORD}ilvl"))
    return (
        value_of(place.find(f"{WORD}numId")) or None,
        int(depth) if depth.isdecimal() and len(depth) == 1 else None,
    )


def value_of(element: Element | None) -> str:
    """The `val` of an element that has little else, empty without one."""
    return "" if element is None else element.get(f"{WORD}val", "")
