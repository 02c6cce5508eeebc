"""What is drawn on a page besides text: the lines that rule tables, and images."""

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from dowse.ingest.extract.pdf.page import FAR, turned

__all__ = ["Ruling", "image_share", "object_count", "rulings"]

_PATH, _IMAGE, _FORM = 2, 3, 5
_LINE_TO, _MOVE_TO = 0, 2
_MOST_OBJECTS = 20_000
"""Of one page; one with more is a drawing, whose lines rule no table."""
_MOST_SEGMENTS = 64
_MOST_RULINGS = 4_000
_THIN = 3.0
_SHORTEST = 4.0
_STRAIGHT = 0.5
_DEEPEST = 3


class Ruling(NamedTuple):
    """A thin straight line along or across the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def level(self) -> bool:
        """Whether it runs along the lines of text."""
        return self.x1 - self.x0 >= self.y1 - self.y0


def object_count(raw: Any, page: Any) -> int:
    """How many things are drawn on a page: a measure of the work that it is."""
    return max(0, int(raw.FPDFPage_CountObjects(page)))


def rulings(raw: Any, page: Any, turn: int) -> list[Ruling]:
    """The lines of a page, turned as its text is; none for a page that is one large drawing."""
    count = object_count(raw, page)
    if count > _MOST_OBJECTS:
        return []
    found: list[Ruling] = []
    for index in range(count):
        each = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(each) == _PATH:
            found.extend(_path_rulings(raw, each))
            if len(found) > _MOST_RULINGS:
                return []
    if turn:
        found = [Ruling(*turned(turn, *ruling)) for ruling in found]
    return found


def image_share(raw: Any, page: Any) -> float:
    """How much of the page images cover, from 0 to 1; the largest one counts, since scans are one image or strips."""
    area = float(raw.FPDF_GetPageWidthF(page)) * float(raw.FPDF_GetPageHeightF(page))
    covered = 0.0
    for index in range(min(object_count(raw, page), _MOST_OBJECTS)):
        each = raw.FPDFPage_GetObject(page, index)
        if _holds_image(raw, each, _DEEPEST):
            x0, y0, x1, y1 = _bounds(raw, each)
            covered += max(0.0, x1 - x0) * max(0.0, y1 - y0)
    return min(1.0, covered / area) if area > 0 else 0.0


def _holds_image(raw: Any, each: Any, depth: int) -> bool:
    kind = raw.FPDFPageObj_GetType(each)
    if kind != _FORM or not depth:
        return bool(kind == _IMAGE)
    inside = min(max(0, int(raw.FPDFFormObj_CountObjects(each))), _MOST_OBJECTS)
    return any(_holds_image(raw, raw.FPDFFormObj_GetObject(each, index), depth - 1) for index in range(inside))


def _bounds(raw: Any, each: Any) -> tuple[float, float, float, float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(each, left, bottom, right, top):
        return 0.0, 0.0, 0.0, 0.0
    x0, y0, x1, y1 = left.value, bottom.value, right.value, top.value
    return (x0, y0, x1, y1) if -FAR < x0 <= x1 < FAR and -FAR < y0 <= y1 < FAR else (0.0, 0.0, 0.0, 0.0)


def _path_rulings(raw: Any, path: Any) -> Iterator[Ruling]:
    """A path that is thin as a whole is one line; of any other, each straight edge may be one."""
    x0, y0, x1, y1 = _bounds(raw, path)
    width, height = x1 - x0, y1 - y0
    if max(width, height) < _SHORTEST:
        return
    if height <= _THIN:
        yield Ruling(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2)
    elif width <= _THIN:
        yield Ruling((x0 + x1) / 2, y0, (x0 + x1) / 2, y1)
    else:
        yield from _edges(raw, path)


def _edges(raw: Any, path: Any) -> Iterator[Ruling]:
    count = int(raw.FPDFPath_CountSegments(path))
    matrix = raw.FS_MATRIX()
    if not 1 < count <= _MOST_SEGMENTS or not raw.FPDFPageObj_GetMatrix(path, matrix):
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    start = before = (0.0, 0.0)
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if kind == _LINE_TO:
            yield from _edge(before, point)
        elif kind == _MOVE_TO:
            start = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _edge(point, start)
        before = point


def _edge(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Ruling]:
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    width, height = x1 - x0, y1 - y0
    if min(width, height) <= _STRAIGHT and _SHORTEST <= max(width, height) < FAR > max(abs(x0), abs(y0)):
        yield Ruling(x0, y0, x1, y1)
