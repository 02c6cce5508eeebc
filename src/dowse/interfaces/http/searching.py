"""Search: the passages that answer, with everything that a reader or a page needs to show, cite and open them."""

from collections import Counter
from dataclasses import asdict, replace
from functools import partial

from dowse.interfaces import wire
from dowse.interfaces.http import fields
from dowse.interfaces.http.rows import Answered, Asked, Row, enveloped
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.dowse import schemas
from dowse.interfaces.mcp.dialects.dowse.searching import lane_of, query_of
from dowse.search.budget import Page, Portion, fit, page_of
from dowse.search.citations import citation_of
from dowse.types import Query

__all__ = ["ROWS", "asking_of"]

_NOTHING = "Nothing was found. Try other words, fewer filters, or a lower min_score."
_OWN: Json = {
    "max_tokens": fields.whole("The whole response has at most so many tokens.", 100, 1_000_000),
    "snippets": fields.flag("Pick the best lines of each passage and mark the query's words.", default=True),
    "cursor": fields.CURSOR,
    "fresh": fields.choice("Whether to look at the files of the results.", ("warn", "ignore"), default="warn"),
}
_TAKES: Json = {**schemas.SEARCH, "properties": schemas.SEARCH["properties"] | _OWN}
_IN_QUERY: Json = {
    **_TAKES,
    "properties": {name: each for name, each in _TAKES["properties"].items() if name != "searches"},
    "required": ["query"],
}


def search(asked: Asked) -> Answered:
    """The best passages."""
    arguments = asked.arguments
    answer = asked.engine.search(asking_of(asked))
    notes = [*answer.notes, *([] if answer.hits else [_NOTHING])]
    render = partial(_rendered, asked, notes, {(hit.info.id, hit.ordinal): at for at, hit in enumerate(answer.hits, 1)})
    cursor = arguments.get("cursor", "")
    if "max_tokens" not in arguments:
        return Answered(text=render(page_of(answer, cursor)))
    count = asked.engine.count_tokens
    packed = fit(answer, render, count=count, max_tokens=arguments["max_tokens"], cursor=cursor)
    return Answered(text=packed.rendered)


def asking_of(asked: Asked) -> Query:
    """The query of `search` and `why`, by the names of the dowse dialect."""
    arguments = asked.arguments
    own = {name: arguments[name] for name in ("snippets", "fresh", "merge") if name in arguments}
    return replace(query_of(asked.engine, arguments), **own)


def _rendered(asked: Asked, notes: list[str], ranks: dict[object, int], page: Page) -> str:
    explain: bool = asked.arguments["explain"]
    editor = asked.engine.config.editor
    results = [
        _result(portion, ranks[portion.hit.info.id, portion.hit.ordinal], editor, explain=explain)
        for portion in page.portions
    ]
    facets = {
        "collections": dict(Counter(each["collection"] for each in results)),
        "types": dict(Counter(each["media_type"] for each in results)),
    }
    found = {"mode": page.answer.mode, **wire.verdict_of(page.answer)}
    data = found | {"results": results, "facets": facets, "omitted": page.omitted}
    return enveloped(asked, Answered(data, page.cursor, notes))


def _result(portion: Portion, rank: int, editor: str, *, explain: bool) -> Json:
    hit = portion.hit
    info, chunk, snippet = hit.info, hit.chunk, hit.snippet
    cited = citation_of(hit, editor)
    made: Json = {
        "rank": rank,
        "id": str(info.id),
        "docid": info.docid,
        "file": info.file,
        "collection": info.collection,
        "path": info.path,
        "uri": info.uri,
        "title": info.title,
        "media_type": info.media_type,
        "score": round(hit.score, 4),
        "text": portion.passage,
        "snippet": {
            "text": snippet.text,
            "first_line": snippet.first_line,
            "start": snippet.start,
            "highlights": [list(span) for span in snippet.highlights],
        },
        "headings": list(chunk.headings),
        "page": chunk.page,
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "start": chunk.start,
        "end": chunk.end,
        "place": dict(chunk.place),
        "passage": hit.ordinal,
        "freshness": hit.freshness,
        "context": wire.context_text(hit.contexts),
        "citation": cited.uri,
        "editor": cited.editor,
        "content_hash": info.content_hash,
        "updated": wire.iso(info.updated_at),
    }
    return made | {"explain": asdict(hit.explain)} if explain else made


_LEG = fields.object_of(
    {
        "name": fields.enum("lex", "vec"),
        "rank": fields.maybe(fields.WHOLE),
        "raw": fields.NUMBER,
        "value": fields.NUMBER,
        "weight": fields.NUMBER,
    }
)
_FEATURE = fields.object_of({"name": fields.TEXT, "value": fields.NUMBER, "weight": fields.NUMBER})
EXPLAIN = fields.object_of(
    {
        "legs": fields.list_of(_LEG),
        "fused": fields.NUMBER,
        "score": fields.NUMBER,
        "reranked": fields.maybe(fields.NUMBER),
        "features": fields.list_of(_FEATURE),
    }
)
_SNIPPET = fields.object_of(
    {
        "text": fields.TEXT,
        "first_line": fields.WHOLE,
        "start": fields.WHOLE,
        "highlights": fields.list_of(fields.list_of(fields.WHOLE)),
    }
)
RESULT = fields.object_of(
    {
        "rank": fields.WHOLE,
        "id": fields.ID,
        "docid": fields.TEXT,
        "file": fields.TEXT,
        "collection": fields.TEXT,
        "path": fields.TEXT,
        "uri": fields.TEXT,
        "title": fields.TEXT,
        "media_type": fields.TEXT,
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "text": fields.TEXT,
        "snippet": _SNIPPET,
        "headings": fields.list_of(fields.TEXT),
        "page": fields.maybe(fields.WHOLE),
        "first_line": fields.WHOLE,
        "last_line": fields.WHOLE,
        "start": fields.WHOLE,
        "end": fields.WHOLE,
        "place": fields.ANYTHING,
        "passage": fields.WHOLE,
        "freshness": fields.FRESHNESS,
        "context": fields.maybe(fields.TEXT),
        "citation": fields.TEXT,
        "editor": fields.TEXT,
        "content_hash": fields.TEXT,
        "updated": fields.maybe(fields.TIME),
    },
    {"explain": EXPLAIN},
)
_FOUND = fields.object_of(
    {
        "mode": fields.enum("lex", "vec", "hybrid"),
        "verdict": fields.enum("found", "uncertain", "absent"),
        "confidence": fields.NUMBER,
        "results": fields.list_of(RESULT),
        "facets": fields.object_of({"collections": fields.COUNTS, "types": fields.COUNTS}),
        "omitted": fields.WHOLE,
    }
)

ROWS = (
    Row(
        "POST",
        "/api/v1/search",
        "search",
        "Find passages by words and meaning",
        search,
        _FOUND,
        tag="search",
        takes=_TAKES,
        in_body=True,
        lane=lane_of,
        elsewhere=True,
        errors=(404, 409, 503),
        paged=True,
        description="Takes the names of the dowse dialect's `search`. Give `query` or `searches`, not both.",
    ),
    Row(
        "GET",
        "/api/v1/search",
        "search_get",
        "Find passages, with the arguments in the address",
        search,
        _FOUND,
        tag="search",
        takes=_IN_QUERY,
        lane=lane_of,
        elsewhere=True,
        errors=(404, 409, 503),
        paged=True,
    ),
)
