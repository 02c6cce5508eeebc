"""Rerankers, expanders and embedders that ask only once for the same content.

Each wraps the one that does the work and keeps what it said in the `Cache`, by the hash of the model and
of every text that went in. Passages are not kept here: the index has their vectors.
"""

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from dowse.inference.cache import Cache, key_of
from dowse.ports import Embedder
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.ports import Vector

SubQueries: TypeAlias = Sequence[tuple[Literal["lex", "vec", "hyde"], str]]

_SCORE = struct.Struct("<d")


class NamedReranker(Protocol):
    """A Reranker that says which one it is and can be closed."""

    @property
    def name(self) -> str:
        """The model and where it is; equal names give equal scores."""
        ...

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score in [0, 1] per passage, in their order."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class NamedExpander(Protocol):
    """An Expander that says which one it is and can be closed."""

    @property
    def name(self) -> str:
        """The model and where it is."""
        ...

    def expand(self, query: str, intent: str = "") -> SubQueries:
        """Typed sub-queries, the strongest first, without the question itself."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class CachedReranker:
    """Asks for the scores of passages that it has not seen with this query."""

    def __init__(self, inner: NamedReranker, cache: Cache) -> None:
        self._inner = inner
        self._cache = cache

    @property
    def name(self) -> str:
        """The model and where it is."""
        return self._inner.name

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score in [0, 1] per passage, in their order."""
        if not passages:
            return []
        keys = {passage: key_of("rerank", self.name, query, passage) for passage in passages}
        found = self._cache.results(list(keys.values()))
        known = {passage: _SCORE.unpack(found[key])[0] for passage, key in keys.items() if key in found}
        unknown = [passage for passage in keys if passage not in known]
        if unknown:
            scores = dict(zip(unknown, self._inner.rerank(query, unknown), strict=True))
            self._cache.put({keys[passage]: _SCORE.pack(score) for passage, score in scores.items()})
            known |= scores
        return [known[passage] for passage in passages]

    def close(self) -> None:
        """Free what the model and the cache hold."""
        self._inner.close()
        self._cache.close()


class CachedExpander:
    """Asks for the expansion of questions that it has not seen."""

    def __init__(self, inner: NamedExpander, cache: Cache) -> None:
        self._inner = inner
        self._cache = cache

    @property
    def name(self) -> str:
        """The model and where it is."""
        return self._inner.name

    def expand(self, query: str, intent: str = "") -> SubQueries:
        """Typed sub-queries, the strongest first, without the question itself."""
        key = key_of("expand", self.name, query, intent)
        found = self._cache.results([key])
        if key in found:
            return [(kind, text) for kind, text in json.loads(found[key])]
        expanded = self._inner.expand(query, intent)
        self._cache.put({key: json.dumps(list(expanded)).encode()})
        return expanded

    def close(self) -> None:
        """Free what the model and the cache hold."""
        self._inner.close()
        self._cache.close()


class CachedQueries:
    """An embedder that asks for the vector of a question once."""

    def __init__(self, inner: Embedder, cache: Cache) -> None:
        self._inner = inner
        self._cache = cache

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are."""
        return self._inner.identity

    def load(self) -> None:
        """See `ports.Embedder.load`."""
        self._inner.load()

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (dims,)."""
        import numpy as np  # the identity is asked for where numpy is not wanted

        key = key_of("query", repr(self.identity), text)
        found = self._cache.results([key])
        if key in found:
            return np.frombuffer(found[key], "<f4").astype(np.float32)
        vector = self._inner.embed_query(text)
        # The first question may have shown that another model answers now: what it is called is asked again.
        self._cache.put({key_of("query", repr(self.identity), text): vector.astype("<f4").tobytes()})
        return vector

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages in their order."""
        return self._inner.embed_passages(texts)

    def close(self) -> None:
        """Free what the model and the cache hold."""
        self._inner.close()
        self._cache.close()
