"""Every tool of every dialect against what no client should send, over HTTP; on stdio, test_stdio.py does the same."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialects import DIALECTS, load
from interfaces.mcp.lines import until
from interfaces.mcp.probe import PROBE
from interfaces.mcp.talking import TOKEN, http_server
from workbench import open_at, write

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Authorization": f"Bearer {TOKEN}",
}
TOOLS = [(dialect, tool.name) for dialect in DIALECTS for tool in load(dialect).tools]
WRONG = {"object": "a text", "string": {"deep": [[]]}}
"""A value of a type that a property does not take, by its type; for all others, an object."""
SECRET = "a secret of the house"  # noqa: S105  # what must never come back


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outer") / "folder"
    write(folder.parent, {"secret.md": f"# Secret\n\n{SECRET}\n"})
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
    return folder


@pytest.fixture(scope="module")
def web(folder):
    with (
        http_server(folder, dialects=[PROBE, *map(load, DIALECTS)], default="dowse") as address,
        httpx2.Client(base_url=address, timeout=60, headers=HEADERS) as client,
    ):
        yield client


def asked(web, dialect, method, request=1, **params):
    """The answer to one request without a session."""
    message = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
    response = web.post(f"/{dialect}/mcp", json=message)
    assert response.status_code == 200, response.text
    (data,) = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
    answer = json.loads(data)
    assert answer["id"] == request
    return answer


def called(web, dialect, tool, arguments):
    return asked(web, dialect, "tools/call", name=tool, arguments=arguments)["result"]


def row(dialect, name):
    return next(tool for tool in load(dialect).tools if tool.name == name)


@pytest.mark.covers("mcp-bad-arguments")
@pytest.mark.parametrize(("dialect", "tool"), TOOLS)
def test_arguments_that_no_schema_takes_are_errors_of_the_tool(web, dialect, tool):
    assert called(web, dialect, tool, {"no such argument": 1})["isError"] is True
    for name, schema in row(dialect, tool).input["properties"].items():
        wrong = WRONG.get(schema.get("type"), {"deep": [[]]})
        assert called(web, dialect, tool, {name: wrong})["isError"] is True, name
        if "minimum" in schema or "maximum" in schema:
            beyond = schema.get("minimum", 0) - 1 if "minimum" in schema else schema["maximum"] + 1
            assert called(web, dialect, tool, {name: beyond})["isError"] is True, name


@pytest.mark.covers("mcp-bad-arguments")
@pytest.mark.parametrize(
    ("dialect", "tool"), [(dialect, tool) for dialect, tool in TOOLS if row(dialect, tool).input.get("required")]
)
def test_huge_arguments_are_errors_of_the_tool(web, dialect, tool):
    schema = row(dialect, tool).input
    for value in ("x" * 1_000_000, "../" * 300_000):
        huge = {
            name: [value] if schema["properties"][name]["type"] == "array" else value for name in schema["required"]
        }
        result = called(web, dialect, tool, huge)
        assert result["isError"] is True
        assert len(json.dumps(result)) < 10_000, "the error repeats what was sent"


@pytest.mark.covers("mcp-bad-requests")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_unknown_methods_tools_and_prompts_are_errors_of_the_protocol(web, dialect):
    assert asked(web, dialect, "tools/call", name="no_such_tool", arguments={})["error"]["code"] == -32602
    assert asked(web, dialect, "prompts/get", name="no_such_prompt")["error"]["code"] in {-32601, -32602}
    message = {"jsonrpc": "2.0", "id": 1, "method": "no/such/method"}
    assert '"code":-32601' in web.post(f"/{dialect}/mcp", json=message).text.replace(" ", "")


@pytest.mark.covers("mcp-traversal")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "notes/../../secret.md",
        "notes/%2e%2e/%2e%2e/secret.md",
        "notes/%252e%252e/%252e%252e/secret.md",
        "notes\\..\\..\\secret.md",
        "notes/tea.md%00.md",
        "//../secret.md",
        "{folder}/../secret.md",
        "file://{folder}/../secret.md",
    ],
)
@pytest.mark.parametrize("template", ["qmd://{}", "dowse://{}", "rag://documents/{}", "rag://collections/{}"])
def test_addresses_lead_nowhere_but_into_the_index(web, folder, template, path):
    dialect = template.partition(":")[0]
    uri = template.format(path.format(folder=folder))
    answer = asked(web, dialect, "resources/read", uri=uri)
    assert answer["error"]["code"] in {-32002, -32602}
    assert SECRET not in json.dumps(answer)


@pytest.mark.covers("mcp-read-only")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_read_only_hides_every_tool_that_writes(folder, dialect):
    with (
        http_server(folder, Access(read_only=True), dialects=[load(dialect)], default=dialect) as address,
        httpx2.Client(base_url=address, timeout=60, headers=HEADERS) as web,
    ):
        listed = {tool["name"]: tool for tool in asked(web, dialect, "tools/list")["result"]["tools"]}
        assert all(tool["annotations"]["readOnlyHint"] for tool in listed.values())
        hidden = [tool.name for tool in load(dialect).tools if not tool.hints.read_only]
        assert set(listed) == {tool.name for tool in load(dialect).tools} - set(hidden)
        for name in hidden:
            error = asked(web, dialect, "tools/call", name=name, arguments={})["error"]
            assert (error["code"], error["message"]) == (-32602, f"Unknown tool: {name}")


@pytest.mark.covers("mcp-concurrent")
def test_many_calls_at_once_are_each_answered_with_their_own(web):
    def ask(number):
        result = asked(web, "probe", "tools/call", number, name="echo", arguments={"text": str(number)})["result"]
        return int(result["structuredContent"]["said"])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(64))) == list(range(64))


@pytest.mark.covers("mcp-concurrent")
def test_a_client_that_vanishes_ends_its_call_and_nothing_else(web, tmp_path):
    file = tmp_path / "file"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body = json.dumps(message | {"params": {"name": "wait", "arguments": {"file": str(file)}}}).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    host, port = web.base_url.host, web.base_url.port
    with socket.create_connection((host, port)) as connection:
        request = f"POST /probe/mcp HTTP/1.1\r\nHost: {host}:{port}\r\n{head}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(request.encode() + body)
        until(Path(f"{file}.started").exists)
        assert called(web, "probe", "echo", {"text": "meanwhile"})["structuredContent"] == {"said": "meanwhile"}
    watcher = threading.Timer(30, file.touch)  # a call that goes on all the same must not hold up the test
    watcher.start()
    try:
        until(lambda: Path(f"{file}.cancelled").exists() or file.exists())
    finally:
        watcher.cancel()
    assert called(web, "probe", "echo", {"text": "afterwards"})["structuredContent"] == {"said": "afterwards"}
    assert Path(f"{file}.cancelled").exists(), "the call went on for nobody"
