"""Embedders by name: what can be known before anything heavy is imported."""

import subprocess
import sys

import pytest

from dowse import inference
from dowse.errors import ConfigError

HEAVY = {"numpy", "onnx", "onnxruntime", "tokenizers", "concurrent.futures", "asyncio", "http.client", "sqlite3"}
KINDS = "openai:…, onnx:…, hub:…, gguf:…"


def modules_after(program: str) -> set[str]:
    """The names of the modules that a fresh interpreter has loaded after this program."""
    report = f"{program}\nimport sys\nprint(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_identities_and_embedders_are_made_without_heavy_libraries(tmp_path):
    program = f"""
from pathlib import Path
from dowse import inference
for name in inference.model_names():
    made = inference.make_embedder(name, cache_dir=Path({str(tmp_path)!r}), precision="int8")
    assert made.identity == inference.identity_of(name, "int8")
    made.close()
"""
    assert not modules_after(program) & HEAVY


def test_the_tokenizer_is_read_without_heavy_libraries():
    program = """
from dowse import inference
assert inference.tokenizer_json("granite-embedding-30m-english").startswith(b"{")
"""
    assert not modules_after(program) & HEAVY


def test_the_default_model_says_what_its_vectors_depend_on():
    int8 = inference.identity_of("granite-embedding-30m-english", "int8")
    fp32 = inference.identity_of("granite-embedding-30m-english", "fp32")

    assert (int8.dims, int8.pooling, int8.max_tokens) == (384, "cls", 512)
    assert int8.weights.startswith("6a1cc24734a5-g")
    assert int8 != fp32


def test_the_hashed_model_counts_words_and_takes_any_precision(tmp_path):
    made = inference.make_embedder("hashed", cache_dir=tmp_path, precision="fp32")

    assert inference.tokenizer_json("hashed") is None
    assert made.identity == inference.identity_of("hashed", "int8")
    assert inference.check("hashed", tmp_path) == []


@pytest.mark.parametrize(
    ("name", "guess"),
    [("granite", "Did you mean 'granite-embedding-30m-english'?"), ("hash", "Did you mean 'hashed'?")],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_all_known_ones(tmp_path, name, guess):
    for call in (
        lambda: inference.make_embedder(name, cache_dir=tmp_path),
        lambda: inference.identity_of(name, "int8"),
        lambda: inference.tokenizer_json(name),
        lambda: inference.check(name, tmp_path),
    ):
        with pytest.raises(ConfigError) as caught:
            call()
        assert name in caught.value.message
        assert caught.value.hint == f"{guess} Known are: granite-embedding-30m-english, hashed, {KINDS}."


def test_an_unknown_precision_is_refused_before_anything_is_loaded(tmp_path):
    with pytest.raises(ConfigError) as caught:
        inference.make_embedder("granite-embedding-30m-english", cache_dir=tmp_path, precision="int4")
    assert caught.value.hint == "Choose one of: int8, fp32"


def test_importing_the_package_imports_none_of_the_other_models():
    loaded = {name for name in modules_after("import dowse.inference") if name.startswith("dowse.inference.")}

    assert loaded == {"dowse.inference.granite", "dowse.inference.hashed"}


def test_a_service_is_described_without_heavy_libraries(tmp_path):
    program = f"""
from pathlib import Path
from dowse import inference
line = "openai:http://127.0.0.1:1/v1#model;dims=8"
made = inference.make_embedder(line, cache_dir=Path({str(tmp_path)!r}))
assert made.identity == inference.identity_of(line, "int8", Path({str(tmp_path)!r}))
assert inference.make_reranker("cohere:http://127.0.0.1:1/v1#model", cache_dir=Path({str(tmp_path)!r})).name
assert inference.make_expander("chat:http://127.0.0.1:1/v1#model", cache_dir=Path({str(tmp_path)!r})).name
made.close()
"""
    assert not modules_after(program) & (HEAVY - {"sqlite3"})
