"""Evidence becomes one score: absolute, monotone, explained."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.fuse import (
    _EVEN,
    CALIBRATION,
    FEATURES,
    WEIGHTS,
    Evidence,
    LegName,
    Weights,
    best_unseen,
    explain,
    fuse,
    score,
)
from dowse.search.reciprocal import RANKS
from dowse.types import Explain, Feature, Leg, Ranked, Ref

BOTH: tuple[LegName, ...] = ("lex", "vec")

refs = st.integers(1, 30).map(Ref)
values = st.floats(-1, 20, allow_nan=False)


@st.composite
def leg(draw: st.DrawFn, ceiling: float | None = None) -> Evidence:
    """A leg's list, best first, and its values for some passages beyond it."""
    known = draw(st.dictionaries(refs, values, max_size=12))
    listed = sorted(known, key=lambda ref: (-known[ref], ref))[: draw(st.integers(0, 12))]
    most = draw(st.sampled_from([0.0, 1.0, 12.5])) if ceiling is None else ceiling
    return Evidence(Ranked(tuple((ref, known[ref]) for ref in listed), most), known)


def one(name: LegName, *scores: float, ceiling: float = 1.0) -> dict[LegName, Evidence]:
    hits = tuple((Ref(number), score) for number, score in enumerate(scores, start=1))
    return {name: Evidence(Ranked(hits, ceiling), dict(hits))}


def ranking_of(mode: str, evidence: dict[LegName, Evidence]) -> list[tuple[Ref, Explain]]:
    """The candidates in their order, each with its explanation, whose sum is what they were ranked by."""
    if len(evidence) == 1:
        (leg,) = evidence.values()
        return list(explain(mode, evidence, [ref for ref, _ in leg.ranked.hits]).items())
    ranking = fuse(mode, evidence)
    explained = explain(mode, evidence, [ref for ref, _ in ranking])
    assert [fused for _, fused in ranking] == pytest.approx([explained[ref].fused for ref, _ in ranking])
    return [(ref, explained[ref]) for ref, _ in ranking]


@pytest.mark.parametrize("mode", list(WEIGHTS))
def test_the_weights_of_a_mode_add_up_to_one_so_that_its_scale_is_0_to_1(mode: str) -> None:
    assert sum(WEIGHTS[mode].values()) == pytest.approx(1)
    assert set(CALIBRATION) == {*WEIGHTS, RANKS}


def test_bm25_counts_as_a_share_of_the_most_that_the_query_could_reach() -> None:
    ((_, how),) = ranking_of("lex", one("lex", 3.0, ceiling=12.0))
    assert how.legs[0].raw == 3.0
    assert how.legs[0].value == how.fused == 0.25


def test_a_score_does_not_depend_on_the_list_that_it_stands_in() -> None:
    alone = dict(ranking_of("lex", one("lex", 3.0, ceiling=12.0)))
    among = dict(ranking_of("lex", one("lex", 3.0, 2.0, 1.0, ceiling=12.0)))
    assert alone[Ref(1)] == among[Ref(1)]


def test_even_evidence_scores_one_half() -> None:
    for mode, (_, middle) in CALIBRATION.items():
        assert score(mode, middle) == pytest.approx(0.5)


def test_without_any_evidence_there_is_nothing_to_rank() -> None:
    assert ranking_of("lex", one("lex")) == []
    assert ranking_of("hybrid", {**one("lex"), **one("vec")}) == []


def test_a_negative_cosine_is_no_evidence_and_no_evidence_against() -> None:
    ((_, how),) = ranking_of("vec", one("vec", -0.5))
    assert (how.legs[0].raw, how.legs[0].value) == (-0.5, 0.0)


def test_equal_evidence_is_ordered_by_ref() -> None:
    assert [ref for ref, _ in ranking_of("lex", one("lex", *[0.5] * 9))] == list(range(1, 10))


@given(words=leg(), meaning=leg(ceiling=1.0))
def test_every_candidate_of_either_list_is_ranked_once_best_first_and_explained(
    words: Evidence, meaning: Evidence
) -> None:
    ranking = ranking_of("hybrid", {"lex": words, "vec": meaning})
    listed = {ref for evidence in (words, meaning) for ref, _ in evidence.ranked.hits}
    assert len(ranking) == len(listed)
    assert {ref for ref, _ in ranking} == listed
    assert ranking == sorted(ranking, key=lambda each: (-each[1].fused, each[0]))
    scores = [how.score for _, how in ranking]
    assert scores == sorted(scores, reverse=True)
    in_words = {ref for ref, _ in words.ranked.hits}
    for ref, how in ranking:
        has_vector = ref in meaning.values or ref not in in_words
        assert [each.name for each in how.legs] == list(BOTH if has_vector else BOTH[:1])
        if has_vector:
            parts: tuple[Leg | Feature, ...] = (*how.legs, *how.features)
            assert how.fused == pytest.approx(sum(part.weight * part.value for part in parts))
        assert 0 <= how.score <= 1
        for each, evidence in zip(how.legs, (words, meaning), strict=False):
            order = [hit for hit, _ in evidence.ranked.hits]
            assert each.rank == (order.index(ref) + 1 if ref in order else None)
            assert each.raw == evidence.values.get(ref, 0.0)
            assert 0 <= each.value <= 1


@given(words=leg(ceiling=12.5), meaning=leg(ceiling=1.0), depths=st.tuples(st.integers(1, 12), st.integers(1, 12)))
def test_nothing_beyond_the_lists_scores_more_than_what_could_follow_them(
    words: Evidence, meaning: Evidence, depths: tuple[int, int]
) -> None:
    whole = {"lex": words, "vec": meaning}
    cut = {
        name: Evidence(Ranked(evidence.ranked.hits[:depth], evidence.ranked.ceiling), evidence.values)
        for (name, evidence), depth in zip(whole.items(), depths, strict=True)
    }
    seen = {ref for evidence in cut.values() for ref, _ in evidence.ranked.hits}
    # A store's values agree with its list: what is not in a whole list has no value in it.
    listed = {name: dict(evidence.ranked.hits) for name, evidence in whole.items()}
    exact = {name: Evidence(whole[name].ranked, listed[name]) for name in BOTH}
    most = best_unseen("hybrid", {name: Evidence(cut[name].ranked, listed[name]) for name in BOTH})
    assert all(how.score <= most for ref, how in ranking_of("hybrid", exact) if ref not in seen)


@pytest.mark.parametrize("code", [0.1, 0.5, 1.0])
def test_where_the_candidates_are_code_words_weigh_less_and_even_evidence_scores_as_before(code: float) -> None:
    usual, turned = Weights.of("hybrid"), Weights.of("hybrid", code)
    assert turned.legs["lex"] < usual.legs["lex"]
    assert sum(turned.legs.values()) == pytest.approx(sum(usual.legs.values()))
    even = {**one("lex", _EVEN["lex"]), **one("vec", _EVEN["vec"])}
    without = [replace(weights, features={}) for weights in (usual, turned)]
    first, second = (fuse("hybrid", even, weights)[0][1] for weights in without)
    assert first == pytest.approx(second)


def test_what_was_not_read_counts_as_close_together_as_its_words_say() -> None:
    evidence = {**one("lex", 0.5), **one("vec", 0.8)}
    ((ref, fused),) = fuse("hybrid", evidence)
    unread = explain("hybrid", evidence, [ref])[ref]
    assert [feature.name for feature in unread.features] == ["unread"]
    as_usual = tuple(Feature(name, 0.5, weight) for name, weight in FEATURES.items())
    read = explain("hybrid", evidence, [ref], features={ref: as_usual})[ref]
    assert fused == pytest.approx(unread.fused) == pytest.approx(read.fused)
