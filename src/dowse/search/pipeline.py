"""From a query to an answer: understand -> recall -> fuse -> sift -> rerank -> pick -> snippet.

The steps work on refs and numbers; texts are fetched only for the hits that are returned, and for those that
phrases, exclusions or a reranker have to look at.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dowse.errors import ModelError, ModelMismatchError, UsageError
from dowse.ports import Embedder, Expander, Reranker, Snapshot
from dowse.search.asking import Asked, understand
from dowse.search.contexts import contexts_of
from dowse.search.fuse import best_unseen, explain, fuse
from dowse.search.matching import Matcher
from dowse.search.recall import Legs, recall
from dowse.search.rerank import RERANKED, rerank
from dowse.search.snippet import snippet
from dowse.text.scripts import share_beyond_latin
from dowse.types import (
    Answer,
    Chunk,
    Explain,
    Hit,
    ModelIdentity,
    Passage,
    Query,
    Ref,
    Scope,
    Snippet,
    version_of,
)

if TYPE_CHECKING:
    from dowse.search.sieve import Sieve

_RECALL = 100  # candidates per leg of a hybrid search
_RECALL_PER_HIT = 4  # candidates per wanted hit, where some of them may not count; five of six searches need no more
_GROWTH = 4  # how many times more to ask for when too few were good
_SIFTED = 50  # passages that are read at once to look for phrases and exclusions
_FOREIGN_SHARE = 0.3  # above it a model for English only adds noise

_PARTIAL = "Some passages have no vector yet and were judged by their words alone. Make them: dowse embed"
_NO_WORDS = "The query has no words to search for."
_NO_COLLECTIONS = "There is no collection that is searched without being named."
_LISTED = "The query has conditions alone: these are the documents that meet them, the newest first."


@dataclass(frozen=True, slots=True)
class Models:
    """What can be asked about meaning; each is called only when it is needed."""

    identity: Callable[[], ModelIdentity]
    """Which model embeds. ModelError: that is not known yet."""
    embedder: Callable[[], Embedder]
    predecessor: Callable[[ModelIdentity], Embedder | None] = lambda _: None
    """The model that answers while this one makes its vectors; None where it cannot be had any more."""
    reranker: Callable[[], Reranker | None] = lambda: None
    expander: Callable[[], Expander | None] = lambda: None


def answer(snapshot: Snapshot, query: Query, models: Models) -> Answer:
    """Answer a query from a snapshot."""
    _check(query)
    asked = understand(snapshot, query, models.expander)
    scope = _scope(snapshot, query, asked)
    if not scope.collections:
        return _nothing(snapshot, query, _NO_COLLECTIONS)
    if not asked.words and not asked.meanings:
        return _listed(snapshot, query, scope, asked)
    plan = _plan(snapshot, asked, models)
    picked, notes = _search(snapshot, query, scope, asked, plan, models)
    matcher = Matcher(asked.terms) if query.snippets else None
    hits = _hits(snapshot, picked, matcher)
    is_partial = plan.mode == "hybrid" and any(len(hit.explain.legs) == 1 for hit in hits)
    said = (*snapshot.notes, *asked.notes, *plan.notes, *notes, *([_PARTIAL] if is_partial else []))
    return Answer(query, plan.mode, hits, said, plan.embedding_seconds)


def _hits(snapshot: Snapshot, picked: Sequence[tuple[Passage, Explain]], matcher: Matcher | None) -> tuple[Hit, ...]:
    contexts = snapshot.contexts()
    hits = [
        Hit(
            passage.info,
            passage.chunk,
            passage.ordinal,
            explain.score,
            snippet(passage.chunk, matcher) if matcher else _no_snippet(passage.chunk),
            contexts_of(passage.info, contexts) if contexts else (),
            explain,
        )
        for passage, explain in picked
    ]
    return tuple(hits)


def _nothing(snapshot: Snapshot, query: Query, why: str) -> Answer:
    return Answer(query, "vec" if query.mode == "vec" else "lex", (), (*snapshot.notes, why))


def _listed(snapshot: Snapshot, query: Query, scope: Scope, asked: Asked) -> Answer:
    """The answer to a query without words: what its conditions let through."""
    if scope.filter is None:
        return _nothing(snapshot, query, _NO_WORDS)
    infos = [info for info in snapshot.documents(filter=scope.filter) if info.collection in (scope.collections or ())]
    infos.sort(key=lambda info: (-info.fingerprint.mtime_ns, -info.updated_at, info.file))
    first = [snapshot.chunks(info.id)[:1] for info in infos[: query.limit]]
    picked = [(passage, Explain((), 1.0, 1.0)) for chunks in first for passage in chunks]
    hits = _hits(snapshot, picked, Matcher([]) if query.snippets else None)
    return Answer(query, "lex", hits, (*snapshot.notes, *asked.notes, _LISTED))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What will be done: the mode after fallbacks, what is searched with, and what the reader should know."""

    mode: Literal["lex", "vec", "hybrid"]
    legs: Legs
    notes: tuple[str, ...] = ()
    embedding_seconds: float = 0.0


def _plan(snapshot: Snapshot, asked: Asked, models: Models) -> _Plan:
    """Embed what is asked where that makes sense; words alone answer where it does not, and the answer says so."""
    if not asked.meanings:
        return _Plan("lex", Legs(asked.words))
    try:
        identity, embedder, notes = answering(snapshot, models)
        wanted = asked.meanings
        if asked.words and identity.language == "en":
            wanted = tuple(each for each in asked.meanings if share_beyond_latin(each[0]) <= _FOREIGN_SHARE)
        if not wanted:
            note = f"{identity.name} knows only English, so this query was answered by words alone."
            return _Plan("lex", Legs(asked.words), (note,))
        started = time.perf_counter()
        asks = embedder()
        vectors = tuple((asks.embed_query(text), weight) for text, weight in wanted)
        seconds = time.perf_counter() - started
    except ModelError as error:
        if not asked.words:
            raise
        return _Plan("lex", Legs(asked.words), (f"Answered by words alone. {error.message} {error.hint}".rstrip(),))
    legs = Legs(asked.words, identity, vectors)
    return _Plan("hybrid" if asked.words else "vec", legs, notes, embedding_seconds=seconds)


def answering(snapshot: Snapshot, models: Models) -> tuple[ModelIdentity, Callable[[], Embedder], tuple[str, ...]]:
    """The model whose vectors answer, and a note where it is not the configured one.

    Another one is asked only while its successor makes its vectors: whoever just changed the configuration may not
    want to send questions to the old address any more.
    """
    held, configured = snapshot.model(), models.identity()
    if held is None:
        raise ModelError("The index has no vectors yet.", hint="Make them: dowse embed")
    if held == configured:
        return held, models.embedder, ()
    predecessor = models.predecessor(held) if snapshot.successor() == configured else None
    if predecessor is None:
        raise ModelMismatchError.between(
            f"{held.name} ({held.precision})", f"{configured.name} ({configured.precision})"
        )
    note = f"{held.name} answers until the vectors of {configured.name} are complete: dowse embed"
    return held, lambda: predecessor, (note,)


def _check(query: Query) -> None:
    if not query.text.strip() and not query.searches:
        raise UsageError("The query is empty.", hint="Say what you are looking for.")
    if query.limit < 1:
        raise UsageError(f"A limit of {query.limit} asks for nothing.", hint="Give a limit of 1 or more.")
    if not 0 <= query.min_score <= 1:
        raise UsageError(f"A minimum score of {query.min_score} is outside of 0 to 1.", hint="Scores go from 0 to 1.")
    if query.per_document < 0:
        raise UsageError(
            f"{query.per_document} passages per document cannot be.", hint="Give 1 or more, or 0 for as many as rank."
        )


def _scope(snapshot: Snapshot, query: Query, asked: Asked) -> Scope:
    if query.collections:
        return Scope(frozenset(query.collections), asked.filter)
    included = [collection.name for collection in snapshot.collections() if collection.included]
    return Scope(frozenset(included), asked.filter)


def _search(
    snapshot: Snapshot, query: Query, scope: Scope, asked: Asked, plan: _Plan, models: Models
) -> tuple[list[tuple[Passage, Explain]], tuple[str, ...]]:
    """Recall, fuse and pick; deeper, as long as there is more and too few of what was found may count.

    The minimum score cuts the end off a ranking that does not depend on it.
    """
    wanted = max(query.limit, RERANKED) if query.rerank else query.limit
    is_simple = plan.mode == "lex" and not query.per_document and not asked.sieve
    depth = wanted if is_simple else _RECALL_PER_HIT * wanted
    if plan.mode == "hybrid":
        depth = max(depth, _RECALL)
    while True:
        evidence, is_all = recall(snapshot, scope, plan.legs, depth)
        ranking = fuse(plan.mode, evidence)
        picked = _pick(query, _sifted(snapshot, asked.sieve, ranking) if asked.sieve else ranking, wanted)
        if len(picked) >= wanted or is_all or best_unseen(plan.mode, evidence) < query.min_score:
            break
        depth *= _GROWTH
    explained = explain(plan.mode, evidence, [ref for ref, _ in picked])
    found = [(passage, explained[passage.ref]) for passage in snapshot.passages(list(explained))]
    notes: tuple[str, ...] = ()
    if query.rerank:
        found, notes = rerank(found, asked.text, models.reranker())
    good = [each for each in found if each[1].score >= query.min_score]
    return good[: query.limit], notes


def _sifted(snapshot: Snapshot, sieve: "Sieve", ranking: Sequence[tuple[Ref, float]]) -> Iterator[tuple[Ref, float]]:
    """Those that have the phrases, and nothing that is excluded."""
    for first in range(0, len(ranking), _SIFTED):
        part = dict(ranking[first : first + _SIFTED])
        for passage in sieve.sift(snapshot, snapshot.passages(list(part))):
            yield passage.ref, part[passage.ref]


def _no_snippet(chunk: Chunk) -> Snippet:
    return Snippet("", chunk.first_line, chunk.start)


def _pick(
    query: Query, ranking: "Sequence[tuple[Ref, float]] | Iterator[tuple[Ref, float]]", wanted: int
) -> list[tuple[Ref, float]]:
    """The best ones, with as many of each document as asked for."""
    if not query.per_document and not isinstance(ranking, Iterator):
        return list(ranking[:wanted])
    picked: list[tuple[Ref, float]] = []
    taken: dict[int, int] = {}
    for ref, fused in ranking:
        document = version_of(ref)
        so_far = taken.get(document, 0)
        if not query.per_document or so_far < query.per_document:
            taken[document] = so_far + 1
            picked.append((ref, fused))
            if len(picked) == wanted:
                break
    return picked
