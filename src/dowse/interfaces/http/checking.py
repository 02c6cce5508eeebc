"""Verify and why: does this citation still hold, and why is this document found or not?"""

from dowse.interfaces import wire
from dowse.interfaces.http import fields
from dowse.interfaces.http.rows import Answered, Asked, Row
from dowse.interfaces.http.searching import asking_of
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.dowse import checking, schemas
from dowse.interfaces.mcp.dialects.dowse.searching import lane_of

__all__ = ["ROWS"]


def verify(asked: Asked) -> Answered:
    """Whether a citation or a quoted text still holds."""
    return Answered(wire.verdict(asked.engine.verify(asked.arguments["claim"], quote=asked.arguments.get("quote", ""))))


def why(asked: Asked) -> Answered:
    """What became of one document in the answer to a query."""
    return Answered(wire.why(checking.reason_of(asked.call, asking_of(asked), asked.arguments["name"])))


_TEXTS = fields.list_of(fields.TEXT)
_VERDICT = fields.object_of(
    {
        "state": fields.enum("valid", "moved", "changed", "gone"),
        "message": fields.TEXT,
        "citations": fields.list_of(fields.ANYTHING),
        "diff": fields.maybe(fields.TEXT),
        "freshness": fields.maybe(fields.TEXT),
        "notes": _TEXTS,
    }
)
_REASON: Json = fields.object_of(
    {
        "outcome": fields.enum("found", "below_the_cut", "filtered", "no_match", "not_indexed"),
        "message": fields.TEXT,
        "hint": fields.maybe(fields.TEXT),
        "file": fields.maybe(fields.TEXT),
        "rank": fields.maybe(fields.WHOLE),
        "score": fields.maybe(fields.NUMBER),
        "last_score": fields.maybe(fields.NUMBER),
        "filtered_by": fields.maybe(fields.TEXT),
        "words": _TEXTS,
        "hit": fields.maybe(fields.ANYTHING),
        "ledger": fields.maybe(fields.ANYTHING),
        "notes": _TEXTS,
    }
)

ROWS = (
    Row(
        "POST",
        "/api/v1/verify",
        "verify",
        "Check whether a citation or quote still holds",
        verify,
        _VERDICT,
        tag="checking",
        takes=schemas.VERIFY,
        in_body=True,
        errors=(404, 409),
    ),
    Row(
        "POST",
        "/api/v1/why",
        "why",
        "Tell why a document is found for a query, or why not",
        why,
        _REASON,
        tag="checking",
        takes=schemas.WHY,
        in_body=True,
        lane=lane_of,
        errors=(404, 409, 503),
    ),
)
