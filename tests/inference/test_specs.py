"""One line of configuration: what it means, and how a wrong one is answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import ConfigError
from dowse.inference import specs
from dowse.inference.kinds import EMBEDDERS, EXPANDERS, RERANKERS
from dowse.inference.prefixes import known_prefixes
from dowse.inference.specs import Spec

KINDS = {kind: row.options for kind, row in {**EXPANDERS, **RERANKERS, **EMBEDDERS}.items()}


def parse(text: str) -> Spec:
    return specs.parse(text, "embedder", KINDS, ["granite"])


def refusal(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return caught.value


def test_an_address_has_a_model_and_options():
    spec = parse(
        "openai:http://127.0.0.1:11434/v1/#nomic-embed-text;key=MY_KEY;dims=768;query=search_query: ;timeout=2.5"
    )

    assert (spec.kind, spec.name) == ("openai", "nomic-embed-text")
    assert specs.address(spec) == "http://127.0.0.1:11434/v1"
    assert spec.option("query") == "search_query: "
    assert spec.whole("dims", 0) == 768
    assert spec.whole("tokens", 512) == 512
    assert spec.seconds("timeout", 1.0) == 2.5


def test_marks_of_the_grammar_can_be_escaped():
    spec = parse("onnx:/models/a%23b%3Bc;query=50%25 %3B ")

    assert specs.folder_or_file(spec).as_posix().endswith("/models/a#b;c")
    assert spec.option("query") == "50% ; "


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("opnai:http://x#m", "Did you mean 'openai'?"),
        ("onx:/m", "Did you mean 'onnx'?"),
        ("granit", "Did you mean 'granite'?"),
        ("onnx:/m;poling=cls", "Did you mean 'pooling'?"),
    ],
)
def test_an_unknown_kind_or_option_is_answered_with_the_nearest(text, guess):
    assert guess in refusal(text).hint


@pytest.mark.parametrize(
    "text",
    [
        "onnx:",
        "onnx:  ;pooling=cls",
        "onnx:/m;pooling=",
        "onnx:/m;pooling",
        "onnx:/m;pooling=middle",
        "onnx:/m;dims=0",
        "onnx:/m;dims=many",
        "openai:http://x#m;timeout=0",
        "openai:http://x#m;timeout=nan",
        "cohere:http://x;scores=3",
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_way_out(text):
    assert refusal(text).hint


def test_a_key_instead_of_its_variable_is_refused_and_never_repeated():
    error = refusal("openai:http://x#m;key=sk-very-secret")

    assert "environment variable" in error.hint
    assert "secret" not in error.message + error.hint


@pytest.mark.parametrize(
    "place", ["localhost:11434", "ftp://host/v1", "http://", "http://host:99999/v1", "http://h/v1?x=1"]
)
def test_an_address_that_is_none_is_refused(place):
    with pytest.raises(ConfigError, match="no usable address"):
        specs.address(parse(f"openai:{place}#m"))


def test_a_secret_under_a_wrong_name_is_not_repeated():
    error = refusal("openai:http://x#m;apikey=sk-very-secret")

    assert "'key'" in error.hint
    assert "secret" not in error.message + error.hint


def test_an_address_with_a_password_is_refused_without_repeating_it():
    with pytest.raises(ConfigError) as caught:
        specs.address(parse("openai:https://me:hunter2@host/v1#m"))
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_relative_path_is_refused_with_the_full_one():
    with pytest.raises(ConfigError) as caught:
        specs.folder_or_file(parse("onnx:models/e5"))
    assert caught.value.hint.startswith("Write it in full: onnx:")


@given(st.text())
def test_any_text_is_parsed_or_refused_with_a_hint(text):
    for candidate in (text, f"onnx:{text}", f"openai:http://h/v1#{text}"):
        hint = "none needed"
        try:
            parse(candidate)
        except ConfigError as error:
            hint = error.hint
        assert hint


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_families_of_models_bring_their_prefixes(name, query, passage):
    assert known_prefixes(name) == (query, passage)
