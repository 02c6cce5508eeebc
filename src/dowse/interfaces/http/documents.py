"""Documents: list, read, put, delete."""

import hashlib
from collections.abc import Callable
from typing import Any

from dowse.errors import SourceError
from dowse.filters import from_operators
from dowse.ingest.freshness import freshness_of
from dowse.ingest.sources.given import given_content
from dowse.interfaces import wire
from dowse.interfaces.http import fields, paging
from dowse.interfaces.http.rows import LARGEST_BODY, Answered, Asked, Row
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.dowse import schemas
from dowse.search.citations import cite
from dowse.types import Chunk, Document, DocumentInfo, Passage

__all__ = ["METADATA", "ROWS", "listing"]

_ANY_TYPE = frozenset({"", "application/octet-stream", "application/x-www-form-urlencoded"})
"""What clients send when they do not know: then the type is found out."""
_GLOB_SIGNS = frozenset("*?[{")
_VECTOR_SECONDS = 2.0  # that a put waits for vectors; they are made in any case

_ORDERS: dict[str, tuple[Callable[[DocumentInfo], Any], bool]] = {
    "updated": (lambda info: (info.updated_at, info.file), False),
    "-updated": (lambda info: (info.updated_at, info.file), True),
    "title": (lambda info: (info.title.casefold(), info.file), False),
    "-title": (lambda info: (info.title.casefold(), info.file), True),
}


def listed(asked: Asked) -> Answered:
    """One page of the documents."""
    arguments = asked.arguments
    limit, offset = arguments["limit"], paging.offset_of(arguments)
    name, prefix = arguments.get("collection"), arguments.get("prefix", "")
    wanted = from_operators(arguments.get("filters", {}))
    if arguments["sort"] == "path":
        found = asked.engine.documents(name, prefix=prefix, filter=wanted, limit=limit + 1, offset=offset)
    else:
        key, descending = _ORDERS[arguments["sort"]]
        everything = asked.engine.documents(name, prefix=prefix, filter=wanted)
        found = sorted(everything, key=key, reverse=descending)[offset : offset + limit + 1]
    more = paging.next_cursor(arguments, offset + limit) if len(found) > limit else ""
    return Answered([listing(info) for info in found[:limit]], more)


def read(asked: Asked) -> Answered:
    """One document with its text, unless the client has it already."""
    arguments = asked.arguments
    document = asked.engine.get(
        arguments["id"], first_line=arguments.get("first_line"), max_lines=arguments.get("max_lines")
    )
    passages = asked.engine.chunks(document.info.id) if arguments["passages"] else None
    data = _document(document, passages, asked.engine.config.editor)
    etag = f'"{hashlib.blake2s(repr(data).encode(errors="backslashreplace"), digest_size=16).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    if etag in {each.strip().removeprefix("W/") for each in asked.if_none_match.split(",")} or (
        asked.if_none_match.strip() == "*"
    ):
        return Answered(status=304, headers=headers)
    return Answered(data, headers=headers)


def put(asked: Asked) -> Answered:
    """Add or replace a document whose content comes with the request."""
    arguments = asked.arguments
    asked.engine.collection(arguments["name"])
    declared = "" if asked.media_type in _ANY_TYPE else asked.media_type
    report = asked.engine.ingest(
        given_content(asked.body, arguments["path"]),
        collection=arguments["name"],
        metadata=arguments.get("metadata"),
        content_type=declared,
    )
    if not report.done:
        entry = next(iter((*report.failed, *report.skipped)), None)
        reason = entry.reason if entry else "There was nothing to read."
        raise SourceError(reason, reason=entry.code if entry else "missing", hint=entry.hint if entry else "")
    made = report.done[0]
    warnings = asked.jobs.embed(asked.engine, seconds=_VECTOR_SECONDS)
    return Answered(
        listing(made.info) | {"action": made.action}, notes=warnings, status=201 if made.action == "added" else 200
    )


def delete(asked: Asked) -> Answered:
    """Take a document out of the index; its file stays. One at a time: signs of a glob are but signs here."""
    name: str = asked.arguments["id"]
    if not _GLOB_SIGNS.isdisjoint(name):
        name = str(asked.engine.get(name).info.id)
    found = asked.engine.delete(name)
    named = [{"file": info.file, "docid": info.docid, "id": str(info.id)} for info in found]
    return Answered({"deleted": len(found), "documents": named})


def listing(info: DocumentInfo) -> Json:
    """A document without its text."""
    return wire.document_info(info) | {"created": wire.iso(info.created_at)}


def _document(document: Document, passages: list[Passage] | None, editor: str) -> Json:
    here = Chunk("", 0, 0, document.first_line, document.first_line, 0)
    made = listing(document.info) | {
        "text": document.text,
        "first_line": document.first_line,
        "total_lines": document.total_lines,
        "context": wire.context_text(document.contexts),
        "freshness": freshness_of(document.info),
        "editor": cite(document.info, here, editor).editor,
    }
    return made if passages is None else made | {"passages": [_passage(each) for each in passages]}


def _passage(passage: Passage) -> Json:
    chunk = passage.chunk
    return {
        "passage": passage.ordinal,
        "start": chunk.start,
        "end": chunk.end,
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "page": chunk.page,
        "headings": list(chunk.headings),
        "level": chunk.level,
        "tokens": chunk.tokens,
        "place": dict(chunk.place),
    }


METADATA: Json = schemas.INGEST["properties"]["metadata"]
LISTING: Json = {
    "docid": fields.TEXT,
    "file": fields.TEXT,
    "title": fields.TEXT,
    "collection": fields.TEXT,
    "path": fields.TEXT,
    "uri": fields.TEXT,
    "bytes": fields.WHOLE,
    "media_type": fields.TEXT,
    "origin": fields.enum("walked", "ingested"),
    "chunks": fields.WHOLE,
    "metadata": fields.ANYTHING,
    "id": fields.ID,
    "content_hash": fields.TEXT,
    "created": fields.maybe(fields.TIME),
    "updated": fields.maybe(fields.TIME),
}
_PASSAGE = fields.object_of(
    {
        "passage": fields.WHOLE,
        "start": fields.WHOLE,
        "end": fields.WHOLE,
        "first_line": fields.WHOLE,
        "last_line": fields.WHOLE,
        "page": fields.maybe(fields.WHOLE),
        "headings": fields.list_of(fields.TEXT),
        "level": fields.WHOLE,
        "tokens": fields.WHOLE,
        "place": fields.ANYTHING,
    }
)
_DOCUMENT = fields.object_of(
    LISTING
    | {
        "text": fields.TEXT,
        "first_line": fields.WHOLE,
        "total_lines": fields.WHOLE,
        "context": fields.maybe(fields.TEXT),
        "freshness": fields.FRESHNESS,
        "editor": fields.TEXT,
    },
    {"passages": fields.list_of(_PASSAGE)},
)
DELETED = fields.object_of(
    {
        "deleted": fields.WHOLE,
        "documents": fields.list_of(fields.object_of({"file": fields.TEXT, "docid": fields.TEXT, "id": fields.ID})),
    }
)
_ID = fields.text("Its id, its docid (with or without `#`), or collection/path.", 1, 4_096)
_ACTION = {"action": fields.enum("added", "replaced", "described", "unchanged")}

ROWS = (
    Row(
        "GET",
        "/api/v1/documents",
        "list_documents",
        "List documents",
        listed,
        fields.list_of(fields.object_of(LISTING)),
        tag="documents",
        takes=fields.taking(
            {
                "collection": fields.text("Only of this collection.", 1, 200),
                "prefix": fields.text("Only paths that start so.", 0, 4_096),
                "filters": schemas.SEARCH["properties"]["filters"],
                "sort": fields.choice("The order; - for descending.", ("path", *_ORDERS), default="path"),
                "limit": fields.whole("At most so many.", 1, 1_000, default=50),
                "cursor": fields.CURSOR,
            }
        ),
        errors=(404,),
        paged=True,
    ),
    Row(
        "GET",
        "/api/v1/documents/{id:path}",
        "get_document",
        "Read a document",
        read,
        _DOCUMENT,
        tag="documents",
        takes=fields.taking(
            {
                "id": _ID,
                "passages": fields.flag("Also tell how it was cut into passages."),
                "first_line": fields.whole("The text from this line on.", 1, 1_000_000_000),
                "max_lines": fields.whole("At most so many lines of the text.", 1, 1_000_000_000),
            },
            "id",
        ),
        statuses=(200, 304),
        errors=(404,),
        description="Has an ETag: asked again with If-None-Match, an unchanged document is answered with 304.",
    ),
    Row(
        "DELETE",
        "/api/v1/documents/{id:path}",
        "delete_document",
        "Take a document out of the index; its file stays",
        delete,
        DELETED,
        tag="documents",
        takes=fields.taking({"id": _ID}, "id"),
        errors=(404, 409, 503, 507),
        writes=True,
        lane="write",
    ),
    Row(
        "PUT",
        "/api/v1/collections/{name}/documents/{path:path}",
        "put_document",
        "Add or replace a document by its content",
        put,
        fields.object_of(LISTING | _ACTION),
        tag="documents",
        takes=fields.taking(
            {
                "name": fields.text("The collection.", 1, 200),
                "path": fields.text("What to call it, as files are: minutes/2026-11.md", 1, 1_024),
                "metadata": METADATA,
            },
            "name",
            "path",
        ),
        raw_body=True,
        statuses=(201, 200),
        errors=(404, 409, 422, 503, 507),
        writes=True,
        lane="write",
        largest_body=LARGEST_BODY,
        seconds=120.0,
        description="The body is the document, its Content-Type the document's; application/octet-stream: found out.",
    ),
)
