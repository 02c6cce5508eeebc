"""GGUF files: what their headers tell, and, where `xllamacpp` is installed, what the models in them say."""

import importlib.util
import struct

import numpy as np
import pytest

from dowse import inference
from dowse.errors import ModelError
from inference.tiny_gguf import DIMS, write_gguf

with_library = pytest.mark.skipif(not importlib.util.find_spec("xllamacpp"), reason="the extra gguf is not installed")
without_library = pytest.mark.skipif(bool(importlib.util.find_spec("xllamacpp")), reason="the extra is installed")

TEXTS = ["green tea water", "tea water green below", "interest rates bank"]


@pytest.fixture
def file(tmp_path):
    return write_gguf(tmp_path / "nomic-embed-text-tiny.gguf")


def test_the_header_tells_the_identity_without_loading_anything(file, tmp_path):
    identity = inference.identity_of(f"gguf:{file}", "int8", tmp_path)

    assert (identity.name, identity.dims, identity.max_tokens) == ("nomic-embed-text-tiny", DIMS, 64)
    assert (identity.pooling, identity.precision) == ("mean", "gguf")
    assert identity.query_prefix == "search_query: "
    assert inference.identity_of(f"gguf:{file};pooling=cls", "int8", tmp_path) != identity


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"GGUF",
        lambda raw: b"GGML" + raw[4:],
        lambda raw: raw[:60],
        lambda raw: raw[:4] + struct.pack("<IQQ", 3, 1, 1 << 60) + raw[24:],
        lambda raw: raw[:24] + struct.pack("<Q", 1 << 60) + raw[32:],
        lambda raw: raw.replace(b"bert.embedding_length", b"bert.embedding_lengtH"),
    ],
)
def test_a_damaged_header_is_refused(file, damage):
    file.write_bytes(damage(file.read_bytes()))

    with pytest.raises(ModelError) as caught:
        inference.identity_of(f"gguf:{file}", "int8")
    assert caught.value.hint


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelError, match="There is no file"):
        inference.make_embedder(f"gguf:{tmp_path / 'no.gguf'}", cache_dir=tmp_path)


@without_library
def test_without_the_library_the_error_says_how_to_install_it(file, tmp_path):
    made = inference.make_embedder(f"gguf:{file}", cache_dir=tmp_path)

    with pytest.raises(ModelError) as caught:
        made.embed_query("tea")
    assert caught.value.hint == 'Install it: pip install "dowse[gguf]"'
    made.close()


@with_library
def test_a_model_in_this_process_embeds(tmp_path):
    file = write_gguf(tmp_path / "words.gguf")
    made = inference.make_embedder(f"gguf:{file}", cache_dir=tmp_path, workers=1)

    rows = made.embed_passages([*TEXTS, "tea " * 300])

    assert rows.shape == (4, DIMS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    np.testing.assert_allclose(made.embed_query(TEXTS[0]), rows[0], atol=1e-4)
    made.close()


@with_library
def test_a_model_in_this_process_reranks(tmp_path):
    file = write_gguf(tmp_path / "rank.gguf", ranks=True)
    made = inference.make_reranker(f"gguf:{file}", cache_dir=tmp_path, workers=1)

    scores = made.rerank("capital france", ["interest rates bank", "paris the capital", "tea"])

    assert scores.index(max(scores)) == 1
    assert all(0 <= score <= 1 for score in scores)
    made.close()


@with_library
def test_a_file_for_another_purpose_is_an_error_with_a_hint(file, tmp_path):
    made = inference.make_expander(f"gguf:{file}", cache_dir=tmp_path, workers=1)

    with pytest.raises(ModelError) as caught:
        made.expand("tea")
    assert caught.value.hint
    made.close()


@with_library
def test_a_real_llama_cpp_server_embeds_and_reranks_over_http(tmp_path, monkeypatch):
    import xllamacpp

    monkeypatch.setenv("TEST_MODEL_KEY", "sesame")
    servers = {}
    for purpose in ("embed", "rank"):
        params = xllamacpp.CommonParams()
        params.model.path = str(write_gguf(tmp_path / f"{purpose}.gguf", ranks=purpose == "rank"))
        params.embedding, params.warmup, params.verbosity, params.api_keys = True, False, -1, ["sesame"]
        params.n_ctx = params.n_batch = params.n_ubatch = 64
        if purpose == "rank":
            params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
        servers[purpose] = xllamacpp.Server(params)

    embedder = inference.make_embedder(
        f"openai:{servers['embed'].listening_address}/v1#tiny;key=TEST_MODEL_KEY", cache_dir=tmp_path
    )
    rows = embedder.embed_passages([*TEXTS, "tea " * 300])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert rows.shape == (4, DIMS)
    embedder.close()

    reranker = inference.make_reranker(
        f"cohere:{servers['rank'].listening_address}/v1#tiny;key=TEST_MODEL_KEY", cache_dir=tmp_path
    )
    scores = reranker.rerank("capital france", ["interest rates bank", "paris the capital", "tea"])
    assert scores.index(max(scores)) == 1
    reranker.close()
