"""A second opinion: a model reads the question with each of the best passages.

It sees no more than the top of the ranking, and the further up a passage stood, the more the ranking still counts:
what words and meaning agree on is rarely wrong, and small models often are. The ranking counts by its scores, or, as
the qmd specification has it, by reciprocal ranks: each list gives 1 / (60 + rank), that of the original query double.
"""

from collections.abc import Mapping
from dataclasses import replace

from dowse.ports import Reranker, Snapshot
from dowse.search.recall import Legs
from dowse.search.reciprocal import reciprocal
from dowse.types import Explain, Passage, Ranked, Ref, Scope

__all__ = ["by_ranks", "rerank"]

_TRUST = ((3, 0.75), (10, 0.60))
"""Up to which rank the ranking counts how much; the rest is the reranker's."""
_TRUST_BELOW = 0.40

Found = list[tuple[Passage, Explain]]


def rerank(found: Found, question: str, model: Reranker, shares: Mapping[Ref, float] | None = None) -> Found:
    """The passages in their new order.

    Args:
        found: what is to be read, in the order of the ranking.
        question: what was asked.
        model: whose opinion it is.
        shares: what the ranking says of each, from 0 to 1, where that is not the score.

    Raises:
        ModelError: it cannot be asked.
    """
    scores = model.rerank(question, [passage.chunk.text for passage, _ in found])
    again = [
        (
            passage,
            replace(
                explain,
                score=_blended(rank, explain.score if shares is None else shares[passage.ref], score),
                reranked=score,
            ),
        )
        for rank, ((passage, explain), score) in enumerate(zip(found, scores, strict=True), start=1)
    ]
    again.sort(key=lambda each: -each[1].score)
    return again


def by_ranks(snapshot: Snapshot, scope: Scope, legs: Legs, depth: int) -> list[tuple[Ref, float]]:
    """Every candidate with its reciprocal ranks, as a share of what the first one has, best first."""
    lists: list[tuple[Ranked, float]] = [
        (snapshot.lexical(each.terms, depth, scope, each.alternatives, each.required), each.weight)
        for each in legs.words
    ]
    if legs.identity is not None:
        near = legs.identity
        lists += [(snapshot.nearest(near, vector, depth, scope), weight) for vector, weight in legs.vectors]
    sums = reciprocal(lists)
    most = max(sums.values(), default=1.0)
    return sorted(((ref, value / most) for ref, value in sums.items()), key=lambda each: (-each[1], each[0]))


def _blended(rank: int, ranked: float, reranked: float) -> float:
    trust = next((trust for last, trust in _TRUST if rank <= last), _TRUST_BELOW)
    return trust * ranked + (1 - trust) * reranked
