"""The dialect of rag-mcp: collections that are made first, documents that are ingested one by one, passages as answers.

`schemas.py` says what its tools take and give; `searching.py`, `ingesting.py` and `reading.py` do what they ask;
`failures.py` has the codes of what goes wrong. Around them: ids as ULIDs, names of content types, metadata, and the
settings of collections.
"""

from dowse.interfaces.mcp.dialect import Dialect, Hints, Resource, Tool
from dowse.interfaces.mcp.dialects.rag import ingesting, reading, schemas, searching
from dowse.interfaces.mcp.dialects.rag.failures import failed

__all__ = ["DIALECT"]

_JSON = "application/json"
_LONGEST_TEXT = 1 << 30  # what is too long is said in this dialect's own words

DIALECT = Dialect(
    name="rag",
    server_name="rag-mcp",
    title="RAG",
    instructions="Local RAG system with hybrid search. Find passages with rag_search: questions in natural language "
    "work best, `collection` narrows the search, and `hybrid: false` looks for exact words. A result's `source` is "
    "the id of its document: read all of it at rag://documents/{id}. New documents go into a collection that exists "
    "(rag_list_collections, rag_create_collection) with rag_ingest; ingesting one again updates it.",
    failed=failed,
    tools=(
        Tool(
            "rag_search",
            "Search",
            "Search the knowledge base using hybrid semantic and keyword search.",
            schemas.SEARCH,
            searching.search,
            schemas.RESULTS,
            lane=searching.lane_of_search,
            longest_text=_LONGEST_TEXT,
            fills_defaults=False,
        ),
        Tool(
            "rag_ingest",
            "Ingest document",
            "Ingest a document into the knowledge base.",
            schemas.INGEST,
            ingesting.ingest,
            schemas.INGESTED,
            hints=Hints(read_only=False, open_world=True),
            lane="write",
            longest_text=_LONGEST_TEXT,
        ),
        Tool(
            "rag_delete",
            "Delete document",
            "Delete a document from the knowledge base.",
            schemas.DELETE,
            ingesting.delete,
            schemas.DELETED,
            hints=Hints(read_only=False, destructive=True),
            lane="write",
        ),
        Tool(
            "rag_list_collections",
            "List collections",
            "List all collections in the knowledge base.",
            schemas.LIST_COLLECTIONS,
            reading.list_collections,
            schemas.COLLECTIONS,
        ),
        Tool(
            "rag_list_documents",
            "List documents",
            "List documents in a collection.",
            schemas.LIST_DOCUMENTS,
            reading.list_documents,
            schemas.DOCUMENTS,
        ),
        Tool(
            "rag_create_collection",
            "Create collection",
            "Create a new collection.",
            schemas.CREATE_COLLECTION,
            ingesting.create_collection,
            schemas.CREATED,
            hints=Hints(read_only=False, idempotent=False),
            lane="write",
        ),
        Tool(
            "rag_stats",
            "Statistics",
            "Get statistics about the knowledge base.",
            schemas.STATS_OF,
            reading.stats,
            schemas.STATS,
        ),
    ),
    resources=(
        Resource(
            "rag://collections",
            "collections",
            "Collections",
            "List all collections with statistics.",
            _JSON,
            reading.read_collections,
        ),
        Resource(
            "rag://collections/{name}",
            "collection",
            "Collection",
            "Get details for a specific collection.",
            _JSON,
            reading.read_collection,
        ),
        Resource(
            "rag://documents/{id}",
            "document",
            "Document",
            "Get full document content and metadata.",
            _JSON,
            reading.read_document,
        ),
    ),
)
