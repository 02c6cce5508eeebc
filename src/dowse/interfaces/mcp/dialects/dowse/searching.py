"""`search`: the passages that answer, each text once, as many as fit."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from dowse.filters import from_operators
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Lane, Reply
from dowse.interfaces.mcp.dialects.dowse.answers import rendered, reply, without_empty
from dowse.search.budget import Page, Portion, fit
from dowse.search.citations import citation_of
from dowse.types import Query

if TYPE_CHECKING:
    from dowse.engine import Engine

__all__ = ["lane_of", "query_of", "search"]

_COPIES = 5  # names of copies that are told
_NOTHING = "Nothing was found. Try other words, fewer filters, or a lower min_score; `why` explains a missing document."


def search(call: Call, arguments: Arguments) -> Reply:
    """The best passages, within the budget."""
    answer = call.engine.search(replace(query_of(call.engine, arguments), fold=True, merge=arguments["merge"]))
    explain: bool = arguments["explain"]
    notes = [*answer.notes, *([] if answer.hits else [_NOTHING])]

    def render(page: Page) -> str:
        results = [_result(portion, explain=explain) for portion in page.portions]
        rest = {"omitted": page.omitted or None, "cursor": page.cursor, "notes": notes}
        return rendered({"mode": answer.mode, **wire.verdict_of(answer), "results": results} | without_empty(rest))

    packed = fit(
        answer,
        render,
        count=call.engine.count_tokens,
        max_tokens=arguments["max_tokens"],
        cursor=arguments.get("cursor", ""),
    )
    return reply(packed.rendered)


def query_of(engine: "Engine", arguments: Arguments) -> Query:
    """What is asked, for `search` and for `why`.

    Raises:
        BadArgumentsError: it is neither a query nor searches, or both, or searches with a mode.
        UsageError: the filters cannot be read.
    """
    if ("query" in arguments) == ("searches" in arguments):
        raise BadArgumentsError("Give either 'query' or 'searches', and not both.", details={"argument": "query"})
    mode = arguments["mode"]
    if "searches" in arguments and mode != "auto":
        raise BadArgumentsError("The types of 'searches' are their mode: leave it out.", details={"argument": "mode"})
    config = engine.config
    return Query(
        arguments.get("query", ""),
        mode,
        collections=tuple(arguments.get("collections", ())),
        limit=arguments["limit"],
        min_score=arguments["min_score"],
        per_document=arguments["per_document"],
        filter=from_operators(arguments.get("filters", {})),
        searches=tuple((each["type"], each["query"]) for each in arguments.get("searches", ())),
        expand=mode == "auto" and "query" in arguments and bool(config.expander),
        rerank=mode in {"auto", "hybrid"} and bool(config.reranker),
        diversity=arguments["diversity"],
        recency=arguments["recency_days"],
    )


def lane_of(arguments: Arguments) -> Lane:
    """Searches by words alone do not wait for those that need a model."""
    kinds = {each["type"] for each in arguments.get("searches", ())}
    return "quick" if arguments["mode"] == "lex" or kinds == {"lex"} else "model"


def _result(portion: Portion, *, explain: bool) -> Json:
    hit = portion.hit
    info, chunk = hit.info, hit.chunk
    made: Json = {
        "file": info.file,
        "docid": info.docid,
        "title": info.title,
        "score": round(hit.score, 4),
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "citation": citation_of(hit).uri,
    }
    made |= without_empty(
        {
            "page": chunk.page,
            "headings": list(chunk.headings),
            "context": wire.context_text(hit.contexts),
            "freshness": hit.freshness if hit.freshness in {"stale", "gone"} else None,
            "copies": list(hit.copies[:_COPIES]),
        }
    )
    if explain:
        made |= {"id": str(info.id), "content_hash": info.content_hash, "explain": asdict(hit.explain)}
    return made | {"text": portion.passage}
