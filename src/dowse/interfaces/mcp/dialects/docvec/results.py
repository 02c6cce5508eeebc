"""Passages as the docvec dialect shows them: their ids, and the metadata that their format has."""

from uuid import UUID

from dowse.filters.media import type_words
from dowse.ingest.sources.given import path_of_file_uri
from dowse.interfaces.mcp.dialect import Json
from dowse.types import Chunk, DocumentInfo, Hit

__all__ = ["chunk_id", "file_format", "result", "source_file"]

_FILE = "file://"
_BETWEEN_HEADERS = " > "


def chunk_id(document: UUID, ordinal: int) -> str:
    """The name of one passage: the same as long as its document does not change."""
    return f"{document.hex}_{ordinal}"


def source_file(uri: str) -> str:
    """The absolute path of a file, or the address of anything else."""
    return str(path_of_file_uri(uri)) if uri.startswith(_FILE) else uri


def file_format(media_type: str) -> str:
    """The family of formats: markdown, pdf, text, code, html, office, data, mail, notebook."""
    return type_words(media_type)[0]


def result(hit: Hit) -> Json:
    """One result of a search."""
    return {
        "chunk_id": chunk_id(hit.info.id, hit.ordinal),
        "content": hit.chunk.text,
        "score": round(hit.score, 4),
        "metadata": _metadata(hit.info, hit.chunk, hit.ordinal),
        "token_count": hit.chunk.tokens,
    }


def _metadata(info: DocumentInfo, chunk: Chunk, ordinal: int) -> Json:
    family = file_format(info.media_type)
    made: Json = {"source_file": source_file(info.uri), "chunk_index": ordinal, "file_format": family}
    for describe in _OF_FAMILY.get(family, (_headers, _page)):
        made |= describe(chunk)
    return made


def _headers(chunk: Chunk) -> Json:
    """Nothing above the first header, as a level is at least 1."""
    if not chunk.headings:
        return {}
    return {"header_path": _BETWEEN_HEADERS.join(chunk.headings), "header_level": chunk.level}


def _page(chunk: Chunk) -> Json:
    return {} if chunk.page is None else {"page_number": chunk.page} | _places(chunk, "page_position")


def _names(chunk: Chunk) -> Json:
    return _places(chunk, "class_name", "function_name")


def _lines(chunk: Chunk) -> Json:
    return {"start_line": chunk.first_line, "end_line": chunk.last_line}


def _places(chunk: Chunk, *names: str) -> Json:
    return {name: chunk.place[name] for name in names if name in chunk.place}


_OF_FAMILY = {
    "markdown": (_headers,),
    "pdf": (_page,),
    "code": (_names, _lines),
    "text": (_lines,),
}
"""What the specification lists; formats beyond it have headers and pages where there are some."""
