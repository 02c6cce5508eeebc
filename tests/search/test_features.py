"""What reading a passage tells: words that stand together, in their order, and whether it is code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.builders import put_texts
from dowse.ports import NONE, Store
from dowse.search.asking import Words
from dowse.search.features import Closeness, is_code, names_something
from dowse.search.matching import Matcher
from dowse.text.analyse import query_terms
from search.asking import ask, embed_all

QUESTION = "slow connection pool timeouts"


def closeness(text: str, question: str = QUESTION, alternatives: dict[str, dict[str, float]] | None = None):
    terms = query_terms(question)
    words = Words(tuple(terms), alternatives or NONE, (), 1.0, question, dict.fromkeys(terms, 1.0))
    everything = [*terms, *(other for group in (alternatives or {}).values() for other in group)]
    return Closeness(words, everything).of(Matcher(everything).matches(text))


def test_a_verbatim_question_is_as_close_as_can_be() -> None:
    assert closeness(f"It was about {QUESTION}, they said.") == (1.0, 1.0, 4)


def test_without_any_of_the_words_there_is_nothing_close() -> None:
    assert closeness("Bread wants flour and water.") == (0.0, 0.0, 0)


def test_words_far_apart_share_no_window() -> None:
    window, pairs, _ = closeness("A slow day. " + "Nothing happened. " * 30 + "The pool was closed.")
    assert window == pytest.approx(0.25)
    assert pairs == 0


def test_neighbours_count_in_the_order_of_the_question() -> None:
    assert closeness("The connection pool.")[1] > 0
    assert closeness("The pool is a connection.")[1] == 0


def test_parts_of_one_identifier_are_neighbours() -> None:
    assert closeness("See connection_pool below.")[1] > 0


def test_joined_spellings_of_a_name_are_no_further_words() -> None:
    assert closeness("def user_name():", "user_name")[2] == 2


def test_what_stands_for_a_word_counts_as_that_word() -> None:
    assert closeness("timed out", "timeou", {"timeou": {"time": 0.6}})[0] == 1.0


@given(st.lists(st.sampled_from(["slow", "connection", "pool", "timeouts", "bread", "x" * 40, "\n"]), max_size=60))
def test_both_are_shares_and_more_text_never_takes_away(words: list[str]) -> None:
    text = " ".join(words)
    window, pairs, found = closeness(text)
    assert 0 <= window <= 1
    assert 0 <= pairs <= 1 + 1e-9
    longer = closeness(f"{text} and more")
    assert longer[0] >= window
    assert longer[1] >= pairs
    assert longer[2] == found == len({"slow", "connection", "pool", "timeouts"}.intersection(words))


@pytest.mark.parametrize(
    "text",
    ["def add(a, b):\n    return a + b[0]\n", "for (int i = 0; i < n; i++) { sum += x[i]; }", "let x = f(y)?;"],
)
def test_code_is_known_by_its_signs(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize("text", ["", "A sentence (with an aside) about the pool.", "数据库连接池。"])
def test_prose_is_not_code(text: str) -> None:
    assert not is_code(text)


@pytest.mark.parametrize("text", ["read_file", "getUserName", "Path::new", "where is main() called", "json.loads("])
def test_a_question_that_spells_an_identifier_names_something(text: str) -> None:
    assert names_something(text)


@pytest.mark.parametrize("text", ["how to read a file", "What is a JSON parser?", "e.g. this", ""])
def test_a_question_in_words_names_nothing(text: str) -> None:
    assert not names_something(text)


def test_a_passage_that_says_it_together_comes_first_and_the_explanation_says_why(store: Store) -> None:
    apart = "The pool is deep. " + "Children play here all day long. " * 12 + "Mind the connection to the city."
    put_texts(store, {"apart.md": apart, "together.md": "Children play. The connection pool is deep. " * 2})
    embed_all(store)
    hits = ask(store, "connection pool", mode="hybrid").hits
    assert hits[0].info.path == "together.md"
    features = {feature.name: feature.value for feature in hits[0].explain.features}
    assert features == {"window": 1.0, "pairs": 1.0}


def test_answers_in_code_are_found_by_meaning_more_than_by_words(store: Store) -> None:
    code = {f"{name}.py": f"def {name}(a, b):\n    return [a[0], (b)]\n" for name in ("one", "two", "three")}
    put_texts(store, code)
    embed_all(store)
    weights = [
        {leg.name: leg.weight for leg in ask(store, text).hits[0].explain.legs} for text in ("return one", "one_two")
    ]
    assert weights[0]["lex"] < weights[1]["lex"]
    names = [feature.name for feature in ask(store, "return one").hits[0].explain.features]
    assert names[0] == "code"
