"""From a dialect's tables to a server of the `mcp` library: one per dialect, any number over one engine.

The library knows the protocol in all its versions and validates nothing of ours: arguments are checked here, errors
get the dialect's form here, and what the library leaves out of results, because the protocol's schema does not know
it, is put back here. No state is kept between two messages.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread

from dowse import __version__
from dowse.engine import Engine
from dowse.errors import DowseError, NotFoundError, UsageError
from dowse.interfaces.mcp import library
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Call, Dialect, Json, Lane, Prompt, Reply, Resource, Tool, UnexpectedError
from dowse.interfaces.mcp.jobs import Jobs
from dowse.interfaces.mcp.schema import Checker
from dowse.interfaces.mcp.shown import all_shown
from dowse.interfaces.mcp.uris import matcher
from dowse.interfaces.mcp.warming import WarmUp
from dowse.places import Place, standing_at
from dowse.types import Event

library.prepare()
import mcp_types as types  # noqa: E402  # after the preparation
from mcp.server.caching import CacheHint  # noqa: E402
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext  # noqa: E402
from mcp.server.lowlevel.server import Server  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

__all__ = ["Serving", "build", "current_access"]

_Context: TypeAlias = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)

_THREADS: Mapping[Lane, int] = {"quick": 4, "model": 4, "write": 2}
_RESOURCE_NOT_FOUND = -32002  # up to 2025-11-25; afterwards it is an invalid parameter
_FIRST_STATELESS = "2026-07-28"
_TOLD_AT_ONCE, _TOLD_EVERY = 20, 0.1  # steps that are told as they come; seconds between later ones
_CACHED_MS = 300_000  # lists depend on the command line alone
_INSTRUCTED = {"initialize", "server/discover"}
_NOTES = "dowse/notes"

current_access: ContextVar[Access | None] = ContextVar("current_access", default=None)
"""What the present request may do, where that depends on who sent it; None: as the server was started."""
_unsieved: ContextVar[list[Json] | None] = ContextVar("unsieved", default=None)
"""Where a handler leaves its result for the middleware that has to know what it was."""


@dataclass(frozen=True)
class Serving:
    """What all dialects of a process share."""

    engine: Engine
    access: Access
    settings: Mapping[str, str] = field(default_factory=dict)
    jobs: Jobs = field(default_factory=Jobs)
    place: Place | None = None
    """Where relative paths of the client start; None: where this process stands."""

    @cached_property
    def lanes(self) -> Mapping[Lane, anyio.CapacityLimiter]:
        """How many calls run at once, per kind; made inside of the loop that uses them."""
        return {lane: anyio.CapacityLimiter(threads) for lane, threads in _THREADS.items()}

    @cached_property
    def warm_up(self) -> WarmUp:
        """Loads the model after a first client has seen the tools."""
        return WarmUp(self.engine)

    def close(self) -> None:
        """End what goes on in the background."""
        self.warm_up.close()
        self.jobs.close()


def build(dialect: Dialect, serving: Serving) -> "Server[Any]":
    """The server of one dialect."""
    handlers = _Handlers(dialect, serving)
    listed = CacheHint(ttl_ms=_CACHED_MS, scope="private")
    server: Server[Any] = Server(
        dialect.server_name,
        version=__version__,
        title=dialect.title,
        cache_hints={
            "tools/list": listed,
            "prompts/list": listed,
            "resources/list": listed,
            "resources/templates/list": listed,
            "resources/read": CacheHint(ttl_ms=0, scope="private"),
        },
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources if dialect.resources else None,
        on_list_resource_templates=handlers.list_templates if dialect.resources else None,
        on_read_resource=handlers.read_resource if dialect.resources else None,
        on_list_prompts=handlers.list_prompts if dialect.prompts else None,
        on_get_prompt=handlers.get_prompt if dialect.prompts else None,
    )
    server.middleware[:] = [handlers.whole_results]  # and no tracing of every message
    return server


class _Handlers:
    """What the library calls for each method."""

    def __init__(self, dialect: Dialect, serving: Serving) -> None:
        self._dialect = dialect
        self._serving = serving
        self._tools = {tool.name: (tool, Checker(tool)) for tool in dialect.tools}
        self._prompts = {prompt.name: prompt for prompt in dialect.prompts}
        self._resources = [(matcher(resource.uri), resource) for resource in dialect.resources]

    def input_schema(self, name: str) -> Json | None:
        """For the library's check of what HTTP headers repeat of the arguments."""
        return self._tools[name][0].input if name in self._tools else None

    async def whole_results(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Around every message: put back what the library's sieve took out, and add the instructions."""
        kept: list[Json] = []
        token = _unsieved.set(kept)
        try:
            result = await call_next(ctx)
        finally:
            _unsieved.reset(token)
        if kept and isinstance(result, dict):
            restored: Json = _restored(result, kept[-1])
            return restored
        if ctx.method in _INSTRUCTED and isinstance(result, dict) and (text := await self._instructions()):
            return {**result, "instructions": text}
        return result

    async def _instructions(self) -> str:
        said = self._dialect.instructions
        if isinstance(said, str):
            return said
        engine = self._serving.engine.within(self._access().collections)
        return str(all_shown(await self._in_thread("quick", said, engine)))

    def _access(self) -> Access:
        """That of the present request."""
        access = current_access.get() or self._serving.access
        if access.url_patterns is None and not self._dialect.trusts_urls:
            return replace(access, url_patterns=())
        return access

    def _call(self, context: _Context) -> Call:
        serving, access = self._serving, self._access()
        return Call(
            serving.engine.within(access.collections),
            access,
            serving.jobs.seen_by(access.collections),
            serving.settings,
            _teller(context),
        )

    async def list_tools(self, context: _Context, params: types.PaginatedRequestParams | None) -> Any:
        _one_page(params)
        self._serving.warm_up.start()
        return _complete(context, {"tools": [_tool(tool) for tool in self._dialect.tools_for(self._access())]})

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> Any:
        access = self._access()
        tool, checker = self._tools.get(params.name, (None, None))
        if tool is None or checker is None or tool not in self._dialect.tools_for(access):
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        try:
            if not tool.hints.read_only:
                access.check_writing()
            arguments = checker.check(params.arguments)
            lane = tool.lane if isinstance(tool.lane, str) else tool.lane(arguments)
            call = self._call(context)
            reply = await self._in_thread(lane, tool.run, call, arguments)
        except DowseError as error:
            reply = self._dialect.failed(error, tool.name)
        except Exception:  # noqa: BLE001  # a bug of ours must not cost the client its connection
            _log.exception("%s failed unexpectedly", tool.name)
            reply = self._dialect.failed(_unexpected(), tool.name)
        return _kept(_complete(context, _result(reply)))

    async def list_resources(self, context: _Context, params: types.PaginatedRequestParams | None) -> Any:
        _one_page(params)
        fixed = [_resource(each, "uri") for each in self._dialect.resources if "{" not in each.uri]
        return _complete(context, {"resources": fixed})

    async def list_templates(self, context: _Context, params: types.PaginatedRequestParams | None) -> Any:
        _one_page(params)
        templates = [_resource(each, "uriTemplate") for each in self._dialect.resources if "{" in each.uri]
        return _complete(context, {"resourceTemplates": templates})

    async def read_resource(self, context: _Context, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        for match, resource in self._resources:
            variables = match(uri)
            if variables is not None:
                read = partial(resource.read, self._call(context), uri, variables)
                contents = await self._reading(read, context.protocol_version, uri)
                return _kept(_complete(context, {"contents": all_shown(contents)}))
        raise _not_found(uri, context.protocol_version)

    async def _reading(self, read: Callable[[], Any], version: str, uri: str) -> Any:
        """Resources have no form for errors of their own: theirs are the protocol's."""
        try:
            return await self._in_thread("quick", read)
        except NotFoundError as error:
            raise _not_found(uri, version, error.message) from error
        except UsageError as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from error
        except DowseError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from error
        except Exception as error:
            _log.exception("reading a resource failed unexpectedly")
            raise MCPError(types.INTERNAL_ERROR, _unexpected().message) from error

    async def list_prompts(self, context: _Context, params: types.PaginatedRequestParams | None) -> Any:
        _one_page(params)
        return _complete(context, {"prompts": [_prompt(prompt) for prompt in self._dialect.prompts]})

    async def get_prompt(self, context: _Context, params: types.GetPromptRequestParams) -> Any:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}")
        given = params.arguments or {}
        missing = [each.name for each in prompt.arguments if each.required and each.name not in given]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"Missing argument: {missing[0]}")
        said = prompt.render(given)
        contents = [{"type": "text", "text": said}] if isinstance(said, str) else said
        messages = [{"role": "user", "content": content} for content in contents]
        return _complete(context, {"description": prompt.description, "messages": messages})

    async def _in_thread(self, lane: Lane, function: Callable[..., Any], *arguments: object) -> Any:
        return await anyio.to_thread.run_sync(
            self._there, partial(function, *arguments), limiter=self._serving.lanes[lane]
        )

    def _there(self, function: Callable[[], Any]) -> Any:
        with standing_at(self._serving.place):
            return function()


def _teller(context: _Context) -> Callable[[Event], None]:
    """Reports steps of work in a thread to the client, if it asked for that, and ends the work if it cancelled."""
    latest, told, told_at = 0.0, 0, 0.0

    def tell(event: Event) -> None:
        nonlocal latest, told, told_at
        anyio.from_thread.check_cancelled()
        latest = max(latest + 1e-6, float(event.done))  # progress must grow, also when a second stage starts anew
        now = time.monotonic()
        if told >= _TOLD_AT_ONCE and now < told_at + _TOLD_EVERY:
            return
        told, told_at = told + 1, now
        total = float(event.total) if event.total >= latest else None
        message = str(all_shown(f"{event.stage} {event.path}".strip()))
        anyio.from_thread.run(context.session.report_progress, latest, total, message)

    return tell


def _one_page(params: types.PaginatedRequestParams | None) -> None:
    """Lists are whole, so there is no cursor that could be valid."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Unknown cursor")


def _tool(tool: Tool) -> Json:
    made: Json = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input,
        "annotations": tool.hints.as_json() | {"title": tool.title},
    }
    return made | ({"outputSchema": tool.output} if tool.output else {})


def _resource(resource: Resource, address: str) -> Json:
    return {
        address: resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }


def _prompt(prompt: Prompt) -> Json:
    arguments = [
        {"name": each.name, "description": each.description, "required": each.required} for each in prompt.arguments
    ]
    made = {"name": prompt.name, "title": prompt.title, "description": prompt.description}
    return made | ({"arguments": arguments} if arguments else {})


def _result(reply: Reply) -> Json:
    made: Json = {"content": all_shown(reply.content)}
    if reply.structured is not None:
        made["structuredContent"] = all_shown(reply.structured)
    if reply.is_error:
        made["isError"] = True
    if reply.notes:
        made["_meta"] = {_NOTES: all_shown(reply.notes)}
    return made


def _complete(context: _Context, result: Json) -> Json:
    """The stateless protocol wants to be told that a result is no question back; the others do not know the word."""
    return result | {"resultType": "complete"} if context.protocol_version >= _FIRST_STATELESS else result


def _kept(result: Json) -> Json:
    kept = _unsieved.get()
    if kept is not None:
        kept.append(result)
    return result


def _restored(sieved: Any, whole: Any) -> Any:
    """The sieved value with the members that it lost."""
    if isinstance(sieved, dict) and isinstance(whole, dict):
        return {
            **{key: _restored(value, whole[key]) if key in whole else value for key, value in sieved.items()},
            **{key: value for key, value in whole.items() if key not in sieved},
        }
    if isinstance(sieved, list) and isinstance(whole, list) and len(sieved) == len(whole):
        return [_restored(*pair) for pair in zip(sieved, whole, strict=True)]
    return sieved


def _not_found(uri: str, version: str, message: str = "") -> MCPError:
    code = types.INVALID_PARAMS if version >= _FIRST_STATELESS else _RESOURCE_NOT_FOUND
    return MCPError(code, message or f"Resource not found: {uri[:200]}", {"uri": uri[:200]})


def _unexpected() -> UnexpectedError:
    return UnexpectedError("Something went wrong inside of the server.", hint="Its log on stderr has the details.")
