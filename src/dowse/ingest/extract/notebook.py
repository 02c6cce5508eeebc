"""Jupyter notebooks: their cells in order, as Markdown.

Markdown cells are what they are, so that their headings are headings. Code cells become fenced code in the
language of the kernel, followed by what they printed: text only, bounded, without images. Chunks say
which cells they come from; a group of cells begins with each heading, and where one grows long.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Block, BlockKind, Extracted, Unit
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.frontmatter import read_front_matter
from dowse.ingest.extract.markdown import markdown_blocks, title_of
from dowse.types import MetadataValue

__all__ = ["extract_notebook"]

_MOST_OUTPUT = 4_000
"""Characters kept of what one cell printed."""
_LONG_GROUP = 2_000
_MOST_NAMES = 64
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_INLINE_DATA = re.compile(r"(data:[\w.+/-]{1,80};base64,)[A-Za-z0-9+/=_-]{80,}+")
_COLOURS = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n\r])", re.MULTILINE)
_NO_WORDS = re.compile(r"<(?:[\w.]+ object(?: at 0x[0-9a-f]+)?|Figure size .*)>|Figure\(.*\)")
_MARKDOWN_TYPES = ("text/markdown", "text/latex")
_HEADING_LEVELS = range(1, 7)


def extract_notebook(data: bytes, name: str) -> Extracted:
    """Read a notebook of format 3 or 4.

    Raises:
        SourceError: reason `damaged`, when it is no JSON, or no notebook.
    """
    source = decode(data, name)
    notebook = _load(source, name) if source.strip() else {}
    about = _mapping(notebook.get("metadata"))
    cells = list(_cells(notebook)) if notebook else []
    language = _language(about, cells)
    text = _Text()
    for number, cell in enumerate(cells, 1):
        text.add_cell(number, cell, language)
    metadata = _metadata(about, language) | text.front_matter
    if text.cut:
        metadata |= {"truncated": True, "truncated_reason": f"{text.cut} of its cells printed more than is kept"}
    title = title_of(metadata) or next((block.label for block in text.blocks if block.label), None)
    return Extracted(text.joined(), tuple(text.blocks), title, metadata, tuple(text.units()))


def _load(source: str, name: str) -> Mapping[str, Any]:
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError):
        notebook = None
    if isinstance(notebook, dict) and ("nbformat" in notebook or isinstance(notebook.get("cells"), list)):
        return notebook
    raise SourceError(
        f"{name} is not a Jupyter notebook, or is cut off.",
        reason="damaged",
        hint="Open and save it in Jupyter, or restore it from a backup.",
    )


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    sheets = [notebook] if "cells" in notebook else notebook.get("worksheets")
    for sheet in sheets if isinstance(sheets, list) else ():
        cells = _mapping(sheet).get("cells")
        yield from (cell for cell in cells if isinstance(cell, dict)) if isinstance(cells, list) else ()


def _language(about: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> str:
    candidates = (
        _mapping(about.get("language_info")).get("name"),
        _mapping(about.get("kernelspec")).get("language"),
        *(cell["language"] for cell in cells if "language" in cell),
    )
    found = (each.lower() for each in candidates if isinstance(each, str) and _LANGUAGE.fullmatch(each))
    return next(found, "")


def _metadata(about: Mapping[str, Any], language: str) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {"language": language} if language else {}
    kernel = _mapping(about.get("kernelspec")).get("display_name")
    title = about.get("title")
    authors = about.get("authors")
    names = [_text(_mapping(each).get("name")) for each in authors] if isinstance(authors, list) else []
    metadata |= {"kernel": _text(kernel)} if _text(kernel) else {}
    metadata |= {"title": " ".join(_text(title).split())} if _text(title).strip() else {}
    metadata |= {"author": [each for each in names if each][:_MOST_NAMES]} if any(names) else {}
    return metadata


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    r"""A string, or a list of its lines, as the format has both; with `\n` as its only line end."""
    value = _joined(value).encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    value = _INLINE_DATA.sub("\\1\u2026", value) if ";base64," in value else value
    return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value


def _joined(value: object) -> str:
    if isinstance(value, list):
        lines = [each for each in value if isinstance(each, str)]
        return ("" if any(each.endswith("\n") for each in lines) else "\n").join(lines)
    return value if isinstance(value, str) else ""


class _Text:
    """The notebook in the making."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.front_matter: dict[str, MetadataValue] = {}
        self.cut = 0
        """How many cells printed more than is kept."""
        self._parts: list[str] = []
        self._size = 0
        self._groups: list[tuple[int, int, int]] = []
        """Where each group of cells starts, and its first and last cell."""

    def joined(self) -> str:
        return "".join(self._parts)

    def units(self) -> Iterator[Unit]:
        """Groups of cells; a single group needs no place."""
        if len(self._groups) > 1:
            for start, first, last in self._groups:
                yield Unit(start, place={"cells": f"{first}-{last}" if last > first else str(first)})

    def add_cell(self, number: int, cell: Mapping[str, Any], language: str) -> None:
        kind = cell.get("cell_type")
        source = _text(cell.get("source", cell.get("input"))).strip("\n")
        if kind == "code":
            self._add(number, _fenced(source, language), "code")
            printed = "\n".join(filter(None, map(_printed, _outputs(cell))))
            self._add(number, _fenced(self._bounded(printed.strip("\n")), "text"), "code")
        elif kind == "raw":
            self._add_raw(number, source)
        elif kind == "heading" and cell.get("level") in _HEADING_LEVELS:
            self._add(number, f"{'#' * cell['level']} {' '.join(source.split())}")
        else:
            self._add(number, source)

    def _add_raw(self, number: int, source: str) -> None:
        """Text for some converter; at the very top it may be front matter."""
        end, values = (0, {}) if self.blocks else read_front_matter(source)
        if end and not source[end:].strip():
            self.front_matter = values
            self._add(number, source, "front matter")
        else:
            self._add(number, source, "code")

    def _bounded(self, printed: str) -> str:
        if len(printed) <= _MOST_OUTPUT:
            return printed
        self.cut += 1
        return f"{printed[:_MOST_OUTPUT].rstrip()}\n\u2026 {len(printed) - _MOST_OUTPUT:,} more characters"

    def _add(self, number: int, text: str, kind: BlockKind | None = None) -> None:
        """Add text as one block of this kind; without a kind it is Markdown."""
        start = self._size
        whole = text.rstrip()
        blocks = markdown_blocks(whole) if kind is None else [Block(kind, 0, len(whole))] * bool(whole)
        if not blocks:
            return
        self._group(number, start, begins_section=blocks[0].kind == "heading")
        self.blocks += (block._replace(start=start + block.start, end=start + block.end) for block in blocks)
        self._parts += (whole, "\n\n")
        self._size += len(whole) + 2

    def _group(self, number: int, start: int, *, begins_section: bool) -> None:
        """Put the cell into the last group, or begin one; a heading never parts from what follows it."""
        same_cell = bool(self._groups) and self._groups[-1][2] == number
        after_heading = bool(self.blocks) and self.blocks[-1].kind == "heading"
        long = bool(self._groups) and start - self._groups[-1][0] >= _LONG_GROUP
        if not self._groups or (not same_cell and not after_heading and (begins_section or long)):
            self._groups.append((start, number, number))
        else:
            first = self._groups[-1]
            self._groups[-1] = (first[0], first[1], number)


def _fenced(code: str, info: str) -> str:
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{info}\n{code}\n{fence}"


def _outputs(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    outputs = cell.get("outputs")
    return (each for each in outputs if isinstance(each, dict)) if isinstance(outputs, list) else iter(())


def _printed(output: Mapping[str, Any]) -> str:
    """What an output says in words: a stream, a plain result, or the name of an error."""
    if "ename" in output:
        return f"{_text(output['ename'])}: {_text(output.get('evalue'))}"
    data = _mapping(output.get("data"))
    plain = _COLOURS.sub("", _joined(output.get("text", data.get("text/plain"))))
    shown = _OVERWRITTEN.sub("", plain) if "\r" in plain else plain
    if not shown.strip() or _NO_WORDS.fullmatch(shown.strip()):
        shown = next((_joined(data[each]) for each in _MARKDOWN_TYPES if each in data), "")
    return _text(shown).rstrip()
