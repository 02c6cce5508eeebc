"""A server that was told to watch: what changes on the disk is found without anybody calling update."""

import time
from collections.abc import Callable

from interfaces.mcp.talking import talking
from workbench import open_at, write

PATIENCE = 30.0


def becomes_true(holds: Callable[[], bool]) -> bool:
    """Ask again until it holds, or for so long that it never will."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
    return True


def test_a_server_that_watches_finds_what_was_saved_a_moment_ago(tmp_path):
    root = write(tmp_path / "notes", {"a.md": "# Tea\n\nGreen tea.\n"})
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        with talking("qmd", tmp_path, "stdio handshake", "--watch") as talk:
            assert becomes_true(lambda: engine.watched().state == "running")
            write(root, {"new.md": "# Zebra\n\nBlack stripes.\n"})
            assert becomes_true(lambda: "notes/new.md" in str(talk.call("search", {"query": "stripes"})))
        assert engine.watched().state == "off"


def test_a_second_watcher_serves_all_the_same(tmp_path):
    root = write(tmp_path / "notes", {"a.md": "# Tea\n\nGreen tea.\n"})
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        with talking("qmd", tmp_path, "stdio handshake", "--watch") as first:
            assert becomes_true(lambda: engine.watched().state == "running")
            with talking("qmd", tmp_path, "stdio handshake", "--watch") as second:
                for talk in (first, second):
                    assert "notes/a.md" in str(talk.call("search", {"query": "tea"}))
