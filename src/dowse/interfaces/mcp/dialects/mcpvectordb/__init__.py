"""The dialect of mcpvectordb: libraries of documents that are ingested one by one, searched by passage.

`schemas.py` says what its tools take and give, `writing.py`, `searching.py` and `reading.py` do what they ask,
`filtering.py` understands the filter of a search, and `shapes.py` prints our nouns in this dialect's words.
"""

from dowse.errors import DowseError
from dowse.interfaces.mcp.dialect import Dialect, Hints, Reply, Tool
from dowse.interfaces.mcp.dialects.mcpvectordb import reading, schemas, searching, writing

__all__ = ["DIALECT"]

_INSTRUCTIONS = (
    "Documents are kept in libraries. `search` returns the passages that answer a question best, each with the doc_id "
    "of its document; `get_document` returns that document whole. `ingest_file` and `ingest_url` add a document, or "
    "bring it up to date if it changed: doing so again does no harm. `list_libraries` and `list_documents` show what "
    "is there. Narrow a search down by `library`, or by `filter` with fields of its results or of the documents' "
    'metadata, such as {"file_type": "pdf", "page": 3}.'
)


def failed(error: DowseError, _: str) -> Reply:
    """Every error has the same two members, whatever the tool."""
    message = " ".join(filter(None, [error.message, error.hint]))
    return Reply.json({"status": "error", "error": message}, is_error=True)


DIALECT = Dialect(
    name="mcpvectordb",
    server_name="mcpvectordb",
    title="mcpvectordb",
    instructions=_INSTRUCTIONS,
    failed=failed,
    tools=(
        Tool(
            "ingest_file",
            "Ingest File",
            "Convert a local file and index it in the vector store.",
            schemas.INGEST_FILE,
            writing.ingest_file,
            schemas.INGESTED,
            hints=Hints(read_only=False),
            lane="write",
        ),
        Tool(
            "ingest_url",
            "Ingest URL",
            "Fetch an HTTP/HTTPS URL, convert its content, and index it.",
            schemas.INGEST_URL,
            writing.ingest_url,
            schemas.INGESTED,
            hints=Hints(read_only=False, open_world=True),
            lane="write",
        ),
        Tool(
            "search",
            "Search",
            "Semantic search over indexed document chunks.",
            schemas.SEARCH,
            searching.search,
            schemas.RESULTS,
            lane="model",
        ),
        Tool(
            "list_documents",
            "List Documents",
            "List indexed documents with metadata.",
            schemas.LIST_DOCUMENTS,
            reading.list_documents,
            schemas.DOCUMENTS,
        ),
        Tool(
            "list_libraries",
            "List Libraries",
            "List all libraries with document and chunk counts.",
            schemas.NOTHING,
            reading.list_libraries,
            schemas.LIBRARIES,
        ),
        Tool(
            "delete_document",
            "Delete Document",
            "Remove a document and all its chunks from the index.",
            schemas.doc_id("The document UUID to delete"),
            writing.delete_document,
            schemas.DELETED,
            hints=Hints(read_only=False, destructive=True),
            lane="write",
        ),
        Tool(
            "get_document",
            "Get Document",
            "Return the full Markdown text of an indexed document.",
            schemas.doc_id("The document UUID to retrieve"),
            reading.get_document,
            schemas.DOCUMENT,
        ),
    ),
)
