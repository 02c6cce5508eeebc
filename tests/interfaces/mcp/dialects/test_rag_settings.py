"""The settings of collections are real: they say how long passages are and how a collection is searched."""

import json

import pytest

from dowse import Chunking, Query
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Call
from dowse.interfaces.mcp.dialects.rag import searching
from dowse.interfaces.mcp.dialects.rag.collections import CHUNKING, new_settings
from dowse.interfaces.mcp.jobs import Jobs
from interfaces.mcp.talking import in_process
from workbench import open_at, write

TEXTS = {
    "short.md": "The kettle boils.\n",
    "common.md": "The tea kettle and the tea pot and the kettle boils.\n",
    "long.md": "A samovar " + "stands beside many other things of brass in the long hall " * 4 + "and boils tea.\n",
    "rare.md": "Boils, boils, boils: the word of the day.\n",
    "other.md": "Nothing here about it, but tea.\n",
}
QUESTION = "samovar boils tea kettle"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rag")


@pytest.fixture(scope="module")
def server(folder):
    write(folder / "texts", TEXTS)
    with in_process("rag", folder) as talk:
        talk.call("rag_create_collection", {"name": "here"})
        with open_at(folder) as engine:
            engine.ingest(folder / "texts", collection="here")
            engine.embed()
        yield talk


@pytest.fixture
def rag(server, folder):
    """A server with the texts in a collection that was made here, and nothing else."""
    configure(folder, chunking=CHUNKING, settings=new_settings())
    with open_at(folder) as engine:
        engine.include_collection("here", included=True)
        for each in engine.collections():
            if each.collection.name != "here":
                engine.remove_collection(each.collection.name)
    return server


def configure(folder, **changes):
    with open_at(folder) as engine:
        engine.configure_collection("here", **changes)


def settings_of(talk, name):
    read = talk.request("resources/read", {"uri": f"rag://collections/{name}"})
    return json.loads(read["contents"][0]["text"])["settings"]


def ranking(talk, **more):
    found = talk.call("rag_search", {"query": QUESTION, "collection": "here", **more})["structuredContent"]
    return [(each["source"], each["metadata"]["chunk_index"]) for each in found["results"]]


def called(folder, **arguments):
    """The results of the tool's function, from just these arguments."""
    with open_at(folder) as engine:
        reply = searching.search(Call(engine, Access(), Jobs()), {"query": QUESTION, **arguments})
    return [each["content"] for each in reply.structured["results"]]


def contents(folder, mode):
    """The engine's own ranking."""
    with open_at(folder) as engine:
        return [hit.chunk.text for hit in engine.search(Query(QUESTION, mode, ("here",), limit=100)).hits]


@pytest.mark.covers("rag-settings-chunking")
def test_passages_are_as_long_as_the_settings_say(rag, folder):
    write(folder, {"long.txt": "word " * 900})
    asked = {"uri": (folder / "long.txt").as_uri(), "collection": "here"}
    made = rag.call("rag_ingest", asked)["structuredContent"]
    assert made["chunks_created"] == 2
    configure(folder, chunking=Chunking(max_tokens=100, min_tokens=10))
    again = rag.call("rag_ingest", asked)["structuredContent"]
    rag.call("rag_delete", {"doc_id": made["doc_id"]})
    assert again["doc_id"] == made["doc_id"]
    assert 9 <= again["chunks_created"] <= 10
    shown = settings_of(rag, "here")
    assert shown["chunking"] == {"max_tokens": 100, "min_tokens": 10, "overlap_tokens": 0}


@pytest.mark.covers("rag-settings-alpha")
def test_alpha_weighs_words_against_meaning(rag, folder):
    by_words, by_meaning = contents(folder, "lex"), contents(folder, "vec")
    assert by_words != by_meaning[: len(by_words)]
    configure(folder, settings={"hybrid_alpha": 0.0})
    assert called(folder, collection="here")[: len(by_words)] == by_words
    configure(folder, settings={"hybrid_alpha": 1.0})
    assert called(folder, collection="here") == by_meaning
    configure(folder, settings={})
    assert called(folder, collection="here") == contents(folder, "hybrid")


@pytest.mark.covers("rag-settings-alpha", "rag-score")
@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.64, 0.75, 1.0])
def test_scores_stay_between_0_and_1_and_in_order_with_any_alpha(rag, folder, alpha):
    configure(folder, settings={"hybrid_alpha": alpha})
    found = rag.call("rag_search", {"query": QUESTION, "collection": "here"})["structuredContent"]
    scores = [each["score"] for each in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len(scores) == len(TEXTS)


@pytest.mark.covers("rag-settings-alpha", "rag-search-all")
def test_in_a_search_of_all_each_collection_keeps_its_own_settings(rag, folder):
    configure(folder, settings={"hybrid": False})
    rag.call("rag_create_collection", {"name": "there"})
    rag.call("rag_ingest", {"uri": "data:,A samovar boils tea", "collection": "there"})
    found = rag.call("rag_search", {"query": QUESTION})["structuredContent"]
    assert {each["collection"] for each in found["results"]} == {"here", "there"}
    assert found["total_results"] == len(TEXTS) + 1
    assert rag.call("rag_search", {"query": QUESTION, "top_k": 2})["structuredContent"]["total_results"] == 2


@pytest.mark.covers("rag-search-all")
def test_a_search_of_all_looks_also_where_other_searches_do_not(rag, folder):
    with open_at(folder) as engine:
        engine.include_collection("here", included=False)
    assert rag.call("rag_search", {"query": QUESTION})["structuredContent"]["total_results"] == len(TEXTS)


@pytest.mark.covers("rag-settings-defaults")
def test_top_k_and_hybrid_are_the_collections_own_where_the_call_says_nothing(rag, folder):
    configure(folder, settings={"top_k": 2, "hybrid": False})
    assert called(folder, collection="here") == contents(folder, "lex")[:2]
    assert len(called(folder, collection="here", top_k=3)) == 3
    assert called(folder, collection="here", hybrid=True, top_k=100) == contents(folder, "hybrid")


@pytest.mark.covers("rag-settings-defaults")
def test_settings_that_cannot_be_are_as_if_they_were_not_there(rag, folder):
    before = ranking(rag)
    configure(folder, settings={"top_k": 0, "hybrid": "maybe", "hybrid_alpha": 7, "colour": "red"})
    shown = settings_of(rag, "here")
    assert shown["search"] == {"top_k": 10, "hybrid": True, "hybrid_alpha": 0.64}
    assert sorted(ranking(rag)) == sorted(before)


@pytest.mark.covers("rag-settings-elsewhere")
def test_a_collection_from_elsewhere_is_there_with_the_settings_that_it_has(rag, folder):
    with open_at(folder) as engine:
        engine.add_collection(folder / "texts", name="texts")
        engine.index("texts")
        engine.embed()
    assert rag.call("rag_list_documents", {"collection": "texts"})["structuredContent"]["count"] == len(TEXTS)
    assert settings_of(rag, "texts") == {
        "chunking": {"max_tokens": 256, "min_tokens": 32, "overlap_tokens": 0},
        "search": {"top_k": 10, "hybrid": True, "hybrid_alpha": 0.64},
    }
    found = rag.call("rag_search", {"query": QUESTION, "collection": "texts"})["structuredContent"]
    assert found["total_results"] == len(TEXTS)
