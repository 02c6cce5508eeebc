"""Backup and restore of an index, export and import of a collection."""

import io
import json
import os
import shutil
import sqlite3
import stat
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from contract.builders import MODEL, OTHER_MODEL, add_collections, embed_backlog, make_draft, put_texts, search_near
from contract.conftest import MAKERS
from dowse import ConflictError, NotFoundError, Query, SourceError, StoreCorruptError, StoreVersionError, given_content
from dowse.errors import DowseError, UsageError
from dowse.inference import hashed
from dowse.interfaces.cli import main
from dowse.store.memory import MemoryStore
from dowse.store.portable import Archive, head_of, parts_of, take_in, write_archive
from workbench import environment_for, facts, files_found, ids, many, open_at, problems, write


@pytest.fixture
def indexed(tmp_path):
    """An engine over ten notes, one of them copied, and something that came from stdin."""
    root = write(tmp_path / "notes", many(10))
    shutil.copy(root / "part0/note000.md", root / "copy.md")
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes", description="What I know")
        engine.index("notes")
        engine.ingest(given_content("A zebra from nowhere.", "loose.md"), collection="notes")
        engine.add_context("Later ones", collection="notes", prefix="part1")
        engine.embed()
        yield engine


# Backup and restore


def test_a_restored_index_answers_as_the_one_that_was_backed_up(tmp_path, indexed):
    before, before_ids = facts(indexed), ids(indexed)
    report = indexed.backup(tmp_path / "b.zip")
    assert (report.documents, report.vectors) == (12, indexed.stats().vectors)
    assert report.size == (tmp_path / "b.zip").stat().st_size
    with open_at(tmp_path / "elsewhere") as other:
        assert other.restore(tmp_path / "b.zip").documents == 12
        assert (facts(other), ids(other)) == (before, before_ids)
        assert problems(other) == []
        assert other.embed().embedded == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_what_is_written_is_for_its_owner_alone_and_leaves_nothing_beside_it(tmp_path, indexed):
    place = tmp_path / "backups"
    place.mkdir()
    indexed.backup(place / "b.zip")
    indexed.export_collection("notes", place / "c.zip")
    assert sorted(path.name for path in place.iterdir()) == ["b.zip", "c.zip"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}


def test_a_file_is_replaced_only_when_that_is_asked_for(tmp_path, indexed):
    (tmp_path / "b.zip").write_text("mine")
    for step in (indexed.backup, lambda *given, **how: indexed.export_collection("notes", *given, **how)):
        with pytest.raises(ConflictError):
            step(tmp_path / "b.zip")
        assert (tmp_path / "b.zip").read_text() == "mine"
        assert step(tmp_path / "b.zip", replace=True).documents == 12
        (tmp_path / "b.zip").write_text("mine")


def test_a_backup_that_fails_leaves_no_file(tmp_path, indexed):
    with pytest.raises(DowseError) as refused:
        indexed.backup(tmp_path / "nowhere" / "b.zip")
    assert "b.zip" in refused.value.message
    assert refused.value.hint


def test_a_backup_is_one_moment_of_an_index_that_is_written_to(tmp_path):
    root = write(tmp_path / "notes", many(4))
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        stop = threading.Event()

        def work():
            with open_at(tmp_path) as writer:
                number = 0
                while not stop.is_set():
                    number += 1
                    write(root, dict.fromkeys(many(4), f"# Round {number}\n\nzebra{number}.\n"))
                    writer.index("notes")

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for number in range(5):
                engine.backup(tmp_path / f"{number}.zip")
        finally:
            stop.set()
            thread.join()
    for number in range(5):
        with open_at(tmp_path / f"r{number}") as restored:
            restored.restore(tmp_path / f"{number}.zip")
            assert len(restored.documents()) == 4
            assert problems(restored) == []


def test_an_index_with_documents_is_replaced_only_by_force_and_whoever_reads_sees_it(tmp_path, indexed):
    indexed.backup(tmp_path / "b.zip")
    before = facts(indexed)
    write(tmp_path / "notes", {"new.md": "# New\n\nAn ibex.\n"})
    indexed.index("notes")
    with open_at(tmp_path) as reader:
        assert files_found(reader, "ibex") == ["notes/new.md"]
        with pytest.raises(ConflictError, match="13 documents"):
            indexed.restore(tmp_path / "b.zip")
        assert files_found(reader, "ibex") == ["notes/new.md"]
        indexed.restore(tmp_path / "b.zip", force=True)
        assert files_found(reader, "ibex") == []
        assert facts(reader) == facts(indexed) == before
    assert problems(indexed) == []
    indexed.index("notes")
    assert files_found(indexed, "ibex") == ["notes/new.md"]
    assert not list((tmp_path / "index").glob(".restoring-*"))


def test_a_damaged_index_is_restored_and_what_is_left_of_it_kept(tmp_path, indexed):
    indexed.backup(tmp_path / "b.zip")
    before = facts(indexed)
    indexed.close()
    for path in (tmp_path / "index").glob("dowse.db*"):
        path.unlink() if path.name != "dowse.db" else path.write_bytes(b"no database at all" * 1000)
    with open_at(tmp_path) as engine:
        with pytest.raises(StoreCorruptError):
            engine.restore(tmp_path / "b.zip")
        engine.restore(tmp_path / "b.zip", force=True)
        assert facts(engine) == before
    assert len(list((tmp_path / "index").glob("damaged-*.db"))) == 1


def rewritten(file, target, change):
    """The same archive with members changed: `change` gets a dictionary of them."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target


def with_manifest(**changes):
    def change(members):
        members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | changes).encode()

    return change


BAD_BACKUPS = {
    "truncated": (lambda file, bad: bad.write_bytes(file.read_bytes()[:-200]), StoreCorruptError),
    "flipped": (
        lambda file, bad: bad.write_bytes(bytes(b ^ (i == 5000) for i, b in enumerate(file.read_bytes()))),
        StoreCorruptError,
    ),
    "other database": (lambda f, bad: rewritten(f, bad, lambda m: m.update({"dowse.db": b"x"})), StoreCorruptError),
    "newer": (lambda f, bad: rewritten(f, bad, with_manifest(layout=99)), StoreVersionError),
    "newer format": (lambda f, bad: rewritten(f, bad, with_manifest(version=2)), StoreVersionError),
    "no manifest": (lambda f, bad: rewritten(f, bad, lambda m: m.pop("manifest.json")), StoreCorruptError),
    "extra member": (lambda f, bad: rewritten(f, bad, lambda m: m.update({"../x": b"x"})), StoreCorruptError),
    "odd manifest": (lambda f, bad: rewritten(f, bad, with_manifest(version=[], layout={})), StoreCorruptError),
    "no zip": (lambda _, bad: bad.write_text("hello"), StoreCorruptError),
    "not there": (lambda _f, _b: None, NotFoundError),
}


@pytest.mark.parametrize("name", BAD_BACKUPS)
def test_a_backup_that_is_not_whole_or_newer_changes_nothing(tmp_path, indexed, name):
    make, error = BAD_BACKUPS[name]
    indexed.backup(tmp_path / "b.zip")
    make(tmp_path / "b.zip", tmp_path / "bad.zip")
    before = ids(indexed)
    with pytest.raises(error) as refused:
        indexed.restore(tmp_path / "bad.zip", force=True)
    assert refused.value.hint
    assert ids(indexed) == before
    assert problems(indexed) == []


def test_a_backup_of_an_earlier_layout_is_restored_and_brought_up_to_date(tmp_path, indexed):
    indexed.backup(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        archive.extractall(tmp_path / "old")
    connection = sqlite3.connect(tmp_path / "old" / "dowse.db", isolation_level=None)
    connection.executescript(
        "ALTER TABLE models DROP COLUMN touched_at; DROP INDEX contents_counts; PRAGMA user_version = 2;"
    )
    connection.close()
    data = (tmp_path / "old" / "dowse.db").read_bytes()
    import hashlib

    changes = {"layout": 2, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}

    def change(members):
        members["dowse.db"] = data
        with_manifest(**changes)(members)

    rewritten(tmp_path / "b.zip", tmp_path / "older.zip", change)
    with open_at(tmp_path / "elsewhere") as other:
        other.restore(tmp_path / "older.zip")
        assert facts(other) == facts(indexed)


def test_a_store_that_is_no_folder_says_how_else(tmp_path, indexed):
    from dowse.engine import care

    with pytest.raises(UsageError, match="in a folder"):
        care.backup(MemoryStore(), tmp_path / "b.zip", replace=False)


# Export and import


def test_an_imported_collection_answers_as_the_exported_one_and_nothing_is_embedded_again(tmp_path, indexed):
    report = indexed.export_collection("notes", tmp_path / "c.zip")
    assert (report.collection, report.documents, report.vectors) == ("notes", 12, indexed.stats().vectors)
    with open_at(tmp_path / "elsewhere") as other:
        report = other.import_collection(tmp_path / "c.zip")
        assert (report.documents, report.vectors, report.notes) == (12, indexed.stats().vectors, ())
        assert other.embed().embedded == 0
        assert ids(other) == ids(indexed)
        for name in ("texts", "hits", "totals", "contexts"):
            assert facts(other)[name] == facts(indexed)[name]
        assert other.collection("notes").collection.description == "What I know"
        assert problems(other) == []
        assert [hit.freshness for hit in other.search("zebra").hits] == ["unknown"] * 10


def test_the_file_does_not_say_where_the_documents_lie(tmp_path, indexed):
    elsewhere = write(tmp_path / "private", {"one.md": "# One\n\nA zebra.\n"})
    indexed.ingest(elsewhere / "one.md", collection="notes")
    indexed.export_collection("notes", tmp_path / "c.zip")
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert str(tmp_path).encode() not in everything
    with open_at(tmp_path / "elsewhere") as other:
        other.import_collection(tmp_path / "c.zip")
        assert "notes/ingested/one.md" in files_found(other, "zebra")
        assert other.index("notes").unchanged >= 0
        assert "notes/ingested/one.md" in files_found(other, "zebra")


def test_a_collection_can_be_imported_beside_itself_and_leaves_the_other_alone(tmp_path, indexed):
    indexed.export_collection("notes", tmp_path / "c.zip")
    before = ids(indexed)
    with pytest.raises(ConflictError, match="notes"):
        indexed.import_collection(tmp_path / "c.zip")
    indexed.import_collection(tmp_path / "c.zip", name="again")
    after = ids(indexed)
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == 24
    assert problems(indexed) == []
    with pytest.raises(UsageError):
        indexed.import_collection(tmp_path / "c.zip", name="a/b")


def test_with_a_folder_the_imported_collection_follows_its_files(tmp_path, indexed):
    indexed.export_collection("notes", tmp_path / "c.zip")
    root = write(tmp_path / "theirs", many(10))
    shutil.copy(root / "part0/note000.md", root / "copy.md")
    write(root, {"part0/note000.md": "# Changed\n\nAn ibex.\n"})
    with open_at(tmp_path / "elsewhere") as other:
        other.import_collection(tmp_path / "c.zip", root=root)
        assert other.collection("notes").collection.root == str(root)
        before = ids(other)
        other.index("notes")
        assert ids(other) == before
        assert files_found(other, "ibex") == ["notes/part0/note000.md"]
        assert other.embed().embedded == 1


def test_vectors_of_another_model_are_left_out_and_that_is_said(tmp_path, indexed, monkeypatch):
    indexed.export_collection("notes", tmp_path / "c.zip")
    monkeypatch.setattr(hashed, "identity", lambda *_: OTHER_MODEL)
    with open_at(tmp_path / "elsewhere") as other:
        report = other.import_collection(tmp_path / "c.zip")
        assert report.vectors == 0
        (note,) = report.notes
        assert "vectors are of hashed (fp32), this index uses other-words (f32)" in note
        assert "dowse embed" in note
        assert len(files_found(other, "zebra")) == 12
        assert other.stats().vectors == 0


def test_a_collection_without_vectors_says_so(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", many(2)), name="notes")
        engine.index("notes")
        engine.export_collection("notes", tmp_path / "c.zip")
        (note,) = engine.import_collection(tmp_path / "c.zip", name="again").notes
        assert note.startswith("The file has no vectors.")


def test_what_an_import_says_of_some_bytes_is_not_believed_of_a_file_here(tmp_path, indexed):
    indexed.export_collection("notes", tmp_path / "c.zip")

    def lie(members):
        name = "documents/00000.jsonl"
        members[name] = members[name].replace(b"zebra", b"ibexx")

    rewritten(tmp_path / "c.zip", tmp_path / "lie.zip", lie)
    with open_at(tmp_path / "elsewhere") as other:
        other.import_collection(tmp_path / "lie.zip", name="theirs")
        other.add_collection(tmp_path / "notes", name="mine")
        other.index("mine")
        assert {file.split("/")[0] for file in files_found(other, "zebra")} == {"mine"}


def documents_changed(**changes):
    def change(members):
        lines = members["documents/00000.jsonl"].splitlines()
        members["documents/00000.jsonl"] = b"\n".join([json.dumps(json.loads(lines[0]) | changes).encode(), *lines[1:]])

    return change


def npy(array):
    data = io.BytesIO()
    np.save(data, array, allow_pickle=array.dtype == object)
    return data.getvalue()


def with_chunk(**changes):
    def change(members):
        lines = members["documents/00000.jsonl"].splitlines()
        made = json.loads(lines[0])
        made["content"]["chunks"][0] |= changes
        members["documents/00000.jsonl"] = b"\n".join([json.dumps(made).encode(), *lines[1:]])

    return change


BAD_EXPORTS = {
    "another format": with_manifest(format="other"),
    "no version": with_manifest(version="1"),
    "too few documents": with_manifest(documents=13),
    "unknown member": lambda m: m.update({"../../etc/passwd": b"x"}),
    "absolute member": lambda m: m.update({"/documents/00000.jsonl": b"x"}),
    "no json": lambda m: m.update({"documents/00000.jsonl": b"{"}),
    "deep json": lambda m: m.update({"documents/00000.jsonl": b"[" * 100_000}),
    "not a number": lambda m: m.update({"manifest.json": m["manifest.json"].replace(b'"documents": 12', b'"x": NaN')}),
    "climbing path": documents_changed(path="../../secret.md"),
    "absolute path": documents_changed(path="/etc/passwd"),
    "path of a file": documents_changed(path="file:///etc/passwd", origin="ingested", uri="file:///etc/passwd"),
    "short path of a file": documents_changed(path="file:x", origin="ingested", uri="file:x"),
    "address of a file": documents_changed(path="loose", origin="ingested", uri="file:///etc/passwd"),
    "control characters": documents_changed(path="a\x1b[2Jb"),
    "unknown origin": documents_changed(origin="stolen"),
    "no hash": documents_changed(hash="abc"),
    "no id": documents_changed(id="abc"),
    "nested metadata": documents_changed(metadata={"a": {"b": "c"}}),
    "huge number": documents_changed(size=1 << 70),
    "no pattern": lambda m: m.update({"manifest.json": m["manifest.json"].replace(b'"**/*"', b"5")}),
    "negative time": documents_changed(updated_at=-1),
    "half a character": documents_changed(title="\ud800"),
    "no content": documents_changed(content=None),
    "passage outside": with_chunk(end=1_000_000),
    "passage backwards": with_chunk(start=5, end=2),
    "heading of numbers": with_chunk(headings=[1]),
    "no base64": documents_changed(original="%%%"),
    "vectors of another shape": lambda m: m.update({"vectors/00000.npy": npy(np.ones((2, 3), "<f4"))}),
    "pickled vectors": lambda m: m.update({"vectors/00000.npy": npy(np.array([{}, {}], dtype=object))}),
    "long vectors": lambda m: m.update(
        {"vectors/00000.npy": npy(np.ones((len(m["vectors/00000.keys"]) // 16, 256), "<f4"))}
    ),
    "vectors without numbers": lambda m: m.update(
        {"vectors/00000.npy": npy(np.full((len(m["vectors/00000.keys"]) // 16, 256), np.nan, "<f4"))}
    ),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A file that is as it should be."""
    folder = tmp_path_factory.mktemp("exported")
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", many(12)), name="notes")
        engine.index("notes")
        engine.embed()
        engine.export_collection("notes", folder / "c.zip")
    return folder / "c.zip"


@pytest.mark.parametrize("name", BAD_EXPORTS)
def test_a_file_that_says_what_it_may_not_is_refused_and_nothing_stays_of_it(tmp_path, exported, name):
    bad = rewritten(exported, tmp_path / "bad.zip", BAD_EXPORTS[name])
    with open_at(tmp_path) as engine:
        with pytest.raises(SourceError) as refused:
            engine.import_collection(bad)
        assert refused.value.hint
        assert engine.collections() == ()
    assert list(tmp_path.rglob("passwd")) == []


def test_a_newer_export_is_refused_politely(tmp_path, exported):
    bad = rewritten(exported, tmp_path / "bad.zip", with_manifest(version=2))
    with open_at(tmp_path) as engine, pytest.raises(StoreVersionError, match="newer Dowse"):
        engine.import_collection(bad)


def test_a_bomb_is_not_unpacked(tmp_path, exported):
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        with zipfile.ZipFile(exported) as good:
            archive.writestr("manifest.json", good.read("manifest.json"))
        archive.writestr("documents/00000.jsonl", b" " * (100 << 20))
    with open_at(tmp_path) as engine, pytest.raises(SourceError) as refused:
        engine.import_collection(bomb)
    assert refused.value.reason == "too_large"


@pytest.mark.parametrize("damage", [b"", b"hello", None])
def test_what_is_no_zip_is_refused(tmp_path, exported, damage):
    data = exported.read_bytes()[:-100] if damage is None else damage
    (tmp_path / "bad.zip").write_bytes(data)
    with open_at(tmp_path) as engine, pytest.raises(SourceError):
        engine.import_collection(tmp_path / "bad.zip")


def test_an_import_that_stops_half_way_leaves_nothing_and_can_be_repeated(tmp_path, exported, monkeypatch):
    from dowse.store.sqlite import SqliteStore

    def stop(*_):
        raise KeyboardInterrupt

    with open_at(tmp_path) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(SqliteStore, "put_vectors", stop)
            with pytest.raises(KeyboardInterrupt):
                engine.import_collection(exported)
        assert engine.collections() == ()
        with monkeypatch.context() as patch:  # and where even tidying up fails, as in a kill
            patch.setattr(SqliteStore, "put_vectors", stop)
            patch.setattr(SqliteStore, "drop_collection", stop)
            with pytest.raises(KeyboardInterrupt):
                engine.import_collection(exported)
        assert [each.name for each in engine.known_collections()] == ["notes.importing"]
        assert engine.search(Query("zebra")).hits == ()
        engine.import_collection(exported)
        assert [each.name for each in engine.known_collections()] == ["notes"]
        assert len(files_found(engine, "zebra")) == 12


def test_an_import_is_not_searched_before_it_has_its_own_name(tmp_path, exported, monkeypatch):
    from dowse.store.sqlite import SqliteStore

    shown = []
    real = {name: getattr(SqliteStore, name) for name in ("put_collection", "rename_collection")}

    def looked_at(name):
        def act(store, *given):
            real[name](store, *given)
            with store.snapshot() as view:
                shown.extend(each.name for each in view.collections() if each.included)

        return act

    for name in real:
        monkeypatch.setattr(SqliteStore, name, looked_at(name))
    with open_at(tmp_path) as engine:
        engine.import_collection(exported)
    assert set(shown) == {"notes"}


@pytest.mark.parametrize("target", MAKERS)
@pytest.mark.parametrize("source", MAKERS)
def test_a_collection_moves_between_all_stores_as_parts_and_as_a_file(tmp_path, source, target, monkeypatch):
    monkeypatch.setattr("dowse.store.portable.parts._PART_DOCUMENTS", 2)
    one = MAKERS[source](tmp_path / "one")
    add_collections(one, "notes")
    put_texts(one, {f"{number}.md": f"# Title\n\nalpha n{number % 4}\n\nbeta" for number in range(7)})
    one.put([replace(make_draft("kept.md", "gamma", metadata={"said": "so"}), original=b"gamma")])
    embed_backlog(one)
    with one.snapshot() as view:
        head = head_of(view, "notes")
        straight = MAKERS[target](tmp_path / "straight")
        assert take_in(straight, head, parts_of(view, head)) == (8, 7)
        with (tmp_path / "c.zip").open("wb") as file:
            assert write_archive(view, "notes", file, version="0") == (8, 7)
        expected = list(view.drafts("notes"))
    packed = MAKERS[target](tmp_path / "packed")
    with Archive(tmp_path / "c.zip") as archive:
        archive.check()
        take_in(packed, archive.head, archive.parts())
    for store in (straight, packed):
        with store.snapshot() as view:
            again = list(view.drafts("notes"))
            assert view.model() == MODEL
        assert [(each.info.path, each.info.id, each.content, each.original) for each in again] == [
            (each.info.path, each.info.id, each.content, each.original) for each in expected
        ]
        assert again[-1].info.metadata == {"said": "so"}
        assert store.count_unembedded(MODEL) == 0
        assert sorted(search_near(store, "alpha")) == sorted(search_near(one, "alpha"))
        store.close()
    one.close()


def test_the_commands_say_what_they_did(tmp_path, indexed, monkeypatch, capsys):
    for name, value in environment_for(tmp_path).items():
        monkeypatch.setenv(name, value)
    assert main(["backup", str(tmp_path / "b.zip")]) == 0
    assert f"12 documents, {indexed.stats().vectors} vectors" in capsys.readouterr().out
    assert main(["restore", str(tmp_path / "b.zip")]) == 4
    assert "--force" in capsys.readouterr().err
    assert main(["restore", str(tmp_path / "b.zip"), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 12
    assert main(["export", "notes", str(tmp_path / "c.zip"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["collection"] == "notes"
    assert main(["import", str(tmp_path / "c.zip"), "--name", "again"]) == 0
    assert "Imported again: 12 documents" in capsys.readouterr().out
    assert main(["export", "nothing", str(tmp_path / "d.zip")]) == 3
