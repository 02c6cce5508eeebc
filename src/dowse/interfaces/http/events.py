"""The events of a job, as a stream that can be joined at any time and left at any time."""

import asyncio
from collections.abc import AsyncIterator

from dowse.errors import DowseError
from dowse.interfaces import wire
from dowse.interfaces.http import asking
from dowse.interfaces.http.answering import Shared, failed
from dowse.interfaces.http.jobs import job_json
from dowse.interfaces.mcp.jobs import Job

from starlette.responses import StreamingResponse  # isort: skip
from starlette.routing import Route  # isort: skip
from starlette.types import Receive, Scope, Send  # isort: skip

__all__ = ["PATH", "events_route", "is_stream"]

PATH = "/api/v1/jobs/{job}/events"
_LABEL = f"GET {PATH}"
_LOOK = 0.1  # seconds between two looks at the job
_QUIET = 15.0  # seconds after which a comment shows that somebody is there


def events_route(shared: Shared) -> Route:
    """The route; a stream holds no thread."""
    return Route(PATH, endpoint=_Events(shared), methods=["GET"])


def is_stream(path: str) -> bool:
    """Whether an answer at this address lasts as long as its client wants."""
    if path.startswith("/api/"):
        return path.startswith("/api/v1/jobs/") and path.endswith("/events")
    return path.endswith(("/mcp", "/sse")) or path.startswith("/mcp/")


class _Events:
    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["dowse.route"] = _LABEL
        try:
            asking.check_spelling(scope)
            asking.refuse_parameters(scope)
            job = self._shared.serving.jobs.seen_by(scope["dowse.access"].collections).get(scope["path_params"]["job"])
        except DowseError as error:
            await failed(error)(scope, receive, send)
            return
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = StreamingResponse(_events(job), headers=headers, media_type="text/event-stream")
        await response(scope, receive, send)


async def _events(job: Job) -> AsyncIterator[str]:
    """How it stands, then each change, and last of all its end."""
    told: object = None
    quiet = 0.0
    while True:
        ended = job.state != "running"
        if ended:
            yield _event("end", job)
            return
        if job.event is not told:
            told, quiet = job.event, 0.0
            yield _event("progress", job)
        elif quiet >= _QUIET:
            quiet = 0.0
            yield ": still running\n\n"
        await asyncio.sleep(_LOOK)
        quiet += _LOOK


def _event(name: str, job: Job) -> str:
    return f"event: {name}\ndata: {wire.compact(job_json(job))}\n\n"
