"""From a dialect's tables to a server: what is listed, what is restored, what is refused."""

import json

import pytest

from dowse.interfaces.mcp.access import Access
from interfaces.mcp.probe import PROBE
from interfaces.mcp.talking import in_process

ERAS = ("handshake", "stateless")


@pytest.fixture(params=ERAS)
def talk(request, tmp_path):
    with in_process(PROBE, tmp_path, request.param) as talk:
        yield talk


def code_of(result):
    return json.loads(result["content"][0]["text"])["code"]


def test_tools_are_listed_as_their_rows_say(talk):
    echo = talk.request("tools/list")["tools"][0]
    assert echo == {
        "name": "echo",
        "title": "Echo",
        "description": "Says it.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "required": ["said"]},
        "annotations": {
            "title": "Echo",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


def test_a_connection_that_may_only_read_neither_sees_nor_calls_tools_that_write(tmp_path):
    with in_process(PROBE, tmp_path, access=Access(read_only=True)) as talk:
        assert "write" not in {tool["name"] for tool in talk.request("tools/list")["tools"]}
        error = talk.error("tools/call", {"name": "write"})
        assert (error["code"], error["message"]) == (-32602, "Unknown tool: write")
        assert talk.call("echo", {"text": "hi"})["structuredContent"] == {"said": "hi"}


def test_a_dialect_that_does_not_trust_addresses_takes_only_those_that_were_allowed(tmp_path):
    with in_process(PROBE, tmp_path) as talk:
        assert code_of(talk.failure("fetch", {"url": "https://example.org/"})) == "refused"
    allowed = Access(url_patterns=("example.org",))
    with in_process(PROBE, tmp_path, access=allowed) as talk:
        assert talk.call("fetch", {"url": "https://EXAMPLE.org"})["structuredContent"] == {
            "url": "https://example.org/"
        }
        assert code_of(talk.failure("fetch", {"url": "https://example.com/"})) == "refused"
        assert code_of(talk.failure("fetch", {"url": "ftp://example.org/"})) == "usage"


def test_resources_keep_members_that_the_protocol_does_not_know(talk):
    (contents,) = talk.request("resources/read", {"uri": "probe://things/one%20two"})["contents"]
    assert contents == {
        "uri": "probe://things/one%20two",
        "mimeType": "text/plain",
        "text": "<one%20two>",
        "title": "a member of ours",
    }


def test_fixed_resources_are_listed_and_templates_beside_them(talk):
    assert [each["uri"] for each in talk.request("resources/list")["resources"]] == ["probe://all"]
    (template,) = talk.request("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "probe://things/{name}"
    assert talk.request("resources/read", {"uri": "probe://all"})["contents"][0]["text"] == "<>"


@pytest.mark.parametrize(
    ("uri", "handshake", "stateless"),
    [
        ("probe://things/gone", -32002, -32602),
        ("probe://things/one/two", -32002, -32602),
        ("probe://elsewhere", -32002, -32602),
        ("probe://things/odd", -32602, -32602),
        ("probe://things/broken", -32603, -32603),
        ("probe://things/crash", -32603, -32603),
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_protocol(talk, uri, handshake, stateless):
    error = talk.error("resources/read", {"uri": uri})
    assert error["code"] == (stateless if talk.way.endswith("stateless") else handshake)
    assert "secret" not in error["message"]


def test_prompts_are_filled_in(talk):
    (prompt,) = talk.request("prompts/list")["prompts"]
    assert [each["name"] for each in prompt["arguments"] if each["required"]] == ["name"]
    got = talk.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": 'Hello Ada, "well"'}}]
    assert talk.error("prompts/get", {"name": "greet"})["message"] == "Missing argument: name"


def test_instructions_can_be_made_from_the_index(tmp_path):
    with in_process(PROBE, tmp_path) as talk:
        assert talk.client.instructions == "0 documents"


def test_defaults_are_filled_in(talk):
    talk.call("steps")
    assert [done for done, _, _ in talk.progress] == [1, 2, 3]
