"""The one application: MCP in all dialects, the API, what stands at the root, and the web page."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import field
from functools import partial

from dowse.errors import DowseError, NotFoundError
from dowse.interfaces.http import qmd, root
from dowse.interfaces.http.answering import Shared, failed, routes_of
from dowse.interfaces.http.deputies import Deputies
from dowse.interfaces.http.door import Door
from dowse.interfaces.http.errors import MethodError
from dowse.interfaces.http.events import events_route, is_stream
from dowse.interfaces.http.guard import Guard, Limits, to_stderr
from dowse.interfaces.http.lanes import Lanes
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.http.table import TABLE
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.http import endpoints_of
from dowse.interfaces.mcp.server import Serving
from dowse.interfaces.web import page_routes
from dowse.records import record

from starlette.applications import Starlette  # isort: skip
from starlette.exceptions import HTTPException  # isort: skip
from starlette.middleware import Middleware  # isort: skip
from starlette.middleware.gzip import GZipMiddleware  # isort: skip
from starlette.requests import Request  # isort: skip
from starlette.responses import Response  # isort: skip
from starlette.routing import BaseRoute  # isort: skip

__all__ = ["Options", "make_app"]

_SMALLEST = 1_024  # bytes that are worth compressing
_MANY = 4  # requests under way at which a job goes slower
_PAUSE, _LONGEST_PAUSE = 0.005, 0.1  # seconds at each of its steps: for every request, and at most
_LEVEL = 5  # most of what there is to gain, for a fraction of the time of 9


@record
class Options:
    """What the command line says of a server, beyond who may come in."""

    limits: Limits = field(default_factory=Limits)
    log: bool = False
    """Whether each request is told on stderr."""
    search_processes: int = 0
    """How many processes may look things up beside this one, when many ask at once."""


def make_app(
    dialects: Iterable[Dialect],
    default: str,
    serving: Serving,
    door: Door,
    more: Iterable[BaseRoute] = (),
    options: Options | None = None,
) -> Guard:
    """The application; `default` is the dialect at /mcp and /sse, `more` are further routes."""
    chosen = options or Options()
    shared = Shared(serving, lanes=Lanes(_deputies(serving, chosen.search_processes)))
    mcp_routes, running = endpoints_of(dialects, default, serving)
    routes = [
        *routes_of(TABLE, shared),  # what is asked the most comes first: they are tried one after the other
        events_route(shared),
        *mcp_routes,
        *root.routes(shared),
        *qmd.routes(shared),
        *page_routes(),
        *more,
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with running():
            yield
        await shared.lanes.close()

    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(GZipMiddleware, minimum_size=_SMALLEST, compresslevel=_LEVEL)],
        exception_handlers={HTTPException: _not_ours, DowseError: _failed},
    )
    app.router.redirect_slashes = False  # an address has one spelling
    serving.jobs.give_way = partial(_give_way, shared.metrics)
    return Guard(
        app,
        door,
        metrics=shared.metrics,
        limits=chosen.limits,
        is_stream=is_stream,
        refused=qmd.refused,
        log=to_stderr if chosen.log else None,
    )


def _deputies(serving: Serving, most: int) -> Deputies | None:
    config = serving.engine.config
    # What a ceiling leaves to one process is too little to be shared.
    return Deputies(config, most) if most and not config.max_memory else None


def _give_way(metrics: Metrics) -> None:
    """Jobs share this process with requests: a step of theirs waits while many of these are under way."""
    if metrics.in_flight >= _MANY:
        time.sleep(min(_LONGEST_PAUSE, _PAUSE * metrics.in_flight))


async def _failed(_: Request, error: Exception) -> Response:
    """What routes that are no endpoints of ours let through, in the one shape."""
    return failed(error if isinstance(error, DowseError) else DowseError("The request cannot be answered."))


async def _not_ours(request: Request, error: Exception) -> Response:
    """What the router itself refuses, in the one shape."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    known: dict[int, DowseError] = {
        404: NotFoundError("There is nothing at this address.", hint="See /openapi.json for what there is."),
        405: MethodError(f"{request.method[:20]} is not known here.", hint="See /openapi.json for what is."),
    }
    made = known.get(status) or DowseError("The request cannot be answered.")
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return failed(made, headers)
