"""What the tools of the dowse dialect take, as JSON Schema."""

from typing import Any

from dowse.filters import FIELDS
from dowse.interfaces.mcp.dialect import Json

__all__ = ["DELETE", "GET", "INGEST", "LIST", "SEARCH", "STATUS", "VERIFY", "WHY"]

_LEAST_TOKENS, _MOST_TOKENS = 100, 1_000_000
_OMITTED = "left out, and counted in `omitted`"


def _object(properties: Json, required: tuple[str, ...] = ()) -> Json:
    made: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": list(required)} if required else {})


def _text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


def _texts(description: str, most: int) -> Json:
    items = {"type": "string", "minLength": 1}
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most, "description": description}


def _whole(description: str, low: int, high: int, **more: Any) -> Json:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description, **more}


def _flag(description: str) -> Json:
    return {"type": "boolean", "default": False, "description": description}


def _max_tokens(default: int, rest: str = "left for `cursor`") -> Json:
    return _whole(
        f"The whole response has at most so many tokens. What does not fit is {rest}.",
        _LEAST_TOKENS,
        _MOST_TOKENS,
        default=default,
    )


_CURSOR = _text("The `cursor` of the page before this one; repeat the other arguments.", minLength=1, maxLength=4_096)
_FILTERS: Json = {
    "type": "object",
    "description": 'Conditions on fields: {"type": "pdf", "date": {"$gte": "2024-05"}, "$or": [{"tag": "a"}, {"tag": '
    '"b"}]}. Operators: $eq $ne $in $nin $gt $gte $lt $lte $contains $prefix $glob $exists; joined by $and $or $not. '
    f"Fields: {', '.join(FIELDS)}; any other name is a key of the documents' metadata.",
}
_ASKING: Json = {
    "query": _text(
        'What to find, in words or as a question. Understands "exact phrase", -excluded, prefix*, and conditions '
        "such as type:pdf, path:src/*, tag:work, after:2024-05. Give this or `searches`."
    ),
    "searches": {
        "type": "array",
        "minItems": 1,
        "maxItems": 10,
        "description": "Several searches combined into one ranking; the first weighs double. Give this or `query`.",
        "items": _object(
            {
                "type": {
                    "type": "string",
                    "enum": ["lex", "vec", "hyde"],
                    "description": "lex: by words; vec: a question, by meaning; hyde: a text that could be the answer.",
                },
                "query": _text("The words, question or text.", minLength=1),
            },
            ("type", "query"),
        ),
    },
    "collections": _texts("Only in these; without it, in those that are searched by default.", 100),
    "filters": _FILTERS,
    "limit": _whole("At most so many passages.", 1, 100, default=10),
    "min_score": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": 0.1,
        "description": "Leave out weaker passages: 0.1 only what is unrelated, 0.3 what is hardly related, 0 nothing.",
    },
    "mode": {
        "type": "string",
        "enum": ["auto", "lex", "vec", "hybrid"],
        "default": "auto",
        "description": "auto: the best that the index can do; lex: words; vec: meaning; hybrid: both.",
    },
    "per_document": _whole("At most so many passages of one document; 0: as many as rank.", 0, 100, default=3),
    "diversity": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": 0,
        "description": "How much variety counts beside the score; 0.3 shows more sides of a broad subject.",
    },
    "recency_days": {
        "type": "number",
        "minimum": 0,
        "default": 0,
        "description": "Prefer new documents: after so many days that counts half; 0: age does not count.",
    },
}

SEARCH: Json = _object(
    _ASKING
    | {
        "max_tokens": _max_tokens(4_000),
        "explain": _flag("Tell how each score came about."),
        "merge": {
            "type": "boolean",
            "default": True,
            "description": "Make one result of passages that follow each other.",
        },
        "cursor": _CURSOR,
    }
)

_NAME = (
    "collection/path, the end of a path, a dowse:// URI or citation, file:// or web address, #docid, id, or a glob. "
    "Lines: `name:120` (from there on), `name:120-160`, `name#L120-L160`."
)

GET: Json = _object(
    {
        "name": _text(f"One document: {_NAME}", minLength=1),
        "names": _texts("Several, each as `name` takes it.", 100),
        "first_line": _whole("From this line on, where a name has no lines of its own.", 1, 1_000_000_000),
        "last_line": _whole("Up to and with this line.", 1, 1_000_000_000),
        "line_numbers": _flag("Put `N: ` in front of each line."),
        "max_tokens": _max_tokens(8_000),
        "cursor": _CURSOR,
    }
)

INGEST: Json = _object(
    {
        "source": _text("A path of a file or folder, or a file://, https:// or data: address.", minLength=1),
        "content": _text("Or the text itself; then give `name`, too."),
        "name": _text("What to call the content, as files are: minutes/2026-11.md. The same name replaces it."),
        "collection": _text("Where to put it; made if it is missing.", minLength=1, maxLength=200),
        "metadata": {
            "type": "object",
            "maxProperties": 100,
            "additionalProperties": {
                "anyOf": [
                    *({"type": kind} for kind in ("string", "number", "boolean")),
                    {"type": "array", "items": {"type": "string"}},
                ]
            },
            "description": "What to remember of it, for `filters`: texts, numbers, true, false, lists of texts.",
        },
        "content_type": _text("Its media type or a short name (md, html, pdf), where that cannot be told from it."),
    }
)

DELETE: Json = _object(
    {
        "names": _texts("Documents: collection/path, a dowse:// URI, #docid, id, or a glob for many.", 1_000),
        "collection": _text("Only in this one."),
    },
    ("names",),
)

LIST: Json = _object(
    {
        "kind": {
            "type": "string",
            "enum": ["collections", "documents"],
            "description": "By default collections; documents where any other condition is given.",
        },
        "collection": _text("The documents of this collection."),
        "prefix": _text("Only paths that start so; needs `collection`."),
        "filters": _FILTERS,
        "limit": _whole("At most so many.", 1, 1_000, default=100),
        "max_tokens": _max_tokens(8_000),
        "cursor": _CURSOR,
    }
)

STATUS: Json = _object(
    {
        "job": _text("Only this job, by its id.", minLength=1),
        "failures": _whole("How many failures to tell.", 0, 1_000, default=20),
        "max_tokens": _max_tokens(4_000, _OMITTED),
    }
)

WHY: Json = _object(
    {"name": _text("The document: collection/path, a dowse:// URI, #docid, id, or a path on the disk.", minLength=1)}
    | _ASKING
    | {"max_tokens": _max_tokens(4_000, _OMITTED)},
    ("name",),
)

VERIFY: Json = _object(
    {
        "claim": _text("A citation (dowse://…, name:10-20) or a quoted text.", minLength=1),
        "quote": _text("What the citation is said to say."),
        "max_tokens": _max_tokens(4_000, _OMITTED),
    },
    ("claim",),
)
