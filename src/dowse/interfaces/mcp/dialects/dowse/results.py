"""What the tools of the dowse dialect give, as JSON Schema; members that say nothing are left out."""

from dowse.interfaces.mcp.dialect import Json

__all__ = ["DELETED", "FOUND", "INGESTED", "LISTED", "READ", "REASON", "STATE", "VERDICT"]

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_NUMBER: Json = {"type": "number"}
_FLAG: Json = {"type": "boolean"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_ANYTHING: Json = {"type": "object"}
_CURSOR: Json = {"type": "string", "description": "Ask again with it for the rest"}
_FRESHNESS: Json = {"type": "string", "enum": ["fresh", "stale", "gone", "unknown"]}
_STATES = ["running", "done", "failed", "cancelled"]


def _object(required: Json, optional: Json | None = None) -> Json:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


_PLACE: Json = {
    "first_line": _WHOLE,
    "last_line": _WHOLE,
    "citation": {"type": "string", "description": "A URI for `get` and `verify`; cite with it"},
}

FOUND: Json = _object(
    {
        "mode": {"type": "string", "enum": ["lex", "vec", "hybrid"], "description": "What was really done"},
        "verdict": {
            "type": "string",
            "enum": ["found", "uncertain", "absent"],
            "description": "found: the answer is among the results; absent: probably not in the documents",
        },
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "The evidence for `found`"},
        "results": _list(
            _object(
                {
                    "file": {"type": "string", "description": "collection/path, for `get`"},
                    "docid": _TEXT,
                    "title": _TEXT,
                    "score": {"type": "number", "minimum": 0, "maximum": 1},
                    **_PLACE,
                    "text": {"type": "string", "description": "The passage, word for word"},
                },
                {
                    "page": _WHOLE,
                    "headings": _TEXTS,
                    "context": {"type": "string", "description": "What its user says of this part"},
                    "freshness": {
                        **_FRESHNESS,
                        "description": "stale: the file has changed since; gone: it is not there any more",
                    },
                    "copies": {
                        "type": "array",
                        "items": _TEXT,
                        "description": "Where nearly the same stands, too",
                    },
                    "id": _TEXT,
                    "content_hash": _TEXT,
                    "explain": _ANYTHING,
                },
            )
        ),
    },
    {
        "omitted": {"type": "integer", "description": "How many results did not fit into max_tokens"},
        "cursor": _CURSOR,
        "notes": _TEXTS,
    },
)

_MISSED = _object({"name": _TEXT, "reason": _TEXT})

READ: Json = _object(
    {
        "documents": _list(
            _object(
                {
                    "file": _TEXT,
                    "docid": _TEXT,
                    "id": _TEXT,
                    "title": _TEXT,
                    "first_line": _WHOLE,
                    "last_line": _WHOLE,
                    "total_lines": _WHOLE,
                    "text": _TEXT,
                },
                {
                    "context": _TEXT,
                    "freshness": _FRESHNESS,
                    "cut": {"type": "boolean", "description": "The text goes on; ask again with the cursor"},
                },
            )
        )
    },
    {
        "missing": _list(_MISSED),
        "omitted": {"type": "integer", "description": "How many documents come after these"},
        "cursor": _CURSOR,
    },
)

_ENTRY = _object({"file": _TEXT, "code": _TEXT, "reason": _TEXT}, {"state": _TEXT, "hint": _TEXT, "at": _TEXT})
_NAMED: Json = {"file": _TEXT, "docid": _TEXT, "id": _TEXT}

INGESTED: Json = _object(
    {
        "state": {"type": "string", "enum": ["running", "done"], "description": "running: `status` follows the job"},
        "collection": _TEXT,
    },
    {
        "job": _TEXT,
        "documents": _list(
            _object(
                {
                    **_NAMED,
                    "title": _TEXT,
                    "passages": _WHOLE,
                    "action": {"type": "string", "enum": ["added", "replaced", "described", "unchanged"]},
                }
            )
        ),
        "counts": {"type": "object", "additionalProperties": _WHOLE},
        "failed": _list(_ENTRY),
        "skipped": _list(_ENTRY),
        "warnings": _TEXTS,
    },
)

DELETED: Json = _object({"deleted": _WHOLE, "documents": _list(_object(_NAMED))})

LISTED: Json = _object(
    {"kind": {"type": "string", "enum": ["collections", "documents"]}},
    {
        "collections": _list(
            _object(
                {"name": _TEXT, "documents": _WHOLE, "included": _FLAG},
                {"folder": _TEXT, "description": _TEXT, "context": _TEXT, "updated": _TEXT},
            )
        ),
        "documents": _list(
            _object(
                {**_NAMED, "title": _TEXT, "media_type": _TEXT, "bytes": _WHOLE},
                {"updated": _TEXT, "uri": _TEXT, "metadata": _ANYTHING},
            )
        ),
        "total": _WHOLE,
        "cursor": _CURSOR,
    },
)

_OMITTED: Json = {
    "type": "object",
    "additionalProperties": _WHOLE,
    "description": "How much did not fit into max_tokens, by member",
}

_JOB = _object(
    {"id": _TEXT, "what": _TEXT, "state": {"type": "string", "enum": _STATES}, "started": _TEXT},
    {
        "ended": _TEXT,
        "step": {"type": "object", "description": "The latest: stage, done, total, path"},
        "counts": {"type": "object", "additionalProperties": _WHOLE},
        "error": _object({"code": _TEXT, "message": _TEXT}, {"hint": _TEXT}),
    },
)

STATE: Json = _object(
    {"jobs": _list(_JOB)},
    {
        "version": _TEXT,
        "documents": _WHOLE,
        "passages": _WHOLE,
        "vectors": _WHOLE,
        "needs_embedding": _WHOLE,
        "model": _TEXT,
        "bytes_on_disk": _WHOLE,
        "collections": _list(
            _object(
                {
                    "name": _TEXT,
                    "documents": _WHOLE,
                    "needs_embedding": _WHOLE,
                    "failed": _WHOLE,
                    "skipped": _WHOLE,
                    "included": _FLAG,
                },
                {"folder": _TEXT, "updated": _TEXT},
            )
        ),
        "watch": _object(
            {"state": {"type": "string", "enum": ["off", "running", "died"]}},
            {"since": _TEXT, "last_batch": _TEXT, "collections": _ANYTHING, "problems": _ANYTHING},
        ),
        "failures": _list(_ENTRY),
        "failures_total": _WHOLE,
        "omitted": _OMITTED,
    },
)

REASON: Json = _object(
    {
        "outcome": {"type": "string", "enum": ["found", "below_the_cut", "filtered", "no_match", "not_indexed"]},
        "message": _TEXT,
    },
    {
        "hint": _TEXT,
        "file": _TEXT,
        "rank": _WHOLE,
        "score": _NUMBER,
        "last_score": {"type": "number", "description": "Of the last result that the search shows"},
        "filtered_by": _TEXT,
        "words": {"type": "array", "items": _TEXT, "description": "Those of the query that the document has"},
        "passage": _object(_PLACE),
        "explain": _ANYTHING,
        "ledger": _ENTRY,
        "notes": _TEXTS,
        "omitted": _OMITTED,
    },
)

VERDICT: Json = _object(
    {"state": {"type": "string", "enum": ["valid", "moved", "changed", "gone"]}, "message": _TEXT},
    {
        "places": {
            **_list(_object({"file": _TEXT, **_PLACE, "text": _TEXT}, {"page": _WHOLE, "headings": _TEXTS})),
            "description": "Where the text stands now; for changed, what stands in its place",
        },
        "diff": _TEXT,
        "freshness": _FRESHNESS,
        "notes": _TEXTS,
        "omitted": _OMITTED,
    },
)
