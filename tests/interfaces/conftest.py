"""A small library of notes, and ways to run the real program on it."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from dowse.interfaces.cli import main

NOTES = {
    "tea.md": "# Green tea\n\nGreen tea wants water below eighty degrees.\nBoiling water makes it bitter.\n",
    "coffee.md": "# Coffee\n\n## Espresso\n\nEspresso needs nine bars of pressure.\n\n"
    "## Filter\n\nFilter coffee drips.\n",
    "kitchen/bread.md": "---\ntitle: Sourdough bread\n---\n\nBread dough rises slowly in a cold kitchen.\n",
    "kitchen/soup.txt": "Soup wants water, salt and time.\n",
}


@dataclass(frozen=True)
class Outcome:
    """What one run of the program left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """A folder of notes, and the environment of an index that lives beside it."""

    notes: Path
    env: dict[str, str]


def make_place(folder: Path) -> Place:
    """Write the notes and prepare an environment that leads nowhere else."""
    notes = folder / "notes"
    for path, text in NOTES.items():
        file = notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    env = {
        "DOWSE_DATA_DIR": str(folder / "data"),
        "DOWSE_CACHE_DIR": str(folder / "cache"),
        "DOWSE_CONFIG": os.devnull,
        "DOWSE_EMBEDDER": "hashed",
    }
    return Place(notes, env)


@pytest.fixture
def place(tmp_path):
    """Notes that nothing has indexed yet."""
    return make_place(tmp_path)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Indexed and embedded notes with contexts, for tests that only read."""
    place = make_place(tmp_path_factory.mktemp("library"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in place.env.items():
            patch.setenv(name, value)
        assert main(["collection", "add", str(place.notes), "-q"]) == 0
        assert main(["context", "add", "/", "All I know", "-q"]) == 0
        assert main(["context", "add", "notes/kitchen", "Recipes, mostly", "-q"]) == 0
    return place


def _runner(place, monkeypatch, capsys):
    for name in [*filter(lambda name: name.startswith("DOWSE_"), os.environ), "NO_COLOR"]:
        monkeypatch.delenv(name, raising=False)
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["dowse"])
    capsys.readouterr()

    def run(*arguments: object, code: int | None = 0) -> Outcome:
        got = main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        assert code is None or got == code, f"exit code {got}\n{out}\n{err}"
        return Outcome(got, out, err)

    return run


@pytest.fixture
def run(place, monkeypatch, capsys):
    """Runs the program on fresh notes; the exit code must be the expected one."""
    return _runner(place, monkeypatch, capsys)


@pytest.fixture
def ask(library, monkeypatch, capsys):
    """Runs the program on the shared, indexed notes."""
    return _runner(library, monkeypatch, capsys)
