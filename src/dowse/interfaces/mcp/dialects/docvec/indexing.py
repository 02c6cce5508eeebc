"""`index_file` and `index_directory`: files into the index, each content once."""

from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR

from dowse.engine import DEFAULT_COLLECTION
from dowse.ingest.extract import media_type_of
from dowse.ingest.sources.given import given_path
from dowse.interfaces.mcp.access import RefusedError
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.docvec.failures import FailedError, reading_failed
from dowse.interfaces.mcp.dialects.docvec.folders import sift
from dowse.interfaces.mcp.dialects.docvec.results import chunk_id, file_format, source_file
from dowse.types import DocumentInfo, IngestReport

__all__ = ["index_directory", "index_file"]

_EMBED_SECONDS = 20.0  # within the call; what is left then follows in the background
_MOST_NOTES = 20


def index_file(call: Call, arguments: Arguments) -> Reply:
    """One file; where it is indexed and did not change, what is there already."""
    given = arguments["file_path"]
    path = _allowed(call, given)
    if _is_folder(path, given, "File"):
        raise FailedError("INVALID_INPUT", f"Not a file: {given}", hint="Index directories with index_directory")
    if media_type_of(path.name) is None:
        extension = path.suffix or path.name
        raise FailedError("UNSUPPORTED_FORMAT", f"Unsupported file format: {extension}", extension=extension)
    report = call.engine.ingest(given_path(path), collection=_collection(call), on_event=call.tell)
    for entry in (*report.failed, *report.skipped):
        raise reading_failed(entry.code, given, entry.reason, entry.hint)
    info = report.done[0].info
    warnings = _embed(call)
    passages = call.engine.chunks(info.id)
    return _reply(
        {
            "doc_hash": info.content_hash,
            "chunks_created": len(passages),
            "chunk_ids": _chunk_ids(info),
            "total_tokens": sum(passage.chunk.tokens for passage in passages),
            "file_format": file_format(info.media_type),
        },
        warnings,
    )


def index_directory(call: Call, arguments: Arguments) -> Reply:
    """The files of a folder whose content is not indexed yet."""
    given = arguments["dir_path"]
    folder = _allowed(call, given)
    if not _is_folder(folder, given, "Directory"):
        raise FailedError("INVALID_INPUT", f"Not a directory: {given}", hint="Index single files with index_file")
    collection = _collection(call)
    sifted = sift(call.engine, folder, collection, recursive=arguments["recursive"], tell=call.tell)
    report = IngestReport()
    if sifted.new:
        files = [given_path(Path(path)) for path in sifted.new]
        report = call.engine.ingest(*files, collection=collection, on_event=call.tell)
        sifted.settle(report, call.engine.collection(collection).collection.root)
    warnings = _embed(call)
    chunk_ids = {source_file(done.info.uri): _chunk_ids(done.info) for done in report.done}
    made = _reply(
        {
            "new_documents": len(report.done),
            "duplicates_skipped": sifted.duplicates,
            "errors": [{"file_path": path, "error": error} for path, error in sorted(sifted.errors.items())],
            "total_chunks": sum(map(len, chunk_ids.values())),
            "chunk_ids": chunk_ids,
        },
        warnings,
    )
    return replace(made, notes=tuple(sifted.reasons[:_MOST_NOTES]))


def _collection(call: Call) -> str:
    return call.settings.get("collection", DEFAULT_COLLECTION)


def _allowed(call: Call, given: str) -> Path:
    """The path that is meant; outside of the allowed folders the answer is the same whatever is there.

    Raises:
        FailedError: it may not be read.
    """
    try:
        return call.check_path(given)
    except RefusedError as error:
        raise FailedError("PERMISSION_DENIED", f"Permission denied: {given}", hint=error.hint) from error


def _is_folder(path: Path, given: str, kind: str) -> bool:
    """Whether this is a folder rather than a file.

    Raises:
        FailedError: it is not there, or cannot be looked at.
    """
    try:
        return S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FailedError("FILE_NOT_FOUND", f"{kind} not found: {given}", path=given) from error
    except OSError as error:
        raise FailedError("PERMISSION_DENIED", f"Permission denied: {given}", path=given) from error


def _embed(call: Call) -> tuple[str, ...]:
    """Give what is new its vectors; returns why there are none."""
    return tuple(
        f"Embedding service unavailable: {warning}" for warning in call.jobs.embed(call.engine, _EMBED_SECONDS)
    )


def _chunk_ids(info: DocumentInfo) -> list[str]:
    return [chunk_id(info.id, ordinal) for ordinal in range(info.chunks)]


def _reply(data: Json, warnings: tuple[str, ...]) -> Reply:
    return Reply.json({"success": True, "data": data | ({"warnings": list(warnings)} if warnings else {})})
