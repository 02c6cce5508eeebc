"""Blue and green: the old model's vectors answer until those of the new one are complete."""

import json
from dataclasses import replace

import pytest

from dowse import ModelMismatchError, Query, inference
from dowse.inference import hashed
from dowse.inference.hashed import HashedEmbedder
from workbench import environment_for, many, open_at, problems, write

OTHER = replace(hashed.identity(64), name="other")


class OtherEmbedder(HashedEmbedder):
    """Hashed words in fewer buckets, which stops when it is told to."""

    left = 1_000

    def __init__(self):
        super().__init__(64)
        self._identity = OTHER

    def embed_passages(self, texts):
        OtherEmbedder.left -= len(texts)
        if OtherEmbedder.left < 0:
            raise KeyboardInterrupt
        return super().embed_passages(texts)


@pytest.fixture(autouse=True)
def _untiring():
    OtherEmbedder.left = 1_000


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Ten notes, embedded by the first model; the second one is known under the name `other`."""
    row = replace(inference._MODELS["hashed"], make=lambda *_: OtherEmbedder(), identity=lambda _: OTHER)
    monkeypatch.setitem(inference._MODELS, "other", row)
    monkeypatch.setattr("dowse.ingest.backlog._BATCH", 4)
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", many(10)), name="notes")
        engine.index("notes")
        engine.embed()
    return tmp_path


def test_questions_are_answered_by_the_old_model_until_the_new_one_is_complete(notes):
    with open_at(notes, embedder="other") as engine:
        with pytest.raises(ModelMismatchError):
            engine.embed()
        OtherEmbedder.left = 11
        with pytest.raises(KeyboardInterrupt):
            engine.embed(force=True)
        stats = engine.stats()
        assert (stats.model, stats.vectors) == (hashed.identity(), 20)
        assert (stats.successor.model, stats.successor.vectors, stats.successor.waiting) == (OTHER, 8, 12)
        answer = engine.search(Query("zebra7", mode="vec"))
        assert answer.hits[0].info.path == "part1/note007.md"
        (note,) = answer.notes
        assert note == "hashed answers until the vectors of other are complete: dowse embed"
        assert engine.search("zebra7").mode == "hybrid"
        with open_at(notes) as old:
            assert old.search(Query("zebra7", mode="vec")).notes == ()
        OtherEmbedder.left = 1_000
        assert engine.embed().embedded == 12
        stats = engine.stats()
        assert (stats.model, stats.vectors, stats.successor) == (OTHER, 20, None)
        answer = engine.search(Query("zebra7", mode="vec"))
        assert (answer.hits[0].info.path, answer.notes) == ("part1/note007.md", ())
        assert problems(engine) == []
    assert len(list((notes / "index").glob("vectors-*"))) == 3
    with open_at(notes) as old, pytest.raises(ModelMismatchError):
        old.search(Query("zebra7", mode="vec"))


def test_asking_twice_for_the_new_model_goes_on_where_it_was(notes):
    with open_at(notes, embedder="other") as engine:
        OtherEmbedder.left = 11
        with pytest.raises(KeyboardInterrupt):
            engine.embed(force=True)
        OtherEmbedder.left = 1_000
        assert engine.embed(force=True).embedded == 12


def test_who_goes_back_to_the_old_model_has_its_vectors_still(notes):
    OtherEmbedder.left = 11
    with open_at(notes, embedder="other") as engine, pytest.raises(KeyboardInterrupt):
        engine.embed(force=True)
    with open_at(notes) as engine:
        assert engine.embed().embedded == 0
        assert engine.search("zebra").mode == "hybrid"
        engine.cleanup(days=0)
        assert engine.stats().successor is None
        assert problems(engine) == []


def test_status_shows_how_far_the_new_model_is(notes, monkeypatch, capsys):
    from dowse.interfaces.cli import main

    OtherEmbedder.left = 11
    with open_at(notes, embedder="other") as engine, pytest.raises(KeyboardInterrupt):
        engine.embed(force=True)
    for name, value in environment_for(notes).items():
        monkeypatch.setenv(name, value)
    assert main(["status"]) == 0
    assert "Next model:  other (fp32): 8 vectors, 12 to go" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["nextModel"]
    assert (made["model"]["name"], made["vectors"], made["waiting"]) == ("other", 8, 12)


def test_a_model_of_one_line_is_known_by_its_identity_after_the_configuration_changed(tmp_path):
    from dowse.inference.cache import Cache
    from dowse.inference.lines import Remembered, line_of

    cache, made = Cache(tmp_path), OtherEmbedder()
    made._identity = elsewhere = replace(OTHER, name="elsewhere")
    embedder = Remembered(made, "onnx:/models/other", cache)
    assert line_of(elsewhere, cache) == ""
    embedder.embed_passages(["zebra"])
    assert line_of(elsewhere, cache) == "onnx:/models/other"
    assert inference.make_known_embedder(elsewhere, cache_dir=tmp_path) is None, "the folder is not there"
    embedder.close()
    cache.close()
