"""What can be seen from outside: doctor, the bundle for whoever helps, and the log on stderr."""

import json
import os
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from dowse import ConflictError, logs
from dowse.ingest.watch.state import WatchState
from dowse.interfaces.cli import main, terminal
from workbench import environment_for, many, open_at, write

TELLING = "xylophone"
CHECKS = {
    "database",
    "folders",
    "lock",
    "permissions",
    "settings",
    "space",
    "vector model",
    "vectors",
    "versions",
    "watcher",
    "words",
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An index of some notes with telling names, and the environment of a user who has it."""
    root = write(tmp_path / "notes", many(3) | {f"{TELLING}-diary.md": f"# {TELLING}\n\nMy {TELLING} and a zebra.\n"})
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name=f"{TELLING}-notes")
        engine.index(f"{TELLING}-notes")
        engine.embed()
    for name, value in environment_for(tmp_path).items():
        monkeypatch.setenv(name, value)
    yield tmp_path
    terminal.use_log_format("text")


def findings(engine):
    return {each.check: each for each in engine.doctor()}


def test_every_check_has_a_name_a_result_and_a_remedy_where_something_is_wrong(place, capsys):
    assert main(["doctor", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {each["check"] for each in made} == CHECKS | {"daemon"}
    assert all(set(each) == {"check", "ok", "message", "hint"} and each["message"] for each in made)
    (versions,) = [each["message"] for each in made if each["check"] == "versions"]
    assert "python" in versions
    assert "tantivy" in versions
    (database,) = [each["message"] for each in made if each["check"] == "database"]
    assert "SQLite" in database


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_an_index_that_others_may_read_is_named(place):
    (place / "index").chmod(0o755)
    with open_at(place) as engine:
        (place / "index" / "watch.json").write_text("{}")
        (place / "index" / "watch.json").chmod(0o644)
        found = findings(engine)["permissions"]
    assert not found.ok
    assert "chmod" in found.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_what_an_index_is_made_of_is_for_its_owner_alone(place):
    assert (place / "index").stat().st_mode & 0o77 == 0
    for path in (place / "index").iterdir():
        assert path.stat().st_mode & 0o77 == 0, path.name


def test_who_writes_is_named(place):
    with open_at(place) as engine, open_at(place) as other:
        assert "Nobody is writing" in findings(engine)["lock"].message
        with other._store._lock.held():
            assert f"Process {os.getpid()}" in findings(engine)["lock"].message


def test_a_watcher_that_died_is_named(place):
    WatchState(place / "index" / "watch.json").write()
    with open_at(place) as engine:
        found = findings(engine)["watcher"]
    assert (found.ok, found.hint) == (False, "Start it again: dowse watch")


def test_a_folder_that_is_gone_is_named(place):
    (place / "notes").rename(place / "elsewhere")
    with open_at(place) as engine:
        assert not findings(engine)["folders"].ok


def test_vectors_of_another_model_are_named(place, monkeypatch):
    from dataclasses import replace

    from dowse.inference import hashed

    other = replace(hashed.identity(), weights="other")
    monkeypatch.setattr(hashed, "identity", lambda *_: other)
    with open_at(place) as engine:
        found = findings(engine)["vector model"]
    assert (found.ok, "--force" in found.hint) == (False, True)


def test_a_setting_that_cannot_be_is_a_finding(place, monkeypatch, capsys):
    monkeypatch.setenv("DOWSE_CHUNK_TOKENS", "many")
    assert main(["doctor", "--json"]) == 1
    (made,) = json.loads(capsys.readouterr().out)
    assert (made["check"], made["ok"], bool(made["hint"])) == ("settings", False, True)


def test_the_bundle_has_no_texts_names_or_paths_and_says_what_it_has(place, capsys):
    file = place / "bundle.zip"
    (place / "notes").rename(place / "elsewhere")  # so that a finding names a collection
    assert main(["doctor", "--bundle", str(file)]) == 1
    said = capsys.readouterr().err
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == ["README.txt", "report.json"]
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
        readme, report = archive.read("README.txt").decode(), json.loads(archive.read("report.json"))
    for word in (
        TELLING,
        "zebra",
        "note00",
        str(place),
        place.name,
        str(Path.home()),
    ):
        assert word not in everything, word
    assert all(line.removeprefix("- ") in said for line in readme.splitlines()[1:])
    assert report["collections"][0]["documents"] == 4
    assert report["media_types"] == {"text/markdown": 4}
    assert {each["check"] for each in report["findings"]} == CHECKS
    (folders,) = [each for each in report["findings"] if each["check"] == "folders"]
    assert report["collections"][0]["name"] in folders["message"]
    assert file.stat().st_mode & 0o77 == 0 or os.name == "nt"
    with open_at(place) as engine, pytest.raises(ConflictError):
        engine.bundle(file)


def test_a_bundle_of_a_damaged_index_is_written_all_the_same(place):
    for path in (place / "index").glob("dowse.db*"):
        path.write_bytes(b"nothing" * 1000)
    with open_at(place) as engine:
        engine.bundle(place / "bundle.zip")
    with zipfile.ZipFile(place / "bundle.zip") as archive:
        report = json.loads(archive.read("report.json"))
    assert not all(each["ok"] for each in report["findings"])


def test_verbose_shows_what_happens_inside_without_the_question(place, capsys):
    assert main(["search", TELLING, "-v", "--format", "files"]) == 0
    shown = capsys.readouterr()
    assert "debug: search" in shown.err
    assert "ms=" in shown.err
    assert TELLING not in shown.err


def test_the_log_as_json_is_an_object_per_line(place, capsys):
    write(place / "notes", {"new.md": "# New\n\nA zebra.\n"})
    assert main(["update", "-v", "--log-format", "json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert all(datetime.fromisoformat(line["time"]) and line["level"] and line["event"] for line in lines)
    assert {"store.write", "embed", "message"} <= {line["event"] for line in lines}
    assert main(["get", "nothing", "--log-format", "json"]) == 3
    error, hint = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (error["level"], error["code"]) == ("error", "not_found")
    assert hint["message"].startswith("hint: ")


def test_nobody_is_told_of_events_who_does_not_listen():
    heard = []
    with logs.listen(heard.append):
        logs.log("one", number=1)
        with logs.timed("two") as said:
            said["more"] = True
        with pytest.raises(ValueError, match="x"), logs.timed("three"):
            raise ValueError("x")
    logs.log("four")
    assert [(each.event, each.level) for each in heard] == [("one", "debug"), ("two", "debug"), ("three", "warning")]
    assert (heard[1].fields["more"], heard[2].fields["error"]) == (True, "ValueError")
