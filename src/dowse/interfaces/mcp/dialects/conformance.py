"""What the protocol's official conformance suite asks a server for, by the names that it uses. Not for users.

Nothing of it touches the index: it shows that whatever a dialect may answer passes through the framework unharmed.
`tests/clients/conformance.toml` lists what the suite asks for and no dialect needs.
"""

from collections.abc import Callable, Mapping, Sequence

from dowse.errors import DowseError
from dowse.interfaces.mcp.dialect import Arguments, Call, Dialect, Json, Prompt, PromptArgument, Reply, Resource, Tool
from dowse.types import Event

__all__ = ["DIALECT"]

_NOTHING: Json = {"type": "object", "properties": {}, "additionalProperties": False}
_STEPS = 3
_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
"""One black pixel."""
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A moment of nothing."""
_TEXT: Json = {"type": "text", "text": "A text, and nothing else."}
_IMAGE: Json = {"type": "image", "data": _PNG, "mimeType": "image/png"}
_AUDIO: Json = {"type": "audio", "data": _WAV, "mimeType": "audio/wav"}
_SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
"""With the words of JSON Schema that a careless server drops."""


def _failed(error: DowseError, _: str) -> Reply:
    return Reply.text(error.message, is_error=True)


def _embedded(uri: str) -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": f"The text of {uri}."}}


def _answers(*content: Json) -> Callable[[Call, Arguments], Reply]:
    """A tool that always says the same."""
    return lambda _, __: Reply(content)


def _fails(_: Call, __: Arguments) -> Reply:
    raise DowseError("This tool fails on purpose.")


def _steps(call: Call, _: Arguments) -> Reply:
    for number in range(1, _STEPS + 1):
        call.tell(Event("read", number, _STEPS))
    return Reply([_TEXT])


def _tool(name: str, run: Callable[[Call, Arguments], Reply], schema: Json = _NOTHING) -> Tool:
    return Tool(name, name, "A fixture of the conformance suite.", schema, run)


def _resource(uri: str, mime_type: str, read: Callable[[Mapping[str, str]], Json]) -> Resource:
    def contents(_: Call, asked: str, variables: Mapping[str, str]) -> Sequence[Json]:
        return [{"uri": asked, "mimeType": mime_type, **read(variables)}]

    return Resource(uri, uri, uri, "A fixture of the conformance suite.", mime_type, contents)


def _prompt(name: str, render: Callable[[Mapping[str, str]], str | Sequence[Json]], *arguments: str) -> Prompt:
    blanks = tuple(PromptArgument(each, "Anything.", required=True) for each in arguments)
    return Prompt(name, name, "A fixture of the conformance suite.", render, blanks)


DIALECT = Dialect(
    name="conformance",
    server_name="dowse-conformance",
    title="Fixtures of the conformance suite",
    failed=_failed,
    tools=(
        _tool("test_simple_text", _answers(_TEXT)),
        _tool("test_image_content", _answers(_IMAGE)),
        _tool("test_audio_content", _answers(_AUDIO)),
        _tool("test_embedded_resource", _answers(_embedded("test://embedded-resource"))),
        _tool("test_multiple_content_types", _answers(_TEXT, _IMAGE, _embedded("test://mixed-content-resource"))),
        _tool("test_error_handling", _fails),
        _tool("test_tool_with_progress", _steps),
        _tool("json_schema_2020_12_tool", _answers(_TEXT), _SCHEMA),
    ),
    resources=(
        _resource("test://static-text", "text/plain", lambda _: {"text": "A text that stays the same."}),
        _resource("test://static-binary", "image/png", lambda _: {"blob": _PNG}),
        _resource("test://template/{id}/data", "text/plain", lambda given: {"text": f"The data of {given['id']}."}),
    ),
    prompts=(
        _prompt("test_simple_prompt", lambda _: "A prompt without blanks."),
        _prompt("test_prompt_with_arguments", lambda given: f"{given['arg1']} and {given['arg2']}", "arg1", "arg2"),
        _prompt(
            "test_prompt_with_embedded_resource",
            lambda given: [_embedded(given["resourceUri"]), _TEXT],
            "resourceUri",
        ),
        _prompt("test_prompt_with_image", lambda _: [_IMAGE, _TEXT]),
    ),
)
