"""Models from ONNX folders: what their files say is done, and what is missing or wrong is told."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from dowse import inference
from dowse.errors import ModelError
from dowse.inference.cache import Cache
from dowse.inference.onnx_folder import open_folder
from dowse.inference.specs import Spec
from inference.tiny_onnx import DIMS, write_cross_encoder, write_encoder

QUESTION = "how hot should the water for green tea be"
ANSWER = "green tea is brewed with water of 70 to 80 degrees"
OTHER = "the central bank raised interest rates in march"
CONFIG = {"hidden_size": DIMS, "max_position_embeddings": 64}


@pytest.fixture
def embed(tmp_path):
    """Makes embedders of a folder; the options are the end of the line."""
    made = []

    def make(folder, options: str = ""):
        made.append(inference.make_embedder(f"onnx:{folder}{options}", cache_dir=tmp_path / "cache"))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def rerank(tmp_path):
    made = []

    def make(folder, options: str = ""):
        made.append(inference.make_reranker(f"onnx:{folder}{options}", cache_dir=tmp_path / "cache"))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_an_answer_is_nearer_than_something_else_and_rows_are_unit_vectors(embed, tmp_path):
    embedder = embed(write_encoder(tmp_path / "m", config_json=CONFIG))

    rows = embedder.embed_passages([ANSWER, OTHER, ANSWER])

    assert rows.shape == (3, DIMS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    answer, other, _ = rows @ embedder.embed_query(QUESTION)
    assert answer > other + 0.1


def test_the_identity_is_known_from_files_alone_and_follows_them(tmp_path):
    folder = write_encoder(tmp_path / "multilingual-e5-tiny", config_json=CONFIG)
    line = f"onnx:{folder}"

    identity = inference.identity_of(line, "int8", tmp_path)

    assert (identity.name, identity.dims, identity.max_tokens) == ("multilingual-e5-tiny", DIMS, 64)
    assert (identity.pooling, identity.precision) == ("mean", "model")
    assert (identity.query_prefix, identity.passage_prefix) == ("query: ", "passage: ")
    assert inference.identity_of(line, "fp32", tmp_path) == identity
    copied = shutil.copytree(folder, tmp_path / "elsewhere" / folder.name)
    assert inference.identity_of(f"onnx:{copied}", "int8", tmp_path) == identity
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\0")
    assert inference.identity_of(line, "int8", tmp_path).weights != identity.weights


def test_making_and_identifying_imports_nothing_heavy(tmp_path):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG)
    program = f"""
import sys
from pathlib import Path
from dowse import inference
made = inference.make_embedder("onnx:{folder}", cache_dir=Path({str(tmp_path)!r}))
assert made.identity == inference.identity_of("onnx:{folder}", "int8", Path({str(tmp_path)!r}))
made.close()
print(sorted({{"numpy", "onnx", "onnxruntime", "tokenizers", "http.client", "huggingface_hub"}} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_dimensions_that_no_file_tells_are_found_by_loading_once(embed, tmp_path):
    folder = write_encoder(tmp_path / "m")
    with pytest.raises(ModelError, match="never used"):
        inference.identity_of(f"onnx:{folder}", "int8", tmp_path / "cache")

    identity = embed(folder).identity

    assert identity.dims == DIMS
    assert inference.identity_of(f"onnx:{folder}", "int8", tmp_path / "cache") == identity


@pytest.mark.parametrize(
    ("settings", "options", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "", "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "", "mean"),
        ({"pooling_mode_lasttoken": True}, "", "last"),
        ({"pooling_mode": "max"}, "", "max"),
        ({"pooling_mode_cls_token": True}, ";pooling=mean", "mean"),
        ({}, "", "mean"),
    ],
)
def test_pooling_is_done_as_the_folder_or_the_line_says(embed, tmp_path, settings, options, pooling):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG, **{"1_Pooling__config_json": settings})
    rows = write_rows(folder, QUESTION)
    expected = {"cls": rows[0], "mean": rows.mean(0), "last": rows[-1], "max": rows.max(0)}[pooling]
    embedder = embed(folder, options)

    assert embedder.identity.pooling == pooling
    if pooling == "last":  # the row of [SEP] is zero in this model
        with pytest.raises(ModelError, match="no vector per text"):
            embedder.embed_query(QUESTION)
    else:
        np.testing.assert_allclose(embedder.embed_query(QUESTION), expected / np.linalg.norm(expected), atol=1e-5)


def write_rows(folder, text):
    """The rows of all tokens, straight from the library."""
    import onnxruntime
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    return session.run(["last_hidden_state"], {"input_ids": np.array([ids])})[0][0]


def test_what_a_graph_pooled_itself_is_taken(embed, tmp_path):
    folder = write_encoder(
        tmp_path / "m", pooled=True, config_json=CONFIG, **{"1_Pooling__config_json": {"pooling_mode": "cls"}}
    )
    rows = write_rows(folder, QUESTION).max(0)

    np.testing.assert_allclose(embed(folder).embed_query(QUESTION), rows / np.linalg.norm(rows), atol=1e-5)


def test_prompts_of_the_folder_stand_in_front_and_the_line_overrules_them(embed, tmp_path):
    prompts = {"prompts": {"query": "query : ", "document": "passage : "}}
    plain = embed(write_encoder(tmp_path / "a", config_json=CONFIG))
    folder = write_encoder(tmp_path / "b", config_json=CONFIG, config_sentence_transformers_json=prompts)
    told, overruled = embed(folder), embed(folder, ";query=ferry ")

    np.testing.assert_allclose(told.embed_query("tea"), plain.embed_query("query : tea"), atol=1e-6)
    np.testing.assert_allclose(told.embed_passages(["tea"])[0], plain.embed_query("passage : tea"), atol=1e-6)
    np.testing.assert_allclose(overruled.embed_query("tea"), plain.embed_query("ferry tea"), atol=1e-6)
    assert told.identity != overruled.identity


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ({}, 512),
        ({"config_json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"config_json": {"max_position_embeddings": 512}, "sentence_bert_config_json": {"max_seq_length": 128}}, 128),
        ({"tokenizer_config_json": {"model_max_length": 1e30}}, 512),
        ({"tokenizer_config_json": {"model_max_length": 100_000}}, 8192),
    ],
)
def test_the_limit_is_the_smallest_that_the_folder_tells(tmp_path, settings, tokens):
    folder = open_folder(write_encoder(tmp_path / "m", **settings), Spec("", "onnx", ""))

    assert folder.max_tokens == tokens


def test_a_long_text_is_cut_and_its_end_does_not_matter(embed, tmp_path):
    embedder = embed(write_encoder(tmp_path / "m", config_json=CONFIG), ";tokens=16")
    long = "green tea " * 500

    np.testing.assert_array_equal(embedder.embed_query(long), embedder.embed_query(long + "interest rates " * 50))


def test_every_input_that_encoders_know_is_filled(embed, tmp_path):
    inputs = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    all_of_them = embed(write_encoder(tmp_path / "all", inputs=inputs, config_json=CONFIG))
    one = embed(write_encoder(tmp_path / "one", config_json=CONFIG))

    np.testing.assert_array_equal(all_of_them.embed_query(QUESTION), one.embed_query(QUESTION))


def test_text_that_is_not_valid_unicode_or_looks_like_a_special_token_is_only_text(embed, tmp_path):
    embedder = embed(write_encoder(tmp_path / "m", config_json=CONFIG))

    assert np.isfinite(embedder.embed_passages(["broken \ud800 tea", "[SEP] tea", "tea [CLS]"])).all()


def test_the_quantised_graph_is_taken_where_it_is_the_only_one_or_named(embed, tmp_path):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG)
    (folder / "onnx").mkdir()
    shutil.copy(folder / "model.onnx", folder / "onnx" / "model_quantized.onnx")

    assert embed(folder).identity.precision == "model"
    assert embed(folder, ";file=onnx/model_quantized.onnx").identity.precision == "model_quantized"
    (folder / "model.onnx").unlink()
    assert embed(folder).identity.precision == "model_quantized"


def test_weights_beside_the_graph_count_for_the_fingerprint(tmp_path):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG)
    before = inference.identity_of(f"onnx:{folder}", "int8").weights
    (folder / "model.onnx_data").write_bytes(b"weights")

    assert inference.identity_of(f"onnx:{folder}", "int8").weights != before


def break_graph(folder):
    (folder / "model.onnx").write_bytes(b"no graph")


def break_tokenizer(folder):
    (folder / "tokenizer.json").write_text("{}")


def break_config(folder):
    (folder / "config.json").write_text("[1")


def wrong_config(folder):
    (folder / "config.json").write_text("[1]")


def say_wrong_dims(folder):
    (folder / "config.json").write_text(json.dumps({"hidden_size": 7}))


def add_dense(folder):
    (folder / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Dense"}]))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "There is no folder"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").unlink(), "has no ONNX model"),
        (break_graph, "cannot load the model"),
        (break_tokenizer, "cannot be read"),
        (break_config, "cannot be used"),
        (wrong_config, "holds no dict"),
        (say_wrong_dims, "does not make vectors of 7 dimensions"),
        (add_dense, "a layer behind its pooling"),
    ],
)
def test_a_folder_with_something_wrong_is_told_with_the_way_out(embed, tmp_path, damage, message):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG)
    damage(folder)

    with pytest.raises(ModelError) as caught:
        embed(folder).embed_query("tea")
    assert message in caught.value.message
    assert caught.value.hint
    (finding,) = inference.check(f"onnx:{folder}", tmp_path / "cache")
    assert not finding.ok
    assert message in finding.message


def test_a_graph_with_an_input_that_is_no_token_is_refused(embed, tmp_path):
    folder = write_encoder(tmp_path / "m", inputs=("input_ids", "pixels"), config_json=CONFIG)

    with pytest.raises(ModelError, match="pixels"):
        embed(folder).embed_query("tea")


@pytest.mark.parametrize("labels", [1, 2])
def test_a_cross_encoder_scores_the_answer_best(rerank, tmp_path, labels):
    reranker = rerank(write_cross_encoder(tmp_path / "m", labels))

    answer, other, again = reranker.rerank(QUESTION, [ANSWER, OTHER, ANSWER])

    assert answer == again
    assert 0 <= other < 0.5 < answer <= 1


def test_a_pair_that_is_too_long_is_cut_at_the_longer_side(rerank, tmp_path):
    reranker = rerank(write_cross_encoder(tmp_path / "m"), ";tokens=32")

    scores = reranker.rerank(QUESTION, [ANSWER + " march" * 300, OTHER + " march" * 300])

    assert scores[0] > scores[1]
    assert reranker.rerank("tea " * 500, ["tea"])[0] > 0.5


def test_a_cross_encoder_with_more_labels_is_refused(rerank, tmp_path):
    with pytest.raises(ModelError, match="with 3 numbers"):
        rerank(write_cross_encoder(tmp_path / "m", 3)).rerank(QUESTION, [ANSWER])


def test_scores_are_remembered_by_weights_not_by_path(rerank, tmp_path):
    folder = write_cross_encoder(tmp_path / "a" / "m")
    copied = shutil.copytree(folder, tmp_path / "b" / "m")
    first = rerank(folder).rerank(QUESTION, [ANSWER])
    same = rerank(copied)
    (copied / "config.json").write_text("{}")

    assert same.rerank(QUESTION, [ANSWER]) == first
    assert same._inner._loaded is None


def test_the_doctor_tells_how_each_configured_part_does(tmp_path, server):
    folder, cross = write_encoder(tmp_path / "m", config_json=CONFIG), write_cross_encoder(tmp_path / "c")
    server.says = lambda _: "lex: tea"

    good = inference.check(f"onnx:{folder}", tmp_path, reranker=f"onnx:{cross}", expander=f"chat:{server.url}#m")
    bad = inference.check("hashed", tmp_path, reranker=f"onnx:{folder}", expander="chat:http://127.0.0.1:1/v1#m")

    assert [(finding.check, finding.ok) for finding in good] == [
        ("embedder", True),
        ("reranker", True),
        ("expander", True),
    ]
    assert [(finding.check, finding.ok) for finding in bad] == [("reranker", False), ("expander", False)]
    assert all(finding.hint for finding in bad)


def test_a_folder_that_cannot_tell_an_answer_apart_is_reported(tmp_path):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG, **{"1_Pooling__config_json": {"pooling_mode": "cls"}})

    (finding,) = inference.check(f"onnx:{folder}", tmp_path)

    assert not finding.ok
    assert "pooling" in finding.hint


def test_tokens_are_counted_by_the_folders_own_rules_where_they_can_be(tmp_path):
    words = write_encoder(tmp_path / "words")
    bytes_ = write_encoder(tmp_path / "bytes")
    rules = {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, "normalizer": None}
    (bytes_ / "tokenizer.json").write_text(json.dumps(rules))
    granite = "granite-embedding-30m-english"

    assert inference.tokenizer_json(f"onnx:{words}") == inference.tokenizer_json(granite)
    assert inference.tokenizer_name(f"onnx:{words}") == granite
    assert inference.tokenizer_name("openai:http://h/v1#m") == granite
    assert inference.tokenizer_json(f"onnx:{bytes_}") == (bytes_ / "tokenizer.json").read_bytes()
    assert inference.tokenizer_name(f"onnx:{bytes_}").startswith("tokenizer-")
    assert inference.tokenizer_name("hashed") == "hashed"


def test_a_file_is_hashed_once_as_long_as_it_does_not_change(tmp_path):
    folder = write_encoder(tmp_path / "m", config_json=CONFIG)
    cache = Cache(tmp_path / "cache")
    opened = open_folder(folder, Spec("", "onnx", ""))
    weights = opened.weights(cache)
    key = next(f"sha256 {path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in [opened.graph])
    cache.remember(key, "0" * 64)

    assert opened.weights(cache) != weights
    cache.close()
