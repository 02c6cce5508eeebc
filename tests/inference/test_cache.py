"""What models said before: kept by content, bounded, shared by processes, and never in the way."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import ModelError
from dowse.inference.cache import FILE, OLDEST, Cache, key_of
from dowse.inference.cached import CachedExpander, CachedQueries, CachedReranker
from dowse.inference.hashed import HashedEmbedder


class CountingReranker:
    """Scores by length, and counts what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_broken = False

    def rerank(self, query, passages):
        if self.is_broken:
            raise ModelError("broken")
        self.asked += passages
        return [len(passage) / 100 for passage in passages]

    def close(self) -> None:
        self.is_broken = True


class CountingExpander:
    name = "counting"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def expand(self, query, intent=""):
        self.asked.append((query, intent))
        return [("lex", f"{query} words"), ("vec", "ünïcode?")]

    def close(self) -> None:
        self.asked.clear()


class CountingEmbedder(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text):
        self.asked.append(text)
        return super().embed_query(text)


def numbered(number: int) -> dict[bytes, bytes]:
    return {key_of("n", str(number)): bytes(2000)}


def test_facts_and_results_are_there_for_the_next_process(tmp_path):
    with closing(Cache(tmp_path)) as cache:
        cache.remember("dims", {"of": [1, 2]})
        cache.put({b"k": b"v"})
    program = (
        f"from pathlib import Path; from dowse.inference.cache import Cache; c = Cache(Path({str(tmp_path)!r}));"
        "print(c.fact('dims'), c.results([b'k', b'other'])); c.close()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "{'of': [1, 2]} {b'k': b'v'}"


def test_it_stays_below_its_size_and_forgets_the_oldest_first(tmp_path):
    now = [0.0]
    with closing(Cache(tmp_path, most_bytes=400_000, now=lambda: now[0])) as cache:
        cache.remember("fact", 1)
        for number in range(1000):
            now[0] += 1
            cache.put(numbered(number))

        assert cache.results(list(numbered(999)))
        assert not cache.results(list(numbered(0)))
        assert cache.fact("fact") == 1
    assert (tmp_path / FILE).stat().st_size < 1_000_000


def test_a_result_that_is_too_old_is_not_there(tmp_path):
    now = [0.0]
    with closing(Cache(tmp_path, now=lambda: now[0])) as cache:
        cache.put({b"k": b"v"})
        now[0] += OLDEST + 1
        assert cache.results([b"k"]) == {}


def test_a_damaged_file_is_replaced(tmp_path):
    (tmp_path / FILE).write_bytes(b"this is no database" * 1000)
    with closing(Cache(tmp_path)) as cache:
        cache.put({b"lost": b"v"})
        cache.put({b"k": b"v"})
        assert cache.results([b"k"]) == {b"k": b"v"}


def test_a_file_whose_tables_have_lost_their_names_is_replaced(tmp_path):
    with closing(Cache(tmp_path)) as cache:
        cache.put({b"k": b"old"})
    whole = (tmp_path / FILE).read_bytes()
    damaged = whole.replace(b"CREATE TABLE results", b"CREATE TABLX results").replace(b"results", b"\xff" * 7)
    assert damaged != whole
    (tmp_path / FILE).write_bytes(damaged)
    with closing(Cache(tmp_path)) as cache:
        cache.put({b"lost": b"v"})
        cache.put({b"k": b"new"})
        assert cache.results([b"k"]) == {b"k": b"new"}


def test_a_folder_that_takes_no_files_costs_only_the_saving(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with closing(Cache(tmp_path / "file")) as cache:
        cache.put({b"k": b"v"})
        cache.remember("fact", 1)
        assert cache.results([b"k"]) == {}
        assert cache.fact("fact") is None


def test_a_writer_that_holds_the_file_costs_only_the_saving(tmp_path):
    with closing(Cache(tmp_path)) as cache:
        cache.put({b"k": b"v"})
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            cache.put({b"later": b"v"})
            assert cache.results([b"k", b"later"]) == {b"k": b"v"}
            other.execute("ROLLBACK")
        cache.put({b"later": b"v"})
        assert len(cache.results([b"k", b"later"])) == 2


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_keys_are_equal_only_for_equal_texts(first, second):
    assert (key_of(*first) == key_of(*second)) == (first == second)


def test_passages_are_scored_once_with_the_same_question(tmp_path):
    inner = CountingReranker()
    with closing(CachedReranker(inner, Cache(tmp_path))) as reranker:
        first = reranker.rerank("tea", ["a", "bb", "a"])
        second = reranker.rerank("tea", ["ccc", "bb"])
        assert reranker.rerank("tea", []) == []

        assert (first, second) == ([0.01, 0.02, 0.01], [0.03, 0.02])
        assert inner.asked == ["a", "bb", "ccc"]
        reranker.rerank("water", ["bb"])
        assert inner.asked[-1] == "bb"


def test_what_is_known_is_answered_while_the_model_is_broken(tmp_path):
    inner = CountingReranker()
    with closing(CachedReranker(inner, Cache(tmp_path))) as reranker:
        reranker.rerank("tea", ["a"])
        inner.is_broken = True

        assert reranker.rerank("tea", ["a"]) == [0.01]
        with pytest.raises(ModelError):
            reranker.rerank("tea", ["a", "bb"])
        inner.is_broken = False
        assert reranker.rerank("tea", ["a", "bb"]) == [0.01, 0.02]


def test_a_question_is_expanded_once_per_intent(tmp_path):
    inner = CountingExpander()
    with closing(CachedExpander(inner, Cache(tmp_path))) as expander:
        first = expander.expand("tea")
        assert expander.expand("tea") == first == [("lex", "tea words"), ("vec", "ünïcode?")]
        expander.expand("tea", "cooking")
        assert inner.asked == [("tea", ""), ("tea", "cooking")]


def test_the_vector_of_a_question_is_asked_for_once(tmp_path):
    inner = CountingEmbedder()
    with closing(CachedQueries(inner, Cache(tmp_path))) as embedder:
        first = embedder.embed_query("tea")
        np.testing.assert_array_equal(embedder.embed_query("tea"), first)
        assert embedder.embed_query("tea").flags.writeable
        assert inner.asked == ["tea"]
        assert embedder.embed_passages(["tea", "water"]).shape == (2, 256)
