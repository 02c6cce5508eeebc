"""Vectors from a real service: in order, of unit length, of the model that made the others, or a clear error."""

import json

import numpy as np
import pytest

from dowse import inference
from dowse.errors import ConfigError, ModelError
from dowse.inference.cache import Cache
from dowse.inference.endpoint import Endpoint
from dowse.inference.hashed import HashedEmbedder
from dowse.inference.prefixes import Prefixes
from dowse.inference.served import PROBE, Served
from dowse.inference.service_embedder import ServiceEmbedder, in_batches
from inference import model_server
from inference.model_server import DIMS, failing, saying

NO_PREFIXES = Prefixes()
TEXTS = ["green tea wants cool water", "interest rates rise", "water for tea", ""]


@pytest.fixture
def make(server, tmp_path, fake_clock):
    """Makes embedders of the server's model that share one cache."""
    made = []

    def make_one(*, dims=None, prefixes=NO_PREFIXES, max_tokens=512, **options) -> ServiceEmbedder:
        served = Served(server.url, "words", prefixes, max_tokens, dims)
        endpoint = Endpoint(server.url, clock=fake_clock.clock())
        made.append(ServiceEmbedder(endpoint, "words", served, Cache(tmp_path), **options))
        return made[-1]

    yield make_one
    for embedder in made:
        embedder.close()


def line(server) -> str:
    return f"openai:{server.url}#words"


def sent(server) -> list[str]:
    return [text for asked in server.asked for text in asked.body["input"] if text != PROBE]


def test_vectors_are_unit_rows_in_the_order_of_the_texts(make):
    embedder = make()

    rows = embedder.embed_passages(TEXTS)

    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[:3], HashedEmbedder(DIMS).embed_passages(TEXTS[:3]), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query(TEXTS[0]), rows[0], atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, DIMS)


@pytest.mark.parametrize("workers", [1, 3])
def test_many_texts_go_in_batches(make, server, workers):
    texts = [f"text {number}" for number in range(20)]

    rows = make(batch=6, workers=workers).embed_passages(texts)

    np.testing.assert_allclose(rows, HashedEmbedder(DIMS).embed_passages(texts), atol=1e-6)
    assert sorted(len(asked.body["input"]) for asked in server.asked[1:]) == [2, 6, 6, 6]


def test_batches_are_bounded_by_bytes_too():
    assert list(in_batches(["aaaa", "bb", "cc", "dddddddd", "e"], 3, 6)) == [
        range(2),
        range(2, 3),
        range(3, 4),
        range(4, 5),
    ]
    assert list(in_batches([], 3, 6)) == []


def test_questions_and_passages_get_their_prefixes(make, server):
    embedder = make(prefixes=Prefixes("query: ", "passage: "))

    embedder.embed_query("tea")
    embedder.embed_passages(["tea"])

    assert sent(server) == ["query: tea", "passage: tea"]


def test_what_a_service_finds_too_long_is_cut_and_nothing_else_is(make, server):
    server.most_words = 100
    short = "water for tea"

    rows = make().embed_passages([short, "tea " * 1000, short])

    expected = HashedEmbedder(DIMS).embed_passages([short, "tea", short])
    np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_a_text_is_cut_to_what_the_model_is_said_to_read(make, server):
    make(max_tokens=10).embed_query("tea " * 1000)

    assert len(sent(server)[0]) == 120


def test_half_a_surrogate_does_not_stop_the_others(make):
    assert np.isfinite(make().embed_passages(["broken \ud800 half", "tea"])).all()


def test_the_identity_is_asked_for_once_and_then_known_without_asking(server, tmp_path):
    with pytest.raises(ModelError, match="never used") as caught:
        inference.identity_of(line(server), "int8", tmp_path)
    assert caught.value.hint == "Make vectors with it: dowse embed"
    made = inference.make_embedder(line(server), cache_dir=tmp_path)
    assert server.asked == []

    identity = made.identity
    made.close()

    assert (identity.name, identity.dims, identity.weights) == ("words", DIMS, "served-1")
    assert len(server.asked) == 1
    assert inference.identity_of(line(server), "int8", tmp_path) == identity
    assert len(server.asked) == 1


def test_declared_dimensions_make_the_identity_known_at_once(server, tmp_path):
    identity = inference.identity_of(f"{line(server)};dims={DIMS};tokens=2048", "int8")

    assert (identity.dims, identity.max_tokens) == (DIMS, 2048)
    assert server.asked == []


def test_the_identity_does_not_depend_on_the_address(make, server, tmp_path):
    other = model_server.ModelServer()
    try:
        moved = inference.make_embedder(f"openai:{other.url}#words", cache_dir=tmp_path)
        assert moved.identity == make().identity
        moved.close()
    finally:
        other.close()


def test_wrongly_declared_dimensions_are_told(make):
    with pytest.raises(ModelError) as caught:
        make(dims=77).embed_query("tea")
    assert caught.value.hint.endswith(f";dims={DIMS}")


def test_another_model_under_the_same_name_is_noticed_and_the_former_one_recognised(make, server):
    first = make().identity
    server.shift = 5

    with pytest.raises(ModelError, match="other vectors than it did before") as caught:
        make().embed_passages(["tea"])
    assert "dowse embed --force" in caught.value.hint
    second = make().identity
    assert second != first
    make().embed_passages(["tea"])

    server.shift = 0
    with pytest.raises(ModelError):
        make().embed_query("tea")
    assert make().identity == first


def test_questions_are_remembered_and_answered_without_the_service(server, tmp_path):
    first = inference.make_embedder(line(server), cache_dir=tmp_path)
    vector = first.embed_query("green tea")
    first.close()
    server.next = [failing(500)] * 9

    again = inference.make_embedder(line(server), cache_dir=tmp_path)

    np.testing.assert_array_equal(again.embed_query("green tea"), vector)
    again.close()


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "QUJD"}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [float("nan"), 1.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
        {"embedding": [1.0]},
        [],
        None,
    ],
)
def test_an_answer_that_is_no_vector_per_text_is_refused(make, server, answer):
    server.next = [saying(json.dumps(answer).encode())]

    with pytest.raises(ModelError) as caught:
        make(dims=2).embed_query("tea")
    assert "embedding model" in caught.value.hint


def test_vectors_of_another_length_in_the_middle_are_refused(make, server):
    embedder = make()
    embedder.embed_query("tea")
    server.next = [saying(b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}')]

    with pytest.raises(ModelError, match=f"2 dimensions, not of {DIMS}"):
        embedder.embed_query("tea")


def test_a_model_that_the_service_does_not_have_is_told_with_its_words(server, tmp_path):
    made = inference.make_embedder(f"openai:{server.url}#wrods", cache_dir=tmp_path)

    with pytest.raises(ModelError, match="'wrods' not found") as caught:
        made.embed_query("tea")
    assert "name of the model" in caught.value.hint
    made.close()


def test_an_address_without_a_model_is_refused(server, tmp_path):
    with pytest.raises(ConfigError, match="names no model"):
        inference.make_embedder(f"openai:{server.url}", cache_dir=tmp_path)


def test_a_cache_that_takes_no_files_is_told_with_the_way_around(server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    made = inference.make_embedder(line(server), cache_dir=tmp_path / "file")
    with pytest.raises(ModelError) as caught:
        made.embed_query("tea")
    assert ";dims=" in caught.value.hint
    made.close()

    declared = inference.make_embedder(f"{line(server)};dims={DIMS}", cache_dir=tmp_path / "file")
    assert declared.embed_query("tea").shape == (DIMS,)
    declared.close()
