"""The mcpvectordb dialect on the wire, as the examples of seeds/002 have it: every transport, both eras."""

import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.sse import sse_client

from dowse import __version__
from dowse.interfaces.mcp.access import Access
from ingest.extract.make_pdf import drawn, lines
from ingest.sources.serving import Server, serving
from interfaces.mcp.talking import TOKEN, WAYS, Talk, connected, http_server, talking
from workbench import write

TEA = "# Green tea\n\nGreen tea wants water below eighty degrees.\n\n## Milk\n\nNo milk goes into green tea.\n"
FILES = {
    "report.pdf": drawn(lines("The lighthouse burns at night."), lines("The barometer falls before a storm.")),
    "tea.md": TEA,
    "coffee.txt": "Espresso needs nine bars of pressure.\n",
}
PAGE = b"<html><head><title>Zebra</title></head><body><h1>Zebra</h1><p>A zebra has black stripes.</p></body></html>"


@dataclass(frozen=True)
class Wire:
    """A connection with the files and the web that its server can reach."""

    talk: Talk
    files: Path
    web: Server

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool says when it succeeds, which its text says as well."""
        result = self.talk.call(tool, arguments)
        assert not result.get("isError"), result
        (text,) = result["content"]
        assert text["type"] == "text"
        assert json.loads(text["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def error(self, tool: str, **arguments: Any) -> str:
        """What a tool says when it fails, in the one form that it has for that."""
        result = self.talk.failure(tool, arguments)
        said = result["structuredContent"]
        assert said == {"status": "error", "error": said["error"]}
        assert json.loads(result["content"][0]["text"]) == said
        assert said["error"]
        return said["error"]

    def tool(self, name: str) -> dict[str, Any]:
        return next(each for each in self.talk.request("tools/list")["tools"] if each["name"] == name)


@pytest.fixture(scope="module", params=WAYS)
def db(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectordb")
    files = write(folder / "files", FILES)
    with ExitStack() as stack:
        web = stack.enter_context(serving())
        web.page("/zebra", PAGE, Content_Type="text/html", Last_Modified="Sun, 01 Jun 2025 09:00:00 GMT")
        transport, era = request.param.split()
        if transport == "http":
            access = replace(Access.over_http([folder]), allow_private_urls=True)
            address = stack.enter_context(http_server(folder, access))
            talk = stack.enter_context(connected(f"{address}/mcpvectordb/mcp", era))
        else:
            talk = stack.enter_context(talking("mcpvectordb", folder, request.param, "--allow-private-urls"))
        yield Wire(talk, files, web)


def uuid(text: str) -> bool:
    return str(UUID(text)) == text


def utc(text: str) -> bool:
    return text.endswith("+00:00") and datetime.fromisoformat(text) is not None


def nullable(schema: dict[str, Any], kind: str) -> bool:
    return [each["type"] for each in schema["anyOf"]] == [kind, "null"] and schema["default"] is None


@pytest.mark.covers("mcpvectordb-server-name")
def test_the_server_is_called_mcpvectordb(db):
    info = db.talk.client.server_info
    if info is None or not info.name:  # a client that skips discovery learns it from any result
        said = db.talk.request("tools/list")["_meta"]["io.modelcontextprotocol/serverInfo"]
        assert (said["name"], said["version"]) == ("mcpvectordb", __version__)
    else:
        assert (info.name, info.version) == ("mcpvectordb", __version__)


@pytest.mark.covers("mcpvectordb-tools", "mcpvectordb-annotations")
def test_the_seven_tools_have_the_names_and_descriptions_of_the_specification(db):
    tools = db.talk.request("tools/list")["tools"]
    assert {each["name"]: each["description"] for each in tools} == {
        "ingest_file": "Convert a local file and index it in the vector store.",
        "ingest_url": "Fetch an HTTP/HTTPS URL, convert its content, and index it.",
        "search": "Semantic search over indexed document chunks.",
        "list_documents": "List indexed documents with metadata.",
        "list_libraries": "List all libraries with document and chunk counts.",
        "delete_document": "Remove a document and all its chunks from the index.",
        "get_document": "Return the full Markdown text of an indexed document.",
    }
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    for each in tools:
        assert hints <= set(each["annotations"])
        assert each["annotations"]["readOnlyHint"] is (each["name"].split("_")[0] in {"search", "list", "get"})
        assert each["annotations"]["destructiveHint"] is (each["name"] == "delete_document")
        assert each["annotations"]["openWorldHint"] is (each["name"] == "ingest_url")
        assert each["outputSchema"]["type"] == "object"


@pytest.mark.covers("mcpvectordb-ingest_file-in", "mcpvectordb-ingest_url-in")
@pytest.mark.parametrize(
    ("tool", "first", "library"),
    [
        ("ingest_file", ("path", "Absolute or relative path to the file"), "Library (collection) to index into"),
        ("ingest_url", ("url", "HTTP or HTTPS URL to fetch"), "Library to index into"),
    ],
)
def test_ingesting_takes_a_place_a_library_and_metadata(db, tool, first, library):
    schema = db.tool(tool)["inputSchema"]
    name, description = first
    assert schema["type"] == "object"
    assert schema["required"] == [name]
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == [name, "library", "metadata"]
    assert schema["properties"][name] == {"type": "string", "description": description}
    assert schema["properties"]["library"] == {"type": "string", "description": library, "default": "default"}
    assert nullable(schema["properties"]["metadata"], "object")
    assert schema["properties"]["metadata"]["description"] == "Arbitrary key-value metadata"


@pytest.mark.covers("mcpvectordb-search-in")
def test_search_takes_a_query_a_number_a_library_and_a_filter(db):
    schema = db.tool("search")["inputSchema"]
    takes = schema["properties"]
    assert (list(takes), schema["required"]) == (["query", "top_k", "library", "filter"], ["query"])
    assert takes["query"] == {"type": "string", "description": "Natural language search query"}
    bounds = {name: takes["top_k"][name] for name in ("type", "default", "minimum", "maximum")}
    assert bounds == {"type": "integer", "default": 5, "minimum": 1, "maximum": 100}
    assert nullable(takes["library"], "string")
    assert takes["library"]["description"] == "Restrict to library; null = all libraries"
    assert nullable(takes["filter"], "object")
    assert takes["filter"]["description"].startswith("Field equality filters")


@pytest.mark.covers(
    "mcpvectordb-list_documents-in",
    "mcpvectordb-list_libraries-in",
    "mcpvectordb-delete_document-in",
    "mcpvectordb-get_document-in",
)
def test_the_other_tools_take_what_the_tables_say(db):
    schema = db.tool("list_documents")["inputSchema"]
    takes = schema["properties"]
    assert (list(takes), schema.get("required")) == (["library", "limit", "offset"], None)
    assert nullable(takes["library"], "string")
    limit = {name: takes["limit"][name] for name in ("type", "default", "minimum", "maximum")}
    assert limit == {"type": "integer", "default": 20, "minimum": 1, "maximum": 1000}
    offset = {name: takes["offset"][name] for name in ("type", "default", "minimum")}
    assert offset == {"type": "integer", "default": 0, "minimum": 0}
    assert db.tool("list_libraries")["inputSchema"]["properties"] == {}
    for tool, verb in (("delete_document", "delete"), ("get_document", "retrieve")):
        schema = db.tool(tool)["inputSchema"]
        described = {"type": "string", "description": f"The document UUID to {verb}"}
        assert (schema["properties"], schema["required"]) == ({"doc_id": described}, ["doc_id"])


@pytest.mark.covers("mcpvectordb-ingest_file-out", "mcpvectordb-ingest_file-default", "mcpvectordb-ingest_file-skipped")
def test_a_file_is_indexed_and_then_skipped(db):
    path = str(db.files / "report.pdf")
    first = db.ok("ingest_file", path=path)
    assert uuid(first["doc_id"])
    assert first == {
        "status": "indexed",
        "doc_id": first["doc_id"],
        "source": path,
        "library": "default",
        "chunk_count": 2,
    }
    assert db.ok("ingest_file", path=path, library="default", metadata=None) == first | {"status": "skipped"}


@pytest.mark.covers("mcpvectordb-ingest_url-out", "mcpvectordb-ingest_url-key", "mcpvectordb-url-facts")
def test_a_page_is_indexed_and_has_its_type_and_time(db):
    url = f"{db.web.url}/zebra"
    first = db.ok("ingest_url", url=url, library="web")
    assert uuid(first["doc_id"])
    assert first == {
        "status": "indexed",
        "doc_id": first["doc_id"],
        "source": url,
        "library": "web",
        "chunk_count": first["chunk_count"],
    }
    assert first["chunk_count"] >= 1
    assert db.ok("ingest_url", url=f"{url}#stripes", library="web") == first | {"status": "skipped"}
    other = db.ok("ingest_url", url=url, library="web too")
    assert (other["status"], other["library"]) == ("indexed", "web too")
    assert other["doc_id"] != first["doc_id"]
    (result,) = db.ok("search", query="zebra stripes", library="web")["results"]
    assert (result["source"], result["title"], result["file_type"]) == (url, "Zebra", "html")
    assert result["last_modified"] == "2025-06-01T09:00:00+00:00"


@pytest.mark.covers("mcpvectordb-search-out", "mcpvectordb-page", "mcpvectordb-ingest-searchable")
def test_a_search_returns_passages_in_the_shape_of_the_specification(db):
    path = str(db.files / "report.pdf")
    doc_id = db.ok("ingest_file", path=path, library="papers", metadata={"author": "Ada"})["doc_id"]
    said = db.ok("search", query="barometer before a storm", top_k=1, library="papers")
    assert list(said) == ["results"]
    (result,) = said["results"]
    assert utc(result["last_modified"])
    assert result["metadata"]["author"] == "Ada"
    assert result == {
        "doc_id": doc_id,
        "source": path,
        "title": result["title"],
        "library": "papers",
        "file_type": "pdf",
        "last_modified": result["last_modified"],
        "page": 2,
        "content": "The barometer falls before a storm.",
        "chunk_index": 1,
        "metadata": result["metadata"],
    }


@pytest.mark.covers("mcpvectordb-list_documents-out", "mcpvectordb-hash")
def test_documents_are_listed_in_the_shape_of_the_specification(db):
    path = db.files / "tea.md"
    made = db.ok("ingest_file", path=str(path), library="shelf", metadata={"kind": "drink"})
    said = db.ok("list_documents", library="shelf")
    (listed,) = said["documents"]
    assert utc(listed["created_at"])
    assert listed == {
        "doc_id": made["doc_id"],
        "source": str(path),
        "title": "Green tea",
        "library": "shelf",
        "content_hash": hashlib.sha256(path.read_bytes()).hexdigest(),
        "created_at": listed["created_at"],
        "metadata": {"kind": "drink"},
        "chunk_count": 2,
    }
    assert said == {"documents": [listed], "count": 1, "total": 1}


@pytest.mark.covers("mcpvectordb-list_libraries-out")
def test_libraries_are_listed_with_their_counts(db):
    for name in ("tea.md", "coffee.txt"):
        db.ok("ingest_file", path=str(db.files / name), library="counted")
    said = db.ok("list_libraries")
    assert list(said) == ["libraries"]
    (counted,) = [each for each in said["libraries"] if each["library"] == "counted"]
    assert counted == {"library": "counted", "document_count": 2, "chunk_count": 3}


@pytest.mark.covers("mcpvectordb-get_document-out", "mcpvectordb-get_document-text")
def test_a_document_is_returned_with_its_real_text(db):
    path = str(db.files / "tea.md")
    made = db.ok("ingest_file", path=path, library="whole")
    assert db.ok("get_document", doc_id=made["doc_id"]) == {
        "doc_id": made["doc_id"],
        "source": path,
        "title": "Green tea",
        "library": "whole",
        "content": TEA,
        "chunk_count": 2,
        "metadata": {},
    }


@pytest.mark.covers("mcpvectordb-delete_document-out", "mcpvectordb-delete_document-unknown")
def test_a_document_is_deleted_once(db):
    made = db.ok("ingest_file", path=str(db.files / "tea.md"), library="waste")
    doc_id = made["doc_id"]
    assert db.ok("delete_document", doc_id=doc_id) == {"status": "deleted", "doc_id": doc_id, "deleted_chunks": 2}
    assert db.ok("search", query="green tea", library="waste") == {"results": []}
    assert db.ok("list_documents", library="waste")["documents"] == []
    assert doc_id in db.error("delete_document", doc_id=doc_id)
    assert doc_id in db.error("get_document", doc_id=doc_id)


@pytest.mark.covers("mcpvectordb-errors", "mcpvectordb-ingest_file-error")
def test_errors_of_every_tool_have_one_form(db):
    missing = str(db.files / "nothing.md")
    assert db.error("ingest_file", path=missing) == f"File not found: {missing}"
    assert "ftp" in db.error("ingest_url", url="ftp://example.org/a.md")
    assert "query" in db.error("search", query=" ")
    assert "limit" in db.error("list_documents", limit=0)
    assert "list_libraries takes no arguments" in db.error("list_libraries", library="default")
    assert "UUID" in db.error("delete_document", doc_id="*")
    assert "doc_id" in db.error("get_document")


@pytest.mark.covers("mcpvectordb-transports")
def test_it_is_served_by_the_older_sse_as_well(tmp_path):
    files = write(tmp_path / "files", FILES)
    with http_server(tmp_path) as address, start_blocking_portal() as portal:
        transport = sse_client(f"{address}/mcpvectordb/sse", headers={"Authorization": f"Bearer {TOKEN}"})
        with portal.wrap_async_context_manager(Client(transport, mode="legacy")) as client:
            wire = Wire(Talk(client, portal, "sse handshake"), files, Server.__new__(Server))
            assert wire.ok("ingest_file", path=str(files / "tea.md"))["status"] == "indexed"
            assert wire.ok("search", query="milk", top_k=1)["results"][0]["title"] == "Green tea"
