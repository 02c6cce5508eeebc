"""Death between two steps of a write: the old state is seen at once, the next write makes everything whole."""

import shutil
import subprocess

import pytest

import workers
from dowse.store.sqlite.lexical import LexicalIndex
from dowse.types import ref_of
from workbench import age, facts, files_found, ids, many, open_at, problems, write

WORDS = "words committed, SQLite not"


def die(*arguments):
    """Run a worker that must die on purpose; returns the names of the documents it had acknowledged."""
    done = subprocess.run(
        workers.command(*arguments),
        check=False,
        capture_output=True,
        timeout=60,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (workers.DEAD, "")
    return [line.split(maxsplit=2)[2] for line in done.stdout.splitlines() if line.startswith("put ")]


def entries(folder):
    """The refs of everything that stands in the word index, and of everything that is live."""
    (words,) = (folder / "index").glob("lexical-*")
    with open_at(folder) as engine, engine._store._readers.reading() as connection:
        live = connection.execute("SELECT d.version, c.ordinal FROM documents d JOIN chunks c ON c.content = d.content")
        return sorted(LexicalIndex(words).load().refs()), sorted(ref_of(*row) for row in live)


def fresh_facts(folder, root, *, with_scores=True):
    """What an index looks like that nobody ever interrupted."""
    with open_at(folder) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        return facts(engine, with_scores=with_scores)


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "notes", many(10))


@pytest.mark.parametrize("point", workers.POINTS)
def test_death_in_the_first_run(tmp_path, root, point):
    acknowledged = die("die", tmp_path, root, point)
    with open_at(tmp_path) as engine:
        assert sorted(info.file for info in engine.documents()) == sorted(acknowledged)
        assert sorted(files_found(engine, "zebra")) == sorted(acknowledged)
        assert engine.stats().vectors == 0
        engine.add_context("A write that has nothing to do with it")
        assert problems(engine) == []
    write(root, {path: text.replace("zebra", "marmot") for path, text in many(10).items()})
    with open_at(tmp_path) as engine:
        engine.remove_context()
        engine.index("notes")
        engine.embed()
        assert files_found(engine, "zebra") == []
        engine.cleanup(days=0)
        assert problems(engine) == []
        assert facts(engine, with_scores=bool(not acknowledged)) == fresh_facts(
            tmp_path / "fresh", root, with_scores=bool(not acknowledged)
        )
    held, live = entries(tmp_path)
    assert held == live


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "point", [WORDS, "second batch of words committed, SQLite not", "vectors written, not counted"]
)
def test_death_while_documents_are_replaced(tmp_path, root, point, times):
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        before, before_ids = facts(engine, with_scores=False), ids(engine)
    write(root, {path: f"# Second {path}\n\nAn ibex on road number 3.\n" for path in many(10)})
    acknowledged = {name for _ in range(times) for name in die("die", tmp_path, root, point)}
    with open_at(tmp_path) as engine:
        assert ids(engine) == before_ids
        assert sorted(files_found(engine, "ibex")) == sorted(acknowledged)
        assert sorted(files_found(engine, "zebra")) == sorted(set(before_ids) - acknowledged)
        if not acknowledged:
            assert facts(engine, with_scores=False) == before
    # The numbers of the versions that died are given again: what stood under them must be gone by then.
    write(root, {path: f"# Third {path}\n\nA marmot on road number 3.\n" for path in many(10)})
    with open_at(tmp_path) as engine:
        engine.index("notes")
        engine.embed()
        assert (files_found(engine, "ibex"), files_found(engine, "zebra")) == ([], [])
        assert sorted(files_found(engine, "marmot")) == sorted(before_ids)
        assert ids(engine) == before_ids
        assert problems(engine) == []
        engine.cleanup(days=0)
        assert facts(engine, with_scores=False) == fresh_facts(tmp_path / "fresh", root, with_scores=False)
    held, live = entries(tmp_path)
    assert held == live


@pytest.mark.parametrize("commits", [1, 2, 3, 4])
def test_death_during_a_repair_changes_nothing(tmp_path, root, commits):
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        engine.embed()
        before = facts(engine)
    die("die-repairing", tmp_path, commits)
    with open_at(tmp_path) as engine:
        assert facts(engine) == before
        assert problems(engine) == []
        assert all(each.ok for each in engine.doctor(repair=True, deep=True))
        assert facts(engine) == before
    assert len(list((tmp_path / "index").glob("lexical-*"))) == 1


def test_a_word_index_from_before_is_brought_up_to_date_by_the_next_write(tmp_path, root):
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
    shutil.copytree(tmp_path / "index" / "lexical-1", tmp_path / "old words")
    with open_at(tmp_path) as engine:
        write(root, {"new.md": "# New\n\nA new zebra.\n", "part0/note000.md": "# Changed\n\nAn ibex.\n"})
        (root / "part1/note001.md").unlink()
        engine.index("notes")
        (root / "part1/note004.md").rename(root / "moved.md")
        engine.index("notes")
        engine.embed()
    shutil.rmtree(tmp_path / "index" / "lexical-1")
    shutil.copytree(tmp_path / "old words", tmp_path / "index" / "lexical-1")
    with open_at(tmp_path) as engine:
        answer = engine.search("zebra")
        assert "behind" in " ".join(answer.notes)
        assert [each.check for each in engine.doctor() if not each.ok] == ["words"]
        assert "notes/part1/note001.md" not in files_found(engine, "zebra")
        engine.add_context("A write that has nothing to do with it")
        assert problems(engine) == []
        engine.remove_context()
        assert engine.search("zebra").notes == ()
        assert files_found(engine, "ibex") == ["notes/part0/note000.md"]
        assert facts(engine, with_scores=False) == fresh_facts(tmp_path / "fresh", root, with_scores=False)
    held, live = entries(tmp_path)
    assert held == live


def test_a_list_of_deletions_that_a_dead_writer_left_is_in_nobodys_way(tmp_path, root):
    """tantivy names it by the number of its commit, which the next writer gives again."""
    words = tmp_path / "index" / "lexical-1"
    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        write(root, {"part0/note000.md": "# Second\n\nAn ibex.\n"})
        engine.index("notes")  # note000 is dead now, and leaves the word index with the next commit
    shutil.copytree(words, tmp_path / "before")
    index = LexicalIndex(words)
    with open_at(tmp_path) as engine, engine._store._readers.reading() as connection:
        dead = [row[0] for row in connection.execute("SELECT version FROM tombstones")]
    index.commit((), dead)
    left = {path.name: path.read_bytes() for path in words.glob("*.del")}
    assert left
    shutil.rmtree(words)
    shutil.copytree(tmp_path / "before", words)
    for name, data in left.items():
        (words / name).write_bytes(data)
    with open_at(tmp_path) as engine:
        engine.cleanup()
        assert problems(engine) == []
        assert files_found(engine, "ibex") == ["notes/part0/note000.md"]


def test_a_writer_that_fails_between_the_two_commits_leaves_no_trace_for_readers_of_the_same_process(
    tmp_path, root, monkeypatch
):
    real = LexicalIndex.commit

    def commit_and_fail(self, *arguments, **options):
        real(self, *arguments, **options)
        raise KeyboardInterrupt

    with open_at(tmp_path) as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        before = facts(engine)
        write(root, {"part0/note000.md": "# Changed\n\nAn ibex.\n"})
        with monkeypatch.context() as patch:
            patch.setattr(LexicalIndex, "commit", commit_and_fail)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    engine.index("notes")
                assert facts(engine) == before
        age(root / "part0/note000.md")
        engine.index("notes")
        assert files_found(engine, "ibex") == ["notes/part0/note000.md"]
        assert problems(engine) == []
    held, _ = entries(tmp_path)
    assert len(held) == len(set(held))
