"""Folders that are followed while they change, for real: files, threads and the system's own events."""

import os
import queue
import shutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from dowse.errors import ConflictError, ModelError, StoreLockedError
from dowse.inference.hashed import HashedEmbedder
from dowse.ingest.settings import IndexSettings
from dowse.ingest.watch import events, watcher
from dowse.ingest.watch.mounts import is_remote
from dowse.ingest.watch.state import WatchStatus, claim, watch_status
from dowse.ingest.watch.watcher import Watcher
from dowse.types import Chunking
from workbench import age, facts, files_found, ids, many, open_at, problems, write

PATIENCE = 20
needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a permission on Windows")


class Heard:
    """What a watcher told of its batches, one after the other."""

    def __init__(self, told):
        self._told = told
        self.batches = []

    def until(self, condition):
        """Wait for a batch like this, and return it."""
        while True:
            try:
                self.batches.append(self._told.get(timeout=PATIENCE))
            except queue.Empty:
                pytest.fail(f"waited in vain; heard {self.batches}")
            if condition(self.batches[-1]):
                return self.batches[-1]

    def caught_up(self):
        return self.until(lambda batch: batch.is_whole and not batch.problem)

    def report(self, **counts):
        """Wait for a report with these counts."""
        return self.until(
            lambda batch: batch.report and all(getattr(batch.report, name) == each for name, each in counts.items())
        ).report

    def problem(self, words=""):
        return self.until(lambda batch: batch.problem and words in batch.problem).problem


def save(file, text):
    """Write a file at one stroke, so that nobody sees half of it."""
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def settings_of(engine):
    settings = IndexSettings(engine.config.max_file_size, Chunking(), "hashed", lambda: None)
    return lambda _: settings


@contextmanager
def watching(engine, **options):
    """A watcher in a thread, which leaves no other threads behind."""
    told = queue.Queue()
    watching = Watcher(engine._store, engine.config.index_dir, settings_of(engine), on_batch=told.put, **options)
    thread = threading.Thread(target=watching.run)
    thread.start()
    try:
        yield Heard(told)
    finally:
        watching.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert [each.name for each in threading.enumerate() if each.name.startswith("watch ")] == []
        assert watch_status(engine.config.index_dir) == WatchStatus()


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "notes", many(6))


@pytest.fixture
def engine(tmp_path, root):
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        yield engine


def fresh_facts(tmp_path, root):
    with open_at(tmp_path / "fresh") as fresh:
        fresh.add_collection(root, name="notes")
        fresh.index("notes")
        fresh.embed()
        return facts(fresh, with_scores=False)


# What happens to files


@pytest.mark.parametrize("poll", [False, True], ids=["events", "polling"])
def test_it_catches_up_and_then_follows_every_kind_of_change(tmp_path, root, engine, poll, monkeypatch):
    monkeypatch.setattr(events, "_POLL_SECONDS", 0.05)
    with watching(engine, poll=poll, embedder=HashedEmbedder) as heard:
        assert heard.caught_up().report.added == 6
        save(root / "part0/note000.md", "# Saved\n\nAn ibex.\n")
        heard.report(changed=1)
        assert files_found(engine, "ibex") == ["notes/part0/note000.md"]
        (root / "new/deep").mkdir(parents=True)
        save(root / "new/deep/a.md", "# New\n\nA marmot.\n")
        heard.report(added=1)
        save(root / "new/deep/a.md", "# New\n\nA marmot and an ibex.\n")
        heard.report(changed=1)
        before = ids(engine)
        (root / "new").rename(root / "old")
        heard.report(moved=1)
        assert ids(engine)["notes/old/deep/a.md"] == before["notes/new/deep/a.md"]
        save(root / "old/deep/b.md", "# In a folder that moved\n\nA lynx.\n")
        heard.report(added=1)
        (root / "part1/note001.md").unlink()
        heard.report(removed=1)
    engine.embed()
    engine.cleanup(days=0)
    for file in root.rglob("*.md"):
        age(file)
    engine.index("notes")
    assert problems(engine) == []
    assert facts(engine, with_scores=False) == fresh_facts(tmp_path, root)


def test_an_editors_atomic_save_is_one_change_of_the_same_document(root, engine):
    with watching(engine) as heard:
        heard.caught_up()
        before = ids(engine)
        for number in range(3):
            draft = root / "part0/.note000.md.swp"
            draft.write_text(f"# Saved\n\nAn ibex, number {number}.\n")
            draft.replace(root / "part0/note000.md")
            heard.report(changed=1, added=0, removed=0)
        backup = (root / "part0/note000.md").rename(root / "part0/note000.md~")
        save(root / "part0/note000.md", "# Saved\n\nA lynx.\n")
        backup.unlink()
        heard.report(changed=1)
        assert ids(engine) == before


def test_what_changes_while_it_catches_up_is_not_lost(root, engine, monkeypatch):
    real = watcher.index_collection

    def index_and_change(*arguments):
        report = real(*arguments)
        if report.added == 6:
            save(root / "late.md", "# Late\n\nAn ibex.\n")
        return report

    monkeypatch.setattr(watcher, "index_collection", index_and_change)
    with watching(engine) as heard:
        heard.report(added=1)
        assert files_found(engine, "ibex") == ["notes/late.md"]


def test_what_nobody_indexes_is_not_even_heard(tmp_path, root, engine):
    (root / "node_modules").mkdir()
    (root / ".git").mkdir()
    with watching(engine) as heard:
        heard.caught_up()
        for path in ("node_modules/a.md", ".git/b.md", ".hidden.md"):
            save(root / path, "# Not ours\n")
        save(root / "c.md", "# Ours\n")
        heard.report(added=1)
        assert len(heard.batches) == 2


def test_an_index_inside_its_own_folder_does_not_wake_itself(root, tmp_path):
    with open_at(root) as engine:
        engine.add_collection(root, name="notes")
        with watching(engine, embedder=HashedEmbedder) as heard:
            heard.caught_up()
            heard.until(lambda batch: batch.embedded)
            for number in range(2):
                save(root / "a.md", f"# A\n\nIbex {number}.\n")
                heard.until(lambda batch: batch.embedded)
            assert [bool(batch.report) for batch in heard.batches] == [True, False] * 3


def test_ignore_files_count_at_once_and_folders_they_let_in_are_followed(root, engine):
    write(root, {"private/a.md": "# A\n\nAn ibex.\n", ".gitignore": "private/\n"})
    with watching(engine) as heard:
        heard.caught_up()
        save(root / "rules", "note000.md\nrules\n")
        (root / "rules").replace(root / ".gitignore")
        heard.report(added=1, removed=1)
        save(root / "private/b.md", "# B\n\nA lynx.\n")
        heard.report(added=1)
        assert files_found(engine, "ibex lynx") == ["notes/private/a.md", "notes/private/b.md"]


@needs_links
def test_a_file_is_followed_under_every_name_that_links_give_it(root, engine, tmp_path):
    (root / "link").symlink_to("part0")
    (root / "file.md").symlink_to("part0/note000.md")
    (root / "out").symlink_to(tmp_path)
    with watching(engine) as heard:
        heard.caught_up()
        save(root / "part0/note000.md", "# Saved\n\nAn ibex.\n")
        heard.report(changed=3)
        save(root / "part0/new.md", "# New\n\nA lynx.\n")
        heard.report(added=2)
        assert sorted(files_found(engine, "lynx")) == ["notes/link/new.md", "notes/part0/new.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems want names of text")
def test_a_name_that_is_no_text_does_not_end_it(root, engine, monkeypatch):
    monkeypatch.setattr(events, "_PAUSE", 0.01)
    with watching(engine) as heard:
        heard.caught_up()
        try:
            Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.md")).write_text("# Bad\n")
        except OSError:
            pytest.skip("this file system wants text")
        heard.problem("bad")
        heard.caught_up()
        save(root / "good.md", "# Good\n")
        heard.report(added=1)
        assert [(each.path, each.code) for each in engine.ledger()] == [(r"bad\udcff.md", "bad_name")]


def test_more_changes_than_are_worth_telling_apart_make_it_look_at_everything(root, engine, monkeypatch):
    monkeypatch.setattr(watcher, "MOST_PATHS", 3)
    with watching(engine) as heard:
        heard.caught_up()
        write(root, {f"new{number}.md": f"# New {number}\n" for number in range(8)})
        total = 0
        while total < 8:
            total += heard.until(lambda batch: batch.report).report.added
        assert any(batch.is_whole for batch in heard.batches[1:])


# What happens to whole folders


def test_a_tree_that_is_deleted_keeps_its_documents_until_it_is_there_again(tmp_path, root, engine, monkeypatch):
    monkeypatch.setattr(events, "_PAUSE", 0.01)
    with watching(engine) as heard:
        heard.caught_up()
        before = ids(engine)
        shutil.rmtree(root)
        heard.until(lambda batch: batch.is_whole and "Nothing was removed" in batch.problem)
        assert watch_status(engine.config.index_dir).collections == {"notes": "missing"}
        assert "does not exist" in watch_status(engine.config.index_dir).problems["notes"]
        assert ids(engine) == before
        write(root, many(7))
        heard.report(added=1)
        save(root / "part0/note000.md", "# Saved\n\nAn ibex.\n")
        heard.report(changed=1)
        assert {name: each for name, each in ids(engine).items() if name in before} == before
        assert watch_status(engine.config.index_dir).collections == {"notes": "events"}


def test_another_folder_in_the_place_of_the_root_is_noticed(tmp_path, root, engine, monkeypatch):
    monkeypatch.setattr(events, "_PAUSE", 0.01)
    monkeypatch.setattr(events, "_LOOK_MS", 50)
    with watching(engine) as heard:
        heard.caught_up()
        root.rename(tmp_path / "away")
        write(root, {**many(6), "extra.md": "# Extra\n\nAn ibex.\n"})
        heard.report(added=1)
        (tmp_path / "away/part0/note000.md").write_text("# Not ours any more\n\nA lynx.\n")
        save(root / "extra.md", "# Extra\n\nA lynx.\n")
        heard.report(changed=1)
        assert files_found(engine, "lynx") == ["notes/extra.md"]


def test_many_deletions_reach_the_guard_together(tmp_path, root, engine):
    write(root, many(60))
    with watching(engine) as heard:
        heard.caught_up()
        for part in ("part0", "part1"):
            shutil.rmtree(root / part)
        assert "40 of 60 documents are gone" in heard.problem("accident")
        assert len(ids(engine)) == 60
        write(root, many(60))
        heard.until(lambda batch: batch.report and not batch.problem)
        assert len(ids(engine)) == 60


# What happens to the watcher


def test_a_batch_that_fails_is_told_and_done_later(root, engine, monkeypatch):
    real, failures = watcher.index_paths, [StoreLockedError("Somebody is writing.", hint="Wait."), ValueError("odd")]

    def fail_at_first(*arguments):
        if failures:
            raise failures.pop(0)
        return real(*arguments)

    monkeypatch.setattr(watcher, "_LONGEST_DELAY", 0.01)
    with watching(engine) as heard:
        heard.caught_up()
        monkeypatch.setattr(watcher, "index_paths", fail_at_first)
        save(root / "a.md", "# A\n\nAn ibex.\n")
        assert heard.problem() == "Somebody is writing. Wait."
        assert watch_status(engine.config.index_dir).problems == {"notes": "Somebody is writing. Wait."}
        assert heard.problem() == "ValueError: odd"
        heard.report(added=1)
        assert watch_status(engine.config.index_dir).problems == {}


def test_listening_that_is_refused_becomes_polling(root, engine, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(events, "_PAUSE", 0.01)
    monkeypatch.setattr(events, "_POLL_SECONDS", 0.05)
    monkeypatch.setattr(events._Listener, "_open", refuse)
    with watching(engine) as heard:
        assert "polled instead" in heard.problem()
        heard.caught_up()
        save(root / "a.md", "# A\n\nAn ibex.\n")
        heard.report(added=1)
        assert watch_status(engine.config.index_dir).collections == {"notes": "polling"}


def test_collections_that_come_change_and_go_are_noticed(tmp_path, root, engine, monkeypatch):
    monkeypatch.setattr(watcher, "_COLLECTIONS_SECONDS", 0.05)
    other = write(tmp_path / "other", {"a.md": "# A\n\nA lynx.\n", "b.txt": "A lynx.\n"})
    with watching(engine) as heard:
        heard.caught_up()
        engine.add_collection(other, name="other", pattern="*.md")
        heard.until(lambda batch: batch.collection == "other")
        assert files_found(engine, "lynx") == ["other/a.md"]
        engine.rename_collection("other", "another")
        heard.until(lambda batch: batch.collection == "another")
        save(other / "c.md", "# C\n\nA lynx.\n")
        heard.report(added=1, collection="another")
        engine.remove_collection("another")
        save(other / "c.md", "# C\n\nA lynx again.\n")
        save(root / "c.md", "# C\n\nAn ibex.\n")
        heard.report(added=1, collection="notes")
        assert "another" not in [each.collection.name for each in engine.collections()]


def test_only_the_named_collections_are_followed(tmp_path, root, engine):
    engine.add_collection(write(tmp_path / "other", {"a.md": "# A\n"}), name="other")
    with watching(engine, names=["other"]) as heard:
        heard.caught_up()
        assert list(watch_status(engine.config.index_dir).collections) == ["other"]
    assert [batch.collection for batch in heard.batches] == ["other"]


def test_now_and_then_everything_is_looked_at_whatever_was_heard(root, engine, monkeypatch):
    with watching(engine) as heard:
        heard.caught_up()
        monkeypatch.setattr(watcher, "_EVERYTHING_SECONDS", 0.0)
        monkeypatch.setattr(watcher, "_COLLECTIONS_SECONDS", 0.01)
        save(root / "a.md", "# A\n")
        heard.until(lambda batch: batch.is_whole and batch.report.unchanged == 7)


# Vectors


class SlowEmbedder(HashedEmbedder):
    """Embeds one passage at a time, and lets others act in between."""

    def __init__(self, between):
        super().__init__()
        self._between = between
        self.done = 0

    def embed_passages(self, texts):
        self.done += len(texts)
        self._between(self.done)
        return super().embed_passages(texts)


def test_words_do_not_wait_for_a_long_backlog_of_vectors(root, engine, monkeypatch):
    write(root, many(40))
    monkeypatch.setattr(watcher, "_SLICE_SECONDS", 0.0)
    searchable = []

    def save_in_between(done):
        if done == 5:
            save(root / "urgent.md", "# Urgent\n\nAn ibex.\n")
        if files_found(engine, "ibex") and not searchable:
            searchable.append(done)

    embedder = SlowEmbedder(save_in_between)
    with watching(engine, embedder=lambda: embedder) as heard:
        heard.until(lambda batch: batch.embedded)
        assert searchable
        assert engine.stats().collections[0].unembedded == 0


def test_a_model_that_fails_leaves_words_alone_and_is_tried_with_the_next_change(root, engine):
    def fail(done):
        if done < 3:
            raise ModelError("The model is not there.", hint="Get it.")

    embedder = SlowEmbedder(fail)
    with watching(engine, embedder=lambda: embedder) as heard:
        assert heard.problem() == "The model is not there. Get it."
        for text in ("An ibex.", "A lynx.", "A zebra."):
            save(root / "a.md", f"# A\n\n{text}\n")
            heard.until(lambda batch: batch.report)
            heard.until(lambda batch: batch.problem or batch.embedded)
        assert engine.stats().collections[0].unembedded == 0


# Who watches


def test_there_is_one_watcher_of_an_index_and_the_second_learns_who_it_is(root, engine):
    with watching(engine) as heard:
        heard.caught_up()
        status = watch_status(engine.config.index_dir)
        assert (status.state, status.pid, status.collections) == ("running", os.getpid(), {"notes": "events"})
        assert status.batches == 1
        assert 0 < status.since <= status.last_batch_at
        with pytest.raises(ConflictError) as refused:
            Watcher(engine._store, engine.config.index_dir, settings_of(engine)).run()
        assert f"Process {os.getpid()} is already watching" in refused.value.message
        assert watch_status(engine.config.index_dir).state == "running"


def test_a_note_without_its_writer_tells_of_a_death_and_the_next_watcher_takes_over(tmp_path):
    assert watch_status(tmp_path) == WatchStatus()
    with claim(tmp_path) as state:
        state.update(batches=3)
        left = (tmp_path / "watch.json").read_bytes()
    assert watch_status(tmp_path) == WatchStatus()
    (tmp_path / "watch.json").write_bytes(left)
    assert (watch_status(tmp_path).state, watch_status(tmp_path).batches) == ("died", 3)
    with claim(tmp_path):
        assert (watch_status(tmp_path).state, watch_status(tmp_path).batches) == ("running", 0)
    (tmp_path / "watch.json").write_bytes(b'["not ours"]')
    assert watch_status(tmp_path) == WatchStatus()


MOUNTS = [
    "/dev/sda1 / ext4 rw 0 0",
    "server:/export /srv/nfs nfs4 rw 0 0",
    "//nas/share /media/my\\040nas cifs rw 0 0",
    "me@host:/ /home/me/remote fuse.sshfs rw 0 0",
    "/dev/sdb1 /srv/nfs/local ext4 rw 0 0",
    "/dev/sdc1 /mnt/usb fuseblk rw 0 0",
    "broken",
]


@pytest.mark.skipif(os.name == "nt", reason="these are Linux' mounts")
@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("/home/me", False),
        ("/srv/nfs", True),
        ("/srv/nfs/deep", True),
        ("/srv/nfs2", False),
        ("/srv/nfs/local/x", False),
        ("/media/my nas/x", True),
        ("/home/me/remote/x", True),
        ("/mnt/usb", False),
        ("/", False),
    ],
)
def test_folders_on_network_drives_are_known_by_the_table_of_mounts(folder, remote):
    assert is_remote(folder, MOUNTS) == remote
    assert not is_remote(folder, [])


def test_a_remote_folder_is_polled(root, engine, monkeypatch):
    monkeypatch.setattr(events, "is_remote", lambda _: True)
    with watching(engine) as heard:
        heard.caught_up()
        assert watch_status(engine.config.index_dir).collections == {"notes": "polling"}
