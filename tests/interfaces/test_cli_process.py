"""The program as a process of its own: streams, exit codes, encodings, pipes and terminals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "dowse"]
pty = pytest.importorskip("pty") if os.name == "posix" else None
needs_terminal = pytest.mark.skipif(pty is None, reason="pseudo-terminals are of POSIX")


@pytest.fixture(scope="module")
def env(library):
    """What the process inherits: nothing of the user's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOWSE_") and name != "NO_COLOR"}
    return kept | library.env


def start(env, *arguments, **options):
    """Run the program to its end."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)], env=env, capture_output=True, check=False, timeout=60, **options
    )


def on_a_terminal(env, *arguments):
    """Run the program with stdout and stderr on a terminal; returns what the terminal got, and the exit code."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], env=env | {"TERM": "xterm"}, stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    got = b""
    try:
        while block := os.read(leader, 65536):
            got += block
    except OSError:  # Linux says so when the other end is closed
        pass
    finally:
        os.close(leader)
    return got.decode(), process.wait(timeout=60)


def test_data_goes_to_stdout_talk_to_stderr_and_the_exit_code_tells(env):
    good = start(env, "search", "zeppelin", "--json")
    assert (good.returncode, good.stdout) == (0, b"[]\n")
    assert b'No results found for "zeppelin"' in good.stderr
    bad = start(env, "get", "nowhere.md")
    assert (bad.returncode, bad.stdout) == (3, b"")
    assert bad.stderr.startswith(b"error: ")
    assert start(env, "search").returncode == 2


def test_the_output_is_utf8_even_where_the_locale_is_not(env, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "dessert.md").write_text("# Crème brûlée 日本\n\nÜber die Crème.\n", encoding="utf-8")
    plain = env | {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain |= {"DOWSE_INDEX": str(tmp_path / "index")}
    assert start(plain, "collection", "add", notes, "-q").returncode == 0
    for name in ("json", "cli", "xml", "csv", "md"):
        done = start(plain, "search", "--format", name, "über", "crème")
        assert done.returncode == 0, done.stderr
        assert "Crème brûlée 日本" in done.stdout.decode("utf-8")


def test_a_file_name_that_is_no_text_does_not_break_the_output(env, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(notes) + b"/bad\xff.md")).write_text("# Bad\n\nA zebra.\n")
    except (OSError, UnicodeError):
        pytest.skip("this file system wants text")
    own = env | {"DOWSE_INDEX": str(tmp_path / "index")}
    assert start(own, "collection", "add", notes, "-q").returncode == 0
    for arguments in (["search", "zebra", "--json"], ["status", "--json", "--failed"], ["ls", "notes", "--json"]):
        done = start(own, *arguments)
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout.decode("utf-8"))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_no_error(env, tmp_path, unbuffered):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "long.md").write_text("# Long\n\n" + "A zebra crossing.\n" * 50_000)
    own = env | {"DOWSE_INDEX": str(tmp_path / "index"), "PYTHONUNBUFFERED": unbuffered}
    assert start(own, "collection", "add", notes, "-q", "--no-embed").returncode == 0
    pipe = subprocess.PIPE
    with subprocess.Popen([*PROGRAM, "get", "notes/long.md"], env=own, stdout=pipe, stderr=pipe) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in {0, 141}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is of Linux")
def test_an_output_that_is_full_is_an_error_of_the_output(env):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "status"], env=env, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 74
    assert b"error: The output cannot be written" in done.stderr
    assert b"bug" not in done.stderr


@needs_terminal
def test_colour_is_for_terminals_and_never_against_no_color(env):
    coloured, code = on_a_terminal(env, "search", "espresso")
    assert code == 0
    assert "\x1b[" in coloured
    plain, _ = on_a_terminal(env | {"NO_COLOR": "1"}, "search", "espresso")
    assert "\x1b" not in plain
    assert b"\x1b" not in start(env, "search", "espresso").stdout
    unstyled = coloured
    for sequence in ("\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[32m", "\x1b[0m"):
        unstyled = unstyled.replace(sequence, "")
    assert unstyled == plain


@needs_terminal
@pytest.mark.parametrize("arguments", [["search", "zebra"], ["get", "trap.md"], ["search", "zebra", "--md"]])
def test_a_document_cannot_command_the_terminal(env, tmp_path, arguments):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "trap.md").write_text("# Trap\n\nA zebra \x1b]0;owned\x07 \x9b2J crossing.\n")
    own = env | {"DOWSE_INDEX": str(tmp_path / "index"), "NO_COLOR": "1"}
    assert start(own, "collection", "add", notes, "-q").returncode == 0
    got, code = on_a_terminal(own, *arguments)
    assert code == 0
    assert "zebra" in got
    assert not set(got) & set("\x1b\x07\x9b")


@needs_terminal
def test_indexing_on_a_terminal_shows_progress_and_ends_well(env, library, tmp_path):
    own = env | {"DOWSE_INDEX": str(tmp_path / "index")}
    got, code = on_a_terminal(own, "collection", "add", library.notes, "--name", "notes")
    assert code == 0, got
    assert "4 documents are searchable by words." in got
    assert "notes: 4 added" in got


def test_a_shell_that_asks_gets_commands_and_options(env):
    asking = {"_DOWSE_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    commands = start(env | asking | {"COMP_WORDS": "dowse se"})
    assert commands.stdout.split() == [b"plain,search", b"plain,server"]
    options = start(env | asking | {"COMP_WORDS": "dowse search --ex", "COMP_CWORD": "2"})
    assert options.stdout.split() == [b"plain,--explain"]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_while_files_are_read_loses_nothing_and_update_goes_on(env, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(800):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nZebra number {number} crosses.\n")
    own = env | {"DOWSE_INDEX": str(tmp_path / "index")}
    adding = [*PROGRAM, "collection", "add", str(notes), "-v"]
    with subprocess.Popen(adding, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            if line.startswith(b"read: "):
                process.send_signal(signal.SIGINT)
                break
        said = process.stderr.read().decode()
    assert process.returncode == 130, said
    assert "Stopped. Nothing is lost: go on with `dowse update`" in said
    assert "Traceback" not in said
    assert start(own, "update", "-q").returncode == 0
    status = json.loads(start(own, "status", "--json").stdout)
    assert (status["totalDocuments"], status["needsEmbedding"]) == (800, 0)
