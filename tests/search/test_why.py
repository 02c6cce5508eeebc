"""Why is a document found, or not? In every store, by the same pipeline as any search."""

from dataclasses import replace

import pytest

from contract.builders import add_collections, ledger_entry, put_texts
from dowse.errors import ConflictError, UsageError
from dowse.filters import And, Compare, Not
from dowse.ports import Store
from dowse.search.pipeline import answer
from dowse.search.why import Why, why
from dowse.search.why import asking as asking_why
from dowse.types import Query
from search.asking import embed_all, models


@pytest.fixture
def notes(store: Store) -> Store:
    """Forty documents about tea, of which some say more about it, and one about bread."""
    add_collections(store, "notes", "work")
    texts = {f"tea{n:02}.md": f"Tea number {n}. " + "It is about tea. " * (n % 10) + "leaf " * n for n in range(40)}
    put_texts(store, texts | {"bread.md": "Flour, water, salt and time."})
    put_texts(store, {"plan.md": "Tea for everybody."}, collection="work")
    embed_all(store)
    return store


def asked(store: Store, text: str, name: str, *, uri_of=lambda _: None, conditions=None, **options) -> Why:
    with store.snapshot() as view:
        return why(
            view,
            Query(text, **options),
            name,
            lambda snapshot, query: answer(snapshot, query, models()),
            uri_of=uri_of,
            conditions=conditions,
        )


def ranking(store: Store, text: str, **options) -> list[str]:
    with store.snapshot() as view:
        found = answer(view, Query(text, limit=1_000, **options), models())
    return [hit.info.path for hit in found.hits]


@pytest.mark.parametrize("mode", ["lex", "vec", "hybrid"])
def test_a_found_document_has_its_rank_and_the_score_of_each_leg(notes, mode):
    paths = ranking(notes, "about tea", mode=mode)
    reason = asked(notes, "about tea", paths[3], mode=mode, limit=10)
    assert reason.outcome == "found"
    assert reason.rank == 4
    assert reason.explain is not None
    assert {leg.name for leg in reason.explain.legs} == ({"lex", "vec"} if mode == "hybrid" else {mode})
    assert all(leg.rank for leg in reason.explain.legs)
    assert "rank 4" in reason.message
    assert reason.words == ("tea",)


def test_a_document_further_down_is_below_the_cut_with_both_scores(notes):
    paths = ranking(notes, "about tea", mode="lex")
    reason = asked(notes, "about tea", paths[24], mode="lex", limit=5)
    assert (reason.outcome, reason.rank) == ("below_the_cut", 25)
    assert reason.hit is not None
    assert reason.last_score is not None
    assert reason.hit.score <= reason.last_score
    assert f"{reason.hit.score:.2f}" in reason.message
    assert f"{reason.last_score:.2f}" in reason.message
    assert asked(notes, "about tea", paths[4], mode="lex", limit=5).outcome == "found"


def test_a_document_beyond_the_deepest_look_still_has_its_score(notes, monkeypatch):
    paths = ranking(notes, "about tea", mode="hybrid")
    exact = asked(notes, "about tea", paths[30], limit=2)
    monkeypatch.setattr(asking_why, "_DEEPEST", 10)
    reason = asked(notes, "about tea", paths[30], limit=2)
    assert (reason.outcome, reason.rank) == ("below_the_cut", None)
    assert reason.hit is not None
    assert exact.hit is not None
    values = [[leg.value for leg in hit.explain.legs] for hit in (reason.hit, exact.hit)]
    assert values[0] == pytest.approx(values[1])
    assert all(leg.rank is None for leg in reason.hit.explain.legs)
    assert "behind rank 10" in reason.message


def test_places_count_as_the_query_counts(notes):
    put_texts(notes, {"tea.md": "\n\n".join("All about tea and more about tea." for _ in range(8))})
    by_passage = asked(notes, "about tea", "tea30.md", mode="lex", limit=100)
    by_document = asked(notes, "about tea", "tea30.md", mode="lex", limit=100, per_document=1)
    assert by_passage.rank is not None
    assert by_document.rank is not None
    assert by_document.rank <= by_passage.rank - 7


def test_a_minimum_score_is_named_as_what_filtered(notes):
    reason = asked(notes, "about tea", "tea09.md", mode="lex", min_score=0.99)
    assert reason.outcome == "filtered"
    assert reason.filtered_by == "min_score 0.99"
    assert reason.rank is not None
    assert "below the minimum of 0.99" in reason.message


def test_a_document_without_the_words_has_no_match(notes):
    reason = asked(notes, "tea", "bread.md", mode="lex")
    assert reason.outcome == "no_match"
    assert reason.words == ()
    assert "none of the query's words" in reason.message
    assert asked(notes, "tea", "bread.md", mode="hybrid", limit=100).outcome == "found"


def test_a_document_without_vectors_is_told_so(notes):
    put_texts(notes, {"new.md": "Entirely new words."})
    reason = asked(notes, "tea", "new.md", mode="vec")
    assert reason.outcome == "no_match"
    assert "dowse embed" in reason.hint
    assert "none of the query's words, and" in asked(notes, "tea", "new.md", mode="hybrid").message
    put_texts(notes, {"newer.md": "A word on tea and " + "other things " * 50})
    assert "dowse embed" in asked(notes, "tea number leaf", "newer.md", mode="hybrid", limit=1).hint


def test_a_collection_that_is_not_searched_is_named(notes):
    reason = asked(notes, "tea", "work/plan.md", collections=("notes",))
    assert (reason.outcome, reason.filtered_by) == ("filtered", "collection notes")
    assert asked(notes, "tea", "work/plan.md", collections=("work",)).outcome == "found"
    with notes.snapshot() as view:
        (work,) = (each for each in view.collections() if each.name == "work")
    notes.put_collection(replace(work, included=False))
    reason = asked(notes, "tea", "work/plan.md")
    assert reason.outcome == "filtered"
    assert "dowse collection include work" in reason.hint


def test_a_condition_that_does_not_hold_is_named(notes):
    condition = And((Compare("type", "eq", "md"), Compare("path", "prefix", "tea1")))
    reason = asked(notes, "tea", "tea09.md", conditions=condition)
    assert (reason.outcome, reason.filtered_by) == ("filtered", "path starts with tea1")
    assert asked(notes, "tea", "tea09.md", filter=condition).filtered_by == reason.filtered_by
    assert asked(notes, "tea", "tea10.md", conditions=condition, limit=100).outcome == "found"
    assert asked(notes, "tea", "tea09.md", filter=Not(Compare("page", "eq", 3)), limit=100).outcome == "found"


# What is not indexed


@pytest.mark.parametrize(
    ("state", "says"), [("failed", "could not be read"), ("skipped", "left out"), ("excluded", "taken out")]
)
@pytest.mark.parametrize("name", ["notes/sub/bad.pdf", "sub/bad.pdf", "bad.pdf"])
def test_the_ledger_says_why_a_file_is_not_indexed(notes, state, says, name):
    notes.record([ledger_entry("sub/bad.pdf", state=state)])
    reason = asked(notes, "tea", name)
    assert reason.outcome == "not_indexed"
    assert reason.entry is not None
    assert reason.entry.state == state
    assert says in reason.message
    assert "It could not be read." in reason.message
    assert reason.hint == "Look at it."


def test_a_file_on_the_disk_is_known_by_its_collections_folder(notes):
    notes.record([ledger_entry("my bad.pdf")])
    assert asked(notes, "tea", "my.pdf", uri_of=lambda _: "file:///library/notes/my%20bad.pdf").entry is not None
    reason = asked(notes, "tea", "./new.md", uri_of=lambda _: "file:///library/notes/new.md")
    assert reason.outcome == "not_indexed"
    assert "dowse update -c notes" in reason.hint
    reason = asked(notes, "tea", "x.md", uri_of=lambda _: "file:///elsewhere/x.md")
    assert "in no collection" in reason.message
    assert "dowse ingest" in reason.hint


def test_a_name_that_was_never_seen_gets_suggestions(notes):
    reason = asked(notes, "tea", "bred.md")
    assert (reason.outcome, reason.info) == ("not_indexed", None)
    assert "notes/bread.md" in reason.hint
    assert "dowse ls" in asked(notes, "tea", "something/quite/else.docx").hint


def test_a_document_without_text_cannot_be_found(notes):
    put_texts(notes, {"empty.md": ""})
    assert "no text" in asked(notes, "tea", "empty.md").message


def test_a_name_of_several_documents_is_refused(notes):
    put_texts(notes, {"bread.md": "Rye."}, collection="work")
    with pytest.raises(ConflictError):
        asked(notes, "tea", "bread.md")
    with pytest.raises(ConflictError):
        asked(notes, "tea", "tea*.md")


def test_a_query_that_cannot_be_asked_is_refused(notes):
    with pytest.raises(UsageError):
        asked(notes, " ", "notes/bread.md")
