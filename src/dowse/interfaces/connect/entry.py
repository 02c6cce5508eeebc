"""What a client is told: the command that starts the server, with absolute paths, wherever the client is started."""

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from dowse.config import Config, describe
from dowse.interfaces.connect.clients import Client

__all__ = ["entry_for", "environment", "is_ours", "program"]

_SCRIPTS = {"dowse", "qmd"}


def program(argv0: str, scripts: Path | None = None) -> list[str]:
    """The command that starts this Dowse: the script that runs, else the one that was installed, else the module."""
    started = Path(argv0)
    folders = [started.absolute().parent] if started.stem.lower() in _SCRIPTS and started.name != argv0 else []
    for folder in [*folders, scripts or Path(sysconfig.get_path("scripts"))]:
        for name in ("dowse.exe", "dowse"):
            if (folder / name).is_file() and os.access(folder / name, os.X_OK):
                return [str(folder / name)]
    return [sys.executable, "-m", "dowse"]


def environment(config: Config) -> dict[str, str]:
    """The settings that come from the environment of this shell, which a client does not have; paths are absolute."""
    return {
        variable: str(getattr(config, name))
        for name, variable, *_ in describe()
        if name != "index" and config.origins.get(name) == variable
    }


def entry_for(
    client: Client, command: Sequence[str], arguments: Sequence[str], env: Mapping[str, str]
) -> dict[str, Any]:
    """The entry as this client reads it."""
    entry: dict[str, Any] = {**client.also, "command": command[0], "args": [*command[1:], *arguments]}
    return {**entry, "env": dict(env)} if env else entry


def is_ours(entry: object) -> bool:
    """Whether an entry starts Dowse's server."""
    if not isinstance(entry, Mapping):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    if (
        not isinstance(command, str)
        or not isinstance(arguments, list)
        or not {"mcp", "server"} & {*map(str, arguments)}
    ):
        return False
    path: PurePath = PureWindowsPath(command)  # takes both kinds of slashes
    return path.stem.lower() in _SCRIPTS or [*map(str, arguments[:2])] == ["-m", "dowse"]
