"""The second opinion, blended with reciprocal ranks as the qmd specification has it."""

from collections.abc import Sequence

import pytest

from contract.builders import put_texts
from dowse.errors import ModelError
from dowse.ports import Reranker, Store
from dowse.search.pipeline import Models, answer
from dowse.types import Answer, Query
from search.asking import EMBEDDER, IDENTITY, embed_all, files

TRUST = {1: 0.75, 3: 0.75, 4: 0.6, 10: 0.6, 11: 0.4, 30: 0.4}


class Judge:
    """Says the same of every passage, but for one."""

    def __init__(self, favourite: str = "") -> None:
        self.favourite = favourite
        self.read: list[str] = []

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        self.read = list(passages)
        return [1.0 if self.favourite and self.favourite in passage else 0.0 for passage in passages]

    def close(self) -> None: ...


class Away:
    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        raise ModelError("The service is away.", hint="Start it.")

    def close(self) -> None: ...


@pytest.fixture
def notes(store: Store) -> Store:
    put_texts(store, {f"{number:02}.md": "harbour " * (41 - number) + f"number{number}" for number in range(1, 41)})
    embed_all(store)
    return store


def ask(store: Store, query: Query, judge: Reranker) -> Answer:
    with store.snapshot() as view:
        return answer(view, query, Models(lambda: IDENTITY, lambda: EMBEDDER, reranker=lambda: judge))


def test_ranks_of_the_lists_count_as_reciprocals_relative_to_the_first(notes: Store) -> None:
    found = ask(notes, Query("harbour", mode="lex", rerank=True, fusion="ranks", limit=40), Judge())
    read = [hit for hit in found.hits if hit.explain.reranked is not None]
    assert len(read) == 30
    by_rank = {hit.explain.legs[0].rank: hit for hit in read}
    for rank, trust in TRUST.items():
        assert by_rank[rank].score == pytest.approx(trust * (60 + 1) / (60 + rank))


def test_the_reranker_has_the_rest_of_the_score(notes: Store) -> None:
    found = ask(notes, Query("harbour", mode="lex", rerank=True, fusion="ranks", limit=40), Judge("number12"))
    hit = next(hit for hit in found.hits if "number12" in hit.chunk.text)
    rank = hit.explain.legs[0].rank
    assert rank is not None
    assert hit.score == pytest.approx(0.4 * 61 / (60 + rank) + 0.6)
    assert files(found).index(hit.info.file) < rank - 1


def test_both_legs_and_every_search_give_ranks_the_first_double(notes: Store) -> None:
    searches = (("lex", "number7"), ("lex", "harbour"))
    query = Query("", searches=searches, rerank=True, fusion="ranks", limit=40)  # type: ignore[arg-type]
    first, second, *_ = ask(notes, query, Judge()).hits
    assert "number7 " in first.chunk.text + " "
    # 2 / 61 for its own list and 1 / (60 + rank) in the other; the second has 1 / 61 alone.
    assert second.score < first.score == pytest.approx(0.75)
    both = ask(notes, Query("harbour number7", rerank=True, fusion="ranks", limit=40), Judge())
    assert both.mode == "hybrid"
    assert both.hits[0].score == pytest.approx(0.75)


def test_as_many_candidates_are_read_as_asked_for_and_the_others_follow(notes: Store) -> None:
    judge = Judge()
    found = ask(notes, Query("harbour", mode="lex", rerank=True, fusion="ranks", candidates=5, limit=8), judge)
    assert len(judge.read) == 5
    assert [hit.explain.reranked is not None for hit in found.hits] == [True] * 5 + [False] * 3


def test_when_the_reranker_is_away_the_own_ranking_stands(notes: Store) -> None:
    found = ask(notes, Query("harbour", mode="lex", rerank=True, fusion="ranks"), Away())
    plain = ask(notes, Query("harbour", mode="lex"), Away())
    assert [(hit.info.file, hit.score) for hit in found.hits] == [(hit.info.file, hit.score) for hit in plain.hits]
    assert any("without reranking" in note for note in found.notes)


def test_without_a_limit_per_document_nothing_is_read_twice(store: Store) -> None:
    put_texts(store, {"one.md": "harbour one\n\nharbour two\n\nharbour three", "other.md": "harbour four"})
    judge = Judge()
    ask(store, Query("harbour", mode="lex", rerank=True, fusion="ranks", per_document=1), judge)
    assert len(judge.read) == 2
