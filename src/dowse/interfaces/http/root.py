"""What stands at the root: is it alive, is it ready, what has it done, and what can it do?"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dowse import __version__
from dowse.errors import DowseError
from dowse.interfaces import wire
from dowse.interfaces.http.answering import JSON, Shared, failed
from dowse.interfaces.http.errors import BusyError, MethodError
from dowse.interfaces.http.metrics import BOUNDS
from dowse.interfaces.http.openapi import described
from dowse.interfaces.mcp.access import Access

from starlette.responses import Response  # isort: skip
from starlette.routing import BaseRoute, Route  # isort: skip
from starlette.types import Receive, Scope, Send  # isort: skip

__all__ = ["ROOT", "routes"]

_SECONDS = 10.0
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def health(_: Shared, __: Access) -> Response:
    """The process answers."""
    return _json({"status": "ok", "version": __version__})


def ready(shared: Shared, _: Access) -> Response:
    """The index opens, and whether questions of meaning can be answered from it."""
    engine = shared.serving.engine
    try:
        stats = engine.stats()
    except DowseError as error:
        raise BusyError(f"The index cannot be read: {error.message}", hint=error.hint) from error
    model = {"embedder": engine.config.embedder, "vectors": stats.vectors > 0}
    return _json({"status": "ready", "model": model})


def metrics(shared: Shared, access: Access) -> Response:
    """For Prometheus; what concerns the index, as far as the token sees it."""
    engine = shared.serving.engine.within(access.collections)
    known = engine.stats()
    jobs = shared.serving.jobs.seen_by(access.collections).all().values()
    lines = [
        *_metric("dowse_info", "gauge", "The version that runs.", [({"version": __version__}, 1)]),
        *_metric("dowse_start_time_seconds", "gauge", "When it started.", [({}, round(shared.metrics.started, 3))]),
        *_metric("dowse_requests_in_flight", "gauge", "Requests under way.", [({}, shared.metrics.in_flight)]),
        *_metric("dowse_search_processes", "gauge", "Processes that help with searches.", [({}, shared.lanes.helpers)]),
        *_requests(shared),
        *_metric("dowse_documents", "gauge", "Documents by collection.", _counted(known.collections, "documents")),
        *_metric("dowse_chunks", "gauge", "Passages by collection.", _counted(known.collections, "chunks")),
        *_metric("dowse_unembedded", "gauge", "Documents without vectors.", _counted(known.collections, "unembedded")),
        *_metric("dowse_failed_files", "gauge", "Files that could not be read.", _counted(known.collections, "failed")),
        *_metric("dowse_vectors", "gauge", "Vectors.", [({}, known.vectors)]),
        *_metric("dowse_index_bytes", "gauge", "Size on disk.", [({}, known.bytes_on_disk)]),
        *_metric(
            "dowse_jobs",
            "gauge",
            "Jobs by state.",
            [
                ({"state": state}, sum(job.state == state for job in jobs))
                for state in ("running", "done", "failed", "cancelled")
            ],
        ),
    ]
    return Response("\n".join([*lines, ""]), media_type=_PROMETHEUS)


def openapi(_: Shared, __: Access) -> Response:
    """The description of all routes."""
    return _json(described())


ROOT: Mapping[str, tuple[str, str, Callable[[Shared, Access], Response]]] = {
    "/health": ("health", "Is it alive?", health),
    "/ready": ("ready", "Can it answer?", ready),
    "/metrics": ("metrics", "Counts and times, in the text format of Prometheus", metrics),
    "/openapi.json": ("openapi", "This description", openapi),
}
"""By address: the operation's id, a summary, and what answers."""


def routes(shared: Shared) -> list[BaseRoute]:
    """One route per address."""
    return [Route(path, endpoint=_Endpoint(path, run, shared)) for path, (_, _, run) in ROOT.items()]


class _Endpoint:
    def __init__(self, path: str, run: Callable[[Shared, Access], Response], shared: Shared) -> None:
        self._path, self._run, self._shared = path, run, shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["dowse.route"] = f"GET {self._path}"
        try:
            if scope["method"] not in {"GET", "HEAD"}:
                raise MethodError(f"{scope['method'][:20]} is not known here.", hint="This address knows GET.")
            response = await self._shared.lanes.run("quick", _SECONDS, self._run, self._shared, scope["dowse.access"])
        except DowseError as error:
            response = failed(error, {"Allow": "GET"} if isinstance(error, MethodError) else None)
        await response(scope, receive, send)


def _json(value: object) -> Response:
    return Response(wire.compact(value).encode(), media_type=JSON)


def _counted(collections: Iterable[Any], what: str) -> list[tuple[Mapping[str, str], float]]:
    return [({"collection": each.collection.name}, getattr(each, what)) for each in collections]


def _requests(shared: Shared) -> list[str]:
    """Requests by route and status, and a histogram of their times."""
    counts: list[tuple[Mapping[str, str], float]] = []
    lines = ["# HELP dowse_request_seconds Times of requests.", "# TYPE dowse_request_seconds histogram"]
    for route, times in shared.metrics.routes().items():
        counts += [({"route": route, "status": str(status)}, count) for status, count in times.statuses.items()]
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), times.places, strict=True):
            total += count
            lines.append(f"dowse_request_seconds_bucket{_labels({'route': route, 'le': bound})} {total}")
        lines.append(f"dowse_request_seconds_sum{_labels({'route': route})} {times.seconds:.6f}")
        lines.append(f"dowse_request_seconds_count{_labels({'route': route})} {total}")
    return [*_metric("dowse_requests_total", "counter", "Requests by route and status.", counts), *lines]


def _metric(name: str, kind: str, about: str, values: Iterable[tuple[Mapping[str, str], float]]) -> list[str]:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    return [*lines, *(f"{name}{_labels(labels)} {value}" for labels, value in values)]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    # Quotes, backslashes and ends of lines are escaped as in JSON; nothing else is.
    said = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in labels.items())
    return "{" + ",".join(said) + "}"
