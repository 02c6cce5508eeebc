"""Embedders and rerankers from ONNX folders, on this machine or, by name, from the hub.

Made from what the folder's files say; numpy, onnxruntime and tokenizers are imported by the first text.
"""

import os
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from dowse.errors import ModelError
from dowse.inference.cache import Cache
from dowse.inference.onnx_folder import OnnxFolder
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.onnx_runtime import PairScorer, PooledEncoder
    from dowse.ports import Vector

FindFolder: TypeAlias = Callable[[], OnnxFolder]
"""Gives the folder, which for a name at the hub may mean to download it first."""

_MOST_WORKERS = 4
_CHARACTERS_PER_TOKEN = 32
"""What is behind this is cut before it costs anything."""


class OnnxEmbedder:
    """Embeds with any encoder that comes as an ONNX folder."""

    def __init__(self, find: FindFolder, cache: Cache, workers: int | None = None) -> None:
        self._find = find
        self._cache = cache
        self._workers = _workers(workers)
        self._lock = Lock()
        self._folder: OnnxFolder | None = None
        self._identity: ModelIdentity | None = None
        self._loaded: PooledEncoder | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are; where no file tells their length, the model is loaded once to see."""
        with self._lock:
            if self._identity is None:
                self._identity = known_identity(self._opened(), self._cache)
            if self._identity is None:
                dims = self._encoder().dims()
                self._cache.remember(_dims_key(self._opened(), self._cache), dims)
                self._identity = self._opened().identity(self._cache, dims)
            return self._identity

    def load(self) -> None:
        """Load the weights."""
        with self._lock:
            self._encoder()

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (dims,)."""
        row: Vector = self._embed([text], self.identity.query_prefix)[0]
        return row

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages in their order, shape (len(texts), dims)."""
        return self._embed(texts, self.identity.passage_prefix)

    def close(self) -> None:
        """Free the weights."""
        with self._lock:
            self._loaded = None
        self._cache.close()

    def _embed(self, texts: Sequence[str], prefix: str) -> "Vector":
        identity = self.identity
        with self._lock:
            encoder = self._encoder()
        longest = identity.max_tokens * _CHARACTERS_PER_TOKEN
        prepared = [prefix + _clean(text[:longest]) for text in texts]
        try:
            return encoder.vectors(prepared, identity.dims, self._workers)
        except ValueError as error:  # rows of another length than promised
            raise ModelError(
                f"{identity.name} does not make vectors of {identity.dims} dimensions as its files or options say.",
                hint="Correct or remove the option dims of the configuration.",
            ) from error

    def _opened(self) -> OnnxFolder:
        if self._folder is None:
            self._folder = self._find()
        return self._folder

    def _encoder(self) -> "PooledEncoder":
        """The loaded model; call it with the lock held."""
        if self._loaded is None:
            try:
                from dowse.inference.onnx_runtime import PooledEncoder  # heavy, and needed here only
            except ImportError as error:
                raise missing_library(error) from error
            self._loaded = PooledEncoder(self._opened())
        return self._loaded


class OnnxReranker:
    """Scores passages with a cross-encoder that comes as an ONNX folder."""

    def __init__(self, find: FindFolder, cache: Cache, workers: int | None = None) -> None:
        self._find = find
        self._cache = cache
        self._workers = _workers(workers)
        self._lock = Lock()
        self._folder: OnnxFolder | None = None
        self._loaded: PairScorer | None = None

    @property
    def name(self) -> str:
        """The model with the fingerprint of its weights."""
        with self._lock:
            folder = self._opened()
            return f"onnx {folder.name} {folder.weights(self._cache)} {folder.max_tokens}"

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score in [0, 1] per passage, in their order."""
        if not passages:
            return []
        with self._lock:
            scorer = self._scorer()
            longest = self._opened().max_tokens * _CHARACTERS_PER_TOKEN
        return scorer.scores(_clean(query[:longest]), [_clean(text[:longest]) for text in passages], self._workers)

    def close(self) -> None:
        """Free the weights."""
        with self._lock:
            self._loaded = None

    def _opened(self) -> OnnxFolder:
        if self._folder is None:
            self._folder = self._find()
        return self._folder

    def _scorer(self) -> "PairScorer":
        if self._loaded is None:
            try:
                from dowse.inference.onnx_runtime import PairScorer  # heavy, and needed here only
            except ImportError as error:
                raise missing_library(error) from error
            self._loaded = PairScorer(self._opened())
        return self._loaded


def known_identity(folder: OnnxFolder, cache: Cache) -> ModelIdentity | None:
    """The identity without loading the model; None where only loading tells how long its vectors are."""
    dims = folder.dims or cache.fact(_dims_key(folder, cache))
    return folder.identity(cache, dims) if isinstance(dims, int) else None


def missing_library(error: ImportError) -> ModelError:
    """The error of an installation without the libraries that run ONNX."""
    return ModelError(
        f"A library that runs ONNX models cannot be imported: {error}",
        hint="Install them: pip install numpy onnxruntime tokenizers",
    )


def _dims_key(folder: OnnxFolder, cache: Cache) -> str:
    return f"dims {folder.weights(cache)}"


def _workers(workers: int | None) -> int:
    return workers or min(os.cpu_count() or 1, _MOST_WORKERS)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
