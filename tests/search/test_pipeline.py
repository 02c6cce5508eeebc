"""From a query to an answer, on every store: what is found, how it is ranked, and what the answer says of itself."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.builders import add_collections, make_draft, put_texts
from dowse.errors import ModelError, ModelMismatchError, UsageError
from dowse.ports import Store
from dowse.search.pipeline import answer
from dowse.store.memory import MemoryStore
from dowse.store.sqlite import SqliteStore
from dowse.types import Collection, Context, Query, Snippet
from search.asking import (
    EMBEDDER,
    ENGLISH,
    IDENTITY,
    LIBRARY,
    MODES,
    ask,
    ask_view,
    embed_all,
    failing,
    files,
    models,
    places,
)

# What is found


def test_words_alone_find_without_asking_the_model(library: Store) -> None:
    with library.snapshot() as view:
        found = answer(view, Query("boiling water", mode="lex"), models(IDENTITY, failing))
    assert found.mode == "lex"
    assert places(found)[0] == ("notes/tea.md", 1)
    assert found.notes == ()


def test_any_of_the_words_is_enough_and_more_of_them_come_first(store: Store) -> None:
    put_texts(
        store,
        {
            "one.md": "alpha xx yy zz",
            "three.md": "alpha beta gamma zz",
            "two.md": "alpha beta yy zz",
            "none.md": "ww xx yy zz",
        },
    )
    assert files(ask(store, "alpha beta gamma", mode="lex")) == ["notes/three.md", "notes/two.md", "notes/one.md"]


def test_meaning_alone_ranks_by_vectors_and_knows_no_stems(library: Store) -> None:
    found = ask(library, "boiling water wants", mode="vec")
    assert found.mode == "vec"
    assert places(found)[0] == ("notes/tea.md", 1)
    assert [leg.name for leg in found.hits[0].explain.legs] == ["vec"]


@pytest.mark.parametrize("mode", ["hybrid", "auto"])
def test_both_together_are_the_default_and_weigh_both_lists(library: Store, mode: str) -> None:
    found = ask(library, "boiling water", mode=mode)
    assert found.mode == "hybrid"
    assert found.notes == ()
    assert places(found)[0] == ("notes/tea.md", 1)
    assert {leg.name for leg in found.hits[0].explain.legs} == {"lex", "vec"}


def test_a_hit_that_only_one_list_has_still_gets_the_value_of_the_other(store: Store) -> None:
    put_texts(store, {f"{number:03}.md": f"harbour lights {number}" for number in range(120)})
    put_texts(store, {"stem.md": "harbours far away from all the others, and what a harbouring one it was"})
    embed_all(store)
    found = ask(store, "harbour", mode="hybrid", limit=200)
    assert len(found.hits) == 121
    for hit in found.hits:
        assert {leg.name for leg in hit.explain.legs} == {"lex", "vec"}
        assert all(leg.raw > 0 or leg.name == "vec" for leg in hit.explain.legs)


def test_a_query_of_stop_words_alone_still_searches_for_them(store: Store) -> None:
    put_texts(store, {"band.md": "The Who played here.", "other.md": "Nobody played."})
    assert files(ask(store, "the who", mode="lex")) == ["notes/band.md"]


def test_the_same_question_gets_the_same_answer(library: Store) -> None:
    for mode in MODES:
        assert ask(library, "water", mode=mode) == ask(library, "water", mode=mode)


def test_nothing_matches_and_nothing_is_said_about_it(library: Store) -> None:
    assert ask(library, "zyzzyva", mode="lex").hits == ()


def test_an_empty_index_answers_with_nothing(empty_store: Store) -> None:
    assert ask(empty_store, "anything").hits == ()


def test_both_stores_answer_alike(tmp_path: Path) -> None:
    stores: list[Store] = [MemoryStore(), SqliteStore(tmp_path / "index")]
    for store in stores:
        add_collections(store, "notes")
        put_texts(store, LIBRARY)
        embed_all(store)
    for mode in MODES:
        for query in ("water", "hot stone in the oven", "soil worms spade", "evening"):
            naive, real = (ask(store, query, mode=mode, limit=20) for store in stores)
            assert places(naive) == places(real)
            assert [hit.score for hit in naive.hits] == pytest.approx([hit.score for hit in real.hits], abs=1e-4)
            assert [hit.snippet for hit in naive.hits] == [hit.snippet for hit in real.hits]
    for store in stores:
        store.close()


# What the answer says of itself


def test_without_vectors_words_answer_and_the_answer_says_so(store: Store) -> None:
    put_texts(store, LIBRARY)
    with store.snapshot() as view:
        words = answer(view, Query("boiling water", mode="lex"), models(IDENTITY, failing))
        for mode in ("hybrid", "auto"):
            found = answer(view, Query("boiling water", mode=mode), models(IDENTITY, failing))
            assert found.mode == "lex"
            assert found.hits == words.hits
            (note,) = found.notes
            assert "no vectors yet" in note
            assert "dowse embed" in note


def test_meaning_without_vectors_is_an_error_with_a_way_out(store: Store) -> None:
    with pytest.raises(ModelError) as refusal:
        ask(store, "water", mode="vec")
    assert "dowse embed" in refusal.value.hint


@pytest.mark.parametrize("mode", ["hybrid", "auto"])
def test_with_vectors_of_another_model_words_answer_and_both_models_are_named(library: Store, mode: str) -> None:
    found = ask(library, "water", mode=mode, identity=ENGLISH)
    assert found.mode == "lex"
    assert files(found) == files(ask(library, "water", mode="lex"))
    (note,) = found.notes
    assert IDENTITY.name in note
    assert ENGLISH.name in note
    assert "dowse embed --force" in note


def test_meaning_with_vectors_of_another_model_is_refused(library: Store) -> None:
    with pytest.raises(ModelMismatchError):
        ask(library, "water", mode="vec", identity=ENGLISH)


@pytest.mark.parametrize("mode", ["hybrid", "auto"])
def test_when_the_model_fails_words_answer_and_the_answer_says_why(library: Store, mode: str) -> None:
    with library.snapshot() as view:
        found = answer(view, Query("water", mode=mode), models(IDENTITY, failing))  # type: ignore[arg-type]
    assert found.mode == "lex"
    assert files(found) == files(ask(library, "water", mode="lex"))
    (note,) = found.notes
    assert "cannot read 'water'" in note
    assert "Mend it." in note


def test_when_the_model_fails_meaning_alone_fails_with_it(library: Store) -> None:
    with library.snapshot() as view, pytest.raises(ModelError) as failure:
        answer(view, Query("water", mode="vec"), models(IDENTITY, failing))
    assert failure.value.hint == "Mend it."


def test_a_model_for_english_is_not_asked_about_chinese(store: Store) -> None:
    put_texts(store, {"db.md": "数据库的备份", "en.md": "backup of databases"})
    embed_all(store, ENGLISH)
    with store.snapshot() as view:
        for mode in ("hybrid", "auto"):
            found = answer(view, Query("数据库备份 backup", mode=mode), models(ENGLISH, failing))
            assert found.mode == "lex"
            assert files(found)[0] == "notes/db.md"
            (note,) = found.notes
            assert "knows only English" in note
            assert ask_view(view, "backup of databases 库", mode=mode, identity=ENGLISH).mode == "hybrid"
        assert ask_view(view, "数据库", mode="vec", identity=ENGLISH).mode == "vec"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Резервная копия базы данных", "копия базы данных"),
        ("Αντίγραφο της βάσης δεδομένων", "βάση δεδομένων"),
        ("نسخة من قاعدة البيانات", "قاعدة البيانات"),
        ("גיבוי של מסד הנתונים", "מסד הנתונים"),
        ("डेटाबेस का बैकअप", "डेटाबेस backup"),
        ("การสำรองฐานข้อมูล", "ฐานข้อมูล"),
    ],
)
def test_a_model_for_english_is_not_asked_about_other_scripts(store: Store, text: str, query: str) -> None:
    put_texts(store, {"db.md": text, "en.md": "a copy of the database, 5 µm thick"})
    embed_all(store, ENGLISH)
    with store.snapshot() as view:
        found = answer(view, Query(query), models(ENGLISH, failing))
        assert found.mode == "lex"
        assert files(found)[0] == "notes/db.md"
        assert "knows only English" in found.notes[0]
        for latin in ("naïve café résumé", "is the database 5 µm thick", f"copy of the whole database {query[0]}"):
            assert ask_view(view, latin, identity=ENGLISH).mode == "hybrid"


def test_a_model_of_many_languages_is_asked_about_chinese(store: Store) -> None:
    put_texts(store, {"db.md": "数据库的备份"})
    embed_all(store)
    assert ask(store, "数据库").mode == "hybrid"


def test_what_the_store_says_of_itself_is_passed_on(library: Store) -> None:
    for text, mode in (("water", "lex"), ("water", "hybrid"), ("?", "lex")):
        with library.snapshot() as view:
            view.notes = ("The word index lags.",)
            assert ask_view(view, text, mode=mode).notes[0] == "The word index lags."


# What cannot be asked


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "options",
    [
        {"text": ""},
        {"text": " \n\t"},
        {"limit": 0},
        {"limit": -1},
        {"min_score": -0.1},
        {"min_score": 1.1},
        {"min_score": float("nan")},
        {"per_document": -1},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_with_a_hint(library: Store, mode: str, options: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refusal:
        ask(library, **({"text": "water", "mode": mode} | options))  # type: ignore[arg-type]
    assert refusal.value.hint


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["?", "--- *** …", "(){}[]", "'\"`", "\0", "\ud800", "。、"])
def test_punctuation_alone_finds_nothing_and_says_why(library: Store, mode: str, text: str) -> None:
    found = ask(library, text, mode=mode)
    assert found.hits == ()
    assert found.notes == ("The query has no words to search for.",)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("unit", ["water ", "x", "数据库", "w1 w2 w3 w4 w5 "], ids=["words", "letters", "han", "many"])
def test_a_query_of_a_hundred_thousand_characters_is_answered(library: Store, mode: str, unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    found = ask(library, text, mode=mode, identity=IDENTITY)
    assert len(found.hits) <= 10


anything = st.text(
    st.characters() | st.sampled_from("water tea-_'\"*?:/\\()[]#+.数据库ไทยé\u0301\0\ud800\n"), max_size=60
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=anything, mode=st.sampled_from(MODES), per_document=st.integers(0, 2))
def test_no_query_breaks_anything(library: Store, text: str, mode: str, per_document: int) -> None:
    if not text.strip():
        return
    found = ask(library, text, mode=mode, per_document=per_document)
    for hit in found.hits:
        assert hit.snippet.text
        assert 0 <= hit.score <= 1


# Scores


@pytest.mark.parametrize("mode", MODES)
def test_scores_lie_between_0_and_1_fall_with_the_rank_and_are_those_of_the_explanation(
    library: Store, mode: str
) -> None:
    found = ask(library, "hot water in the evening", mode=mode, limit=50)
    scores = [hit.score for hit in found.hits]
    assert len(scores) > 3
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == [hit.explain.score for hit in found.hits]


@pytest.mark.parametrize("mode", MODES)
def test_an_explanation_adds_up(library: Store, mode: str) -> None:
    found = ask(library, "hot water in the evening", mode=mode, limit=50)
    for hit in found.hits:
        legs = hit.explain.legs
        parts = (*legs, *hit.explain.features)
        assert hit.explain.fused == pytest.approx(sum(part.weight * part.value for part in parts))
        assert sum(leg.weight for leg in legs) == pytest.approx(1)
        assert all(0 <= leg.value <= 1 for leg in legs)
    for number in range(len(found.hits[0].explain.legs)):
        ranked = [hit.explain.legs[number] for hit in found.hits if hit.explain.legs[number].rank is not None]
        ranked.sort(key=lambda leg: leg.rank or 0)
        assert [leg.rank for leg in ranked] == list(range(1, len(ranked) + 1))
        assert [leg.raw for leg in ranked] == sorted((leg.raw for leg in ranked), reverse=True)


def test_a_hit_without_any_of_the_words_has_no_rank_among_them(library: Store) -> None:
    found = ask(library, "spade", mode="hybrid", limit=50)
    ranks = {hit.info.path: {leg.name: leg.rank for leg in hit.explain.legs} for hit in found.hits}
    assert ranks["garden/tools.md"]["lex"] == 1
    assert ranks["bread.md"]["lex"] is None
    assert ranks["bread.md"]["vec"] is not None


# Limits


def long_document(word: str, count: int) -> str:
    return "\n\n".join(f"{word} {word} {number}" for number in range(count))


def test_one_passage_per_document_fills_the_limit_though_one_document_dominates(store: Store) -> None:
    put_texts(store, {"long.md": long_document("harbour", 40)})
    put_texts(store, {f"{number}.md": f"a harbour {'and more ' * number}" for number in range(5)})
    embed_all(store)
    for mode in MODES:
        for limit in (1, 2, 3, 6, 7, 10**9):
            found = ask(store, "harbour", mode=mode, per_document=1, limit=limit)
            assert files(found)[0] == "notes/long.md"
            assert len(set(files(found))) == len(found.hits) == min(limit, 6)


def test_of_each_document_come_its_best_passages_in_the_order_of_all(store: Store) -> None:
    put_texts(store, {"long.md": long_document("harbour", 12), "short.md": "harbour"})
    everything = ask(store, "harbour 7", mode="lex", limit=50)
    for most in (1, 2, 5):
        expected: list[tuple[str, int]] = []
        for place in places(everything):
            if [file for file, _ in expected].count(place[0]) < most:
                expected.append(place)
        assert places(ask(store, "harbour 7", mode="lex", limit=50, per_document=most)) == expected


def test_copies_of_one_text_are_documents_of_their_own(store: Store) -> None:
    put_texts(store, {"a.md": "harbour", "b.md": "harbour", "c.md": "harbour"})
    assert files(ask(store, "harbour", mode="lex", per_document=1)) == ["notes/a.md", "notes/b.md", "notes/c.md"]


@pytest.mark.parametrize("mode", MODES)
def test_a_smaller_limit_gives_the_beginning_of_the_same_answer(library: Store, mode: str) -> None:
    everything = ask(library, "hot water", mode=mode, limit=1_000)
    assert 1 < len(everything.hits) < 1_000
    for limit in range(1, len(everything.hits)):
        assert ask(library, "hot water", mode=mode, limit=limit).hits == everything.hits[:limit]


@pytest.mark.parametrize("per_document", [0, 1])
def test_a_minimum_score_cuts_the_end_off_and_changes_nothing_else(store: Store, per_document: int) -> None:
    put_texts(store, {**LIBRARY, "long.md": long_document("water", 12)})
    embed_all(store)
    with store.snapshot() as view:
        for mode, limit in product(MODES, (3, 50)):
            options: dict[str, Any] = {"mode": mode, "limit": limit, "per_document": per_document}
            everything = ask_view(view, "hot water", **options).hits
            for least in {hit.score for hit in everything} | {0.0, 0.5, 1.0}:
                found = ask_view(view, "hot water", min_score=least, **options)
                assert found.hits == tuple(hit for hit in everything if hit.score >= least)


def test_a_minimum_score_is_no_reason_to_stop_before_all_good_documents_are_there(store: Store) -> None:
    put_texts(store, {"long.md": long_document("harbour", 40)})
    put_texts(store, {f"{number}.md": f"a harbour of {number}" for number in range(3)})
    everything = ask(store, "harbour", mode="lex", limit=4, per_document=1)
    least = everything.hits[-1].score
    assert files(ask(store, "harbour", mode="lex", limit=4, per_document=1, min_score=least)) == files(everything)


class CountingView:
    """A snapshot that counts how often words are searched for."""

    def __init__(self, view: object) -> None:
        self._view = view
        self.searches = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)

    def lexical(self, terms: object, k: int, *others: object) -> object:
        self.searches += k > 0
        return self._view.lexical(terms, k, *others)  # type: ignore[attr-defined]  # a snapshot's


def test_when_nothing_is_good_enough_the_search_does_not_go_deeper(store: Store) -> None:
    put_texts(store, {f"{number}.md": f"harbour and a lot of other words {number}" for number in range(60)})
    with store.snapshot() as view:
        counting = CountingView(view)
        found = ask_view(counting, "harbour unheard of", mode="lex", limit=2, per_document=1, min_score=1)  # type: ignore[arg-type]
    assert found.hits == ()
    assert counting.searches == 1


# Collections


@pytest.fixture
def shelves(store: Store) -> Store:
    """Two collections that are searched by default, and one that is not."""
    store.put_collection(Collection("archive", included=False))
    store.put([make_draft("a.md", f"harbour in {name}", collection=name) for name in ("notes", "work", "archive")])
    embed_all(store)
    return store


def test_without_a_name_the_included_collections_are_searched(shelves: Store) -> None:
    for mode in MODES:
        assert sorted(files(ask(shelves, "harbour", mode=mode))) == ["notes/a.md", "work/a.md"]


def test_collections_that_are_named_are_searched_whether_included_or_not(shelves: Store) -> None:
    for mode in MODES:
        assert files(ask(shelves, "harbour", mode=mode, collections=("work",))) == ["work/a.md"]
        assert files(ask(shelves, "harbour", mode=mode, collections=("archive",))) == ["archive/a.md"]
        both = ask(shelves, "harbour", mode=mode, collections=("archive", "notes"))
        assert sorted(files(both)) == ["archive/a.md", "notes/a.md"]


def test_when_no_collection_is_included_the_answer_says_so(empty_store: Store) -> None:
    empty_store.put_collection(Collection("archive", included=False))
    put_texts(empty_store, {"a.md": "harbour"}, collection="archive")
    found = ask(empty_store, "harbour")
    assert found.hits == ()
    assert found.notes == ("There is no collection that is searched without being named.",)
    assert files(ask(empty_store, "harbour", collections=("archive",))) == ["archive/a.md"]


def test_a_small_collection_is_found_behind_a_large_one(store: Store) -> None:
    store.put([make_draft(f"{number}.md", f"harbour harbour {number}", collection="work") for number in range(60)])
    put_texts(store, {"a.md": "a harbour in a much longer text about other things", "b.md": "harbours, in passing"})
    embed_all(store)
    for mode in MODES:
        found = ask(store, "harbour", mode=mode, limit=2, collections=("notes",))
        assert sorted(files(found)) == ["notes/a.md", "notes/b.md"]


# Contexts


def test_contexts_come_with_each_hit_the_general_ones_first(store: Store) -> None:
    put_texts(store, {"garden/soil.md": "worms", "gardening.md": "worms"})
    put_texts(store, {"soil.md": "worms"}, collection="work")
    for context in (
        Context("notes", "garden/soil.md", "About soil."),
        Context("notes", "garden", "The garden."),
        Context(None, "", "Everything."),
        Context("notes", "", "My notes."),
    ):
        store.put_context(context)
    contexts = {hit.info.file: hit.contexts for hit in ask(store, "worms", mode="lex").hits}
    assert contexts == {
        "notes/garden/soil.md": ("Everything.", "My notes.", "The garden.", "About soil."),
        "notes/gardening.md": ("Everything.", "My notes."),
        "work/soil.md": ("Everything.",),
    }


# Snippets


@pytest.mark.parametrize("mode", MODES)
def test_snippets_stand_in_the_document_where_they_say(library: Store, mode: str) -> None:
    found = ask(library, "hot water in the evening", mode=mode, limit=50)
    with library.snapshot() as view:
        for hit in found.hits:
            document = view.document(hit.info.id)
            assert document is not None
            shown = hit.snippet
            assert document.text[shown.start : shown.start + len(shown.text)] == shown.text
            assert document.text.split("\n")[shown.first_line - 1].startswith(shown.text.split("\n")[0])


def test_whoever_wants_no_snippets_gets_the_same_hits_without_them(library: Store) -> None:
    for mode in MODES:
        plain = ask(library, "hot water", mode=mode, snippets=False)
        assert places(plain) == places(ask(library, "hot water", mode=mode))
        for hit in plain.hits:
            assert hit.snippet == Snippet("", hit.chunk.first_line, hit.chunk.start)


def test_the_vector_of_a_query_is_made_of_all_of_its_text(library: Store) -> None:
    asked = []

    def embed_query(text: str) -> object:
        asked.append(text)
        return EMBEDDER.embed_query(text)

    with library.snapshot() as view:
        answer(view, Query("What is hot?", mode="hybrid"), models(IDENTITY, embed_query))  # type: ignore[arg-type]
    assert asked == ["What is hot?"]


def test_a_passage_without_a_vector_is_judged_by_its_words_alone_and_the_answer_says_so(store: Store) -> None:
    put_texts(store, {"old.md": "green tea wants water below eighty degrees", "other.md": "coffee wants boiling water"})
    embed_all(store)
    put_texts(store, {"new.md": "oolong tea wants water at ninety degrees"})
    mixed = ask(store, "oolong tea degrees", mode="hybrid")
    words = ask(store, "oolong tea degrees", mode="lex")
    assert mixed.hits[0].info.path == "new.md"
    assert [leg.name for leg in mixed.hits[0].explain.legs] == ["lex"]
    assert mixed.hits[0].score == pytest.approx(words.hits[0].score)
    assert any("no vector yet" in note for note in mixed.notes)
    embed_all(store)
    assert not any("no vector yet" in note for note in ask(store, "oolong tea degrees", mode="hybrid").notes)
