"""Find documents by name: path, end of path, docid or id, with lines picked by `name:120:40`."""

import re
from dataclasses import dataclass, replace
from uuid import UUID

from dowse.errors import NotFoundError, UsageError
from dowse.ports import Snapshot
from dowse.search.contexts import contexts_of
from dowse.text.globs import compile_glob
from dowse.types import Document, DocumentInfo

_LINES = re.compile(r"^(?P<name>.+?):(?P<first>\d+)(?::(?P<count>\d+))?$", re.DOTALL)
_DOCID = re.compile(r"^#?(?P<digits>[0-9a-f]{6,64})$")
_SCHEME = re.compile(r"^(?:qmd|dowse)://")
_SUGGESTIONS = 3
_GLOB_SIGNS = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class Found:
    """Several documents at once, and why others are not among them."""

    documents: tuple[Document, ...]
    missed: tuple[tuple[str, str], ...]
    """Name and sentence."""


def get(snapshot: Snapshot, name: str, *, first_line: int | None = None, max_lines: int | None = None) -> Document:
    """One document, whole or in part; the lines in the name win over the arguments."""
    info = _resolve(snapshot, name)
    if info is None and (parts := _LINES.match(name)):
        info = _resolve(snapshot, parts["name"])
        first_line = int(parts["first"])
        max_lines = int(parts["count"]) if parts["count"] else max_lines
    if info is None:
        raise _unknown(snapshot, name)
    return _lines_of(_read(snapshot, info), first_line, max_lines)


def get_many(snapshot: Snapshot, pattern: str, *, max_lines: int | None = None, max_bytes: int | None = None) -> Found:
    """Documents by a glob over `collection/path` (or the path alone), or by names separated by commas."""
    documents: list[Document] = []
    missed: list[tuple[str, str]] = []
    for info, name in _matches(snapshot, pattern, missed):
        document = _read(snapshot, info)
        size = len(document.text.encode())
        if max_bytes is not None and size > max_bytes:
            missed.append((name, f"File too large ({round(size / 1024)}KB)."))
        else:
            documents.append(_lines_of(document, None, max_lines))
    if not documents and not missed:
        raise NotFoundError(f"No documents match {pattern!r}.", hint="See what there is: dowse ls COLLECTION")
    return Found(tuple(documents), tuple(missed))


def similar(snapshot: Snapshot, name: str) -> list[str]:
    """Up to three names of documents that are spelled much like this one."""
    wanted = _SCHEME.sub("", name).casefold()
    scored = []
    for info in snapshot.documents():
        shown = info.file.casefold()
        # With or without its collection, whichever is nearer.
        candidates = (shown, info.path.casefold(), info.path.rsplit("/", 1)[-1].casefold())
        distance, of = min((_distance(wanted, each), each) for each in candidates)
        if distance <= max(3, max(len(wanted), len(of)) // 2):
            scored.append((distance, info.file))
    return [file for _, file in sorted(scored)[:_SUGGESTIONS]]


def _resolve(snapshot: Snapshot, name: str) -> DocumentInfo | None:
    """The document that a name means; where several could be meant, the first by path."""
    name = _SCHEME.sub("", name).strip("/")
    if not name:
        return None
    for by in ("path", "suffix"):
        if found := snapshot.find(name, by):  # type: ignore[arg-type]  # the literals of the port
            return found[0]
    if (docid := _DOCID.match(name.lower())) and (found := snapshot.find(docid["digits"], "hash")):
        return found[0]
    try:
        document = snapshot.document(UUID(name))
    except ValueError:
        return None
    return document and document.info


def _matches(snapshot: Snapshot, pattern: str, missed: list[tuple[str, str]]) -> list[tuple[DocumentInfo, str]]:
    if not _GLOB_SIGNS.isdisjoint(pattern):
        matching = compile_glob(pattern)
        everything = snapshot.documents()
        return [
            (info, info.file) for info in everything if matching.fullmatch(info.file) or matching.fullmatch(info.path)
        ]
    found = []
    for name in filter(None, (part.strip() for part in pattern.split(","))):
        info = _resolve(snapshot, name)
        if info is None:
            missed.append((name, _unknown(snapshot, name).hint or "Not found."))
        else:
            found.append((info, name))
    return found


def _read(snapshot: Snapshot, info: DocumentInfo) -> Document:
    document = snapshot.document(info.id)
    if document is None:
        raise NotFoundError(f"{info.file} is not in the index any more.")
    return replace(document, contexts=contexts_of(info, snapshot.contexts()))


def _lines_of(document: Document, first_line: int | None, max_lines: int | None) -> Document:
    if first_line is None and max_lines is None:
        return document
    first = 1 if first_line is None else first_line
    if first < 1 or (max_lines is not None and max_lines < 1):
        raise UsageError("Lines are counted from 1.", hint="For example: notes.md:120:40 is 40 lines from line 120.")
    lines = document.text.split("\n")
    last = len(lines) if max_lines is None else first - 1 + max_lines
    return replace(document, text="\n".join(lines[first - 1 : last]), first_line=first)


def _unknown(snapshot: Snapshot, name: str) -> NotFoundError:
    near = similar(snapshot, name)
    hint = "Did you mean one of these? " + ", ".join(near) if near else "See what there is: dowse ls"
    return NotFoundError(f"Document not found: {name}", hint=hint, details={"similar": near})


def _distance(left: str, right: str) -> int:
    """Levenshtein's: how many letters to insert, delete or replace."""
    if len(left) < len(right):
        left, right = right, left
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        above, new = i - 1, [i]
        for j, b in enumerate(right, start=1):
            new.append(min(row[j] + 1, new[j - 1] + 1, above + (a != b)))
            above = row[j]
        row = new
    return row[-1]
