"""`daemon`: the process that all `mcp` of an index share, to look at and to stop."""

import os
from collections.abc import Iterator
from typing import Any

import click

from dowse.config import Config
from dowse.interfaces import wire
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import Command, Group
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.interfaces.daemon.meeting import ask, endpoints, folder_of


@click.group(cls=Group)
def daemon() -> None:
    """Look at the processes that clients of MCP share, one per index.

    The first `mcp` starts it, and it ends by itself (daemon_idle in the configuration).
    """


@daemon.command(cls=Command)
@json_option
@click.pass_obj
def status(session: Session, *, as_json: bool) -> None:
    """Show which ones there are: process, clients, memory, and how long nobody has been there."""
    found = list(standings(session.config))
    if as_json:
        terminal.emit(wire.dumps(found))
    elif found:
        terminal.emit("\n".join(f"{terminal.one_line(each['index'])}: {line(each)}" for each in found))
    else:
        session.say("There is none. The first `dowse mcp` starts one.")


@daemon.command(cls=Command)
@click.option("--all", "every", is_flag=True, help="Those of other indexes as well.")
@click.pass_obj
def stop(session: Session, *, every: bool) -> None:
    """End the daemon of the index. Clients that are there start another one, and lose nothing."""
    stopped = list(standings(session.config, "stop", only_this_index=not every))
    session.say(_stopped(len(stopped)))


def standings(config: Config, what: str = "status", *, only_this_index: bool = False) -> Iterator[dict[str, Any]]:
    """What each daemon that lives says of itself, or says before it stops."""
    mine = os.path.realpath(config.index_dir)
    for endpoint in endpoints(folder_of(config)):
        if not only_this_index or os.path.realpath(endpoint["index"]) == mine:
            said = ask(endpoint, what)
            if said is not None:
                yield {name: value for name, value in said.items() if name != "proof"}


def line(standing: dict[str, Any]) -> str:
    """One daemon in words."""
    clients = terminal.counted(len(standing["clients"]), "client")
    idle = "" if standing["clients"] else f", idle for {standing['idle_s']:,.0f} s"
    return f"process {standing['pid']}, {clients}, {standing['memory_bytes'] / (1 << 20):,.0f} MB{idle}"


def _stopped(count: int) -> str:
    if not count:
        return "There is none to stop."
    return "Stopped 1 process." if count == 1 else f"Stopped {count:,} processes."
