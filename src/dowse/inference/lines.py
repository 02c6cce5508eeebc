"""Which line of configuration each model was used by, so that it can be asked again after the configuration changed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from dowse.inference.cache import Cache
from dowse.ports import Embedder
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Remembered", "line_of"]


class Remembered:
    """An embedder that notes by which line it was made when it first makes vectors. A line holds no secrets."""

    def __init__(self, embedder: Embedder, line: str, cache: Cache) -> None:
        self._embedder, self._line, self._cache = embedder, line, cache
        self._is_noted = False

    @property
    def identity(self) -> ModelIdentity:
        """See `ports.Embedder.identity`."""
        return self._embedder.identity

    def load(self) -> None:
        """See `ports.Embedder.load`."""
        self._embedder.load()

    def embed_query(self, text: str) -> "Vector":
        """See `ports.Embedder.embed_query`."""
        return self._embedder.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """See `ports.Embedder.embed_passages`."""
        vectors = self._embedder.embed_passages(texts)
        if not self._is_noted:
            self._cache.remember(_key(self.identity), self._line)
            self._is_noted = True
        return vectors

    def close(self) -> None:
        """See `ports.Embedder.close`."""
        self._embedder.close()


def line_of(identity: ModelIdentity, cache: Cache) -> str:
    """The line that this model was last used by; empty for one that was not."""
    line = cache.fact(_key(identity))
    return line if isinstance(line, str) else ""


def _key(identity: ModelIdentity) -> str:
    text = json.dumps(asdict(identity), sort_keys=True)
    return f"line {hashlib.sha256(text.encode()).hexdigest()}"
