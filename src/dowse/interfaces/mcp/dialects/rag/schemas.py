"""What the tools of the rag dialect take and give, as JSON Schema."""

from typing import Any

from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.rag.content_types import MEDIA_TYPES

__all__ = [
    "COLLECTIONS",
    "CREATED",
    "CREATE_COLLECTION",
    "DELETE",
    "DELETED",
    "DOCUMENTS",
    "INGEST",
    "INGESTED",
    "LIST_COLLECTIONS",
    "LIST_DOCUMENTS",
    "RESULTS",
    "SEARCH",
    "STATS",
    "STATS_OF",
]


def _object(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def _takes(*required: str, **properties: Any) -> Json:
    needed = {"required": list(required)} if required else {}
    return _object(**properties) | needed | {"additionalProperties": False}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _string(description: str = "", **more: Any) -> Json:
    return {"type": "string"} | _described(description) | more


def _integer(description: str = "", **more: Any) -> Json:
    return {"type": "integer"} | _described(description) | more


def _described(description: str) -> Json:
    return {"description": description} if description else {}


_BOOLEAN: Json = {"type": "boolean"}

SEARCH: Json = _takes(
    "query",
    query=_string("The search query"),
    collection=_string("Optional collection to search within. If omitted, searches all collections."),
    top_k=_integer("Number of results to return", default=10, minimum=1, maximum=100),
    hybrid=_BOOLEAN | {"description": "Use hybrid search combining vector and keyword", "default": True},
)
RESULTS: Json = _object(
    query=_string("The original query"),
    total_results=_integer("Number of results returned"),
    results=_list(
        _object(
            rank=_integer("Result rank (1-indexed)"),
            score={"type": "number", "description": "Relevance score (higher is better)"},
            source=_string("Document ID"),
            collection=_string("Collection name"),
            content=_string("Chunk content"),
            metadata=_object(
                lines=_string("Line range in source file"),
                tokens=_integer("Token count"),
                chunk_index=_integer("Position in document"),
            ),
        )
    ),
)

INGEST: Json = _takes(
    "uri",
    "collection",
    uri=_string("URI of the document. Supports: file://, https://, data: (for raw content)"),
    collection=_string("Target collection name"),
    content_type=_string("Content type override. Auto-detected if omitted.", enum=list(MEDIA_TYPES)),
    metadata={"type": "object", "description": "Optional metadata to attach to the document"},
)
INGESTED: Json = _object(
    success=_BOOLEAN,
    doc_id=_string("Generated document ID"),
    collection=_string(),
    source_uri=_string(),
    content_type=_string(),
    chunks_created=_integer(),
    warnings=_list(_string()) | {"description": "Why the document is not found by its meaning yet (if so)"},
)

DELETE: Json = _takes("doc_id", doc_id=_string("The document ID to delete (ULID format)"))
DELETED: Json = _object(success=_BOOLEAN, deleted_doc_id=_string(), source_uri=_string(), collection=_string())

LIST_COLLECTIONS: Json = _takes()
COLLECTIONS: Json = _object(
    collections=_list(
        _object(name=_string(), description=_string(), created_at=_integer("Unix timestamp (milliseconds)"))
    ),
    total=_integer(),
)

LIST_DOCUMENTS: Json = _takes(
    "collection",
    collection=_string("Collection name"),
    limit=_integer("Maximum documents to return", default=100, maximum=1000),
    offset=_integer("Pagination offset", default=0),
)
DOCUMENTS: Json = _object(
    collection=_string(),
    documents=_list(
        _object(
            id=_string(),
            source_uri=_string(),
            content_type=_string(),
            created_at=_integer(),
            updated_at=_integer(),
        )
    ),
    count=_integer(),
    total=_integer("Documents in the collection"),
    offset=_integer(),
    limit=_integer(),
)

CREATE_COLLECTION: Json = _takes(
    "name",
    name=_string("Collection name (alphanumeric, hyphens, underscores)", pattern="^[a-zA-Z0-9_-]+$"),
    description=_string("Optional description"),
)
CREATED: Json = _object(success=_BOOLEAN, name=_string(), description=_string())

STATS_OF: Json = _takes(collection=_string("Optional collection to filter stats"))
STATS: Json = _object(
    collections=_integer("Total number of collections"),
    documents=_integer("Total documents (or in specified collection)"),
    chunks=_integer("Total chunks"),
    embeddings=_integer("Total embeddings"),
    storage_bytes=_integer("Database size in bytes"),
    filter=_string("Collection filter applied (if any)"),
)
