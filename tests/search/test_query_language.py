"""What the query language does to answers, on both stores."""

from collections.abc import Sequence

import pytest

from contract.builders import make_draft, put_texts
from dowse.errors import ModelError, UsageError
from dowse.ports import Store
from dowse.search.pipeline import Models, answer
from dowse.types import Answer, Compare, Query
from search.asking import EMBEDDER, IDENTITY, ask, embed_all, files, places

NOTES = {
    "pool.md": "# Databases\n\nA connection pool keeps connections open for redis and others.",
    "swim.md": "# Sport\n\nThe pool is open; a connection by bus leaves hourly.",
    "cache.md": "# Caching\n\nConfiguration of the redis cache is in one file.",
    "split.md": "The end of one passage says good\n\nmorning to the next one.",
}


@pytest.fixture
def notes(store: Store) -> Store:
    put_texts(store, NOTES)
    embed_all(store)
    return store


class TestPhrases:
    @pytest.mark.parametrize("mode", ["lex", "hybrid"])
    def test_a_phrase_must_stand_there_in_this_order(self, notes: Store, mode: str) -> None:
        assert set(files(ask(notes, '"connection pool"', mode=mode))) == {"notes/pool.md"}
        assert files(ask(notes, '"pool connection"', mode=mode)) == []
        assert set(files(ask(notes, "connection pool", mode=mode))) >= {"notes/pool.md", "notes/swim.md"}

    def test_case_accents_and_punctuation_do_not_count(self, notes: Store) -> None:
        put_texts(notes, {"cafe.md": "We met at the Café, Paris: it rained."})
        assert set(files(ask(notes, '"cafe PARIS it"', mode="lex"))) == {"notes/cafe.md"}

    def test_a_phrase_is_whole_words(self, notes: Store) -> None:
        assert files(ask(notes, '"connection poo"', mode="lex")) == []

    def test_languages_named_by_signs_are_told_apart(self, notes: Store) -> None:
        put_texts(notes, {"cpp.md": "We write C++ templates.", "cs.md": "We write C# templates, in C, templates."})
        assert set(files(ask(notes, '"c++ templates"', mode="lex"))) == {"notes/cpp.md"}
        assert set(files(ask(notes, '"C# templates"', mode="lex"))) == {"notes/cs.md"}
        assert set(files(ask(notes, 'templates -"c++"', mode="lex"))) == {"notes/cs.md"}

    def test_a_phrase_of_a_script_without_spaces_is_found_inside_of_a_run(self, notes: Store) -> None:
        put_texts(notes, {"zh.md": "我们的数据库备份很重要", "other.md": "备份数据在库里"})
        assert set(files(ask(notes, '"数据库备份"', mode="lex"))) == {"notes/zh.md"}

    def test_a_phrase_may_begin_in_one_passage_and_end_in_the_next(self, notes: Store) -> None:
        assert ("notes/split.md", 0) in places(ask(notes, '"good morning"', mode="lex"))

    def test_a_phrase_among_words_is_required_and_the_words_are_not(self, notes: Store) -> None:
        assert set(files(ask(notes, '"connection pool" elephants', mode="lex"))) == {"notes/pool.md"}


class TestExclusions:
    @pytest.mark.parametrize("mode", ["lex", "hybrid"])
    def test_what_is_excluded_is_not_there(self, notes: Store, mode: str) -> None:
        assert "notes/swim.md" in files(ask(notes, "pool", mode=mode))
        found = files(ask(notes, "pool -bus", mode=mode))
        assert "notes/pool.md" in found
        assert "notes/swim.md" not in found

    def test_forms_of_an_excluded_word_are_excluded_too(self, notes: Store) -> None:
        assert "notes/pool.md" not in files(ask(notes, "pool -database", mode="lex"))

    def test_an_excluded_phrase_leaves_its_words_alone(self, notes: Store) -> None:
        found = files(ask(notes, 'pool -"connection pool"', mode="lex"))
        assert "notes/swim.md" in found
        assert "notes/pool.md" not in found

    def test_enough_is_found_though_much_is_excluded(self, store: Store) -> None:
        put_texts(store, {f"{number}.md": "alpha alpha alpha beta" for number in range(60)})
        put_texts(store, {"good.md": "alpha gamma delta epsilon zeta eta theta"})
        assert files(ask(store, "alpha -beta", mode="lex", limit=5)) == ["notes/good.md"]


class TestBeginnings:
    def test_a_star_finds_what_starts_so(self, notes: Store) -> None:
        assert "notes/cache.md" in files(ask(notes, "confi*", mode="lex"))

    def test_more_than_the_stem_may_be_typed(self, notes: Store) -> None:
        assert "notes/cache.md" in files(ask(notes, "configurat*", mode="lex"))

    def test_an_unknown_word_is_taken_as_a_beginning(self, notes: Store) -> None:
        assert "notes/cache.md" in files(ask(notes, "confi", mode="lex"))

    def test_the_word_itself_ranks_before_longer_ones(self, store: Store) -> None:
        put_texts(
            store, {"long.md": "auth authentication authentication", "other.md": "authentication", "own.md": "auth"}
        )
        found = files(ask(store, "auth*", mode="lex"))
        assert found.index("notes/own.md") < found.index("notes/other.md")

    def test_the_words_found_are_highlighted(self, notes: Store) -> None:
        hit = next(hit for hit in ask(notes, "confi*", mode="lex").hits if hit.info.path == "cache.md")
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["Configuration"]


class TestSigns:
    @pytest.mark.parametrize("query", ["=>", "what does => mean", "👍", "-> 👍"])
    def test_operators_and_emoji_are_found_and_highlighted(self, notes: Store, query: str) -> None:
        put_texts(notes, {"signs.md": "An arrow `=>` makes a function.\n\n👍 agrees; the result is `->` that."})
        found = ask(notes, query, mode="lex")
        assert found.hits[0].info.path == "signs.md"
        snippet = found.hits[0].snippet
        shown = {snippet.text[start:end] for start, end in snippet.highlights}
        assert {sign for sign in query.split() if sign in snippet.text and not sign.isalpha()} <= shown

    def test_thai_is_highlighted_as_it_is_typed(self, notes: Store) -> None:
        put_texts(notes, {"th.md": "ดื่มน้ำสะอาดทุกวัน"})
        (hit,) = ask(notes, "น้ำ", mode="lex").hits
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["น้ำ"]


class TestConditions:
    def test_conditions_in_the_query_choose_documents(self, notes: Store) -> None:
        notes.put([make_draft("tagged.md", "redis and more", metadata={"tags": ["work"], "date": "2024-05-02"})])
        assert set(files(ask(notes, "redis tag:work", mode="lex"))) == {"notes/tagged.md"}
        assert set(files(ask(notes, "redis path:cache*", mode="lex"))) == {"notes/cache.md"}
        assert set(files(ask(notes, "redis -path:cache*", mode="lex"))) == {"notes/pool.md", "notes/tagged.md"}
        assert set(files(ask(notes, "redis after:2024-05 before:2024-06", mode="lex"))) == {"notes/tagged.md"}

    def test_a_filter_of_a_program_and_one_in_the_query_hold_together(self, notes: Store) -> None:
        found = ask(notes, "redis path:cache*", mode="lex", filter=Compare("title", "contains", "nothing"))
        assert found.hits == ()

    def test_conditions_alone_list_what_meets_them(self, notes: Store) -> None:
        found = ask(notes, "path:cache*")
        assert files(found) == ["notes/cache.md"]
        assert any("conditions alone" in note for note in found.notes)

    def test_what_looks_like_a_condition_but_is_none_is_searched_as_words(self, notes: Store) -> None:
        put_texts(notes, {"code.md": "use std::vec and foo:bar"})
        assert "notes/code.md" in files(ask(notes, "std::vec", mode="lex"))
        assert "notes/code.md" in files(ask(notes, "foo:bar", mode="lex"))


class TestTypedSearches:
    def test_a_query_document_searches_by_words_and_by_meaning(self, notes: Store) -> None:
        found = ask(notes, "lex: redis\nvec: a bus to the pool")
        assert found.mode == "hybrid"
        assert {"notes/swim.md", "notes/cache.md"} <= set(files(found))

    def test_only_words_or_only_meaning_is_what_the_answer_says(self, notes: Store) -> None:
        assert ask(notes, "lex: redis").mode == "lex"
        assert ask(notes, "vec: redis").mode == "vec"
        assert ask(notes, "hyde: redis is a cache").mode == "vec"

    def test_the_same_from_a_program(self, notes: Store) -> None:
        typed = ask(notes, "", searches=(("lex", "redis"), ("vec", "a bus to the pool")))
        assert places(typed) == places(ask(notes, "lex: redis\nvec: a bus to the pool"))

    def test_the_first_search_counts_most(self, store: Store) -> None:
        put_texts(store, {"a.md": "alpha filler", "b.md": "beta filler"})
        assert files(ask(store, "lex: alpha\nlex: beta"))[0] == "notes/a.md"
        assert files(ask(store, "lex: beta\nlex: alpha"))[0] == "notes/b.md"

    def test_several_meanings_alone_count_by_the_best_of_them(self, notes: Store) -> None:
        one = ask(notes, "vec: redis cache configuration")
        two = ask(notes, "vec: redis cache configuration\nvec: swimming")
        best = {hit.info.file: hit.score for hit in one.hits}
        assert {hit.info.file: hit.score for hit in two.hits}["notes/cache.md"] >= best["notes/cache.md"] - 1e-6

    def test_too_many_searches_are_refused(self, notes: Store) -> None:
        with pytest.raises(UsageError):
            ask(notes, "", searches=(("lex", "x"),) * 11)


class Grader:
    """Finds a passage the better, the more often it says a word."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[Sequence[str]] = []

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        self.read.append(passages)
        return [min(passage.lower().count(self.word) / 3, 1.0) for passage in passages]

    def close(self) -> None: ...


class Broken:
    """Cannot be asked."""

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        raise ModelError("The service is away.", hint="Start it.")

    def expand(self, query: str, intent: str = "") -> Sequence[tuple[str, str]]:
        raise ModelError("The service is away.", hint="Start it.")

    def close(self) -> None: ...


class Thinker:
    """Thinks of buses."""

    def expand(self, query: str, intent: str = "") -> Sequence[tuple[str, str]]:
        return [("lex", "bus hourly"), ("vec", "a bus to the pool")]

    def close(self) -> None: ...


def asked(store: Store, query: Query, **parts: object) -> Answer:
    made = {name: (lambda part=part: part) for name, part in parts.items()}
    with store.snapshot() as view:
        return answer(view, query, Models(lambda: IDENTITY, lambda: EMBEDDER, **made))  # type: ignore[arg-type]


class TestSecondOpinions:
    def test_a_reranker_reorders_and_its_part_of_the_score_is_explained(self, notes: Store) -> None:
        grader = Grader("bus")
        found = asked(notes, Query("pool", mode="lex", rerank=True, limit=3), reranker=grader)
        assert len(grader.read) == 1
        for hit in found.hits:
            assert hit.explain.reranked is not None
            assert hit.score == hit.explain.score
        plain = ask(notes, "pool", mode="lex", limit=3)
        assert plain.hits[0].explain.reranked is None

    def test_without_one_the_answer_says_so(self, notes: Store) -> None:
        found = asked(notes, Query("pool", mode="lex", rerank=True))
        assert found.hits
        assert any("No reranker" in note for note in found.notes)

    def test_one_that_fails_leaves_the_ranking_as_it_was(self, notes: Store) -> None:
        found = asked(notes, Query("pool", mode="lex", rerank=True), reranker=Broken())
        assert places(found) == places(ask(notes, "pool", mode="lex"))
        assert any("away. Start it." in note for note in found.notes)

    def test_an_expander_adds_searches(self, notes: Store) -> None:
        assert "notes/swim.md" not in files(ask(notes, "redis", mode="lex"))
        found = asked(notes, Query("redis", mode="lex", expand=True), expander=Thinker())
        assert {"notes/pool.md", "notes/cache.md", "notes/swim.md"} <= set(files(found))
        assert found.mode == "lex"

    def test_an_expander_that_fails_or_is_missing_is_told_of(self, notes: Store) -> None:
        for parts, said in (({"expander": Broken()}, "away. Start it."), ({}, "No expander")):
            found = asked(notes, Query("redis", mode="lex", expand=True), **parts)
            assert places(found) == places(ask(notes, "redis", mode="lex"))
            assert any(said in note for note in found.notes)
