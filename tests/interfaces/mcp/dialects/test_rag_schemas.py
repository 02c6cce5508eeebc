"""The tools and resources of the rag dialect as a client finds them, letter by letter as in seeds/003."""

import pytest

from interfaces.mcp.talking import in_process

SPECIFIED = {
    "rag_search": (
        "Search the knowledge base using hybrid semantic and keyword search.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query"},
                "collection": {
                    "type": "string",
                    "description": "Optional collection to search within. If omitted, searches all collections.",
                },
                "top_k": {
                    "type": "integer",
                    "description": "Number of results to return",
                    "default": 10,
                    "minimum": 1,
                    "maximum": 100,
                },
                "hybrid": {
                    "type": "boolean",
                    "description": "Use hybrid search combining vector and keyword",
                    "default": True,
                },
            },
            "required": ["query"],
        },
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The original query"},
                "total_results": {"type": "integer", "description": "Number of results returned"},
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "rank": {"type": "integer", "description": "Result rank (1-indexed)"},
                            "score": {"type": "number", "description": "Relevance score (higher is better)"},
                            "source": {"type": "string", "description": "Document ID"},
                            "collection": {"type": "string", "description": "Collection name"},
                            "content": {"type": "string", "description": "Chunk content"},
                            "metadata": {
                                "type": "object",
                                "properties": {
                                    "lines": {"type": "string", "description": "Line range in source file"},
                                    "tokens": {"type": "integer", "description": "Token count"},
                                    "chunk_index": {"type": "integer", "description": "Position in document"},
                                },
                            },
                        },
                    },
                },
            },
        },
    ),
    "rag_ingest": (
        "Ingest a document into the knowledge base.",
        {
            "type": "object",
            "properties": {
                "uri": {
                    "type": "string",
                    "description": "URI of the document. Supports: file://, https://, data: (for raw content)",
                },
                "collection": {"type": "string", "description": "Target collection name"},
                "content_type": {
                    "type": "string",
                    "description": "Content type override. Auto-detected if omitted.",
                    "enum": [
                        "rust",
                        "python",
                        "typescript",
                        "javascript",
                        "go",
                        "java",
                        "cpp",
                        "markdown",
                        "html",
                        "json",
                        "yaml",
                        "plain_text",
                    ],
                },
                "metadata": {"type": "object", "description": "Optional metadata to attach to the document"},
            },
            "required": ["uri", "collection"],
        },
        {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "doc_id": {"type": "string", "description": "Generated document ID"},
                "collection": {"type": "string"},
                "source_uri": {"type": "string"},
                "content_type": {"type": "string"},
                "chunks_created": {"type": "integer"},
            },
        },
    ),
    "rag_delete": (
        "Delete a document from the knowledge base.",
        {
            "type": "object",
            "properties": {"doc_id": {"type": "string", "description": "The document ID to delete (ULID format)"}},
            "required": ["doc_id"],
        },
        {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "deleted_doc_id": {"type": "string"},
                "source_uri": {"type": "string"},
                "collection": {"type": "string"},
            },
        },
    ),
    "rag_list_collections": (
        "List all collections in the knowledge base.",
        {"type": "object", "properties": {}},
        {
            "type": "object",
            "properties": {
                "collections": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "description": {"type": "string"},
                            "created_at": {"type": "integer", "description": "Unix timestamp (milliseconds)"},
                        },
                    },
                },
                "total": {"type": "integer"},
            },
        },
    ),
    "rag_list_documents": (
        "List documents in a collection.",
        {
            "type": "object",
            "properties": {
                "collection": {"type": "string", "description": "Collection name"},
                "limit": {
                    "type": "integer",
                    "description": "Maximum documents to return",
                    "default": 100,
                    "maximum": 1000,
                },
                "offset": {"type": "integer", "description": "Pagination offset", "default": 0},
            },
            "required": ["collection"],
        },
        {
            "type": "object",
            "properties": {
                "collection": {"type": "string"},
                "documents": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "source_uri": {"type": "string"},
                            "content_type": {"type": "string"},
                            "created_at": {"type": "integer"},
                            "updated_at": {"type": "integer"},
                        },
                    },
                },
                "count": {"type": "integer"},
                "offset": {"type": "integer"},
                "limit": {"type": "integer"},
            },
        },
    ),
    "rag_create_collection": (
        "Create a new collection.",
        {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "description": "Collection name (alphanumeric, hyphens, underscores)",
                    "pattern": "^[a-zA-Z0-9_-]+$",
                },
                "description": {"type": "string", "description": "Optional description"},
            },
            "required": ["name"],
        },
        {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "name": {"type": "string"},
                "description": {"type": "string"},
            },
        },
    ),
    "rag_stats": (
        "Get statistics about the knowledge base.",
        {
            "type": "object",
            "properties": {"collection": {"type": "string", "description": "Optional collection to filter stats"}},
        },
        {
            "type": "object",
            "properties": {
                "collections": {"type": "integer", "description": "Total number of collections"},
                "documents": {"type": "integer", "description": "Total documents (or in specified collection)"},
                "chunks": {"type": "integer", "description": "Total chunks"},
                "embeddings": {"type": "integer", "description": "Total embeddings"},
                "storage_bytes": {"type": "integer", "description": "Database size in bytes"},
                "filter": {"type": "string", "description": "Collection filter applied (if any)"},
            },
        },
    ),
}
"""Name -> description, input schema, output schema."""

ADDED = {"rag_ingest": {"warnings"}, "rag_list_documents": {"total"}}
"""What DIALECTS.md adds to results."""


@pytest.fixture(scope="module", params=["handshake", "stateless"])
def rag(request, tmp_path_factory):
    with in_process("rag", tmp_path_factory.mktemp("rag"), era=request.param) as talk:
        yield talk


@pytest.fixture
def listed(rag):
    return {tool["name"]: tool for tool in rag.request("tools/list")["tools"]}


@pytest.mark.covers("rag-tools")
def test_there_are_the_seven_tools_of_the_specification_in_its_order(listed):
    assert list(listed) == list(SPECIFIED)


@pytest.mark.parametrize("name", SPECIFIED)
@pytest.mark.covers("rag-descriptions")
def test_a_tool_is_described_as_in_the_specification(listed, name):
    assert listed[name]["description"] == SPECIFIED[name][0]


@pytest.mark.parametrize("name", SPECIFIED)
@pytest.mark.covers(
    "rag-search-in",
    "rag-ingest-in",
    "rag-delete-in",
    "rag-list-collections-in",
    "rag-list-documents-in",
    "rag-create-in",
    "rag-stats-in",
)
def test_a_tool_takes_exactly_what_the_specification_says(listed, name):
    assert listed[name]["inputSchema"] == SPECIFIED[name][1] | {"additionalProperties": False}


@pytest.mark.parametrize("name", SPECIFIED)
@pytest.mark.covers(
    "rag-search-out",
    "rag-ingest-out",
    "rag-delete-out",
    "rag-list-collections-out",
    "rag-list-documents-out",
    "rag-create-out",
    "rag-stats-out",
)
def test_a_tool_promises_what_the_specification_says(listed, name):
    promised = listed[name]["outputSchema"]
    kept = {key: value for key, value in promised["properties"].items() if key not in ADDED.get(name, ())}
    assert promised | {"properties": kept} == SPECIFIED[name][2]
    assert set(promised["properties"]) - set(kept) == ADDED.get(name, set())


@pytest.mark.covers("rag-annotations")
def test_annotations_say_which_tools_write_and_which_delete(listed):
    keys = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    reads = dict(zip(keys, (True, False, True, False), strict=True))
    writes = {
        "rag_ingest": dict(zip(keys, (False, False, True, True), strict=True)),
        "rag_delete": dict(zip(keys, (False, True, True, False), strict=True)),
        "rag_create_collection": dict(zip(keys, (False, False, False, False), strict=True)),
    }
    for name, tool in listed.items():
        assert {key: tool["annotations"][key] for key in keys} == writes.get(name, reads)


@pytest.mark.covers("rag-collections-resource", "rag-collection-resource", "rag-document-resource")
def test_there_is_one_resource_and_two_templates_all_of_json(rag):
    (fixed,) = rag.request("resources/list")["resources"]
    templates = rag.request("resources/templates/list")["resourceTemplates"]
    shown = {
        each.get("uri", each.get("uriTemplate")): (each["mimeType"], each["description"])
        for each in (fixed, *templates)
    }
    assert shown == {
        "rag://collections": ("application/json", "List all collections with statistics."),
        "rag://collections/{name}": ("application/json", "Get details for a specific collection."),
        "rag://documents/{id}": ("application/json", "Get full document content and metadata."),
    }
