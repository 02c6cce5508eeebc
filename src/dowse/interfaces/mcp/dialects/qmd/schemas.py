"""What the tools of the qmd dialect take and give, as JSON Schema."""

from dowse.interfaces.mcp.dialect import Json

__all__ = ["GET", "MULTI_GET", "NOTHING", "QUERY", "RESULTS", "STATUS", "search"]

NOTHING: Json = {"type": "object", "properties": {}, "additionalProperties": False}

_LIMIT: Json = {"type": "number", "description": "Maximum number of results (default: 10)", "default": 10, "minimum": 1}
_COLLECTION: Json = {"type": "string", "description": "Filter to a specific collection by name"}
_MAX_LINES: Json = {"type": "number", "minimum": 1}
_LINE_NUMBERS: Json = {
    "type": "boolean",
    "description": "Add line numbers to output (format: 'N: content')",
    "default": False,
}


def _min_score(default: float) -> Json:
    return {
        "type": "number",
        "description": f"Minimum relevance score 0-1 (default: {default})",
        "default": default,
        "minimum": 0,
        "maximum": 1,
    }


def search(min_score: float) -> Json:
    """The arguments of `search` and `vsearch`, which differ in the default threshold."""
    about = "Search query - keywords or phrases to find" if not min_score else "Natural language query"
    return {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": about},
            "limit": _LIMIT,
            "minScore": _min_score(min_score),
            "collection": _COLLECTION,
        },
        "required": ["query"],
        "additionalProperties": False,
    }


QUERY: Json = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "Natural language query - describe what you're looking for. Either this or `searches`.",
        },
        "searches": {
            "type": "array",
            "description": "Array of 1-10 typed sub-queries. First sub-query gets 2x weight. Either this or `query`.",
            "minItems": 1,
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": {
                    "type": {
                        "type": "string",
                        "enum": ["lex", "vec", "hyde"],
                        "description": "lex: keywords; vec: a question, by meaning; hyde: a passage like the answer",
                    },
                    "query": {
                        "type": "string",
                        "description": 'For lex: terms match as prefixes, "exact phrase", -term or -"phrase" to '
                        "exclude. For vec: a natural language question. For hyde: 50-100 words that look like the "
                        "ideal answer.",
                    },
                },
                "required": ["type", "query"],
                "additionalProperties": False,
            },
        },
        "limit": _LIMIT,
        "minScore": _min_score(0),
        "collection": _COLLECTION,
        "collections": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Filter to specific collections (OR match). If omitted, the collections that are searched "
            "by default.",
        },
        "intent": {
            "type": "string",
            "description": "What the search is about, to tell meanings of the same words apart",
        },
        "candidateLimit": {
            "type": "integer",
            "description": "How many candidates are reranked (default: 30)",
            "default": 30,
            "minimum": 1,
        },
        "rerank": {
            "type": "boolean",
            "description": "Whether to rerank, where a reranker is configured (default: true)",
            "default": True,
        },
    },
    "additionalProperties": False,
}

GET: Json = {
    "type": "object",
    "properties": {
        "file": {
            "type": "string",
            "description": "File path or docid from search results (e.g., 'pages/meeting.md', '#abc123', or "
            "'pages/meeting.md:100' to start at line 100)",
        },
        "fromLine": {"type": "number", "description": "Start from this line number (1-indexed)", "minimum": 1},
        "maxLines": _MAX_LINES | {"description": "Maximum number of lines to return"},
        "lineNumbers": _LINE_NUMBERS,
    },
    "required": ["file"],
    "additionalProperties": False,
}

MULTI_GET: Json = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "Glob pattern or comma-separated list of file paths"},
        "maxLines": _MAX_LINES | {"description": "Maximum lines per file"},
        "maxBytes": {
            "type": "number",
            "description": "Skip files larger than this (default: 10240 = 10KB)",
            "default": 10240,
            "minimum": 1,
        },
        "lineNumbers": _LINE_NUMBERS,
    },
    "required": ["pattern"],
    "additionalProperties": False,
}

RESULTS: Json = {
    "type": "object",
    "properties": {
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "docid": {"type": "string", "description": "Short id: # and the start of the content's hash"},
                    "file": {"type": "string", "description": "collection/path"},
                    "title": {"type": "string"},
                    "score": {"type": "number", "minimum": 0, "maximum": 1},
                    "context": {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "description": "What this part of the collection holds",
                    },
                    "snippet": {"type": "string", "description": "Excerpt with line numbers"},
                },
                "required": ["docid", "file", "title", "score", "context", "snippet"],
            },
        }
    },
    "required": ["results"],
}

STATUS: Json = {
    "type": "object",
    "properties": {
        "totalDocuments": {"type": "number"},
        "needsEmbedding": {"type": "number"},
        "hasVectorIndex": {"type": "boolean"},
        "collections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "path": {"type": "string"},
                    "pattern": {"type": "string"},
                    "documents": {"type": "number"},
                    "lastUpdated": {"type": "string", "description": "ISO 8601"},
                },
                "required": ["name", "path", "pattern", "documents", "lastUpdated"],
            },
        },
    },
    "required": ["totalDocuments", "needsEmbedding", "hasVectorIndex", "collections"],
}
