"""`ingest` and `delete`: what changes the index."""

import time
from collections.abc import Iterable, Sequence

from dowse.errors import NotFoundError, SourceError
from dowse.ingest.sources.given import Given, given_content, given_path, parse_given
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Reply
from dowse.interfaces.mcp.dialects.dowse import naming
from dowse.interfaces.mcp.dialects.dowse.answers import rendered, reply, without_empty
from dowse.interfaces.mcp.jobs import Job, OnEvent, WorkCancelledError
from dowse.types import DocumentInfo, Ingested, IngestReport, LedgerEntry

__all__ = ["counts", "delete", "given_of", "ingest"]

_SECONDS = 3.0  # that a call waits; then it answers with the job
_STEP = 0.1  # seconds between two looks at the job
_VECTOR_SECONDS = 2.0  # that it waits for vectors beyond that
_DEFAULT_COLLECTION = "default"
_LISTED = 50  # documents, failures and skipped files that are told one by one


def ingest(call: Call, arguments: Arguments) -> Reply:
    """Bring something in; what takes longer goes on as a job."""
    given = given_of(call, arguments)
    collection: str = arguments.get("collection") or call.settings.get("collection") or _DEFAULT_COLLECTION

    def work(tell: OnEvent) -> IngestReport:
        report = call.engine.ingest(
            given,
            collection=collection,
            metadata=arguments.get("metadata"),
            content_type=arguments.get("content_type", ""),
            allow_private_urls=call.access.allow_private_urls,
            may_follow=call.access.may_fetch,
            on_event=tell,
        )
        if report.done:
            call.jobs.embed(call.engine, seconds=0)
        return report

    job = call.jobs.start(f"Ingesting into {collection}", work, collections=[collection])
    if not _awaited(call, job):
        return reply(rendered({"state": "running", "collection": collection, "job": job.id}))
    if job.error is not None:
        raise job.error
    if not isinstance(job.result, IngestReport):
        raise WorkCancelledError("The work was cancelled.")
    report = job.result
    _check(report, is_folder=given.path is not None and given.path.is_dir())
    warnings = call.jobs.embed(call.engine, seconds=_VECTOR_SECONDS) if report.done else ()
    return reply(rendered({"state": "done", "collection": collection} | _report(report, warnings)))


def delete(call: Call, arguments: Arguments) -> Reply:
    """Take documents out of the index; their files stay."""
    names = [naming.bare_name(name) for name in arguments["names"]]
    found = call.engine.delete(*names, collection=arguments.get("collection"))
    documents = [_named(info) for info in found[:_LISTED]]
    return reply(rendered({"deleted": len(found), "documents": documents}))


def counts(report: IngestReport) -> dict[str, int]:
    """How many became what."""
    made = {"failed": len(report.failed), "skipped": len(report.skipped)}
    for each in report.done:
        made[each.action] = made.get(each.action, 0) + 1
    return {name: count for name, count in made.items() if count}


def given_of(call: Call, arguments: Arguments) -> Given:
    """What is to be ingested, if this connection may.

    Raises:
        BadArgumentsError: it is neither a source nor named content, or both.
        RefusedError: the connection may not read it.
    """
    if ("source" in arguments) == ("content" in arguments):
        raise BadArgumentsError("Give either 'source' or 'content', and not both.", details={"argument": "source"})
    if ("content" in arguments) != ("name" in arguments):
        raise BadArgumentsError("Arguments 'content' and 'name' go together.", details={"argument": "name"})
    if "content" in arguments:
        return given_content(arguments["content"], arguments["name"])
    given = parse_given(arguments["source"])
    if given.kind == "url":
        call.access.check_url(given.uri)
    if given.path is None:
        return given
    path = call.check_path(given.path)
    if not path.exists():
        raise NotFoundError(f"There is no file or folder {arguments['source']}.", hint="Give its absolute path.")
    return given_path(path)


def _awaited(call: Call, job: Job) -> bool:
    """Whether it ended in time. The client is told its steps; if it cancels the call, the job ends, too."""
    until = time.monotonic() + _SECONDS
    event = None
    try:
        while not job.wait(_STEP):
            if job.event is not event:
                event = job.event
                call.tell(event)
            if time.monotonic() > until:
                return False
    except BaseException:
        job.cancel()
        raise
    return True


def _check(report: IngestReport, *, is_folder: bool) -> None:
    """A single source that came to nothing is an error; in a folder that is usual."""
    if report.done or is_folder:
        return
    entry = next(iter((*report.failed, *report.skipped)), None)
    if entry is None:
        raise SourceError("There was nothing to read.", reason="missing")
    raise SourceError(entry.reason, reason=entry.code, hint=entry.hint)


def _report(report: IngestReport, warnings: Sequence[str]) -> Json:
    return without_empty(
        {
            "documents": [_ingested(each) for each in report.done[:_LISTED]],
            "counts": counts(report),
            "failed": _entries(report.failed[:_LISTED]),
            "skipped": _entries(report.skipped[:_LISTED]),
            "warnings": list(warnings),
        }
    )


def _ingested(each: Ingested) -> Json:
    return _named(each.info) | {"title": each.info.title, "passages": each.info.chunks, "action": each.action}


def _named(info: DocumentInfo) -> Json:
    return {"file": info.file, "docid": info.docid, "id": str(info.id)}


def _entries(entries: Iterable[LedgerEntry]) -> list[Json]:
    return [without_empty(wire.ledger_entry(entry)) for entry in entries]
