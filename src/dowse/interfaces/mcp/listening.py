"""Runs the application of `http.py` on a port, alone or beside stdin and stdout."""

import socket
from collections.abc import Callable, Sequence

import anyio
import uvicorn
from starlette.applications import Starlette

from dowse.interfaces.mcp import stdio
from dowse.interfaces.mcp.dialect import Dialect
from dowse.interfaces.mcp.server import Serving

__all__ = ["serve"]

_PATIENCE = 5  # seconds for requests under way when the server is asked to end


def serve(
    app: Starlette,
    listener: socket.socket,
    on_ready: Callable[[], None],
    beside: tuple[Dialect, Serving] | None = None,
) -> None:
    """Answer until asked to end; with `beside`, also on stdin and stdout, and until that client leaves."""
    anyio.run(_serve, app, [listener], on_ready, beside)


async def _serve(
    app: Starlette,
    listeners: Sequence[socket.socket],
    on_ready: Callable[[], None],
    beside: tuple[Dialect, Serving] | None,
) -> None:
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=_PATIENCE)
    )
    on_ready()
    if beside is None:
        await server.serve(list(listeners))
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, list(listeners))
        if await stdio.run(*beside):  # a stdin that was closed from the start, as that of a service, ends nothing
            server.should_exit = True
