"""Evaluating what a store holds: which queries are made, what their figures say, and what changed since."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from contract.builders import add_collections, make_draft, put_texts
from dowse.errors import ModelError, NotFoundError, UsageError
from dowse.evaluate import Evaluation, Plan, evaluate
from dowse.evaluate.history import FILE
from dowse.evaluate.items import known_items
from dowse.ports import Store
from dowse.search.pipeline import answer
from dowse.store.sqlite import SqliteStore
from dowse.types import Answer, Chunk, Event, Query
from search.asking import IDENTITY, embed_all, failing, models

WORDS = "amber birch cedar delta ember flint grove heath inlet jetty"
GARDEN = {
    f"{name}.md": f"# The {name} of chapter {name}\n\nAll of the {name} valley know how {name} water is carried home."
    for name in WORDS.split()
}


@pytest.fixture
def garden(store: Store) -> Store:
    put_texts(store, GARDEN)
    embed_all(store)
    return store


@pytest.fixture
def plot(tmp_path: Path) -> Iterator[Store]:
    """The same in one store, for what happens behind it."""
    store = SqliteStore(tmp_path / "index")
    add_collections(store, "notes")
    put_texts(store, GARDEN)
    embed_all(store)
    yield store
    store.close()


def run(store: Store, folder: Path, plan: Plan | None = None, **settings: str) -> Evaluation:
    with store.snapshot() as view:
        search = partial(_ask, view, models())
        return evaluate(view, plan or Plan(), search, folder, settings, lambda _: None)


def _ask(view: object, asked: object, query: Query) -> Answer:
    return answer(view, query, asked)  # type: ignore[arg-type]


def made(store: Store, sample: int = 50) -> dict[str, list[str]]:
    with store.snapshot() as view:
        items = known_items(view, ["notes"], sample, lambda *_: None)
    return {kind: [item.text for item in items if item.kind == kind] for kind in ("heading", "sentence", "definition")}


class TestQueriesOfTheDocuments:
    def test_headings_and_sentences_are_asked_for_once_per_document(self, garden: Store) -> None:
        found = made(garden)
        assert len(found["heading"]) == len(found["sentence"]) == len(GARDEN)
        assert "The amber of chapter amber" in found["heading"]
        assert "All of the amber valley know how amber water is carried home." in found["sentence"]
        assert found["definition"] == []

    def test_the_same_documents_give_the_same_queries_and_few_new_ones_change_few(self, garden: Store) -> None:
        before = made(garden, 6)
        assert made(garden, 6) == before
        assert [len(texts) for texts in before.values()] == [6, 6, 0]
        put_texts(garden, {"new.md": "# The violet of chapter violet\n\nNobody in this valley has seen violet water."})
        assert len(set(made(garden, 6)["heading"]) & set(before["heading"])) >= 5

    def test_a_short_heading_is_asked_for_with_what_it_stands_below(self, store: Store) -> None:
        put_texts(store, {"a.md": "# Espresso\n\nshort", "b.md": "# Introduction to the harvest\n\nshort"})
        assert made(store)["heading"] == ["Introduction to the harvest"], "one word alone says too little"
        draft = make_draft("c.md", "# Coffee\n\ndrip")
        assert draft.content
        chunks = tuple(replace(chunk, headings=("Coffee", "Filter")) for chunk in draft.content.chunks)
        store.put([replace(draft, content=replace(draft.content, chunks=chunks))])
        assert set(made(store)["heading"]) == {"Introduction to the harvest", "Coffee Filter"}

    def test_definitions_in_code_are_asked_for_by_name(self, store: Store) -> None:
        draft = make_draft("pool.py", "def take(): ...")
        assert draft.content
        place = {"class_name": "ConnectionPool", "function_name": "take_next"}
        chunks = tuple(replace(chunk, place=place) for chunk in draft.content.chunks)
        store.put([replace(draft, content=replace(draft.content, chunks=chunks))])
        assert made(store) == {"heading": [], "sentence": [], "definition": ["ConnectionPool.take_next"]}

    def test_markup_is_no_part_of_a_sentence(self, store: Store) -> None:
        text = "The **amber** water of [the valley](http://x.org/a) is carried `home` by everybody every day."
        put_texts(store, {"a.md": text})
        assert made(store)["sentence"] == ["The amber water of the valley is carried home by everybody every day."]

    def test_chinese_sentences_are_sentences(self, store: Store) -> None:
        put_texts(store, {"zh.md": "数据库的备份非常重要。我们每天晚上都会备份一次所有的数据。"})
        assert made(store)["sentence"]

    def test_copies_answer_as_well_as_what_they_are_copies_of(self, garden: Store, tmp_path: Path) -> None:
        put_texts(garden, {f"copies/{path}": text for path, text in GARDEN.items()})
        assert run(garden, tmp_path).queries["heading"] == len(GARDEN)
        with garden.snapshot() as view:
            item = known_items(view, ["notes"], 1, lambda *_: None)[0]
        assert {name.removeprefix("notes/copies/").removeprefix("notes/") for name in item.grades} == {
            next(iter(item.grades)).split("/")[-1]
        }
        assert len(item.grades) == 2


class TestFigures:
    def test_every_mode_that_the_index_can_answer_is_measured(self, garden: Store, tmp_path: Path) -> None:
        found = run(garden, tmp_path)
        assert [mode.mode for mode in found.modes] == ["lex", "vec", "hybrid"]
        for mode in found.modes:
            assert mode.queries == len(mode.scores) == 2 * len(GARDEN)
            assert 0 < mode.p50_ms <= mode.p95_ms
            assert set(mode.by_kind) == {"heading", "sentence"}
            assert all(0 <= value <= 1 for value in mode.figures.values())
        assert found.modes[0].figures == {"recall@10": 1, "mrr@10": 1, "ndcg@10": 1}
        assert found.problems == ("No definitions to ask for were found.",)

    def test_without_vectors_words_are_measured_and_it_says_so(self, store: Store, tmp_path: Path) -> None:
        put_texts(store, GARDEN)
        found = run(store, tmp_path)
        assert [mode.mode for mode in found.modes] == ["lex"]
        assert any("dowse embed" in note for note in found.notes)

    def test_a_model_that_fails_costs_its_own_modes_alone(self, garden: Store, tmp_path: Path) -> None:
        with garden.snapshot() as view:
            search = partial(_ask, view, models(IDENTITY, failing))
            found = evaluate(view, Plan(), search, tmp_path, {}, lambda _: None)
            assert [mode.mode for mode in found.modes] == ["lex", "hybrid"]
            assert any("vec was not measured" in note for note in found.notes)
            assert any("answered by words alone" in note for note in found.notes)
            with pytest.raises(ModelError):
                evaluate(view, Plan(modes=("vec",)), search, tmp_path, {}, lambda _: None)

    def test_progress_is_told(self, garden: Store, tmp_path: Path) -> None:
        events: list[Event] = []
        with garden.snapshot() as view:
            evaluate(view, Plan(modes=("lex",)), partial(_ask, view, models()), tmp_path, {}, events.append)
        asked = [event for event in events if event.stage == "ask"]
        assert [event.done for event in asked] == list(range(1, 2 * len(GARDEN) + 1))
        assert {event.total for event in asked} == {2 * len(GARDEN)}

    def test_only_the_collections_that_are_asked_about_count(self, garden: Store, tmp_path: Path) -> None:
        garden.put([make_draft("w.md", "# The plan of the week\n\nshort", collection="work")])
        found = run(garden, tmp_path, Plan(collections=("work",), modes=("lex",)))
        assert found.queries == {"heading": 1}
        assert (found.state["documents"], found.state["collections"]) == ("1", "work")

    @pytest.mark.parametrize(
        ("texts", "says"), [({}, "no document"), ({"a.txt": "1 2 3\n\n- x\n\n4 5"}, "No query can be made")]
    )
    def test_nothing_to_ask_about_is_said(self, store: Store, tmp_path: Path, texts: dict[str, str], says: str) -> None:
        put_texts(store, texts)
        with pytest.raises(UsageError, match=says) as caught:
            run(store, tmp_path)
        assert "dowse" in caught.value.hint
        assert not (tmp_path / FILE).exists()


class TestJudgedQueries:
    def test_files_are_known_by_path_by_its_end_and_with_their_collection(self, garden: Store, tmp_path: Path) -> None:
        put_texts(garden, {"deep/down/gold.md": "gold in the river"})
        path = tmp_path / "q.yaml"
        path.write_text("amber water: amber.md\nbirch: notes/birch.md\nriver gold: {down/gold.md: 3}\n")
        found = run(garden, tmp_path, Plan(judged=path, modes=("lex",)))
        assert found.queries == {"judged": 3}
        assert found.problems == ()
        assert found.modes[0].figures["ndcg@10"] == pytest.approx(1)
        assert found.name == str(path.resolve())

    def test_what_is_not_indexed_or_not_clear_is_counted(self, garden: Store, tmp_path: Path) -> None:
        put_texts(garden, {"a/same.md": "one", "b/same.md": "two"})
        path = tmp_path / "q.yaml"
        path.write_text("amber: [amber.md, lost.md]\nbirch: same.md\nno: {amber.md: 0, birch.md: 0}\n")
        found = run(garden, tmp_path, Plan(judged=path, modes=("lex",)))
        assert found.queries == {"judged": 1}
        assert found.problems == (
            "1 of 2 queries were not asked: none of their files can be used.",
            "lost.md is not indexed.",
            "same.md names 2 documents: write collection/path.",
        )

    def test_none_of_the_files_being_there_is_an_error(self, garden: Store, tmp_path: Path) -> None:
        path = tmp_path / "q.yaml"
        path.write_text("".join(f"q{number}: lost{number}.md\n" for number in range(30)))
        with pytest.raises(NotFoundError, match=r"lost0\.md is not indexed") as caught:
            run(garden, tmp_path, Plan(judged=path))
        assert "dowse ls" in caught.value.hint

    def test_their_syntax_means_what_it_means_in_a_search(self, garden: Store, tmp_path: Path) -> None:
        path = tmp_path / "q.yaml"
        path.write_text("valley -birch path:amber*: amber.md\n")
        assert run(garden, tmp_path, Plan(judged=path, modes=("lex",))).modes[0].figures["mrr@10"] == 1


class TestComparison:
    def test_the_first_run_has_nothing_to_compare_with(self, plot: Store, tmp_path: Path) -> None:
        assert run(plot, tmp_path).compared is None

    def test_the_same_again_is_the_same(self, plot: Store, tmp_path: Path) -> None:
        run(plot, tmp_path)
        compared = run(plot, tmp_path).compared
        assert compared
        assert compared.common == 2 * len(GARDEN)
        assert {each.verdict for each in compared.differences} == {"same"}
        assert len(compared.differences) == 9
        assert not [change for change in compared.changes if not change.startswith("p50")]

    def test_what_changed_is_named(self, plot: Store, tmp_path: Path) -> None:
        run(plot, tmp_path, dowse="1.0")
        put_texts(plot, {"new.md": "# A letter about silver\n\nshort"})
        compared = run(plot, tmp_path, Plan(rerank=False), dowse="2.0").compared
        assert compared
        for change in ("dowse: 1.0 -> 2.0", "documents: 10 -> 11", "queries: 20 -> 21"):
            assert change in compared.changes

    def test_worse_answers_are_worse_beyond_chance_and_better_ones_better(self, plot: Store, tmp_path: Path) -> None:
        plan = Plan(modes=("lex",))
        run(plot, tmp_path, plan)
        with plot.snapshot() as view:

            def nothing(query: Query) -> Answer:
                return replace(answer(view, query, models()), hits=())

            bad = evaluate(view, plan, nothing, tmp_path, {}, lambda _: None)
        assert [(each.mode, each.metric) for each in bad.worse] == [
            ("lex", "recall@10"),
            ("lex", "mrr@10"),
            ("lex", "ndcg@10"),
        ]
        good = run(plot, tmp_path, plan)
        assert good.compared
        assert {each.verdict for each in good.compared.differences} == {"better"}
        assert good.worse == ()

    @pytest.mark.parametrize(("lost", "is_worse"), [(1, False), (2, False), (8, True)])
    def test_a_query_or_two_are_chance(self, plot: Store, tmp_path: Path, lost: int, is_worse: bool) -> None:
        plan = Plan(modes=("lex",))
        first = run(plot, tmp_path, plan)
        asked: list[str] = []
        with plot.snapshot() as view:

            def losing(query: Query) -> Answer:
                found = answer(view, query, models())
                asked.append(query.text)
                return replace(found, hits=()) if 1 < len(asked) <= lost + 1 else found  # the first one warms up

            found = evaluate(view, plan, losing, tmp_path, {}, lambda _: None)
        assert bool(found.worse) is is_worse
        assert first.modes[0].scores.keys() == found.modes[0].scores.keys()

    def test_runs_of_different_queries_are_not_compared(self, plot: Store, tmp_path: Path) -> None:
        run(plot, tmp_path)
        path = tmp_path / "q.yaml"
        path.write_text("amber: amber.md\n")
        plan = Plan(judged=path)
        assert run(plot, tmp_path, plan).compared is None
        compared = run(plot, tmp_path, plan).compared
        assert compared
        assert compared.differences == (), "one query says nothing"
        assert run(plot, tmp_path).compared

    def test_a_run_need_not_be_remembered(self, plot: Store, tmp_path: Path) -> None:
        run(plot, tmp_path, Plan(remember=False))
        assert not (tmp_path / FILE).exists()

    @pytest.mark.parametrize("damage", ["", "nonsense", "[1]", "{}", '[{"name": "known items"}]', "[" * 100_000])
    def test_a_damaged_history_is_told_of_and_starts_anew(self, plot: Store, tmp_path: Path, damage: str) -> None:
        (tmp_path / FILE).write_text(damage)
        found = run(plot, tmp_path, Plan(modes=("lex",)))
        assert found.compared is None
        assert any("damaged" in note for note in found.notes)
        assert run(plot, tmp_path, Plan(modes=("lex",))).compared

    def test_a_folder_that_cannot_be_written_to_costs_the_memory_alone(self, plot: Store, tmp_path: Path) -> None:
        found = run(plot, tmp_path / "not" / "there", Plan(modes=("lex",)))
        assert found.modes
        assert any("could not be remembered" in note for note in found.notes)

    def test_the_history_keeps_every_run_but_the_queries_of_the_last_alone(self, plot: Store, tmp_path: Path) -> None:
        for _ in range(3):
            run(plot, tmp_path, Plan(modes=("lex",)))
        runs = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
        assert [len(each["modes"]["lex"]["scores"]) for each in runs] == [0, 0, 2 * len(GARDEN)]
        assert {each["modes"]["lex"]["figures"]["mrr@10"] for each in runs} == {1.0}


def test_a_place_that_is_no_definition_is_none() -> None:
    from dowse.evaluate.items import _definition

    assert _definition(Chunk("x", 0, 1, 1, 1, 1, place={"sheet": "Costs"})) == ""
