"""Search by words: BM25 over any of the terms, scoped inside the store."""

import math

import pytest

from contract.builders import (
    EVERYWHERE,
    all_refs,
    id_at,
    located,
    make_content,
    make_draft,
    put_texts,
    scored,
    search_words,
    terms,
)
from dowse.ports import Store
from dowse.text.fields import BOOSTS, K1, lexical_rows
from dowse.types import Compare, Scope

NOTES = Scope(frozenset({"notes"}))


def test_any_of_the_terms_is_enough_and_more_of_them_rank_first(store: Store) -> None:
    put_texts(store, {"one.md": "alpha xx yy", "two.md": "alpha beta yy", "none.md": "gamma xx yy"})
    assert search_words(store, "alpha", "beta") == [("notes/two.md", 0), ("notes/one.md", 0)]


def test_a_rare_word_weighs_more_than_a_common_one(store: Store) -> None:
    put_texts(store, {f"{number}.md": "common filler" for number in range(9)} | {"x.md": "rare filler"})
    assert search_words(store, "common", "rare")[0] == ("notes/x.md", 0)


def test_a_word_that_stands_more_often_or_in_a_shorter_text_weighs_more(store: Store) -> None:
    put_texts(
        store,
        {
            "a.md": "alpha beta gamma delta epsilon zeta",
            "b.md": "alpha beta gamma",
            "c.md": "alpha alpha gamma",
        },
    )
    assert [place for place, _ in search_words(store, "alpha")] == ["notes/c.md", "notes/b.md", "notes/a.md"]


def test_titles_and_paths_are_searched_too(store: Store) -> None:
    store.put([make_draft("garden/compost.md", "alpha", title="Orchard")])
    assert search_words(store, "orchard") == [("notes/garden/compost.md", 0)]
    assert search_words(store, "compost") == [("notes/garden/compost.md", 0)]
    assert search_words(store, "garden") == [("notes/garden/compost.md", 0)]


def test_a_moved_document_is_found_by_its_new_path_only(store: Store) -> None:
    draft = make_draft("garden.md", "alpha", title="T")
    store.put([draft])
    store.put([make_draft("kitchen.md", "alpha", title="T", id=draft.info.id, linked=True)])
    assert search_words(store, "garden") == []
    assert search_words(store, "kitchen") == [("notes/kitchen.md", 0)]


def test_every_chunk_is_a_hit_of_its_own_and_those_with_the_word_come_before_their_neighbours(store: Store) -> None:
    put_texts(store, {"a.md": "alpha one\n\nnothing here\n\nalpha two", "b.md": "other"})
    assert sorted(search_words(store, "alpha", k=2)) == [("notes/a.md", 0), ("notes/a.md", 2)]


def test_hits_come_best_first_with_positive_scores(store: Store) -> None:
    put_texts(store, {f"{number}.md": "alpha " * number + "filler" for number in range(1, 6)})
    with store.snapshot() as view:
        scores = [score for _, score in view.lexical(terms("alpha"), 10, EVERYWHERE).hits]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_k_keeps_the_best_ones(store: Store) -> None:
    put_texts(store, {f"{number}.md": "alpha " * number + "filler" for number in range(1, 6)})
    everything = search_words(store, "alpha", k=100)
    assert len(everything) == 5
    for k in range(6):
        assert search_words(store, "alpha", k=k) == everything[:k]


def test_equal_scores_are_ordered_by_ref_and_any_of_them_may_make_the_cut(store: Store) -> None:
    for batch in "abcdefghijkl":
        put_texts(store, {f"{batch}.md": "alpha one\n\nalpha two\n\nalpha six"})
    with store.snapshot() as view:
        ranked = view.lexical(terms("alpha"), 100, EVERYWHERE).hits
        assert len({round(score, 5) for _, score in ranked}) == 1
        refs = [ref for ref, _ in ranked]
        assert refs == sorted(refs)
        assert len(refs) == 36
        for k in (1, 5, 20, 35):
            cut = [ref for ref, _ in view.lexical(terms("alpha"), k, EVERYWHERE).hits]
            assert cut == sorted(cut)
            assert len(cut) == k


def test_a_small_collection_never_starves_behind_a_large_one(store: Store) -> None:
    store.put([make_draft(f"{number}.md", f"alpha alpha {number}", collection="work") for number in range(300)])
    put_texts(store, {"a.md": "alpha in a much longer text about other things", "b.md": "alpha too, in passing"})
    assert all(place.startswith("work/") for place, _ in search_words(store, "alpha", k=5))
    assert sorted(search_words(store, "alpha", k=2, scope=NOTES)) == [("notes/a.md", 0), ("notes/b.md", 0)]


def test_deleted_and_replaced_chunks_take_no_places(store: Store) -> None:
    drafts = [make_draft(f"{number}.md", "alpha alpha alpha") for number in range(60)]
    store.put(drafts)
    put_texts(store, {"a.md": "alpha in a longer text", "b.md": "alpha in another longer text"})
    store.delete([draft.info.id for draft in drafts[:30]])
    store.put([make_draft(f"{number}.md", "beta") for number in range(30, 60)])
    assert sorted(search_words(store, "alpha", k=2)) == [("notes/a.md", 0), ("notes/b.md", 0)]


def test_scope_may_name_several_collections_or_unknown_ones_or_none(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    put_texts(store, {"b.md": "alpha"}, collection="work")
    both = [("notes/a.md", 0), ("work/b.md", 0)]
    assert sorted(search_words(store, "alpha", scope=Scope(frozenset({"notes", "work"})))) == both
    assert search_words(store, "alpha", scope=Scope(frozenset({"notes", "nowhere"}))) == both[:1]
    assert search_words(store, "alpha", scope=Scope(frozenset({"nowhere"}))) == []
    assert search_words(store, "alpha", scope=Scope(frozenset())) == []


def test_scope_changes_neither_scores_nor_the_ceiling(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "beta"})
    put_texts(store, {"c.md": "alpha alpha gamma delta"}, collection="work")
    with store.snapshot() as view:
        wide = view.lexical(terms("alpha", "beta"), 10, EVERYWHERE)
        narrow = view.lexical(terms("alpha", "beta"), 10, NOTES)
    scores = dict(wide.hits)
    assert dict(narrow.hits) == pytest.approx({ref: scores[ref] for ref, _ in narrow.hits})
    assert narrow.ceiling == pytest.approx(wide.ceiling)


def test_a_document_moved_to_another_collection_is_searched_there(store: Store) -> None:
    draft = make_draft("a.md", "alpha")
    store.put([draft])
    store.put([make_draft("a.md", "alpha", id=draft.info.id, collection="work", linked=True)])
    assert search_words(store, "alpha", scope=NOTES) == []
    assert search_words(store, "alpha", scope=Scope(frozenset({"work"}))) == [("work/a.md", 0)]


def test_unknown_terms_find_nothing_and_spoil_nothing(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    assert search_words(store, "zyzzyva") == []
    assert search_words(store, "zyzzyva", "alpha") == [("notes/a.md", 0)]


def test_no_terms_find_nothing_and_have_no_ceiling(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        ranked = view.lexical([], 10, EVERYWHERE)
        assert view.lexical_scores([], all_refs(view, "alpha")) == dict.fromkeys(all_refs(view, "alpha"), 0.0)
    assert (ranked.hits, ranked.ceiling) == ((), 0.0)


@pytest.mark.parametrize(
    "term", ["c++", '"', "a:b", "(alpha", "alpha)", "*", "AND", "-", "\\", "title:alpha", "[x TO y]"]
)
def test_a_term_is_never_read_as_syntax(store: Store, term: str) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        assert located(view, view.lexical([term], 10, EVERYWHERE)) == []
        assert located(view, view.lexical([term, *terms("alpha")], 10, EVERYWHERE)) == [("notes/a.md", 0)]


def test_an_empty_index_answers_with_nothing(empty_store: Store) -> None:
    with empty_store.snapshot() as view:
        assert view.lexical(terms("alpha"), 10, EVERYWHERE).hits == ()
        assert view.lexical_scores(terms("alpha"), []) == {}


def test_the_ceiling_is_the_sum_over_fields_and_the_terms_they_know_of_what_each_could_give(store: Store) -> None:
    texts = {"a.md": "alpha beta", "b.md": "alpha\n\nepsilon", "beta.md": "gamma"}
    put_texts(store, texts)
    rows = [row for path, text in texts.items() for row in lexical_rows(path, path, make_content(text).chunks)]

    def most(field: str, term: str) -> float:
        having = sum(term in row[field].split() for row in rows)
        idf = math.log(1 + (len(rows) - having + 0.5) / (having + 0.5))
        return BOOSTS[field] * (K1 + 1) * idf if having else 0.0

    asked = terms("alpha", "beta", "unknown")
    expected = sum(most(field, term) for field in BOOSTS for term in asked)
    with store.snapshot() as view:
        ranked = view.lexical(asked, 10, EVERYWHERE)
    assert ranked.ceiling == pytest.approx(expected, rel=1e-5)
    assert all(score < ranked.ceiling for _, score in ranked.hits)


def test_the_ceiling_does_not_depend_on_how_many_hits_are_asked_for(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "alpha"})
    with store.snapshot() as view:
        ceilings = [view.lexical(terms("alpha"), k, EVERYWHERE).ceiling for k in (0, 1, 10)]
    assert ceilings == [ceilings[0]] * 3
    assert ceilings[0] > 0


def test_the_scores_of_given_chunks_are_those_of_the_search(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta\n\nbeta\n\ngamma", "b.md": "alpha alpha delta", "c.md": "gamma"})
    put_texts(store, {"a.md": "alpha alpha"}, collection="work")
    put_texts(store, {"b.md": "alpha gamma delta", "d.md": "delta"})
    asked = terms("alpha", "beta")
    with store.snapshot() as view:
        found = dict(view.lexical(asked, 100, EVERYWHERE).hits)
        refs = all_refs(view, "alpha", "beta", "gamma", "delta")
        scores = view.lexical_scores(asked, refs)
        without = view.passages([ref for ref in refs if scores[ref] == 0])
    assert len(refs) == 7
    assert scores == pytest.approx({ref: found.get(ref, 0.0) for ref in refs}, rel=1e-5)
    assert sorted(passage.info.path for passage in without) == ["c.md", "d.md"]


def test_copies_score_alike(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "alpha beta"})
    with store.snapshot() as view:
        hits = scored(view, view.lexical(terms("alpha"), 10, EVERYWHERE))
    assert [place for place, _, _ in hits] == ["notes/a.md", "notes/b.md"]
    assert hits[0][2] == pytest.approx(hits[1][2])


def test_a_word_of_a_deleted_document_is_found_again_when_it_comes_back(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    store.delete([id_at(store, "notes/a.md")])
    store.put([make_draft("a.md", "alpha", linked=True)])
    assert search_words(store, "alpha") == [("notes/a.md", 0)]


def test_a_filter_applies_before_the_cut(store: Store) -> None:
    put_texts(store, {f"common/{number}.md": "alpha " * 9 for number in range(30)})
    put_texts(store, {"rare/a.md": "alpha beta", "rare/b.txt": "alpha"})
    only_rare = Scope(filter=Compare("path", "prefix", "rare/"))
    with store.snapshot() as view:
        found = view.lexical(["alpha"], 2, only_rare)
        assert {passage.info.path for passage in view.passages([ref for ref, _ in found.hits])} == {
            "rare/a.md",
            "rare/b.txt",
        }
        nothing = Scope(filter=Compare("path", "prefix", "nowhere/"))
        assert view.lexical(["alpha"], 2, nothing).hits == ()
        # What may be looked at does not change what a word is worth.
        everything = dict(view.lexical(["alpha"], 100, Scope()).hits)
        assert all(everything[ref] == pytest.approx(score) for ref, score in found.hits)


def test_a_filter_may_tell_the_passages_of_one_document_apart(store: Store) -> None:
    put_texts(store, {"a.md": "# One\n\nalpha\n\n# Two\n\nalpha"})
    with store.snapshot() as view:
        found = view.lexical(["alpha"], 10, Scope(filter=Compare("heading", "eq", "two")))
        assert {passage.chunk.headings for passage in view.passages([ref for ref, _ in found.hits])} == {("Two",)}


def test_filters_and_collections_hold_together(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha"})
    put_texts(store, {"a.md": "alpha"}, collection="work")
    scope = Scope(frozenset({"work"}), Compare("path", "eq", "a.md"))
    with store.snapshot() as view:
        found = view.lexical(["alpha"], 10, scope)
        assert [passage.info.file for passage in view.passages([ref for ref, _ in found.hits])] == ["work/a.md"]


def test_an_alternative_is_worth_its_weight_and_a_chunk_gets_the_most_of_them(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alphabet", "c.md": "alpha alphabet", "d.md": "other"})
    others = {"alpha": {"alphabet": 0.5}}
    with store.snapshot() as view:
        at = {passage.info.path: passage.ref for passage in view.passages(all_refs(view, "alpha", "alphabet"))}
        plain = view.lexical_scores(["alpha"], list(at.values()))
        other = view.lexical_scores(["alphabet"], list(at.values()))
        ranked = view.lexical(["alpha"], 10, Scope(), others)
        both = dict(ranked.hits)
    assert set(both) == set(at.values())
    for path, ref in at.items():
        assert both[ref] == pytest.approx(max(plain[ref], 0.5 * other[ref]), rel=1e-3), path
    assert both[at["a.md"]] > both[at["b.md"]]
    assert ranked.ceiling > 0
    with store.snapshot() as view:
        assert view.lexical_scores(["alpha"], list(at.values()), others) == pytest.approx(both, rel=1e-3)


def test_terms_are_counted_and_completed_by_how_many_chunks_have_them(store: Store) -> None:
    put_texts(store, {"a.md": "alpha alphabet", "b.md": "alphabet alphabet", "c.md": "beta"})
    with store.snapshot() as view:
        assert view.frequencies(["alphabet", "alpha", "gamma"]) == {"alphabet": 2, "alpha": 1, "gamma": 0}
        assert view.completions("alph", 10) == ["alphabet", "alpha"]
        assert view.completions("alph", 1) == ["alphabet"]
        assert view.completions("zzz", 10) == []
