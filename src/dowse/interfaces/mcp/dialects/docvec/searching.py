"""`search`, `search_with_filters` and `search_with_budget`: the passages that answer best."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from dowse.filters import Filter
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Reply
from dowse.interfaces.mcp.dialects.docvec.conditions import filter_of
from dowse.interfaces.mcp.dialects.docvec.failures import FailedError
from dowse.interfaces.mcp.dialects.docvec.results import result
from dowse.search.budget import sentence_ends
from dowse.types import Answer, Hit, Query

__all__ = ["search", "search_with_budget", "search_with_filters"]

_CANDIDATES = 50


def search(call: Call, arguments: Arguments) -> Reply:
    """By the engine's best ranking."""
    return _found(call, arguments, None)


def search_with_filters(call: Call, arguments: Arguments) -> Reply:
    """The same among the passages that the filters leave."""
    return _found(call, arguments, filter_of(arguments.get("filters", {})))


def search_with_budget(call: Call, arguments: Arguments) -> Reply:
    """As many of the best as fit."""
    most = arguments["max_tokens"]
    if most < 1:
        raise BadArgumentsError(
            f"Argument 'max_tokens' must be a whole number of at least 1, not {most}.",
            details={"argument": "max_tokens"},
        )
    answer = _answer(call, arguments["query"], _CANDIDATES, None)
    whole = _fitting(answer.hits, most)
    shown = whole or [_shortened(call, hit, answer.hits, most) for hit in answer.hits[:1]]
    total = sum(hit.chunk.tokens for hit in shown)
    left_out = len(answer.hits) - len(whole)
    data = {
        "results": [result(hit) for hit in shown],
        "total_tokens": total,
        "budget_utilized": round(total / most, 2),
        "truncated": left_out > 0,
        "truncated_count": left_out,
    }
    return _reply(data, answer.notes)


def _found(call: Call, arguments: Arguments, wanted: Filter | None) -> Reply:
    started = perf_counter()
    answer = _answer(call, arguments["query"], arguments["n_results"], wanted)
    took = perf_counter() - started
    embedding = _embedding_seconds(answer)
    data = {
        "results": [result(hit) for hit in answer.hits],
        "total_tokens": sum(hit.chunk.tokens for hit in answer.hits),
        "query_embedding_time": round(embedding, 6),
        "search_time": round(took - embedding, 6),
    }
    return _reply(data, answer.notes)


def _answer(call: Call, text: str, limit: int, wanted: Filter | None) -> Answer:
    """The best passages of all collections."""
    if not text.strip():
        raise BadArgumentsError("Argument 'query' must say what to look for.", details={"argument": "query"})
    everywhere = tuple(each.name for each in call.engine.known_collections())
    query = Query(
        text,
        collections=everywhere,
        limit=limit,
        snippets=False,
        verdict=False,
        filter=wanted,
        plain=True,
        fresh="ignore",
    )
    return call.engine.search(query)


def _embedding_seconds(answer: Answer) -> float:
    """How much of the time was spent on the query's vector."""
    return answer.embedding_seconds


def _fitting(hits: Sequence[Hit], most: int) -> list[Hit]:
    """Those that fit, best first; one that does not is passed over, for a shorter one behind it may."""
    chosen: list[Hit] = []
    left = most
    for hit in hits:
        if hit.chunk.tokens <= left:
            chosen.append(hit)
            left -= hit.chunk.tokens
    return chosen


def _shortened(call: Call, hit: Hit, hits: Sequence[Hit], most: int) -> Hit:
    """The best one up to the last end of a sentence that fits.

    Raises:
        FailedError: not even its first sentence fits.
    """
    chunk = hit.chunk
    for end in reversed(sentence_ends(chunk.text)):
        text = chunk.text[:end].rstrip()
        tokens = call.engine.count_tokens(text)
        if text and tokens <= most:
            last_line = chunk.first_line + text.count("\n")
            part = replace(chunk, text=text, end=chunk.start + len(text), last_line=last_line, tokens=tokens)
            return replace(hit, chunk=part)
    raise FailedError(
        "BUDGET_EXCEEDED",
        f"Token budget too small: not even the first sentence of the best result fits into {most} tokens.",
        max_tokens=most,
        smallest_result=min(each.chunk.tokens for each in hits),
        hint="Increase max_tokens",
    )


def _reply(data: Json, notes: tuple[str, ...]) -> Reply:
    return replace(Reply.json({"success": True, "data": data}), notes=notes)
