"""From a query to an answer: meaning -> recall -> fuse -> pick -> snippet, in the order of this file.

The steps work on refs and numbers; texts are fetched only for the hits that are returned.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dowse.errors import ModelError, ModelMismatchError, UsageError
from dowse.ports import Snapshot
from dowse.search.contexts import contexts_of
from dowse.search.fuse import Evidence, LegName, best_unseen, explain, fuse, score
from dowse.search.matching import Matcher
from dowse.search.snippet import snippet
from dowse.text.analyse import query_terms
from dowse.text.scripts import share_of_cjk
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
    from dowse.ports import Vector

EmbedQuery = Callable[[str], "Vector"]

_RECALL = 100  # candidates per leg of a hybrid search
_RECALL_PER_HIT = 8  # candidates per wanted hit, where some of them may not count
_GROWTH = 4  # how many times more to ask for when too few were good
_CJK_SHARE = 0.3  # above it a model for English only adds noise

_PARTIAL = "Some passages have no vector yet and were judged by their words alone. Make them: dowse embed"
_NO_WORDS = "The query has no words to search for."
_NO_COLLECTIONS = "There is no collection that is searched without being named."


def answer(snapshot: Snapshot, query: Query, identity: ModelIdentity, embed_query: EmbedQuery) -> Answer:
    """Answer a query from a snapshot; `embed_query` is called only when meaning is asked for and can be had."""
    _check(query)
    terms = query_terms(query.text)
    scope = _scope(snapshot, query)
    if not terms or not scope.collections:
        why = _NO_COLLECTIONS if terms else _NO_WORDS
        return Answer(query, "vec" if query.mode == "vec" else "lex", (), (*snapshot.notes, why))
    meaning = _meaning(snapshot, query, identity, embed_query)
    picked = _search(snapshot, query, scope, terms, meaning)
    is_partial = meaning.mode == "hybrid" and any(len(explain.legs) == 1 for _, explain in picked)
    matcher = Matcher(terms) if query.snippets else None
    contexts = snapshot.contexts()
    hits = tuple(
        Hit(
            info=passage.info,
            chunk=passage.chunk,
            ordinal=passage.ordinal,
            score=explain.score,
            snippet=snippet(passage.chunk, matcher) if matcher else _no_snippet(passage.chunk),
            contexts=contexts_of(passage.info, contexts),
            explain=explain,
        )
        for passage, explain in picked
    )
    return Answer(query, meaning.mode, hits, (*snapshot.notes, *meaning.notes, *([_PARTIAL] if is_partial else [])))


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What will be done: the mode after fallbacks, the query's vector, and what the reader should know."""

    mode: Literal["lex", "vec", "hybrid"]
    identity: ModelIdentity
    vector: "Vector | None" = None
    notes: tuple[str, ...] = ()


def _meaning(snapshot: Snapshot, query: Query, identity: ModelIdentity, embed_query: EmbedQuery) -> _Meaning:
    """Embed the query where that makes sense; words alone answer where it does not, and the answer says so."""
    if query.mode == "lex":
        return _Meaning("lex", identity)
    try:
        _check_vectors(snapshot, identity)
        if query.mode != "vec" and identity.language == "en" and share_of_cjk(query.text) > _CJK_SHARE:
            note = f"{identity.name} knows only English, so this query was answered by words alone."
            return _Meaning("lex", identity, notes=(note,))
        return _Meaning("vec" if query.mode == "vec" else "hybrid", identity, embed_query(query.text))
    except ModelError as error:
        if query.mode == "vec":
            raise
        return _Meaning("lex", identity, notes=(f"Answered by words alone. {error.message} {error.hint}".rstrip(),))


def _check_vectors(snapshot: Snapshot, identity: ModelIdentity) -> None:
    held = snapshot.model()
    if held is None:
        raise ModelError("The index has no vectors yet.", hint="Make them: dowse embed")
    if held != identity:
        raise ModelMismatchError.between(f"{held.name} ({held.precision})", f"{identity.name} ({identity.precision})")


def _check(query: Query) -> None:
    if not query.text.strip():
        raise UsageError("The query is empty.", hint="Say what you are looking for.")
    if query.limit < 1:
        raise UsageError(f"A limit of {query.limit} asks for nothing.", hint="Give a limit of 1 or more.")
    if not 0 <= query.min_score <= 1:
        raise UsageError(f"A minimum score of {query.min_score} is outside of 0 to 1.", hint="Scores go from 0 to 1.")
    if query.per_document < 0:
        raise UsageError(
            f"{query.per_document} passages per document cannot be.", hint="Give 1 or more, or 0 for as many as rank."
        )


def _scope(snapshot: Snapshot, query: Query) -> Scope:
    if query.collections:
        return Scope(frozenset(query.collections))
    return Scope(frozenset(collection.name for collection in snapshot.collections() if collection.included))


def _search(
    snapshot: Snapshot, query: Query, scope: Scope, terms: Sequence[str], meaning: _Meaning
) -> list[tuple[Passage, Explain]]:
    """Recall, fuse and pick; deeper, as long as there is more and one document took the place of others.

    The minimum score cuts the end off a ranking that does not depend on it.
    """
    depth = query.limit if meaning.mode == "lex" and not query.per_document else _RECALL_PER_HIT * query.limit
    if meaning.mode == "hybrid":
        depth = max(depth, _RECALL)
    while True:
        evidence = _recall(snapshot, scope, terms, meaning, depth)
        picked = _pick(query, fuse(meaning.mode, evidence))
        exhausted = all(len(leg.ranked.hits) < depth for leg in evidence.values())
        if len(picked) >= query.limit or exhausted or best_unseen(meaning.mode, evidence) < query.min_score:
            break
        depth *= _GROWTH
    good = [ref for ref, fused in picked if score(meaning.mode, fused) >= query.min_score]
    explained = explain(meaning.mode, evidence, good)
    return [(passage, explained[passage.ref]) for passage in snapshot.passages(good)]


def _recall(
    snapshot: Snapshot, scope: Scope, terms: Sequence[str], meaning: _Meaning, depth: int
) -> dict[LegName, Evidence]:
    """Each leg's best candidates, and each leg's exact value for the candidates of the other one."""
    if meaning.vector is None:
        words = snapshot.lexical(terms, depth, scope)
        return {"lex": Evidence(words, dict(words.hits))}
    near = snapshot.nearest(meaning.identity, meaning.vector, depth, scope)
    if meaning.mode == "vec":
        return {"vec": Evidence(near, dict(near.hits))}
    words = snapshot.lexical(terms, depth, scope)
    by_words, by_meaning = dict(words.hits), dict(near.hits)
    by_words |= snapshot.lexical_scores(terms, [ref for ref in by_meaning if ref not in by_words])
    by_meaning |= snapshot.cosines(meaning.identity, meaning.vector, [ref for ref in by_words if ref not in by_meaning])
    return {"lex": Evidence(words, by_words), "vec": Evidence(near, by_meaning)}


def _no_snippet(chunk: Chunk) -> Snippet:
    return Snippet("", chunk.first_line, chunk.start)


def _pick(query: Query, ranking: Sequence[tuple[Ref, float]]) -> list[tuple[Ref, float]]:
    """The best ones, with as many of each document as asked for."""
    if not query.per_document:
        return list(ranking[: query.limit])
    picked: list[tuple[Ref, float]] = []
    taken: Counter[int] = Counter()
    for ref, fused in ranking:
        document = version_of(ref)
        if taken[document] < query.per_document:
            taken[document] += 1
            picked.append((ref, fused))
            if len(picked) == query.limit:
                break
    return picked
