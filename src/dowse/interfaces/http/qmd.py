"""The endpoints of qmd's own server, at the root: the tools of its dialect, with snake_case and errors of its form."""

import re
from collections.abc import Callable, Mapping

from dowse.errors import DowseError, UsageError
from dowse.interfaces.http import fields
from dowse.interfaces.http.answering import Shape, Shared, as_error, routes_of
from dowse.interfaces.http.encoding import compact
from dowse.interfaces.http.errors import TooLargeError
from dowse.interfaces.http.rows import LARGEST_BODY, Answered, Asked, Row
from dowse.interfaces.mcp.dialect import Arguments, Json, Tool
from dowse.interfaces.mcp.dialects import load

from starlette.responses import Response  # isort: skip
from starlette.routing import BaseRoute  # isort: skip

__all__ = ["ROWS", "refused", "routes"]

_CAPITAL = re.compile("[A-Z]")
_MOST_TEXTS = 1_000
_POSTED = ("search", "vsearch", "query", "get", "multi_get")


def routes(shared: Shared) -> list[BaseRoute]:
    """One per tool, and `/embed`."""
    return routes_of(ROWS, shared, Shape(lambda _, answered: compact(answered.data), _failed))


def refused(path: str, error: DowseError) -> Response | None:
    """The form of errors at these addresses; None elsewhere."""
    return _failed(error, None) if path in _PATHS else None


def _failed(error: DowseError, headers: Mapping[str, str] | None) -> Response:
    detail = " ".join(filter(None, [error.message, error.hint]))
    return as_error(error, {"detail": detail, "status_code": error.http_status}, headers)


def _embed(asked: Asked) -> Answered:
    texts = asked.arguments["texts"]
    if not texts:
        raise UsageError("There are no texts to embed.", hint='Send {"texts": ["..."]}.')
    if len(texts) > _MOST_TEXTS:
        raise TooLargeError(f"More than {_MOST_TEXTS:,} texts at once.", hint="Send fewer.")
    return Answered({"embeddings": asked.engine.embed_texts(texts).tolist()})


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def _running(tool: Tool, spelled: Mapping[str, str]) -> Callable[[Asked], Answered]:
    """Calls the tool by its own names, and gives what it says to programs."""

    def run(asked: Asked) -> Answered:
        reply = tool.run(asked.call, {spelled[name]: value for name, value in asked.arguments.items()})
        if reply.structured is not None:
            return Answered(reply.structured)
        documents = [each["resource"] for each in reply.content if each["type"] == "resource"]
        if tool.name == "get":
            return Answered(documents[0])
        skipped = [each["text"] for each in reply.content if each["type"] == "text"]
        return Answered({"documents": documents, "skipped": skipped})

    return run


def _row(tool: Tool) -> Row:
    spelled = {_snake(name): name for name in tool.input["properties"]}
    takes = tool.input | {"properties": {name: tool.input["properties"][own] for name, own in spelled.items()}}
    lane = tool.lane
    return Row(
        "POST" if tool.name in _POSTED else "GET",
        f"/{tool.name}",
        f"qmd_{tool.name}",
        tool.title,
        _running(tool, spelled),
        tool.output or fields.ANYTHING,
        tag="qmd",
        takes=takes,
        in_body=tool.name in _POSTED,
        lane=lane if isinstance(lane, str) else (lambda arguments: lane(_own(arguments, spelled))),
        errors=(404, 409),
    )


def _own(arguments: Arguments, spelled: Mapping[str, str]) -> Arguments:
    return {spelled[name]: value for name, value in arguments.items()}


def _rows() -> tuple[Row, ...]:
    texts: Json = {"type": "array", "items": {"type": "string"}, "description": "At most 1,000 texts."}
    return (
        *(_row(tool) for tool in load("qmd").tools),
        Row(
            "POST",
            "/embed",
            "qmd_embed",
            "Vectors of texts",
            _embed,
            fields.object_of({"embeddings": fields.list_of(fields.list_of(fields.NUMBER))}),
            tag="qmd",
            takes=fields.taking({"texts": texts}, "texts"),
            in_body=True,
            lane="model",
            largest_body=LARGEST_BODY,
            seconds=120.0,
        ),
    )


ROWS = _rows()
_PATHS = frozenset(row.path for row in ROWS)
