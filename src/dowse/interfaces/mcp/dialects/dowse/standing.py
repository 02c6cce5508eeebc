"""`status`: what is in the index, who keeps it fresh, what is going on, and what could not be read."""

from dowse import __version__
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.dowse.answers import bounded, reply, without_empty
from dowse.interfaces.mcp.dialects.dowse.writing import counts
from dowse.interfaces.mcp.jobs import Job
from dowse.types import CollectionStats, IngestReport

__all__ = ["status"]

_JOBS = 20  # the latest
_LEFT_OUT = ("failures", "collections", "jobs", "watch")
"""What a budget does without, first to last."""


def status(call: Call, arguments: Arguments) -> Reply:
    """All of it, or one job."""
    jobs = call.jobs.all()
    if "job" in arguments:
        return reply(
            bounded(call.engine, {"jobs": [_job(call.jobs.get(arguments["job"]))]}, arguments["max_tokens"], ())
        )
    stats, watched = call.engine.stats(), call.engine.watched()
    # Which files fail takes a look at every entry; the counts say whether there are any.
    has_failures = any(each.failed for each in stats.collections)
    failures = [entry for entry in call.engine.ledger() if entry.state == "failed"] if has_failures else []
    made: Json = {
        "version": __version__,
        "documents": stats.documents,
        "passages": stats.chunks,
        "vectors": stats.vectors,
        "needs_embedding": sum(each.unembedded for each in stats.collections),
        "bytes_on_disk": stats.bytes_on_disk,
        "collections": [_collection(each) for each in stats.collections],
        "jobs": [_job(each) for each in list(jobs.values())[-_JOBS:]],
        "failures": [without_empty(wire.ledger_entry(entry)) for entry in failures[: arguments["failures"]]],
        "failures_total": len(failures),
    }
    watching = without_empty(
        {
            "since": wire.iso(watched.since),
            "last_batch": wire.iso(watched.last_batch_at),
            "collections": dict(watched.collections),
            "problems": dict(watched.problems),
        }
    )
    made["watch"] = {"state": watched.state} | watching
    made |= {"model": stats.model.name} if stats.model else {}
    return reply(bounded(call.engine, made, arguments["max_tokens"], _LEFT_OUT))


def _collection(stats: CollectionStats) -> Json:
    known = stats.collection
    made: Json = {
        "name": known.name,
        "documents": stats.documents,
        "needs_embedding": stats.unembedded,
        "failed": stats.failed,
        "skipped": stats.skipped,
        "included": known.included,
    }
    return made | without_empty({"folder": known.root, "updated": wire.iso(known.updated_at or known.created_at)})


def _job(job: Job) -> Json:
    made: Json = {"id": job.id, "what": job.what, "state": job.state, "started": wire.iso(job.started_at)}
    step = {name: getattr(job.event, name) for name in ("stage", "done", "total", "path")}
    more: Json = {
        "ended": wire.iso(job.ended_at),
        "step": without_empty(step) if job.state == "running" else None,
        "counts": counts(job.result) if isinstance(job.result, IngestReport) else None,
    }
    if job.error:
        error = {"code": job.error.code, "message": job.error.message, "hint": job.error.hint}
        more["error"] = without_empty(error)
    return made | without_empty(more)
