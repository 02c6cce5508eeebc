"""`connect`: tell a client of MCP where Dowse is, or take it out again."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from dowse.errors import UsageError
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.commands.serving import policy_options
from dowse.interfaces.cli.session import Session
from dowse.interfaces.cli.terminal import emit, one_line
from dowse.interfaces.connect.clients import CLIENTS, Client, Surroundings, client_of
from dowse.interfaces.connect.connecting import connect as put_into
from dowse.interfaces.connect.connecting import disconnect, snippet
from dowse.interfaces.connect.entry import entry_for, environment, program

_FLAGS = {"read_only": "--read-only", "allow_private_urls": "--allow-private-urls", "watch": "--watch"}
_SAID = {"added": "Added {} to", "changed": "Changed {} in", "unchanged": "Already there: {} in"}


@click.command(cls=Command)
@click.argument("client", metavar=f"[{'|'.join(CLIENTS)}]")
@click.option("--name", default="dowse", show_default=True, help="What the client calls the server.")
@click.option("--project", is_flag=True, help="For the project in this folder, instead of for you everywhere.")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="The client's file, if it is elsewhere.")
@click.option("--print", "only_print", is_flag=True, help="Change nothing; print what to put into which file.")
@click.option("--undo", is_flag=True, help="Take the server out again.")
@click.option("--force", is_flag=True, help="Replace or remove a server of that name that is not Dowse.")
@policy_options
@click.pass_obj
def connect(
    session: Session,
    /,
    client: str,
    name: str,
    *,
    project: bool,
    file: Path | None,
    only_print: bool,
    undo: bool,
    force: bool,
    **policy: Any,
) -> None:
    """Write Dowse into the configuration of CLIENT, which then starts `dowse mcp` by itself.

    Everything else in the file stays as it is, comments included, and the file as it was is kept beside it. Options
    that `mcp` takes are written down; --index and settings of the environment too. A second time, with other options,
    changes what is there.
    """
    row = client_of(client)
    path = _file_of(row, file, project=project)
    if undo:
        found = disconnect(row, path, name, _asker(force=force, question="Remove it?"))
        session.say(f"Took {name} out of {path}." if found else f"There is no {name} in {path}: nothing to undo.")
        return
    if not only_print and not policy["roots"]:
        policy["roots"] = tuple(_asked_for_roots(session))
    entry = entry_for(row, program(sys.argv[0]), _arguments(session, policy), environment(session.config))
    if only_print:
        session.say(f"For {path}:")
        emit(snippet(row, name, entry))
        return
    change = put_into(row, path, name, entry, _asker(force=force, question="Replace it?"))
    said = _SAID[change].format(name)
    session.say(f"{said} {path} ({row.title}).")
    if change != "unchanged":
        session.say(row.then)
        again = " ".join(
            [row.name, *(["--project"] if project else []), *([f"--name {name}"] if name != "dowse" else [])]
        )
        session.say(f"To take it out again: dowse connect {again} --undo")


def _file_of(client: Client, file: Path | None, *, project: bool) -> Path:
    if file is not None:
        return file.absolute()
    if not project:
        return Path(client.file(Surroundings.of_this_machine()))
    if not client.project_file:
        raise UsageError(f"{client.title} has no servers of a project.", hint="Leave out --project.")
    return Path.cwd() / client.project_file


def _arguments(session: Session, policy: Mapping[str, Any]) -> list[str]:
    """The command line of the server, in absolute paths."""
    from dowse.interfaces.mcp.dialects import default_dialect, load

    dialect = policy["dialect"] or default_dialect(session.program)
    load(dialect)  # names the dialects there are, before anything is written
    config = session.config
    named = session.config_file or os.environ.get("DOWSE_CONFIG")
    index_is_said = config.origins.get("index") in {"the argument index", "DOWSE_INDEX"}
    words = ["mcp", *(["--dialect", dialect] if dialect != default_dialect("dowse") else [])]
    words += ["--index", config.index] if index_is_said else []
    words += ["--config", str(Path(named).absolute())] if named else []
    words += [flag for option, flag in _FLAGS.items() if policy[option]]
    words += [word for root in policy["roots"] for word in ("--allow-root", str(Path(root).resolve()))]
    words += [word for pattern in policy["url_patterns"] for word in ("--allow-urls", pattern)]
    return [*words, "--collection", policy["collection"]] if policy["collection"] else words


def _talking() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked_for_roots(session: Session) -> Iterator[Path]:
    """The folders that somebody at a terminal names."""
    if session.quiet or not _talking():
        return
    session.say("Files may be added to the index from your home and from collections. From which other folders?")
    while answer := click.prompt("A folder (Enter: no more)", default="", show_default=False, err=True).strip():
        folder = Path(answer).expanduser()
        if folder.is_dir():
            yield folder
        else:
            session.say(f"There is no folder {one_line(str(folder))}.")


def _asker(*, force: bool, question: str) -> Callable[[str], bool]:
    """Whether a foreign entry may go: as --force says, or somebody at a terminal."""
    return lambda problem: force or (_talking() and click.confirm(f"{problem} {question}", err=True))
