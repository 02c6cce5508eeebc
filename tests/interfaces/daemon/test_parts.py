"""The parts of the daemon that need no daemon: command lines, keys, logs, and what `daemon` tells people."""

import json
import subprocess
import sys

import click
import pytest

from dowse.interfaces.cli import main
from dowse.interfaces.cli.app import GLOBAL_OPTIONS
from dowse.interfaces.cli.commands import serving
from dowse.interfaces.daemon import meeting, thin
from workbench import config_for, environment_for


def options(command):
    """The options of a command by their spellings: parameter name and whether it is a flag."""
    return {
        spelling: (each.name, each.is_flag)
        for each in [*command.params, *GLOBAL_OPTIONS]
        if isinstance(each, click.Option)
        for spelling in each.opts
    }


def test_the_thin_client_knows_the_options_of_the_command_and_no_others():
    known = options(serving.mcp)
    left = {"--no-daemon", "--log-format"}  # what means: not thin, and what hardly any client says
    assert set(thin.TEXTS) | set(thin.FLAGS) == (set(known) | {"--transport"}) - left
    for spelling, name in (thin.TEXTS | thin.FLAGS).items():
        said, is_flag = options(serving.server)[spelling]
        assert (said.removesuffix("_file"), is_flag) == (name, spelling in thin.FLAGS)


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("mcp", {}),
        ("--index x mcp", {"index": "x"}),
        ("mcp --index=x --allow-root a --allow-root b -q", {"index": "x", "roots": ["a", "b"], "quiet": True}),
        ("server --transport mcp --read-only", {"read_only": True}),
        ("server --transport=mcp", {}),
        ("mcp --no-daemon", None),
        ("mcp --help", None),
        ("mcp --index", None),
        ("mcp --index --watch", None),
        ("mcp more", None),
        ("mcp --transport mcp", None),
        ("--read-only mcp", None),
        ("server --transport http", None),
        ("server --port 1", None),
        ("search mcp", None),
        ("", None),
    ],
)
def test_a_command_line_is_understood_or_left_to_the_command(line, given):
    found = thin._parsed(line.split())
    assert found == (None if given is None else {"roots": [], "url_patterns": []} | given)


def test_the_key_is_that_of_the_index_and_of_everything_that_is_set(tmp_path, monkeypatch):
    key = meeting._key(config_for(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path)
    assert meeting._key(config_for(tmp_path, index=str(tmp_path / "link" / "index"))) == key
    assert meeting._key(config_for(tmp_path, daemon=False)) == key
    model = {"embedder": "openai:http://127.0.0.1:1/v1#m;key=MY_KEY"}
    others = [meeting._key(config_for(tmp_path, **model))]
    monkeypatch.setenv("MY_KEY", "changed")
    others.append(meeting._key(config_for(tmp_path, **model)))
    others.append(meeting._key(config_for(tmp_path, index=str(tmp_path / "other"))))
    monkeypatch.setattr(meeting, "__version__", "9.9")
    others.append(meeting._key(config_for(tmp_path)))
    assert len({key, *others}) == 5


def test_a_folder_that_is_not_a_private_one_is_made_so_or_refused(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    meeting.make_private(tmp_path / "open")
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "open")
    with pytest.raises(PermissionError):
        meeting.make_private(tmp_path / "link")


def test_a_log_is_bounded(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from dowse.interfaces.daemon.standing import bounded_log\n"
        "log = Path(sys.argv[1])\n"
        "for number in range(100):\n"
        "    os.write(2, b'x' * 99 + b'\\n'); bounded_log(log, longest=1000)\n"
    )
    log = tmp_path / "key.log"
    with log.open("ab") as stderr:
        subprocess.run([sys.executable, "-c", script, str(log)], check=True, stderr=stderr)
    assert 0 < log.stat().st_size <= 1000
    assert log.with_suffix(".log.old").stat().st_size == 1100


def test_people_see_the_daemon_and_can_stop_it(lasting, monkeypatch, capsys):
    for name, value in (environment_for(lasting.folder) | lasting.env).items():
        if name.startswith(("DOWSE_", "XDG_")):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["dowse"])
    assert main(["daemon", "status"]) == 0
    assert "There is none." in capsys.readouterr().err
    with lasting.client() as server:
        server.open()
        pid = lasting.pid()
        assert main(["daemon", "status"]) == 0
        assert f"{lasting.folder / 'index'}: process {pid}, 1 client, " in capsys.readouterr().out
        assert main(["daemon", "status", "--json"]) == 0
        (standing,) = json.loads(capsys.readouterr().out)
        assert (standing["pid"], standing["clients"][0]["pid"]) == (pid, server.process.pid)
        assert standing["memory_bytes"] > 1 << 20
        assert main(["status"]) == 0
        assert f"Daemon:      process {pid}, 1 client, " in capsys.readouterr().out
        main(["doctor", "--json"])
        (finding,) = [each for each in json.loads(capsys.readouterr().out) if each["check"] == "daemon"]
        assert finding["ok"]
        assert f"Process {pid}, 1 client" in finding["message"]
        assert f"of version {standing['version']}, up for " in finding["message"]
        monkeypatch.setattr("dowse.interfaces.cli.commands.care.__version__", "0.0.1")
        main(["doctor", "--json"])
        (finding,) = [each for each in json.loads(capsys.readouterr().out) if each["check"] == "daemon"]
        assert (finding["ok"], finding["hint"]) == (False, "End it: dowse daemon stop")
        assert server.end() == 0
    assert main(["daemon", "stop"]) == 0
    assert "Stopped 1 process." in capsys.readouterr().err
