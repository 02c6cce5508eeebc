"""Several processes on one index: writers take turns, readers never wait, and whoever dies leaves it whole."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import workers
from dowse import Query, StoreLockedError
from dowse.interfaces.daemon.meeting import ask, endpoints
from dowse.store.sqlite.database import MIGRATIONS, _check_owner, connect_writer
from soaking import KINDS, Soak
from workbench import environment_for, facts, files_found, ids, many, open_at, problems, write

_PATIENCE = 60


def program(folder, *arguments, **settings):
    """The program itself, started on the index below this folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "dowse", *map(str, arguments)],
        env=environment_for(folder) | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def worker(*arguments):
    """A worker whose lines can be read and whose stdin ends with the block."""
    process = subprocess.Popen(
        workers.command(*arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(_PATIENCE)
        process.stdout.close()
        process.stderr.close()


def end(process):
    """Wait for its end, which must be a good one."""
    out, err = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 0, err
    return out


# Working at the same time


def test_an_index_that_comes_into_being_while_it_is_opened_is_no_foreign_one(tmp_path):
    path = tmp_path / "dowse.db"
    with closing(sqlite3.connect(path)) as reader:
        begun = []

        def make_it_now(statement):
            if "sqlite_schema" in statement and not begun:
                begun.append(statement)
                connect_writer(path).close()

        reader.set_trace_callback(make_it_now)
        assert _check_owner(reader, path) == len(MIGRATIONS)
        assert begun


def test_writers_take_turns_readers_read_on_and_no_document_is_lost(tmp_path):
    roots = {name: write(tmp_path / name, many(60, word=name)) for name in ("ibex", "zebra")}
    with open_at(tmp_path) as engine:
        writers = [program(tmp_path, "collection", "add", root, "-q") for root in roots.values()]
        seen = dict.fromkeys(roots, 0)
        while any(writer.poll() is None for writer in writers):
            for name in roots:
                found = len(files_found(engine, name))
                assert found >= seen[name], "a document was lost"
                seen[name] = found
        for writer in writers:
            end(writer)
        assert {name: len(files_found(engine, name)) for name in roots} == {"ibex": 60, "zebra": 60}
        assert problems(engine) == []


def test_two_updates_of_the_same_folder_make_each_document_once(tmp_path):
    root = write(tmp_path / "notes", many(20))
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        before = ids(engine)
        (root / "part1").rename(root / "moved")
        write(root, {**many(26), "part0/note000.md": "# Changed\n\nA changed zebra.\n"})
        for number in (2, 5, 8):
            (root / f"part2/note{number:03}.md").unlink()
        for process in [program(tmp_path, "update", "-q") for _ in range(2)]:
            end(process)
        after = ids(engine)
        assert {path.split("/", 1)[1] for path in after} == {
            path.relative_to(root).as_posix() for path in root.rglob("*.md")
        }
        assert len(set(after.values())) == len(after)
        assert after["notes/part0/note000.md"] == before["notes/part0/note000.md"]
        assert problems(engine) == []
    with open_at(tmp_path / "fresh") as fresh, open_at(tmp_path) as engine:
        fresh.add_collection(root, name="notes")
        fresh.index("notes")
        fresh.embed()
        assert facts(engine, with_scores=False) == facts(fresh, with_scores=False)


def test_a_document_that_is_replaced_again_and_again_is_always_there_exactly_once(tmp_path):
    root = write(
        tmp_path / "notes", {"a.md": "# Alpha\n\nThe alpha at version -1.\n", "b.md": "# Beta\n\nNo change.\n"}
    )
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        searches, versions = 0, []
        with worker("replace", tmp_path, root, 25) as writer:
            while writer.poll() is None:
                with open_at(tmp_path) as newcomer:
                    for reader in (engine, newcomer):
                        answer = reader.search(Query("alpha", mode="lex", fresh="ignore"))
                        (hit,) = answer.hits
                        assert answer.notes == ()
                        text = reader.get("a.md").text
                        assert "alpha" in text
                        versions.append(int(hit.chunk.text.split("version ")[1].split()[0].rstrip(".")))
                        searches += 1
            assert writer.returncode == 0, writer.stderr.read()
        assert versions == sorted(versions)
        assert len(set(versions)) > 2
        assert searches > 10
        assert "version 24" in engine.get("a.md").text
        assert problems(engine) == []


def test_a_writer_that_waits_in_vain_says_who_holds_the_lock(tmp_path):
    root = write(tmp_path / "notes", many(1))
    with worker("hold", tmp_path) as holder, open_at(tmp_path, lock_timeout=0.05) as engine:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreLockedError) as refused:
            engine.add_collection(root)
        assert f"Process {holder.pid} (workers.py" in refused.value.message
        assert refused.value.hint
        assert (refused.value.exit_code, engine.stats().documents) == (7, 0)
        waiting = program(tmp_path, "context", "add", "/", "x", DOWSE_LOCK_TIMEOUT="0")
        _, said = waiting.communicate(timeout=_PATIENCE)
        assert waiting.returncode == 7
        assert f"error: Process {holder.pid} (workers.py".encode() in said
        assert b"hint: " in said


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_the_lock_of_a_writer_that_was_killed_is_free_at_once(tmp_path):
    root = write(tmp_path / "notes", many(1))
    with worker("hold", tmp_path) as holder:
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait(_PATIENCE)
        with open_at(tmp_path, lock_timeout=0) as engine:
            assert engine.add_collection(root).name == "notes"


def test_cleaning_up_does_not_wait_for_readers(tmp_path):
    root = write(tmp_path / "notes", many(6))
    with open_at(tmp_path) as engine, open_at(tmp_path) as other:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        with other._store.snapshot() as view:
            engine.remove_collection("notes")
            statements: list[str] = []
            engine._store._connection().set_trace_callback(statements.append)
            assert engine.cleanup(days=0) >= 0
            assert len(view.documents()) == 6
        pragmas = [each for each in statements if "busy_timeout =" in each or "checkpoint" in each]
        assert [each.split(" = ")[-1] for each in pragmas] == ["0", "PRAGMA wal_checkpoint(TRUNCATE)", "10000"]
        assert other.documents() == []


# Many kinds of processes for some time

SOAK_SECONDS = float(os.environ.get("DOWSE_TEST_SOAK_SECONDS", "600"))


def soak(tmp_path, seconds, readers, seed):
    """Nobody sees an error, an acknowledged version that is gone, or a result older than the commit before it."""
    runtime = Path(tempfile.mkdtemp(prefix="dw"))  # the path of a socket is short
    try:
        tally = Soak(tmp_path, seed, {"DOWSE_DAEMON": "on", "XDG_RUNTIME_DIR": str(runtime)}).run(seconds, readers)
        assert tally.errors == []
        assert set(KINDS) <= set(tally.operations)
        return tally
    finally:
        for endpoint in endpoints(runtime / "dowse"):
            ask(endpoint, "stop")
        shutil.rmtree(runtime, ignore_errors=True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_readers_and_writers_of_every_kind_never_see_an_error_or_an_old_result(tmp_path):
    soak(tmp_path, seconds=2, readers=2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(SOAK_SECONDS + 600)
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_readers_and_writers_of_every_kind_go_on_for_minutes(tmp_path, figure):
    tally = soak(tmp_path, SOAK_SECONDS, readers=4, seed=2)
    figure("many processes", {"minutes": round(SOAK_SECONDS / 60, 1), "processes at once": 8, **tally.numbers()})


def test_an_older_version_refuses_an_index_of_a_newer_one_politely(tmp_path):
    root = write(tmp_path / "notes", many(2))
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
    database = tmp_path / "index" / "dowse.db"
    with closing(sqlite3.connect(database)) as connection:
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {layout + 1}")
        connection.commit()
    for arguments in (["search", "zebra"], ["update"], ["ingest", root / "part0"]):
        process = program(tmp_path, *arguments)
        out, err = process.communicate(timeout=_PATIENCE)
        assert (process.returncode, out) == (6, b"")
        assert b"was written by a newer Dowse" in err
        assert b"hint: " in err
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {layout}")
        connection.commit()
    with open_at(tmp_path) as engine:
        assert len(files_found(engine, "zebra")) == 2
        assert problems(engine) == []
