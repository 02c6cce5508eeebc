"""The disk fails while it is written to: every error is named with a way out, and nothing acknowledged is lost."""

import errno
import os
import sqlite3
import subprocess
import sys

import pytest

from powerloss import compiled
from workbench import environment_for, facts, many, open_at, problems, write

FAULTS = {
    "no space": ("write", errno.ENOSPC),
    "write error": ("write", errno.EIO),
    "read-only": ("write", errno.EROFS),
    "failing sync": ("fsync", errno.EIO),
    "nothing can be made": ("open", errno.EROFS),
    "nothing can be removed": ("unlink", errno.EIO),
}
QUICK = {"write": (1, 150), "fsync": (1, 12), "open": (9,), "unlink": (1,)}
MANY = {"write": range(1, 400, 27), "fsync": range(1, 40, 3), "open": range(1, 40, 4), "unlink": range(1, 12, 3)}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = compiled(tmp_path_factory.mktemp("library"))
    if made is None:
        pytest.skip("there is no compiler for the library that makes calls fail")
    return made


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What an index looks like whose disk never failed, with its folder."""
    folder = tmp_path_factory.mktemp("expected")
    root = write(folder / "notes", many(20))
    with open_at(folder) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        return root, facts(engine, with_scores=False)


def program(folder, library, fault, *arguments):
    environment = environment_for(folder) | {"LD_PRELOAD": str(library), "WATCHED": str(folder / "index")}
    return subprocess.run(
        [sys.executable, "-m", "dowse", *map(str, arguments)],
        env=environment | ({"FAULT": fault} if fault else {}),
        check=False,
        capture_output=True,
        timeout=120,
        encoding="utf-8",
    )


def fails_politely(tmp_path, library, expected, fault, number):
    """From this call on, everything of its kind fails; afterwards the disk is well again."""
    root, wanted = expected
    call, error = FAULTS[fault]
    done = program(tmp_path, library, f"{call}:{error}:{number}", "collection", "add", root, "--name", "notes")
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 4, 6}, done.stderr
    if done.returncode:
        assert "error: " in done.stderr
        assert "hint: " in done.stderr
    with open_at(tmp_path) as engine:
        if not engine.collections():
            engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        assert problems(engine) == []
        assert facts(engine, with_scores=False) == wanted
    return done.returncode


@pytest.mark.parametrize(("fault", "number"), [(fault, n) for fault, (call, _) in FAULTS.items() for n in QUICK[call]])
def test_a_failing_disk_is_named_and_when_it_is_well_again_nothing_is_missing(
    tmp_path, library, expected, fault, number
):
    code = fails_politely(tmp_path, library, expected, fault, number)
    assert code == 6 or fault == "nothing can be removed"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS)
def test_wherever_the_disk_fails_that_is_named(tmp_path, library, expected, figure, fault):
    numbers = list(MANY[FAULTS[fault][0]])
    failed = sum(fails_politely(tmp_path / str(number), library, expected, fault, number) != 0 for number in numbers)
    figure("injected faults", {"faults": len(numbers), "commands that failed and said why": failed})


def test_what_was_acknowledged_before_the_disk_failed_is_there(tmp_path, library, expected):
    root, _ = expected
    assert program(tmp_path, library, "", "collection", "add", root, "--name", "notes").returncode == 0
    with open_at(tmp_path) as engine:
        before = facts(engine, with_scores=False)
    done = program(tmp_path, library, f"fsync:{errno.EIO}:1", "context", "add", "/", "New")
    assert (done.returncode, "hint: " in done.stderr) == (6, True)
    with open_at(tmp_path) as engine:
        assert facts(engine, with_scores=False) == before


def test_a_damaged_index_inside_of_the_database_is_mended_from_its_table(tmp_path, expected):
    root, wanted = expected
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
    path = tmp_path / "index" / "dowse.db"
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_schema WHERE name = 'documents_content'"
    page, size = connection.execute(query).fetchone()[0], connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.seek(page * size - 1)
        last = file.read(1)
        file.seek(page * size - 1)
        file.write(bytes([last[0] ^ 0x3F]))
        os.fsync(file.fileno())
    with open_at(tmp_path) as engine:
        (said,) = problems(engine)
        assert "database" in said
        assert all(each.ok for each in engine.doctor(repair=True, deep=True))
        assert facts(engine, with_scores=False) == wanted


def test_of_a_damaged_table_it_is_said_plainly_that_only_a_backup_helps(tmp_path, expected):
    root, wanted = expected
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        engine.backup(tmp_path / "b.zip")
    path = tmp_path / "index" / "dowse.db"
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_schema WHERE name = 'documents'"
    page, size = connection.execute(query).fetchone()[0], connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(range(256)) * (size // 256))
    environment = environment_for(tmp_path)
    for arguments in (["doctor"], ["doctor", "--repair"], ["search", "zebra"], ["update"]):
        done = subprocess.run(
            [sys.executable, "-m", "dowse", *arguments],
            env=environment,
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode in {1, 6}, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
        assert "damaged" in done.stdout + done.stderr
        assert "dowse restore" in done.stderr
    with open_at(tmp_path) as engine:
        engine.restore(tmp_path / "b.zip", force=True)
        assert facts(engine, with_scores=False) == wanted
        assert problems(engine) == []
