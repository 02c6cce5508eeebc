"""The default embedder with its real weights: what its vectors are worth, and how it behaves."""

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from dowse import inference
from dowse.errors import ModelError
from dowse.inference import granite
from dowse.inference.granite import GraniteEmbedder

pytestmark = pytest.mark.model

TEXTS = [
    "How do I make the oven clean itself?",
    "The self-cleaning cycle heats the oven until grease turns to ash that can be wiped away.",
    "Parliament passed the budget after a debate that went on until the early morning.",
    "def area(radius):\n    return math.pi * radius ** 2",
    "",
    "Deep-sea vents are home to worms that live on bacteria, " * 30,
]


def converted_files(cache: Path) -> list[Path]:
    return sorted((cache / "models").iterdir())


def test_a_question_is_nearer_to_its_answer_than_to_other_passages(embedder):
    question = embedder.embed_query(TEXTS[0])
    cosines = embedder.embed_passages(TEXTS[1:4]) @ question

    assert question.shape == (384,)
    assert cosines.argmax() == 0
    assert cosines[0] > cosines[1:].max() + 0.1


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts(embedder):
    rows = embedder.embed_passages(TEXTS * 2)

    assert rows.dtype == np.float32
    assert rows.shape == (12, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for row, text in zip(rows, TEXTS * 2, strict=True):
        np.testing.assert_array_equal(row, embedder.embed_query(text))


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed_passages([]).shape == (0, 384)


def test_int8_stays_close_to_fp32_and_fp32_is_what_it_was(embedder, model_cache):
    exact = GraniteEmbedder(model_cache, precision="fp32").embed_passages(TEXTS)

    cosines = dict(zip(TEXTS, (exact * embedder.embed_passages(TEXTS)).sum(axis=1), strict=True))

    assert cosines.pop("") > 0.98
    assert min(cosines.values()) > 0.99
    # Vectors in people's indexes were made with this graph: a change here needs a new GRAPH_VERSION.
    assert granite.GRAPH_VERSION == 1
    np.testing.assert_allclose(exact[0][:4], [-0.0802, 0.01964, 0.04563, 0.03962], atol=1e-4)


def test_the_scales_are_those_of_this_graph_version():
    scales = files("dowse.inference").joinpath("granite_scales.json").read_bytes()

    assert (granite.GRAPH_VERSION, hashlib.sha256(scales).hexdigest()[:12]) == (1, "2124d917ca75")


def test_a_long_text_is_cut_and_its_end_does_not_matter(embedder):
    long = "one two three four five " * 2000

    np.testing.assert_array_equal(embedder.embed_query(long), embedder.embed_query(long + "Napoleon " * 5000))


def test_shouting_is_read_like_speaking_but_an_abbreviation_keeps_its_capitals(embedder):
    shout, spoken = embedder.embed_passages([TEXTS[2].upper(), TEXTS[2].lower()])
    np.testing.assert_array_equal(shout, spoken)

    assert embedder.embed_query("HTTP") @ embedder.embed_query("http") < 0.999


def test_text_that_is_not_valid_unicode_or_looks_like_a_special_token_is_only_text(embedder):
    rows = embedder.embed_passages(["broken \ud800 half", "<s>", "</s>", "<mask>", "\0"])

    assert np.isfinite(rows).all()
    assert (rows @ embedder.embed_query("") < 0.999).all()


def test_converting_says_so_once_and_never_again(tmp_path):
    messages: list[str] = []
    first = GraniteEmbedder(tmp_path, on_message=messages.append)
    vector = first.embed_query("hello")
    first.close()
    again = GraniteEmbedder(tmp_path, on_message=messages.append).embed_query("hello")

    assert messages == ["preparing the embedding model (once, about 1 s)"]
    np.testing.assert_array_equal(vector, again)


def test_garbage_in_the_cache_is_replaced_and_reported_by_the_check(tmp_path, embedder):
    GraniteEmbedder(tmp_path).embed_query("hello")
    (path,) = converted_files(tmp_path)
    path.write_bytes(b"garbage")
    assert [finding.ok for finding in inference.check(granite.NAME, tmp_path)] == [True, True, False]

    vector = GraniteEmbedder(tmp_path).embed_query("hello")

    np.testing.assert_array_equal(vector, embedder.embed_query("hello"))
    assert converted_files(tmp_path) == [path]
    assert all(finding.ok for finding in inference.check(granite.NAME, tmp_path))


def test_a_cache_that_cannot_be_written_costs_time_but_no_vectors(tmp_path, embedder):
    messages: list[str] = []
    (tmp_path / "file").write_bytes(b"")

    vector = GraniteEmbedder(tmp_path / "file", on_message=messages.append).embed_query("hello")

    np.testing.assert_array_equal(vector, embedder.embed_query("hello"))
    assert "cannot be kept" in messages[-1]


def test_weights_that_are_not_the_expected_ones_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(granite, "PACK_SHA256", "0" * 64)

    with pytest.raises(ModelError, match="sha256"):
        GraniteEmbedder(tmp_path).embed_query("hello")
    assert [finding.ok for finding in inference.check(granite.NAME, tmp_path)] == [False, True]
