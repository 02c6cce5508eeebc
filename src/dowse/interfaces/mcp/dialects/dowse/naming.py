"""Names as agents write them: of one document or, as a glob, of many; with the lines that are meant."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dowse.errors import NotFoundError, UsageError
from dowse.filters import Compare
from dowse.records import record
from dowse.search.references import parse_citation
from dowse.types import Document

if TYPE_CHECKING:
    from dowse.engine import Engine

__all__ = ["Wanted", "bare_name", "expanded", "read"]

_OURS = re.compile(r"(?:dowse|qmd)://", re.IGNORECASE)
_LINES = re.compile(r"(?::\d{1,9}-\d{1,9}|#L\d{1,9}(?:-L?\d{1,9})?)\Z")
_ADDRESS = re.compile(r"(?:file:|https?://|[/~]|[A-Za-z]:[\\/])", re.IGNORECASE)
_GLOB_SIGNS = frozenset("*?[{")


@record
class Wanted:
    """One document, and the lines of it that are meant; None: all."""

    name: str
    first_line: int | None = None
    last_line: int | None = None


def expanded(engine: "Engine", names: Iterable[str], first_line: int | None, last_line: int | None) -> list[Wanted]:
    """Every name once and in order, globs as the documents that they match; one that matches none stays."""
    found: dict[Wanted, None] = {}
    for name in names:
        wanted = _wanted(name, first_line, last_line)
        files = [] if _GLOB_SIGNS.isdisjoint(wanted.name) or _ADDRESS.match(wanted.name) else _glob(engine, wanted.name)
        for each in files or [wanted.name]:
            found[Wanted(each, wanted.first_line, wanted.last_line)] = None
    return list(found)


def read(engine: "Engine", wanted: Wanted) -> Document:
    """The document or the lines of it.

    Raises:
        NotFoundError: there is none of this name.
    """
    first, last = wanted.first_line, wanted.last_line
    count = None if last is None else max(1, last - (first or 1) + 1)
    try:
        return engine.get(wanted.name, first_line=first, max_lines=count)
    except NotFoundError:
        if not (_ADDRESS.match(wanted.name) and (name := _at_address(engine, wanted.name))):
            raise
    return engine.get(name, first_line=first, max_lines=count)


def bare_name(name: str) -> str:
    """The name of the document that a citation is of."""
    return _wanted(name, None, None).name


def _wanted(name: str, first_line: int | None, last_line: int | None) -> Wanted:
    """Citations are read here; `name:120` and `name:120:40` mean lines to the engine."""
    is_citation = _LINES.search(name) or (_OURS.match(name) and not {"?", "#"}.isdisjoint(name))
    if is_citation and (said := parse_citation(name)):
        return Wanted(said.name, *(said.lines or (first_line, last_line)))
    return Wanted(name, first_line, last_line)


def _glob(engine: "Engine", pattern: str) -> list[str]:
    pattern = _OURS.sub("", pattern, count=1).lstrip("/")
    return [info.file for info in engine.documents(filter=Compare("path", "glob", pattern))]


def _at_address(engine: "Engine", address: str) -> str | None:
    """The id of the document that was read from there; only the index is looked at."""
    from dowse.ingest.sources.given import parse_given  # most names are no addresses

    try:
        uri = parse_given(address).uri
    except UsageError:
        return None
    found = engine.documents(filter=Compare("uri", "eq", uri), limit=1)
    return str(found[0].id) if found else None
