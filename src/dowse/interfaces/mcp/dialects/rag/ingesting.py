"""`rag_ingest`, `rag_delete` and `rag_create_collection`: what changes the index."""

import re

from dowse.errors import ConflictError, UsageError
from dowse.ingest.sources.given import Given, parse_given
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.rag import metadata
from dowse.interfaces.mcp.dialects.rag.collections import CHUNKING, find_collection, new_settings
from dowse.interfaces.mcp.dialects.rag.content_types import MEDIA_TYPES, lower_name
from dowse.interfaces.mcp.dialects.rag.documents import find_document
from dowse.interfaces.mcp.dialects.rag.failures import (
    CollectionExistsError,
    InvalidUriError,
    LoadFailedError,
    TextTooLongError,
)
from dowse.interfaces.mcp.dialects.rag.ids import ulid
from dowse.types import IngestReport, LedgerEntry

__all__ = ["create_collection", "delete", "ingest"]

_SCHEME = re.compile(r"\s*(?:file|https?|data):", re.IGNORECASE)
_TOO_LONG = {"too_large", "too_many_passages"}
_SECONDS = 20.0  # that a call waits for vectors
_SHOWN = 60


def ingest(call: Call, arguments: Arguments) -> Reply:
    """One document, searchable by its words and by its meaning when this returns."""
    given = _given(arguments["uri"])
    find_collection(call.engine, arguments["collection"])
    said = metadata.stored(arguments["metadata"]) if "metadata" in arguments else None
    report = call.engine.ingest(
        _allowed(call, given),
        collection=arguments["collection"],
        metadata=said,
        content_type=MEDIA_TYPES.get(arguments.get("content_type", ""), ""),
        allow_private_urls=call.access.allow_private_urls,
        may_follow=call.access.may_fetch,
        on_event=call.tell,
    )
    return _ingested(report, call.jobs.embed(call.engine, seconds=_SECONDS) if report.done else ())


def delete(call: Call, arguments: Arguments) -> Reply:
    """One document out of the index, by its id."""
    info = find_document(call.engine, arguments["doc_id"]).info
    call.engine.delete(str(info.id))
    return Reply.json(
        {
            "success": True,
            "deleted_doc_id": ulid(info.id),
            "source_uri": info.uri,
            "collection": info.collection,
        }
    )


def create_collection(call: Call, arguments: Arguments) -> Reply:
    """A collection without a folder, with the settings that the specification starts from."""
    name, description = arguments["name"], arguments.get("description", "")
    try:
        call.engine.add_collection(None, name=name, description=description, chunking=CHUNKING, settings=new_settings())
    except ConflictError as error:
        raise CollectionExistsError(f"Collection already exists: {name}") from error
    return Reply.json({"success": True, "name": name, "description": description})


def _given(uri: str) -> Given:
    if not _SCHEME.match(uri):
        raise InvalidUriError(
            f"{uri[:_SHOWN]!r} is no URI of a document.", hint="Supported are file://, https://, http:// and data:"
        )
    try:
        return parse_given(uri)
    except UsageError as error:
        raise InvalidUriError(error.message, hint=error.hint) from error


def _allowed(call: Call, given: Given) -> Given:
    """The same if this connection may read it, and if it is one document."""
    if given.kind == "url":
        call.access.check_url(given.uri)
    limit = call.engine.config.max_file_size
    if given.data is not None and len(given.data) > limit:
        raise TextTooLongError(f"The content has {len(given.data):,} bytes; the limit is {limit:,}.")
    if given.path is not None and call.check_path(given.path).is_dir():
        raise LoadFailedError(f"{given.path} is a folder.", hint="Give its files one by one.")
    return given


def _ingested(report: IngestReport, warnings: tuple[str, ...]) -> Reply:
    if not report.done:
        raise _not_loaded(next(iter((*report.failed, *report.skipped)), None))
    info = report.done[0].info
    result: Json = {
        "success": True,
        "doc_id": ulid(info.id),
        "collection": info.collection,
        "source_uri": info.uri,
        "content_type": lower_name(info.media_type),
        "chunks_created": info.chunks,
    }
    return Reply.json(result | ({"warnings": list(warnings)} if warnings else {}))


def _not_loaded(entry: LedgerEntry | None) -> TextTooLongError | LoadFailedError:
    if entry is None:  # it was there a moment ago
        return LoadFailedError("The document is not there any more.")
    kind = TextTooLongError if entry.code in _TOO_LONG else LoadFailedError
    return kind(entry.reason, hint=entry.hint)
