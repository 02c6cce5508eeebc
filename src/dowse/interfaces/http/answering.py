"""One endpoint per address: checks a request by its row, has the row's function do it, and renders what comes of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.interfaces import wire
from dowse.interfaces.http import asking
from dowse.interfaces.http.bodies import body_of
from dowse.interfaces.http.deputies import Errand
from dowse.interfaces.http.door import unauthorized
from dowse.interfaces.http.errors import MethodError
from dowse.interfaces.http.lanes import Lanes
from dowse.interfaces.http.making import make
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.http.rows import Answered, Asked, Row, enveloped
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.schema import Checker
from dowse.records import record

from starlette.datastructures import Headers  # isort: skip
from starlette.responses import Response  # isort: skip
from starlette.routing import BaseRoute, Route  # isort: skip
from starlette.types import Receive, Scope, Send  # isort: skip

if TYPE_CHECKING:
    from dowse.interfaces.mcp.access import Access
    from dowse.interfaces.mcp.server import Serving

__all__ = ["JSON", "Shape", "Shared", "as_error", "failed", "routes_of"]

JSON = "application/json"


@dataclass(frozen=True)
class Shared:
    """What all routes of a process work with."""

    serving: "Serving"
    metrics: Metrics = field(default_factory=Metrics)
    lanes: Lanes = field(default_factory=Lanes)


def failed(error: DowseError, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of errors."""
    return as_error(error, dict(wire.error(error)), headers)


def as_error(error: DowseError, body: Json, headers: Mapping[str, str] | None = None) -> Response:
    """An error with this body, and the headers that belong to its status."""
    more = dict(headers or {})
    if error.http_status == 401:  # noqa: PLR2004  # Unauthorized
        more["WWW-Authenticate"] = 'Bearer realm="dowse"'
    if error.http_status == 408:  # noqa: PLR2004  # Request Timeout
        more["Connection"] = "close"
    if error.http_status in {429, 503}:
        more["Retry-After"] = str(error.details.get("retry_after", 1))
    return Response(wire.compact(body).encode(), error.http_status, more, media_type=JSON)


@record
class Shape:
    """What answers of some routes look like."""

    made: Callable[[Asked, Answered], str] = enveloped
    failed: Callable[[DowseError, Mapping[str, str] | None], Response] = failed


def routes_of(rows: Iterable[Row], shared: Shared, shape: Shape = Shape()) -> list[BaseRoute]:  # noqa: B008  # frozen
    """One route per address, in the order of the table."""
    by_path: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_path.setdefault(row.path, {})[row.method] = row
    return [Route(path, endpoint=_Endpoint(methods, shared, shape)) for path, methods in by_path.items()]


class _Endpoint:
    """Every method of one address."""

    def __init__(self, methods: Mapping[str, Row], shared: Shared, shape: Shape) -> None:
        self._rows = {method: (row, Checker(row)) for method, row in methods.items()}
        self._shared = shared
        self._shape = shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        row, checker = self._rows.get(method, (None, None))
        if row is None or checker is None:
            wrong = _wrong_method(scope["method"], self._rows)
            response = self._shape.failed(wrong, {"Allow": ", ".join(self._rows)})
        else:
            scope["dowse.route"] = row.label
            try:
                response = await self._answer(row, checker, scope, receive)
            except DowseError as error:
                response = self._shape.failed(error, None)
        await response(scope, receive, send)

    async def _answer(self, row: Row, checker: Checker, scope: Scope, receive: Receive) -> Response:
        headers = Headers(scope=scope)
        access: Access = scope["dowse.access"]
        asking.check_spelling(scope)
        if row.writes:
            if access.lacks_token and not access.read_only:
                raise unauthorized()
            access.check_writing()
        body = await body_of(receive, headers, row.largest_body)
        arguments = asking.arguments_of(row, checker, scope, headers, body)
        serving = self._shared.serving
        asked = Asked(
            engine=serving.engine.within(access.collections),
            access=access,
            jobs=serving.jobs.seen_by(access.collections),
            metrics=self._shared.metrics,
            arguments=arguments,
            request_id=scope["dowse.request_id"],
            settings=serving.settings,
            body=body if row.raw_body else b"",
            media_type=asking.media_type_of(headers) if row.raw_body else "",
            if_none_match=headers.get("if-none-match", ""),
        )
        lane = row.lane if isinstance(row.lane, str) else row.lane(arguments)
        errand = Errand.of(row, asked) if row.elsewhere else None
        made = await self._shared.lanes.run(lane, row.seconds, make, row, asked, self._shape.made, errand=errand)
        return Response(made.body, made.status, made.headers, media_type=None if made.body is None else JSON)


def _wrong_method(method: str, known: Iterable[str]) -> MethodError:
    return MethodError(f"{method[:20]} is not known here.", hint=f"This address knows {', '.join(known)}.")
