"""Tokens are counted exactly as the tokenizer itself would, in any text, and for any part of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

import dowse
from dowse.errors import ModelError
from dowse.text import tokens
from dowse.text.tokens import TokenCounter
from text.tiny_tokenizer import SENTENCES, tiny_tokenizer_json

COUNTER = TokenCounter(tiny_tokenizer_json())
WORDS = TokenCounter(None)

unhurried = settings(deadline=None)

# What the rules of GPT-2 turn on: contractions, digits of all kinds, and every sort of white space.
TRICKY = st.text(
    st.sampled_from("ab1 '\n\t\r.,_-")
    | st.sampled_from("stredvml' \u3000\x0b\x0c\x1c\x1f\x85\xa0\u2028。、！漢字（）é٣½Ⅷ\u0301😀"),
    max_size=30,
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TEXTS = TRICKY | ANY_TEXT | st.lists(st.sampled_from(SENTENCES) | TRICKY, max_size=4).map("".join)


def own_count(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.fixture(scope="module")
def tokenizer():
    tokenizer = Tokenizer.from_buffer(tiny_tokenizer_json())
    tokenizer.encode_special_tokens = True
    return tokenizer


@unhurried
@given(text=TEXTS)
def test_the_count_is_the_tokenizers_own(tokenizer, text):
    assert COUNTER.count(text) == own_count(tokenizer, text)


@pytest.mark.parametrize("text", ["a</s>b", "<s>", "x <mask> y", "<<mask>>", "</s></s>"])
def test_special_tokens_in_a_text_are_ordinary_text(tokenizer, text):
    assert COUNTER.count(text) == own_count(tokenizer, text) > text.count("<mask>")


def test_a_letter_that_python_does_not_know_yet_counts_as_the_tokenizer_sees_it(tokenizer):
    newer = "".join(chr(point) for point in (0x1C89, 0xA7CB, 0x105C0, 0x10D40, 0x2EBF0))
    for text in (f"a{newer}b", f"1{newer}2", f"。{newer}。", f" {newer} x"):
        assert COUNTER.count(text) == own_count(tokenizer, text)


@unhurried
@given(text=TEXTS, data=st.data())
def test_an_index_counts_every_span_as_if_it_stood_alone(text, data):
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    index = COUNTER.index(text, first, last)
    start = data.draw(st.integers(first, last))
    end = data.draw(st.integers(start, last))
    assert index.count(start, end) == COUNTER.count(text[start:end])


@unhurried
@given(before=TEXTS, gap=st.text(st.sampled_from(" \n\t\u3000\x1c"), min_size=1, max_size=4), after=TEXTS)
def test_what_a_passage_adds_behind_another_is_exact(before, gap, after):
    before, after = before.strip(), after.rstrip()
    if not before or not after.strip():
        return
    text = before + gap + after
    alone, added = COUNTER.following(text, len(before), len(before + gap), len(text))
    assert alone == COUNTER.count(after)
    assert COUNTER.count(before) + added == COUNTER.count(text)


@unhurried
@given(text=TEXTS)
def test_without_a_tokenizer_words_and_marks_are_counted(text):
    assert WORDS.count(text) == len(re.findall(r"\w+|[^\w\s]", text))


@unhurried
@given(text=TEXTS, data=st.data())
def test_words_of_spans_are_counted_as_well(text, data):
    start = data.draw(st.integers(0, len(text)))
    assert WORDS.index(text).count(start, len(text)) == WORDS.count(text[start:])


def test_texts_that_are_too_long_for_a_list_are_counted_the_same(tokenizer):
    text = "".join(SENTENCES) * 500
    assert len(text) > tokens._LONG_TEXT
    assert COUNTER.count(text) == own_count(tokenizer, text)


@pytest.mark.parametrize("run", ["x" * 20_000, "é" * 20_000, "=" * 20_000, " " * 20_000 + "x"])
def test_an_endless_run_is_measured_in_parts_and_at_most_a_little_too_high(tokenizer, run):
    exact = own_count(tokenizer, run)
    assert exact <= COUNTER.count(run) <= exact + 2 * (1 + len(run) // 2_048)


def test_remembered_counts_are_bounded(monkeypatch):
    monkeypatch.setattr(tokens, "_CACHED_COUNTS", 50)
    counter = TokenCounter(None)
    assert counter.count(" ".join(f"word{number}" for number in range(1_000))) == 1_000
    assert counter.count("y" * 100) == 1
    assert len(counter._counts) <= 50
    assert "y" * 100 not in counter._counts


def test_real_files_are_counted_exactly(tokenizer):
    for path in sorted(Path(dowse.__file__).parent.rglob("*.py"))[:20]:
        text = path.read_text(encoding="utf-8")
        assert COUNTER.count(text) == own_count(tokenizer, text)


def test_a_tokenizer_of_another_kind_is_refused_with_a_hint():
    other = json.loads(tiny_tokenizer_json())
    other["pre_tokenizer"] = {"type": "Whitespace"}
    with pytest.raises(ModelError) as caught:
        TokenCounter(json.dumps(other).encode()).count("text")
    assert "tokenizer.json" in caught.value.hint


def test_nothing_is_imported_before_something_is_counted():
    script = (
        "import sys; from dowse.text.tokens import TokenCounter; TokenCounter(b'{}'); TokenCounter(None).count('a b')\n"
        "assert 'tokenizers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.model
def test_the_models_own_tokenizer_is_counted_exactly():
    from dowse.inference import tokenizer_json

    source = tokenizer_json("granite-embedding-30m-english")
    assert source is not None
    counter = TokenCounter(source)
    model_tokenizer = Tokenizer.from_buffer(source)
    model_tokenizer.encode_special_tokens = True
    paths = sorted(Path(dowse.__file__).parent.rglob("*.py"))[:10]
    for text in (*SENTENCES, "".join(SENTENCES), *(path.read_text(encoding="utf-8") for path in paths)):
        assert counter.count(text) == own_count(model_tokenizer, text)
