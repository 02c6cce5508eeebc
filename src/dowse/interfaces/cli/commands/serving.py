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
    from dowse.interfaces.http.door import Door
    from dowse.interfaces.mcp.access import Access
    from dowse.interfaces.tokens import Tokens

_Function = TypeVar("_Function", bound=Callable[..., Any])

_PORT = 8181
_FILE = click.Path(dir_okay=False, path_type=Path)


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
@click.option("--require-token", is_flag=True, help="Ask for a token also for reading.")
@click.option(
    "--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="Let web pages from there call (repeatable)."
)
@click.option("--tls-cert", type=_FILE, metavar="FILE", help="Serve https with this certificate (PEM).")
@click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key (PEM), where that is in a file of its own.")
@click.option(
    "--rate-limit",
    type=click.FloatRange(0.1, 1_000_000),
    default=1_000,
    show_default=True,
    help="Requests per second of one token or address.",
)
@click.option(
    "--max-requests", type=click.IntRange(1, 10_000), default=128, show_default=True, help="Under way at once."
)
@click.option(
    "--search-processes",
    type=click.IntRange(0, 64),
    metavar="N",
    help="Processes that help with searches by words while many ask at once; by default one per further core, up to 4.",
)
@click.option("--no-access-log", is_flag=True, help="Tell nothing of requests on stderr.")
@policy_options
@_no_daemon_option
@click.pass_obj
def server(session: Session, /, transport: str, dialect: str | None, collection: str | None, **options: Any) -> None:
    """Serve MCP on stdin and stdout, or over HTTP with the API at /api/v1 and the web page at /.

    Over HTTP, MCP is at /mcp, /NAME/mcp and /sse, and files may be ingested only from the collections' folders and
    from those of --allow-root.
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
    from dowse.interfaces.mcp import library
    from dowse.interfaces.mcp.dialects import default_dialect, load

    tables = load(dialect or default_dialect(session.program))
    with session.engine(create=True) as engine:
        with library.without_collecting():
            from dowse.interfaces.mcp import stdio  # a second of imports: mistakes are told before
            from dowse.interfaces.mcp.server import Serving

        serving = Serving(engine, access, {"collection": collection} if collection else {})
        try:
            with _watching(session, engine, wanted=watch):
                stdio.serve(tables, serving)
        finally:
            serving.close()


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
    watch: bool,
    **options: Any,
) -> None:
    from dowse.interfaces.mcp.dialects import DIALECTS, default_dialect, load
    from dowse.interfaces.tokens import Tokens

    default = load(dialect or default_dialect(session.program))
    with session.engine(create=True) as engine, _bound(host, port) as listener:
        tokens = Tokens(engine.config.index_dir)
        _check_tokens(host, options["token"], tokens)
        from dowse.interfaces.http import app, serving  # a second of imports: mistakes are told before
        from dowse.interfaces.http.deputies import usual_number
        from dowse.interfaces.http.guard import Limits
        from dowse.interfaces.mcp.server import Serving

        door = _door(access, host, hosts, tokens, **options)
        settings = {"collection": collection} if collection else {}
        shared = Serving(engine, access, settings)
        limits = Limits(requests=options["max_requests"], rate=options["rate_limit"])
        asked_for = options["search_processes"]
        helpers = usual_number() if asked_for is None else asked_for
        chosen = app.Options(limits, log=not options["no_access_log"] and not session.quiet, search_processes=helpers)
        tls = serving.Tls(options["tls_cert"], options["tls_key"]) if options["tls_cert"] else None
        made = app.make_app(
            map(load, dict.fromkeys([*DIALECTS, default.name])), default.name, shared, door, options=chosen
        )
        name = f"[{host}]" if ":" in host else host
        address = f"{'https' if tls else 'http'}://{name}:{listener.getsockname()[1]}"

        def announce() -> None:
            session.say(f"Serving MCP at {address}/mcp, in the dialect {default.name}.")
            session.say(f"All dialects, at {address}/NAME/mcp: {', '.join(DIALECTS)}")
            session.say(f"The API at {address}/api/v1, described at {address}/openapi.json")
            if door.token:
                session.say(f"Token for what changes the index: {door.token}")
                session.say(f"Open {address}/#token={door.token}")

        inside = replace(shared, access=beside) if beside else None
        try:
            extra = (default, inside) if inside else None
            with _watching(session, engine, wanted=watch):
                serving.serve(made, listener, announce, extra, tls)
        finally:
            for each in filter(None, [inside, shared]):
                each.close()


def _check_tokens(host: str, token: str | None, tokens: "Tokens") -> None:
    """Beyond this machine nobody is let in without a token, so there has to be one."""
    from dowse.interfaces.loopback import is_loopback

    if is_loopback(host) or token or any(not each.is_expired for each in tokens.all()):
        return
    raise UsageError(
        f"{host} can be reached from other machines, and there is no token yet.",
        hint="Make one first: dowse token create",
    )


def _door(
    access: "Access",
    host: str,
    hosts: Sequence[str],
    tokens: "Tokens",
    *,
    token: str | None,
    require_token: bool,
    origins: Sequence[str],
    **_: object,
) -> "Door":
    from dowse.interfaces.http.door import Door
    from dowse.interfaces.loopback import is_loopback

    is_local = is_loopback(host)
    names = dict.fromkeys([*Door(access, "").hosts, host, *hosts, *([] if is_local else [socket.gethostname()])])
    return Door(
        access,
        token or (secrets.token_urlsafe(24) if is_local else ""),
        tuple((f"[{name}]" if ":" in name and not name.startswith("[") else name).lower() for name in names),
        reads_need_token=require_token or not is_local,
        origins=tuple(origins),
        find=tokens.find,
    )


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
