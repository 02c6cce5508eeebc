"""Serving over HTTP: its addresses, who is let in, with and without sessions, both kinds of streams."""

import json
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection

import anyio
import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.sse import sse_client
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dowse.interfaces.mcp.dialects import load
from interfaces.mcp.lines import ENVELOPE, announced, lines, program
from interfaces.mcp.probe import PROBE
from interfaces.mcp.talking import TOKEN, Talk, connected, http_server
from workbench import open_at, write

JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    async def hello(_):
        return PlainTextResponse("hello")

    tables = [PROBE, load("qmd")]
    with http_server(folder, dialects=tables, default="qmd", more=[Route("/hello", hello)]) as address:
        yield address


@pytest.fixture
def web(address):
    with httpx2.Client(base_url=address, timeout=60) as client:
        yield client


def post(web, path, method, request=1, headers=None, **params):
    message = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
    return web.post(path, json=message, headers=JSON | (headers or {}))


def message_of(response):
    """The last message of a stream of events."""
    assert response.status_code == 200, response.text
    datas = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(datas[-1])


@contextmanager
def over_sse(url, token=TOKEN):
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        transport = sse_client(url, headers={"Authorization": f"Bearer {token}"})
        client = stack.enter_context(portal.wrap_async_context_manager(Client(transport, mode="legacy")))
        yield Talk(client, portal, "sse handshake")


@pytest.mark.parametrize("era", ["handshake", "stateless"])
@pytest.mark.parametrize(
    ("path", "name"), [("/mcp", "qmd"), ("/mcp/qmd", "qmd"), ("/qmd/mcp", "qmd"), ("/probe/mcp", "the-probe")]
)
def test_every_dialect_has_its_addresses_in_both_eras(address, path, name, era):
    with connected(f"{address}{path}", era) as talk:
        tools = talk.request("tools/list")
        assert ("echo" in {tool["name"] for tool in tools["tools"]}) == (name == "the-probe")


@pytest.mark.parametrize(("path", "tools"), [("/sse", 6), ("/qmd/sse", 6), ("/probe/sse", 7)])
def test_the_older_transport_is_served(address, path, tools):
    with over_sse(f"{address}{path}") as talk:
        assert len(talk.request("tools/list")["tools"]) == tools
        if path == "/probe/sse":
            assert talk.call("write")["content"][0]["text"] == "written"


def test_other_routes_share_the_application(web):
    assert web.get("/hello").text == "hello"
    assert web.get("/nothing").status_code == 404


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/sse/messages"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_requests_by_foreign_pages_are_refused(web, path, headers, status):
    if path == "/sse":
        assert web.get(path, headers=headers).status_code == status
    else:
        assert post(web, path, "tools/list", headers=headers).status_code == status


def test_a_page_of_this_machine_is_let_in(web, address):
    assert post(web, "/mcp", "tools/list", headers={"Origin": address}).status_code == 200


def test_reading_needs_no_token_and_writing_does(address):
    for era in ("handshake", "stateless"):
        with connected(f"{address}/probe/mcp", era, token=None) as talk:
            assert talk.call("echo", {"text": "hi"})["structuredContent"] == {"said": "hi"}
            failure = json.loads(talk.failure("write")["content"][0]["text"])
            assert failure == {
                "failed": "write",
                "code": "refused",
                "message": "Changing the index needs the server's token.",
            }
        with connected(f"{address}/probe/mcp", era) as talk:
            assert talk.call("write")["content"][0]["text"] == "written"


@pytest.mark.parametrize("given", ["Bearer wrong", "Basic b3Blbi1zZXNhbWU=", f"Basic {TOKEN}"])
def test_a_wrong_token_is_not_let_in(web, given):
    refused = post(web, "/mcp", "tools/list", headers={"Authorization": given})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_a_server_that_asks_for_a_token_lets_nobody_in_without(folder):
    with (
        http_server(folder, dialects=[PROBE], default="probe", reads_need_token=True) as address,
        httpx2.Client(base_url=address, timeout=60) as web,
    ):
        assert post(web, "/mcp", "tools/list").status_code == 401
        assert web.get("/sse").status_code == 401
        assert post(web, "/mcp", "tools/list", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200


def test_a_client_may_do_without_a_session_or_have_one(web):
    assert message_of(post(web, "/mcp", "tools/list"))["result"]["tools"]
    opened = post(web, "/mcp", "initialize", **OPENING)
    session = opened.headers["mcp-session-id"]
    assert message_of(opened)["result"]["serverInfo"]["name"] == "qmd"
    assert message_of(post(web, "/mcp", "tools/list", headers={"Mcp-Session-Id": session}))["result"]["tools"]
    assert web.delete("/mcp", headers={"Mcp-Session-Id": session}).status_code == 200
    assert post(web, "/mcp", "tools/list", headers={"Mcp-Session-Id": session}).status_code == 404


def test_a_request_of_the_stateless_era_needs_nothing_before_it(web):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    found = post(web, "/probe/mcp", "server/discover", headers=headers, _meta=ENVELOPE)
    assert found.status_code == 200
    assert "1 documents" in found.text


def test_what_is_no_message_is_refused_and_the_server_goes_on(web):
    for body in (b"nonsense", b"[]", b'{"jsonrpc": "2.0"}', b"[" * 100_000):
        answer = web.post("/mcp", content=body, headers=JSON)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] in {-32700, -32600, -32602}
    assert web.post("/mcp", content=b"{}", headers=JSON | {"Content-Type": "text/plain"}).status_code == 400
    assert post(web, "/mcp", "no/such/method").status_code in {200, 404}
    assert post(web, "/mcp", "tools/list").status_code == 200


def test_a_body_beyond_all_measure_is_refused(address):
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/mcp")
    for name, value in (JSON | {"Content-Length": str(1 << 40)}).items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_progress_is_told_while_the_call_goes_on(address, era):
    with connected(f"{address}/probe/mcp", era) as talk:
        talk.call("steps", {"count": 2})
        assert talk.progress == [(1, 2, "read file1.md"), (2, 2, "read file2.md")]


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_cancelled_call_ends(address, era, tmp_path):
    file = tmp_path / "file"

    async def appears(name):
        with anyio.fail_after(60):
            while not await anyio.Path(name).exists():
                await anyio.lowlevel.checkpoint()

    async def begin_and_leave(talk):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.client.call_tool, "wait", {"file": str(file)})
            await appears(f"{file}.started")
            tasks.cancel_scope.cancel()
        await appears(f"{file}.cancelled")

    with connected(f"{address}/probe/mcp", era) as talk:
        talk.portal.call(begin_and_leave, talk)
        assert talk.call("echo", {"text": "still here"})["structuredContent"] == {"said": "still here"}


def test_the_program_serves_a_port_and_says_where(folder, tmp_path):
    command = program("server", "--transport", "http", "--port", "0", "--token", TOKEN, "--dialect", "qmd")
    with lines(command, folder) as server:
        url = announced(folder)
        with connected(url, "stateless") as talk:
            assert talk.call("search", {"query": "tea"})["structuredContent"]["results"]
        server.process.terminate()
        assert server.process.wait(60) in {0, -15, 143}


def test_a_port_that_is_taken_is_told(folder, address):
    port = address.rpartition(":")[2]
    with lines(program("server", "--transport", "sse", "--port", port, "--dialect", "qmd"), folder) as server:
        assert server.process.wait(60) == 2
    assert f"Nothing can listen at 127.0.0.1:{port}" in (folder / "stderr").read_text()
