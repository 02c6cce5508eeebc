"""Word, PowerPoint and Excel: which of them a file really is, and who reads it."""

from importlib import import_module

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.office.package import Kind, Package, refuse_old

__all__ = ["extract_office", "extract_old_office"]

_READERS: dict[Kind, str] = {"word": "word:read_word", "ppt": "slides:read_slides", "xl": "sheets:read_sheets"}
_ZIP = b"PK"


def extract_office(data: bytes, name: str) -> Extracted:
    """Read an Office file; a wrong suffix does not matter, the content decides."""
    package = Package(data, name)
    module, _, function = _READERS[package.kind()].partition(":")
    extracted: Extracted = getattr(import_module(f"{__name__}.{module}"), function)(package)
    return extracted


def extract_old_office(data: bytes, name: str) -> Extracted:
    """Read a new Office file under an old name, and refuse an old one with the way out."""
    refuse_old(data, name)
    if data.startswith(_ZIP):
        return extract_office(data, name)
    raise SourceError(
        f"{name} is not the Office file that its name promises.",
        reason="damaged",
        hint="Rename it after its real type (.rtf, .html, .csv), or save it as .docx, .pptx or .xlsx.",
    )
