"""The table of clients: where each one's file is on each platform, and what goes into it."""

import json
import sys
import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from dowse.config import Config
from dowse.errors import UsageError
from dowse.interfaces.connect import json_text
from dowse.interfaces.connect.clients import CLIENTS, Surroundings, client_of
from dowse.interfaces.connect.connecting import snippet
from dowse.interfaces.connect.entry import entry_for, environment, is_ours, program

LINUX = Surroundings("linux", PurePosixPath("/home/ada"), {})
MACOS = Surroundings("macos", PurePosixPath("/Users/ada"), {"XDG_CONFIG_HOME": "/elsewhere"})
WINDOWS = Surroundings("windows", PureWindowsPath(r"C:\Users\ada"), {"APPDATA": r"D:\Roaming"})

PLACES = {
    "claude-code": ("/home/ada/.claude.json", "/Users/ada/.claude.json", r"C:\Users\ada\.claude.json"),
    "claude-desktop": (
        "/home/ada/.config/Claude/claude_desktop_config.json",
        "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
        r"D:\Roaming\Claude\claude_desktop_config.json",
    ),
    "cursor": ("/home/ada/.cursor/mcp.json", "/Users/ada/.cursor/mcp.json", r"C:\Users\ada\.cursor\mcp.json"),
    "vscode": (
        "/home/ada/.config/Code/User/mcp.json",
        "/Users/ada/Library/Application Support/Code/User/mcp.json",
        r"D:\Roaming\Code\User\mcp.json",
    ),
    "windsurf": (
        "/home/ada/.codeium/windsurf/mcp_config.json",
        "/Users/ada/.codeium/windsurf/mcp_config.json",
        r"C:\Users\ada\.codeium\windsurf\mcp_config.json",
    ),
    "zed": (
        "/home/ada/.config/zed/settings.json",
        "/Users/ada/.config/zed/settings.json",
        r"D:\Roaming\Zed\settings.json",
    ),
    "codex": ("/home/ada/.codex/config.toml", "/Users/ada/.codex/config.toml", r"C:\Users\ada\.codex\config.toml"),
    "gemini": (
        "/home/ada/.gemini/settings.json",
        "/Users/ada/.gemini/settings.json",
        r"C:\Users\ada\.gemini\settings.json",
    ),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_file_is_where_the_client_keeps_it_on_each_platform(name):
    assert tuple(str(CLIENTS[name].file(at)) for at in (LINUX, MACOS, WINDOWS)) == PLACES[name]


@pytest.mark.parametrize(
    ("name", "variable", "place"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "CODEX_HOME", "/x/config.toml"),
        ("vscode", "XDG_CONFIG_HOME", "/x/Code/User/mcp.json"),
        ("zed", "XDG_CONFIG_HOME", "/x/zed/settings.json"),
    ],
)
def test_the_environment_can_move_it(name, variable, place):
    at = Surroundings("linux", LINUX.home, {variable: "/x"})
    assert str(CLIENTS[name].file(at)) == place
    assert CLIENTS[name].file(Surroundings("linux", LINUX.home, {variable: ""})) == CLIENTS[name].file(LINUX)


def test_windows_without_its_variable_has_its_usual_folder():
    at = Surroundings("windows", WINDOWS.home, {})
    assert str(CLIENTS["vscode"].file(at)) == r"C:\Users\ada\AppData\Roaming\Code\User\mcp.json"


KEYS = {"vscode": "servers", "zed": "context_servers", "codex": "mcp_servers"}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_whole_file_has_the_shape_that_the_client_documents(name):
    client = CLIENTS[name]
    entry = entry_for(client, ["/opt/dowse"], ["mcp", "--watch"], {"DOWSE_EMBEDDER": "hashed"})
    text = snippet(client, "dowse", entry)
    said = tomllib.loads(text) if name == "codex" else json.loads(text)
    ((key, servers),) = said.items()
    assert key == KEYS.get(name, "mcpServers")
    assert (
        servers["dowse"].items()
        >= {
            "command": "/opt/dowse",
            "args": ["mcp", "--watch"],
            "env": {"DOWSE_EMBEDDER": "hashed"},
        }.items()
    )
    assert is_ours(servers["dowse"])


def test_an_unknown_client_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError) as failure:
        client_of("Claude Dekstop")
    assert failure.value.hint.startswith("Did you mean claude-desktop? The clients are: claude-code, ")
    with pytest.raises(UsageError) as failure:
        client_of("emacs")
    assert failure.value.hint.startswith("The clients are: ")


def test_the_command_is_the_script_that_runs_else_the_installed_one_else_the_module(tmp_path):
    script = tmp_path / "bin" / "dowse"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    nowhere = tmp_path / "nowhere"
    assert program(str(script.with_name("qmd")), nowhere) == [str(script)]
    assert program("dowse", script.parent) == [str(script)]
    assert program("/usr/lib/pytest", nowhere) == [sys.executable, "-m", "dowse"]
    script.chmod(0o644)
    assert program(str(script), nowhere) == [sys.executable, "-m", "dowse"]


def test_settings_of_this_shell_go_along_in_absolute_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = Config.load(Path("/dev/null"), {"DOWSE_DATA_DIR": "data", "DOWSE_CHUNK_TOKENS": "99", "DOWSE_INDEX": "x"})
    assert environment(config) == {"DOWSE_DATA_DIR": str(tmp_path / "data"), "DOWSE_CHUNK_TOKENS": "99"}


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "/x/bin/dowse", "args": ["mcp"]}, True),
        ({"command": r"C:\x\Scripts\dowse.exe", "args": ["mcp", "--index", "a"]}, True),
        ({"command": "/x/qmd", "args": ["server", "--transport", "mcp"]}, True),
        ({"command": "/x/python", "args": ["-m", "dowse", "mcp"]}, True),
        ({"command": "/x/dowse", "args": ["status"]}, False),
        ({"command": "npx", "args": ["-y", "dowse", "mcp"]}, False),
        ({"url": "http://127.0.0.1:8181/mcp"}, False),
        ({"command": ["dowse"], "args": "mcp"}, False),
        ("dowse mcp", False),
    ],
)
def test_an_entry_is_ours_when_it_starts_our_server(entry, ours):
    assert is_ours(entry) is ours


def test_paths_that_need_escapes_survive():
    entry = entry_for(CLIENTS["cursor"], [r"C:\Program Files\döwse\dowse.exe"], ["mcp"], {})
    assert json_text.read(snippet(CLIENTS["cursor"], "dowse", entry))["mcpServers"]["dowse"] == entry
