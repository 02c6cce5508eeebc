"""How things stand: status, figures for plots, what could not be read, and the map of the corpus."""

import time
from collections import Counter, defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import accumulate

from dowse import __version__
from dowse.interfaces import wire
from dowse.interfaces.http import fields, paging
from dowse.interfaces.http.collections import COLLECTION, collection
from dowse.interfaces.http.jobs import JOB, job_json
from dowse.interfaces.http.rows import Answered, Asked, Row
from dowse.interfaces.mcp.dialect import Json
from dowse.types import DocumentInfo

__all__ = ["ROWS"]

_JOBS = 20  # the latest
_NO_VECTORS = "There are no vectors yet. Make them: dowse embed"


def status(asked: Asked) -> Answered:
    """What is in the index, who keeps it fresh, what is going on, and what this request may do."""
    stats, watched = asked.engine.stats(), asked.engine.watched()
    access = asked.access
    jobs = list(asked.jobs.all().values())[-_JOBS:]
    return Answered(
        {
            "version": __version__,
            "documents": stats.documents,
            "chunks": stats.chunks,
            "vectors": stats.vectors,
            "needs_embedding": sum(each.unembedded for each in stats.collections),
            "bytes_on_disk": stats.bytes_on_disk,
            "model": asdict(stats.model) if stats.model else None,
            "collections": [collection(each) for each in stats.collections],
            "watch": wire.watched(watched),
            "jobs": [job_json(job) for job in reversed(jobs)],
            "failures": sum(each.failed for each in stats.collections),
            "access": {
                "can_write": not (access.read_only or access.lacks_token),
                "collections": None if access.collections is None else sorted(access.collections),
            },
        }
    )


def stats(asked: Asked) -> Answered:
    """Counts by type, collection, month and day, and how fast this server answers."""
    known = asked.engine.stats()
    documents = asked.engine.documents()
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for info in documents:
        sizes[info.media_type].append(info.fingerprint.size)
    by_type = [{"media_type": kind, "documents": len(each), "bytes": sum(each)} for kind, each in sizes.items()]
    by_collection = Counter[str]()
    for info in documents:
        by_collection[info.collection] += info.fingerprint.size
    months = Counter(_month(info) for info in documents)
    return Answered(
        {
            "documents": known.documents,
            "chunks": known.chunks,
            "vectors": known.vectors,
            "bytes_on_disk": known.bytes_on_disk,
            "by_type": sorted(by_type, key=lambda each: (-int(str(each["documents"])), str(each["media_type"]))),
            "by_collection": [
                {
                    "collection": each.collection.name,
                    "documents": each.documents,
                    "chunks": each.chunks,
                    "bytes": by_collection[each.collection.name],
                }
                for each in known.collections
            ],
            "by_month": [{"month": month, "documents": months[month]} for month in sorted(months)],
            "growth": _growth(documents),
            "latency": _latency(asked),
            "uptime_s": round(time.time() - asked.metrics.started, 1),
        }
    )


def failures(asked: Asked) -> Answered:
    """The files that are not indexed, each with its reason."""
    arguments = asked.arguments
    name = arguments.get("collection")
    if name is not None:
        asked.engine.collection(name)
    found = [entry for entry in asked.engine.ledger(name) if entry.state == arguments["state"]]
    page, more = paging.page_of(found, arguments)
    return Answered(
        [wire.ledger_entry(each) | {"collection": each.collection, "path": each.path} for each in page], more
    )


def map_of(asked: Asked) -> Answered:
    """A map of passages; the same one as long as the index is the same."""
    found = asked.engine.landscape(asked.arguments.get("collections", ()), limit=asked.arguments["limit"])
    points = [
        {
            "id": str(each.info.id),
            "title": each.info.title,
            "file": each.info.file,
            "collection": each.info.collection,
            "passage": each.ordinal,
            "x": each.x,
            "y": each.y,
        }
        for each in found.points
    ]
    made = {
        "points": points,
        "total": found.total,
        "sampled": len(points),
        "explained": list(found.explained),
        "model": found.model or None,
    }
    return Answered(made, notes=() if points else (_NO_VECTORS,))


def _month(info: DocumentInfo) -> str:
    """That in which its source was changed, or else in which it was indexed."""
    milliseconds = info.fingerprint.mtime_ns // 1_000_000 or info.updated_at
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m")
    except (ValueError, OverflowError, OSError):  # a clock that was far off
        return "1970-01"


def _growth(documents: list[DocumentInfo]) -> list[Json]:
    """How much of what is there now was there at the end of each day on which something came."""
    counts, sizes = Counter[str](), Counter[str]()
    for info in documents:
        day = datetime.fromtimestamp(info.created_at / 1000, UTC).strftime("%Y-%m-%d")
        counts[day] += 1
        sizes[day] += info.fingerprint.size
    days = sorted(counts)
    totals = zip(accumulate(counts[day] for day in days), accumulate(sizes[day] for day in days), strict=True)
    return [{"day": day, "documents": count, "bytes": size} for day, (count, size) in zip(days, totals, strict=True)]


def _latency(asked: Asked) -> list[Json]:
    return [
        {
            "route": name,
            "count": each.count,
            "errors": each.errors,
            **{f"p{share}_ms": round(each.percentile(share / 100) * 1000, 2) for share in (50, 90, 99)},
        }
        for name, each in asked.metrics.routes().items()
    ]


_COUNTED: Json = {"documents": fields.WHOLE, "bytes": fields.WHOLE}
_TOTALS: Json = dict.fromkeys(("documents", "chunks", "vectors", "bytes_on_disk"), fields.WHOLE)
_STATUS = fields.object_of(
    _TOTALS
    | {
        "version": fields.TEXT,
        "needs_embedding": fields.WHOLE,
        "model": fields.maybe(fields.ANYTHING),
        "collections": fields.list_of(fields.object_of(COLLECTION)),
        "watch": fields.ANYTHING,
        "jobs": fields.list_of(JOB),
        "failures": fields.WHOLE,
        "access": fields.object_of(
            {"can_write": fields.FLAG, "collections": fields.maybe(fields.list_of(fields.TEXT))}
        ),
    }
)
_LATENCY = fields.object_of(
    {
        "route": fields.TEXT,
        "count": fields.WHOLE,
        "errors": fields.WHOLE,
        **dict.fromkeys(("p50_ms", "p90_ms", "p99_ms"), fields.NUMBER),
    }
)
_STATS = fields.object_of(
    _TOTALS
    | {
        "by_type": fields.list_of(fields.object_of({"media_type": fields.TEXT, **_COUNTED})),
        "by_collection": fields.list_of(
            fields.object_of({"collection": fields.TEXT, "chunks": fields.WHOLE, **_COUNTED})
        ),
        "by_month": fields.list_of(fields.object_of({"month": fields.TEXT, "documents": fields.WHOLE})),
        "growth": fields.list_of(fields.object_of({"day": fields.TEXT, **_COUNTED})),
        "latency": fields.list_of(_LATENCY),
        "uptime_s": fields.NUMBER,
    }
)
_STATES = ("failed", "skipped", "excluded")
FAILURE = fields.object_of(
    {
        "file": fields.TEXT,
        "collection": fields.TEXT,
        "path": fields.TEXT,
        "state": fields.enum(*_STATES),
        "code": fields.TEXT,
        "reason": fields.TEXT,
        "hint": fields.TEXT,
        "at": fields.maybe(fields.TIME),
    }
)
_POINT = fields.object_of(
    {
        "id": fields.ID,
        "title": fields.TEXT,
        "file": fields.TEXT,
        "collection": fields.TEXT,
        "passage": fields.WHOLE,
        "x": fields.NUMBER,
        "y": fields.NUMBER,
    }
)
_MAP = fields.object_of(
    {
        "points": fields.list_of(_POINT),
        "total": fields.WHOLE,
        "sampled": fields.WHOLE,
        "explained": fields.list_of(fields.NUMBER),
        "model": fields.maybe(fields.TEXT),
    }
)

ROWS = (
    Row("GET", "/api/v1/status", "status", "See how the index stands", status, _STATUS, tag="standing"),
    Row("GET", "/api/v1/stats", "stats", "Figures for plots", stats, _STATS, tag="standing"),
    Row(
        "GET",
        "/api/v1/failures",
        "list_failures",
        "List the files that are not indexed, with reasons",
        failures,
        fields.list_of(FAILURE),
        tag="standing",
        takes=fields.taking(
            {
                "collection": fields.text("Only of this collection.", 1, 200),
                "state": fields.choice("Which of them.", _STATES, default="failed"),
                "limit": fields.whole("At most so many.", 1, 1_000, default=100),
                "cursor": fields.CURSOR,
            }
        ),
        errors=(404,),
        paged=True,
    ),
    Row(
        "GET",
        "/api/v1/map",
        "map",
        "A map of the passages by their vectors",
        map_of,
        _MAP,
        tag="standing",
        takes=fields.taking(
            {
                "collections": fields.texts("Only of these.", 100),
                "limit": fields.whole("At most so many points, spread evenly.", 1, 20_000, default=5_000),
            }
        ),
        errors=(404,),
        lane="model",
    ),
)
