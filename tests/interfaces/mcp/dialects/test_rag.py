"""The rag dialect as seeds/003 and DIALECTS.md have it, with their examples, over every transport and in both eras."""

import json
import re

import pytest

from dowse import __version__
from interfaces.mcp.talking import WAYS, in_process, talking
from workbench import open_at, write

LIB = """\
//! Library documentation

pub mod store;

/// Error handling in async functions.
async fn handle_error(&self, err: Error) -> Result<()> {
    match err {
        Error::Timeout => self.retry().await?,
        _ => return Err(err),
    }
    Ok(())
}
"""
MAIN = 'fn main() {\n    println!("main entry point");\n}\n'
GUIDE = "# Guide\n\nConfiguration options live in one file.\n\n## Errors\n\nEvery error names a way out.\n"
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The specification's complete flow: collections are made, then documents are ingested."""
    folder = tmp_path_factory.mktemp("library")
    write(folder / "src", {"lib.rs": LIB, "main.rs": MAIN, "guide.md": GUIDE})
    with in_process("rag", folder) as talk:
        talk.call("rag_create_collection", {"name": "code", "description": "Source code files"})
        talk.call("rag_create_collection", {"name": "docs", "description": "Documentation"})
        for name, collection in {"lib.rs": "code", "main.rs": "code", "guide.md": "docs"}.items():
            result = talk.call("rag_ingest", {"uri": uri_of(folder, name), "collection": collection})
            assert "isError" not in result, result
    return folder


@pytest.fixture(scope="module", params=WAYS)
def rag(request, library):
    with talking("rag", library, request.param) as talk:
        yield talk


@pytest.fixture
def own(rag):
    """A collection of this connection's own, for tests that write."""
    name = "of-" + rag.way.replace(" ", "_")
    rag.call("rag_create_collection", {"name": name})
    return name


def uri_of(folder, name):
    return (folder / "src" / name).as_uri()


def content(result):
    """The structured content, which the text repeats."""
    (item,) = result["content"]
    assert item["type"] == "text"
    assert json.loads(item["text"]) == result["structuredContent"]
    return result["structuredContent"]


def code(result):
    error = content(result)
    assert set(error) == {"error"}
    assert set(error["error"]) == {"code", "message"}
    return error["error"]["code"]


def read(talk, uri):
    (contents,) = talk.request("resources/read", {"uri": uri})["contents"]
    assert (contents["uri"], contents["mimeType"]) == (uri, "application/json")
    return json.loads(contents["text"])


def id_of(folder, name):
    """A document's id by way of the engine, in the specification's spelling."""
    with open_at(folder) as engine:
        number = next(info.id.int for info in engine.documents() if info.uri == uri_of(folder, name))
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * place & 31] for place in range(25, -1, -1))


@pytest.mark.covers("rag-server", "rag-transport")
def test_the_server_is_called_rag_mcp(rag):
    info = rag.client.server_info
    if info is None or not info.name:  # a client that skips discovery learns it from any result
        shown = rag.request("tools/list")["_meta"]["io.modelcontextprotocol/serverInfo"]
        assert (shown["name"], shown["version"]) == ("rag-mcp", __version__)
    else:
        assert (info.name, info.version) == ("rag-mcp", __version__)


@pytest.mark.covers("rag-search-request", "rag-search-query", "rag-search-result", "rag-search-source", "rag-score")
def test_the_specifications_search_returns_ranked_passages(rag, library):
    found = content(
        rag.call("rag_search", {"query": "error handling in async functions", "collection": "code", "top_k": 5})
    )
    assert list(found) == ["query", "total_results", "results"]
    assert found["query"] == "error handling in async functions"
    assert found["total_results"] == len(found["results"]) <= 5
    first = found["results"][0]
    assert list(first) == ["rank", "score", "source", "collection", "content", "metadata"]
    assert first["rank"] == 1
    assert first["source"] == id_of(library, "lib.rs")
    assert first["collection"] == "code"
    assert first["content"].startswith("/// Error handling in async functions.\nasync fn handle_error")
    assert list(first["metadata"]) == ["lines", "tokens", "chunk_index"]
    assert first["metadata"]["lines"] == "5-12"
    assert first["metadata"]["tokens"] > 40
    assert first["metadata"]["chunk_index"] == 1
    assert [each["rank"] for each in found["results"]] == list(range(1, found["total_results"] + 1))
    scores = [each["score"] for each in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.covers("rag-search-all")
def test_a_search_without_a_collection_looks_into_all(rag):
    found = content(rag.call("rag_search", {"query": "configuration options", "top_k": 10}))
    assert found["results"][0]["collection"] == "docs"
    assert {each["collection"] for each in found["results"]} >= {"code", "docs"}


@pytest.mark.covers("rag-search-keyword", "rag-search-punctuation")
def test_the_specifications_keyword_search_finds_code_with_its_punctuation(rag, library):
    found = content(rag.call("rag_search", {"query": "fn main()", "hybrid": False}))
    assert found["results"][0]["source"] == id_of(library, "main.rs")
    nothing = content(rag.call("rag_search", {"query": "zyzzyva", "hybrid": False}))
    assert nothing == {"query": "zyzzyva", "total_results": 0, "results": []}


@pytest.mark.covers("rag-search-top-k")
def test_top_k_is_never_exceeded(rag):
    assert content(rag.call("rag_search", {"query": "fn error", "top_k": 1}))["total_results"] == 1


@pytest.mark.covers("rag-ingest-file", "rag-ingest-result", "rag-ingest-unchanged", "rag-bulk")
def test_a_file_is_ingested_once_and_then_known(rag, library, own):
    asked = {"uri": uri_of(library, "lib.rs"), "collection": own}
    made = content(rag.call("rag_ingest", asked))
    assert list(made) == ["success", "doc_id", "collection", "source_uri", "content_type", "chunks_created"]
    assert made | {"doc_id": ""} == {
        "success": True,
        "doc_id": "",
        "collection": own,
        "source_uri": uri_of(library, "lib.rs"),
        "content_type": "rust",
        "chunks_created": 2,
    }
    assert ULID.fullmatch(made["doc_id"])
    assert content(rag.call("rag_ingest", asked)) == made


@pytest.mark.covers("rag-ingest-data", "rag-ingest-type")
def test_the_specifications_raw_content_is_ingested_and_found(rag, own):
    given = {"uri": 'data:,fn main() { println!("Hello"); }', "collection": own, "content_type": "rust"}
    made = content(rag.call("rag_ingest", given))
    assert made["content_type"] == "rust"
    assert re.fullmatch("data:sha256,[0-9a-f]{64}", made["source_uri"])
    assert read(rag, f"rag://documents/{made['doc_id']}")["raw_content"] == 'fn main() { println!("Hello"); }'
    found = content(rag.call("rag_search", {"query": "hello", "collection": own, "hybrid": False}))
    assert found["results"][0]["source"] == made["doc_id"]


@pytest.mark.covers("rag-delete-result", "rag-delete-gone")
def test_a_deleted_document_is_named_once_more_and_never_found_again(rag, own):
    made = content(rag.call("rag_ingest", {"uri": f"data:,quokka of {own}", "collection": own}))
    gone = content(rag.call("rag_delete", {"doc_id": made["doc_id"]}))
    assert list(gone) == ["success", "deleted_doc_id", "source_uri", "collection"]
    assert gone == {
        "success": True,
        "deleted_doc_id": made["doc_id"],
        "source_uri": made["source_uri"],
        "collection": own,
    }
    found = content(rag.call("rag_search", {"query": "quokka", "collection": own, "hybrid": False}))
    assert found["total_results"] == 0
    assert code(rag.failure("rag_delete", {"doc_id": made["doc_id"]})) == "DOCUMENT_NOT_FOUND"


@pytest.mark.covers("rag-delete-unknown", "rag-error-form")
def test_the_specifications_unknown_document_is_not_found(rag):
    error = content(rag.failure("rag_delete", {"doc_id": "01HRE4KXQN8Z3J2X5Y7A9B4C6D"}))
    assert error == {
        "error": {
            "code": "DOCUMENT_NOT_FOUND",
            "message": "Document not found: 01HRE4KXQN8Z3J2X5Y7A9B4C6D",
        }
    }


@pytest.mark.covers("rag-list-collections-result", "rag-times")
def test_collections_are_listed_with_description_and_time(rag):
    listed = content(rag.call("rag_list_collections", {}))
    assert list(listed) == ["collections", "total"]
    assert listed["total"] == len(listed["collections"])
    by_name = {each["name"]: each for each in listed["collections"]}
    assert by_name["code"]["description"] == "Source code files"
    assert by_name["docs"]["description"] == "Documentation"
    for each in listed["collections"]:
        assert list(each) == ["name", "description", "created_at"]
        assert 1_600_000_000_000 < each["created_at"] < 10_000_000_000_000


@pytest.mark.covers("rag-list-documents-result", "rag-list-documents-count", "rag-content-type", "rag-times", "rag-ids")
def test_documents_are_listed_page_by_page(rag, library):
    listed = content(rag.call("rag_list_documents", {"collection": "code"}))
    assert {key: value for key, value in listed.items() if key != "documents"} == {
        "collection": "code",
        "count": 2,
        "total": 2,
        "offset": 0,
        "limit": 100,
    }
    for each in listed["documents"]:
        assert list(each) == ["id", "source_uri", "content_type", "created_at", "updated_at"]
        assert ULID.fullmatch(each["id"])
        assert each["content_type"] == "rust"
        assert 1_600_000_000_000 < each["created_at"] <= each["updated_at"] < 10_000_000_000_000
    assert [each["source_uri"] for each in listed["documents"]] == [
        uri_of(library, "lib.rs"),
        uri_of(library, "main.rs"),
    ]
    page = content(rag.call("rag_list_documents", {"collection": "code", "limit": 1, "offset": 1}))
    assert (page["documents"], page["count"], page["total"]) == (listed["documents"][1:], 1, 2)


@pytest.mark.covers("rag-create-result", "rag-create-exists")
def test_a_collection_is_created_once(rag):
    name = "my-project-" + rag.way.replace(" ", "_")
    asked = {"name": name, "description": "My project documentation"}
    made = content(rag.call("rag_create_collection", asked))
    assert made == {"success": True, "name": name, "description": "My project documentation"}
    assert list(made) == ["success", "name", "description"]
    assert code(rag.failure("rag_create_collection", asked)) == "COLLECTION_EXISTS"


@pytest.mark.covers("rag-stats-result", "rag-stats-filter", "rag-stats-bytes")
def test_statistics_count_everything_or_one_collection(rag):
    everything = content(rag.call("rag_stats", {}))
    assert list(everything) == ["collections", "documents", "chunks", "embeddings", "storage_bytes"]
    assert everything["collections"] >= 2
    assert everything["chunks"] >= everything["documents"] >= 3
    assert everything["storage_bytes"] > 1_000
    one = content(rag.call("rag_stats", {"collection": "code"}))
    assert list(one) == ["collections", "documents", "chunks", "embeddings", "storage_bytes", "filter"]
    assert (one["documents"], one["chunks"], one["embeddings"], one["filter"]) == (2, 3, 3, "code")
    assert one["collections"] >= 2


@pytest.mark.covers("rag-collections-resource")
def test_the_resource_of_collections_counts_what_is_in_them(rag):
    by_name = {each["name"]: each for each in read(rag, "rag://collections")}
    assert list(by_name["code"]) == ["name", "description", "documents", "chunks", "created_at"]
    assert by_name["code"] | {"created_at": 0} == {
        "name": "code",
        "description": "Source code files",
        "documents": 2,
        "chunks": 3,
        "created_at": 0,
    }


@pytest.mark.covers("rag-collection-resource", "rag-settings-start", "rag-content-type-names")
def test_the_resource_of_a_collection_has_its_settings_and_documents(rag, library):
    shown = read(rag, "rag://collections/code")
    assert list(shown) == ["name", "description", "settings", "created_at", "documents"]
    assert (shown["name"], shown["description"]) == ("code", "Source code files")
    assert shown["settings"] == {
        "chunking": {"max_tokens": 512, "min_tokens": 50, "overlap_tokens": 0},
        "search": {"top_k": 10, "hybrid": True, "hybrid_alpha": 0.5},
    }
    assert shown["documents"][0] == {
        "id": id_of(library, "lib.rs"),
        "source_uri": uri_of(library, "lib.rs"),
        "content_type": "Rust",
    }


@pytest.mark.covers("rag-document-resource", "rag-content-type-names", "rag-ids")
def test_the_resource_of_a_document_has_its_text_and_passages(rag, library):
    identifier = id_of(library, "lib.rs")
    shown = read(rag, f"rag://documents/{identifier}")
    assert list(shown) == [
        *("id", "collection", "source_uri", "content_type", "metadata"),
        *("created_at", "updated_at", "raw_content", "chunks"),
    ]
    assert (shown["id"], shown["collection"], shown["content_type"]) == (identifier, "code", "Rust")
    assert shown["source_uri"] == uri_of(library, "lib.rs")
    assert shown["raw_content"] == LIB
    first, second = shown["chunks"]
    assert list(first) == ["id", "index", "content", "tokens", "lines"]
    assert (first["index"], first["lines"]) == (0, "1-3")
    assert first["content"] == "//! Library documentation\n\npub mod store;"
    assert (second["index"], second["lines"]) == (1, "5-12")
    assert ULID.fullmatch(first["id"])
    assert len({first["id"], second["id"], identifier}) == 3
    assert read(rag, f"rag://documents/{identifier.lower()}")["chunks"] == shown["chunks"]


@pytest.mark.covers("rag-resource-unknown")
@pytest.mark.parametrize(
    "uri",
    [
        "rag://collections/nope",
        "rag://collections/..%2F..%2Fetc",
        "rag://documents/01HRE4KXQN8Z3J2X5Y7A9B4C6D",
        "rag://documents/../../etc/passwd",
        "rag://nothing",
    ],
)
def test_an_unknown_resource_is_an_error_of_the_protocol(rag, uri):
    assert rag.error("resources/read", {"uri": uri})["code"] == (-32602 if rag.way.endswith("stateless") else -32002)


@pytest.mark.covers("rag-collection-missing")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("rag_search", {"query": "x"}),
        ("rag_ingest", {"uri": "data:,x"}),
        ("rag_list_documents", {}),
        ("rag_stats", {}),
    ],
)
def test_an_unknown_collection_is_not_found(rag, tool, arguments):
    assert code(rag.failure(tool, {**arguments, "collection": "nope"})) == "COLLECTION_NOT_FOUND"


@pytest.mark.covers("rag-bad-arguments")
@pytest.mark.parametrize(
    ("tool", "arguments", "culprit"),
    [
        ("rag_search", {}, "query"),
        ("rag_search", {"query": 3}, "query"),
        ("rag_search", {"query": "x", "topk": 3}, "topk"),
        ("rag_search", {"query": "x", "top_k": 0}, "top_k"),
        ("rag_search", {"query": "x", "top_k": 101}, "top_k"),
        ("rag_search", {"query": "x", "top_k": 2.5}, "top_k"),
        ("rag_search", {"query": "x", "hybrid": "yes"}, "hybrid"),
        ("rag_ingest", {"uri": "data:,x"}, "collection"),
        ("rag_ingest", {"uri": "data:,x", "collection": "code", "content_type": "cobol"}, "content_type"),
        ("rag_ingest", {"uri": "data:,x", "collection": "code", "metadata": "a"}, "metadata"),
        ("rag_delete", {}, "doc_id"),
        ("rag_list_collections", {"page": 1}, "page"),
        ("rag_list_documents", {"collection": "code", "limit": 1001}, "limit"),
        ("rag_list_documents", {"collection": "code", "limit": -1}, "limit"),
        ("rag_list_documents", {"collection": "code", "offset": -1}, "offset"),
        ("rag_create_collection", {"name": "no spaces"}, "name"),
        ("rag_create_collection", {"name": ""}, "name"),
        ("rag_stats", {"collection": None}, "collection"),
    ],
)
def test_bad_arguments_are_refused_by_name(rag, tool, arguments, culprit):
    result = rag.failure(tool, arguments)
    assert code(result) == "INVALID_ARGUMENT"
    assert f"'{culprit}'" in content(result)["error"]["message"]


@pytest.mark.covers("rag-bad-arguments")
def test_an_unknown_tool_is_an_error_of_the_protocol(rag):
    assert rag.error("tools/call", {"name": "rag_nope", "arguments": {}})["code"] == -32602
