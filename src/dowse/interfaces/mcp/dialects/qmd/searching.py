"""`search`, `vsearch` and `query`: files, each with its best passage."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dowse.errors import DowseError, ModelError
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Lane, Reply
from dowse.interfaces.mcp.dialects.qmd.numbers import whole
from dowse.types import Hit, Mode, Query

__all__ = ["lane_of_query", "query", "search", "vsearch"]

_CANDIDATES = 30  # that a reranker reads
_MOST_RESULTS = 1_000  # beyond any client's patience; more would only cost memory


class NoVectorsError(DowseError):
    """The index was never embedded."""

    code = "no_vectors"
    http_status = 503

    def __init__(self) -> None:
        super().__init__("Vector index not found. Run 'qmd embed' first to create embeddings.")


def search(call: Call, arguments: Arguments) -> Reply:
    """By words."""
    answer = call.engine.search(_asked(call, arguments, arguments["query"], "lex"))
    return _reply(arguments["query"], answer.hits, answer.notes)


def vsearch(call: Call, arguments: Arguments) -> Reply:
    """By meaning."""
    with _asking_for_vectors(call):
        answer = call.engine.search(_asked(call, arguments, arguments["query"], "vec"))
    if not answer.hits:
        _check_vectors(call)
    return _reply(arguments["query"], answer.hits, answer.notes)


def query(call: Call, arguments: Arguments) -> Reply:
    """By both, from one text or from typed searches."""
    if ("query" in arguments) == ("searches" in arguments):
        raise BadArgumentsError("Give either 'query' or 'searches', and not both.", details={"argument": "query"})
    if "searches" in arguments:
        return _typed(call, arguments)
    answer = call.engine.search(_asked(call, arguments, arguments["query"], "auto"))
    return _reply(arguments["query"], answer.hits, answer.notes)


def lane_of_query(arguments: Arguments) -> Lane:
    """Searches by words alone do not wait for those that need a model."""
    kinds = {each["type"] for each in arguments.get("searches", [])}
    return "quick" if kinds == {"lex"} else "model"


def _asked(call: Call, arguments: Arguments, text: str, mode: Mode) -> Query:
    if "collection" in arguments and "collections" in arguments:
        raise BadArgumentsError("Give either 'collection' or 'collections'.", details={"argument": "collections"})
    return Query(
        text,
        mode,
        collections=tuple(
            arguments.get("collections", [arguments[key] for key in ("collection",) if key in arguments])
        ),
        limit=min(whole(arguments, "limit"), _MOST_RESULTS),
        min_score=arguments["minScore"],
        per_document=1,
        verdict=False,
        fresh="ignore",
        intent=arguments.get("intent", ""),
        expand=mode == "auto" and bool(call.engine.config.expander),
        rerank=mode == "auto" and arguments.get("rerank", True) and bool(call.engine.config.reranker),
        fusion="ranks",
        candidates=arguments.get("candidateLimit", _CANDIDATES),
    )


def _typed(call: Call, arguments: Arguments) -> Reply:
    searches = tuple((each["type"], each["query"]) for each in arguments["searches"])
    asked = replace(_asked(call, arguments, "", "auto"), searches=searches, expand=False)
    with _asking_for_vectors(call):
        answer = call.engine.search(asked)
    if not answer.hits and all(kind != "lex" for kind, _ in searches):
        _check_vectors(call)
    return _reply(searches[0][1], answer.hits, answer.notes)


@contextmanager
def _asking_for_vectors(call: Call) -> Iterator[None]:
    """Say in the words of the specification that there are none, if that is why something failed."""
    try:
        yield
    except ModelError:
        _check_vectors(call)
        raise


def _check_vectors(call: Call) -> None:
    if not call.engine.stats().vectors:
        raise NoVectorsError


def _reply(label: str, hits: Sequence[Hit], notes: tuple[str, ...]) -> Reply:
    results = [_result(hit) for hit in hits]
    if not results:
        text = f'No results found for "{label}"'
    else:
        lines = [f"{each['docid']} {round(each['score'] * 100)}% {each['file']} - {each['title']}" for each in results]
        counted = f"{len(results)} result" + ("" if len(results) == 1 else "s")
        text = f'Found {counted} for "{label}":\n\n' + "\n".join(lines)
    return replace(Reply.text(text, {"results": results}), notes=notes)


def _result(hit: Hit) -> Json:
    return {
        "docid": hit.info.docid,
        "file": hit.info.file,
        "title": hit.info.title,
        "score": round(hit.score, 2),
        "context": wire.context_text(hit.contexts),
        "snippet": wire.numbered(hit.snippet.text, hit.snippet.first_line),
    }
