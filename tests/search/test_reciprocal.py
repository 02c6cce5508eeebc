"""Stores whose scores do not compare: places decide, and nothing is claimed that only evidence could tell."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest

from dowse.ports import NONE, Alternatives, Snapshot, Store
from dowse.types import Answer, Ranked, Scope
from search.asking import MODES, ask, ask_view, files

if TYPE_CHECKING:
    from dowse.ports import Vector
    from dowse.types import ModelIdentity


class Opaque:
    """A store that ranks as others do, by figures that mean nothing: a distance, and counts without a ceiling."""

    comparable_scores = False

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """Thousands, and no ceiling."""
        ranked = self._inner.lexical(terms, k, scope, alternatives, required)
        return Ranked(tuple((ref, 1000 + 7 * value) for ref, value in ranked.hits), 0.0)

    def nearest(self, model: "ModelIdentity", vector: "Vector", k: int, scope: Scope) -> Ranked:
        """Distances below zero."""
        ranked = self._inner.nearest(model, vector, k, scope)
        return replace(ranked, hits=tuple((ref, value - 5) for ref, value in ranked.hits))


def ask_opaque(store: Store, text: str, **options: object) -> Answer:
    with store.snapshot() as view:
        return ask_view(cast("Snapshot", Opaque(view)), text, **options)


@pytest.mark.parametrize("mode", MODES)
def test_scores_follow_the_order_and_stay_between_0_and_1(library: Store, mode: str) -> None:
    scores = [hit.score for hit in ask_opaque(library, "water for the garden beds", mode=mode).hits]
    assert scores
    assert all(0 <= score <= 1 for score in scores)
    assert all(better >= worse for better, worse in pairwise(scores))


@pytest.mark.parametrize("mode", ["lex", "vec"])
def test_one_list_alone_keeps_its_order(library: Store, mode: str) -> None:
    assert files(ask_opaque(library, "water in the evening", mode=mode)) == files(
        ask(library, "water in the evening", mode=mode)
    )


def test_what_both_lists_have_in_front_comes_before_what_one_of_them_has(library: Store) -> None:
    answer = ask_opaque(library, "water the beds in the evening", mode="hybrid")
    best = answer.hits[0]
    assert best.info.file == "notes/garden/soil.md"
    assert [leg.rank for leg in best.explain.legs] == [1, 1]
    assert best.explain.fused == pytest.approx(1.0)
    for hit in answer.hits:
        places = [leg.rank for leg in hit.explain.legs]
        assert hit.explain.fused == pytest.approx(sum(61 / (60 + place) / 2 for place in places if place))


@pytest.mark.parametrize("mode", MODES)
def test_no_such_answer_is_called_found_or_absent(library: Store, mode: str) -> None:
    assert ask_opaque(library, "water the beds in the evening", mode=mode).verdict == "uncertain"
    assert ask_opaque(library, "a neutron star in water", mode=mode).verdict == "uncertain"


def test_a_minimum_score_and_recency_work_there_as_well(library: Store) -> None:
    everything = ask_opaque(library, "water", mode="hybrid")
    least = everything.hits[1].score
    cut = ask_opaque(library, "water", mode="hybrid", min_score=least)
    assert files(cut) == [hit.info.file for hit in everything.hits if hit.score >= least]
    assert len(ask_opaque(library, "water", mode="hybrid", recency=30).hits) == len(everything.hits)
