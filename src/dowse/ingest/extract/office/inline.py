"""The text of a Word paragraph: runs, links, fields, notes, formulas; and what hangs from it.

Text that was deleted with changes tracked, hidden text and comments are left out, as in the document that
its author would print. Of two versions of a drawing for newer and older programs the newer one is read.
"""

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.names import CHART, COMPATIBILITY, DIAGRAM, MATH, RELATION, WORD
from dowse.ingest.extract.office.package import Relation
from dowse.ingest.extract.office.styles import value_of

__all__ = ["Inline", "Note", "link"]

_INSTRUCTION = re.compile(r'\s*HYPERLINK\s+"([^"]*)"')
_LONGEST_ADDRESS = 2_000
_ADDRESS_MARKS = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "\n": "", "\t": "", "\r": ""})
_FIRST_SURROGATE = 0xD800
_OFF = {"0", "false", "off"}
_BOX = f"{WORD}txbxContent"
_MARKS = {
    f"{WORD}tab": "\t",
    f"{WORD}ptab": "\t",
    f"{WORD}br": "\n",
    f"{WORD}cr": "\n",
    f"{WORD}noBreakHyphen": "-",
}
_FORMULAS = {
    f"{MATH}f": ("(", ")/(", ")", "num", "den"),
    f"{MATH}sSup": ("", "^", "", "e", "sup"),
    f"{MATH}sSub": ("", "_", "", "e", "sub"),
    f"{MATH}rad": ("\u221a(", "", ")", "e"),
}
_TRANSPARENT = (
    *(f"{WORD}{tag}" for tag in ("ins", "moveTo", "smartTag", "sdt", "sdtContent", "customXml", "dir", "bdo")),
    *(f"{MATH}{tag}" for tag in ("oMath", "oMathPara", "r", "e", "d", "func", "fName", "sub", "sup", "num", "den")),
    *(f"{MATH}{tag}" for tag in ("nary", "lim", "limLow", "limUpp", "eqArr", "acc", "bar", "box", "borderBox")),
    *(f"{MATH}{tag}" for tag in ("groupChr", "m", "mr", "phant", "sPre", "sSubSup", "deg")),
)
"""What lies around text and adds nothing to it."""


class Note(NamedTuple):
    """A reference to a footnote or an endnote."""

    is_endnote: bool
    id: str


class _Field(NamedTuple):
    """A field that has begun: what computes it, and where its result starts among the parts."""

    instruction: list[str]
    start: list[int]


def link(text: str, address: str) -> str:
    """A link as Markdown writes it; the text alone where there is no address, or where it is the address."""
    words = " ".join(text.split())
    address = address.strip().translate(_ADDRESS_MARKS)[:_LONGEST_ADDRESS]
    if not words or not address or words in {address, address.removeprefix("mailto:")}:
        return text
    return f"[{text.strip()}]({address})"


class Inline:
    """Reads paragraphs of one part; what cannot stand in a line is kept until it is taken."""

    def __init__(self, relations: Mapping[str, Relation], number_of: Callable[[Note], str]) -> None:
        self._relations = relations
        self._number_of = number_of
        self._parts: list[str] = []
        self._fields: list[_Field] = []
        self._boxes: list[Element] = []
        self._graphics: list[str] = []

    def text(self, paragraph: Element) -> str:
        """The text of a paragraph; line breaks in it are kept."""
        self._parts, self._fields = [], []
        self._children(paragraph)
        return "".join(self._parts)

    def take_boxes(self) -> list[Element]:
        """The text boxes that are anchored to what was read since the last call."""
        boxes, self._boxes = self._boxes, []
        return boxes

    def take_graphics(self) -> list[str]:
        """The ids of the relations to the charts and diagrams in what was read since the last call."""
        graphics, self._graphics = self._graphics, []
        return graphics

    def _children(self, element: Element) -> None:
        for child in element:
            reader = self._READERS.get(child.tag)
            if reader:
                reader(self, child)

    def _run(self, run: Element) -> None:
        properties = run.find(f"{WORD}rPr")
        if properties is not None:
            hidden = properties.find(f"{WORD}vanish")
            if hidden is not None and value_of(hidden) not in _OFF:
                return
            if value_of(properties.find(f"{WORD}rStyle")) == "PlaceholderText":
                return
        self._children(run)

    def _plain(self, element: Element) -> None:
        self._parts.append(element.text or "")

    def _mark(self, element: Element) -> None:
        self._parts.append(_MARKS[element.tag])

    def _symbol(self, element: Element) -> None:
        """A character of a symbol font; those in the private area mean nothing without the font."""
        try:
            code = int(element.get(f"{WORD}char", ""), 16)
        except ValueError:
            return
        if 0 < code < _FIRST_SURROGATE:
            self._parts.append(chr(code))

    def _hyperlink(self, element: Element) -> None:
        start = len(self._parts)
        self._children(element)
        relation = self._relations.get(element.get(f"{RELATION}id", ""))
        if relation and relation.external:
            anchor = element.get(f"{WORD}anchor")
            self._link_from(start, f"{relation.target}#{anchor}" if anchor else relation.target)

    def _link_from(self, start: int, address: str) -> None:
        text = "".join(self._parts[start:])
        self._parts[start:] = [link(text, address)]

    def _simple_field(self, element: Element) -> None:
        start = len(self._parts)
        self._children(element)
        self._end_field(element.get(f"{WORD}instr", ""), start)

    def _field(self, element: Element) -> None:
        kind = element.get(f"{WORD}fldCharType")
        if kind == "begin":
            self._fields.append(_Field([], []))
        elif kind == "separate" and self._fields:
            self._fields[-1].start.append(len(self._parts))
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            if field.start:
                self._end_field("".join(field.instruction), field.start[0])

    def _instruction(self, element: Element) -> None:
        if self._fields:
            self._fields[-1].instruction.append(element.text or "")

    def _end_field(self, instruction: str, start: int) -> None:
        address = _INSTRUCTION.match(instruction)
        if address:
            self._link_from(start, address[1])

    def _footnote(self, element: Element) -> None:
        self._note(element, is_endnote=False)

    def _endnote(self, element: Element) -> None:
        self._note(element, is_endnote=True)

    def _note(self, element: Element, *, is_endnote: bool) -> None:
        self._parts.append(self._number_of(Note(is_endnote, element.get(f"{WORD}id", ""))))

    def _alternatives(self, element: Element) -> None:
        """The version for newer programs, and the other one only if there is nothing in that."""
        before = len(self._parts), len(self._boxes), len(self._graphics)
        for version in element:
            self._children(version)
            if before != (len(self._parts), len(self._boxes), len(self._graphics)):
                return

    def _drawing(self, element: Element) -> None:
        """Text boxes, charts and diagrams, and what is said of pictures for those who cannot see them."""
        waiting = [element]
        while waiting:
            each = waiting.pop()
            if each.tag == _BOX:
                self._boxes.append(each)
                continue
            if each.tag == f"{CHART}chart":
                self._graphics.append(each.get(f"{RELATION}id", ""))
            elif each.tag == f"{DIAGRAM}relIds":
                self._graphics.append(each.get(f"{RELATION}dm", ""))
            elif each.tag.endswith("}docPr") and each.get("descr"):
                self._parts.append(f"[Image: {' '.join(each.get('descr', '').split())}]")
            waiting += (child for child in reversed(each) if child.tag != f"{COMPATIBILITY}Fallback")

    def _ruby(self, element: Element) -> None:
        """The word itself, without the small reading above it."""
        for base in element.findall(f"{WORD}rubyBase"):
            self._children(base)

    def _formula(self, element: Element) -> None:
        """A part of a formula that is more than its parts in a row."""
        before, between, after, *tags = _FORMULAS[element.tag]
        self._parts.append(before)
        for index, tag in enumerate(tags):
            self._parts.append(between if index else "")
            for part in element.findall(f"{MATH}{tag}"):
                self._children(part)
        self._parts.append(after)

    _READERS: ClassVar[dict[str, Callable[["Inline", Element], None]]] = {
        f"{WORD}r": _run,
        f"{WORD}t": _plain,
        f"{MATH}t": _plain,
        f"{WORD}sym": _symbol,
        f"{WORD}hyperlink": _hyperlink,
        f"{WORD}fldSimple": _simple_field,
        f"{WORD}fldChar": _field,
        f"{WORD}instrText": _instruction,
        f"{WORD}footnoteReference": _footnote,
        f"{WORD}endnoteReference": _endnote,
        f"{WORD}drawing": _drawing,
        f"{WORD}pict": _drawing,
        f"{WORD}object": _drawing,
        f"{WORD}ruby": _ruby,
        f"{COMPATIBILITY}AlternateContent": _alternatives,
        **dict.fromkeys(_MARKS, _mark),
        **dict.fromkeys(_FORMULAS, _formula),
        **dict.fromkeys(_TRANSPARENT, _children),
    }
