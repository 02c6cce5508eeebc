"""A model without weights: hashed words. Texts are as similar as the words that they share.

It exists for tests and for trying things out: made in no time, equal on every platform and in every
process, and meaningful, so that ranking can be tested. It knows no synonyms and no grammar.
"""

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.ports import Vector

NAME = "hashed"
DIMS = 256

_WORD = re.compile(r"\w+")
_MAX_WORDS = 512


def identity(dims: int = DIMS) -> ModelIdentity:
    """Which vectors hashing into this many dimensions makes."""
    return ModelIdentity(
        name=NAME, weights="crc32-1", dims=dims, pooling="sum", precision="fp32", max_tokens=_MAX_WORDS
    )


class HashedEmbedder:
    """Counts words in `dims` buckets chosen by their CRC-32, and scales the counts to unit length."""

    def __init__(self, dims: int = DIMS) -> None:
        self._identity = identity(dims)

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are."""
        return self._identity

    def load(self) -> None:
        """There is nothing to load."""

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (dims,)."""
        row: Vector = self.embed_passages([text])[0]
        return row

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages in their order, shape (len(texts), dims)."""
        import numpy as np  # the identity is asked for where numpy is not wanted

        rows = np.zeros((len(texts), self._identity.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for bucket, count in self._buckets(text).items():
                row[bucket] = count
        lengths: Vector = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / lengths

    def close(self) -> None:
        """Nothing is held."""

    def _buckets(self, text: str) -> Counter[int]:
        """How many words fall into each bucket; a text without words counts as one empty word."""
        words = _WORD.findall(text.lower())[:_MAX_WORDS] or [""]
        return Counter(zlib.crc32(word.encode("utf-8", "replace")) % self._identity.dims for word in words)
