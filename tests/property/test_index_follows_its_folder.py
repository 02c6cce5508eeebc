"""Whatever happens to the files of a folder, and whenever a run over it is stopped: its index ends like a fresh one."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from dowse import Engine, Event
from dowse.ingest import backlog
from dowse.ingest import settings as index_settings
from workbench import HOUR_NS, facts, files_found, ids, open_at, problems, write

paths = st.sampled_from(["a.md", "b.txt", "sub/a.md", "sub/deep/c.md", "other/a.md", "photo.png"])
folders = st.sampled_from(["sub", "sub/deep", "other", "new"])
texts = st.sampled_from(
    [
        "",
        "zebra\n",
        "zebra road\n",
        "# Zebra\n\nnumber 3\n\n## Road\n\nzebra\n",
        b"\0zebra",
        "---\ntitle: T\n---\nzebra\n",
    ]
)
ages = st.sampled_from([0, 1, HOUR_NS, 2 * HOUR_NS])
stages = st.sampled_from(["walk", "read", "store", "done"])


class FolderMachine(RuleBasedStateMachine):
    """A folder, and an engine that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self._place = Path(tempfile.mkdtemp(prefix="dowse-test-"))
        self._root = self._place / "notes"
        self._root.mkdir()
        self._engine: Engine = open_at(self._place)
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(index_settings, "_BATCH_DOCUMENTS", 2)
        self._patch.setattr(backlog, "_BATCH", 2)

    @initialize()
    def add(self) -> None:
        self._engine.add_collection(self._root, name="notes")

    @rule(path=paths, text=texts, age=ages)
    def write(self, path: str, text: str | bytes, age: int) -> None:
        if not self._is_blocked(path):
            write(self._root, {path: text})
            self._set_time(self._root / path, age)

    @rule(path=paths, age=ages)
    def touch(self, path: str, age: int) -> None:
        if (self._root / path).is_file():
            self._set_time(self._root / path, age)

    @rule(path=paths, goal=paths)
    def move(self, path: str, goal: str) -> None:
        if (self._root / path).is_file() and not self._is_blocked(goal):
            (self._root / goal).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).replace(self._root / goal)

    @rule(path=paths, goal=paths)
    def copy(self, path: str, goal: str) -> None:
        if (self._root / path).is_file() and path != goal and not self._is_blocked(goal):
            (self._root / goal).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._root / path, self._root / goal)

    @rule(folder=folders, goal=folders)
    def rename(self, folder: str, goal: str) -> None:
        if (self._root / folder).is_dir() and not (self._root / goal).exists() and not goal.startswith(folder):
            (self._root / goal).parent.mkdir(parents=True, exist_ok=True)
            (self._root / folder).rename(self._root / goal)

    @rule(path=paths)
    def delete(self, path: str) -> None:
        if (self._root / path).is_file():
            (self._root / path).unlink()

    @rule(line=st.sampled_from(["", "sub/", "a.md", "*.txt"]))
    def ignore(self, line: str) -> None:
        (self._root / ".gitignore").write_text(line)

    @rule()
    def index(self) -> None:
        before = ids(self._engine)
        self._engine.index("notes", prune=True)
        after = ids(self._engine)
        assert all(after[name] == before[name] for name in after.keys() & before.keys()), "an id did not survive"
        assert len(set(after.values())) == len(after)

    @rule(stage=stages, done=st.integers(0, 5))
    def index_until_stopped(self, stage: str, done: int) -> None:
        def stop(event: Event) -> None:
            if (event.stage, event.done) == (stage, done):
                raise KeyboardInterrupt

        try:
            self._engine.index("notes", on_event=stop, prune=True)
        except KeyboardInterrupt:
            assert problems(self._engine) == []

    @rule()
    def embed(self) -> None:
        self._engine.embed()

    @rule()
    def clean_up(self) -> None:
        self._engine.cleanup(days=0)

    @rule()
    def open_again(self) -> None:
        self._engine.close()
        self._engine = open_at(self._place)

    def teardown(self) -> None:
        """Compare with an index that knows nothing of all this."""
        try:
            if self._engine.collections():
                self._compare()
        finally:
            self._engine.close()
            self._patch.undo()
            shutil.rmtree(self._place)

    def _compare(self) -> None:
        for file in self._root.rglob("*.*"):
            if file.is_file() and file.read_bytes().startswith(b"\0"):
                file.write_text("zebra healed\n")  # a file that fails keeps its old version, which a fresh index lacks
        with open_at(self._place / "fresh") as fresh:
            fresh.add_collection(self._root, name="notes")
            for engine in (self._engine, fresh):
                engine.index("notes", prune=True)
                engine.embed()
                engine.cleanup(days=0)
                assert problems(engine) == []
            assert facts(self._engine, with_scores=False) == facts(fresh, with_scores=False)
            again = self._engine.index("notes")
            assert (again.added, again.changed, again.moved, again.removed) == (0, 0, 0, 0)
            assert len(files_found(self._engine, "zebra")) == len(files_found(fresh, "zebra"))

    def _is_blocked(self, path: str) -> bool:
        place = self._root / path
        return place.is_dir() or any(parent.is_file() for parent in place.relative_to(self._root).parents)

    @staticmethod
    def _set_time(file: Path, age: int) -> None:
        then = time.time_ns() - age
        os.utime(file, ns=(then, then))


THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.mark.timeout(3_600 if THOROUGH else 300)
def test_an_index_follows_its_folder() -> None:
    stateful.run_state_machine_as_test(
        FolderMachine,
        settings=settings(
            max_examples=200 if THOROUGH else 12, stateful_step_count=40 if THOROUGH else 25, deadline=None
        ),
    )
