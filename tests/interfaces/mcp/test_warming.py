"""The model is loaded after the tools were listed, once, and nobody waits who does not need it."""

import threading

import pytest

from dowse.errors import ModelError
from dowse.inference.hashed import HashedEmbedder
from dowse.interfaces.mcp import warming
from dowse.interfaces.mcp.warming import WarmUp
from interfaces.mcp.talking import in_process
from workbench import open_at, write


@pytest.fixture
def folder(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
        engine.embed()
    return tmp_path


@pytest.fixture
def loading(monkeypatch):
    """A model that takes as long to load as the test likes; how often that was begun is counted."""
    monkeypatch.setattr(warming, "_DELAY", 0.0)
    started, go = threading.Semaphore(0), threading.Event()
    lock, loaded = threading.Lock(), []
    embed_query = HashedEmbedder.embed_query

    def load(_embedder):
        with lock:
            if not loaded:
                started.release()
                assert go.wait(60)
                loaded.append(True)

    def slow_query(embedder, text):
        load(embedder)
        return embed_query(embedder, text)

    monkeypatch.setattr(HashedEmbedder, "load", load)
    monkeypatch.setattr(HashedEmbedder, "embed_query", slow_query)
    yield started, go, loaded
    go.set()


@pytest.mark.covers("mcp-first-answer")
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_the_model_is_loaded_once_the_tools_were_listed_and_words_do_not_wait_for_it(folder, loading, era):
    started, go, loaded = loading
    with in_process("qmd", folder, era) as talk:
        assert not started.acquire(blocking=False)
        for _ in range(2):
            assert talk.request("tools/list")["tools"]
        assert started.acquire(timeout=60)
        found = talk.call("search", {"query": "green tea"})["structuredContent"]["results"]
        assert found[0]["file"] == "notes/tea.md"
        assert loaded == []
        go.set()
        assert talk.call("vsearch", {"query": "green tea", "minScore": 0})["structuredContent"]["results"]
        assert loaded == [True]
    assert not started.acquire(blocking=False)


@pytest.mark.covers("mcp-first-answer")
def test_a_search_by_meaning_waits_for_the_load_that_is_under_way(folder, loading):
    started, go, loaded = loading
    with in_process("qmd", folder) as talk:
        talk.request("tools/list")
        assert started.acquire(timeout=60)
        threading.Timer(0.2, go.set).start()
        found = talk.call("query", {"query": "green tea"})
        assert found["structuredContent"]["results"][0]["file"] == "notes/tea.md"
        assert "_meta" not in found, "no remark that words alone answered"
        assert loaded == [True]


def test_an_index_without_vectors_needs_no_model(tmp_path, loading):
    started, _, _ = loading
    with open_at(tmp_path) as engine:
        assert engine.warm_up() is False
    assert not started.acquire(blocking=False)


def test_a_model_that_cannot_be_loaded_is_left_for_whoever_needs_it(folder, monkeypatch):
    monkeypatch.setattr(warming, "_DELAY", 0.0)

    def fail(_embedder):
        raise ModelError("It is broken.")

    monkeypatch.setattr(HashedEmbedder, "load", fail)
    with open_at(folder) as engine:
        with pytest.raises(ModelError, match="broken"):
            engine.warm_up()
        warm_up = WarmUp(engine)
        warm_up.start()
        warm_up.wait()


def test_whoever_leaves_at_once_loads_nothing(folder, monkeypatch):
    monkeypatch.setattr(HashedEmbedder, "load", lambda _: pytest.fail("loaded"))
    monkeypatch.setattr(warming, "_DELAY", 60.0)
    with open_at(folder) as engine:
        warm_up = WarmUp(engine)
        warm_up.start()
        warm_up.close()
        warm_up.start()
