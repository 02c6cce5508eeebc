"""What the tools of the docvec dialect take and give, as JSON Schema in the specification's own words.

Two things differ from its text. The fields of a filter also take objects of operators, as the specification's own
examples do. Arguments that it does not name are refused.
"""

from typing import Any

from dowse.interfaces.mcp.dialect import Json

__all__ = [
    "FOUND",
    "FOUND_WITHIN_BUDGET",
    "INDEXED_DIRECTORY",
    "INDEXED_FILE",
    "INDEX_DIRECTORY",
    "INDEX_FILE",
    "SEARCH",
    "SEARCH_WITH_BUDGET",
    "SEARCH_WITH_FILTERS",
]

_STRING: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer"}


def _takes(required: str, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}


def _comparable(value: Json) -> Json:
    """A field of a filter: a value that it must equal, or operators."""
    return {"anyOf": [value, {"type": "object"}]}


INDEX_FILE = _takes(
    "file_path",
    file_path={"type": "string", "description": "Absolute or relative path to the document"},
)
INDEX_DIRECTORY = _takes(
    "dir_path",
    dir_path={"type": "string", "description": "Directory path to scan for documents"},
    recursive={"type": "boolean", "description": "Scan subdirectories recursively", "default": True},
)
SEARCH = _takes(
    "query",
    query={"type": "string", "description": "Natural language search query"},
    n_results={
        "type": "integer",
        "description": "Maximum number of results to return",
        "default": 5,
        "minimum": 1,
        "maximum": 50,
    },
)
SEARCH_WITH_FILTERS = _takes(
    "query",
    query={"type": "string", "description": "Natural language search query"},
    filters={
        "type": "object",
        "description": "Metadata filters to apply",
        "properties": {
            "source_file": _comparable(_STRING),
            "file_format": _comparable(_STRING),
            "page_number": _comparable(_INTEGER),
            "header_level": _comparable(_INTEGER),
        },
    },
    n_results={"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
)
SEARCH_WITH_BUDGET = _takes(
    "query",
    query={"type": "string", "description": "Search query"},
    max_tokens={"type": "integer", "description": "Maximum tokens in results", "default": 3000},
)


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def _said(kind: str, description: str, **more: Any) -> Json:
    return {"type": kind, **more, "description": description}


INDEXED_FILE = _object(
    success=_said("boolean", "Whether indexing succeeded"),
    data=_object(
        doc_hash=_said("string", "SHA-256 hash of document content"),
        chunks_created=_said("integer", "Number of chunks indexed"),
        chunk_ids=_said("array", "List of chunk IDs stored in database", items=_STRING),
        total_tokens=_said("integer", "Total tokens across all chunks"),
        file_format=_said("string", "Detected file format (markdown, pdf, text, code)"),
    ),
    error=_said("string", "Error message if success is false"),
)
INDEXED_DIRECTORY = _object(
    success=_said("boolean", "Overall operation success"),
    data=_object(
        new_documents=_said("integer", "Number of new documents indexed"),
        duplicates_skipped=_said("integer", "Number of duplicate documents skipped"),
        errors=_said("array", "List of files that failed to index", items=_object(file_path=_STRING, error=_STRING)),
        total_chunks=_said("integer", "Total chunks created across all documents"),
        chunk_ids=_said("object", "Map of file paths to their chunk IDs"),
    ),
)

_RESULTS: Json = {
    "type": "array",
    "items": _object(
        chunk_id=_STRING,
        content=_STRING,
        score=_said("number", "Similarity score (0.0-1.0, higher is better)"),
        metadata=_object(source_file=_STRING, chunk_index=_INTEGER, file_format=_STRING),
        token_count=_INTEGER,
    ),
}
_TOTAL_TOKENS = _said("integer", "Total tokens in all results")

FOUND = _object(
    success={"type": "boolean"},
    data=_object(
        results=_RESULTS,
        total_tokens=_TOTAL_TOKENS,
        query_embedding_time=_said("number", "Time to generate query embedding (seconds)"),
        search_time=_said("number", "ChromaDB search time (seconds)"),
    ),
)
FOUND_WITHIN_BUDGET = _object(
    success={"type": "boolean"},
    data=_object(
        results=_RESULTS,
        total_tokens=_TOTAL_TOKENS,
        budget_utilized=_said("number", "Share of the token budget that the results take (0.0-1.0)"),
        truncated=_said("boolean", "Whether some results were excluded to stay within budget"),
        truncated_count=_said("integer", "Number of results excluded or shortened"),
    ),
)
