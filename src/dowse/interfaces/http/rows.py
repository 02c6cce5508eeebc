"""What a row of the table of routes is made of, and what its function works with."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dowse.interfaces.http.encoding import compact
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import LONGEST_TEXT, Arguments, Call, Json, Lane
from dowse.records import record

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.interfaces.http.metrics import Metrics
    from dowse.interfaces.mcp.jobs import Jobs

__all__ = ["LARGEST_BODY", "LARGEST_JSON", "Answered", "Asked", "Row", "enveloped"]

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

LARGEST_JSON = 1 << 20
LARGEST_BODY = 32 << 20
"""Bytes: a document can come inside of a request."""
_NOTHING: Json = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True)
class Asked:
    """One request, checked, for the function of its row."""

    engine: "Engine"
    """Shows only what this request's token may see."""
    access: Access
    jobs: "Jobs"
    metrics: "Metrics"
    arguments: Arguments
    """Those of the path, the query string and the JSON body, with the schema's defaults filled in."""
    request_id: str
    settings: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    """Of a row that takes anything but JSON."""
    media_type: str = ""
    """Of that body, without parameters."""
    if_none_match: str = ""
    started: float = field(default_factory=time.perf_counter)

    @cached_property
    def call(self) -> Call:
        """The same for what the dowse dialect does alike."""
        return Call(self.engine, self.access, self.jobs, self.settings)

    @cached_property
    def elapsed_ms(self) -> float:
        """The time until this was first asked for: a text that was counted must not change any more."""
        return round((time.perf_counter() - self.started) * 1000, 2)


@record
class Answered:
    """What a row's function gives."""

    data: Any = None
    next_cursor: str = ""
    notes: Sequence[str] = ()
    status: int = 0
    """0: the row's own."""
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """The whole response, where the function had to make it in order to count it."""


@record
class Row:
    """One row of the table of routes."""

    method: Method
    path: str
    """As Starlette reads it: `/api/v1/documents/{id:path}`."""
    name: str
    """The operation's id."""
    summary: str
    run: Callable[[Asked], Answered]
    gives: Json
    """The JSON Schema of `data`."""
    tag: str = ""
    takes: Json = field(default_factory=lambda: _NOTHING)
    """The JSON Schema of all arguments: those that the path does not name are the body's, or the query string's."""
    in_body: bool = False
    """Whether the arguments that the path does not name come as a JSON object; else in the query string."""
    raw_body: bool = False
    """Whether the body is a document of any type, and the other arguments come in the query string."""
    statuses: tuple[int, ...] = (200,)
    """On success, the usual one first."""
    errors: tuple[int, ...] = ()
    """Those that only this route has; what every route can say is added."""
    writes: bool = False
    lane: Lane | Callable[[Arguments], Lane] = "quick"
    elsewhere: bool = False
    """Whether another process may do it while it is quick: all that it needs is the index and its arguments."""
    paged: bool = False
    largest_body: int = LARGEST_JSON
    seconds: float = 30.0
    description: str = ""
    longest_text: int = LONGEST_TEXT
    fills_defaults: bool = True

    @property
    def input(self) -> Json:
        """What the checker of arguments asks for."""
        return self.takes

    @property
    def label(self) -> str:
        """How logs and metrics call it."""
        return f"{self.method} {self.path.replace(':path}', '}')}"


def enveloped(asked: Asked, answered: Answered) -> str:
    """The one shape of success."""
    meta: Json = {"request_id": asked.request_id, "elapsed_ms": asked.elapsed_ms}
    if answered.next_cursor:
        meta["next_cursor"] = answered.next_cursor
    if answered.notes:
        meta["notes"] = list(answered.notes)
    return compact({"data": answered.data, "meta": meta})
