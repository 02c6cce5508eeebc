"""Whether a hit's file is as it was indexed, said by one look at it."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from dowse.ingest import freshness
from dowse.ingest.freshness import check, freshness_of, note_about, outdated
from dowse.ingest.sources import read
from dowse.types import Chunk, DocumentInfo, Explain, Fingerprint, Hit, Snippet, new_document_id

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def document(root, path="a.md", *, origin="walked", text="# Alpha\n", on_disk=None):
    """A document of a file that was just written and read."""
    file = root / (on_disk or path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    _, fingerprint = read(file, 1 << 20)
    key = path if origin == "walked" else file.as_uri()
    return DocumentInfo(
        new_document_id(), "notes", key, file.as_uri(), "A", "0" * 64, "text/plain", origin, fingerprint
    )


def hit(info, state="unknown"):
    return Hit(info, Chunk("x", 0, 1, 1, 1, 1), 0, 0.5, Snippet("x", 1, 0), (), Explain((), 0.5, 0.5), state)


@pytest.fixture
def root(tmp_path):
    """A folder with something in it besides the file in question."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "other.md").write_text("other")
    return folder


@pytest.mark.parametrize("name", ["a.md", "deep/er/a.md", "with space#and?marks%20.md", "日本 🎉.md", "new\nline.md"])
def test_a_file_as_it_was_read_is_fresh(root, name):
    if os.name == "nt" and not name.isalnum():
        pytest.skip("Windows has no such names")
    assert freshness_of(document(root, name)) == "fresh"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems want names of text")
def test_a_name_that_is_no_text_is_looked_for_all_the_same(root):
    file = Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.md"))
    try:
        file.write_text("x")
    except OSError:
        pytest.skip("this file system wants text")
    assert freshness_of(document(root, "bad.md", on_disk=file.name)) == "fresh"


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("# Alpha, longer\n"),
        lambda file: os.utime(file, ns=(1, 1)),
        lambda file: (file.with_suffix(".new").write_text("# Alpha\n"), file.with_suffix(".new").replace(file)),
    ],
    ids=["written", "touched", "replaced"],
)
def test_a_file_that_changed_is_stale(root, change):
    info = document(root)
    change(root / "a.md")
    assert freshness_of(info) == "stale"


def test_a_replaced_file_of_the_same_size_and_time_is_stale_where_files_have_numbers(root):
    info = document(root)
    file = root / "a.md"
    shutil.copy2(file, root / "copy")
    (root / "copy").replace(file)
    assert freshness_of(info) == ("fresh" if os.name == "nt" else "stale")
    assert freshness_of(replace(info, fingerprint=replace(info.fingerprint, inode=0))) == "fresh"


@pytest.mark.parametrize("origin", ["walked", "ingested"])
def test_a_file_that_was_deleted_is_gone(root, origin):
    info = document(root, origin=origin)
    (root / "a.md").unlink()
    assert freshness_of(info) == "gone"


def test_a_file_whose_folder_was_deleted_below_a_root_that_is_there_is_gone(root):
    info = document(root, "deep/er/a.md")
    shutil.rmtree(root / "deep")
    assert freshness_of(info) == "gone"
    (root / "deep").write_text("a file in the folder's place")
    assert freshness_of(info) == "gone"


def test_names_that_the_disk_spells_otherwise_do_not_hide_the_root(root):
    info = document(root, f"{COMPOSED}/a.md", on_disk=f"{DECOMPOSED}/a.md")
    assert freshness_of(info) == "fresh"
    shutil.rmtree(root / DECOMPOSED)
    assert freshness_of(info) == "gone"


def test_with_the_walked_folder_missing_or_empty_nobody_knows(root):
    info = document(root, "deep/a.md")
    hidden = root.rename(root.with_name("elsewhere"))
    assert freshness_of(info) == "unknown"
    root.mkdir()
    assert freshness_of(info) == "unknown"
    root.rmdir()
    hidden.rename(root)
    assert freshness_of(info) == "fresh"


def test_an_ingested_file_whose_folder_is_missing_is_unknown(root):
    info = document(root, "usb/a.md", origin="ingested")
    shutil.rmtree(root / "usb")
    assert freshness_of(info) == "unknown"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions bind ordinary users of POSIX")
def test_a_file_that_may_not_be_looked_at_is_unknown(root):
    info = document(root, "locked/a.md")
    (root / "locked").chmod(0)
    try:
        assert freshness_of(info) == "unknown"
    finally:
        (root / "locked").chmod(0o700)


@pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(5, "I/O"), OSError(116, "stale handle")])
def test_a_place_that_answers_with_an_error_is_unknown(root, monkeypatch, error):
    info = document(root)

    def fail(_):
        raise error

    monkeypatch.setattr(freshness.os, "stat", fail)
    assert freshness_of(info) == "unknown"


@pytest.mark.parametrize(
    "uri", ["https://example.org/a", "data:text/plain,a", "raw:note", "", "file://", "file:///a%00b"]
)
def test_what_is_no_file_is_unknown(uri):
    info = DocumentInfo(UUID(int=1), "c", uri, uri, "t", "0", "text/plain", "ingested", Fingerprint(1, 1))
    assert freshness_of(info) == "unknown"


def test_a_part_of_a_file_is_as_fresh_as_the_file(root):
    info = document(root)
    assert freshness_of(replace(info, uri=f"{info.uri}#message=3")) == "fresh"


def test_one_look_serves_every_hit_of_a_document(root, monkeypatch):
    infos = [document(root, name) for name in ("a.md", "b.md")]
    looked = []
    real = os.stat
    monkeypatch.setattr(freshness.os, "stat", lambda path: (looked.append(path), real(path))[1])
    checked = check([hit(infos[0]), hit(infos[1]), hit(infos[0])])
    assert [each.freshness for each in checked] == ["fresh"] * 3
    assert len(looked) == 2


def test_what_is_outdated_is_named_by_collection_and_told_in_a_sentence(root):
    infos = {name: document(root, name) for name in ("fresh.md", "stale.md", "gone.md")}
    (root / "stale.md").write_text("changed, longer\n")
    (root / "gone.md").unlink()
    hits = check([hit(info) for info in [*infos.values(), infos["stale.md"]]])
    assert [each.freshness for each in hits] == ["fresh", "stale", "gone", "stale"]
    assert outdated(hits) == {"notes": ["stale.md", "gone.md"]}
    assert "1 changed and 1 vanished since they were indexed" in note_about(hits)
    assert note_about(hits[:1]) == ""
    assert outdated([replace(hit(document(root, "x.md", origin="ingested")), freshness="stale")]) == {}


def test_searching_pays_for_no_more_than_the_look_itself():
    script = (
        "import sys, dowse.types; was = set(sys.modules); import dowse.ingest.freshness; print(*set(sys.modules) - was)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert {name for name in done.stdout.split() if name.startswith("dowse")} == {
        "dowse.ingest",
        "dowse.ingest.freshness",
    }


def test_a_racy_file_counts_as_fresh_and_not_as_unknown(root):
    info = document(root)
    assert info.fingerprint.mtime_ns > time.time_ns() - 2_000_000_000
    assert freshness_of(info) == "fresh"
