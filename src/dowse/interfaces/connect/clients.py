"""The clients that `connect` knows: where each keeps its list of servers, in which format, and what it wants to read.

A row is all there is to a client. Where files are is worked out with pure paths, so that every platform can be
tested on any.
"""

import difflib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path, PurePath
from typing import Literal, Self

from dowse.errors import UsageError
from dowse.records import record

__all__ = ["CLIENTS", "Client", "Surroundings", "client_of"]

Platform = Literal["linux", "macos", "windows"]


@record
class Surroundings:
    """What decides where a client's files are."""

    platform: Platform
    home: PurePath
    env: Mapping[str, str]

    @classmethod
    def of_this_machine(cls) -> Self:
        """Those of whoever runs this."""
        platform: Platform = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")  # type: ignore[assignment]
        return cls(platform, Path.home(), os.environ)

    def named(self, variable: str, usual: PurePath) -> PurePath:
        """The folder that a variable of the environment names, else the usual one."""
        return type(self.home)(self.env[variable]) if self.env.get(variable) else usual

    @property
    def settings(self) -> PurePath:
        """Where desktop programs keep their settings."""
        if self.platform == "windows":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "macos":
            return self.home / "Library" / "Application Support"
        return self.named("XDG_CONFIG_HOME", self.home / ".config")


@record
class Client:
    """One row: a program that can start MCP servers."""

    name: str
    title: str
    file: Callable[[Surroundings], PurePath]
    """Where it keeps the servers of its user."""
    key: str
    """What they are called in there."""
    then: str
    """What makes it read the file again."""
    format: Literal["json", "toml"] = "json"
    project_file: str = ""
    """Where it looks for servers of one project, below that project's folder; empty: nowhere."""
    also: Mapping[str, str] = field(default_factory=dict)
    """What an entry holds besides command and arguments."""


def _zed(at: Surroundings) -> PurePath:
    if at.platform == "windows":
        return at.settings / "Zed" / "settings.json"
    usual = at.home / ".config"
    return (at.named("XDG_CONFIG_HOME", usual) if at.platform == "linux" else usual) / "zed" / "settings.json"


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            lambda at: at.named("CLAUDE_CONFIG_DIR", at.home) / ".claude.json",
            "mcpServers",
            "Start a new session of Claude Code; /mcp shows the server.",
            project_file=".mcp.json",
            also={"type": "stdio"},
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            lambda at: at.settings / "Claude" / "claude_desktop_config.json",
            "mcpServers",
            "Quit Claude Desktop and start it again.",
        ),
        Client(
            "cursor",
            "Cursor",
            lambda at: at.home / ".cursor" / "mcp.json",
            "mcpServers",
            "Cursor shows the server in its settings, under MCP.",
            project_file=".cursor/mcp.json",
            also={"type": "stdio"},
        ),
        Client(
            "vscode",
            "VS Code",
            lambda at: at.settings / "Code" / "User" / "mcp.json",
            "servers",
            "In VS Code, `MCP: List Servers` starts the server.",
            project_file=".vscode/mcp.json",
            also={"type": "stdio"},
        ),
        Client(
            "windsurf",
            "Windsurf",
            lambda at: at.home / ".codeium" / "windsurf" / "mcp_config.json",
            "mcpServers",
            "Refresh the list of MCP servers in Windsurf's Cascade panel.",
        ),
        Client(
            "zed",
            "Zed",
            _zed,
            "context_servers",
            "Zed starts the server at once; the settings of its agent panel show it.",
            project_file=".zed/settings.json",
            also={"source": "custom"},
        ),
        Client(
            "codex",
            "Codex",
            lambda at: at.named("CODEX_HOME", at.home / ".codex") / "config.toml",
            "mcp_servers",
            "Start a new session of Codex; /mcp shows the server.",
            format="toml",
            project_file=".codex/config.toml",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            lambda at: at.home / ".gemini" / "settings.json",
            "mcpServers",
            "Start a new session of Gemini CLI; /mcp shows the server.",
            project_file=".gemini/settings.json",
        ),
    )
}
"""Every client by the name that `connect` takes."""


def client_of(name: str) -> Client:
    """The client of this name.

    Raises:
        UsageError: there is none; the nearest one is named.
    """
    if name in CLIENTS:
        return CLIENTS[name]
    near = difflib.get_close_matches(name.lower().replace(" ", "-").replace("_", "-"), CLIENTS, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"There is no client {name!r}.", hint=f"{guess}The clients are: {', '.join(CLIENTS)}.")
