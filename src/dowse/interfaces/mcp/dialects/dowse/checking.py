"""`why` and `verify`: why is this document found or not, and does this citation still hold?"""

from dataclasses import asdict, replace

from dowse.errors import NotFoundError, UsageError
from dowse.interfaces import wire
from dowse.interfaces.mcp.access import RefusedError
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.dowse import naming
from dowse.interfaces.mcp.dialects.dowse.answers import bounded, for_agents, reply, without_empty
from dowse.interfaces.mcp.dialects.dowse.searching import query_of
from dowse.search.citations import Citation, citation_of
from dowse.search.why import Why
from dowse.types import Query

__all__ = ["reason_of", "verify", "why"]

_LEFT_OUT = ("diff", "explain", "places", "words", "notes", "passage", "ledger")
"""What a budget does without, first to last."""
_LONGEST_TEXT = 2_000  # characters of a text or a diff


def why(call: Call, arguments: Arguments) -> Reply:
    """What became of one document in the answer to a query."""
    reason = reason_of(call, query_of(call.engine, arguments), arguments["name"])
    return reply(bounded(call.engine, _reason(reason), arguments["max_tokens"], _LEFT_OUT))


def reason_of(call: Call, query: Query, name: str) -> Why:
    """The same for every interface; of what lies beyond this connection's reach on the disk, nothing is told."""
    name = naming.bare_name(name)
    reason = call.engine.why(query, name)
    if reason.outcome == "not_indexed" and reason.info is None and reason.entry is None and _is_hidden(call, name):
        return replace(reason, message=f"{name} is not in the index.", hint=_hint(call, name))
    return reason


def verify(call: Call, arguments: Arguments) -> Reply:
    """Whether a citation or a quoted text still holds."""
    verdict = call.engine.verify(arguments["claim"], quote=arguments.get("quote", ""))
    made: Json = {"state": verdict.state, "message": verdict.message}
    places = zip(verdict.citations, verdict.quotes, strict=True)
    more: Json = {
        "places": [_place(citation, text) for citation, text in places],
        "diff": _short(verdict.diff),
        "freshness": verdict.freshness,
        "notes": list(verdict.notes),
    }
    return reply(bounded(call.engine, made | without_empty(more), arguments["max_tokens"], _LEFT_OUT))


def _is_hidden(call: Call, name: str) -> bool:
    """Whether the name is of a place on the disk that this connection may not even know to be there."""
    from dowse.ingest.sources.given import parse_given  # a list of tools needs no sources

    try:
        path = parse_given(name).path
        if path is not None:
            call.check_path(path)
    except UsageError:
        return False
    except RefusedError:
        return True
    return False


def _hint(call: Call, name: str) -> str:
    """What the index alone suggests."""
    try:
        call.engine.get(name)
    except NotFoundError as error:
        near = error.details.get("similar")
        if isinstance(near, list) and near:
            return error.hint
    return "See what there is with `list`."


def _reason(reason: "Why") -> Json:
    made: Json = {"outcome": reason.outcome, "message": reason.message}
    said = wire.why(replace(reason, hint=for_agents(reason.hint)))
    kept = ("hint", "file", "rank", "score", "last_score", "filtered_by", "words", "notes")
    made |= without_empty({name: said[name] for name in kept})
    if hit := reason.hit:
        lines = {"first_line": hit.chunk.first_line, "last_line": hit.chunk.last_line}
        made |= {"passage": lines | {"citation": citation_of(hit).uri}, "explain": asdict(hit.explain)}
    return made | ({"ledger": without_empty(said["ledger"])} if reason.entry else {})


def _place(citation: Citation, text: str) -> Json:
    made: Json = {
        "file": citation.file,
        "first_line": citation.first_line,
        "last_line": citation.last_line,
        "citation": citation.uri,
        "text": _short(text),
    }
    return made | without_empty({"page": citation.page, "headings": list(citation.headings)})


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} … [{len(text) - _LONGEST_TEXT:,} more]"
