"""One search, as deep as it takes: recall, rank, pick, and a second opinion where one is asked for.

The minimum score and the shape of the answer only decide how deep; the ranking does not depend on them.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowse.errors import ModelError
from dowse.ports import Snapshot
from dowse.search.asking import Asked
from dowse.search.planning import Models, Plan
from dowse.search.rank import Ranking, rank
from dowse.search.recall import recall
from dowse.search.rerank import by_ranks, rerank
from dowse.search.shape import Found, is_shaped, recent_first, shaped
from dowse.types import ORDINAL_BITS, Explain, Passage, Query, Ref, Scope

if TYPE_CHECKING:
    from dowse.search.sieve import Sieve

__all__ = ["Searching"]

_RECALL = 100  # candidates per leg of a hybrid search
_RECALL_PER_HIT = 4  # candidates per wanted hit, where some of them may not count; five of six searches need no more
_RECALL_OF_SEVERAL = 2  # the same where a document may have several hits
_GROWTH = 4  # how many times more to ask for when too few were good
_SIFTED = 50  # passages that are read at once to look for phrases and exclusions
_SPARE = 3  # times the limit that are looked at where copies may be folded or neighbours merged
_DEEPEST = 1_000  # passages that are asked for to fill the places of these


class Searching:
    """One search, as deep as it takes."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: Query,
        scope: Scope,
        asked: Asked,
        plan: Plan,
        models: Models,
    ) -> None:
        self._snapshot, self._query, self._scope, self._asked = snapshot, query, scope, asked
        self._plan, self._models = plan, models
        self.notes: list[str] = []

    def found(self) -> tuple[list[tuple[Passage, Explain]], list[Found]]:
        """Enough passages for the answer, best first, and the answer that they make.

        Those below the minimum score are still among the former.
        """
        query = self._query
        wanted = max(query.limit, query.candidates) if query.rerank else query.limit
        wanted *= _SPARE if is_shaped(query) or query.recency else 1
        while True:
            found, is_all = self._ranked(wanted)
            good = [each for each in found if each[1].score >= query.min_score] if query.min_score else found
            made = shaped(self._snapshot, query, good, self._asked)
            is_enough = len(good) < len(found) or is_all or wanted >= _DEEPEST
            if is_enough or not is_shaped(query) or len(made) >= query.limit:
                return found, made[: query.limit]
            wanted *= _GROWTH

    def _ranked(self, wanted: int) -> tuple[list[tuple[Passage, Explain]], bool]:
        """Recall, rank and pick; deeper, as long as there is more and too few of what was found may count."""
        query, plan, sieve = self._query, self._plan, self._asked.sieve
        is_simple = plan.mode == "lex" and not query.per_document and not sieve
        per_hit = _RECALL_OF_SEVERAL if query.per_document > 1 and not sieve else _RECALL_PER_HIT
        depth = wanted if is_simple else per_hit * wanted
        if plan.mode == "hybrid":
            depth = max(depth, _RECALL)
        while True:
            evidence, is_all = recall(self._snapshot, self._scope, plan.legs, depth)
            ranking = rank(self._snapshot, self._asked, plan.mode, evidence)
            picked = self._picked(ranking.hits, wanted)
            if len(picked) >= wanted or is_all or ranking.best_unseen < query.min_score:
                break
            depth *= _GROWTH
        is_all = len(picked) < wanted
        if query.merge and not (query.fold or query.diversity or query.recency or query.rerank):
            picked = _of_first_runs(picked, query.limit)
        found = recent_first(query, ranking.mode, self._explained(ranking, picked))
        if query.rerank:
            found = self._reranked(found, ranking, depth)
        return found, is_all

    def _picked(self, hits: Sequence[tuple[Ref, float]], wanted: int) -> list[Ref]:
        sieve = self._asked.sieve
        ranking = _sifted(self._snapshot, sieve, hits) if sieve else hits
        return [ref for ref, _ in _pick(self._query, ranking, wanted)]

    def _explained(self, ranking: Ranking, refs: Sequence[Ref]) -> list[tuple[Passage, Explain]]:
        explained = ranking.explain(refs)
        return [(passage, explained[passage.ref]) for passage in self._snapshot.passages(list(explained))]

    def _reranked(
        self, found: list[tuple[Passage, Explain]], ranking: Ranking, depth: int
    ) -> list[tuple[Passage, Explain]]:
        """With the reranker's opinion of the first ones; as they are where there is none."""
        model, most = self._models.reranker(), self._query.candidates
        if model is None:
            self.notes.append("No reranker is configured, so the ranking is that of words and meaning.")
            return found
        read, shares = found[:most], None
        if self._query.fusion == "ranks":
            order = by_ranks(self._snapshot, self._scope, self._plan.legs, depth)
            shares = dict(order)
            read = self._explained(ranking, self._picked(order, most))
        try:
            again = rerank(read, self._asked.text, model, shares)
        except ModelError as error:
            self.notes.append(f"Answered without reranking. {error.message} {error.hint}".rstrip())
            return found
        known = {passage.ref for passage, _ in read}
        return [*again, *(each for each in found if each[0].ref not in known)]


def _of_first_runs(refs: Sequence[Ref], limit: int) -> list[Ref]:
    """Those that can be in an answer whose neighbours become one, without reading any.

    Passages beside each other are one hit at best, and the others at least one each.
    """
    present, kept = set[int](refs), set[int]()
    for ref in refs:
        if ref in kept:
            continue
        if not limit:
            break
        limit -= 1
        kept.add(ref)
        for step in (-1, 1):
            beside = ref + step
            while beside in present:
                kept.add(beside)
                beside += step
    return [ref for ref in refs if ref in kept]


def _sifted(snapshot: Snapshot, sieve: "Sieve", ranking: Sequence[tuple[Ref, float]]) -> Iterator[tuple[Ref, float]]:
    """Those that have the phrases, and nothing that is excluded."""
    for first in range(0, len(ranking), _SIFTED):
        part = dict(ranking[first : first + _SIFTED])
        for passage in sieve.sift(snapshot, snapshot.passages(list(part))):
            yield passage.ref, part[passage.ref]


def _pick(
    query: Query, ranking: "Sequence[tuple[Ref, float]] | Iterator[tuple[Ref, float]]", wanted: int
) -> list[tuple[Ref, float]]:
    """The best ones, with as many of each document as asked for."""
    if not query.per_document and not isinstance(ranking, Iterator):
        return list(ranking[:wanted])
    picked: list[tuple[Ref, float]] = []
    taken: dict[int, int] = {}
    for ref, fused in ranking:
        document = ref >> ORDINAL_BITS  # its version, without the cost of a call
        so_far = taken.get(document, 0)
        if not query.per_document or so_far < query.per_document:
            taken[document] = so_far + 1
            picked.append((ref, fused))
            if len(picked) == wanted:
                break
    return picked
