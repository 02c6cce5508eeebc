"""The values of a spreadsheet's cells as people read them: numbers without noise, dates in ISO 8601.

A date is a number with a format that shows it as one, so the formats of the workbook's styles decide.
"""

import re
from datetime import datetime, timedelta
from math import isfinite
from typing import Literal
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.names import SHEET
from dowse.ingest.extract.office.package import Package
from dowse.ingest.extract.tables import one_line
from dowse.ingest.extract.zipped import too_large

__all__ = ["NumberKind", "Values", "written"]

NumberKind = Literal["plain", "percent", "date", "time", "datetime", "elapsed"]

_BUILT_IN: dict[str, NumberKind] = {
    **dict.fromkeys(("9", "10"), "percent"),
    **dict.fromkeys(map(str, (*range(14, 18), *range(27, 32), 36, *range(50, 59))), "date"),
    **dict.fromkeys(map(str, (*range(18, 22), *range(32, 36), 45, 47)), "time"),
    "22": "datetime",
    "46": "elapsed",
}
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|general|standard', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]")
_ITEM, _RUN, _TEXT = (f"{SHEET}{tag}" for tag in ("si", "r", "t"))
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_TEXTS = 9_999_999
_SECONDS_PER_DAY = 86_400
_DAYS = 2_958_466
"""Up to 9999-12-31."""
_FIRST_1904 = datetime(1904, 1, 1)  # noqa: DTZ001 - spreadsheets know no time zones
_FIRST = datetime(1899, 12, 30)  # noqa: DTZ001 - the same
_NO_SUCH_DAY = 60
"""Excel believes in 1900-02-29; the days before it have numbers one too low for the rest of the count."""


class Values:
    """What the cells of a workbook refer to: its texts, and the kinds of its numbers."""

    def __init__(self, package: Package, *, from_1904: bool) -> None:
        self._from_1904 = from_1904
        related = {each.kind: each.target for each in package.relations(package.main).values()}
        kinds = _kinds_of_styles(package.optional(related.get("styles")))
        self._kinds = {str(index): kind for index, kind in enumerate(kinds)}
        self._texts: list[str] = []
        part = related.get("sharedStrings")
        for item in package.archive.elements(part, {_ITEM}) if part and part in package.archive else ():
            self._texts.append(_visible(_item_text(item)))
            if len(self._texts) > _MOST_TEXTS:
                raise too_large(package.name, f"it has more than {_MOST_TEXTS:,} texts")
        self._texts.append("")  # what an index below 0 finds

    def text(self, kind: str, style: str, value: str, formula: str) -> str:
        """What a cell shows."""
        if kind == "s":
            try:
                return self._texts[max(int(value), -1)]
            except (ValueError, IndexError):
                return ""
        if not value:
            return f"={one_line(formula)}" if formula else ""
        if kind == "n":
            return written(value, self._kinds.get(style, "plain"), from_1904=self._from_1904)
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        return _visible(value)


def _item_text(item: Element) -> str:
    """The text of a shared string; its runs, but not the hints on how to pronounce it."""
    return "".join(part.text or "" for tag in (_TEXT, f"{_RUN}/{_TEXT}") for part in item.findall(tag))


def _visible(text: str) -> str:
    """One line, with the characters that XML cannot hold as Excel writes them: `_x000D_`."""
    if "_x" in text:
        text = (
            _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
            .encode("utf-16", "surrogatepass")
            .decode("utf-16", "replace")
        )
    return one_line(text)


def _kinds_of_styles(styles: Element | None) -> list[NumberKind]:
    """What the numbers of each cell style are."""
    if styles is None:
        return []
    kinds = _BUILT_IN | {
        each.get("numFmtId", ""): _kind_of(each.get("formatCode", "")) for each in styles.iter(f"{SHEET}numFmt")
    }
    cell_styles = styles.find(f"{SHEET}cellXfs")
    return [kinds.get(each.get("numFmtId", ""), "plain") for each in (() if cell_styles is None else cell_styles)]


def _kind_of(code: str) -> NumberKind:
    shown = _LITERAL.sub("", code.partition(";")[0])
    if _ELAPSED.search(shown):
        return "elapsed"
    letters = set(_BRACKETS.sub("", shown).lower())
    has_time = bool(letters & {"h", "s"})
    has_date = bool(letters & {"y", "d"}) or ("m" in letters and not has_time)
    if has_date:
        return "datetime" if has_time else "date"
    if has_time:
        return "time"
    return "percent" if "%" in letters else "plain"


def written(number: str, kind: NumberKind, *, from_1904: bool = False) -> str:
    """A stored number as a text; what is none stays as it is."""
    if kind == "plain" and number.isdigit():
        return number
    try:
        value = float(number)
    except ValueError:
        return number
    if not isfinite(value):
        return number
    if kind == "percent":
        return f"{value * 100:.12g}%"
    if kind != "plain" and 0 <= value < _DAYS:
        return _moment(value, kind, from_1904=from_1904)
    return f"{value:.15g}"


def _moment(value: float, kind: NumberKind, *, from_1904: bool) -> str:
    seconds = round(value * _SECONDS_PER_DAY)
    if kind == "elapsed":
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    first = _FIRST_1904 if from_1904 else _FIRST
    if not from_1904 and value < _NO_SUCH_DAY:
        first += timedelta(days=1)
    try:
        moment = first + timedelta(seconds=seconds)
    except OverflowError:
        return f"{value:.15g}"
    time = moment.time().isoformat("seconds" if moment.second else "minutes")
    return {"date": moment.date().isoformat(), "time": time}.get(kind, f"{moment.date().isoformat()} {time}")
