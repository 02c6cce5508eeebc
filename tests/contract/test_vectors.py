"""Search by vectors, and the backlog of texts that wait for one."""

from dataclasses import replace

import pytest

from contract.builders import (
    DAY_MS,
    EVERYWHERE,
    MODEL,
    OTHER_MODEL,
    all_refs,
    bag_of_words,
    embed_backlog,
    id_at,
    located,
    make_content,
    make_draft,
    put_texts,
    scored,
    search_near,
)
from dowse.errors import ModelMismatchError
from dowse.ports import Store
from dowse.text.passage import embedding_text
from dowse.types import Compare, ModelIdentity, Scope

NOTES = Scope(frozenset({"notes"}))


def texts_waiting(store: Store, limit: int = 1_000) -> list[str]:
    return [text for _, text in store.unembedded(MODEL, limit)]


def model_of(store: Store) -> ModelIdentity | None:
    """The model whose vectors the store holds, as both ways of asking must tell it."""
    with store.snapshot() as view:
        assert view.model() == view.stats().model
        return view.model()


def test_a_store_without_vectors_has_no_model(empty_store: Store) -> None:
    assert model_of(empty_store) is None


def test_live_chunks_without_a_vector_wait_with_the_text_to_embed(store: Store) -> None:
    text = "# Walnut\n\nalpha beta gamma delta\n\n# Cherry\n\nepsilon"
    put_texts(store, {"a.md": text})
    content = make_content(text)
    expected = [embedding_text(content.title, chunk.headings, chunk.text) for chunk in content.chunks]
    assert sorted(texts_waiting(store)) == sorted(expected)
    assert store.count_unembedded(MODEL) == len(expected)


def test_the_backlog_is_shortest_first_then_by_key_and_bounded_by_the_limit(store: Store) -> None:
    put_texts(store, {"a.md": "ccc\n\nbb\n\naaaa\n\ndddd\n\nbbbb\n\né"})
    waiting = store.unembedded(MODEL, 100)
    assert waiting == sorted(waiting, key=lambda item: (len(item[1]), item[0]))
    assert len(waiting) == 6
    assert store.unembedded(MODEL, 2) == waiting[:2]
    assert store.unembedded(MODEL, 0) == []
    assert store.count_unembedded(MODEL) == 6


def test_what_has_a_vector_waits_no_longer(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta beta\n\ngamma gamma gamma"})
    first = embed_backlog(store, limit=2)
    assert len(first) == 2
    assert store.count_unembedded(MODEL) == 1
    assert not set(first) & set(texts_waiting(store))
    embed_backlog(store)
    assert store.unembedded(MODEL, 10) == []
    assert store.count_unembedded(MODEL) == 0


def test_a_backlog_is_the_same_until_it_is_worked_on(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta", "b.md": "gamma"})
    assert store.unembedded(MODEL, 10) == store.unembedded(MODEL, 10)


def test_the_nearest_chunks_come_first_with_their_cosines(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "alpha gamma delta", "c.md": "zeta eta theta"})
    embed_backlog(store)
    with store.snapshot() as view:
        ranked = view.nearest(MODEL, bag_of_words("alpha beta"), 2, EVERYWHERE)
        hits = scored(view, ranked)
    assert [place for place, _, _ in hits] == ["notes/a.md", "notes/b.md"]
    assert hits[0][2] == pytest.approx(1.0, abs=1e-3)
    expected = float(bag_of_words("alpha beta") @ bag_of_words("alpha gamma delta"))
    assert hits[1][2] == pytest.approx(expected, abs=1e-3)
    assert ranked.ceiling == 1


def test_k_keeps_the_nearest_ones(store: Store) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    put_texts(store, {f"{number}.md": " ".join(words[:number]) for number in range(1, 7)})
    embed_backlog(store)
    everything = search_near(store, "alpha", k=100)
    assert [place for place, _ in everything] == [f"notes/{number}.md" for number in range(1, 7)]
    for k in range(7):
        assert search_near(store, "alpha", k=k) == everything[:k]


def test_equal_cosines_are_ordered_by_ref_and_any_of_them_may_make_the_cut(store: Store) -> None:
    put_texts(store, {"z.md": "gamma beta alpha"})
    put_texts(store, {"a.md": "alpha beta gamma\n\nbeta gamma alpha", "copy.md": "gamma beta alpha"})
    put_texts(store, {"b.md": "gamma alpha beta", "another.md": "alpha beta gamma\n\nbeta gamma alpha"})
    embed_backlog(store)
    with store.snapshot() as view:
        refs = [ref for ref, _ in view.nearest(MODEL, bag_of_words("alpha"), 100, EVERYWHERE).hits]
        assert len(refs) == 7
        assert refs == sorted(refs)
        for k in range(1, 7):
            cut = [ref for ref, _ in view.nearest(MODEL, bag_of_words("alpha"), k, EVERYWHERE).hits]
            assert cut == sorted(cut)
            assert len(cut) == k


def test_a_small_collection_never_starves_behind_a_large_one(store: Store) -> None:
    store.put([make_draft(f"{number}.md", f"alpha beta n{number}", collection="work") for number in range(300)])
    put_texts(store, {"a.md": "zeta eta theta alpha", "b.md": "iota kappa"})
    embed_backlog(store)
    assert all(place.startswith("work/") for place, _ in search_near(store, "alpha beta", k=5))
    assert [place for place, _ in search_near(store, "alpha beta", k=2, scope=NOTES)] == ["notes/a.md", "notes/b.md"]


def test_deleted_chunks_take_no_places(store: Store) -> None:
    drafts = [make_draft(f"{number}.md", f"alpha n{number}") for number in range(200)]
    store.put(drafts)
    put_texts(store, {"far.md": "alpha zeta eta theta iota", "farther.md": "kappa lambda"})
    embed_backlog(store)
    store.delete([draft.info.id for draft in drafts])
    assert [place for place, _ in search_near(store, "alpha", k=2)] == ["notes/far.md", "notes/farther.md"]


def test_many_copies_of_one_text_fill_their_places_and_leave_the_others_theirs(store: Store) -> None:
    put_texts(store, {f"{number}.md": "alpha beta" for number in range(40)} | {"other.md": "alpha gamma"})
    embed_backlog(store)
    assert len(search_near(store, "alpha beta", k=40)) == 40
    assert search_near(store, "alpha beta", k=41)[-1] == ("notes/other.md", 0)


def test_chunks_without_a_vector_are_neither_near_nor_far(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    put_texts(store, {"b.md": "alpha beta"})
    assert search_near(store, "alpha") == [("notes/a.md", 0)]
    with store.snapshot() as view:
        refs = all_refs(view, "alpha")
        cosines = view.cosines(MODEL, bag_of_words("alpha"), refs)
        assert len(refs) == 2
        assert [passage.info.path for passage in view.passages(list(cosines))] == ["a.md"]


def test_without_any_vectors_nothing_is_near(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        ranked = view.nearest(MODEL, bag_of_words("alpha"), 10, EVERYWHERE)
        assert (ranked.hits, ranked.ceiling) == ((), 1)
        assert view.cosines(MODEL, bag_of_words("alpha"), all_refs(view, "alpha")) == {}


def test_the_cosines_of_given_chunks_are_those_of_the_search(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta\n\ngamma", "b.md": "alpha delta", "c.md": "alpha beta"})
    embed_backlog(store)
    with store.snapshot() as view:
        found = dict(view.nearest(MODEL, bag_of_words("alpha beta"), 100, EVERYWHERE).hits)
        refs = all_refs(view, "alpha", "gamma")
        assert len(refs) == 4
        assert view.cosines(MODEL, bag_of_words("alpha beta"), refs) == pytest.approx(found, abs=1e-6)
        assert view.cosines(MODEL, bag_of_words("alpha beta"), []) == {}


def test_equal_texts_are_embedded_once_and_all_found(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "alpha beta", "c.md": "alpha beta\n\ngamma\n\nalpha beta"})
    assert sorted(texts_waiting(store)) == ["alpha beta", "gamma"]
    embed_backlog(store)
    assert store.count_unembedded(MODEL) == 0
    assert sorted(search_near(store, "alpha beta", k=4)) == [
        ("notes/a.md", 0),
        ("notes/b.md", 0),
        ("notes/c.md", 0),
        ("notes/c.md", 2),
    ]


def test_a_copy_put_later_has_its_vectors_at_once(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta"})
    embed_backlog(store)
    store.put([make_draft("b.md", "alpha beta", linked=True)])
    put_texts(store, {"c.md": "alpha beta\n\nother"})
    assert texts_waiting(store) == ["other"]
    assert sorted(search_near(store, "alpha beta", k=3)) == [("notes/a.md", 0), ("notes/b.md", 0), ("notes/c.md", 0)]


def test_a_moved_document_keeps_its_vectors(store: Store) -> None:
    draft = make_draft("a.md", "alpha\n\nbeta")
    store.put([draft])
    embed_backlog(store)
    store.put([make_draft("b.md", "alpha\n\nbeta", id=draft.info.id, collection="work", linked=True)])
    assert store.count_unembedded(MODEL) == 0
    assert search_near(store, "alpha", k=1) == [("work/b.md", 0)]


def test_documents_of_a_renamed_collection_keep_their_vectors(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    store.rename_collection("notes", "diary")
    assert store.count_unembedded(MODEL) == 0
    assert search_near(store, "alpha", scope=Scope(frozenset({"diary"}))) == [("diary/a.md", 0)]


def test_a_replaced_document_waits_for_its_changed_chunks_only(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta\n\ngamma"})
    embed_backlog(store)
    put_texts(store, {"a.md": "new start\n\nalpha\n\ngamma"})
    assert texts_waiting(store) == ["new start"]
    assert sorted(search_near(store, "alpha beta gamma")) == [("notes/a.md", 1), ("notes/a.md", 2)]


def test_a_document_that_comes_back_has_its_vectors_at_once(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    store.delete([id_at(store, "notes/a.md")])
    assert search_near(store, "alpha") == []
    store.put([make_draft("a.md", "alpha", linked=True)])
    assert store.count_unembedded(MODEL) == 0
    assert search_near(store, "alpha") == [("notes/a.md", 0)]


def test_chunks_of_deleted_documents_do_not_wait(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    store.delete([id_at(store, "notes/a.md")])
    assert texts_waiting(store) == ["beta"]
    assert store.count_unembedded(MODEL) == 1


def test_vectors_may_arrive_after_their_document_has_gone(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    waiting = store.unembedded(MODEL, 10)
    store.delete([id_at(store, "notes/a.md")])
    store.cleanup(0)
    store.put_vectors(MODEL, [(key, bag_of_words(text)) for key, text in waiting])
    assert search_near(store, "alpha beta") == [("notes/b.md", 0)]
    assert store.count_unembedded(MODEL) == 0


def test_putting_a_vector_that_is_there_is_harmless(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta beta", "b.md": "alpha"})
    first, second = ((key, bag_of_words(text)) for key, text in store.unembedded(MODEL, 10))
    store.put_vectors(MODEL, [first])
    store.put_vectors(MODEL, [first, second])
    store.put_vectors(MODEL, [second, first])
    store.put_vectors(MODEL, [])
    assert store.count_unembedded(MODEL) == 0
    assert len(search_near(store, "alpha")) == 3
    with store.snapshot() as view:
        stats = view.stats()
    assert stats.vectors == 2
    assert stats.collections[0].unembedded == 0


def test_vectors_of_another_model_are_refused_with_a_way_out(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    embed_backlog(store, limit=1)
    ((key, text),) = store.unembedded(MODEL, 10)
    with pytest.raises(ModelMismatchError) as refusal:
        store.put_vectors(OTHER_MODEL, [(key, bag_of_words(text))])
    assert MODEL.name in refusal.value.message
    assert OTHER_MODEL.name in refusal.value.message
    assert "dowse embed --force" in refusal.value.hint
    assert store.count_unembedded(MODEL) == 1
    assert model_of(store) == MODEL


def test_to_another_model_everything_waits_and_nothing_is_near(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    embed_backlog(store)
    assert store.count_unembedded(OTHER_MODEL) == 2
    assert [text for _, text in store.unembedded(OTHER_MODEL, 10)] == ["beta", "alpha"]
    with store.snapshot() as view:
        assert view.nearest(OTHER_MODEL, bag_of_words("alpha"), 10, EVERYWHERE).hits == ()
        assert view.cosines(OTHER_MODEL, bag_of_words("alpha"), all_refs(view, "alpha")) == {}


def test_after_dropping_all_vectors_another_model_may_come(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    store.drop_vectors()
    assert search_near(store, "alpha") == []
    assert model_of(store) is None
    waiting = store.unembedded(OTHER_MODEL, 10)
    store.put_vectors(OTHER_MODEL, [(key, bag_of_words(text)) for key, text in waiting])
    assert model_of(store) == OTHER_MODEL
    with store.snapshot() as view:
        found = view.nearest(OTHER_MODEL, bag_of_words("alpha"), 10, EVERYWHERE)
        assert located(view, found) == [("notes/a.md", 0)]


def test_when_cleaning_up_takes_the_last_vector_another_model_may_come(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    put_texts(store, {"a.md": "beta"})
    store.cleanup(0)
    assert model_of(store) is None
    ((key, text),) = store.unembedded(OTHER_MODEL, 10)
    store.put_vectors(OTHER_MODEL, [(key, bag_of_words(text))])
    assert model_of(store) == OTHER_MODEL


@pytest.mark.parametrize("forget", ["cleanup", "drop_vectors"])
def test_vectors_made_after_all_others_went_are_found_by_a_store_that_looked_in_between(
    store: Store, forget: str
) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    assert search_near(store, "alpha") == [("notes/a.md", 0)]
    put_texts(store, {"a.md": "beta"})
    if forget == "cleanup":
        store.cleanup(0)
    else:
        store.drop_vectors()
    assert search_near(store, "beta") == []
    embed_backlog(store)
    assert search_near(store, "beta") == [("notes/a.md", 0)]


def test_dropped_vectors_can_be_made_again(store: Store) -> None:
    put_texts(store, {"a.md": "alpha\n\nbeta", "b.md": "alpha"})
    embed_backlog(store)
    store.drop_vectors()
    assert store.count_unembedded(MODEL) == 2
    embed_backlog(store)
    assert len(search_near(store, "alpha")) == 3


def test_vectors_of_deleted_documents_stay_until_cleanup(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    embed_backlog(store)
    store.delete([id_at(store, "notes/a.md")])
    store.cleanup(DAY_MS)
    put_texts(store, {"a.md": "alpha"})
    assert store.count_unembedded(MODEL) == 0
    store.delete([id_at(store, "notes/a.md")])
    store.cleanup(0)
    put_texts(store, {"a.md": "alpha"})
    assert texts_waiting(store) == ["alpha"]
    assert search_near(store, "alpha beta") == [("notes/b.md", 0)]


def test_a_filter_applies_to_the_nearest_before_the_cut(store: Store) -> None:
    put_texts(store, {f"near/{number}.md": "alpha beta" for number in range(20)})
    put_texts(store, {"far/a.md": "alpha gamma delta"})
    embed_backlog(store)
    scope = Scope(filter=Compare("path", "prefix", "far/"))
    with store.snapshot() as view:
        found = view.nearest(MODEL, bag_of_words("alpha beta"), 3, scope)
        assert [passage.info.path for passage in view.passages([ref for ref, _ in found.hits])] == ["far/a.md"]


def test_of_copies_that_share_a_vector_only_those_are_found_that_the_filter_lets_through(store: Store) -> None:
    put_texts(store, {"a.md": "alpha beta", "b.md": "alpha beta"})
    embed_backlog(store)
    with store.snapshot() as view:
        found = view.nearest(MODEL, bag_of_words("alpha beta"), 5, Scope(filter=Compare("path", "eq", "b.md")))
        assert [passage.info.path for passage in view.passages([ref for ref, _ in found.hits])] == ["b.md"]


# The change of the model


def embed_with(store: Store, model: ModelIdentity, limit: int = 1_000) -> int:
    waiting = store.unembedded(model, limit)
    store.put_vectors(model, [(key, bag_of_words(f"{text} {model.name}")) for key, text in waiting])
    return len(waiting)


def near(store: Store, model: ModelIdentity) -> set[str]:
    with store.snapshot() as view:
        return {file for file, _ in located(view, view.nearest(model, bag_of_words("alpha"), 10, EVERYWHERE))}


def test_the_old_vectors_answer_until_those_of_the_successor_are_complete(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha beta", "c.md": "alpha gamma"})
    embed_backlog(store)
    store.add_model(OTHER_MODEL)
    assert store.count_unembedded(OTHER_MODEL) == 3
    embed_with(store, OTHER_MODEL, 2)
    with store.snapshot() as view:
        stats = view.stats()
        assert (view.model(), view.successor(), stats.vectors) == (MODEL, OTHER_MODEL, 3)
        assert stats.successor is not None
        assert (stats.successor.model, stats.successor.vectors, stats.successor.waiting) == (OTHER_MODEL, 2, 1)
        assert stats.collections[0].unembedded == 1
    assert near(store, MODEL) == {"notes/a.md", "notes/b.md", "notes/c.md"}
    assert near(store, OTHER_MODEL) == set()
    assert (store.count_unembedded(MODEL), store.count_unembedded(OTHER_MODEL)) == (0, 1)
    embed_with(store, OTHER_MODEL)
    store.switch_model(OTHER_MODEL)
    with store.snapshot() as view:
        stats = view.stats()
        assert (view.model(), view.successor(), stats.vectors, stats.successor) == (OTHER_MODEL, None, 3, None)
    assert near(store, OTHER_MODEL) == {"notes/a.md", "notes/b.md", "notes/c.md"}
    assert near(store, MODEL) == set()
    assert [finding.message for finding in store.check(deep=True) if not finding.ok] == []


def test_during_a_change_of_the_model_both_may_get_vectors_and_a_third_may_not(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    store.add_model(OTHER_MODEL)
    put_texts(store, {"b.md": "alpha beta"})
    assert embed_with(store, MODEL) == 1
    assert (store.count_unembedded(MODEL), store.count_unembedded(OTHER_MODEL)) == (0, 2)
    assert embed_with(store, OTHER_MODEL) == 2
    third = replace(MODEL, name="third")
    with pytest.raises(ModelMismatchError):
        store.put_vectors(third, [(b"k" * 16, bag_of_words("alpha"))])
    store.add_model(third)
    assert (store.count_unembedded(third), store.count_unembedded(OTHER_MODEL)) == (2, 2)


def test_switching_to_what_is_no_successor_changes_nothing(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    embed_backlog(store)
    for model in (MODEL, OTHER_MODEL):
        store.switch_model(model)
        assert model_of(store) == MODEL
    store.add_model(OTHER_MODEL)
    store.switch_model(MODEL)
    with store.snapshot() as view:
        assert (view.model(), view.successor()) == (MODEL, OTHER_MODEL)


def test_a_successor_that_was_given_up_leaves_with_cleaning_up(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    embed_backlog(store, limit=1)
    store.add_model(OTHER_MODEL)
    embed_with(store, OTHER_MODEL)
    store.cleanup(DAY_MS)
    with store.snapshot() as view:
        assert view.successor() == OTHER_MODEL
    store.cleanup(0)
    with store.snapshot() as view:
        assert (view.model(), view.successor()) == (MODEL, None)
        assert view.stats().collections[0].unembedded == 1
    assert store.count_unembedded(MODEL) == 1


def test_rebuilding_and_cleaning_up_keep_the_vectors_of_both_models(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "alpha beta", "c.md": "gamma"})
    embed_backlog(store)
    store.add_model(OTHER_MODEL)
    embed_with(store, OTHER_MODEL)
    store.delete([id_at(store, "notes/c.md")])
    store.rebuild()
    store.cleanup(DAY_MS)
    assert near(store, MODEL) == {"notes/a.md", "notes/b.md"}
    assert [finding.message for finding in store.check(deep=True) if not finding.ok] == []
    store.switch_model(OTHER_MODEL)
    assert near(store, OTHER_MODEL) == {"notes/a.md", "notes/b.md"}


def test_the_vectors_of_keys_are_those_that_were_put(store: Store) -> None:
    put_texts(store, {"a.md": "alpha", "b.md": "beta"})
    waiting = store.unembedded(MODEL, 10)
    embed_backlog(store, limit=1)
    with store.snapshot() as view:
        found = view.vectors(MODEL, [key for key, _ in waiting])
        assert view.vectors(OTHER_MODEL, [key for key, _ in waiting]) == {}
    ((key, vector),) = found.items()
    assert vector.tolist() == bag_of_words(dict(waiting)[key]).tolist()


def test_what_is_leased_is_given_to_nobody_else_until_its_time_has_passed(empty_store: Store) -> None:
    everything = frozenset({"a", "b", "c"})
    assert empty_store.lease(["a", "b"], "one", 60) == {"a", "b"}
    assert empty_store.lease(["a", "b"], "one", 60) == {"a", "b"}
    others = empty_store.lease(["a", "b", "c"], "two", 60)
    assert others in ({"c"}, everything)  # a store of one machine may give everything to all
    assert empty_store.lease(["a"], "one", 0) == {"a"}
    assert empty_store.lease(["a"], "two", 60) == {"a"}
    empty_store.drop_vectors()
    assert empty_store.lease(["a", "b", "c"], "three", 60) == everything
    assert empty_store.lease([], "three", 60) == frozenset()


def test_a_sample_is_spread_evenly_and_the_same_every_time(store: Store) -> None:
    put_texts(store, {f"{number}.md": f"word{number}" for number in range(10)})
    put_texts(store, {"w.md": "work"}, collection="work")
    embed_backlog(store)
    put_texts(store, {"late.md": "without a vector"})
    with store.snapshot() as view:
        everything, vectors, total = view.sample(MODEL, 100, NOTES)
        assert total == len(everything) == len(vectors) == 10
        assert everything == sorted(everything)
        for ref, vector in zip(everything, vectors, strict=True):
            assert view.cosines(MODEL, vector, [ref])[ref] == pytest.approx(1, abs=1e-5)
        some, some_vectors, total = view.sample(MODEL, 5, NOTES)
        assert (some, total, some_vectors.shape) == (everything[::2], 10, (5, MODEL.dims))
        assert view.sample(OTHER_MODEL, 5, NOTES)[0] == []
        only = view.sample(MODEL, 5, Scope(None, Compare("path", "eq", "3.md")))
        assert [each.info.path for each in view.passages(only[0])] == ["3.md"]


def test_the_mark_changes_with_every_change(store: Store) -> None:
    def mark() -> str:
        with store.snapshot() as view:
            return view.mark()

    before = mark()
    assert mark() == before
    put_texts(store, {"a.md": "alpha"})
    assert mark() != before
