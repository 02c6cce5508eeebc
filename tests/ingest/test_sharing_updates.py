"""Several updates of one collection at once: each file is read once, and what a dead one left is taken over."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event as Signal

import pytest

from dowse.ingest import sharing
from dowse.ingest.partial import index_paths
from dowse.ingest.pipeline import index_collection
from dowse.ingest.settings import IndexSettings
from dowse.store.memory import MemoryStore
from dowse.types import Chunking, Collection, Event
from workbench import many, write

SETTINGS = IndexSettings(1 << 20, Chunking(), "words", lambda: None)


class Updates:
    """One folder, one store, any number of runs."""

    def __init__(self, root: Path) -> None:
        self.store, self.collection = MemoryStore(), Collection("notes", str(root))
        self.store.put_collection(self.collection)

    def run(self, on_read: Callable[[str], None] = lambda _: None) -> tuple[int, list[str]]:
        """Bring it up to date; how many documents it added, and the paths that were read."""
        read: list[str] = []

        def tell(event: Event) -> None:
            if event.stage == "read":
                on_read(event.path)
                read.append(event.path)

        return index_collection(self.store, self.collection, SETTINGS, on_event=tell).added, read

    def ids(self) -> dict[str, object]:
        with self.store.snapshot() as view:
            return {each.path: each.id for each in view.documents("notes")}


@pytest.fixture
def updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Updates:
    monkeypatch.setattr(sharing, "PAUSE", 0.05)
    return Updates(write(tmp_path / "notes", many(100)))


def test_no_file_is_read_by_two_updates(updates: Updates) -> None:
    first_has_some, second_has_some = Signal(), Signal()

    def first(_: str) -> None:
        first_has_some.set()
        assert second_has_some.wait(30)  # with a part in its hands

    def second(_: str) -> None:
        second_has_some.set()

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(updates.run, first)
        assert first_has_some.wait(30)
        other = pool.submit(updates.run, second)
    (added, read), (added_too, read_too) = one.result(), other.result()
    assert read
    assert read_too
    assert len(read) + len(read_too) == len({*read, *read_too}) == added + added_too == 100
    assert updates.run() == (0, [])


def test_what_a_dead_update_held_is_taken_over(updates: Updates) -> None:
    names = [f"update notes/{path}" for path in many(100)]
    assert len(updates.store.lease(names[:40], "dead", 0.3)) == 40
    added, read = updates.run()
    assert added == len(read) == len(set(read)) == 100
    assert set(read[60:]) == {name.partition("/")[2] for name in names[:40]}


def test_what_was_interrupted_is_given_back_at_once(updates: Updates) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        updates.run(interrupt)
    assert updates.run()[0] == 100


def test_a_document_that_another_update_moved_is_not_removed(updates: Updates, monkeypatch: pytest.MonkeyPatch) -> None:
    updates.run()
    before, root = updates.ids(), Path(updates.collection.root or "")
    moved = next(iter(before))
    (root / moved).rename(root / "zz.md")
    write(root, {"aa.md": "new"})
    monkeypatch.setattr(sharing, "_SLICE", 1)

    def other_one_moves_it(path: str) -> None:
        if path == "aa.md":
            report = index_paths(updates.store, updates.collection, SETTINGS, [moved, "zz.md"])
            assert report.moved == 1

    assert updates.run(other_one_moves_it) == (1, ["aa.md"])
    assert updates.ids()["zz.md"] == before[moved]


def test_a_file_that_changed_after_another_update_read_it_is_read_again(
    updates: Updates, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates.run()
    root = Path(updates.collection.root or "")
    write(root, {"aa.md": "new"})
    write(root, {"zz.md": "first"})
    monkeypatch.setattr(sharing, "_SLICE", 1)

    def other_one_reads(path: str) -> None:
        if path == "aa.md":
            (root / "zz.md").write_text("and longer")
            index_paths(updates.store, updates.collection, SETTINGS, ["zz.md"])

    assert updates.run(other_one_reads)[1] == ["aa.md", "zz.md"]
