"""`dowse mcp` as most clients start it: read the command line, find the daemon, and be a pipe to it.

Only what the command lines of MCP clients have in them is understood here, without click and all that comes with it.
Whatever else there is on the line is left to the command itself, which ends up in `attach` as well.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dowse.config import Config
from dowse.errors import DowseError
from dowse.interfaces.daemon.meeting import Hello

__all__ = ["FLAGS", "TEXTS", "attach", "hello_of", "quick"]

TEXTS = {
    "--index": "index",
    "--config": "config",
    "--dialect": "dialect",
    "--collection": "collection",
    "--allow-root": "roots",
    "--allow-urls": "url_patterns",
    "--transport": "transport",
}
"""Options that take a text, and the names of their parameters."""
FLAGS = {
    "--read-only": "read_only",
    "--allow-private-urls": "allow_private_urls",
    "--watch": "watch",
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
}
_GLOBAL = {"index", "config", "quiet", "verbose"}
_REPEATED = {"roots", "url_patterns"}
_COMMANDS = ("mcp", "server")


def quick(arguments: Sequence[str]) -> int | None:
    """Serve this command line as a thin client; None: it has to be read by the command itself."""
    given = _parsed(arguments)
    if given is None or not all(Path(root).is_dir() for root in given["roots"]):
        return None
    try:
        config = Config.load(Path(given["config"]) if "config" in given else None, index=given.get("index"))
    except DowseError:
        return None  # and told there
    if not config.daemon:
        return None
    return attach(config, hello_of(_program(), **given), arguments, quiet="quiet" in given)


def hello_of(
    program: str,
    *,
    dialect: str | None = None,
    collection: str | None = None,
    roots: Sequence[Any] = (),
    url_patterns: Sequence[str] = (),
    read_only: bool = False,
    allow_private_urls: bool = False,
    watch: bool = False,
    **_: object,
) -> Hello:
    """All that the daemon has to know of a client: its policy, which is that of its own command line."""
    return {
        "ask": "serve",
        "program": program,
        "dialect": dialect,
        "collection": collection,
        "roots": [os.path.realpath(root) for root in roots],
        "url_patterns": list(url_patterns),
        "read_only": read_only,
        "allow_private_urls": allow_private_urls,
        "watch": watch,
        "folder": os.getcwd(),  # noqa: PTH109  # a text
        "home": os.path.expanduser("~"),  # noqa: PTH111  # the same
        "pid": os.getpid(),
    }


def attach(config: Config, hello: Hello, arguments: Sequence[str], *, quiet: bool = False) -> int | None:
    """Be a pipe between stdin, stdout and the daemon until the client leaves; None: there can be no daemon."""
    from dowse.interfaces.daemon.meeting import RefusedError, UnavailableError, join
    from dowse.interfaces.daemon.pipe import Pipe

    try:
        connection, welcome = join(config, hello)
    except UnavailableError as error:
        if not quiet:
            _talk(f"note: There is no shared process for this index: {error}. Going on without.")
        return None
    except RefusedError as error:
        _talk(f"error: {error}", *([f"hint: {error.hint}"] if error.hint else []))
        return error.exit_code
    alone = [*arguments, "--dialect", welcome["dialect"], "--no-daemon"]
    say = (lambda _: None) if quiet else _talk
    return Pipe(lambda: join(config, hello), alone, say).run(connection, welcome)


def _talk(*lines: str) -> None:
    for line in lines:
        os.write(2, f"{line}\n".encode("utf-8", "backslashreplace"))


def _program() -> str:
    return Path(sys.argv[0]).stem.lower()


def _parsed(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The options by name; None where the line is not one of those that are understood here."""
    given: dict[str, Any] = {name: [] for name in _REPEATED}
    command = ""
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        name = TEXTS.get(option) or FLAGS.get(word)
        if not command and word in _COMMANDS:
            command = word
        elif name is None or (not command and name not in _GLOBAL):
            return None
        elif word in FLAGS:
            given[name] = True
        else:
            value = value if equals else next(words, "")
            if not value or value.startswith("-"):
                return None
            if name in _REPEATED:
                given[name].append(value)
            else:
                given[name] = value
    served = given.pop("transport", "mcp") == "mcp" and (command == "server" or "--transport" not in arguments)
    return given if command and served else None
