"""Processes that are killed at random moments, whatever they do: nothing acknowledged is lost, nothing deleted returns.

Each kind of storm has a worker (workers.py), a way to prepare the index before a kill and a check after it. A worker
says `started`, then what the store acknowledged; it is killed some time later, anywhere between its start and its end.
"""

import os
import random
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import workers
from dowse import Engine, Query
from workbench import facts, files_found, ids, know_another_model, many, open_at, problems, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

KILLS = 500
"""Of all storms together; each kind gets its share."""
QUICK_KILLS = 2
_PATIENCE = 60
_LAYOUTS = Path(__file__).parent / "store" / "layouts"


@dataclass
class Storm:
    """One index, its folder, and what has been found out so far."""

    folder: Path
    chance: random.Random
    number: int = 0
    span: float = 0.3
    """How long the worker takes, as far as is known: kills are spread over it."""
    kills: int = 0
    lost: list[str] = field(default_factory=list)
    ghosts: list[str] = field(default_factory=list)
    longest: float = 0.0
    memory: dict[str, object] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.folder / "notes"

    def acknowledged(self, kind: str) -> tuple[dict[str, str], set[str]]:
        """Run the worker, kill it, and return what it said: hashes by document, and the ids of what was deleted."""
        process = subprocess.Popen(
            workers.command(kind, self.folder, self.root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("started"):
                break
        _AFTER_START.get(kind, lambda _: None)(self)
        try:
            process.wait(self.chance.uniform(0, self.span))
            self.span *= 0.8
        except subprocess.TimeoutExpired:
            process.kill()
            self.kills += 1
            self.span = min(self.span * 1.1, 5.0)
        rest, errors = process.communicate(timeout=_PATIENCE)
        assert errors == ""
        hashes, deleted = {}, set()
        for line in [*said, *rest.splitlines(keepends=True)]:
            what, *words = line.rstrip("\n").split(maxsplit=2)
            if what == "put" and line.endswith("\n"):
                hashes[words[1]] = words[0]
            elif what == "delete":
                deleted.add(words[0])
            elif what == "gone":
                hashes.pop(words[0], None)
        return hashes, deleted

    def opened(self) -> Engine:
        """Open the index and have it answer; remembers how long that took at most."""
        started = time.monotonic()
        engine = open_at(self.folder, embedder=str(self.memory.get("embedder", "hashed")))
        engine.search(Query("zebra", mode="lex"))
        self.longest = max(self.longest, time.monotonic() - started)
        held = engine.stats().model
        if "embedder" not in self.memory or held is None or held.name == self.memory["embedder"]:
            return engine
        engine.close()
        self.memory["embedder"] = held.name
        return open_at(self.folder, embedder=held.name)

    def judge(self, engine: Engine, hashes: dict[str, str], deleted: set[str]) -> None:
        """Compare with what was acknowledged, and words with documents; then write, and look at everything."""
        now = {info.file: info.content_hash for info in engine.documents()}
        self.lost += [name for name, digest in hashes.items() if now.get(name) != digest]
        self.ghosts += sorted(deleted & {str(each) for each in ids(engine).values()})
        for _ in range(2):
            found = files_found(engine, "zebra")
            self.lost += sorted(set(now) - set(found))
            self.ghosts += sorted(set(found) - set(now))
            assert len(found) == len(set(found))
            engine.add_context(f"After death number {self.number}")  # the first write mends what is derived
        assert problems(engine) == []


def change_some(storm: Storm) -> None:
    """Add, change, move and delete a few files."""
    chance, root, number = storm.chance, storm.root, storm.number
    files = sorted(root.rglob("*.md"))
    for file in chance.sample(files, min(3, len(files) // 4)):
        file.unlink()
    for file in chance.sample(sorted(root.rglob("*.md")), 4):
        file.rename(root / f"moved-{number}-{file.name}")
    for file in chance.sample(sorted(root.rglob("*.md")), 4):
        write(root, {file.relative_to(root).as_posix(): f"# Changed {number}\n\nA zebra in {file.stem}, number 3.\n"})
    write(root, {f"new/{number}-{n}.md": f"# New {number}\n\nA zebra came by road number {n}.\n" for n in range(6)})


def brought_up_to_date(storm: Storm) -> None:
    """Files, words and vectors, all of them."""
    if not storm.root.exists():
        write(storm.root, many(48))
    with storm.opened() as engine:
        if not engine.collections():
            engine.add_collection(storm.root, name="notes")
        engine.index("notes", prune=True)
        engine.embed()


def nothing(storm: Storm) -> None:
    """A first run: no index."""
    if not storm.root.exists():
        write(storm.root, many(48))
    shutil.rmtree(storm.folder / "index", ignore_errors=True)


def some_changed(storm: Storm) -> None:
    if not storm.number:
        brought_up_to_date(storm)
    elif storm.number % 2:
        change_some(storm)


def all_changed(storm: Storm) -> None:
    brought_up_to_date(storm)
    write(storm.root, {path: text + f"\nRound {storm.number}.\n" for path, text in many(48).items()})


def much_dead(storm: Storm) -> None:
    """Half of everything was replaced, so that cleaning up has all its work to do."""
    all_changed(storm)
    brought_up_to_date(storm)


def other_model(storm: Storm) -> None:
    """Every second time the other model is the next one."""
    know_another_model()
    if not storm.number:
        brought_up_to_date(storm)
    with storm.opened() as engine:
        stats = engine.stats()
    held = stats.model.name if stats.model else "hashed"
    storm.memory["embedder"] = held
    wanted = stats.successor.model.name if stats.successor else {"hashed": "other", "other": "hashed"}[held]
    (storm.folder / "next model").write_text(wanted)


def an_earlier_layout(storm: Storm) -> None:
    shutil.rmtree(storm.folder / "index", ignore_errors=True)
    with zipfile.ZipFile(storm.chance.choice(sorted(_LAYOUTS.glob("*.zip")))) as archive:
        archive.extractall(storm.folder / "index")


def a_backup(storm: Storm) -> None:
    if not storm.number:
        brought_up_to_date(storm)
        with storm.opened() as engine:
            engine.backup(storm.folder / "b.zip")
            storm.memory["backed up"] = ids(engine)
        write(storm.root, {f"later/{n}.md": f"# Later\n\nA zebra {n}.\n" for n in range(10)})
    brought_up_to_date(storm)


def an_export(storm: Storm) -> None:
    if not storm.number:
        brought_up_to_date(storm)
        with storm.opened() as engine:
            engine.export_collection("notes", storm.folder / "c.zip")


# Checks of their own


def model_answers(storm: Storm, engine: Engine) -> None:
    """Whichever model answers, it has all its vectors."""
    stats = engine.stats()
    with engine._store._readers.reading() as connection:
        keys = connection.execute("SELECT count(DISTINCT key) FROM chunks").fetchone()[0]
    if stats.vectors != keys:
        storm.lost.append(f"{keys - stats.vectors} vectors")


def migrated(storm: Storm, engine: Engine) -> None:
    """The two notes of every layout."""
    found = {info.path for info in engine.documents()}
    storm.lost += sorted({"garden.md", "sub/kitchen.md"} - found)
    assert files_found(engine, "walnut") == ["notes/garden.md"]
    assert engine.stats().vectors == 3
    engine.add_context("After death")
    assert problems(engine) == []


def old_or_restored(storm: Storm, engine: Engine) -> None:
    now, backed_up = ids(engine), storm.memory["backed up"]
    if len(now) != 58 and now != backed_up:
        storm.lost.append(f"{len(now)} documents are neither the old index nor the backup")


def whole_or_not_there(storm: Storm, engine: Engine) -> None:
    counts = {each.collection.name: each.documents for each in engine.collections()}
    storm.ghosts += [name for name, count in counts.items() if "." not in name and count != 48]
    shown = {hit.info.collection for hit in engine.search(Query("zebra", mode="lex", limit=1_000)).hits}
    storm.ghosts += sorted(name for name in shown if "." in name)


@dataclass(frozen=True)
class Kind:
    """What is killed: the worker's command, what comes before, and what else must hold after."""

    worker: str
    prepare: Callable[[Storm], None]
    also: Callable[[Storm, Engine], None] | None = None
    is_judged: bool = True
    """Whether documents hold zebras, as those of the earlier layouts do not."""


KINDS = {
    "first index": Kind("update", nothing),
    "update": Kind("update", some_changed),
    "replace": Kind("update", all_changed),
    "delete": Kind("delete", brought_up_to_date),
    "embed": Kind("embed-anew", other_model, model_answers),
    "watch": Kind("watch", brought_up_to_date),
    "compaction": Kind("clean-up", much_dead),
    "migration": Kind("read", an_earlier_layout, migrated, is_judged=False),
    "repair": Kind("repair", brought_up_to_date),
    "restore": Kind("restore", a_backup, old_or_restored),
    "import": Kind("import", an_export, whole_or_not_there, is_judged=False),
}
_AFTER_START: dict[str, Callable[[Storm], None]] = {"watch": change_some}


def storm_of(name: str, kills: int, folder: Path, seed: int) -> Storm:
    """Kill until it is enough; then what is left must be what a rebuild from scratch gives."""
    kind = KINDS[name]
    storm = Storm(folder, random.Random(seed))  # noqa: S311  # a storm that can be repeated
    while storm.kills < kills and storm.number < 4 * kills + 20:
        kind.prepare(storm)
        hashes, deleted = storm.acknowledged(kind.worker)
        with storm.opened() as engine:
            if kind.also is not None:
                kind.also(storm, engine)
            if kind.is_judged:
                storm.judge(engine, hashes, deleted)
        storm.number += 1
        assert not storm.lost, storm.lost
        assert not storm.ghosts, storm.ghosts
    assert storm.kills == kills, "the workers were faster than their killers"
    if kind.is_judged:
        compare_with_rebuild(storm)
    return storm


def compare_with_rebuild(storm: Storm) -> None:
    embedder = str(storm.memory.get("embedder", "hashed"))
    with storm.opened() as engine:
        held = engine.stats().model
        embedder = held.name if held else embedder
    with (
        open_at(storm.folder, embedder=embedder) as engine,
        open_at(storm.folder / "fresh", embedder=embedder) as fresh,
    ):
        if engine.contexts():
            engine.remove_context()
        for each in (engine, fresh):
            if not each.collections():
                each.add_collection(storm.root, name="notes")
            each.index("notes", prune=True)
            each.embed()
            each.cleanup(days=0)
        for entry in engine.ledger():  # what was deleted by hand stays away; the rebuild knows nothing of that
            if entry.state == "excluded":
                engine.ingest(storm.root / entry.path, collection="notes")
        engine.embed()
        assert facts(engine, with_scores=False) == facts(fresh, with_scores=False)
        engine.doctor(repair=True)
        assert problems(engine) == []


@pytest.mark.parametrize("name", KINDS)
def test_a_few_deaths_lose_nothing_that_was_acknowledged(tmp_path, name):
    storm_of(name, QUICK_KILLS, tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", KINDS)
def test_a_storm_of_deaths_loses_nothing_that_was_acknowledged(tmp_path, figure, name):
    share = KILLS // len(KINDS) + (list(KINDS).index(name) < KILLS % len(KINDS))
    storm = storm_of(name, share, tmp_path, seed=2)
    numbers = {"kills": storm.kills, "lost": len(storm.lost), "ghosts": len(storm.ghosts)}
    figure("crash storm", numbers | {"longest open and answer, s": round(storm.longest, 2)})
