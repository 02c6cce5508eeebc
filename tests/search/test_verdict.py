"""The verdict on an answer as a whole: found, uncertain, or probably absent."""

import pytest

from contract.builders import put_texts
from dowse.ports import Store
from dowse.search.verdict import SMALL
from search.asking import ask, embed_all

TOPICS = ("tea", "bread", "soil", "rain", "glass", "paper", "copper", "wool")


@pytest.fixture
def shelf(store: Store) -> Store:
    """More documents than a small collection has."""
    texts = {
        f"{topic}{number}.md": f"Chapter {number} tells how {topic} was made in the harbour town of Brunwick, slowly."
        for topic in TOPICS
        for number in range(8)
    }
    assert len(texts) > SMALL
    put_texts(store, texts)
    embed_all(store)
    return store


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_what_stands_there_word_for_word_is_found(shelf: Store, mode: str) -> None:
    answer = ask(shelf, "how copper was made in the harbour town of Brunwick", mode=mode)
    assert answer.verdict == "found"
    assert answer.confidence > 0.7


@pytest.mark.parametrize("mode", ["lex", "vec", "hybrid", "auto"])
@pytest.mark.parametrize("text", ["zorgle fnarbix quilp", "asdf qwer zxcv", "the xyzzyq of wubbalub"])
def test_gibberish_is_never_found(shelf: Store, mode: str, text: str) -> None:
    assert ask(shelf, text, mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_one_common_word_of_a_question_about_something_else_is_not_enough(shelf: Store, mode: str) -> None:
    assert ask(shelf, "which mitochondrial kinase regulates glucose slowly", mode=mode).verdict == "absent"


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_two_words_are_found_only_where_they_stand_together(store: Store, mode: str) -> None:
    texts = {f"{number}.md": f"Note {number} on nothing much." for number in range(SMALL)}
    filler = "It went on like this for a long while, and nobody minded at all. " * 6
    put_texts(store, {**texts, "apart.md": f"The harbour. {filler} Some copper.", "together.md": "A copper kettle."})
    embed_all(store)
    assert ask(store, "copper kettle", mode=mode).verdict == "found"
    assert ask(store, "harbour copper", mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_a_small_collection_is_in_doubt_rather_than_without_the_answer_and_hides_nothing(
    library: Store, mode: str
) -> None:
    answer = ask(library, "when should plants be watered at night", mode=mode)
    assert answer.verdict == "uncertain"
    assert answer.hits


def test_a_minimum_score_hides_hits_but_does_not_change_the_verdict(shelf: Store) -> None:
    text = "how copper was made in the harbour town of Brunwick"
    everything, nothing = ask(shelf, text), ask(shelf, text, min_score=1.0)
    assert (nothing.verdict, nothing.confidence) == (everything.verdict, everything.confidence)


@pytest.mark.parametrize("mode", ["lex", "vec", "hybrid"])
def test_whoever_does_not_want_a_verdict_gets_the_same_hits_without_one(shelf: Store, mode: str) -> None:
    text = "how copper was made in the harbour town of Brunwick"
    judged, plain = (ask(shelf, text, mode=mode, verdict=verdict) for verdict in (True, False))
    assert plain.hits == judged.hits
    assert (plain.verdict, plain.confidence) == ("uncertain", 0.0)


def test_an_answer_without_a_hit_is_absent(shelf: Store) -> None:
    answer = ask(shelf, "zorgle", mode="lex")
    assert (answer.hits, answer.verdict, answer.confidence) == ((), "absent", 0.0)


def test_conditions_alone_find_what_meets_them(shelf: Store) -> None:
    assert ask(shelf, "path:tea*").verdict == "found"
    assert ask(shelf, "path:nowhere/*").verdict == "absent"


def test_questions_in_a_script_that_the_model_does_not_know_are_judged_by_their_words(store: Store) -> None:
    texts = {f"{number}.md": f"第{number}章介绍城市的历史和文化。" for number in range(SMALL)}
    put_texts(store, {**texts, "pool.md": "数据库连接池的超时设置说明"})
    assert ask(store, "数据库连接池的超时设置").verdict == "found"
    assert ask(store, "细胞线粒体蛋白激酶").verdict == "absent"
