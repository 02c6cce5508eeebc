"""The figures of a ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.evaluate.metrics import hit, ndcg, percentile, recall, reciprocal_rank

GRADES = {"a": 2, "b": 1, "no": 0}


def test_a_perfect_ranking_has_perfect_figures():
    assert ndcg(["a", "b", "x"], GRADES) == pytest.approx(1)
    assert recall(["a", "b", "x"], GRADES) == 1
    assert reciprocal_rank(["a", "b", "x"], GRADES) == 1


def test_places_count_as_they_should():
    assert ndcg(["b", "a"], GRADES) == pytest.approx((1 + 2 / 1.584962500721156) / (2 + 1 / 1.584962500721156))
    assert recall(["x", "b"], GRADES) == 0.5
    assert reciprocal_rank(["no", "x", "b"], GRADES) == pytest.approx(1 / 3)
    assert (hit(["x", "x", "a"], GRADES), hit(["x", "x", "y", "a"], GRADES)) == (1.0, 0.0)


def test_what_stands_below_the_depth_does_not_count():
    ranking = [f"x{number}" for number in range(10)] + ["a"]
    assert [figure(ranking, GRADES, 10) for figure in (ndcg, recall, reciprocal_rank, hit)] == [0, 0, 0, 0]
    assert recall(ranking, GRADES, 11) == 0.5


def test_nothing_relevant_is_no_division_by_nothing():
    assert [figure(["a"], {"a": 0}, 10) for figure in (ndcg, recall, reciprocal_rank)] == [0, 0, 0]


def test_a_percentile_is_one_of_the_values():
    assert percentile([], 0.5) == 0
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(list(range(1, 101)), 0.95) == 95
    assert percentile([7], 0.95) == 7


names = st.sampled_from("abcdefghijklmno")


@given(st.lists(names, unique=True), st.dictionaries(names, st.integers(0, 3), max_size=8))
def test_every_figure_lies_between_0_and_1(ranking, grades):
    for figure in (ndcg, recall, reciprocal_rank, hit):
        assert 0 <= figure(ranking, grades, 10) <= 1 + 1e-12
