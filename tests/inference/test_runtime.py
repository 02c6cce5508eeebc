"""How several workers share one list of texts, and how they stop."""

import threading
from pathlib import Path

import numpy as np
import pytest

from dowse.errors import ModelError
from dowse.inference.graph import build_graph
from dowse.inference.pack import Pack
from dowse.inference.runtime import Encoder

WORDS = '{"[UNK]": 0, "red": 5, "green": 6, "blue": 7, "far": 39}'
TOKENIZER = f"""{{
  "version": "1.0", "added_tokens": [], "normalizer": null, "post_processor": null, "decoder": null,
  "truncation": null, "padding": null, "pre_tokenizer": {{"type": "Whitespace"}},
  "model": {{"type": "WordLevel", "vocab": {WORDS}, "unk_token": "[UNK]"}}
}}""".encode()
MANY = ["red", "green blue", "blue far red", "far"] * 50


@pytest.fixture
def encoder(write_pack) -> Encoder:
    model: bytes = build_graph(Pack(write_pack()), "int8").SerializeToString()
    return Encoder(model, TOKENIZER, max_tokens=24, threads=1)


def embedding_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("dowse-embed")]


@pytest.mark.parametrize("workers", [1, 2, 5, 1000])
def test_any_number_of_workers_gives_the_rows_of_one(encoder, workers):
    alone = np.array([encoder.vector(text) for text in MANY])

    np.testing.assert_array_equal(encoder.vectors(MANY, workers), alone)
    assert embedding_threads() == []


def test_an_interrupt_ends_every_worker_and_comes_through(encoder, monkeypatch):
    done: list[str] = []
    others_at_work = threading.Event()
    interrupted = threading.Event()

    def vector(text: str) -> np.ndarray:
        if threading.current_thread() is threading.main_thread():
            others_at_work.wait(10)
            interrupted.set()
            raise KeyboardInterrupt
        others_at_work.set()
        interrupted.wait(10)
        done.append(text)
        return np.zeros(16, np.float32)

    monkeypatch.setattr(encoder, "vector", vector)

    with pytest.raises(KeyboardInterrupt):
        encoder.vectors(MANY * 100, workers=3)
    assert len(done) < len(MANY) * 100
    assert embedding_threads() == []


def test_a_failure_in_one_worker_stops_all_and_comes_through(encoder, monkeypatch):
    failed = threading.Event()

    def vector(text: str) -> np.ndarray:
        if threading.current_thread() is threading.main_thread():
            failed.wait(10)
            return np.zeros(16, np.float32)
        failed.set()
        raise ModelError("broken")

    monkeypatch.setattr(encoder, "vector", vector)

    with pytest.raises(ModelError, match="broken"):
        encoder.vectors(MANY, workers=2)


def test_a_model_that_onnxruntime_cannot_load_is_a_model_error(tmp_path: Path):
    with pytest.raises(ModelError) as caught:
        Encoder(b"not a model", TOKENIZER, max_tokens=24, threads=1)
    assert caught.value.hint == "Bring it up to date: pip install --upgrade onnxruntime"


def test_a_run_that_fails_is_a_model_error(encoder):
    encoder._tokenizer.no_truncation()

    with pytest.raises(ModelError, match="The embedding model failed"):
        encoder.vector("red " * 100)
