"""`mcp` and `server`: answer agents over the Model Context Protocol."""

import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.errors import DowseError, UsageError
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.session import Session

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.interfaces.mcp.access import Access

_Function = TypeVar("_Function", bound=Callable[..., Any])

_PORT = 8181


def policy_options(function: _Function) -> _Function:
    """What both commands take: the dialect, and what the client may do."""
    options = (
        click.option("--dialect", metavar="NAME", help="The set of tools to offer; by default, that of the program."),
        click.option("--read-only", is_flag=True, help="Offer no tool that changes the index."),
        click.option(
            "--allow-root",
            "roots",
            multiple=True,
            metavar="DIR",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="Also let files below this folder be ingested (repeatable).",
        ),
        click.option(
            "--allow-urls",
            "url_patterns",
            multiple=True,
            metavar="PATTERN",
            help="Let only such web addresses be ingested: docs.python.org, *.example.org/manual/* (repeatable).",
        ),
        click.option("--allow-private-urls", is_flag=True, help="Also let addresses of private networks be ingested."),
        click.option("--watch", is_flag=True, help="Keep the index up to date while files change, as `watch` does."),
        click.option("--collection", metavar="NAME", help="Where tools that name no collection put what they ingest."),
    )
    for option in reversed(options):
        function = option(function)
    return function


_no_daemon_option = click.option(
    "--no-daemon", is_flag=True, help="Do everything in this process; by default, all of an index share one."
)


@click.command(cls=Command)
@policy_options
@_no_daemon_option
@click.pass_obj
def mcp(session: Session, /, dialect: str | None, collection: str | None, *, no_daemon: bool, **policy: Any) -> None:
    """Serve MCP on stdin and stdout, for a client that starts this command itself.

    Files may be ingested from your home and the working directory, except from hidden folders.
    """
    if not no_daemon:
        _by_daemon(session, dialect=dialect, collection=collection, **policy)
    from dowse.interfaces.mcp.access import Access

    access = _access(Access.on_stdio(policy["roots"]), **policy)
    _on_stdio(session, dialect, collection, access, watch=policy["watch"])


@click.command(cls=Command)
@click.option(
    "--transport",
    type=click.Choice(["mcp", "http", "sse", "both"]),
    default="mcp",
    show_default=True,
    help="mcp: stdin and stdout; http and sse: a port, with both kinds of addresses; both: all of them.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65_535), default=_PORT, show_default=True, help="0: any that is free.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="A further name of this machine (repeatable)."
)
@click.option("--token", metavar="TOKEN", help="What a client must send to change the index; by default a new one.")
@click.option("--require-token", is_flag=True, help="Ask for the token also for reading.")
@policy_options
@_no_daemon_option
@click.pass_obj
def server(session: Session, /, transport: str, dialect: str | None, collection: str | None, **options: Any) -> None:
    """Serve MCP on stdin and stdout, or over HTTP at /mcp, /NAME/mcp and /sse.

    Over HTTP, files may be ingested only from the collections' folders and from those of --allow-root.
    """
    from dowse.interfaces.mcp.access import Access

    if transport == "mcp":
        if not options["no_daemon"]:
            _by_daemon(session, dialect=dialect, collection=collection, **options)
        access = _access(Access.on_stdio(options["roots"]), **options)
        _on_stdio(session, dialect, collection, access, watch=options["watch"])
        return
    over_http = _access(Access.over_http(options["roots"]), **options)
    beside = _access(Access.on_stdio(options["roots"]), **options) if transport == "both" else None
    _over_http(session, dialect, collection, over_http, beside, **options)


def _by_daemon(session: Session, **policy: Any) -> None:
    """Be a pipe to the process that all clients of the index share, and exit; or return, where there can be none."""
    from dowse.interfaces.daemon.thin import attach, hello_of

    if session.config.daemon:
        code = attach(session.config, hello_of(session.program, **policy), sys.argv[1:], quiet=session.quiet)
        if code is not None:
            raise click.exceptions.Exit(code)


def _access(
    usual: "Access", *, read_only: bool, url_patterns: Sequence[str], allow_private_urls: bool, **_: object
) -> "Access":
    return usual.limited(read_only=read_only, url_patterns=url_patterns, allow_private_urls=allow_private_urls)


@contextmanager
def _watching(session: Session, engine: "Engine", *, wanted: bool) -> Iterator[None]:
    """Follow the folders in a thread meanwhile, unless somebody else does."""
    if not wanted:
        yield
        return
    watcher = engine.watcher()

    def follow() -> None:
        try:
            watcher.run()
        except DowseError as error:
            session.say(f"Not watching: {error.message} {error.hint}".rstrip())

    thread = Thread(target=follow, name="dowse-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watcher.stop()
        thread.join()


def _on_stdio(session: Session, dialect: str | None, collection: str | None, access: "Access", *, watch: bool) -> None:
    from dowse.interfaces.mcp.dialects import default_dialect, load

    tables = load(dialect or default_dialect(session.program))
    with session.engine(create=True) as engine:
        from dowse.interfaces.mcp import stdio  # a second of imports: mistakes are told before
        from dowse.interfaces.mcp.server import Serving

        serving = Serving(engine, access, {"collection": collection} if collection else {})
        try:
            with _watching(session, engine, wanted=watch):
                stdio.serve(tables, serving)
        finally:
            serving.jobs.close()


def _over_http(
    session: Session,
    dialect: str | None,
    collection: str | None,
    access: "Access",
    beside: "Access | None",
    *,
    host: str,
    port: int,
    hosts: Sequence[str],
    token: str | None,
    require_token: bool,
    watch: bool,
    **_: object,
) -> None:
    from dowse.interfaces.mcp.dialects import DIALECTS, default_dialect, load

    default = load(dialect or default_dialect(session.program))
    with session.engine(create=True) as engine, _bound(host, port) as listener:
        from dowse.interfaces.mcp import listening  # a second of imports: mistakes are told before
        from dowse.interfaces.mcp.http import Door, is_loopback, make_app
        from dowse.interfaces.mcp.server import Serving

        elsewhere = [] if is_loopback(host) else [socket.gethostname()]
        names = dict.fromkeys([*Door(access, "").hosts, host, *hosts, *elsewhere])
        door = Door(
            access,
            token or secrets.token_urlsafe(24),
            tuple(f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names),
            reads_need_token=require_token or not is_loopback(host),
        )
        settings = {"collection": collection} if collection else {}
        serving = Serving(engine, access, settings)
        app = make_app(map(load, DIALECTS), default.name, serving, door)
        shown = f"{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"

        def announce() -> None:
            session.say(f"Serving MCP at http://{shown}/mcp, in the dialect {default.name}.")
            session.say(f"All dialects, at http://{shown}/NAME/mcp: {', '.join(DIALECTS)}")
            session.say(f"Token for what changes the index: {door.token}")

        try:
            extra = (default, replace(serving, access=beside)) if beside else None
            with _watching(session, engine, wanted=watch):
                listening.serve(app, listener, announce, extra)
        finally:
            serving.jobs.close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 lets the system choose one.

    Raises:
        UsageError: the address cannot be had.
    """
    name = host.strip("[]")
    try:
        return socket.create_server((name, port), family=socket.AF_INET6 if ":" in name else socket.AF_INET)
    except OSError as error:
        raise UsageError(
            f"Nothing can listen at {host}:{port}: {error}.", hint="Choose another --port, or end what has this one."
        ) from error
