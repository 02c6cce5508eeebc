"""Why is this document where it is in the answer to this query, or not in it at all?

The same pipeline answers here as in every search, only deeper, so that what is said is what was done.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from dowse.errors import ConflictError, NotFoundError
from dowse.ports import NONE, Alternatives, Snapshot
from dowse.search import lookup
from dowse.search.why.absence import not_indexed
from dowse.search.why.reasons import Why
from dowse.text.analyse import query_terms
from dowse.types import Answer, DocumentInfo, Filter, Hit, Passage, Query, Ranked, Ref, Scope

if TYPE_CHECKING:
    from dowse.ports import Vector
    from dowse.types import ModelIdentity

__all__ = ["why"]

Ask = Callable[[Snapshot, Query], Answer]

_DEEPEST = 1_000  # places of the answer that are looked at
_GROWTH = 5


def why(
    snapshot: Snapshot,
    query: Query,
    name: str,
    ask: Ask,
    *,
    conditions: Filter | None = None,
    uri_of: Callable[[str], str | None] = lambda _: None,
) -> Why:
    """What became of a document, and how it scored.

    Args:
        snapshot: the index.
        query: as it was or would be asked.
        name: the document, by path, end of path, docid, id or URI.
        ask: answers a query from a snapshot, as a search does.
        conditions: those inside the query's text; those beside it are in the query.
        uri_of: the URI of a name that is one on the disk.

    Raises:
        UsageError: the query cannot be asked.
        ConflictError: the name means several documents.
    """
    info = _found(snapshot, name, uri_of)
    if info is None:
        return not_indexed(snapshot, name, uri_of(name))
    passages = snapshot.chunks(info.id)
    if not passages:
        return Why("not_indexed", f"{info.file} has no text that could be searched.", info=info)
    left_out = _left_out(snapshot, query, info) or _unmet(query.filter, passages) or _unmet(conditions, passages)
    if left_out:
        return replace(left_out, info=info)
    refs = [passage.ref for passage in passages]
    searching = _Searching(snapshot, query, info, ask, refs)
    return searching.outcome()


class _Searching:
    """The search itself: first as deep as it takes to meet the document, else among its passages alone."""

    def __init__(self, snapshot: Snapshot, query: Query, info: DocumentInfo, ask: Ask, refs: Sequence[Ref]) -> None:
        self._snapshot = snapshot
        self._query = query
        self._info = info
        self._ask = ask
        self._refs = refs

    def outcome(self) -> Why:
        """Found, cut off by its score or its place, or without a match."""
        answer, rank = self._ranked()
        hit = answer.hits[rank - 1] if rank else self._best_alone()
        made = Why("found", "", info=self._info, rank=rank, hit=hit, words=self._words(), notes=answer.notes)
        if hit is None:
            return self._without_match(made, answer)
        limit, least = self._query.limit, self._query.min_score
        shown = [each for each in answer.hits[:limit] if each.score >= least]
        last_score = shown[-1].score if shown else None
        place = f"rank {rank:,}" if rank else f"behind rank {_DEEPEST:,}"
        if rank and rank <= limit and hit.score >= least:
            return replace(made, message=f"Found at {place} with a score of {hit.score:.2f}.", last_score=last_score)
        if rank and rank <= limit:
            return replace(
                made,
                outcome="filtered",
                message=f"It is at {place}, but its score of {hit.score:.2f} is below the minimum of {least:.2f}.",
                hint="Ask with a lower minimum score.",
                last_score=last_score,
                filtered_by=f"min_score {least:g}",
            )
        down_to = f", down to a score of {last_score:.2f}" if last_score is not None else ""
        return replace(
            made,
            outcome="below_the_cut",
            message=f"It is at {place} with a score of {hit.score:.2f}; the answer has {limit:,}{down_to}.",
            hint=self._hint_below(hit),
            last_score=last_score,
        )

    def _ranked(self) -> tuple[Answer, int | None]:
        """An answer that is deep enough to have the document in it, and where it is; None: it never came."""
        limit = self._query.limit
        while True:
            asked = replace(self._query, limit=limit, min_score=0.0, snippets=False, verdict=False, fresh="ignore")
            answer = self._ask(self._snapshot, asked)
            for rank, hit in enumerate(answer.hits, 1):
                if hit.info.id == self._info.id:
                    return answer, rank
            if len(answer.hits) < limit or limit >= _DEEPEST:
                return answer, None
            limit = min(limit * _GROWTH, max(_DEEPEST, self._query.limit))

    def _best_alone(self) -> Hit | None:
        """Its best passage where the deepest look did not meet it: places in the lists are those among its own."""
        alone = cast("Snapshot", _Only(self._snapshot, self._refs))
        asked = replace(self._query, limit=1, min_score=0.0, snippets=False, verdict=False, fresh="ignore")
        hits = self._ask(alone, asked).hits
        if not hits:
            return None
        legs = tuple(replace(leg, rank=None) for leg in hits[0].explain.legs)
        return replace(hits[0], explain=replace(hits[0].explain, legs=legs))

    def _words(self) -> tuple[str, ...]:
        found = []
        for term in query_terms(self._query.text):
            scores = self._snapshot.lexical_scores([term], self._refs)
            if any(score > 0 for score in scores.values()):
                found.append(term)
        return tuple(found)

    def _without_match(self, made: Why, answer: Answer) -> Why:
        no_words = "It has none of the query's words"
        message, hint = {
            "lex": (f"{no_words}.", "Ask in words that it uses, or by meaning: dowse query"),
            "vec": ("Its passages have no vectors yet, so that meaning cannot find it.", "Make them: dowse embed"),
            "hybrid": (f"{no_words}, and its passages have no vectors yet.", "Make them: dowse embed"),
        }[answer.mode]
        return replace(made, outcome="no_match", message=message, hint=hint)

    def _hint_below(self, hit: Hit) -> str:
        if self._query.mode in {"auto", "hybrid"} and len(hit.explain.legs) == 1:
            return "It has no vector yet and was judged by its words alone: dowse embed"
        return "Ask for more results, or in words that are nearer to the document's."


class _Only:
    """A snapshot whose searches see the passages of one document alone; everything else is as it is."""

    def __init__(self, snapshot: Snapshot, refs: Sequence[Ref]) -> None:
        self._snapshot = snapshot
        self._refs = refs

    def __getattr__(self, name: str) -> object:
        return getattr(self._snapshot, name)

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """The document's own passages with one of the terms."""
        refs = self._refs
        for term in required:
            having = self._snapshot.lexical_scores([term], refs)
            refs = [ref for ref in refs if having.get(ref, 0) > 0]
        scores = self._snapshot.lexical_scores(terms, refs, alternatives)
        ceiling = self._snapshot.lexical(terms, 1, scope, alternatives).ceiling
        return Ranked(_best({ref: score for ref, score in scores.items() if score > 0}, k), ceiling)

    def documents(self, *_: object, **__: object) -> list[DocumentInfo]:
        """None beside it: what a description alone finds is not the document's own."""
        return []

    def nearest(self, model: "ModelIdentity", vector: "Vector", k: int, scope: Scope) -> Ranked:  # noqa: ARG002 - the port's
        """The document's own passages with a vector."""
        return Ranked(_best(self._snapshot.cosines(model, vector, self._refs), k), 1.0)


def _best(scores: dict[Ref, float], k: int) -> tuple[tuple[Ref, float], ...]:
    return tuple(sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:k])


def _found(snapshot: Snapshot, name: str, uri_of: Callable[[str], str | None]) -> DocumentInfo | None:
    try:
        found = lookup.find(snapshot, [name], uri_of=uri_of)
    except NotFoundError:
        return None
    if len(found) > 1:
        raise ConflictError(f"{name} means {len(found)} documents.", hint="Name one of them by its whole path.")
    return found[0]


def _left_out(snapshot: Snapshot, query: Query, info: DocumentInfo) -> Why | None:
    """Whether the query looks into the document's collection at all."""
    if query.collections:
        if info.collection in query.collections:
            return None
        return Why(
            "filtered",
            f"It is in the collection {info.collection}, and only {', '.join(query.collections)} is searched.",
            hint=f"Search that one as well: -c {info.collection}",
            filtered_by=f"collection {', '.join(query.collections)}",
        )
    if any(each.included for each in snapshot.collections() if each.name == info.collection):
        return None
    return Why(
        "filtered",
        f"Its collection {info.collection} is searched only when it is named.",
        hint=f"Name it with -c {info.collection}, or for good: dowse collection include {info.collection}",
        filtered_by=f"collection {info.collection} is not included",
    )


def _unmet(conditions: Filter | None, passages: Sequence[Passage]) -> Why | None:
    """The condition that none of the passages fits, where there is one."""
    if conditions is None:
        return None
    from dowse.filters import describe, unmet  # most queries have no conditions

    parts = [unmet(conditions, passage.info, passage.chunk, passage.ordinal) for passage in passages]
    failing = [part for part in parts if part is not None]
    if len(failing) < len(parts):
        return None
    said = describe(failing[0])
    return Why("filtered", f"It does not fit the condition: {said}.", hint="Leave that out.", filtered_by=said)
