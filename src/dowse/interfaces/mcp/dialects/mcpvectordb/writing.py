"""`ingest_file`, `ingest_url` and `delete_document`."""

import os
from contextlib import suppress

from dowse.errors import NotFoundError, SourceError
from dowse.ingest.sources.given import Given, given_path, parse_given
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.mcpvectordb.reading import find, no_document
from dowse.interfaces.mcp.dialects.mcpvectordb.shapes import kept, source
from dowse.types import Ingested

__all__ = ["delete_document", "ingest_file", "ingest_url"]

_STATUS = {"added": "indexed", "replaced": "replaced", "described": "replaced", "unchanged": "skipped"}
_SECONDS_FOR_VECTORS = 20.0


def ingest_file(call: Call, arguments: Arguments) -> Reply:
    """One file, and never a folder: its result is one document."""
    path = call.check_path(arguments["path"])
    if os.path.isdir(path):  # noqa: PTH112  # unlike pathlib's, it says no where it may not look
        raise SourceError(f"{path} is a folder.", reason="folder", hint="Give the path of one file.")
    if not os.path.exists(path):  # noqa: PTH110  # the same
        raise NotFoundError(f"File not found: {path}")
    return _ingest(call, arguments, given_path(path))


def ingest_url(call: Call, arguments: Arguments) -> Reply:
    """What is at an address of the web."""
    return _ingest(call, arguments, parse_given(call.access.check_url(arguments["url"])))


def delete_document(call: Call, arguments: Arguments) -> Reply:
    """Out of the index; the file or page itself stays."""
    info = find(call.engine, arguments["doc_id"]).info
    try:
        call.engine.delete(info.id.urn)
    except NotFoundError as error:  # somebody was faster
        raise no_document(arguments["doc_id"]) from error
    return Reply.json({"status": "deleted", "doc_id": str(info.id), "deleted_chunks": info.chunks})


def _ingest(call: Call, arguments: Arguments, given: Given) -> Reply:
    library, metadata = arguments["library"], arguments.get("metadata")
    report = call.engine.ingest(
        given,
        collection=library,
        on_event=call.tell,
        metadata=None if metadata is None else kept(metadata),
        allow_private_urls=call.access.allow_private_urls,
        may_follow=call.access.may_fetch,
    )
    for entry in (*report.failed, *report.skipped):
        raise SourceError(entry.reason, reason=entry.code, hint=entry.hint)
    if not report.done:
        raise SourceError(f"{given.uri} left the index while it was ingested.", hint="Ingest it again.")
    return Reply.json(_ingested(report.done[0], _embed(call, report.done[0])))


def _embed(call: Call, done: Ingested) -> tuple[str, ...]:
    """Vectors for it; for what did not change only where some are missing since the last time."""
    if done.action == "unchanged":
        with suppress(NotFoundError):  # the library was removed meanwhile
            if not call.engine.collection(done.info.collection).unembedded:
                return ()
    return call.jobs.embed(call.engine, seconds=_SECONDS_FOR_VECTORS)


def _ingested(done: Ingested, warnings: tuple[str, ...]) -> Json:
    made: Json = {
        "status": _STATUS[done.action],
        "doc_id": str(done.info.id),
        "source": source(done.info),
        "library": done.info.collection,
        "chunk_count": done.info.chunks,
    }
    return made | ({"warnings": list(warnings)} if warnings else {})
