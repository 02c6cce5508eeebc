"""A second opinion: a model reads the question with each of the best passages.

It sees no more than the top of the ranking, and the further up a passage stood, the more the ranking still counts:
what words and meaning agree on is rarely wrong, and small models often are.
"""

from dataclasses import replace

from dowse.errors import ModelError
from dowse.ports import Reranker
from dowse.types import Explain, Passage

__all__ = ["RERANKED", "rerank"]

RERANKED = 30
"""How many passages are read."""
_TRUST = ((3, 0.75), (10, 0.60), (RERANKED, 0.40))
"""Up to which rank the ranking counts how much; the rest is the reranker's."""

Found = list[tuple[Passage, Explain]]


def rerank(found: Found, question: str, model: Reranker | None) -> tuple[Found, tuple[str, ...]]:
    """The passages in their new order, and what the reader should know."""
    if model is None:
        return found, ("No reranker is configured, so the ranking is that of words and meaning.",)
    read, rest = found[:RERANKED], found[RERANKED:]
    try:
        scores = model.rerank(question, [passage.chunk.text for passage, _ in read])
    except ModelError as error:
        return found, (f"Answered without reranking. {error.message} {error.hint}".rstrip(),)
    again = [
        (passage, replace(explain, score=_blended(rank, explain.score, score), reranked=score))
        for rank, ((passage, explain), score) in enumerate(zip(read, scores, strict=True), start=1)
    ]
    again.sort(key=lambda each: -each[1].score)
    return [*again, *rest], ()


def _blended(rank: int, ranked: float, reranked: float) -> float:
    trust = next(trust for last, trust in _TRUST if rank <= last)
    return trust * ranked + (1 - trust) * reranked
