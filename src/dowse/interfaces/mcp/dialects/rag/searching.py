"""`rag_search`: the passages that answer, each collection searched as its settings say."""

from collections.abc import Sequence
from dataclasses import replace

from dowse.engine import Engine
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Lane, Reply
from dowse.interfaces.mcp.dialects.rag.collections import SearchSettings, find_collection, search_settings
from dowse.interfaces.mcp.dialects.rag.failures import TextTooLongError
from dowse.interfaces.mcp.dialects.rag.ids import ulid
from dowse.interfaces.mcp.dialects.rag.weighing import search_weighed
from dowse.text.tokens import TokenCounter
from dowse.types import Collection, Hit, Query

__all__ = ["lane_of_search", "search"]

_MOST_TOKENS = 8_192
_MOST_CHARACTERS = 32 * _MOST_TOKENS  # of any text that is one, this is far more tokens


def search(call: Call, arguments: Arguments) -> Reply:
    """By words and meaning, or by words alone."""
    text = arguments["query"]
    _check(text)
    searched = _searched(call.engine, arguments.get("collection"))
    alone = search_settings(searched[0]) if "collection" in arguments else SearchSettings()
    top_k = arguments.get("top_k", alone.top_k)
    hits: list[Hit] = []
    notes: list[str] = []
    for (is_hybrid, alpha), names in _by_manner(searched, hybrid=arguments.get("hybrid")).items():
        asked = Query(
            text,
            "hybrid" if is_hybrid else "lex",
            tuple(names),
            limit=top_k,
            snippets=False,
            verdict=False,
            plain=True,
            fresh="ignore",
        )
        answer = search_weighed(call.engine, asked, alpha) if is_hybrid else call.engine.search(asked)
        hits += answer.hits
        notes += answer.notes
    best = sorted(hits, key=lambda hit: -hit.score)[:top_k]
    results = [_result(rank, hit) for rank, hit in enumerate(best, start=1)]
    reply = Reply.json({"query": text, "total_results": len(results), "results": results})
    return replace(reply, notes=tuple(dict.fromkeys(notes)))


def lane_of_search(arguments: Arguments) -> Lane:
    """A search by words alone does not wait for those that need a model."""
    return "model" if arguments.get("hybrid", True) else "quick"


def _check(text: str) -> None:
    if not text.strip():
        raise BadArgumentsError(
            "Argument 'query' is empty: say what you are looking for.", details={"argument": "query"}
        )
    if len(text) <= _MOST_CHARACTERS and _tokens(text) <= _MOST_TOKENS:
        return
    raise TextTooLongError(f"The query is too long: at most {_MOST_TOKENS:,} tokens.", hint="Ask for less at once.")


def _tokens(text: str) -> int:
    """No text has more tokens than bytes, so that few need to be counted."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return size if size <= _MOST_TOKENS else TokenCounter(None).count(text)


def _searched(engine: Engine, name: str | None) -> Sequence[Collection]:
    """The one that is named, or all of them, whether or not other searches include them."""
    if name is not None:
        return [find_collection(engine, name).collection]
    return [each.collection for each in engine.collections()]


def _by_manner(collections: Sequence[Collection], *, hybrid: bool | None) -> dict[tuple[bool, float], list[str]]:
    """Names of collections by how they are to be searched: in both ways or not, and with which weight of meaning."""
    manners: dict[tuple[bool, float], list[str]] = {}
    for each in collections:
        settings = search_settings(each)
        is_hybrid = settings.hybrid if hybrid is None else hybrid
        manners.setdefault((is_hybrid, settings.hybrid_alpha if is_hybrid else 0.0), []).append(each.name)
    return manners


def _result(rank: int, hit: Hit) -> Json:
    return {
        "rank": rank,
        "score": round(hit.score, 4),
        "source": ulid(hit.info.id),
        "collection": hit.info.collection,
        "content": hit.chunk.text,
        "metadata": {
            "lines": f"{hit.chunk.first_line}-{hit.chunk.last_line}",
            "tokens": hit.chunk.tokens,
            "chunk_index": hit.ordinal,
        },
    }
