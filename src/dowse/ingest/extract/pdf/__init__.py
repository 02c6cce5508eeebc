"""PDF: text page by page in reading order, with headings and tables.

A PDF knows letters and their places, not words, lines or paragraphs; those are inferred, page by page:
`page` (fragments of lines), `ruled` and `aligned` (tables), `layout` (heads, columns, feet), `paragraphs`.
What only the whole document shows (running heads, headings, which hyphens are real) is settled at the end.
Each page is a unit, so that every passage knows its page.
"""

import re
from collections.abc import Sequence

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.pdf.file import Bookmark, open_pdf
from dowse.ingest.extract.pdf.headings import mark_by_outline, mark_by_size, title_by_size, usual_size
from dowse.ingest.extract.pdf.info import metadata_of, page_ranges, title_of
from dowse.ingest.extract.pdf.pages import Page, Reading, read_pages
from dowse.ingest.extract.pdf.running import drop_running_parts
from dowse.ingest.extract.pdf.words import HYPHEN, Mender
from dowse.ingest.extract.tables import Row, slices

__all__ = ["extract_pdf"]

_MOST_CODE = 0.5
"""Of a document; where more is in fixed-width type, that is how it is written, and no code."""
_VALUE = re.compile(r"[-+(]?\W?\d[\d.,:/'\s]*\W{0,2}")


def extract_pdf(data: bytes, name: str) -> Extracted:
    """Read a PDF file.

    Raises:
        SourceError: reason `library`, `empty`, `encrypted`, `damaged`, `too_large`, or, when no page
            has text, `scanned` or `unreadable`.
    """
    with open_pdf(data, name) as file:
        info = file.info()
        outline = file.outline()
        count = file.page_count()
        reading = read_pages(file, len(data))
    usual = _settle(reading.pages, outline)
    if not any(page.parts for page in reading.pages):
        raise _no_text(name, count, reading)
    mender = _mender(reading.pages)
    title = title_of(info) or mender.mend(title_by_size(reading.pages[0].parts, usual)) or None
    metadata = metadata_of(info) | {"pages": count}
    for key, pages in (
        ("scanned_pages", reading.scanned),
        ("damaged_pages", reading.damaged),
        ("unreadable_pages", reading.unreadable),
    ):
        if pages:
            metadata[key] = page_ranges(pages)
    composer = Composer(len(data))
    for reason in reading.cuts:
        composer.cut(reason)
    _write(composer, reading.pages, mender)
    return composer.extracted(title, metadata)


def _no_text(name: str, count: int, reading: Reading) -> SourceError:
    """Why nothing can be had from a file, and what to do."""
    if reading.scanned:
        return SourceError(
            f"{name} is scanned: its pages are images without text.",
            reason="scanned",
            hint="Add a text layer with an OCR program, for example: ocrmypdf IN.pdf OUT.pdf",
        )
    if reading.cuts:
        return SourceError(
            f"{name} takes too long to read, and has no text up to there.",
            reason="too_large",
            hint="Print it to a new PDF, or split it.",
        )
    if reading.unreadable:
        return SourceError(
            f"{name} cannot be read: its fonts do not say which letters they draw.",
            reason="unreadable",
            hint="Recognise the text anew with an OCR program, for example: ocrmypdf --force-ocr IN.pdf OUT.pdf",
        )
    if reading.damaged:
        return SourceError(
            f"{name} is damaged: none of its {count} pages can be read.",
            reason="damaged",
            hint="Copy or download it again, or open it in a viewer and save it anew.",
        )
    return SourceError(
        f"{name} has no text on any of its pages." if count else f"{name} has no pages.",
        reason="empty",
        hint="If there are words to be seen on them, add a text layer with an OCR program.",
    )


def _settle(pages: Sequence[Page], outline: Sequence[Bookmark]) -> float:
    """Find headings, running heads and code with the whole document in view; returns the usual size of letters."""
    by_index = {page.number: page.parts for page in pages}
    usual = usual_size(by_index.values())
    turned = {page.number for page in pages if not page.upright}
    entries = [entry._replace(y=None) if entry.page in turned else entry for entry in outline]
    if not mark_by_outline(by_index, entries):
        mark_by_size(by_index.values(), usual)
    drop_running_parts(by_index, usual)
    written = sum(len(part.text) for page in pages for part in page.parts)
    code = sum(len(part.text) for page in pages for part in page.parts if part.kind == "code")
    if code > _MOST_CODE * written:
        for page in pages:
            page.parts[:] = [each for part in page.parts for each in part.plain or (part,)]
    return usual


def _write(composer: Composer, pages: Sequence[Page], mender: Mender) -> None:
    """Write the pages, each as a unit; a page number that is printed differently is part of its place."""
    for page in pages:
        composer.unit(page.number, {"page_label": page.label} if page.label else {})
        for part in page.parts:
            if part.kind == "table":
                _write_table(composer, [[mender.mend(cell) for cell in row] for row in part.cells])
            elif part.level:
                composer.heading(part.level, mender.mend(part.text))
            elif part.kind == "code":
                composer.block("code", f"```\n{mender.mend(part.text)}\n```")
            else:
                composer.block(part.kind, mender.mend(part.text))
        if composer.full:
            return


def _mender(pages: Sequence[Page]) -> Mender:
    """One that knows all words, when there is anything to mend."""
    parts = [part for page in pages for part in page.parts]
    if not any(HYPHEN in text for part in parts for text in (part.text, *(cell for row in part.cells for cell in row))):
        return Mender(())
    return Mender(part.text for part in parts)


def _write_table(composer: Composer, cells: Sequence[Sequence[str]]) -> None:
    """Write a table; its first row names the columns unless it holds values."""
    rows = [Row(number, row) for number, row in enumerate(cells, 1)]
    names = [cell for cell in cells[0] if cell]
    named = 2 * len(names) >= len(cells[0]) and not any(map(_VALUE.fullmatch, names))
    for part in slices(rows[0], rows[1:]) if named else slices(None, rows):
        composer.block(part.kind, part.text)
