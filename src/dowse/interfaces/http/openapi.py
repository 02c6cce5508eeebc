"""The description of the API, made from the table of routes that answers requests."""

import re
from functools import cache

from dowse import __version__
from dowse.interfaces.http.events import PATH as EVENTS
from dowse.interfaces.http.jobs import JOB
from dowse.interfaces.http.rows import Row
from dowse.interfaces.http.table import TABLE
from dowse.interfaces.mcp.dialect import Json

__all__ = ["described"]

_VARIABLE = re.compile(r"\{(\w+)(?::path)?\}")
_REASONS = {
    400: "What was sent is not what the route takes.",
    401: "A token is needed, or the one that was sent is wrong, expired or revoked.",
    403: "The token does not allow this, or a page of another origin asked.",
    404: "What was named is not there, or the token may not see it.",
    405: "The address does not know this method.",
    408: "The body came too slowly.",
    409: "The name is taken, several documents are meant, a guard refuses, or a cursor is out of date.",
    413: "The body is too large.",
    415: "The body is of another type.",
    421: "The request is addressed to a name that is none of this server's.",
    422: "The source cannot be read or understood.",
    429: "Too many requests; Retry-After says when to come again.",
    431: "The headers are too large.",
    500: "The index cannot be read, or something went wrong inside.",
    503: "Busy, locked, or a model is missing; Retry-After says when to come again.",
    504: "The answer took too long.",
    507: "The disk is full.",
}
_ALWAYS = (400, 401, 403, 405, 421, 429, 431, 500, 503, 504)
_WITH_BODY = (408, 413, 415)
_SUCCESS = {200: "Done", 201: "Made", 202: "Begun; see the job", 304: "Unchanged since the ETag that was sent"}
_META: Json = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string"},
        "elapsed_ms": {"type": "number", "description": "The server's own time."},
        "next_cursor": {"type": "string", "description": "Asks for the next page; absent on the last one."},
        "notes": {"type": "array", "items": {"type": "string"}, "description": "What the reader should know."},
    },
    "required": ["request_id", "elapsed_ms"],
    "additionalProperties": False,
}
_ERROR: Json = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "For programs."},
                "message": {"type": "string", "description": "What is wrong."},
                "hint": {"type": "string", "description": "What to do about it."},
                "details": {"type": "object"},
            },
            "required": ["code", "message", "hint", "details"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
    "additionalProperties": False,
}
_TAGS = {
    "search": "Find passages",
    "documents": "Read and write documents",
    "collections": "Collections and what is said of them",
    "jobs": "Long work",
    "standing": "How things stand",
    "checking": "Check citations and results",
    "server": "The server itself",
}


@cache
def described() -> Json:
    """The OpenAPI document."""
    paths: Json = {}
    for row in TABLE:
        paths.setdefault(_VARIABLE.sub(r"{\1}", row.path), {})[row.method.lower()] = _operation(row)
    paths |= _others()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dowse",
            "version": __version__,
            "description": "Search your documents by words and by meaning. Every success is "
            '`{"data": …, "meta": …}`, every error `{"error": {"code", "message", "hint", "details"}}`.',
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR, "Meta": _META, "Job": JOB},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that the server printed, or one of `dowse token create`.",
                }
            },
        },
    }


def _operation(row: Row) -> Json:
    in_path = _VARIABLE.findall(row.path)
    properties: Json = row.takes.get("properties", {})
    rest = {name: schema for name, schema in properties.items() if name not in in_path}
    required = [name for name in row.takes.get("required", []) if name not in in_path]
    made: Json = {
        "operationId": row.name,
        "summary": row.summary,
        "tags": [row.tag or "collections"],
        "responses": _responses(row, has_body=row.in_body or row.raw_body),
    }
    if row.description:
        made["description"] = row.description
    if row.writes:
        made["security"] = [{"token": []}]
    parameters = [_parameter(name, properties[name], "path", required=True) for name in in_path]
    if not row.in_body:
        parameters += [_parameter(name, schema, "query", required=name in required) for name, schema in rest.items()]
    if parameters:
        made["parameters"] = parameters
    if row.in_body:
        schema: Json = {"type": "object", "properties": rest, "additionalProperties": False}
        schema |= {"required": required} if required else {}
        made["requestBody"] = {"required": bool(required), "content": {"application/json": {"schema": schema}}}
    if row.raw_body:
        made["requestBody"] = {"required": True, "content": {"*/*": {"schema": {}}}}
    return made


def _parameter(name: str, schema: Json, place: str, *, required: bool) -> Json:
    about = schema.get("description", "")
    bare = {key: value for key, value in schema.items() if key != "description"}
    made: Json = {"name": name, "in": place, "required": required}
    if about:
        made["description"] = about
    if schema.get("type") == "object":  # as JSON in one parameter
        return made | {"content": {"application/json": {"schema": bare}}}
    return made | {"schema": bare}


def _responses(row: Row, *, has_body: bool) -> Json:
    success: Json = {
        "type": "object",
        "properties": {"data": row.gives, "meta": {"$ref": "#/components/schemas/Meta"}},
        "required": ["data", "meta"],
        "additionalProperties": False,
    }
    made: Json = {}
    for status in row.statuses:
        made[str(status)] = {"description": _SUCCESS[status]}
        if status != 304:  # noqa: PLR2004  # which has no body
            made[str(status)]["content"] = {"application/json": {"schema": success}}
    errors = sorted({*_ALWAYS, *row.errors, *(_WITH_BODY if has_body else ())})
    return made | _errors(errors)


def _errors(statuses: list[int]) -> Json:
    return {
        str(status): {
            "description": _REASONS[status],
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status in statuses
    }


def _others() -> Json:
    """What is no row of the table: the stream of a job's events, and what stands at the root."""
    from dowse.interfaces.http.root import ROOT  # which shows this description

    stream = {"text/event-stream": {"schema": {"type": "string"}}}
    events: Json = {
        "operationId": "job_events",
        "summary": "Follow a job: server-sent events `progress`, and at last `end`, each with the job as data",
        "tags": ["jobs"],
        "parameters": [
            {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Its id."}
        ],
        "responses": {"200": {"description": "Events until the job ends", "content": stream}}
        | _errors(sorted({*_ALWAYS, 404})),
    }
    paths: Json = {EVENTS: {"get": events}}
    for path, (name, summary, _) in ROOT.items():
        kind = "text/plain" if path == "/metrics" else "application/json"
        schema: Json = {"type": "string"} if path == "/metrics" else {"type": "object"}
        paths[path] = {
            "get": {
                "operationId": name,
                "summary": summary,
                "tags": ["server"],
                "responses": {"200": {"description": "Done", "content": {kind: {"schema": schema}}}}
                | _errors(sorted(_ALWAYS)),
            }
        }
    return paths
