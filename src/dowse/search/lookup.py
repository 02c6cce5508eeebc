"""Find documents by name: path, end of path, docid or id, with lines picked by `name:120:40`."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal
from urllib.parse import unquote
from uuid import UUID

from dowse.errors import ConflictError, NotFoundError, UsageError
from dowse.ports import Snapshot
from dowse.records import record
from dowse.search.contexts import contexts_of
from dowse.search.spelling import similar_names
from dowse.text.globs import compile_glob
from dowse.types import Context, Document, DocumentInfo

_LINE = re.compile(r"(?P<name>.+):(?P<number>[0-9]{1,9})", re.DOTALL)
_DOCID = re.compile(r"#?(?P<digits>[0-9a-f]{6,64})")
_SCHEME = re.compile(r"(?:qmd|dowse)://", re.IGNORECASE)
_LINES_AT_END = re.compile(r"(?<=.)(?::[0-9]{1,9}){1,2}$", re.DOTALL)
_COMMA = re.compile(r",(?![^{}]{0,999}\}|[^\[\]]{0,999}\])")  # between names, not inside a glob
_LISTED = 5  # names in a message
_GLOB_SIGNS = frozenset("*?[{")
_WAYS: tuple[Literal["path", "suffix"], ...] = ("path", "suffix")


@record
class Found:
    """Several documents at once, and why others are not among them."""

    documents: tuple[Document, ...]
    missed: tuple[tuple[str, str], ...]
    """Name and sentence."""


@record
class _Place:
    """A document, and which of its lines are meant."""

    info: DocumentInfo
    first_line: int | None = None
    max_lines: int | None = None


def get(snapshot: Snapshot, name: str, *, first_line: int | None = None, max_lines: int | None = None) -> Document:
    """One document, whole or in part; the lines in the name win over the arguments."""
    place = _locate(snapshot, name)
    if place is None:
        raise _unknown(name, snapshot.documents())
    first_line = first_line if place.first_line is None else place.first_line
    max_lines = max_lines if place.max_lines is None else place.max_lines
    return _lines_of(_read(snapshot, place.info, snapshot.contexts()), first_line, max_lines)


def get_many(snapshot: Snapshot, pattern: str, *, max_lines: int | None = None, max_bytes: int | None = None) -> Found:
    """Documents by a glob over `collection/path` (or the path alone), or by names separated by commas."""
    places, missed = _places(snapshot, pattern)
    documents: list[Document] = []
    contexts = snapshot.contexts()
    for name, place in places:
        document = _read(snapshot, place.info, contexts)
        part = _lines_of(document, place.first_line, place.max_lines)
        size = len(part.text.encode())
        if max_bytes is not None and size > max_bytes:
            missed.append((name, f"File too large ({(size + 512) // 1024}KB)."))
        else:
            fewest = min((lines for lines in (place.max_lines, max_lines) if lines is not None), default=None)
            documents.append(_lines_of(document, place.first_line, fewest))
    if not documents and not missed:
        raise NotFoundError(f"No documents match {pattern!r}.", hint="See what there is: dowse ls COLLECTION")
    return Found(tuple(documents), tuple(missed))


def find(
    snapshot: Snapshot,
    names: Iterable[str],
    collection: str | None = None,
    uri_of: Callable[[str], str | None] = lambda _: None,
) -> tuple[DocumentInfo, ...]:
    """The documents that are called so, each name by path, URI, docid, id or glob; in one collection if one is named.

    `uri_of` knows the URI of a name that means something outside of the index, as a path on the disk does.

    Raises:
        NotFoundError: a name means none.
        ConflictError: a name is the end of several paths: whoever takes documents out has to say which.
    """
    found: dict[UUID, DocumentInfo] = {}
    for name in names:
        called = _called(snapshot, name) or snapshot.find(uri_of(name) or "", "uri")
        meant = [info for info in called if collection in (None, info.collection)]
        if not meant:
            raise _unknown(name, snapshot.documents(collection))
        if len(meant) > 1 and _GLOB_SIGNS.isdisjoint(name):
            listed = ", ".join(info.file for info in meant[:_LISTED]) + (", …" if len(meant) > _LISTED else "")
            raise ConflictError(
                f"{name} could be {len(meant)} documents: {listed}.", hint="Name one by its whole path, or use a glob."
            )
        found |= {info.id: info for info in meant}
    return tuple(found.values())


def _called(snapshot: Snapshot, name: str) -> list[DocumentInfo]:
    """Every document that a name could mean."""
    for spelling in filter(None, _spellings(name)):
        for by in ("path", "uri", "suffix"):
            if infos := snapshot.find(spelling, by):
                return infos
    if info := _resolve(snapshot, name):
        return snapshot.find(info.content_hash, "hash") if _DOCID.fullmatch(name.lower()) else [info]
    return [] if _GLOB_SIGNS.isdisjoint(name) else _matching(name, snapshot.documents())


def similar(snapshot: Snapshot, name: str) -> list[str]:
    """Up to three names of documents that are spelled much like this one."""
    return _similar(name, snapshot.documents())


def _locate(snapshot: Snapshot, name: str) -> _Place | None:
    """What a name means: as it stands, if a document is called so; else its last numbers are lines."""
    if info := _resolve(snapshot, name):
        return _Place(info)
    if line := _LINE.fullmatch(name):
        if info := _resolve(snapshot, line["name"]):
            return _Place(info, int(line["number"]))
        if (before := _LINE.fullmatch(line["name"])) and (info := _resolve(snapshot, before["name"])):
            return _Place(info, int(before["number"]), int(line["number"]))
    return None


def _resolve(snapshot: Snapshot, name: str) -> DocumentInfo | None:
    """The document that is called so; where several could be meant, the first by path."""
    spellings = [spelling for spelling in _spellings(name) if spelling]
    for by in _WAYS:
        for spelling in spellings:
            if found := snapshot.find(spelling, by):
                return found[0]
    for spelling in spellings:
        if (docid := _DOCID.fullmatch(spelling.lower())) and (found := snapshot.find(docid["digits"], "hash")):
            _check_alone(name, found)
            return found[0]
        try:
            document = snapshot.document(UUID(spelling))
        except ValueError:
            continue
        if document:
            return document.info
    return None


def _check_alone(docid: str, found: Sequence[DocumentInfo]) -> None:
    """Copies of one content share a docid; different contents do not.

    Raises:
        UsageError: several contents begin so.
    """
    contents = {info.content_hash: info for info in reversed(found)}
    if len(contents) > 1:
        near = [f"{info.docid} ({info.file})" for info in reversed(contents.values())][:_LISTED]
        raise UsageError(
            f"{docid} is the beginning of {len(contents)} docids.",
            hint="Which one is meant? " + ", ".join(near),
            details={"similar": near},
        )


def _spellings(name: str) -> list[str]:
    """A name as it may be stored: without scheme, percent-encoded as URIs are or not, with outer slashes or not."""
    bare = _SCHEME.sub("", name, count=1) if _SCHEME.match(name) else name
    decoded = bare if bare == name else unquote(bare)
    return list(dict.fromkeys((decoded.strip("/"), bare.strip("/"), decoded, bare)))


def _places(snapshot: Snapshot, pattern: str) -> tuple[list[tuple[str, _Place]], list[tuple[str, str]]]:
    """The documents that are meant, each once and by the name that it is called here, and what was not found.

    A name may have commas itself. Whether the list is the end of some path is asked last: that means a look at all.
    """
    names = [name for part in _COMMA.split(pattern) if (name := part.strip())]
    is_one = len(names) < 2 or any(snapshot.find(spelling, "path") for spelling in _spellings(pattern))  # noqa: PLR2004
    if is_one and (whole := _locate(snapshot, pattern)):
        return [(pattern, whole)], []
    places, missed = _listed(snapshot, names)
    if missed and not is_one and (whole := _locate(snapshot, pattern)):
        return [(pattern, whole)], []
    return places, missed


def _listed(snapshot: Snapshot, names: Sequence[str]) -> tuple[list[tuple[str, _Place]], list[tuple[str, str]]]:
    """The same for names and globs."""
    everything = cache(snapshot.documents)
    places: dict[tuple[UUID, int | None, int | None], tuple[str, _Place]] = {}
    missed = []
    for name in names:
        try:
            found = [(name, place)] if (place := _locate(snapshot, name)) else []
        except UsageError as error:
            missed.append((name, f"{error.message} {error.hint}"))
            continue
        if not found and not _GLOB_SIGNS.isdisjoint(name):
            found = [(info.file, _Place(info)) for info in _matching(name, everything())]
        if not found and (len(names) > 1 or _GLOB_SIGNS.isdisjoint(name)):
            missed.append((name, f"Not found. {_unknown(name, everything()).hint}"))
        for called, place in found:
            places.setdefault((place.info.id, place.first_line, place.max_lines), (called, place))
    return list(places.values()), missed


def _matching(glob: str, documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    matching = compile_glob(_spellings(glob)[0])
    return [info for info in documents if matching.fullmatch(info.file) or matching.fullmatch(info.path)]


def _read(snapshot: Snapshot, info: DocumentInfo, contexts: Iterable[Context]) -> Document:
    document = snapshot.document(info.id)
    if document is None:
        raise NotFoundError(f"{info.file} is not in the index any more.", hint="See what there is: dowse ls")
    return replace(document, contexts=contexts_of(info, contexts))


def _lines_of(document: Document, first_line: int | None, max_lines: int | None) -> Document:
    if first_line is None and max_lines is None:
        return document
    first = 1 if first_line is None else first_line
    if first < 1 or (max_lines is not None and max_lines < 1):
        raise UsageError("Lines are counted from 1.", hint="For example: notes.md:120:40 is 40 lines from line 120.")
    lines = document.text.split("\n")
    last = len(lines) if max_lines is None else first - 1 + max_lines
    return replace(document, text="\n".join(lines[first - 1 : last]), first_line=first)


def _unknown(name: str, documents: Iterable[DocumentInfo]) -> NotFoundError:
    near = _similar(name, documents)
    hint = "Did you mean one of these? " + ", ".join(near) if near else "See what there is: dowse ls"
    return NotFoundError(f"Document not found: {name}", hint=hint, details={"similar": near})


def _similar(name: str, documents: Iterable[DocumentInfo]) -> list[str]:
    """The lines that were asked for are no part of the name that was meant."""
    meant = _LINES_AT_END.sub("", _spellings(name)[0])
    return similar_names(meant, documents)
