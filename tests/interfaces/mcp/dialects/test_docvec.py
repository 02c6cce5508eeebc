"""The docvec dialect on the wire, as the examples of seeds/004 have it: every transport, both eras."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from dowse import __version__
from dowse.interfaces.mcp.dialects.docvec import DIALECT
from ingest.extract.make_pdf import drawn, lines
from interfaces.mcp.talking import WAYS, Talk, talking
from workbench import open_at, write

CONFIG = """\
# Configuration

Everything is set by the environment.

## Authentication Configuration

To configure authentication, set the following environment variables:
- AUTH_PROVIDER: oauth2 or jwt
- AUTH_SECRET: Your secret key
"""
API = """\
# API

All API endpoints speak JSON.

## Endpoints

The API endpoints for users are below /users.

### Paging

API endpoints that list things take a page.
"""
CODE = '''\
import os


class Deployer:
    def deploy(self):
        """Follow the deployment instructions."""
        return os.getcwd()


def undeploy():
    return None
'''
LONG_PAGE = [f"Deployment instructions, step {number}: turn the lever marked {number} slowly." for number in range(50)]
DOCS = {
    "docs/config.md": CONFIG,
    "docs/api.md": API,
    "docs/deploy.py": CODE,
    "docs/deploy.txt": "Deployment instructions.\nUnpack the archive.\n\nThen start the service.\n",
    "docs/manual.pdf": drawn(lines("Lighthouses burn at night."), lines(*LONG_PAGE), lines("Storms follow.")),
}
RESULT_KEYS = {"chunk_id", "content", "score", "metadata", "token_count"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    write(folder, DOCS)
    with open_at(folder) as engine:
        engine.ingest(folder / "docs")
        engine.embed()
    return folder


@pytest.fixture(scope="module", params=WAYS)
def docvec(request, library):
    with talking("docvec", library, request.param) as talk:
        yield talk


@pytest.fixture
def own(docvec, library):
    """A folder for what the connection of one way writes: names and contents of its own."""
    return library / docvec.way.replace(" ", "-")


def ok(talk: Talk, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of a call that succeeds, in the one envelope; its text says the same."""
    result = talk.call(tool, arguments)
    assert not result.get("isError"), result
    said = result["structuredContent"]
    assert said == {"success": True, "data": said["data"]}
    (text,) = result["content"]
    assert json.loads(text["text"]) == said
    return said["data"]


def error(talk: Talk, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a call says that fails, in the one form that there is for that."""
    result = talk.failure(tool, arguments)
    said = result["structuredContent"]
    assert set(said) == {"success", "error", "error_code", "details"}
    assert said["success"] is False
    assert isinstance(said["error"], str)
    assert isinstance(said["details"], dict)
    assert json.loads(result["content"][0]["text"]) == said
    return said


def metadata_of(talk: Talk, query: str, **filters: Any) -> list[dict[str, Any]]:
    found = ok(talk, "search_with_filters", query=query, filters=filters, n_results=50)
    return [each["metadata"] for each in found["results"]]


@pytest.mark.covers("docvec-server-name", "docvec-tools", "docvec-annotations")
def test_the_server_and_its_five_tools_are_called_as_specified(docvec):
    listed = docvec.request("tools/list")
    info = docvec.client.server_info
    if info is None or not info.name:  # a client that skips discovery learns it from any result
        said = listed["_meta"]["io.modelcontextprotocol/serverInfo"]
    else:
        said = {"name": info.name, "version": info.version}
    assert (said["name"], said["version"]) == ("vector-database-mcp-server", __version__)
    tools = listed["tools"]
    assert {each["name"]: each["description"] for each in tools} == {
        "index_file": "Index a single document into the vector database.",
        "index_directory": "Batch index multiple documents from a directory with deduplication.",
        "search": "Perform semantic search across indexed documents.",
        "search_with_filters": "Search with metadata filtering for scoped retrieval.",
        "search_with_budget": "Search with token budget constraints.",
    }
    for each in tools:
        hints = each["annotations"]
        assert hints["readOnlyHint"] is each["name"].startswith("search")
        assert hints["destructiveHint"] is False
        assert hints["idempotentHint"] is True
        assert hints["openWorldHint"] is False


@pytest.mark.covers(
    "docvec-file-schema", "docvec-dir-schema", "docvec-search-schema", "docvec-filters-schema", "docvec-budget-schema"
)
def test_input_schemas_are_those_of_the_specification(docvec):
    schemas = {each["name"]: each["inputSchema"] for each in docvec.request("tools/list")["tools"]}
    for schema in schemas.values():
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
    assert {name: schema["required"] for name, schema in schemas.items()} == {
        "index_file": ["file_path"],
        "index_directory": ["dir_path"],
        "search": ["query"],
        "search_with_filters": ["query"],
        "search_with_budget": ["query"],
    }
    question = {"type": "string", "description": "Natural language search query"}
    n_results = {"type": "integer", "default": 5, "minimum": 1, "maximum": 50}
    operators = {"type": "object"}
    assert {name: schema["properties"] for name, schema in schemas.items()} == {
        "index_file": {"file_path": {"type": "string", "description": "Absolute or relative path to the document"}},
        "index_directory": {
            "dir_path": {"type": "string", "description": "Directory path to scan for documents"},
            "recursive": {"type": "boolean", "description": "Scan subdirectories recursively", "default": True},
        },
        "search": {
            "query": question,
            "n_results": n_results | {"description": "Maximum number of results to return"},
        },
        "search_with_filters": {
            "query": question,
            "filters": {
                "type": "object",
                "description": "Metadata filters to apply",
                "properties": {
                    "source_file": {"anyOf": [{"type": "string"}, operators]},
                    "file_format": {"anyOf": [{"type": "string"}, operators]},
                    "page_number": {"anyOf": [{"type": "integer"}, operators]},
                    "header_level": {"anyOf": [{"type": "integer"}, operators]},
                },
            },
            "n_results": n_results,
        },
        "search_with_budget": {
            "query": {"type": "string", "description": "Search query"},
            "max_tokens": {"type": "integer", "description": "Maximum tokens in results", "default": 3000},
        },
    }


@pytest.mark.covers("docvec-file-response", "docvec-dir-response", "docvec-search-response")
def test_output_schemas_are_the_response_schemas_of_the_specification(docvec):
    schemas = {each["name"]: each["outputSchema"]["properties"] for each in docvec.request("tools/list")["tools"]}
    assert schemas["index_file"] == {
        "success": {"type": "boolean", "description": "Whether indexing succeeded"},
        "data": {
            "type": "object",
            "properties": {
                "doc_hash": {"type": "string", "description": "SHA-256 hash of document content"},
                "chunks_created": {"type": "integer", "description": "Number of chunks indexed"},
                "chunk_ids": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "List of chunk IDs stored in database",
                },
                "total_tokens": {"type": "integer", "description": "Total tokens across all chunks"},
                "file_format": {
                    "type": "string",
                    "description": "Detected file format (markdown, pdf, text, code)",
                },
            },
        },
        "error": {"type": "string", "description": "Error message if success is false"},
    }
    assert schemas["index_directory"]["data"]["properties"]["errors"] == {
        "type": "array",
        "items": {"type": "object", "properties": {"file_path": {"type": "string"}, "error": {"type": "string"}}},
        "description": "List of files that failed to index",
    }
    found = schemas["search"]["data"]["properties"]
    assert set(found) == {"results", "total_tokens", "query_embedding_time", "search_time"}
    assert set(found["results"]["items"]["properties"]) == RESULT_KEYS
    assert schemas["search_with_filters"] == schemas["search"]


@pytest.mark.covers(
    "docvec-file-response", "docvec-file-hash", "docvec-file-chunks", "docvec-file-tokens", "docvec-searchable"
)
def test_indexing_a_file_answers_key_by_key_and_makes_it_found_by_words_and_meaning(docvec, own):
    text = CONFIG.replace("Everything", f"With {own.name} everything")
    readme = write(own, {"README.md": text}) / "README.md"
    data = ok(docvec, "index_file", file_path=str(readme))
    assert set(data) == {"doc_hash", "chunks_created", "chunk_ids", "total_tokens", "file_format"}
    assert data["doc_hash"] == hashlib.sha256(text.encode()).hexdigest()
    assert data["chunks_created"] == len(data["chunk_ids"]) == 2
    assert data["file_format"] == "markdown"
    found = ok(docvec, "search_with_filters", query="environment", filters={"source_file": str(readme)})
    assert {each["chunk_id"] for each in found["results"]} == set(data["chunk_ids"])
    assert data["total_tokens"] == found["total_tokens"]
    with open_at(own.parent) as engine:
        assert engine.collection("default").unembedded == 0


@pytest.mark.covers("docvec-file-unchanged")
def test_indexing_an_unchanged_file_again_returns_the_same(docvec, own):
    path = write(own, {"again.txt": f"Nothing changes in {own.name}.\n"}) / "again.txt"
    first = ok(docvec, "index_file", file_path=str(path))
    assert ok(docvec, "index_file", file_path=str(path)) == first
    assert first["chunks_created"] == 1


@pytest.mark.covers(
    "docvec-file-not-found",
    "docvec-error-form",
    "docvec-file-unsupported",
    "docvec-file-extraction",
    "docvec-refused",
    "docvec-file-permission",
)
def test_a_file_that_cannot_be_indexed_gets_the_specified_error(docvec, own):
    write(own, {"table.xyz": "?", "broken.pdf": b"%PDF-1.4 nonsense", "picture.md": b"\x89PNG\r\n\x1a\n"})
    missing = str(own / "missing.md")
    assert error(docvec, "index_file", file_path=missing) == {
        "success": False,
        "error": f"File not found: {missing}",
        "error_code": "FILE_NOT_FOUND",
        "details": {"path": missing},
    }
    unknown = error(docvec, "index_file", file_path=str(own / "table.xyz"))
    assert (unknown["error"], unknown["error_code"]) == ("Unsupported file format: .xyz", "UNSUPPORTED_FORMAT")
    for name in ("broken.pdf", "picture.md"):
        failed = error(docvec, "index_file", file_path=str(own / name))
        assert (failed["error"], failed["error_code"]) == ("Failed to extract content", "EXTRACTION_FAILED")
        assert failed["details"]["cause"]
    outside = {}
    for path in ("/etc/hostname", "/etc/no-such-file.md"):
        refused = error(docvec, "index_file", file_path=path)
        assert (refused["error"], refused["error_code"]) == (f"Permission denied: {path}", "PERMISSION_DENIED")
        outside[path] = refused["details"]
    assert outside["/etc/hostname"] == outside["/etc/no-such-file.md"]


@pytest.mark.covers(
    "docvec-dir-response",
    "docvec-dir-formats",
    "docvec-dir-known",
    "docvec-dir-copies",
    "docvec-dir-errors",
    "docvec-dir-statistics",
    "docvec-dir-unsupported",
)
def test_indexing_a_directory_answers_key_by_key(docvec, own):
    folder = own / "tree"
    texts = {
        "README.md": f"# Readme of {own.name}\n\nRead me.\n",
        "API.md": f"# API of {own.name}\n\nCall me.\n\n## More\n\nCall again.\n",
        "deep/copy.md": f"# Readme of {own.name}\n\nRead me.\n",
        "deep/main.py": f"def main():\n    return '{own.name}'\n",
        "notes.txt": f"Notes of {own.name}.\n",
        "corrupted.pdf": f"%PDF-1.4 {own.name}",
        "logo.png": b"\x89PNG\r\n\x1a\n",
        "unknown.xyz": "what?",
    }
    write(folder, texts)
    data = ok(docvec, "index_directory", dir_path=str(folder), recursive=True)
    assert set(data) == {"new_documents", "duplicates_skipped", "errors", "total_chunks", "chunk_ids"}
    assert data["new_documents"] == 4
    assert data["duplicates_skipped"] == 1
    assert data["errors"] == [
        {"file_path": str(folder / "corrupted.pdf"), "error": "Failed to extract content from PDF"}
    ]
    kept = data["chunk_ids"]
    assert set(kept) == {str(folder / name) for name in ("README.md", "API.md", "deep/main.py", "notes.txt")}
    assert len(kept[str(folder / "API.md")]) == 2
    assert data["total_chunks"] == sum(map(len, kept.values())) == 5
    again = ok(docvec, "index_directory", dir_path=str(folder))
    assert (again["new_documents"], again["duplicates_skipped"]) == (0, 5)
    assert (again["total_chunks"], again["chunk_ids"]) == (0, {})
    assert again["errors"] == data["errors"]


@pytest.mark.covers("docvec-dir-progress")
def test_indexing_a_directory_reports_progress(docvec, own):
    write(own / "many", {f"{number}.txt": f"File {number} of {own.name}." for number in range(5)})
    docvec.progress.clear()
    ok(docvec, "index_directory", dir_path=str(own / "many"))
    assert len(docvec.progress) >= 5
    steps = [done for done, _, _ in docvec.progress]
    assert steps == sorted(steps)


@pytest.mark.covers(
    "docvec-search-response",
    "docvec-search-score",
    "docvec-search-tokens",
    "docvec-search-times",
    "docvec-metadata-base",
    "docvec-metadata-markdown",
)
def test_a_search_answers_key_by_key_as_the_example_does(docvec, library):
    data = ok(docvec, "search", query="How do I configure authentication?", n_results=5)
    assert set(data) == {"results", "total_tokens", "query_embedding_time", "search_time"}
    best = data["results"][0]
    assert set(best) == RESULT_KEYS
    assert best["content"] == CONFIG[CONFIG.index("## Auth") :].strip()
    assert best["metadata"]["file_format"] == "markdown"
    assert best["metadata"]["chunk_index"] == 1
    assert best["metadata"]["header_path"] == "Configuration > Authentication Configuration"
    assert best["metadata"]["header_level"] == 2
    assert set(best["metadata"]) == {"source_file", "chunk_index", "file_format", "header_path", "header_level"}
    assert Path(best["metadata"]["source_file"]).is_relative_to(library)
    scores = [each["score"] for each in data["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert data["total_tokens"] == sum(each["token_count"] for each in data["results"])
    assert data["search_time"] > 0
    assert data["query_embedding_time"] >= 0


@pytest.mark.covers("docvec-search-count")
def test_a_search_returns_five_results_unless_told_otherwise(docvec):
    assert len(ok(docvec, "search", query="deployment instructions")["results"]) == 5
    assert len(ok(docvec, "search", query="deployment instructions", n_results=1)["results"]) == 1
    for number in (0, 51):
        refused = error(docvec, "search", query="deployment", n_results=number)
        assert refused["error_code"] == "INVALID_INPUT"
        assert "'n_results' must be a whole number from 1 to 50" in refused["error"]
        assert refused["details"]["argument"] == "n_results"


@pytest.mark.covers("docvec-metadata-code", "docvec-metadata-text", "docvec-metadata-pdf", "docvec-file-formats")
def test_each_format_has_its_own_metadata(docvec, library):
    base = {"source_file", "chunk_index", "file_format"}
    code = metadata_of(docvec, "deployment undeploy", file_format="code", source_file=docs(library, "deploy.py"))
    method = next(each for each in code if each.get("function_name") == "deploy")
    assert method["class_name"] == "Deployer"
    assert (method["start_line"], method["end_line"]) == (5, 7)
    assert set(method) == base | {"class_name", "function_name", "start_line", "end_line"}
    function = next(each for each in code if each.get("function_name") == "undeploy")
    assert set(function) == base | {"function_name", "start_line", "end_line"}
    (text,) = metadata_of(docvec, "archive", source_file=docs(library, "deploy.txt"))
    assert text == {
        "source_file": docs(library, "deploy.txt"),
        "chunk_index": 0,
        "file_format": "text",
        "start_line": 1,
        "end_line": 4,
    }
    pages = metadata_of(docvec, "deployment lighthouses storms", file_format="pdf")
    assert {each["page_number"] for each in pages} == {1, 2, 3}
    second = {each["chunk_index"]: each["page_position"] for each in pages if each["page_number"] == 2}
    assert (second[min(second)], second[max(second)]) == ("start", "end")
    assert all(set(each) == base | {"page_number", "page_position"} for each in pages)


def docs(library: Path, name: str) -> str:
    return str(library / "docs" / name)


@pytest.mark.covers("docvec-filters-response", "docvec-filters-exact", "docvec-filters-and")
def test_the_filters_of_the_example_leave_one_section(docvec, library):
    filters = {"source_file": docs(library, "api.md"), "header_level": 2}
    data = ok(docvec, "search_with_filters", query="API endpoints", filters=filters, n_results=10)
    assert set(data) == {"results", "total_tokens", "query_embedding_time", "search_time"}
    (only,) = data["results"]
    assert set(only) == RESULT_KEYS
    assert only["metadata"]["header_path"] == "API > Endpoints"


@pytest.mark.covers("docvec-budget-response", "docvec-budget-default", "docvec-budget-total", "docvec-budget-order")
def test_a_search_within_a_budget_answers_key_by_key(docvec):
    data = ok(docvec, "search_with_budget", query="deployment instructions", max_tokens=300)
    assert set(data) == {"results", "total_tokens", "budget_utilized", "truncated", "truncated_count"}
    assert all(set(each) == RESULT_KEYS for each in data["results"])
    assert data["total_tokens"] == sum(each["token_count"] for each in data["results"]) <= 300
    assert data["budget_utilized"] == round(data["total_tokens"] / 300, 2)
    assert data["truncated"] is True
    usual = ok(docvec, "search_with_budget", query="deployment instructions")
    assert usual["total_tokens"] <= 3000
    assert data["truncated_count"] == len(usual["results"]) + usual["truncated_count"] - len(data["results"])
    scores = [each["score"] for each in data["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.covers("docvec-instructions")
def test_instructions_are_short_and_name_every_tool():
    assert isinstance(DIALECT.instructions, str)
    assert len(DIALECT.instructions) < 2_000
    assert all(tool.name in DIALECT.instructions for tool in DIALECT.tools)


@pytest.mark.covers("docvec-filters-unknown", "docvec-arguments", "docvec-unknown-tool", "docvec-error-form")
def test_what_a_tool_does_not_take_is_refused_and_named(docvec):
    field = error(docvec, "search_with_filters", query="deployment", filters={"colour": "red"})
    assert (field["error_code"], field["details"]["field"]) == ("INVALID_INPUT", "colour")
    argument = error(docvec, "search", query="deployment", limit=3)
    assert (argument["error_code"], argument["details"]["argument"]) == ("INVALID_INPUT", "limit")
    assert docvec.error("tools/call", {"name": "reindex", "arguments": {}})["code"] == -32602
