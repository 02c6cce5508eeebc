"""Excel workbooks: each sheet under its name, its tables in slices that know their rows.

Formulas stand as the values that were computed last; one without a value stands as itself. Rows are read
one after the other, so that a workbook of a million cells needs no memory for them.
"""

from xml.etree.ElementTree import Element

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.grid import write_grid
from dowse.ingest.extract.office.cells import Values
from dowse.ingest.extract.office.names import RELATION, SHEET
from dowse.ingest.extract.office.package import Package
from dowse.ingest.extract.office.rows import read_rows
from dowse.ingest.extract.tables import one_line
from dowse.types import MetadataValue

__all__ = ["read_sheets"]

_MOST_NAMES = 100


def read_sheets(package: Package) -> Extracted:
    """Read a workbook."""
    book = package.archive.xml(package.main)
    title, metadata = package.properties()
    composer = Composer(package.size)
    sheets = book.findall(f"{SHEET}sheets/{SHEET}sheet")
    parts = _parts(package, sheets)
    values = Values(package, from_1904=_counts_from_1904(book))
    for sheet, part in parts:
        name = one_line(sheet.get("name", ""))
        try:
            write_grid(composer, read_rows(package.archive, part, values), _place(sheet, name), (1, name))
        except SourceError as error:
            if error.reason != "damaged" or len(parts) == 1:
                raise
            package.problems.append(f"the sheet {name} is damaged")
        if composer.full:
            break
    for problem in package.problems:
        composer.cut(problem)
    if sheets:
        metadata["sheets"] = [one_line(sheet.get("name", "")) for sheet in sheets[:_MOST_NAMES]]
    return composer.extracted(title, metadata)


def _parts(package: Package, sheets: list[Element]) -> list[tuple[Element, str]]:
    """The sheets that hold cells, with the names of their parts; charts may be sheets too."""
    relations = package.relations(package.main)
    found = ((sheet, relations.get(sheet.get(f"{RELATION}id", ""))) for sheet in sheets)
    return [(sheet, relation.target) for sheet, relation in found if relation and relation.kind == "worksheet"]


def _place(sheet: Element, name: str) -> dict[str, MetadataValue]:
    return {"sheet": name} if sheet.get("state", "visible") == "visible" else {"sheet": name, "hidden": True}


def _counts_from_1904(book: Element) -> bool:
    properties = book.find(f"{SHEET}workbookPr")
    return properties is not None and properties.get("date1904") in {"1", "true"}
