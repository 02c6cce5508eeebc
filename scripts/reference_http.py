"""The reference of the HTTP API, from the description that the server itself gives."""

import json
from collections.abc import Iterator
from typing import Any

from reference_markdown import table

from dowse.interfaces.http import errors as http_errors
from dowse.interfaces.http.openapi import described
from dowse.interfaces.http.qmd import ROWS as QMD

Json = dict[str, Any]
_QUIET = {"401", "403", "405", "421", "429", "431", "500", "503", "504"}
"""What every route can answer: told once."""


def http_page() -> Iterator[str]:
    """Every route by its subject."""
    document = described()
    paths: Json = document["paths"]
    yield "Made from `/openapi.json`, which every server has. How to use it is in the [guide](../guides/http.md)."
    yield ""
    yield 'A success is `{"data": …, "meta": …}`; what `data` is stands below. A `*` marks what must be given. An'
    yield 'error is `{"error": {"code", "message", "hint", "details"}}`. Every route can answer these:'
    yield ""
    everywhere = paths["/api/v1/status"]["get"]["responses"]
    yield from table(["status", "why"], [(status, everywhere[status]["description"]) for status in sorted(_QUIET)])
    for tag in document["tags"]:
        yield f"## {tag['description']}"
        yield ""
        for path, methods in paths.items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(method.upper(), path, operation)
    yield from _qmd()
    yield from _codes()


def _operation(method: str, path: str, operation: Json) -> Iterator[str]:
    yield f"### {method} {path}"
    yield ""
    needs = " Needs a token that may write." if operation.get("security") == [{"token": []}] else ""
    yield f"{operation['summary']}.{needs} {operation.get('description', '')}".strip()
    yield ""
    rows = [
        (each["name"], each["in"], _kind(each), each.get("description", ""), each["required"])
        for each in operation.get("parameters", [])
    ]
    body = operation.get("requestBody", {}).get("content", {})
    if schema := body.get("application/json", {}).get("schema"):
        required = schema.get("required", [])
        rows += [
            (name, "body", _kind({"schema": each}), each.get("description", ""), name in required)
            for name, each in schema["properties"].items()
        ]
    if rows:
        yield from table(
            ["name", "in", "takes", "meaning"],
            [(f"`{name}`" + ("*" if must else ""), place, kind, about) for name, place, kind, about, must in rows],
        )
    yield from _answers(operation["responses"])


def _answers(responses: Json) -> Iterator[str]:
    said = []
    for status, response in responses.items():
        if status in _QUIET:
            continue
        said.append(f"{status} {response['description'].rstrip('.')}")
    yield f"Answers: {'; '.join(said)}."
    yield ""
    schema = next(iter(responses.values())).get("content", {}).get("application/json", {}).get("schema", {})
    data = schema.get("properties", {}).get("data")
    if data:
        yield f"`data`: {_shape(data)}"
        yield ""


def _shape(schema: Json) -> str:
    """An object's members in one line; what is optional has a question mark."""
    if schema.get("type") == "array":
        return f"a list of {_shape(schema['items'])}"
    properties = schema.get("properties")
    if not properties:
        return "an object"
    required = schema.get("required", [])
    return ", ".join(f"`{name}`" + ("" if name in required else "?") for name in properties)


def _kind(parameter: Json) -> str:
    """What a parameter takes, in words."""
    schema = parameter.get("schema")
    if schema is None:
        return "JSON object"
    kinds: Any = schema.get("type", "object")
    if "anyOf" in schema:
        return " or ".join(_kind({"schema": each}) for each in schema["anyOf"])
    if "enum" in schema:
        said = ", ".join(f"`{each}`" for each in schema["enum"])
    else:
        low, high = schema.get("minimum"), schema.get("maximum")
        span = f" {low:,} to {high:,}" if low is not None and high is not None else ""
        said = f"list of {schema['items'].get('type', 'any')}s" if kinds == "array" else f"{kinds}{span}"
    default = schema.get("default")
    return said if default is None else f"{said}; `{json.dumps(default)}`"


def _qmd() -> Iterator[str]:
    yield "## The endpoints of qmd"
    yield ""
    yield "The tools of its dialect at the root, with `snake_case` arguments, results as in MCP's"
    yield '`structuredContent`, and errors as `{"detail", "status_code"}`.'
    yield ""
    yield from table(
        ["route", "what", "takes"],
        [
            (f"{row.method} {row.path}", row.summary, ", ".join(f"`{name}`" for name in row.takes["properties"]))
            for row in QMD
        ],
    )


def _codes() -> Iterator[str]:
    yield "## Codes of errors"
    yield ""
    yield "Beside those of the [error tree](errors.md):"
    yield ""
    found = [getattr(http_errors, name) for name in http_errors.__all__]
    yield from table(
        ["code", "status", "meaning"],
        [
            (f"`{each.code}`", each.http_status, each.__doc__.splitlines()[0])
            for each in sorted(found, key=lambda each: (each.http_status, each.code))
        ],
    )
