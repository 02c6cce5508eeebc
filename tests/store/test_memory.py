"""The oracle's BM25 against figures worked out by hand, and against tantivy itself."""

import math
import random

import pytest
import tantivy

from dowse.store.memory import bm25
from dowse.store.memory.bm25 import Bm25, rounded_length
from dowse.types import Ref

FIRST, SECOND, THIRD = Ref(1), Ref(2), Ref(3)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Bm25:
    """Three chunks; bodies of 2, 1 and 3 words, 2 on average; one name, 1/3 of a word on average."""
    monkeypatch.setattr(bm25, "BOOSTS", {"body": 1.0, "name": 0.5})
    return Bm25(
        {
            FIRST: {"body": ["apple", "pear"], "name": []},
            SECOND: {"body": ["apple"], "name": ["pear"]},
            THIRD: {"body": ["plum", "plum", "fig"], "name": []},
        }
    )


def test_a_word_in_a_field_of_average_length_scores_its_idf(index: Bm25) -> None:
    # idf(apple) = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6; 1 * 2.2 / (1 + 1.2 * 1) = 1
    assert index.score(["apple"], FIRST) == pytest.approx(math.log(1.6))
    assert index.score(["apple"], FIRST) == pytest.approx(0.470004, abs=1e-6)


def test_a_shorter_field_scores_more(index: Bm25) -> None:
    # 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1/2)) = 2.2 / 1.75
    assert index.score(["apple"], SECOND) == pytest.approx(0.470004 * 2.2 / 1.75, abs=1e-6)


def test_a_repeated_word_saturates(index: Bm25) -> None:
    # idf(plum) = ln(1 + 2.5 / 1.5); 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3/2)) = 4.4 / 3.65
    assert index.score(["plum"], THIRD) == pytest.approx(0.980829 * 4.4 / 3.65, abs=1e-6)


def test_fields_have_statistics_and_boosts_of_their_own(index: Bm25) -> None:
    # In `name`: idf(pear) = ln(1 + 2.5 / 1.5), length 1 where the average is 1/3:
    # 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3)) = 2.2 / 4, halved by the boost
    assert index.score(["pear"], SECOND) == pytest.approx(0.5 * 0.980829 * 2.2 / 4, abs=1e-6)
    assert index.score(["pear"], FIRST) == pytest.approx(0.980829, abs=1e-6)


def test_terms_add_up_and_repeating_one_changes_nothing(index: Bm25) -> None:
    both = index.score(["apple"], FIRST) + index.score(["pear"], FIRST)
    assert index.score(["apple", "pear"], FIRST) == pytest.approx(both)
    assert index.score(["apple", "pear", "apple"], FIRST) == pytest.approx(both)


def test_a_chunk_without_the_term_scores_nothing(index: Bm25) -> None:
    assert index.score(["apple", "unknown"], THIRD) == 0
    assert not index.matches(["apple", "unknown"], THIRD)
    assert index.matches(["pear"], SECOND)


def test_the_ceiling_sums_over_the_terms_that_each_field_knows(index: Bm25) -> None:
    # apple: ln 1.6 in `body` alone; pear: ln(1 + 2.5 / 1.5) in both
    assert index.ceiling(["apple"]) == pytest.approx(2.2 * math.log(1.6))
    assert index.ceiling(["pear"]) == pytest.approx(2.2 * 1.5 * 0.980829, abs=1e-5)
    together = index.ceiling(["apple"]) + index.ceiling(["pear"])
    assert index.ceiling(["apple", "pear", "unknown"]) == pytest.approx(together)
    assert index.ceiling(["unknown"]) == index.ceiling([]) == 0


def test_no_score_reaches_the_ceiling(index: Bm25) -> None:
    for term in ("apple", "pear", "plum", "fig"):
        assert all(index.score([term], ref) < index.ceiling([term]) for ref in (FIRST, SECOND, THIRD))


def test_lengths_are_exact_up_to_forty_words_and_rounded_down_above() -> None:
    assert [rounded_length(words) for words in range(42)] == [*range(41), 40]
    # The steps of tantivy's table behind 40, and the lengths just below them.
    for step, before in ((42, 40), (56, 54), (60, 56), (88, 84), (96, 88), (152, 144), (168, 152), (1_048, 984)):
        assert (rounded_length(step), rounded_length(step - 1)) == (step, before)


def test_scores_are_those_of_tantivy_for_fields_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    boosts = {"body": 1.0, "name": 0.3}
    monkeypatch.setattr(bm25, "BOOSTS", boosts)
    chance = random.Random(7)  # noqa: S311 - makes texts, not secrets
    chunks = {
        Ref(number): {
            "body": chance.choices(["apple", "pear", "plum", "fig", "quince"], k=chance.randrange(1, 400)),
            "name": chance.choices(["apple", "fig"], k=chance.randrange(3)),
        }
        for number in range(60)
    }
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("ref", stored=True)
    for field in boosts:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for ref, fields in chunks.items():
        writer.add_document(tantivy.Document(ref=ref, **{name: " ".join(words) for name, words in fields.items()}))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    asked = ["apple", "quince"]
    query = tantivy.Query.boolean_query(
        [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(tantivy.Query.term_query(index.schema, field, term), boost),
            )
            for field, boost in boosts.items()
            for term in asked
        ]
    )
    hits = searcher.search(query, limit=100).hits
    found = {Ref(searcher.doc(address)["ref"][0]): score for score, address in hits}
    oracle = Bm25(chunks)
    expected = {ref: oracle.score(asked, ref) for ref in chunks if oracle.matches(asked, ref)}
    assert found == pytest.approx(expected, rel=1e-5)
