"""From a query to an answer: understand -> plan -> search -> judge -> shape -> snippet.

The steps work on refs and numbers; texts are fetched only for the hits that are returned, and for those that
phrases, exclusions or a reranker have to look at.
"""

from collections.abc import Callable, Sequence

from dowse.errors import UsageError
from dowse.ports import Expander, Snapshot
from dowse.search.asking import Asked, understand
from dowse.search.contexts import contexts_of
from dowse.search.planning import Models
from dowse.search.planning import plan as make_plan
from dowse.search.searching import Searching
from dowse.search.shape import Found
from dowse.search.snippet import Nearest, snippet
from dowse.search.verdict import judge
from dowse.types import Answer, Chunk, Explain, Filter, Hit, Query, Scope, Snippet, Verdict

__all__ = ["Models", "answer"]

_PARTIAL = "Some passages have no vector yet and were judged by their words alone. Make them: dowse embed"
_NO_WORDS = "The query has no words to search for."
_NO_COLLECTIONS = "There is no collection that is searched without being named."
_INCLUDED = "included collections"
_UNJUDGED: tuple[Verdict, float] = ("uncertain", 0.0)
_COMPARED = 3  # hits whose lines are chosen by meaning where they have none of the words
_LISTED = "The query has conditions alone: these are the documents that meet them, the newest first."


def answer(snapshot: Snapshot, query: Query, models: Models) -> Answer:
    """Answer a query from a snapshot."""
    _check(query)
    asked = understand(snapshot, query, _expander(snapshot, query, models))
    scope = _scope(snapshot, query, asked.filter)
    if not scope.collections:
        return _nothing(snapshot, query, _NO_COLLECTIONS)
    if not asked.words and not asked.meanings:
        return _listed(snapshot, query, scope, asked)
    plan = make_plan(snapshot, asked, models)
    searching = Searching(snapshot, query, scope, asked, plan, models)
    found, picked = searching.found()
    notes = tuple(dict.fromkeys(searching.notes))
    judged = judge(snapshot, scope, plan.mode, found, asked) if query.verdict else _UNJUDGED
    hits = _hits(snapshot, picked, _Lines(asked, plan.nearest) if query.snippets else None)
    is_partial = plan.mode == "hybrid" and any(len(hit.explain.legs) == 1 for hit in hits)
    said = (*snapshot.notes, *asked.notes, *plan.notes, *notes, *([_PARTIAL] if is_partial else []))
    return Answer(query, plan.mode, hits, said, *judged, plan.embedding_seconds)


class _Lines:
    """Picks the lines of each hit."""

    def __init__(self, asked: Asked, nearest: Nearest | None = None) -> None:
        self._matcher, self._worth, self._nearest = asked.matcher, asked.worth, nearest

    def of(self, place: int, chunk: Chunk) -> Snippet:
        """The snippet of the hit in this place of the answer; only the first ones are worth a model's time."""
        return snippet(chunk, self._matcher, self._worth, self._nearest if place < _COMPARED else None)


def _hits(snapshot: Snapshot, picked: Sequence[Found], lines: _Lines | None) -> tuple[Hit, ...]:
    contexts = snapshot.contexts()
    hits = []
    for place, (passage, explain, copies) in enumerate(picked):
        info, chunk = passage.info, passage.chunk
        best = lines.of(place, chunk) if lines else Snippet("", chunk.first_line, chunk.start)
        told = contexts_of(info, contexts) if contexts else ()
        hits.append(Hit(info, chunk, passage.ordinal, explain.score, best, told, explain, copies=copies))
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
    picked = [Found(passage, Explain((), 1.0, 1.0)) for chunks in first for passage in chunks]
    hits = _hits(snapshot, picked, _Lines(asked) if query.snippets else None)
    verdict: Verdict = "found" if hits else "absent"
    return Answer(query, "lex", hits, (*snapshot.notes, *asked.notes, _LISTED), verdict, float(bool(hits)))


def _check(query: Query) -> None:
    if not query.text.strip() and not query.searches:
        raise UsageError("The query is empty.", hint="Say what you are looking for.")
    if query.limit < 1:
        raise UsageError(f"A limit of {query.limit} asks for nothing.", hint="Give a limit of 1 or more.")
    if not 0 <= query.min_score <= 1:
        raise UsageError(f"A minimum score of {query.min_score} is outside of 0 to 1.", hint="Scores go from 0 to 1.")
    if not 0 <= query.diversity <= 1:
        raise UsageError(f"A diversity of {query.diversity} is outside of 0 to 1.", hint="Give 0 for none, 1 for most.")
    if query.recency < 0:
        raise UsageError(f"{query.recency} days cannot be.", hint="Give the days after which being new counts half.")
    if query.candidates < 1:
        raise UsageError("A reranker of nothing says nothing.", hint="Let it read 1 candidate or more.")
    if query.per_document < 0:
        raise UsageError(
            f"{query.per_document} passages per document cannot be.", hint="Give 1 or more, or 0 for as many as rank."
        )


def _scope(snapshot: Snapshot, query: Query, condition: Filter | None) -> Scope:
    if query.collections:
        return Scope(frozenset(query.collections), condition)
    names = snapshot.memory.get(_INCLUDED)
    if names is None:
        names = frozenset(each.name for each in snapshot.collections() if each.included)
        snapshot.memory[_INCLUDED] = names
    return Scope(names, condition)


def _expander(snapshot: Snapshot, query: Query, models: Models) -> Callable[[], Expander | None]:
    if not models.feedback:
        return models.expander
    from dowse.search.feedback import Feedback  # hardly anybody asks for it

    return lambda: Feedback(snapshot, _scope(snapshot, query, query.filter))
