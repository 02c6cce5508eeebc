"""What Word and PowerPoint draw: paragraphs in shapes, tables on slides, charts and diagrams as text.

A chart is written as the table of its last known values, a diagram as the list of its boxes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

from dowse.ingest.extract.blocks import BlockKind
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.office.inline import link
from dowse.ingest.extract.office.names import CHART, COMPATIBILITY, DIAGRAM, DRAWING, MATH, RELATION
from dowse.ingest.extract.office.numbering import written_number
from dowse.ingest.extract.office.package import Package, Relation
from dowse.ingest.extract.tables import Row, one_line, slices, slices_below_first

__all__ = ["graphic_blocks", "paragraph_text", "shape_blocks", "table_blocks", "write_graphic"]

_PARAGRAPH, _RUN, _FIELD, _BREAK, _TEXT = (f"{DRAWING}{tag}" for tag in ("p", "r", "fld", "br", "t"))
_SERIES, _POINT, _VALUE = (f"{CHART}{tag}" for tag in ("ser", "pt", "v"))
_MOST_POINTS = 10_000
_MOST_SERIES = 256
_MOST_COLUMNS = 256
_NODES = {"node", "asst"}
_ON = {"1", "true"}
_DEEPEST_LIST = 8
_NUMBER_KIND = re.compile("([a-z]*(?:[LU]c)?)(.*)")
_NUMBER_FORMATS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}
_NUMBER_MARKS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}


def paragraph_text(paragraph: Element, relations: Mapping[str, Relation]) -> str:
    """The text of a paragraph in a shape, with links, breaks and formulas."""
    parts: list[str] = []
    for child in paragraph:
        if child.tag in {_RUN, _FIELD}:
            text = "".join(part.text or "" for part in child.findall(_TEXT))
            target = child.find(f"{DRAWING}rPr/{DRAWING}hlinkClick")
            relation = None if target is None else relations.get(target.get(f"{RELATION}id", ""))
            parts.append(link(text, relation.target) if relation and relation.external else text)
        elif child.tag == _BREAK:
            parts.append("\n")
        elif child.tag == f"{COMPATIBILITY}AlternateContent" and len(child):
            parts += (part.text or "" for part in child[0].iter(f"{MATH}t"))
    return "".join(parts).replace("\x0b", "\n").strip()


def shape_blocks(
    shape: Element, relations: Mapping[str, Relation], *, bulleted: bool
) -> Iterator[tuple[BlockKind, str]]:
    """The text of a shape: its list items together, everything else by itself.

    Args:
        shape: An element with paragraphs in it.
        relations: Those of its part, for links.
        bulleted: Whether its paragraphs are list items unless they say otherwise, as in a slide's body.
    """
    paragraphs = [(each, text) for each in shape.iter(_PARAGRAPH) if (text := paragraph_text(each, relations))]
    # A body of a single paragraph is a statement, whatever bullet its layout would give it.
    bulleted = bulleted and len(paragraphs) > 1
    counts = [0] * (_DEEPEST_LIST + 1)
    items: list[str] = []
    for paragraph, text in paragraphs:
        depth, marker = _marker(paragraph, counts, bulleted=bulleted)
        if marker:
            margin = "  " * depth
            items.append(f"{margin}{marker} " + text.replace("\n", f"\n{margin}  "))
            continue
        if items:
            yield "list", "\n".join(items)
            items = []
        yield "paragraph", text
    if items:
        yield "list", "\n".join(items)


def _marker(paragraph: Element, counts: list[int], *, bulleted: bool) -> tuple[int, str]:
    """How deep a paragraph stands in a list, and what stands before it; empty outside of lists."""
    properties = paragraph.find(f"{DRAWING}pPr")
    level = "0" if properties is None else properties.get("lvl", "0")
    depth = min(int(level), _DEEPEST_LIST) if level.isdecimal() and len(level) == 1 else 0
    counts[depth + 1 :] = [0] * (_DEEPEST_LIST - depth)
    said = {} if properties is None else {child.tag.rpartition("}")[2]: child for child in properties}
    if "buAutoNum" in said:
        counts[depth] += 1
        kind, start = said["buAutoNum"].get("type", ""), said["buAutoNum"].get("startAt", "1")
        first = int(start) if start.isdecimal() and len(start) <= len("32767") else 1
        format_name, mark = _NUMBER_KIND.findall(kind)[0]
        number = written_number(_NUMBER_FORMATS.get(format_name, ""), first + counts[depth] - 1)
        return depth, _NUMBER_MARKS.get(mark, "{}.").format(number)
    counts[depth] = 0
    if "buChar" in said or "buBlip" in said or (bulleted and "buNone" not in said):
        return depth, "-"
    return depth, ""


def table_blocks(table: Element, relations: Mapping[str, Relation]) -> Iterator[tuple[BlockKind, str]]:
    """A table in a shape as blocks of Markdown rows."""
    for part in slices_below_first(_table_rows(table, relations)):
        yield part.kind, part.text


def _table_rows(table: Element, relations: Mapping[str, Relation]) -> Iterator[Row]:
    above: list[str] = []
    for number, row in enumerate(table.findall(f"{DRAWING}tr"), 1):
        texts: list[str] = []
        wide: list[tuple[int, int]] = []
        for column, cell in enumerate(row.findall(f"{DRAWING}tc")[:_MOST_COLUMNS]):
            if cell.get("hMerge") in _ON:
                texts.append("")
            elif cell.get("vMerge") in _ON:
                texts.append(above[column] if column < len(above) else "")
            else:
                paragraphs = cell.iter(_PARAGRAPH)
                texts.append(one_line(" ".join(paragraph_text(each, relations) for each in paragraphs)))
            span = cell.get("gridSpan", "1")
            if span.isdecimal() and len(span) <= len(str(_MOST_COLUMNS)) and int(span) > 1:
                wide.append((column, column + int(span) - 1))
        above = texts
        yield Row(number, texts, wide)


def write_graphic(composer: Composer, package: Package, part: str) -> None:
    """Write what a chart or diagram says."""
    for kind, text in graphic_blocks(package, part):
        composer.block(kind, text)


def graphic_blocks(package: Package, part: str) -> Iterator[tuple[BlockKind, str]]:
    """The blocks of a chart or a diagram; none for anything else."""
    root = package.optional(part)
    if root is None:
        return
    if root.tag == f"{CHART}chartSpace":
        yield from _chart(root)
    elif root.tag == f"{DIAGRAM}dataModel":
        lines = list(_boxes(root))
        if lines:
            yield "list", "\n".join(lines)


def _boxes(root: Element) -> Iterator[str]:
    """The texts of a diagram's boxes; its other points only say how it is laid out."""
    for point in root.iter(f"{DIAGRAM}pt"):
        if point.get("type", "node") in _NODES:
            text = one_line(" ".join(paragraph_text(each, {}) for each in point.iter(_PARAGRAPH)))
            if text:
                yield f"- {text}"


def _chart(root: Element) -> Iterator[tuple[BlockKind, str]]:
    title = root.find(f"{CHART}chart/{CHART}title")
    words = "" if title is None else one_line(" ".join(part.text or "" for part in title.iter(_TEXT)))
    yield "paragraph", f"Chart: {words}" if words else "Chart:"
    names: list[str] = ["Category"]
    columns: list[dict[int, str]] = [{}]
    for series in list(root.iter(_SERIES))[:_MOST_SERIES]:
        names.append(" ".join(_points(series, ("tx",)).values()))
        columns[0] |= _points(series, ("cat", "xVal"))
        columns.append(_points(series, ("val", "yVal", "bubbleSize")))
    numbers = sorted(set().union(*columns))[:_MOST_POINTS]
    rows = (Row(number + 1, [column.get(number, "") for column in columns]) for number in numbers)
    for part in slices(Row(0, names), rows) if numbers else ():
        yield part.kind, part.text


def _points(series: Element, tags: Iterable[str]) -> dict[int, str]:
    """The values that a chart remembers of one of its ranges, by their places in it."""
    found = next(filter(None, (series.find(f"{CHART}{tag}") for tag in tags)), None)
    points: dict[int, str] = {}
    for order, point in enumerate(() if found is None else found.iter(_POINT)):
        place = point.get("idx", "")
        index = int(place) if place.isdecimal() and len(place) <= len(str(_MOST_POINTS)) else order
        points[index] = one_line(point.findtext(_VALUE, ""))
    return points
