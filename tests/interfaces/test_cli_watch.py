"""`watch` as a process of its own: what it prints, how it ends, and what is left when it is killed."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from workbench import age, environment_for, facts, files_found, many, open_at, problems, write

PATIENCE = 60
KILLS = 6
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def command(*arguments):
    return [sys.executable, "-m", "dowse", *map(str, arguments)]


def run(folder, *arguments):
    """Run the program on the index below this folder to its end."""
    return subprocess.run(
        command(*arguments),
        env=environment_for(folder),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        encoding="utf-8",
    )


class Watching:
    """A `dowse watch` that runs."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            command("watch", "--json", *options),
            env=environment_for(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def until(self, **values):
        """Read batches up to one with these values."""
        for line in self.process.stdout:
            batch = json.loads(line)
            if all(batch.get(name) == value for name, value in values.items()):
                return batch
        pytest.fail(f"it ended: {self.process.stderr.read()}")

    def end(self, number):
        """Send it a signal; returns its exit code and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@contextmanager
def watching(folder, *options):
    watch = Watching(folder, *options)
    try:
        yield watch
    finally:
        if watch.process.poll() is None:
            watch.process.kill()
        watch.process.communicate(timeout=PATIENCE)


@pytest.fixture
def root(tmp_path):
    folder = write(tmp_path / "notes", many(6))
    with open_at(tmp_path) as engine:
        engine.add_collection(folder, name="notes")
    return folder


@needs_posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_tells_of_every_batch_and_ends_cleanly(tmp_path, root, number, code):
    with watching(tmp_path) as watch:
        assert watch.until(whole=True)["added"] == 6
        write(root, {"new.md": "# New\n\nAn ibex.\n"})
        assert watch.until(added=1)["collection"] == "notes"
        with open_at(tmp_path) as engine:
            assert files_found(engine, "ibex") == ["notes/new.md"]
        assert f"by process {watch.process.pid}" in run(tmp_path, "status").stdout
        ended, said = watch.end(number)
        assert ended == code, said
        assert "Traceback" not in said
        assert ("dowse watch" in said) == (code == 130)
    assert not (tmp_path / "index" / "watch.json").exists()
    assert "Watched" not in run(tmp_path, "status").stdout


@needs_posix
def test_for_people_a_batch_is_a_line_on_stderr(tmp_path, root):
    process = subprocess.Popen(
        command("watch", "--no-embed", "-c", "notes"),
        env=environment_for(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        lines = [process.stderr.readline(), process.stderr.readline()]
        assert lines[0] == "Watching. Stop with Ctrl-C.\n"
        assert "notes: 6 added in " in lines[1]
        write(root, {"part0/note000.md": "# Changed\n\nAn ibex.\n"})
        assert "notes: 1 changed in " in process.stderr.readline()
    finally:
        process.terminate()
        out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, said) == (0, "", "Ended.\n")


def test_a_collection_that_is_not_there_cannot_be_watched(tmp_path, root):
    done = run(tmp_path, "watch", "-c", "nots")
    assert done.returncode == 3
    assert "Did you mean 'notes'?" in done.stderr


@needs_posix
def test_a_second_watcher_is_told_who_the_first_one_is(tmp_path, root):
    with watching(tmp_path) as watch:
        watch.until(whole=True)
        second = run(tmp_path, "watch")
        assert second.returncode == 4
        assert f"error: Process {watch.process.pid} is already watching" in second.stderr
        write(root, {"new.md": "# New\n"})
        watch.until(added=1)


@needs_posix
def test_status_tells_of_a_watcher_that_was_killed_until_another_takes_over(tmp_path, root):
    with watching(tmp_path) as watch:
        watch.until(whole=True)
        watch.process.kill()
        watch.process.wait(PATIENCE)
        said = run(tmp_path, "status").stdout
        assert f"is gone (process {watch.process.pid}): dowse watch" in said
        assert json.loads(run(tmp_path, "status", "--json").stdout)["watch"]["state"] == "died"
    write(root, {"meanwhile.md": "# Meanwhile\n\nAn ibex.\n"})
    with watching(tmp_path) as watch:
        assert watch.until(whole=True)["added"] == 1
        assert json.loads(run(tmp_path, "status", "--json").stdout)["watch"]["state"] == "running"
        watch.end(signal.SIGTERM)
    assert json.loads(run(tmp_path, "status", "--json").stdout)["watch"]["state"] == "off"


def _change_some(chance, root, number):
    """Add, change, move and delete a few files, as they might while nobody waits for them."""
    files = sorted(root.rglob("*.md"))
    for file in chance.sample(files, 2):
        file.unlink()
    for file in chance.sample(sorted(root.rglob("*.md")), 3):
        file.rename(root / f"moved-{number}-{file.name}")
    for file in chance.sample(sorted(root.rglob("*.md")), 3):
        write(root, {file.relative_to(root).as_posix(): f"# Changed {number}\n\nA zebra in {file.stem}, number 3.\n"})
    write(root, {f"new{number}/{n}.md": f"# New {number}\n\nA zebra came by road number {n}.\n" for n in range(4)})


@needs_posix
def test_after_any_death_the_next_watcher_ends_with_the_index_of_one_that_never_died(tmp_path):
    chance = random.Random(7)  # noqa: S311  # deaths that can be repeated
    root = write(tmp_path / "notes", many(48))
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
    for number in range(KILLS):
        with watching(tmp_path) as watch:
            if number % 2:  # else it dies while it catches up
                watch.until(whole=True)
                _change_some(chance, root, number)
            try:
                watch.process.wait(chance.random() * (0.5 if number % 2 else 1.0))
            except subprocess.TimeoutExpired:
                watch.process.kill()
        with open_at(tmp_path) as engine:
            assert problems(engine) == []
            found = files_found(engine, "zebra")
            assert len(found) == len(set(found)) == engine.stats().documents
    for file in root.rglob("*.md"):
        age(file)
    with watching(tmp_path) as watch:
        watch.until(whole=True)
        assert watch.end(signal.SIGTERM)[0] == 0
    with open_at(tmp_path) as engine, open_at(tmp_path / "fresh") as fresh:
        fresh.add_collection(root, name="notes")
        fresh.index("notes")
        for each in (engine, fresh):
            each.embed()
            each.cleanup(days=0)
        assert problems(engine) == []
        assert facts(engine, with_scores=False) == facts(fresh, with_scores=False)


LOSING_WHAT_IS_RAISED = """
import signal, weakref
from dowse.ingest.watch import watcher
from dowse.interfaces.cli import main

class Thing: pass

def turn(self, state):
    thing = Thing()
    kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGTERM))
    del thing
    print("went on, as if nothing had been raised")

watcher.Watcher._turn = turn
raise SystemExit(main(["watch"]))
"""


@needs_posix
def test_a_request_to_end_is_followed_also_where_python_drops_what_its_handler_raises(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", many(1)))
    ended = subprocess.run(
        [sys.executable, "-c", LOSING_WHAT_IS_RAISED],
        env=environment_for(tmp_path),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        encoding="utf-8",
    )
    assert ended.stdout == "went on, as if nothing had been raised\n"
    assert ended.stderr == "Watching. Stop with Ctrl-C.\nEnded.\n"
    assert ended.returncode == 0
