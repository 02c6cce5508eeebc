"""What the tools of the mcpvectordb dialect take and give, as JSON Schema."""

from dowse.interfaces.mcp.dialect import Json

__all__ = [
    "DELETED",
    "DOCUMENT",
    "DOCUMENTS",
    "INGESTED",
    "INGEST_FILE",
    "INGEST_URL",
    "LIBRARIES",
    "LIST_DOCUMENTS",
    "NOTHING",
    "RESULTS",
    "SEARCH",
    "doc_id",
]

_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_TIME: Json = {"type": "string", "description": "ISO 8601, in UTC"}
_OBJECT: Json = {"type": "object", "additionalProperties": True}
_NULL: Json = {"type": "null"}


def _takes(required: list[str], **properties: Json) -> Json:
    takes: Json = {"type": "object", "properties": properties}
    return takes | ({"required": required} if required else {}) | {"additionalProperties": False}


def _gives(**properties: Json) -> Json:
    """An object that has all of these."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _or_null(schema: Json, description: str) -> Json:
    return {"anyOf": [schema, _NULL], "description": description, "default": None}


def doc_id(description: str) -> Json:
    """The one argument of the tools that are about one document."""
    return _takes(["doc_id"], doc_id=_TEXT | {"description": description})


NOTHING = _takes([])

_METADATA_GIVEN = _or_null(_OBJECT, "Arbitrary key-value metadata")

INGEST_FILE = _takes(
    ["path"],
    path=_TEXT | {"description": "Absolute or relative path to the file"},
    library=_TEXT | {"description": "Library (collection) to index into", "default": "default"},
    metadata=_METADATA_GIVEN,
)

INGEST_URL = _takes(
    ["url"],
    url=_TEXT | {"description": "HTTP or HTTPS URL to fetch"},
    library=_TEXT | {"description": "Library to index into", "default": "default"},
    metadata=_METADATA_GIVEN,
)

SEARCH = _takes(
    ["query"],
    query=_TEXT | {"description": "Natural language search query"},
    top_k={
        "type": "integer",
        "description": "Max results to return (1-100)",
        "default": 5,
        "minimum": 1,
        "maximum": 100,
    },
    library=_or_null(_TEXT, "Restrict to library; null = all libraries"),
    filter=_or_null(
        _OBJECT,
        "Field equality filters: fields of the results (file_type, page, last_modified, source, title, ...) or of the "
        'documents\' metadata, with a string, integer or boolean each. All conditions are AND-ed: {"file_type": "pdf", '
        '"page": 3}',
    ),
)

LIST_DOCUMENTS = _takes(
    [],
    library=_or_null(_TEXT, "Filter by library; null = all"),
    limit={
        "type": "integer",
        "description": "Max documents to return (1-1000)",
        "default": 20,
        "minimum": 1,
        "maximum": 1000,
    },
    offset={"type": "integer", "description": "Pagination offset", "default": 0, "minimum": 0},
)

INGESTED = _gives(
    status={"type": "string", "enum": ["indexed", "replaced", "skipped"]},
    doc_id=_TEXT,
    source=_TEXT,
    library=_TEXT,
    chunk_count=_COUNT,
)
INGESTED["properties"]["warnings"] = {
    "type": "array",
    "items": _TEXT,
    "description": "Why the document is found by its words only, if so",
}

RESULTS = _gives(
    results={
        "type": "array",
        "items": _gives(
            doc_id=_TEXT,
            source=_TEXT,
            title=_TEXT,
            library=_TEXT,
            file_type=_TEXT,
            last_modified=_TIME,
            page=_COUNT | {"description": "From 1; 0 where unknown or not applicable"},
            content=_TEXT,
            chunk_index=_COUNT,
            metadata=_OBJECT,
        ),
    }
)

DOCUMENTS = _gives(
    documents={
        "type": "array",
        "items": _gives(
            doc_id=_TEXT,
            source=_TEXT,
            title=_TEXT,
            library=_TEXT,
            content_hash=_TEXT,
            created_at=_TIME,
            metadata=_OBJECT,
            chunk_count=_COUNT,
        ),
    },
    count=_COUNT | {"description": "How many are returned here"},
    total=_COUNT | {"description": "How many there are, over all pages"},
)

LIBRARIES = _gives(
    libraries={"type": "array", "items": _gives(library=_TEXT, document_count=_COUNT, chunk_count=_COUNT)}
)

DELETED = _gives(status={"type": "string", "enum": ["deleted"]}, doc_id=_TEXT, deleted_chunks=_COUNT)

DOCUMENT = _gives(
    doc_id=_TEXT,
    source=_TEXT,
    title=_TEXT,
    library=_TEXT,
    content=_TEXT,
    chunk_count=_COUNT,
    metadata=_OBJECT,
)
