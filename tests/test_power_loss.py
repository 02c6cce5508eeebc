"""The power fails: what was not synced may be gone, in any order and by halves; what was acknowledged is not."""

import random

import pytest

from powerloss import Disk, compiled, notes_of, run_noted
from workbench import files_found, many, open_at, problems, write

QUICK, MANY = 12, 200


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = compiled(tmp_path_factory.mktemp("library"))
    if made is None:
        pytest.skip("there is no compiler for the library that notes what is written")
    return made


@pytest.fixture(scope="module")
def noted(library, tmp_path_factory):
    """Everything that a first run, an update and a change of all notes did to the disk."""
    folder = tmp_path_factory.mktemp("noted")
    root, disk = write(folder / "notes", many(24)), folder / "disk"
    disk.mkdir()
    for number in range(3):
        if number:
            write(root, {path: text.replace("rests", f"rests in {number}") for path, text in many(24 + number).items()})
            (root / f"part0/note{3 * number:03}.md").unlink()
        code, said = run_noted(library, disk, folder / "log", "update", disk / "home", root)
        assert code == 0, said
    return list(notes_of(folder / "log")), str(disk)


class Said:
    """What had been acknowledged when the power failed."""

    def __init__(self):
        self.hashes, self.deleted, self._rest = {}, set(), b""

    def hear(self, data):
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            kind, *rest = line.decode().split(maxsplit=2)
            if kind == "put":
                self.hashes[rest[1]] = rest[0]
            elif kind == "gone":
                del self.hashes[rest[0]]
            elif kind == "delete":
                self.deleted.add(rest[0])


def fail_at(noted, place, chance, luck, target):
    """The disk after the power failed here, and what had been said by then."""
    notes, watched = noted
    disk, said = Disk(), Said()
    for note in notes[:place]:
        if note.kind == "A":
            said.hear(note.data)
        else:
            disk.play(note)
    disk.write(watched, target, chance, luck)
    return said


def losses(noted, times, seed, tmp_path):
    """Fail again and again; returns how often something acknowledged was lost or something deleted came back."""
    chance = random.Random(seed)  # noqa: S311  # a storm that can be repeated
    places = [number for number, note in enumerate(noted[0], start=1) if note.kind != "A"]
    lost = ghosts = 0
    for number in range(times):
        luck = ("none", "some", "some", "all")[number % 4]
        said = fail_at(noted, chance.choice(places), chance, luck, tmp_path / f"{number}")
        with open_at(tmp_path / f"{number}" / "home") as engine:
            hashes = {info.file: info.content_hash for info in engine.documents()}
            there = {str(info.id) for info in engine.documents()}
            lost += len([name for name in said.hashes if name not in hashes])
            ghosts += len(said.deleted & there)
            engine.add_context("The first write after it")
            assert problems(engine) == []
            found = files_found(engine, "zebra")
            assert sorted(found) == sorted(hashes), f"try {number}: words and documents differ"
    return lost, ghosts


def test_what_was_acknowledged_survives_a_power_failure(noted, tmp_path):
    assert losses(noted, QUICK, 1, tmp_path) == (0, 0)


def test_at_the_end_everything_is_there_without_any_luck(noted, tmp_path):
    said = fail_at(noted, len(noted[0]), None, "none", tmp_path / "end")
    assert len(said.hashes) >= 24
    with open_at(tmp_path / "end" / "home") as engine:
        assert {info.file: info.content_hash for info in engine.documents()} == said.hashes


def test_a_disk_that_forgets_syncs_is_found_out(noted, tmp_path):
    """The check can fail: without the log of the database, what was acknowledged is gone."""
    notes, watched = noted
    careless = [note for note in notes if not (note.kind == "S" and note.path.endswith("-wal"))]
    # Before the first run closes the database, which syncs the file itself.
    place = next(number for number, note in enumerate(careless) if note.kind == "A" and b"vectors" in note.data)
    said = fail_at((careless, watched), place, None, "none", tmp_path / "careless")
    with open_at(tmp_path / "careless" / "home") as engine:
        assert len(engine.documents()) < len(said.hashes)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_was_acknowledged_survives_many_power_failures(noted, tmp_path, figure):
    lost, ghosts = losses(noted, MANY, 2, tmp_path)
    figure("power failures", {"failures": MANY, "lost": lost, "ghosts": ghosts})
    assert (lost, ghosts) == (0, 0)
