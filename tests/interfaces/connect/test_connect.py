"""`connect` on real files: what is there stays, it happens once, and it can be undone exactly."""

import json
import os
import pty
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dowse.interfaces.connect.clients import CLIENTS, Surroundings

SETTINGS = {
    "claude-code": '{\n  "numStartups": 3,\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n',
    "claude-desktop": '{"globalShortcut": ""}',
    "cursor": "",
    "vscode": '{\n\t// My servers\n\t"inputs": [],\n\t"servers": {\n\t\t"a": { "command": "b" }, // good\n\t},\n}\n',
    "windsurf": '{\r\n  "mcpServers": {}\r\n}\r\n',
    "zed": '// Zed settings\n{\n  "theme": "One", // nice\n}',
    "codex": 'model = "o3" # mine\n\n[mcp_servers.a]\ncommand = "b"',
    "gemini": "\ufeff{}",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def file_of(client: str) -> Path:
    return Path(CLIENTS[client].file(Surroundings.of_this_machine()))


def servers_in(client: str, path: Path) -> dict[str, object]:
    text = path.read_text(encoding="utf-8")
    said = tomllib.loads(text) if client == "codex" else json.loads(text)
    return said[CLIENTS[client].key]


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_file_is_made_and_removed_again(client, run, home):
    run("connect", client)
    entry = servers_in(client, file_of(client))["dowse"]
    assert Path(entry["command"]).is_absolute()
    assert "mcp" in entry["args"]
    run("connect", client, "--undo")
    assert everything(home) == {}


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_there_stays_and_comes_back_byte_by_byte(client, run, home):
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SETTINGS[client].encode())
    before = everything(home)
    run("connect", client, "--dialect", "qmd")
    once = everything(home)
    assert "Already there" in run("connect", client, "--dialect", "qmd").err
    assert everything(home) == once
    assert once[path.with_name(f"{path.name}.before-dowse")] == before[path]
    run("connect", client, "--dialect", "rag", "--read-only")
    assert b'"--dialect"' in path.read_bytes()
    assert b"rag" in path.read_bytes()
    run("connect", client, "--undo")
    assert everything(home) == before


@pytest.mark.parametrize("client", ["vscode", "codex"])
def test_what_others_wrote_meanwhile_stays(client, run, home):
    path = file_of(client)
    run("connect", client)
    text = path.read_text(encoding="utf-8")
    more = {
        "vscode": ('"servers": {', '"later": {"command": "x"},'),
        "codex": ("", '[mcp_servers.later]\ncommand = "x"\n'),
    }
    before, added = more[client]
    path.write_text(text.replace(before, before + added, 1), encoding="utf-8")
    run("connect", client, "--undo")
    assert servers_in(client, path) == {"later": {"command": "x"}}
    assert list(path.parent.iterdir()) == [path]


def test_a_list_that_we_made_leaves_with_us_even_if_something_else_changed(run, home):
    path = file_of("claude-code")
    path.write_text('{\n  "a": 1\n}\n', encoding="utf-8")
    run("connect", "claude-code")
    path.write_text(path.read_text(encoding="utf-8").replace('"a": 1', '"a": 2'), encoding="utf-8")
    run("connect", "claude-code", "--undo")
    assert path.read_text(encoding="utf-8") == '{\n  "a": 2\n}\n'


def test_what_its_user_added_to_our_entry_stays(run, home):
    run("connect", "cursor")
    path = file_of("cursor")
    path.write_text(path.read_text(encoding="utf-8").replace('"command"', '"disabled": true,\n      "command"'))
    run("connect", "cursor", "--watch")
    entry = servers_in("cursor", path)["dowse"]
    assert entry["disabled"] is True
    assert entry["args"][-1] == "--watch"


def test_everything_that_the_server_takes_is_written_down(run, home, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    options = ["--read-only", "--watch", "--allow-private-urls", "--collection", "inbox", "--allow-urls", "a.org/*"]
    shown = run("connect", "cursor", "--print", "--index", "./mine", "--allow-root", "papers", *options)
    entry = json.loads(shown.out)["mcpServers"]["dowse"]
    start = entry["args"].index("mcp")
    assert entry["args"][start:] == [
        *(
            "mcp",
            "--index",
            str(tmp_path / "mine"),
            "--config",
            os.devnull,
            "--read-only",
            "--allow-private-urls",
            "--watch",
        ),
        *("--allow-root", str(tmp_path / "papers"), "--allow-urls", "a.org/*", "--collection", "inbox"),
    ]
    assert entry["env"] == {name: value for name, value in place.env.items() if name != "DOWSE_CONFIG"}
    assert str(file_of("cursor")) in shown.err
    assert everything(home) == {}


def test_a_project_has_a_file_of_its_own(run, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("connect", "claude-code", "--project", "--name", "docs")
    assert "docs" in json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]
    assert "Leave out --project" in run("connect", "windsurf", "--project", code=2).err
    run("connect", "claude-code", "--project", "--name", "docs", "--undo")
    assert not (tmp_path / ".mcp.json").exists()


@pytest.mark.parametrize(
    ("client", "text", "says"),
    [
        ("cursor", b'{\n  "mcpServers": {\n', "line 3: "),
        ("codex", b"a = 1\nb = = 2\n", "line 2: "),
        ("zed", b'{"context_servers": true}', "line 1: "),
        ("gemini", b'{"a": "\xff"}', "line 1: this is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(client, text, says, run, home):
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    failed = run("connect", client, code=5)
    assert says in failed.err
    assert str(path) in failed.err
    assert everything(home) == {path: text}
    assert run("connect", client, "--print").out


def test_the_way_out_of_a_broken_file_is_named(run, home):
    file_of("cursor").parent.mkdir()
    file_of("cursor").write_text("{", encoding="utf-8")
    assert "--print" in run("connect", "cursor", code=5).err


def test_a_read_only_file_is_left_alone(run, home):
    path = file_of("gemini")
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o444)
    failed = run("connect", "gemini", code=5)
    assert "read-only" in failed.err
    assert path.read_text(encoding="utf-8") == "{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_a_folder_in_its_place_is_an_error(run, home):
    file_of("gemini").mkdir(parents=True)
    assert "cannot be read" in run("connect", "gemini", code=5).err


def test_rights_and_links_are_kept(run, home, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o640)
    path = file_of("gemini")
    path.parent.mkdir()
    path.symlink_to(real)
    run("connect", "gemini")
    assert path.is_symlink()
    assert "dowse" in json.loads(real.read_text())["mcpServers"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    run("connect", "gemini", "--undo")
    assert path.is_symlink()
    assert real.read_text() == "{}"


def test_somebody_elses_server_of_the_same_name_needs_force(run, home):
    path = file_of("windsurf")
    path.parent.mkdir(parents=True)
    foreign = '{"mcpServers": {"dowse": {"command": "water-finder"}, "b": 1}}'
    path.write_text(foreign, encoding="utf-8")
    assert "--force" in run("connect", "windsurf", code=4).err
    assert "--force" in run("connect", "windsurf", "--undo", code=4).err
    assert path.read_text() == foreign
    run("connect", "windsurf", "--force")
    assert servers_in("windsurf", path)["dowse"]["command"] != "water-finder"
    run("connect", "windsurf", "--undo")
    assert path.read_text() == foreign, "what had to make room comes back"


def test_undoing_what_was_never_done_says_so(run, home):
    assert "nothing to undo" in run("connect", "zed", "--undo").err
    assert everything(home) == {}


def test_mistakes_are_told_before_anything_is_written(run, home):
    assert "Did you mean vscode?" in run("connect", "vsocde", code=2).err
    assert "There are: dowse" in run("connect", "zed", "--dialect", "klingon", code=2).err
    assert "does not exist" in run("connect", "zed", "--allow-root", "/no/such/folder", code=2).err
    assert everything(home) == {}


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are of POSIX")
def test_at_a_terminal_it_asks_for_folders(home, place, tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    ours, theirs = pty.openpty()
    env = {**os.environ, **place.env, "HOME": str(home)}
    command = [sys.executable, "-m", "dowse", "connect", "cursor"]
    with subprocess.Popen(command, env=env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        os.write(ours, f"{tmp_path}/nothing\n{papers}\n\n".encode())
        assert process.wait(timeout=60) == 0
    os.close(ours)
    args = servers_in("cursor", home / ".cursor" / "mcp.json")["dowse"]["args"]
    assert [args[at + 1] for at, word in enumerate(args) if word == "--allow-root"] == [str(papers)]


def test_the_command_that_is_written_starts_a_server_that_answers(run, home, place, tmp_path):
    run("collection", "add", place.notes, "--no-embed")
    entry = json.loads(run("connect", "claude-desktop", "--print").out)["mcpServers"]["dowse"]
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
    ]
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        env={"HOME": str(home), "PATH": "", "DOWSE_DAEMON": "off", **entry["env"]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = {line["id"]: line for line in map(json.loads, done.stdout.splitlines()) if "id" in line}
    assert answers[2]["result"]["structuredContent"]["documents"] == 4
