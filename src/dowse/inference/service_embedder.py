"""Vectors from a service that speaks OpenAI's `/embeddings`: Ollama, llama.cpp, vLLM, LM Studio, and many others.

Above it: `specs` says which; below it: `endpoint` asks over HTTP, `gguf` in this process.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from dowse.errors import ModelError
from dowse.inference.endpoint import Patience, RefusedError, Service
from dowse.inference.served import PROBE
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.cache import Cache
    from dowse.ports import Vector

QUERY_SECONDS = 10.0
PASSAGES_SECONDS = 120.0
BATCH = 64

_BATCH_BYTES = 200_000
"""Of text in one question: some 50,000 tokens, far below what services refuse."""
_CHARACTERS_PER_TOKEN = 12
"""Hardly any text has longer tokens; what is behind this is cut before it costs anything."""
_SHORTEST = 32
"""A text of fewer characters is not cut any more: then its length is not the problem."""


class Known(Protocol):
    """Where the identity comes from: `served.Served`, or a file that tells it."""

    def identity(self, cache: "Cache") -> ModelIdentity | None:
        """Which vectors the service makes; None while nobody has asked it."""
        ...

    def recognise(self, cache: "Cache", vector: "Vector") -> None:
        """Take notice of the probe's vector; ModelError when it is another model's."""
        ...


class ServiceEmbedder:
    """Embeds by asking a service; texts that it finds too long are cut until it takes them."""

    def __init__(
        self,
        service: Service,
        model: str,
        known: Known,
        cache: "Cache",
        *,
        batch: int = BATCH,
        workers: int = 1,
        timeout: float | None = None,
    ) -> None:
        self._service = service
        self._model = model
        self._known = known
        self._cache = cache
        self._batch = batch
        self._workers = workers
        self._query_patience = Patience(total=timeout or QUERY_SECONDS)
        self._passages_patience = Patience(total=timeout or PASSAGES_SECONDS, retries=4)
        self._lock = Lock()
        self._is_recognised = False

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are; asks the service where neither configuration nor memory knows."""
        found = self._known.identity(self._cache)
        if found is None:
            self._recognise(self._query_patience)
            found = self._known.identity(self._cache)
        if found is None:  # the cache directory takes no files
            raise ModelError(
                f"What was learnt of {self._service.name} cannot be kept.",
                hint="Make the cache directory writable, or say how long its vectors are: ;dims=NUMBER",
            )
        return found

    def load(self) -> None:
        """Nothing: a service is asked when there is a question."""

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (dims,)."""
        row: Vector = self._embed([text], self._query_patience, is_query=True)[0]
        return row

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages in their order, shape (len(texts), dims)."""
        return self._embed(texts, self._passages_patience, is_query=False)

    def close(self) -> None:
        """Let go of the service."""
        self._service.close()
        self._cache.close()

    def _embed(self, texts: Sequence[str], patience: Patience, *, is_query: bool) -> "Vector":
        import numpy as np  # the identity is asked for where numpy is not wanted

        self._recognise(patience)
        identity = self.identity
        prefix = identity.query_prefix if is_query else identity.passage_prefix
        longest = identity.max_tokens * _CHARACTERS_PER_TOKEN
        prepared = [prefix + _clean(text[:longest]) for text in texts]
        rows = np.empty((len(texts), identity.dims), np.float32)

        def fill(batch: range) -> None:
            vectors = self._vectors(prepared[batch.start : batch.stop], patience)
            if vectors.shape[1] != identity.dims:
                raise ModelError(
                    f"{self._service.name} made vectors of {vectors.shape[1]} dimensions, not of {identity.dims}.",
                    hint="Let the service run the former model, or make all vectors anew: dowse embed --force",
                )
            rows[batch.start : batch.stop] = vectors

        batches = list(in_batches(prepared, self._batch, _BATCH_BYTES))
        if self._workers > 1 and len(batches) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(self._workers, thread_name_prefix="dowse-embed") as pool:
                list(pool.map(fill, batches))
        else:
            for batch in batches:
                fill(batch)
        return rows

    def _recognise(self, patience: Patience) -> None:
        """Once per process, make sure that the service runs the model that it ran before."""
        with self._lock:
            if not self._is_recognised:
                self._known.recognise(self._cache, self._vectors([PROBE], patience)[0])
                self._is_recognised = True

    def _vectors(self, texts: Sequence[str], patience: Patience) -> "Vector":
        import numpy as np

        try:
            body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
            answer = self._service.ask("/embeddings", body, patience)
        except RefusedError as refused:
            if not refused.too_long or (len(texts) == 1 and len(texts[0]) < _SHORTEST):
                raise
            if len(texts) == 1:
                return self._vectors([_half(texts[0])], patience)
            half = len(texts) // 2
            return np.concatenate([self._vectors(part, patience) for part in (texts[:half], texts[half:])])
        return self._unit_rows(answer, len(texts))

    def _unit_rows(self, answer: Any, count: int) -> "Vector":
        """The vectors of an answer in the order of the texts, scaled to unit length."""
        import numpy as np

        try:
            entries = {int(entry["index"]): entry["embedding"] for entry in answer["data"]}
            rows = np.array([entries[place] for place in range(count)], np.float32)
            is_right = len(entries) == count and rows.ndim == 2 and rows.shape[1] > 0  # noqa: PLR2004 - a matrix
        except (KeyError, TypeError, ValueError) as error:
            raise self._strange("its answer is not a list of one vector per text") from error
        if not is_right:
            raise self._strange(f"it answered {count} texts with {len(answer['data'])} vectors")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._strange("one of its vectors is zero or not finite")
        unit: Vector = rows / lengths
        return unit

    def _strange(self, reason: str) -> ModelError:
        return ModelError(
            f"{self._service.name} cannot be used for embedding with {self._model!r}: {reason}.",
            hint="Check that the address is an OpenAI-compatible one and that the model is an embedding model.",
        )


def in_batches(texts: Sequence[str], most: int, most_bytes: int) -> Iterator[range]:
    """Cut a list into runs of at most so many texts and bytes; a longer text is a run of its own."""
    first, size = 0, 0
    for place, text in enumerate(texts):
        length = len(text.encode())
        if place > first and (place - first == most or size + length > most_bytes):
            yield range(first, place)
            first, size = place, 0
        size += length
    if first < len(texts):
        yield range(first, len(texts))


def _half(text: str) -> str:
    """The first half of a text, up to the end of a word where there are words."""
    half = text[: len(text) // 2]
    end = half.rfind(" ")
    return half[:end] if end > len(half) // 2 else half


def _clean(text: str) -> str:
    """Valid Unicode, and never empty: services refuse both."""
    return text.encode("utf-8", "replace").decode() or " "
