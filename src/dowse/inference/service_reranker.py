"""Scores from a service that speaks Cohere's `/rerank`: Cohere, Jina, vLLM, llama.cpp, and others."""

import math
from collections.abc import Sequence
from typing import Any

from dowse.errors import ModelError
from dowse.inference.endpoint import Patience, Service

SECONDS = 15.0

_LONGEST_PASSAGE = 16_000
_LONGEST_QUERY = 4_000
"""Characters; no reranker reads more, and some refuse it."""


class ServiceReranker:
    """Reranks by asking a service once for all passages.

    Some services answer with probabilities and some with bare logits. `scores` says which; without it,
    logits are known by a value outside of 0 to 1.
    """

    def __init__(self, service: Service, model: str, *, scores: str = "", timeout: float | None = None) -> None:
        self._service = service
        self._model = model
        self._scores = scores
        self._is_logit = scores == "logit"
        self._patience = Patience(total=timeout or SECONDS)

    @property
    def name(self) -> str:
        """The model and where it is."""
        return f"rerank {self._service.name} {self._model} {self._scores}".rstrip()

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score in [0, 1] per passage, in their order."""
        if not passages:
            return []
        body: dict[str, object] = {
            "query": cleaned(query, _LONGEST_QUERY),
            "documents": [cleaned(passage, _LONGEST_PASSAGE) for passage in passages],
            "top_n": len(passages),
        }
        if self._model:
            body["model"] = self._model
        scores = self._ordered(self._service.ask("/rerank", body, self._patience), len(passages))
        if self._scores == "probability":
            return [min(max(score, 0.0), 1.0) for score in scores]
        if self._is_logit or any(not 0 <= score <= 1 for score in scores):
            self._is_logit = True
            return [sigmoid(score) for score in scores]
        return scores

    def close(self) -> None:
        """Let go of the service."""
        self._service.close()

    def _ordered(self, answer: Any, count: int) -> list[float]:
        try:
            scores = {int(entry["index"]): float(entry["relevance_score"]) for entry in answer["results"]}
            ordered = [scores[place] for place in range(count)]
        except (KeyError, TypeError, ValueError) as error:
            raise self._strange("its answer is not a list of one score per passage") from error
        if len(scores) != count or not all(map(math.isfinite, ordered)):
            raise self._strange(f"it answered {count} passages with {len(scores)} scores, or with some that are none")
        return ordered

    def _strange(self, reason: str) -> ModelError:
        return ModelError(
            f"{self._service.name} cannot be used for reranking: {reason}.",
            hint="Check that the address is that of a Cohere-style API; `/rerank` is added to it.",
        )


def sigmoid(logit: float) -> float:
    """A logit as a probability, without overflow."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    return math.exp(logit) / (1 + math.exp(logit))


def cleaned(text: str, most: int) -> str:
    """Valid Unicode of at most so many characters, and never empty: services refuse the rest."""
    return text[:most].encode("utf-8", "replace").decode() or " "
