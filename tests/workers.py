"""Processes for the tests that need more than one: `python workers.py COMMAND FOLDER …` on the index below FOLDER.

They say on stdout, line by line and at once, what the store has acknowledged, so that whoever kills them
knows what must still be there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from dowse import DowseError, Engine, Query
from dowse.ingest import backlog, settings
from dowse.store.portable import parts
from dowse.store.sqlite import care
from dowse.store.sqlite.lexical import LexicalIndex
from dowse.store.sqlite.lock import WriterLock
from dowse.store.sqlite.store import SqliteStore
from dowse.store.sqlite.vector_files import VectorFiles
from dowse.types import Draft
from workbench import config_for, environment_for, facts, know_another_model, open_at, problems, write

DEAD = 9
"""The exit code of a process that died on purpose."""


def say(*words: object) -> None:
    """A line that is out before anything else happens."""
    print(*words, flush=True)  # noqa: T201  # stdout is how the test hears of it


def acknowledge() -> None:
    """Say what every write made durable, when it returned."""
    put, delete, put_vectors = SqliteStore.put, SqliteStore.delete, SqliteStore.put_vectors

    def said_put(self: SqliteStore, drafts: Sequence[Draft]) -> None:
        put(self, drafts)
        for draft in drafts:
            say("put", draft.info.content_hash, draft.info.file)

    def said_delete(self: SqliteStore, documents: Any, **options: Any) -> int:
        with self.snapshot() as view:
            files = {info.id: info.file for info in view.documents()}
        count = delete(self, documents, **options)
        for document in documents:
            say("delete", document)
            say("gone", files.get(document))
        return count

    def said_put_vectors(self: SqliteStore, model: Any, vectors: Any) -> None:
        put_vectors(self, model, vectors)
        say("vectors", len(vectors))

    SqliteStore.put, SqliteStore.delete, SqliteStore.put_vectors = said_put, said_delete, said_put_vectors  # type: ignore[method-assign]  # this process exists for that


def update(folder: Path, root: Path) -> None:
    """Bring the index up to date in small steps: words, then vectors."""
    settings._BATCH_DOCUMENTS, backlog._BATCH = 4, 4
    acknowledge()
    with open_at(folder) as engine:
        if not engine.collections():
            engine.add_collection(root, name="notes")
        say("started")
        engine.index("notes", on_event=lambda event: say("at", event.stage, event.done))
        engine.embed()
        say("done")


# Work to be killed at


def delete(folder: Path, _root: Path) -> None:
    """Delete documents one by one."""
    acknowledge()
    with open_at(folder) as engine:
        say("started")
        for info in engine.documents()[:12]:
            engine.delete(info.file)
        say("done")


def embed_anew(folder: Path, _root: Path) -> None:
    """Go on to the model that the folder names, in small steps."""
    know_another_model()
    backlog._BATCH = 4
    with open_at(folder, embedder=(folder / "next model").read_text()) as engine:
        say("started")
        engine.embed(force=True)
        say("done")


def watch(folder: Path, _root: Path) -> None:
    """Follow the folder."""
    acknowledge()
    with open_at(folder) as engine:
        engine.watcher(on_batch=lambda batch: say("started") if batch.is_whole else None).run()


def clean_up(folder: Path, _root: Path) -> None:
    """Free what is not needed."""
    with open_at(folder) as engine:
        say("started")
        engine.cleanup(days=0)
        say("done")


def read(folder: Path, _root: Path) -> None:
    """Read, which brings an earlier layout up to date."""
    with open_at(folder) as engine:
        say("started")
        engine.documents()
        engine.add_context("Read")
        engine.remove_context()
        say("done")


def repair(folder: Path, _root: Path) -> None:
    """Make everything derived anew, in small steps."""
    care._REBUILD_ENTRIES = 8
    with open_at(folder) as engine:
        say("started")
        engine.doctor(repair=True)
        say("done")


def restore(folder: Path, _root: Path) -> None:
    """Put the backup in the folder in the place of the index."""
    with open_at(folder) as engine:
        say("started")
        engine.restore(folder / "b.zip", force=True)
        say("done")


def import_collection(folder: Path, _root: Path) -> None:
    """Take in the exported collection in the folder, in small steps."""
    parts._PART_DOCUMENTS = 8
    with open_at(folder) as engine:
        say("started")
        engine.import_collection(folder / "c.zip", name=f"copy{len(engine.collections())}")
        say("done")


STORMS = {
    "update": update,
    "delete": delete,
    "embed-anew": embed_anew,
    "watch": watch,
    "clean-up": clean_up,
    "read": read,
    "repair": repair,
    "restore": restore,
    "import": import_collection,
}

# Dying at a given point


def _die_after(owner: type, name: str, times: int = 1) -> None:
    """Let a method work this often, and die when it would return for the last time."""
    real: Callable[..., object] = getattr(owner, name)
    calls = []

    def method(*arguments: Any, **options: Any) -> object:
        result = real(*arguments, **options)
        calls.append(name)
        if len(calls) == times:
            os._exit(DEAD)
        return result

    setattr(owner, name, method)


def _die_between_the_vector_files() -> None:
    def write_one(self: VectorFiles, first_row: int, vectors: Any) -> NoReturn:
        self._paths["f32"].touch()
        with self._paths["f32"].open("r+b") as file:
            file.seek(first_row * self._widths["f32"])
            file.write(b"\xff" * self._widths["f32"])
        os._exit(DEAD)

    VectorFiles.write = write_one  # type: ignore[method-assign]  # the same


POINTS: dict[str, Callable[[], None]] = {
    "words committed, SQLite not": lambda: _die_after(LexicalIndex, "commit"),
    "second batch of words committed, SQLite not": lambda: _die_after(LexicalIndex, "commit", 2),
    "vectors written, not counted": lambda: _die_after(VectorFiles, "write"),
    "one of three vector files written": _die_between_the_vector_files,
}


def die(folder: Path, root: Path, point: str) -> None:
    """Update, and die at this point of it."""
    POINTS[point]()
    update(folder, root)


def die_repairing(folder: Path, calls: str) -> None:
    """Make everything derived anew, and die after so many commits of tantivy."""
    care._REBUILD_ENTRIES = 8
    _die_after(LexicalIndex, "commit", int(calls))
    with open_at(folder) as engine:
        engine.doctor(repair=True)


# Working beside others


def hold(folder: Path) -> None:
    """Hold the writer's lock until stdin ends."""
    folder.joinpath("index").mkdir(parents=True, exist_ok=True)
    with WriterLock(folder / "index" / "writer.lock", 0).held():
        say("held")
        sys.stdin.read()


def replace_again_and_again(folder: Path, root: Path, count: str) -> None:
    """Change one file so often and index it each time."""
    with open_at(folder) as engine:
        for number in range(int(count)):
            write(root, {"a.md": f"# Alpha\n\nThe alpha is at version {number} of its text.\n"})
            engine.index("notes")


# In a mount of their own


@contextmanager
def _reported(results: dict[str, Any], name: str) -> Any:
    """Note how a step ended."""
    try:
        yield
        results[name] = "well"
    except DowseError as error:
        results[name] = [type(error).__name__, error.message, error.hint, error.exit_code]


class Ballast:
    """A file that takes all the space but some."""

    def __init__(self, mount: Path) -> None:
        self._file = mount / "ballast"

    def leave(self, count: int) -> None:
        """Fill the disk, then give back so many bytes."""
        with self._file.open("ab") as file:
            try:
                while True:
                    os.write(file.fileno(), bytes(1 << 12))
            except OSError:
                os.ftruncate(file.fileno(), file.seek(0, os.SEEK_END) - count)

    def drop(self) -> None:
        """Give back all of it."""
        self._file.unlink()


def fill_the_disk(mount: Path, root: Path) -> None:
    """Index and embed on a disk that becomes full, then on one that has space again; print the results."""
    settings._BATCH_DOCUMENTS, backlog._BATCH = 16, 8
    results: dict[str, Any] = {}
    ballast = Ballast(mount)
    with open_at(mount) as engine:
        for left in (0, 100_000, 700_000):
            ballast.leave(left)
            with _reported(results, f"index with {left}"):
                if not engine.collections():
                    engine.add_collection(root, name="notes")
                engine.index("notes")
            results[f"documents with {left}"] = _documents(mount)
            ballast.drop()
        with _reported(results, "index with space"):
            engine.index("notes")
        for left in (0, 50_000, 200_000):
            ballast.leave(left)
            with _reported(results, f"embed with {left}"):
                engine.embed()
            with _reported(results, f"search with {left}"):
                results[f"hits with {left}"] = len(engine.search(Query("zebra", mode="lex", limit=1000)).hits)
            results[f"vectors with {left}"] = _vectors(mount)
            ballast.drop()
        with _reported(results, "embed with space"):
            engine.embed()
        results["problems"] = problems(engine)
    ballast.leave(0)
    with _reported(results, "opened anew"):
        results["facts"] = repr(_facts(mount))
    say(json.dumps(results))


def _documents(folder: Path) -> int:
    with open_at(folder) as engine:
        return engine.stats().documents


def _vectors(folder: Path) -> int:
    with open_at(folder) as engine:
        return engine.stats().vectors


def _facts(folder: Path) -> dict[str, object]:
    with open_at(folder) as engine:
        return facts(engine)


def write_protect(mount: Path, root: Path) -> None:
    """Use an index on a disk that may only be read; print the results."""
    results: dict[str, Any] = {}
    with open_at(mount) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
    before = _facts(mount)
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
    with open_at(mount) as engine:
        results["same"] = facts(engine) == before
        results["notes"] = engine.search("zebra").notes
        results["problems"] = problems(engine)
        for name, step in _WRITES.items():
            with _reported(results, name):
                step(engine)
        results["same afterwards"] = facts(engine) == before
        subprocess.run(["mount", "-o", "remount,rw", str(mount)], check=True)
        another = [sys.executable, "-m", "dowse", "context", "add", "/", "Written since", "-q"]
        subprocess.run(another, env=environment_for(mount), check=True)
        results["sees what was written since"] = [context.text for context in engine.contexts()] == ["Written since"]
    say(json.dumps(results))


_WRITES: dict[str, Callable[[Engine], object]] = {
    "index": lambda engine: engine.index("notes"),
    "embed --force": lambda engine: engine.embed(force=True),
    "context add": lambda engine: engine.add_context("All I know"),
    "collection remove": lambda engine: engine.remove_collection("notes"),
    "cleanup": lambda engine: engine.cleanup(days=0),
    "doctor --repair": lambda engine: engine.doctor(repair=True),
}

COMMANDS: dict[str, Callable[..., None]] = {
    **{name: (lambda folder, root, step=step: step(Path(folder), Path(root))) for name, step in STORMS.items()},
    "die": lambda folder, root, point: die(Path(folder), Path(root), point),
    "die-repairing": lambda folder, calls: die_repairing(Path(folder), calls),
    "hold": lambda folder: hold(Path(folder)),
    "replace": lambda folder, root, count: replace_again_and_again(Path(folder), Path(root), count),
    "full": lambda mount, root: fill_the_disk(Path(mount), Path(root)),
    "read-only": lambda mount, root: write_protect(Path(mount), Path(root)),
}


def command(*arguments: object) -> list[str]:
    """The command line of a worker."""
    return [sys.executable, str(Path(__file__)), *map(str, arguments)]


if __name__ == "__main__":
    assert config_for(Path.cwd()).embedder == "hashed"
    COMMANDS[sys.argv[1]](*sys.argv[2:])
