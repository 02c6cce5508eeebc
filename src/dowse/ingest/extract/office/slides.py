"""PowerPoint presentations: each slide a page under its title, with its text, tables and notes.

What repeats on every slide (numbers, dates, footers) is left out. Shapes are read in the order in which
the file has them, which is the one that screen readers follow. Hidden slides are kept and say so.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import BlockKind, Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.office.drawing import graphic_blocks, paragraph_text, shape_blocks, table_blocks
from dowse.ingest.extract.office.names import CHART, COMPATIBILITY, DIAGRAM, DRAWING, RELATION, SLIDE
from dowse.ingest.extract.office.package import Package
from dowse.ingest.extract.tables import one_line
from dowse.ingest.extract.zipped import damaged

__all__ = ["read_slides"]

_SHAPE, _FRAME, _PICTURE = (f"{SLIDE}{tag}" for tag in ("sp", "graphicFrame", "pic"))
_TREE = f"{SLIDE}cSld/{SLIDE}spTree"
_AROUND = {f"{SLIDE}grpSp", f"{COMPATIBILITY}Choice"}
_ALTERNATIVES = f"{COMPATIBILITY}AlternateContent"
_TITLES = {"title", "ctrTitle"}
_REPEATED = {"sldNum", "dt", "ftr", "hdr"}
_BULLETED = {"body", "obj"}
_OFF = {"0", "false"}
_DECK_LEVEL, _SLIDE_LEVEL = 1, 2


class _Slide(NamedTuple):
    """What stands on a slide."""

    title: str
    opens: bool
    """Its title is that of the whole presentation."""
    hidden: bool
    blocks: list[tuple[BlockKind, str]]


def read_slides(package: Package) -> Extracted:
    """Read a presentation; pages are the places of slides in it, hidden ones counted."""
    show = package.archive.xml(package.main)
    title, metadata = package.properties()
    composer = Composer(package.size)
    first_title: str | None = None
    read = 0
    for page, slide in _slides(package, show):
        read += 1
        composer.unit(page, {"hidden": True} if slide.hidden else {})
        if page == 1 and slide.opens and slide.title:
            title = slide.title
            composer.heading(_DECK_LEVEL, title)
        else:
            if page == 1 and title:
                composer.heading(_DECK_LEVEL, title)
            if slide.title or slide.blocks:
                composer.heading(_SLIDE_LEVEL, slide.title or f"Slide {page}")
        for kind, text in slide.blocks:
            composer.block(kind, text)
        first_title = first_title or slide.title
        if composer.full:
            break
    if package.problems and not read:
        raise damaged(package.name, package.problems[0])
    for problem in package.problems:
        composer.cut(problem)
    return composer.extracted(title or first_title or None, metadata)


def _slides(package: Package, show: Element) -> Iterator[tuple[int, _Slide]]:
    """The slides in the order of the show, with their places; a damaged one is left out."""
    relations = package.relations(package.main)
    for page, each in enumerate(show.findall(f"{SLIDE}sldIdLst/{SLIDE}sldId"), 1):
        relation = relations.get(each.get(f"{RELATION}id", ""))
        try:
            if relation is None:
                raise damaged(package.name, f"slide {page} is missing")
            yield page, _read_slide(package, relation.target)
        except SourceError as error:
            if error.reason != "damaged":
                raise
            package.problems.append(f"slide {page} cannot be read")


def _read_slide(package: Package, part: str) -> _Slide:
    root = package.archive.xml(part)
    relations = package.relations(part)
    title, opens = "", False
    blocks: list[tuple[BlockKind, str]] = []
    for shape in _shapes(root.find(_TREE)):
        if shape.tag == _PICTURE:
            words = one_line("".join(each.get("descr", "") for each in shape.iter(f"{SLIDE}cNvPr")))
            blocks += [("paragraph", f"[Image: {words}]")] if words else []
        elif shape.tag == _FRAME:
            for table in shape.iter(f"{DRAWING}tbl"):
                blocks += table_blocks(table, relations)
            for tag, name in ((f"{CHART}chart", "id"), (f"{DIAGRAM}relIds", "dm")):
                for each in shape.iter(tag):
                    target = relations.get(each.get(f"{RELATION}{name}", ""))
                    blocks += graphic_blocks(package, target.target) if target else ()
        else:
            role = _role(shape)
            if role in _TITLES and not title:
                title = one_line(" ".join(paragraph_text(each, {}) for each in shape.iter(f"{DRAWING}p")))
                opens = role == "ctrTitle"
            elif role not in _REPEATED:
                blocks += shape_blocks(shape, relations, bulleted=role in _BULLETED)
    notes = next((each.target for each in relations.values() if each.kind == "notesSlide"), None)
    blocks += _notes(package, notes)
    return _Slide(title, opens, root.get("show") in _OFF, blocks)


def _notes(package: Package, part: str | None) -> Iterator[tuple[BlockKind, str]]:
    """What the speaker says to a slide."""
    root = package.optional(part)
    for shape in _shapes(None if root is None else root.find(_TREE)):
        if shape.tag == _SHAPE and _role(shape) == "body":
            lines = [paragraph_text(each, {}) for each in shape.iter(f"{DRAWING}p")]
            if any(lines):
                yield "paragraph", "Notes:\n" + "\n".join(filter(None, lines))


def _shapes(tree: Iterable[Element] | None) -> Iterator[Element]:
    """All shapes, those in groups too; of versions for different programs the first."""
    for child in () if tree is None else tree:
        if child.tag in _AROUND:
            yield from _shapes(child)
        elif child.tag == _ALTERNATIVES:
            yield from _shapes(child[:1])
        elif child.tag in {_SHAPE, _FRAME, _PICTURE}:
            yield child


def _role(shape: Element) -> str:
    """Which of the layout's places a shape fills; empty for a shape of its own."""
    place = shape.find(f"{SLIDE}nvSpPr/{SLIDE}nvPr/{SLIDE}ph")
    return "" if place is None else place.get("type", "obj")
