"""Our nouns in the words of mcpvectordb, and its metadata in ours."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from dowse.ingest.extract.formats import FORMATS
from dowse.ingest.sources.given import path_of_file_uri
from dowse.interfaces.mcp.dialect import Json
from dowse.types import DocumentInfo, Hit, MetadataValue

__all__ = ["WEB", "document", "kept", "media_types_of", "moment", "result", "source"]

WEB = "http"
"""How the URIs of what has a content type instead of a file name start."""

_FILE = "file://"
_LAST_SECOND = 253_402_300_799  # of the year 9999; file systems know later ones
_SUFFIXES = {
    each.media_type: next(suffix[1:] for suffix in each.suffixes if suffix.startswith(".")) for each in FORMATS
}
_AS_JSON = "json:"


def source(info: DocumentInfo) -> str:
    """The absolute path of a file, or else the address."""
    return str(path_of_file_uri(info.uri)) if info.uri.startswith(_FILE) else info.uri


def moment(milliseconds: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(min(milliseconds // 1000, _LAST_SECOND), UTC).isoformat()


def last_modified(info: DocumentInfo) -> str:
    """When the file or page changed; where nobody says, when it changed here."""
    return moment(info.fingerprint.mtime_ns // 1_000_000 or info.updated_at)


def file_type(info: DocumentInfo) -> str:
    """The extension; what has none goes by its content, and a page by its content type."""
    name = "" if info.uri.startswith(WEB) else unquote(info.uri).rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    if stem and suffix:
        return suffix.lower()
    return _SUFFIXES.get(info.media_type) or info.media_type.rpartition("/")[2]


def media_types_of(suffix: str) -> tuple[str, ...]:
    """The media types whose documents are called so where they have no extension."""
    return tuple(media_type for media_type, known in _SUFFIXES.items() if known == suffix)


def result(hit: Hit) -> Json:
    """One passage that was found."""
    return {
        **_named(hit.info),
        "file_type": file_type(hit.info),
        "last_modified": last_modified(hit.info),
        "page": hit.chunk.page or 0,
        "content": hit.chunk.text,
        "chunk_index": hit.ordinal,
        "metadata": told(hit.info.metadata),
    }


def document(info: DocumentInfo, **more: object) -> Json:
    """A document in the members that listings and whole documents share, and those that are given."""
    return {**_named(info), **more, "metadata": told(info.metadata), "chunk_count": info.chunks}


def _named(info: DocumentInfo) -> Json:
    return {"doc_id": str(info.id), "source": source(info), "title": info.title, "library": info.collection}


def kept(metadata: Mapping[str, Any]) -> dict[str, MetadataValue]:
    """Any metadata as the index keeps it: what is neither a plain value nor a list of texts becomes a text of JSON."""
    return {key: value if _is_plain(value) else _AS_JSON + json.dumps(value) for key, value in metadata.items()}


def told(metadata: Mapping[str, MetadataValue]) -> Json:
    """The same as it was given."""
    return {key: _told(value) for key, value in metadata.items()}


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return not value.startswith(_AS_JSON)
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, int | float)


def _told(value: MetadataValue) -> Any:
    if isinstance(value, str) and value.startswith(_AS_JSON):
        with suppress(ValueError):  # a document's own words may start like that
            return json.loads(value.removeprefix(_AS_JSON))
    return value
