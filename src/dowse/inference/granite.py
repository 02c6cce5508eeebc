"""The default embedder: IBM granite-embedding-30m-english, English, 384 dimensions, from a PyPI wheel.

This module knows the model's identity and habits and nothing heavy: numpy, onnx, onnxruntime and
tokenizers are imported when the first vector is asked for. Below it: `pack` reads the weights, `graph`
turns them into ONNX, `converted` keeps the result, `runtime` runs it.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from dowse.errors import ConfigError, ModelError
from dowse.types import Finding, ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.pack import Pack
    from dowse.inference.runtime import Encoder
    from dowse.ports import Vector

NAME = "granite-embedding-30m-english"
PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
GRAPH_VERSION = 1
"""Counts up whenever graph.py or granite_scales.json change what comes out: vectors are made anew then."""
PRECISIONS = ("int8", "fp32")
DIMS = 384
MAX_TOKENS = 512

_MOST_WORKERS = 4
_MAX_CHARACTERS = 32 * MAX_TOKENS
"""Tokens rarely have more than a dozen characters; what is behind this is cut before it costs anything."""
_SHORTEST_SHOUT = 20
"""With fewer letters than this, capitals are a name: `HTTP` means less when it is lower-cased."""


def identity(precision: str) -> ModelIdentity:
    """Which vectors this model makes in this precision."""
    if precision not in PRECISIONS:
        raise ConfigError(
            f"There is no precision {precision!r} of {NAME}.", hint=f"Choose one of: {', '.join(PRECISIONS)}"
        )
    return ModelIdentity(
        name=NAME,
        weights=f"{PACK_SHA256[:12]}-g{GRAPH_VERSION}",
        dims=DIMS,
        pooling="cls",
        precision=precision,
        max_tokens=MAX_TOKENS,
        language="en",
    )


def tokenizer_json() -> bytes:
    """The model's tokenizer, read without loading or checking the weights."""
    from dowse.inference.pack import Pack, granite_path  # needed by indexing only

    return Pack(granite_path()).tokenizer_json()


class GraniteEmbedder:
    """Embeds English text. The first call converts (once per cache directory) and loads the model."""

    def __init__(
        self,
        cache_dir: Path,
        precision: str = "int8",
        workers: int | None = None,
        threads: int = 1,
        on_message: Callable[[str], None] | None = None,
    ) -> None:
        self._identity = identity(precision)
        self._folder = cache_dir / "models"
        self._workers = workers or min(os.cpu_count() or 1, _MOST_WORKERS)
        self._threads = threads
        self._on_message = on_message
        self._lock = Lock()
        self._loaded: Encoder | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are."""
        return self._identity

    def load(self) -> None:
        """Convert the weights, if that was not done yet, and load them."""
        self._encoder()

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (384,)."""
        return self._encoder().vector(_prepared(text))

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages in their order, shape (len(texts), 384)."""
        return self._encoder().vectors([_prepared(text) for text in texts], self._workers)

    def close(self) -> None:
        """Free the weights; workers end with the call that needs them."""
        with self._lock:
            self._loaded = None

    def _encoder(self) -> "Encoder":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "Encoder":
        try:
            from dowse.inference import converted, runtime  # heavy, and needed here only
            from dowse.inference.pack import Pack, granite_path  # the same
        except ImportError as error:
            raise _missing_library(error) from error
        pack = Pack(granite_path())
        precision = self._identity.precision
        model = converted.find_or_make(self._folder, _stem(precision), lambda: self._convert(pack))
        if isinstance(model, bytes):
            self._say(f"the embedding model cannot be kept in {self._folder}: it is prepared every time")
        return runtime.Encoder(
            model, pack.tokenizer_json(), max_tokens=self._identity.max_tokens, threads=self._threads
        )

    def _convert(self, pack: "Pack") -> bytes:
        self._say("preparing the embedding model (once, about 1 s)")
        pack.verify(PACK_SHA256)
        try:
            from dowse.inference import graph  # imports onnx, once per cache directory
        except ImportError as error:
            raise _missing_library(error) from error
        model: bytes = graph.build_graph(pack, self._identity.precision, graph.granite_scales()).SerializeToString(
            deterministic=True
        )
        return model

    def _say(self, message: str) -> None:
        if self._on_message is not None:
            self._on_message(message)


def check(cache_dir: Path) -> list[Finding]:
    """Examine weights, libraries and converted files, without converting or loading anything."""
    from dowse.inference import converted  # the doctor's business only

    findings = [_check_weights(), _check_libraries()]
    for precision in PRECISIONS:
        good, damaged = converted.find(cache_dir / "models", _stem(precision))
        if damaged:
            message = f"{len(damaged)} converted {precision} file(s) are damaged: {damaged[0]}"
            hint = "Nothing needs to be done: it is made anew when it is needed."
            findings.append(Finding("model cache", ok=False, message=message, hint=hint))
        elif good:
            findings.append(Finding("model cache", ok=True, message=f"{precision}: {good}"))
    return findings


def _check_weights() -> Finding:
    from dowse.inference.pack import Pack, granite_path  # the doctor's business only

    try:
        pack = Pack(granite_path())
        pack.verify(PACK_SHA256)
    except ModelError as error:
        return Finding("model weights", ok=False, message=error.message, hint=error.hint)
    return Finding("model weights", ok=True, message=f"{NAME}: {pack.path}")


def _check_libraries() -> Finding:
    try:
        from dowse.inference import graph, runtime  # noqa: F401 - whether they can be imported
    except ImportError as error:
        missing = _missing_library(error)
        return Finding("model libraries", ok=False, message=missing.message, hint=missing.hint)
    return Finding("model libraries", ok=True, message="numpy, onnx, onnxruntime and tokenizers are there")


def _missing_library(error: ImportError) -> ModelError:
    return ModelError(
        f"A library that runs the embedding model cannot be imported: {error}",
        hint="Install them: pip install numpy onnx onnxruntime tokenizers",
    )


def _stem(precision: str) -> str:
    """What converted files are called: another pack, precision or graph is another file."""
    return f"{NAME}-{PACK_SHA256[:12]}-{precision}-g{GRAPH_VERSION}"


def _prepared(text: str) -> str:
    """The text as the model should read it: not endless, valid Unicode, and not shouted.

    The model was trained on ordinary writing; lower-casing what is mostly capitals doubled the
    quality on a collection that is written so.
    """
    text = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    capitals = sum(map(str.isupper, text))
    if capitals < _SHORTEST_SHOUT // 2:
        return text
    letters = sum(map(str.isalpha, text))
    return text.lower() if letters >= _SHORTEST_SHOUT and capitals > letters / 2 else text
