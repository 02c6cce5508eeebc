"""A PDF file as pdfium opens it: what it says of itself, its outline, its pages.

pdfium is a C library without locks of its own, so that one file at a time is open in this process: the
lock is held from opening to closing. Nothing here knows what text looks like; that begins in `page`.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple

from dowse.errors import SourceError
from dowse.ingest.extract.pdf.streams import refuse_bombs

__all__ = ["Bookmark", "PdfFile", "open_pdf"]

_PDFIUM = Lock()
_MOST_BOOKMARKS = 20_000
_DEEPEST_BOOKMARK = 32
_LONGEST_STRING = 4_000
_INFO = ("Title", "Author", "Subject", "Keywords", "Creator", "CreationDate", "ModDate")
# Where each kind of destination keeps the height that it points at; the others name a whole page.
_HEIGHT_AT = {1: 1, 3: 0, 5: 3, 7: 0}
_GO_TO = 1
_WRITTEN = frozenset((3, 13, 20))
"""Notes that show text on the page: free text, stamps, fields of forms."""
_MOST_NOTES = 1_000
_FLATTENED = 1


class Bookmark(NamedTuple):
    """An entry of the outline."""

    level: int
    """1 is the outermost."""
    title: str
    page: int
    """Counted from 1."""
    y: float | None
    """The height on the page that it points at, in the page's own coordinates."""


class PdfFile:
    """An open file; good inside the `with` of `open_pdf` only."""

    def __init__(self, raw: Any, handle: Any) -> None:
        self.raw = raw
        """The functions of pdfium."""
        self._handle = handle

    def page_count(self) -> int:
        """How many pages the file says that it has; not all of them need exist."""
        return max(0, int(self.raw.FPDF_GetPageCount(self._handle)))

    @contextmanager
    def page(self, index: int) -> Iterator[Any]:
        """The handle of a page, None where it cannot be loaded; what is filled in and written on it is part of it."""
        page = self.raw.FPDF_LoadPage(self._handle, index)
        if page and self._has_writing(page) and self.raw.FPDFPage_Flatten(page, 0) == _FLATTENED:
            self.raw.FPDF_ClosePage(page)
            page = self.raw.FPDF_LoadPage(self._handle, index)
        try:
            yield page or None
        finally:
            if page:
                self.raw.FPDF_ClosePage(page)

    def _has_writing(self, page: Any) -> bool:
        """Whether fields of a form, or notes with text of their own, lie on a page."""
        raw = self.raw
        for index in range(min(int(raw.FPDFPage_GetAnnotCount(page)), _MOST_NOTES)):
            note = raw.FPDFPage_GetAnnot(page, index)
            if note:
                kind = raw.FPDFAnnot_GetSubtype(note)
                raw.FPDFPage_CloseAnnot(note)
                if kind in _WRITTEN:
                    return True
        return False

    def info(self) -> dict[str, str]:
        """What the file says of itself, by the names of the PDF standard; empty values are left out."""
        raw, handle = self.raw, self._handle
        found = {key: _string(raw.FPDF_GetMetaText, handle, key.encode()) for key in _INFO}
        found["Lang"] = _string(raw.FPDFCatalog_GetLanguage, handle)
        return {key: value for key, value in found.items() if value}

    def label(self, index: int) -> str:
        """The number printed on a page, as the file gives it: `iv`, `A-3`; empty for none."""
        return _string(self.raw.FPDF_GetPageLabel, self._handle, index)

    def outline(self) -> list[Bookmark]:
        """The entries that lead to a page of this file, in their order; a tree that bites its tail ends there."""
        raw, handle = self.raw, self._handle
        found: list[Bookmark] = []
        seen: set[int] = set()
        waiting = [(1, raw.FPDFBookmark_GetFirstChild(handle, None))]
        while waiting and len(seen) < _MOST_BOOKMARKS:
            level, entry = waiting.pop()
            if not entry or (address := ctypes.addressof(entry.contents)) in seen:
                continue
            seen.add(address)
            waiting.append((level, raw.FPDFBookmark_GetNextSibling(handle, entry)))
            if level < _DEEPEST_BOOKMARK:
                waiting.append((level + 1, raw.FPDFBookmark_GetFirstChild(handle, entry)))
            title = _string(raw.FPDFBookmark_GetTitle, entry)
            if title and (place := self._place(entry)):
                found.append(Bookmark(level, title, *place))
        return found

    def _place(self, entry: Any) -> tuple[int, float | None] | None:
        """The page and the height that an entry of the outline leads to."""
        raw, handle = self.raw, self._handle
        target = raw.FPDFBookmark_GetDest(handle, entry)
        if not target:
            action = raw.FPDFBookmark_GetAction(entry)
            if not action or raw.FPDFAction_GetType(action) != _GO_TO:
                return None
            target = raw.FPDFAction_GetDest(handle, action)
        page = raw.FPDFDest_GetDestPageIndex(handle, target) if target else -1
        if page < 0:
            return None
        count = ctypes.c_ulong()
        numbers = (ctypes.c_float * 4)()
        at = _HEIGHT_AT.get(raw.FPDFDest_GetView(target, count, numbers))
        y = float(numbers[at]) if at is not None and at < count.value else 0.0
        return page + 1, y or None


@contextmanager
def open_pdf(data: bytes, name: str) -> Iterator[PdfFile]:
    """Open a file; an empty user password is tried, since most encrypted files that people have open so.

    Raises:
        SourceError: reason `library`, `empty`, `encrypted`, `damaged`, or `too_large`.
    """
    if not data:
        raise SourceError(f"{name} is empty.", reason="empty", hint="Copy or download it again.")
    refuse_bombs(data, name)
    with _PDFIUM:
        raw = _library(name)
        handle = raw.FPDF_LoadMemDocument64(data, len(data), None)
        if not handle:
            raise _refusal(raw, name)
        try:
            yield PdfFile(raw, handle)
        finally:
            raw.FPDF_CloseDocument(handle)


def _library(name: str) -> Any:
    try:
        import_module("pypdfium2")
        return import_module("pypdfium2.raw")
    except (ImportError, OSError) as error:
        raise SourceError(
            f"{name} is a PDF, and pypdfium2, which reads them, cannot be loaded: {error}",
            reason="library",
            hint="pip install pypdfium2",
        ) from error


def _refusal(raw: Any, name: str) -> SourceError:
    error = raw.FPDF_GetLastError()
    if error == raw.FPDF_ERR_PASSWORD:
        return SourceError(
            f"{name} is encrypted and opens with a password only.",
            reason="encrypted",
            hint="Save a copy without the password.",
        )
    if error == raw.FPDF_ERR_SECURITY:
        return SourceError(
            f"{name} is encrypted in a way that cannot be read.",
            reason="encrypted",
            hint="Save a copy without encryption.",
        )
    return SourceError(
        f"{name} is damaged or no PDF.",
        reason="damaged",
        hint="Copy or download it again, or open it in a viewer and save it anew.",
    )


def _string(function: Any, *arguments: Any) -> str:
    """A string from pdfium: asked for its size first, always UTF-16."""
    size = int(function(*arguments, None, 0))
    if size <= 2:  # noqa: PLR2004 - the closing NUL alone
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    text = bytes(buffer)[: 2 * _LONGEST_STRING].decode("utf-16-le", "replace").partition("\0")[0]
    return " ".join("".join(each for each in text if each.isprintable() or each.isspace()).split())
