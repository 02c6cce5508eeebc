"""Some places of a folder: what a restricted walk sees, and that indexing them ends like indexing everything."""

import os
import shutil
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.ingest import sources
from dowse.ingest.partial import MOST_PATHS, index_paths
from dowse.ingest.pipeline import index_collection
from dowse.ingest.settings import IndexSettings
from dowse.store.memory import MemoryStore
from dowse.types import Chunking, Collection
from workbench import age, many, write

SETTINGS = IndexSettings(1 << 20, Chunking(), "words", lambda: None)


class Place:
    """A folder, and a store that follows it."""

    def __init__(self, root):
        self.root = root
        self.store = MemoryStore()
        self.collection = Collection("notes", str(root))
        self.store.put_collection(self.collection)

    def index(self, *paths):
        """All of it, or just these paths."""
        if paths:
            return index_paths(self.store, self.collection, SETTINGS, paths)
        return index_collection(self.store, self.collection, SETTINGS)

    def facts(self):
        with self.store.snapshot() as snapshot:
            documents = [
                (each.path, each.uri, each.content_hash, replace(each.fingerprint, read_ns=0))
                for each in snapshot.documents("notes")
            ]
            return documents, [(each.path, each.state, each.code) for each in snapshot.ledger("notes")]

    def ids(self):
        with self.store.snapshot() as snapshot:
            return {each.path: each.id for each in snapshot.documents("notes")}

    def fresh_facts(self):
        other = Place(self.root)
        other.index()
        return other.facts()


@pytest.fixture
def place(tmp_path):
    place = Place(write(tmp_path / "notes", many(9)))
    place.index()
    return place


def paths_of(root, only=None):
    return [(type(each), each.path) for each in sources.walk(root, max_file_size=100, only=only)]


# What a selection means

names = st.sampled_from(["a.md", "b.txt", "sub", "deep", unicodedata.normalize("NFD", "é.md"), ".hidden", "large.md"])
trees = st.lists(st.lists(names, min_size=1, max_size=3).map("/".join), max_size=8)


@pytest.mark.parametrize("others", [0, 20], ids=["a few", "many"])
@settings(max_examples=40, deadline=None)
@given(files=trees, chosen=st.lists(st.lists(names, min_size=1, max_size=3).map("/".join), max_size=4))
def test_a_restricted_walk_sees_just_what_a_whole_one_sees_there(others, files, chosen):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in files:
            file = root / path
            if not any(parent.is_file() for parent in file.parents) and not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("x" * (200 if file.name == "large.md" else 10))
        (root / ".gitignore").write_text("b.txt\n")
        paths = [unicodedata.normalize("NFC", path) for path in chosen] + [f"other{n}" for n in range(others)]
        only = sources.Selection(paths)
        # A file that stands where a folder was expected is seen on the way.
        assert paths_of(root, only) == [each for each in paths_of(root) if only.touches(each[1])]
        assert all(only.covers(path) == any(f"{path}/".startswith(f"{each}/") for each in paths) for path in files)


def test_folders_are_listed_with_every_name_that_they_have(tmp_path):
    write(tmp_path, {"real/sub/a.md": "a", ".git/x": "x", "node_modules/y.md": "y", "ignored/z.md": "z", "b.md": "b"})
    write(tmp_path, {".gitignore": "ignored/\n", "cache/CACHEDIR.TAG": "", "cache/c.md": "c"})
    try:
        (tmp_path / "link").symlink_to("real")
        (tmp_path / "out").symlink_to(tmp_path.parent)
    except OSError:
        pytest.skip("links need a permission here")
    root = os.path.realpath(tmp_path)
    found = {Path(at).relative_to(root).as_posix(): names for at, names in sources.folders(tmp_path).items()}
    assert found == {".": {""}, "real": {"real/", "link/"}, "real/sub": {"real/sub/", "link/sub/"}}
    below = sources.folders(tmp_path, only=sources.Selection(["real/sub"]))
    assert {name for names in below.values() for name in names} == {"", "real/", "real/sub/"}


# What indexing some paths does


def test_only_what_is_named_is_looked_at(place):
    write(
        place.root, {"part0/note000.md": "# Changed\n\nAn ibex.\n", "part1/note001.md": "# Changed too\n\nAn ibex.\n"}
    )
    report = place.index("part0/note000.md")
    assert (report.changed, report.unchanged, report.removed) == (1, 0, 0)
    assert place.facts() != place.fresh_facts()
    assert place.index("part1").changed == 1
    assert place.facts() == place.fresh_facts()


def test_files_that_came_moved_or_went_below_a_folder_are_found(place):
    before = place.ids()
    (place.root / "part0").rename(place.root / "elsewhere")
    (place.root / "part1/note001.md").unlink()
    write(place.root, {"new/deep/a.md": "# New\n\nA zebra.\n"})
    report = place.index("part0", "elsewhere", "part1/note001.md", "new")
    assert (report.added, report.moved, report.removed) == (1, 3, 1)
    assert place.facts() == place.fresh_facts()
    assert place.ids()["elsewhere/note000.md"] == before["part0/note000.md"]


def test_nothing_is_written_when_nothing_changed(place, monkeypatch):
    write(place.root, {"ignored.tmp/x": "", ".hidden": "x"})
    for name in ("put", "restat", "record", "delete", "forget", "put_collection"):
        monkeypatch.delattr(place.store.__class__, name)
    report = place.index("part0/note000.md", "part9", ".hidden", "nothing/here.md")
    assert (report.unchanged, report.guarded) == (1, "")


@pytest.mark.parametrize("path", [".gitignore", "part0/.dowseignore", "part0/CACHEDIR.TAG"])
def test_a_file_that_decides_for_its_folder_makes_the_folder_looked_at(place, path):
    text = "" if path.endswith("TAG") else "*.md\n"
    write(place.root, {path: text, "keep.txt": "zebra\n"})
    place.index("keep.txt")
    report = place.index(path)
    assert place.facts() == place.fresh_facts() or report.guarded
    assert report.removed or report.guarded
    (place.root / path).unlink()
    place.index(path)
    assert place.facts() == place.fresh_facts()


def test_an_ignored_or_excluded_path_stays_out(place):
    write(place.root, {".gitignore": "out/\n", "out/a.md": "# Out\n"})
    assert place.index("out/a.md").added == 0
    with place.store.snapshot() as snapshot:
        (info,) = snapshot.documents("notes", prefix="part0/note000.md")
    place.store.delete([info.id], exclude=True)
    age(place.root / "part0/note000.md", 0)
    assert place.index("part0/note000.md").added == 0


def test_other_names_of_a_changed_file_are_looked_at_too(place):
    try:
        (place.root / "link.md").symlink_to("part0/note000.md")
        (place.root / "hard.md").hardlink_to(place.root / "part0/note003.md")
        (place.root / "folder").symlink_to("part1")
    except OSError:
        pytest.skip("links need a permission here")
    place.index()
    for path in ("part0/note000.md", "part0/note003.md", "part1/note001.md"):
        with (place.root / path).open("a") as file:
            file.write("More of it.\n")
    report = place.index("part0/note000.md", "part0/note003.md", "part1/note001.md")
    assert report.changed == 6
    assert place.facts() == place.fresh_facts()


def test_the_guard_holds_for_a_part_as_for_the_whole(tmp_path):
    place = Place(write(tmp_path / "notes", many(60)))
    place.index()
    for part in ("part0", "part1"):
        shutil.rmtree(place.root / part)
    report = place.index("part0", "part1")
    assert "40 of 60 documents are gone" in report.guarded
    assert report.removed == 0
    assert place.index("part0").removed == 20


def test_a_missing_root_removes_nothing(place):
    place.root.rename(place.root.with_name("away"))
    report = place.index("part0/note000.md")
    assert "does not exist" in report.guarded
    assert len(place.ids()) == 9


def test_the_root_itself_or_very_many_paths_mean_everything(place):
    write(place.root, {"part0/note000.md": "# Changed\n\nAn ibex.\n"})
    assert place.index("").unchanged == 8
    assert place.index(*(f"nothing{number}" for number in range(MOST_PATHS + 1))).unchanged == 9
    assert place.index(*(f"nothing{number}" for number in range(MOST_PATHS))).unchanged == 0
    assert index_paths(place.store, place.collection, SETTINGS, []).unchanged == 0


paths = st.sampled_from(["a.md", "b.txt", "sub/a.md", "sub/deep/c.md", "other/a.md", "photo.png"])
texts = st.sampled_from(["", "zebra\n", "zebra road\n", "# Zebra\n\nnumber 3\n"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), paths, texts),
        st.tuples(st.just("delete"), paths, st.just("")),
        st.tuples(st.just("move"), paths, paths),
        st.tuples(st.just("ignore"), st.sampled_from(["", "sub/"]), st.sampled_from(["", "a.md\n", "deep/\n"])),
        st.tuples(st.just("index"), st.just(""), st.just("")),
    ),
    max_size=14,
)


def _do(root, kind, path, what):
    """One step in a folder; returns the paths that it touched."""
    place = root / path
    if kind == "write":
        write(root, {path: what})
    elif kind == "ignore" and (root / path).is_dir():
        (place / ".gitignore").write_text(what)
        return {f"{path}.gitignore"}
    elif kind == "delete" and place.exists():
        place.unlink()
    elif kind == "move" and place.exists() and path != what:
        (root / what).parent.mkdir(parents=True, exist_ok=True)
        place.replace(root / what)
        return {path, what}
    return {path}


@settings(max_examples=60, deadline=None)
@given(steps=steps)
def test_indexing_what_was_touched_ends_like_indexing_everything(steps):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        root.mkdir()
        write(root, {"keep.md": "zebra\n"})
        place = Place(root)
        place.index()
        touched: set[str] = set()
        for kind, path, what in [*steps, ("index", "", "")]:
            if kind == "index":
                if touched:
                    place.index(*touched)
                touched = set()
                assert place.facts() == place.fresh_facts()
            else:
                touched |= _do(root, kind, path, what)
