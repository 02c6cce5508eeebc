"""After cleaning up, an index is about as small as one that was made anew."""

import random

import pytest

from dowse.store.sqlite.lexical import LexicalIndex
from workbench import facts, files_found, many, open_at, problems, write

LARGEST_RATIO = 1.3


def texts(chance, files, words):
    """Files of some pages, each of random words."""
    return {
        f"{number % 20:02}/note{number:04}.md": "\n\n".join(
            f"# Part {part}\n\n" + " ".join(f"word{chance.randrange(words)}" for _ in range(120)) for part in range(4)
        )
        for number in range(files)
    }


def size_of(folder):
    return sum(path.stat().st_size for path in (folder / "index").rglob("*") if path.is_file())


def replaced(tmp_path, files, rounds):
    """Sizes after so many rounds of replacing everything, before and after cleaning up, and of an index made anew."""
    chance = random.Random(5)  # noqa: S311  # sizes that can be repeated
    root = tmp_path / "notes"
    with open_at(tmp_path) as engine:
        for number in range(rounds + 1):
            write(root, texts(chance, files, 3_000))
            if not number:
                engine.add_collection(root, name="notes")
            engine.index("notes")
            engine.embed()
        before = size_of(tmp_path)
        engine.cleanup(days=0)
        assert problems(engine) == []
        kept = facts(engine)
    after = size_of(tmp_path)
    with open_at(tmp_path / "fresh") as fresh:
        fresh.add_collection(root, name="notes")
        fresh.index("notes")
        fresh.embed()
        fresh.cleanup(days=0)
        assert facts(fresh)["documents"] == kept["documents"]
    return before, after, size_of(tmp_path / "fresh")


def test_cleaning_up_after_replacing_everything_gives_the_space_back(tmp_path):
    before, after, fresh = replaced(tmp_path, files=40, rounds=5)
    assert before > 2 * fresh
    assert after <= LARGEST_RATIO * fresh


def test_a_word_index_with_few_dead_entries_is_left_as_it_is(tmp_path):
    root = write(tmp_path / "notes", many(40))
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        write(root, {"part0/note000.md": "# Changed\n\nAn ibex.\n"})
        engine.index("notes")
        engine.cleanup(days=0)
        assert (tmp_path / "index" / "lexical-1").is_dir()
        assert 0 < LexicalIndex.at(tmp_path / "index", 1).waste() < 0.1
        assert files_found(engine, "ibex") == ["notes/part0/note000.md"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_ten_thousand_replacements_the_size_is_that_of_a_rebuild(tmp_path, figure):
    before, after, fresh = replaced(tmp_path, files=500, rounds=20)
    numbers = {
        "replacements": 10_000,
        "size ratio": round(after / fresh, 3),
        "before cleanup ratio": round(before / fresh, 2),
    }
    figure("size after cleanup", numbers)
    assert after <= LARGEST_RATIO * fresh
