"""Jobs: long work by id, seen from outside. The work itself is that of `interfaces/mcp/jobs.py`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dowse.evaluate import Evaluation, Plan
from dowse.interfaces import wire
from dowse.interfaces.http import fields
from dowse.interfaces.http.documents import METADATA
from dowse.interfaces.http.rows import LARGEST_BODY, Answered, Asked, Row
from dowse.interfaces.mcp.access import RefusedError
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.dowse import schemas
from dowse.interfaces.mcp.dialects.dowse.writing import given_of
from dowse.interfaces.mcp.jobs import Job, OnEvent
from dowse.types import EmbedReport, IndexReport, IngestReport

__all__ = ["JOB", "ROWS", "UPDATING", "job_json", "start_update"]

_DEFAULT_COLLECTION = "default"


def started(asked: Asked) -> Answered:
    """Begin an update of collections, or the making of vectors."""
    arguments = asked.arguments
    if arguments["kind"] == "update":
        names = arguments.get("collections") or [each.name for each in asked.engine.known_collections()]
        for name in names:
            asked.engine.collection(name)
        return Answered(job_json(start_update(asked, names)))
    if asked.access.collections is not None:
        raise RefusedError(
            "Vectors are made for all collections at once, and this token is for some.",
            hint="An update of a collection makes those that it lacks.",
        )
    engine, force = asked.engine, arguments["force"]

    def work(tell: OnEvent) -> EmbedReport:
        return engine.embed(on_event=tell, force=force)

    return Answered(job_json(asked.jobs.start("Making vectors", work, kind="embed")))


def start_update(asked: Asked, names: Sequence[str]) -> Job:
    """Begin bringing these collections up to date."""
    arguments, engine, jobs = asked.arguments, asked.engine, asked.jobs
    web: Any = arguments.get("web", "leave")

    def work(tell: OnEvent) -> list[IndexReport]:
        reports = [
            engine.index(
                name,
                on_event=tell,
                prune=arguments.get("prune", False),
                retry=arguments.get("retry", False),
                web=web,
            )
            for name in names
        ]
        if arguments.get("embed", True):
            jobs.embed(engine, seconds=0)
        return reports

    return jobs.start(f"Updating {', '.join(names)[:200]}", work, kind="update", collections=names)


def ingest(asked: Asked) -> Answered:
    """Bring something in, and wait for it a while."""
    arguments, engine, jobs = asked.arguments, asked.engine, asked.jobs
    given = given_of(asked.call, arguments)
    collection: str = arguments.get("collection") or asked.settings.get("collection") or _DEFAULT_COLLECTION

    def work(tell: OnEvent) -> IngestReport:
        report = engine.ingest(
            given,
            collection=collection,
            metadata=arguments.get("metadata"),
            content_type=arguments.get("content_type", ""),
            allow_private_urls=asked.access.allow_private_urls,
            on_event=tell,
        )
        if report.done:
            jobs.embed(engine, seconds=0)
        return report

    job = jobs.start(f"Ingesting into {collection}", work, collections=[collection])
    return _awaited(job, arguments["wait"])


def evaluated(asked: Asked) -> Answered:
    """Measure the answers on queries made from the documents, and wait for it a while."""
    arguments, engine = asked.arguments, asked.engine
    plan = Plan(
        collections=tuple(arguments.get("collections", ())),
        modes=tuple(arguments.get("modes", ())),
        sample=arguments["sample"],
        remember=asked.access.collections is None,  # the history is that of the whole index
    )
    for name in plan.collections:
        engine.collection(name)

    def work(tell: OnEvent) -> Evaluation:
        return engine.evaluate(plan, on_event=tell)

    job = asked.jobs.start("Measuring the answers", work, kind="eval", collections=plan.collections or None)
    return _awaited(job, arguments["wait"])


def _awaited(job: Job, seconds: float) -> Answered:
    """The job at its end, or as it runs after these seconds."""
    if not job.wait(seconds):
        return Answered(job_json(job), status=202)
    if job.error is not None:
        raise job.error
    return Answered(job_json(job), status=200)


def listed(asked: Asked) -> Answered:
    """Those that run and the latest that ended, newest first."""
    return Answered([job_json(job) for job in reversed(list(asked.jobs.all().values()))])


def read(asked: Asked) -> Answered:
    """One job."""
    return Answered(job_json(asked.jobs.get(asked.arguments["job"])))


def cancel(asked: Asked) -> Answered:
    """Let it end at its next step; what it has done stays."""
    job = asked.jobs.get(asked.arguments["job"])
    job.cancel()
    return Answered(job_json(job))


def job_json(job: Job) -> Json:
    """A job as everybody sees it."""
    return {
        "id": job.id,
        "kind": job.kind,
        "what": job.what,
        "collections": sorted(job.collections) if job.collections is not None else None,
        "state": job.state,
        "started": wire.iso(job.started_at),
        "ended": wire.iso(job.ended_at),
        "step": asdict(job.event),
        "result": _result(job.result),
        "error": wire.error(job.error)["error"] if job.error else None,
    }


def _result(result: object) -> Json | None:
    if isinstance(result, IngestReport):
        return wire.ingest_report(result)
    if isinstance(result, EmbedReport):
        return wire.embed_report(result)
    if isinstance(result, Evaluation):
        return wire.evaluation(result)
    if isinstance(result, list):
        return {"collections": [wire.index_report(each) for each in result]}
    return None


JOB = fields.object_of(
    {
        "id": fields.TEXT,
        "kind": fields.enum("update", "ingest", "embed", "eval"),
        "what": fields.TEXT,
        "collections": fields.maybe(fields.list_of(fields.TEXT)),
        "state": fields.enum("running", "done", "failed", "cancelled"),
        "started": fields.maybe(fields.TIME),
        "ended": fields.maybe(fields.TIME),
        "step": fields.object_of(
            {
                "stage": fields.enum("walk", "read", "store", "embed", "ask", "done"),
                "done": fields.WHOLE,
                "total": fields.WHOLE,
                "path": fields.TEXT,
                "note": fields.TEXT,
            }
        ),
        "result": fields.maybe(fields.ANYTHING),
        "error": fields.maybe(fields.ANYTHING),
    }
)
UPDATING: Json = {
    "prune": fields.flag("Delete also where so much is gone that it looks like a mistake."),
    "retry": fields.flag("Try again what took too long to read."),
    "web": fields.choice("Whether to ask the servers of web pages what changed.", ("leave", "ask"), default="leave"),
    "embed": fields.flag("Make vectors afterwards.", default=True),
}
_WAIT: Json = {
    "type": "number",
    "minimum": 0,
    "maximum": 30,
    "default": 3,
    "description": "Seconds to wait for its end; then the job is answered as it runs (202).",
}
_ONE = "/api/v1/jobs/{job}"
_NAMED = fields.taking({"job": fields.text("Its id.", 1, 100)}, "job")

ROWS = (
    Row(
        "POST",
        "/api/v1/ingest",
        "ingest",
        "Add a file, a folder, a web address or a text",
        ingest,
        JOB,
        tag="jobs",
        takes=fields.taking(
            schemas.INGEST["properties"]
            | {
                "metadata": METADATA,
                "wait": _WAIT,
            }
        ),
        in_body=True,
        statuses=(200, 202),
        errors=(404, 409, 422, 503, 507),
        writes=True,
        lane="write",
        largest_body=LARGEST_BODY,
        longest_text=LARGEST_BODY,
        seconds=45.0,
    ),
    Row(
        "POST",
        "/api/v1/jobs",
        "start_job",
        "Start an update of collections, or the making of vectors",
        started,
        JOB,
        tag="jobs",
        takes=fields.taking(
            UPDATING
            | {
                "kind": fields.choice("What to do.", ("update", "embed")),
                "collections": fields.texts("Which to update; without it, all.", 1_000),
                "force": fields.flag("embed: make all vectors anew."),
            },
            "kind",
        ),
        in_body=True,
        statuses=(202,),
        errors=(404, 503),
        writes=True,
    ),
    Row(
        "POST",
        "/api/v1/eval",
        "evaluate",
        "Measure the answers on queries made from the documents",
        evaluated,
        JOB,
        tag="jobs",
        takes=fields.taking(
            {
                "collections": fields.texts("Whose documents; without it, those that are searched by default.", 1_000),
                "modes": {
                    "type": "array",
                    "items": fields.enum("lex", "vec", "hybrid"),
                    "uniqueItems": True,
                    "maxItems": 3,
                    "description": "How to ask; without it, in every way that the index can answer.",
                },
                "sample": fields.whole("How many queries of each kind.", 1, 1_000) | {"default": 50},
                "wait": _WAIT,
            }
        ),
        in_body=True,
        statuses=(200, 202),
        errors=(404, 409, 422, 503),
        writes=True,
        seconds=45.0,
        description="The figures are in the job's `result`: recall@10, MRR@10, nDCG@10 and latency by mode, and what "
        "changed since the run before.",
    ),
    Row("GET", "/api/v1/jobs", "list_jobs", "List jobs", listed, fields.list_of(JOB), tag="jobs"),
    Row("GET", _ONE, "get_job", "See a job", read, JOB, tag="jobs", takes=_NAMED, errors=(404,)),
    Row(
        "DELETE",
        _ONE,
        "cancel_job",
        "Cancel a job; what it has done stays",
        cancel,
        JOB,
        tag="jobs",
        takes=_NAMED,
        statuses=(202,),
        errors=(404,),
        writes=True,
    ),
)
