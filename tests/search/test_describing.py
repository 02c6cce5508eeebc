"""Users' descriptions of places as evidence of searches by words, on every store."""

import pytest

from contract.builders import put_texts
from dowse.ports import Store
from dowse.types import Compare, Context
from search.asking import IDENTITY, ask, embed_all, files

TEXTS = {
    "alpha/plan.md": "The deadline is in May.",
    "beta/plan.md": "The deadline is in May.",
    "beta/extra.md": "Nothing to see.",
    "gamma/payroll.md": "Payroll runs monthly.",
    "gammaray/note.md": "A deadline for telescopes.",
}


@pytest.fixture
def shelf(store: Store) -> Store:
    put_texts(store, TEXTS)
    put_texts(store, {"plan.md": "The deadline is in June."}, collection="work")
    embed_all(store)
    return store


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_a_word_that_stands_in_the_description_lifts_what_lies_there(shelf: Store, mode: str) -> None:
    before = {hit.info.file: hit.score for hit in ask(shelf, "deadline of the payroll", mode=mode).hits}
    assert before["notes/beta/plan.md"] == pytest.approx(before["notes/alpha/plan.md"])
    shelf.put_context(Context("notes", "beta", "The payroll project"))
    after = {hit.info.file: hit.score for hit in ask(shelf, "deadline of the payroll", mode=mode).hits}
    assert after["notes/beta/plan.md"] > after["notes/alpha/plan.md"]
    assert after["notes/alpha/plan.md"] == pytest.approx(before["notes/alpha/plan.md"])


def test_a_passage_with_the_word_stays_before_one_whose_place_is_described_with_it(shelf: Store) -> None:
    shelf.put_context(Context("notes", "beta", "The payroll project"))
    assert files(ask(shelf, "payroll", mode="lex"))[0] == "notes/gamma/payroll.md"


def test_a_place_is_found_by_its_description_alone_and_forgotten_with_it(shelf: Store) -> None:
    assert not ask(shelf, "zebras", mode="lex").hits
    shelf.put_context(Context("notes", "beta", "All about zebras"))
    found = ask(shelf, "zebras", mode="lex")
    assert sorted(files(found)) == ["notes/beta/extra.md", "notes/beta/plan.md"]
    assert all(0 < hit.score < 0.5 for hit in found.hits)
    assert found.verdict != "found"
    assert shelf.drop_context("notes", "beta")
    assert not ask(shelf, "zebras", mode="lex").hits


def test_a_single_file_can_be_described(shelf: Store) -> None:
    shelf.put_context(Context("notes", "beta/plan.md", "Written by Zoe"))
    assert files(ask(shelf, "Zoe", mode="lex")) == ["notes/beta/plan.md"]


def test_a_place_is_made_of_whole_segments(shelf: Store) -> None:
    shelf.put_context(Context("notes", "gamma", "zebras"))
    scores = {hit.info.file: hit.explain.legs[0].raw for hit in ask(shelf, "deadline zebras", mode="lex").hits}
    shelf.drop_context("notes", "gamma")
    plain = {hit.info.file: hit.explain.legs[0].raw for hit in ask(shelf, "deadline zebras", mode="lex").hits}
    assert scores["notes/gammaray/note.md"] == pytest.approx(plain["notes/gammaray/note.md"])


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
@pytest.mark.parametrize(
    "context", [Context(None, "", "The payroll deadline of everything"), Context("notes", "beta", "Something else")]
)
def test_what_is_said_of_everything_and_what_has_none_of_the_words_changes_nothing(
    shelf: Store, mode: str, context: Context
) -> None:
    before = [(hit.info.file, hit.score) for hit in ask(shelf, "payroll deadline", mode=mode).hits]
    shelf.put_context(context)
    assert [(hit.info.file, hit.score) for hit in ask(shelf, "payroll deadline", mode=mode).hits] == before


def test_collections_filters_and_phrases_hold_for_described_places_too(shelf: Store) -> None:
    shelf.put_context(Context("notes", "beta", "All about zebras"))
    assert not ask(shelf, "zebras", mode="lex", collections=("work",)).hits
    assert files(ask(shelf, "zebras", mode="lex", filter=Compare("path", "eq", "beta/plan.md"))) == [
        "notes/beta/plan.md"
    ]
    assert not ask(shelf, '"zebras"', mode="lex").hits


def test_a_description_is_evidence_at_once_and_no_vector_is_made_anew(shelf: Store) -> None:
    shelf.put_context(Context("notes", "beta", "All about zebras"))
    assert shelf.count_unembedded(IDENTITY) == 0
    assert ask(shelf, "zebras", mode="lex").hits


def test_the_most_of_a_place_comes_up_however_many_others_have_more_of_the_words(shelf: Store) -> None:
    put_texts(shelf, {f"crowd/{number}.md": "The deadline, the deadline is in May." for number in range(30)})
    shelf.put_context(Context("notes", "beta", "The zebras of the herd"))
    assert files(ask(shelf, "deadline zebra herd", mode="lex", limit=3))[0] == "notes/beta/plan.md"
