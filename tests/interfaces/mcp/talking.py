"""Real servers on an index, and official clients that talk to them: over stdio and HTTP, in both protocol eras."""

import socket
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx2
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.routing import BaseRoute

from dowse.interfaces.http.app import make_app
from dowse.interfaces.http.door import Door
from dowse.interfaces.http.serving import config_for
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.dialects import DIALECTS, load
from dowse.interfaces.mcp.server import Serving, build
from workbench import environment_for, open_at

WAYS = ("stdio handshake", "stdio stateless", "http handshake", "http stateless")
"""Transport and era of a connection."""

Era = Literal["handshake", "stateless"]
TOKEN = "open-sesame"  # noqa: S105  # of servers that live for a test
_MODES = {"handshake": "legacy", "stateless": "2026-07-28"}


@dataclass
class Talk:
    """A connection; results and errors are as they were on the wire."""

    client: Client
    portal: BlockingPortal
    way: str
    wire: list[dict[str, Any]] = field(default_factory=list)
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        dispatcher = self.client.session._dispatcher
        send = dispatcher.send_raw_request

        async def recorded(*arguments: Any, **options: Any) -> dict[str, Any]:
            result = await send(*arguments, **options)
            self.wire.append(result)
            return result

        dispatcher.send_raw_request = recorded

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool with the official client, which also checks the output schema."""

        async def step(done: float, total: float | None, message: str | None) -> None:
            self.progress.append((done, total, message))

        async def ask() -> None:
            await self.client.call_tool(tool, dict(arguments or {}), progress_callback=step)

        self.portal.call(ask)
        return next(result for result in reversed(self.wire) if "content" in result)

    def failure(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool that must fail in the dialect's own form."""
        result = self.call(tool, arguments)
        assert result.get("isError") is True, result
        return result

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send any request, with what the era wants in it."""
        asks = {
            "tools/list": lambda _: self.client.list_tools(cache_mode="bypass"),
            "resources/list": lambda _: self.client.list_resources(cache_mode="bypass"),
            "resources/templates/list": lambda _: self.client.list_resource_templates(cache_mode="bypass"),
            "prompts/list": lambda _: self.client.list_prompts(cache_mode="bypass"),
            "resources/read": lambda params: self.client.read_resource(params["uri"]),
            "prompts/get": lambda params: self.client.get_prompt(params["name"], params.get("arguments")),
            "tools/call": lambda params: self.client.call_tool(params["name"], params.get("arguments")),
        }
        self.portal.call(asks[method], dict(params or {}))
        return self.wire[-1]

    def error(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request that must fail as JSON-RPC says."""
        try:
            result = self.request(method, params)
        except MCPError as error:
            return error.error.model_dump(exclude_none=True)
        raise AssertionError(f"{method} succeeded: {result}")


@contextmanager
def talking(dialect: str, folder: Path, way: str, *options: str) -> Iterator[Talk]:
    """A server of this dialect on the index of `workbench.open_at(folder)`, and a client; options are for stdio."""
    transport, era = way.split()
    with ExitStack() as stack:
        if transport == "http":
            address = stack.enter_context(http_server(folder, dialects=[load(dialect)], default=dialect))
            yield stack.enter_context(connected(f"{address}/{dialect}/mcp", era))
            return
        portal = stack.enter_context(start_blocking_portal())
        client = Client(on_stdio(dialect, folder, *options), mode=_MODES[era])
        yield Talk(stack.enter_context(portal.wrap_async_context_manager(client)), portal, way)


@contextmanager
def connected(url: str, era: str, token: str | None = TOKEN) -> Iterator[Talk]:
    """A client of the server at this address; with a token it may write."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        http = httpx2.AsyncClient(headers=headers, timeout=60)
        stack.enter_context(portal.wrap_async_context_manager(http))
        client = Client(streamable_http_client(url, http_client=http), mode=_MODES[era])
        yield Talk(stack.enter_context(portal.wrap_async_context_manager(client)), portal, f"http {era}")


@contextmanager
def in_process(
    dialect: str | Dialect, folder: Path, era: Era = "handshake", access: Access | None = None, **settings: str
) -> Iterator[Talk]:
    """The same without a process and a transport, for what does not depend on them."""
    with open_at(folder) as engine, start_blocking_portal() as portal:
        serving = Serving(engine, access or Access.over_http([folder]), settings)
        server = build(load(dialect) if isinstance(dialect, str) else dialect, serving)
        with portal.wrap_async_context_manager(Client(server, mode=_MODES[era])) as client:
            yield Talk(client, portal, f"memory {era}")
        serving.close()


def on_stdio(dialect: str, folder: Path, *options: str) -> StdioServerParameters:
    """How a client starts the real program."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "mcp", "--dialect", dialect, "--allow-root", str(folder), *options],
        env=environment_for(folder),
    )


@contextmanager
def http_server(
    folder: Path,
    access: Access | None = None,
    *,
    dialects: Iterable[Dialect] = (),
    default: str = "qmd",
    more: Sequence[BaseRoute] = (),
    **door: Any,
) -> Iterator[str]:
    """All dialects (or these) at a free port of this machine, in a thread; gives the address."""
    policy = access or Access.over_http([folder])
    with open_at(folder) as engine, socket.create_server(("127.0.0.1", 0)) as listener:
        serving = Serving(engine, policy)
        tables = dialects or map(load, DIALECTS)
        app = make_app(tables, default, serving, Door(policy, TOKEN, **door), more)
        server = uvicorn.Server(config_for(app))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            serving.close()
