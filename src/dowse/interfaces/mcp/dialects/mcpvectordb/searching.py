"""`search`: the passages that answer best."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dowse.errors import UsageError
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Reply
from dowse.interfaces.mcp.dialects.mcpvectordb.filtering import filter_of, in_their_words
from dowse.interfaces.mcp.dialects.mcpvectordb.reading import no_library
from dowse.interfaces.mcp.dialects.mcpvectordb.shapes import result
from dowse.types import Query

__all__ = ["search"]


def search(call: Call, arguments: Arguments) -> Reply:
    """By words and by meaning, over every library unless one is named."""
    if not arguments["query"].strip():
        raise BadArgumentsError("Argument 'query' must not be empty.", details={"argument": "query"})
    conditions = arguments.get("filter") or {}
    named = _named_libraries(arguments, conditions)
    known = [each.name for each in call.engine.known_collections()]
    asked = Query(
        arguments["query"],
        collections=tuple(name for name in known if named <= {name}),
        limit=int(arguments["top_k"]),
        snippets=False,
        verdict=False,
        filter=filter_of(conditions),
        plain=True,
        fresh="ignore",
    )
    try:
        if not asked.collections:
            call.engine.documents(filter=asked.filter, limit=1)  # looks at the filter, if at nothing else
            unknown = (no_library(name, call.engine) for name in sorted(named.difference(known)))
            return replace(Reply.json({"results": []}), notes=tuple(unknown))
        answer = call.engine.search(asked)
    except UsageError as error:
        raise in_their_words(error) from error
    return replace(Reply.json({"results": [result(hit) for hit in answer.hits]}), notes=answer.notes)


def _named_libraries(arguments: Arguments, conditions: Mapping[str, Any]) -> frozenset[str]:
    """Those that a passage must be in: none, one, or two, which no passage is."""
    given = (arguments.get("library"), conditions.get("library"))
    return frozenset(name for name in given if isinstance(name, str))
