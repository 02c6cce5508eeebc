"""Whatever comes in: a clear error with a hint, or a recorded skip with its reason. Never a trace, never a loss."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import dowse
import workers
from dowse import (
    DowseError,
    NotFoundError,
    Query,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
    UsageError,
)
from dowse.ingest import sources
from dowse.store.sqlite.database import APPLICATION_ID
from workbench import environment_for, facts, files_found, many, open_at, problems, write

linux = pytest.mark.skipif(sys.platform != "linux", reason="mounts and capabilities are Linux's")


@pytest.fixture
def engine(tmp_path):
    with open_at(tmp_path) as engine:
        yield engine


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "notes", {"good.md": "# Good\n\nA zebra crosses.\n"})


def index(engine, root):
    """Index the folder as `notes`; returns what was refused, by path, and checks that each says why."""
    if not engine.collections():
        engine.add_collection(root, name="notes")
    report = engine.index("notes")
    entries = (*report.failed, *report.skipped)
    assert all(entry.reason and entry.hint and entry.code for entry in entries)
    assert {entry.path for entry in entries} == {entry.path for entry in engine.ledger("notes")}
    return {entry.path: entry.code for entry in entries}


def refusal(kind, ask):
    """The error that this must end with, which says what to do."""
    with pytest.raises(DowseError) as caught:
        ask()
    assert type(caught.value) is kind, caught.value
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def run(folder, *arguments, prefix=()):
    """The program on the index below this folder; it must not end in a trace or call itself a bug."""
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "dowse", *map(str, arguments)],
        env=environment_for(folder),
        capture_output=True,
        check=False,
        timeout=60,
    )
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert done.returncode != 70, said
    if done.returncode:
        assert "error: " in said
    return done


# Files


def can_drop_capabilities():
    tried = subprocess.run([*as_anyone(), "true"], check=False, capture_output=True) if os.name == "posix" else None
    return tried is not None and tried.returncode == 0


def as_anyone():
    """A prefix under which permissions count, even for root."""
    return [] if os.geteuid() else ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


@linux
def test_files_and_folders_that_may_not_be_read_are_recorded_and_what_was_known_of_them_stays(tmp_path, root):
    if not shutil.which("setpriv") or not can_drop_capabilities():
        pytest.skip("permissions cannot be made to count for this user")
    write(root, {"locked.md": "A locked zebra.\n", "folder/inner.md": "An inner zebra.\n", "never.md": "x\n"})
    (root / "never.md").chmod(0)
    assert run(tmp_path, "collection", "add", root, "-q", prefix=as_anyone()).returncode == 0
    with open_at(tmp_path) as engine:
        assert sorted(files_found(engine, "zebra")) == ["notes/folder/inner.md", "notes/good.md", "notes/locked.md"]
        assert [(entry.path, entry.code) for entry in engine.ledger()] == [("never.md", "unreadable")]
    write(root, {"locked.md": "A changed zebra.\n"})
    (root / "locked.md").chmod(0)
    (root / "folder").chmod(0)
    try:
        done = run(tmp_path, "update", "-q", prefix=as_anyone())
        failed = json.loads(run(tmp_path, "status", "--json").stdout)
    finally:
        (root / "folder").chmod(0o700)
    assert done.returncode == 0
    assert failed["totalDocuments"] == 3
    with open_at(tmp_path) as engine:
        entries = {entry.path: entry for entry in engine.ledger()}
        assert set(entries) == {"folder", "locked.md", "never.md"}
        assert all(entry.state == "failed" and "ermission" in entry.hint for entry in entries.values())
        assert files_found(engine, "inner") == ["notes/folder/inner.md"]
        (root / "locked.md").chmod(0o600)
        (root / "never.md").chmod(0o600)
        assert index(engine, root) == {}
        assert files_found(engine, "changed") == ["notes/locked.md"]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"A zebra with \xff\x80 broken bytes in a caf\xc3\xa9, \xe2\x82\xac 3, d\xc3\xa9j\xc3\xa0 vu.\n", "café"),
        ("Ein Zebra im Café.\n".encode("latin-1"), "café"),
        ("\ufeff# Zebra\n\nSechzehn Bit.\n".encode("utf-16-le"), "sechzehn"),
        ("\ufeff# Zebra\n\nSechzehn Bit.\n".encode("utf-16-be"), "sechzehn"),
        ("\ufeff# Zebra\n\nZweiunddreißig.\n".encode("utf-32-le"), "zweiunddreißig"),
        (b"\xef\xbb\xbf# Zebra\n\nMarked as UTF-8.\n", "marked"),
        ("\ufeffA zebra cut in half".encode("utf-16-le") + b"\xd8", "half"),
        (b"A zebra\r\nwith\rall line ends\n", "ends"),
        (b"A zebra \x1b[31mred\x07 bell", "bell"),
        (b'---\ntitle: "half \\ud800 a letter"\ntags: ["\\udfff"]\n---\nA surrogate zebra.\n', "surrogate"),
        (b"---\ntitle: [\n---\nA zebra below broken YAML.\n", "broken"),
        (b"---\na: " + b"[" * 5000 + b"\n---\nA zebra below deep YAML.\n", "deep"),
        (b">" * 20_000 + b" a deeply quoted zebra", "quoted"),
        (b"zebra" * 20_000 + b" endless", "endless"),
    ],
)
def test_text_in_whatever_encoding_and_shape_is_found(engine, root, data, word):
    write(root, {"odd.md": data})
    assert index(engine, root) == {}
    assert "notes/odd.md" in files_found(engine, word)
    engine.embed()
    assert engine.search(word).mode == "hybrid"
    assert problems(engine) == []


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (bytes(range(256)) * 8, "binary"),
        (b"zebra\0", "binary"),
        ("A zebra".encode("utf-16-le"), "binary"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "unsupported"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "unsupported"),
    ],
)
def test_a_file_that_is_no_text_under_a_name_that_says_so_is_recorded(engine, root, data, code):
    write(root, {"odd.md": data})
    assert index(engine, root) == {"odd.md": code}
    assert files_found(engine, "zebra") == ["notes/good.md"]


def test_empty_files_are_documents_without_passages(engine, root):
    write(root, {"empty.md": "", "blank.txt": "\n \n\t\n"})
    assert index(engine, root) == {}
    assert engine.stats().documents == 3
    assert engine.get("empty.md").text == ""
    assert engine.embed().embedded == 1
    assert problems(engine) == []


def test_a_file_of_200_megabytes_is_skipped_without_being_read(engine, root, monkeypatch):
    with (root / "huge.md").open("wb") as file:
        file.truncate(200 << 20)
    monkeypatch.setattr(sources, "read", _read_small)
    assert index(engine, root) == {"huge.md": "too_large"}
    assert "max_file_size" in engine.ledger()[0].hint


_real_read = sources.read


def _read_small(path, limit):
    assert path.stat().st_size < limit
    return _real_read(path, limit)


def test_a_document_that_grew_too_large_leaves_the_index_with_its_reason(tmp_path, root):
    with open_at(tmp_path, max_file_size=1000) as engine:
        write(root, {"log.txt": "zebra\n", "other.txt": "x\n"})
        index(engine, root)
        write(root, {"log.txt": "zebra\n" * 1000})
        assert index(engine, root) == {"log.txt": "too_large"}
        assert files_found(engine, "zebra") == ["notes/good.md"]


ODD_NAMES = [
    "line\nbreak.md",
    "tab\tand \x1b[31m colour.md",
    "emoji 😀🏳️‍🌈.md",
    "日本語 の 名前.md",
    " leading and trailing .md",
    "-rf.md",
    "a'b\"c`d$e;f|g&h.md",
    "per%20cent#hash?question.md",
    "back\\slash.md",
    "n" * 252 + ".md",
    "notes/notes/notes.md",
    "/".join(["deep"] * 60) + "/x.md",
]


@pytest.mark.skipif(os.name == "nt", reason="Windows forbids most of these")
def test_names_of_every_kind_are_indexed_found_and_read(engine, root):
    write(root, {name: f"The zebra of file {number}.\n" for number, name in enumerate(ODD_NAMES)})
    assert index(engine, root) == {name: "too_long" for name in ODD_NAMES if len(name) > 255 and "/" not in name}
    assert {info.path for info in engine.documents()} == {*ODD_NAMES, "good.md"}
    for number, name in enumerate(ODD_NAMES):
        assert engine.get(f"notes/{name}").text == f"The zebra of file {number}.\n"
        assert Path.from_uri(engine.get(f"notes/{name}").info.uri) == root / name if hasattr(Path, "from_uri") else True
    assert len(files_found(engine, "zebra")) == len(ODD_NAMES) + 1
    index(engine, root)
    assert engine.stats().documents == len(ODD_NAMES) + 1


@linux
def test_a_name_that_is_not_unicode_is_recorded_and_can_be_shown(engine, root, tmp_path):
    (root / os.fsdecode(b"bad\xff.md")).write_text("A badly named zebra.\n")
    os.mkdir(os.fsencode(root) + b"/dir\xfe")  # noqa: PTH102  # a path of bytes
    refused = index(engine, root)
    assert set(refused.values()) == {"bad_name"}
    assert all(path.isprintable() and path.encode() for path in refused)
    assert files_found(engine, "zebra") == ["notes/good.md"]
    assert run(tmp_path, "status", "--failed", "--json").returncode == 0


def test_links_in_circles_end(engine, root):
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "sub").mkdir()
    (root / "sub" / "up").symlink_to("..", target_is_directory=True)
    (root / "self.md").symlink_to("self.md")
    (root / "one.md").symlink_to("two.md")
    (root / "two.md").symlink_to("one.md")
    refused = index(engine, root)
    assert {path for path, code in refused.items() if code == "broken_link"} == {"one.md", "self.md", "two.md"}
    assert engine.get("good.md").text
    assert engine.stats().documents < 5


@pytest.mark.skipif(os.name == "nt", reason="named pipes in folders are of POSIX")
def test_a_pipe_is_skipped_and_not_waited_for(engine, root):
    os.mkfifo(root / "pipe.md")
    assert index(engine, root) == {"pipe.md": "special"}


def test_a_folder_that_vanishes_during_the_walk_is_gone_and_the_rest_is_indexed(engine, root, monkeypatch):
    write(root, {"a/x.md": "zebra\n", "b/y.md": "zebra\n", "c/z.md": "zebra\n"})
    index(engine, root)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("/a"):
            shutil.rmtree(root / "b", ignore_errors=True)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    write(root, {"c/new.md": "zebra\n"})
    assert index(engine, root) == {}
    names = {"notes/a/x.md", "notes/c/new.md", "notes/c/z.md", "notes/good.md"}
    assert {info.file for info in engine.documents()} == names


def test_a_root_that_vanishes_during_the_walk_removes_nothing(engine, root, monkeypatch):
    write(root, {"a/x.md": "zebra\n", "b/y.md": "zebra\n"})
    index(engine, root)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("/a"):
            shutil.rmtree(root)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert "Nothing was removed" in engine.index("notes").guarded
    assert engine.stats().documents == 3


def test_a_file_that_vanishes_before_it_is_read_is_no_failure(engine, root):
    write(root, {"fleeting.md": "zebra\n"})
    engine.add_collection(root, name="notes")

    def remove(event):
        if event.stage == "read":
            (root / "fleeting.md").unlink(missing_ok=True)

    report = engine.index("notes", on_event=remove)
    assert (report.added, report.failed) == (1, ())
    assert engine.ledger() == []


# Questions and names


@pytest.mark.parametrize("mode", ["auto", "lex", "vec", "hybrid"])
@pytest.mark.parametrize(
    "text", ["...", "!?;:-", "。、！", "\0", "\udcff", "\u202e\u200b", '"', "- / ? :", "*", "(", "AND OR NOT", "😀"]
)
def test_a_question_without_words_or_with_signs_alone_is_answered(engine, root, text, mode):
    index(engine, root)
    engine.embed()
    answer = engine.search(Query(text, mode=mode))
    assert answer.hits or answer.notes or text in {"😀", "AND OR NOT"}


@pytest.mark.parametrize("mode", ["auto", "lex", "vec"])
@pytest.mark.parametrize(
    "text",
    ["zebra " * 16_667, "z" * 100_000, "zebra " + " ".join(f"word{n}" for n in range(11_000)), "斑马" * 50_000],
)
def test_a_question_of_100_000_characters_is_answered(engine, root, text, mode):
    index(engine, root)
    engine.embed()
    answer = engine.search(Query(text, mode=mode))
    if "zebra" in text:
        assert answer.hits[0].info.path == "good.md"


@pytest.mark.parametrize("query", [Query(""), Query(" \n"), Query("x", limit=0), Query("x", min_score=2)])
def test_a_question_that_asks_for_nothing_is_refused(engine, root, query):
    index(engine, root)
    refusal(UsageError, lambda: engine.search(query))


def test_a_limit_beyond_everything_is_everything(engine, root):
    index(engine, root)
    assert len(engine.search(Query("zebra", limit=10**12)).hits) == 1


@pytest.mark.parametrize(
    "name", ["", "\0", "x" * 100_000, "notes/", "../../etc/passwd", "#zzzzzz", "good.md:x", ":1", "*", "\n"]
)
def test_a_name_that_means_nothing_is_not_found(engine, root, name):
    index(engine, root)
    refusal(NotFoundError, lambda: engine.get(name))


@pytest.mark.parametrize(
    "ask",
    [
        lambda engine: engine.get("\udcff"),
        lambda engine: engine.get_many("\udcff,good.md"),
        lambda engine: engine.add_context("\udcff"),
        lambda engine: engine.add_context("x", prefix="\udcff"),
        lambda engine: engine.add_collection(None, name="x", description="\udcff"),
        lambda engine: engine.rename_collection("notes", "\udcff"),
        lambda engine: engine.ledger("\udcff"),
    ],
)
def test_what_is_not_unicode_is_refused(engine, root, ask):
    index(engine, root)
    refusal(UsageError, lambda: ask(engine))
    assert problems(engine) == []


@pytest.mark.parametrize("path", ["nowhere", "good.md", "~nobody-of-that-name/x", "a\0b", "a" * 5000, "loop"])
def test_a_folder_that_is_none_is_refused(engine, root, path):
    (root / "loop").symlink_to("loop")
    refusal(NotFoundError, lambda: engine.add_collection(path if path.startswith("~") else f"{root}/{path}"))


@linux
def test_a_folder_whose_name_is_not_unicode_is_refused(engine, tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/dir\xff"))
    folder.mkdir()
    refusal(UsageError, lambda: engine.add_collection(folder))
    refusal(UsageError, lambda: engine.add_collection(folder, name="named"))
    assert engine.collections() == ()


def test_a_pattern_that_cannot_be_understood_makes_no_collection(engine, root):
    refusal(UsageError, lambda: engine.add_collection(root, pattern="["))
    assert engine.collections() == ()


# Disks


def in_own_mount(tmp_path, size, *arguments):
    """Run a worker with a small disk of its own at the folder `disk`; returns what it reports."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    allowed = shutil.which("unshare") and (
        subprocess.run(["unshare", "-rm", "sh", "-c", mounted, str(disk), "true"], check=False, capture_output=True)
    )
    if not allowed or allowed.returncode:
        pytest.skip("a disk of its own cannot be mounted here")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mounted, str(disk), *workers.command(arguments[0], disk, *arguments[1:])],
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return json.loads(done.stdout)


@linux
def test_a_full_disk_is_named_loses_nothing_and_work_goes_on_when_it_has_space(tmp_path):
    root = write(tmp_path / "notes", many(60))
    results = in_own_mount(tmp_path, "32m", "full", root)
    kept = {"documents": 0, "vectors": 0}
    for name, left in [("index", 0), ("index", 100_000), ("index", 700_000), *(("embed", n) for n in (0, 5e4, 2e5))]:
        kind, message, hint, exit_code = results[f"{name} with {left:.0f}"]
        assert (kind, exit_code) == ("StoreFullError", 6)
        assert "full" in message
        assert "space" in hint
        what = "documents" if name == "index" else "vectors"
        assert results[f"{what} with {left:.0f}"] >= kept[what]
        kept[what] = results[f"{what} with {left:.0f}"]
    assert 0 < kept["documents"] < 60
    assert 0 < kept["vectors"] < 120
    assert [results[f"hits with {left}"] for left in (0, 50_000, 200_000)] == [120] * 3
    assert (results["index with space"], results["embed with space"], results["problems"]) == ("well", "well", [])
    assert results["opened anew"] == "well"
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        assert results["facts"] == repr(facts(engine))


@linux
def test_an_index_on_a_disk_that_may_only_be_read_answers_and_refuses_to_change(tmp_path):
    results = in_own_mount(tmp_path, "32m", "read-only", write(tmp_path / "notes", many(6)))
    assert (results.pop("same"), results.pop("same afterwards")) == (True, True)
    assert (results.pop("notes"), results.pop("problems")) == ([], [])
    assert results.pop("sees what was written since") is True
    assert len(results) == 6
    for kind, message, hint, exit_code in results.values():
        assert (kind, exit_code) == ("StoreFullError", 6)
        assert "written" in message
        assert "ermissions" in hint


@linux
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_an_index_directory_without_the_permissions_is_named(tmp_path, root, mode):
    if not can_drop_capabilities():
        pytest.skip("permissions cannot be made to count for this user")
    assert run(tmp_path, "collection", "add", root, "-q").returncode == 0
    place = tmp_path / "index"
    place.chmod(mode)
    try:
        asked = run(tmp_path, "search", "zebra", "--json", prefix=as_anyone())
        written = run(tmp_path, "context", "add", "/", "x", prefix=as_anyone())
    finally:
        place.chmod(0o700)
    assert written.returncode == 6
    assert b"hint: Check" in written.stderr
    if mode:
        assert json.loads(asked.stdout)[0]["file"] == "notes/good.md"
    else:
        assert asked.returncode == 6
        assert b"hint: Check" in asked.stderr


# The place of the index


def everything(engine, root):
    """Each kind of use of an index."""
    return [
        engine.stats,
        lambda: engine.search("zebra"),
        lambda: engine.get("good.md"),
        engine.documents,
        lambda: engine.add_collection(root, name="more"),
        engine.embed,
        lambda: engine.cleanup(days=0),
    ]


def overwrite(path, data, offset=0):
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda database: database.write_bytes(b"This is not a database at all, but a text. " * 300),
        lambda database: database.write_bytes(os.urandom(50_000)),
        lambda database: overwrite(database, bytes(100)),
    ],
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path, root, damage):
    with open_at(tmp_path) as engine:
        index(engine, root)
    database = tmp_path / "index" / "dowse.db"
    damage(database)
    before = database.read_bytes()
    with open_at(tmp_path) as engine:
        for ask in everything(engine, root):
            refusal(StoreCorruptError, ask)
        assert [(each.check, each.ok, bool(each.hint)) for each in engine.doctor()[:1]] == [("database", False, True)]
    assert database.read_bytes() == before
    assert run(tmp_path, "search", "zebra").returncode == 6


def test_a_database_that_was_cut_off_is_named(tmp_path, root):
    write(root, many(60))
    with open_at(tmp_path) as engine:
        index(engine, root)
    database = tmp_path / "index" / "dowse.db"
    os.truncate(database, database.stat().st_size // 2 + 100)
    with open_at(tmp_path) as engine:
        refusal(StoreCorruptError, lambda: engine.add_context("x") and index(engine, root))
        assert problems(engine)
        assert all(each.hint for each in engine.doctor(deep=True) if not each.ok)


def test_pages_of_zeros_in_the_database_are_noticed_and_never_end_in_a_trace(tmp_path, root):
    write(root, many(40))
    with open_at(tmp_path) as engine:
        index(engine, root)
        engine.embed()
    database = tmp_path / "index" / "dowse.db"
    sound = database.read_bytes()
    size = int.from_bytes(sound[16:18], "big")  # of a page, in the header of every database
    pages = len(sound) // size
    noticed, without_hint = 0, []
    for page in range(1, pages, max(1, pages // 12)):
        database.write_bytes(sound)
        overwrite(database, bytes(size), size * page)
        with open_at(tmp_path) as engine:
            noticed += bool(problems(engine))
            for ask in everything(engine, root):
                try:
                    ask()
                except DowseError as error:
                    without_hint += [] if error.hint else [error]
    assert without_hint == []
    assert noticed > pages / max(1, pages // 12) / 2


def test_a_foreign_database_is_refused_and_not_changed_by_a_byte(tmp_path, root):
    (tmp_path / "index").mkdir()
    database = tmp_path / "index" / "dowse.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.execute("INSERT INTO recipes VALUES ('soup')")
    connection.close()
    before = database.read_bytes()
    with open_at(tmp_path) as engine:
        for ask in everything(engine, root):
            assert "not a Dowse index" in refusal(StoreCorruptError, ask).message
        assert problems(engine)
    assert database.read_bytes() == before
    assert sorted(path.name for path in database.parent.iterdir()) == ["dowse.db", "writer.lock"]


def test_an_index_of_a_newer_version_is_refused_and_not_changed_by_a_byte(tmp_path, root):
    with open_at(tmp_path) as engine:
        index(engine, root)
    database = tmp_path / "index" / "dowse.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 999")
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()
    before = database.read_bytes()
    with open_at(tmp_path) as engine:
        for ask in everything(engine, root):
            assert "Upgrade" in refusal(StoreVersionError, ask).hint
    assert database.read_bytes() == before


@pytest.mark.parametrize("leftover", [b"", None])
def test_an_index_that_was_never_finished_counts_as_empty_and_can_be_written(tmp_path, root, leftover):
    (tmp_path / "index").mkdir(mode=0o700)
    database = tmp_path / "index" / "dowse.db"
    if leftover is None:
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    else:
        database.write_bytes(leftover)
    with open_at(tmp_path) as engine:
        assert engine.stats().documents == 0
        assert engine.search("zebra").hits == ()
        assert index(engine, root) == {}
        assert files_found(engine, "zebra") == ["notes/good.md"]
        assert problems(engine) == []


@pytest.mark.parametrize("place", ["good.md", "good.md/below"])
def test_an_index_cannot_be_where_a_file_is(tmp_path, root, place):
    with open_at(tmp_path, index=str(root / place)) as engine:
        assert engine.stats().documents == 0
        error = refusal(StoreError, lambda: engine.add_collection(root))
        assert "--index" in error.hint
    refusal(NotFoundError, lambda: dowse.open(root / place, create=False))
    assert (root / "good.md").read_text().startswith("# Good")


def test_a_directory_in_the_place_of_the_database_is_named(tmp_path, root):
    (tmp_path / "index" / "dowse.db").mkdir(parents=True)
    with open_at(tmp_path) as engine:
        for ask in everything(engine, root):
            refusal(StoreError, ask)
        assert problems(engine)


def test_a_path_that_no_system_allows_is_refused(tmp_path, root):
    with open_at(tmp_path, index=str(tmp_path / ("x" * 300))) as engine:
        for ask in everything(engine, root):
            refusal(StoreError, ask)
        assert problems(engine)


def test_the_words_of_an_error_do_not_come_from_a_path(tmp_path, root):
    place = tmp_path / "disk is full and database is locked"
    place.write_text("")
    with open_at(tmp_path, index=str(place / "index")) as engine:
        assert "a file in its place" in refusal(StoreError, lambda: engine.add_collection(root)).message


# Damage to what is derived


def word_files(place, suffix):
    return sorted(place.glob(f"lexical-*/*.{suffix}"))


def remove_words(place):
    shutil.rmtree(next(place.glob("lexical-*")))


def spoil_meta(place):
    next(place.glob("lexical-*/meta.json")).write_bytes(b"\xff{garbage")


def empty_meta(place):
    next(place.glob("lexical-*/meta.json")).write_bytes(b"[]")


def cut_segment(suffix):
    def damage(place):
        file = word_files(place, suffix)[0]
        os.truncate(file, file.stat().st_size // 2)

    return pytest.param(damage, id=f"cut {suffix}")


def remove_segment(suffix):
    return pytest.param(lambda place: word_files(place, suffix)[0].unlink(), id=f"remove {suffix}")


WORD_DAMAGE = [
    remove_words,
    spoil_meta,
    empty_meta,
    *(cut_segment(suffix) for suffix in ("term", "idx", "fast", "store", "fieldnorm", "pos")),
    remove_segment("term"),
    remove_segment("pos"),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with an index that is well: three segments of words, and vectors."""
    folder = tmp_path_factory.mktemp("sound")
    with open_at(folder) as engine:
        for count in (8, 10, 12):
            root = write(folder / "notes", many(count))
            if count == 8:
                engine.add_collection(root, name="notes")
            engine.index("notes")
        engine.embed()
        assert problems(engine) == []
    return folder


@pytest.fixture
def damaged(sound, tmp_path):
    """A copy of it to damage; the documents stay where they are."""
    shutil.copytree(sound / "index", tmp_path / "index")
    return tmp_path


def expected(sound, **changes):
    with open_at(sound) as engine:
        return {**facts(engine), **changes}


@pytest.mark.parametrize("damage", WORD_DAMAGE)
def test_a_damaged_word_index_is_named_and_meaning_still_answers(sound, damaged, damage):
    damage(damaged / "index")
    with open_at(damaged) as engine:
        (finding,) = [each for each in engine.doctor() if not each.ok]
        assert (finding.check, "dowse doctor --repair" in finding.hint) == ("words", True)
        answer = engine.search(Query("zebra", mode="lex", limit=1000))
        assert answer.hits == ()
        assert "dowse doctor --repair" in " ".join(answer.notes)
        answer = engine.search(Query("zebra", limit=1000))
        assert len(answer.hits) == 24
        assert "The word index is damaged" in " ".join(answer.notes)
        assert len(engine.search(Query("zebra", mode="vec", limit=1000)).hits) == 24
        assert engine.get("note003.md").text


@pytest.mark.parametrize("damage", WORD_DAMAGE)
def test_the_next_write_mends_a_damaged_word_index(sound, damaged, damage):
    damage(damaged / "index")
    with open_at(damaged) as engine:
        assert engine.search(Query("zebra", mode="lex")).hits == ()
        engine.index("notes")
        assert problems(engine) == []
        assert facts(engine) == expected(sound)
        assert engine.search("zebra").notes == ()


@pytest.mark.parametrize("damage", [remove_words, cut_segment("idx").values[0]])
def test_repairing_mends_a_damaged_word_index(sound, damaged, damage):
    damage(damaged / "index")
    with open_at(damaged) as engine:
        assert all(each.ok for each in engine.doctor(repair=True, deep=True))
        assert facts(engine) == expected(sound)


def test_a_thorough_examination_finds_bytes_that_changed_in_place(sound, damaged):
    for suffix in ("fieldnorm", "store"):
        file = word_files(damaged / "index", suffix)[0]
        data = bytearray(file.read_bytes())
        data[len(data) // 3] ^= 0xFF
        file.write_bytes(data)
    next((damaged / "index").glob("vectors-*.f32")).write_bytes(
        bytes(next((damaged / "index").glob("vectors-*.f32")).stat().st_size)
    )
    with open_at(damaged) as engine:
        found = [each.check for each in engine.doctor(deep=True) if not each.ok]
        assert found == ["words", "vectors"]
        assert all(each.ok for each in engine.doctor(repair=True, deep=True))
        assert facts(engine) == expected(sound)


def remove_vectors(*kinds):
    def damage(place):
        for kind in kinds:
            next(place.glob(f"vectors-*.{kind}")).unlink()

    return pytest.param(damage, 0, id=f"remove {' '.join(kinds)}")


def cut_vectors(kind):
    def damage(place):
        file = next(place.glob(f"vectors-*.{kind}"))
        os.truncate(file, file.stat().st_size // 2 + 1)

    return pytest.param(damage, 12, id=f"cut {kind}")


VECTOR_DAMAGE = [
    remove_vectors("f32", "i8", "scale"),
    remove_vectors("f32"),
    remove_vectors("scale"),
    *map(cut_vectors, ("f32", "i8", "scale")),
]


@pytest.mark.parametrize(("damage", "left"), VECTOR_DAMAGE)
def test_damaged_vector_files_are_named_words_still_answer_and_the_next_write_mends_them(sound, damaged, damage, left):
    damage(damaged / "index")
    with open_at(damaged) as reader, open_at(damaged) as writer:
        (finding,) = [each for each in reader.doctor() if not each.ok]
        assert (finding.check, "dowse doctor --repair" in finding.hint) == ("vectors", True)
        answer = reader.search(Query("zebra", limit=1000))
        assert len(answer.hits) == 24
        assert f"{24 - left} of 24 rows" in " ".join(answer.notes)
        assert len(reader.search(Query("zebra", mode="vec", limit=1000)).hits) == left

        writer.index("notes")
        assert problems(writer) == []
        for engine in (writer, reader):
            assert facts(engine) == expected(sound)
            assert engine.search("zebra").notes == ()


def test_derived_files_of_earlier_generations_are_swept_away(sound, damaged):
    for name in ("lexical-77", "lexical-78"):
        (damaged / "index" / name).mkdir()
    (damaged / "index" / "vectors-77.f32").write_bytes(b"x")
    with open_at(damaged) as engine:
        engine.cleanup()
        assert facts(engine) == expected(sound)
    left = {path.name.split(".")[0] for path in (damaged / "index").iterdir()}
    assert len([name for name in left if name.startswith("lexical")]) == 1
    assert len([name for name in left if name.startswith("vectors")]) == 1
