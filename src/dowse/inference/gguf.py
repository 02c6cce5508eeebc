"""GGUF files, run inside this process by llama.cpp through `xllamacpp`, which is an extra: `dowse[gguf]`.

The library answers the same JSON as a llama.cpp server does, so it is one more service below the same embedder,
reranker and expander. It computes when it is asked, and nothing can interrupt it: time-outs do not apply here.
"""

import os
import secrets
import struct
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

from dowse.errors import ModelError
from dowse.inference.endpoint import Patience, RefusedError
from dowse.inference.onnx_folder import sha256_of
from dowse.inference.prefixes import Prefixes, known_prefixes
from dowse.inference.specs import Spec
from dowse.records import record
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.cache import Cache
    from dowse.ports import Vector

Role: TypeAlias = Literal["embed", "rank", "chat"]

_INSTALL = 'Install it: pip install "dowse[gguf]"'
_MAGIC = b"GGUF"
_OLDEST_VERSION = 2
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING = 8
_LONGEST = 1 << 20
_MOST_KEYS = 10_000
_POOLINGS = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}
_MOST_TOKENS = 8_192
_CHAT_TOKENS = 4_096
_MOST_THREADS = 4


@record
class GgufFile:
    """A file and what its header says of the model in it; `Known` for the embedder above."""

    path: Path
    name: str
    dims: int
    pooling: str
    max_tokens: int
    prefixes: Prefixes

    def identity(self, cache: "Cache") -> ModelIdentity:
        """Which vectors it makes."""
        return ModelIdentity(
            name=self.name,
            weights=sha256_of(self.path, cache)[:12],
            dims=self.dims,
            pooling=self.pooling,
            precision="gguf",
            max_tokens=self.max_tokens,
            query_prefix=self.prefixes.query,
            passage_prefix=self.prefixes.passage,
        )

    def recognise(self, cache: "Cache", vector: "Vector") -> None:
        """Nothing to find out: the file is what it is."""


def open_gguf(path: Path, spec: Spec) -> GgufFile:
    """Read the header of a GGUF file; ModelError when it is none."""
    try:
        with path.open("rb") as file:
            keys = _read_keys(file)
    except FileNotFoundError:
        raise ModelError(
            f"There is no file {path}.", hint=f"Correct the path in the configuration: {spec.text}"
        ) from None
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read: {error.strerror or error}.", hint="Make it readable."
        ) from error
    except (struct.error, ValueError, KeyError) as error:
        raise ModelError(f"The file {path} is no GGUF file, or a damaged one.", hint="Copy it anew.") from error
    kind = keys.get("general.architecture", "")
    dims = spec.whole("dims", 0) or keys.get(f"{kind}.embedding_length")
    if not isinstance(dims, int) or dims < 1:
        raise ModelError(f"The file {path} does not say how long its vectors are.", hint="Say it: ;dims=NUMBER")
    found = known_prefixes(path.stem)
    return GgufFile(
        path=path,
        name=path.stem,
        dims=dims,
        pooling=spec.option("pooling") or _POOLINGS.get(keys.get(f"{kind}.pooling_type", -1), "as the model says"),
        max_tokens=spec.whole("tokens", min(int(keys.get(f"{kind}.context_length", 512)), _MOST_TOKENS)),
        prefixes=Prefixes(spec.option("query", found.query), spec.option("passage", found.passage)),
    )


class GgufService:
    """A model in this process that answers like a service. Loaded by the first question."""

    def __init__(self, file: GgufFile, role: Role, workers: int | None = None) -> None:
        self._file = file
        self._role: Role = role
        self._threads = workers or min(os.cpu_count() or 1, _MOST_THREADS)
        self._lock = Lock()
        self._server: Any = None

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._file.path)

    def ask(self, path: str, body: Mapping[str, object], patience: Patience) -> Any:  # noqa: ARG002 - see the module
        """Let the library answer; a refusal is told from a failure as over HTTP."""
        server = self._loaded()
        handler = {
            "/embeddings": server.handle_embeddings,
            "/rerank": server.handle_rerank,
            "/chat/completions": server.handle_chat_completions,
        }[path]
        try:
            answer = handler(dict(body))
        except Exception as error:  # the library's own, which have no common class
            raise ModelError(f"{self.name} failed: {error}", hint="Examine it: dowse doctor") from error
        if isinstance(answer, dict) and "error" in answer:
            said = str(answer["error"].get("message", ""))
            raise RefusedError(
                f"{self.name} refused: {said}",
                hint="Check that the file holds a model for this purpose.",
                status=int(answer["error"].get("code", 500)),
                said=said,
            )
        return answer

    def close(self) -> None:
        """Free the weights."""
        with self._lock:
            self._server = None

    def _loaded(self) -> Any:
        with self._lock:
            if self._server is None:
                self._server = self._load()
            return self._server

    def _load(self) -> Any:
        library = _library()
        tokens = _CHAT_TOKENS if self._role == "chat" else self._file.max_tokens
        params = library.CommonParams()
        params.model.path = str(self._file.path)
        params.embedding = self._role != "chat"
        params.n_ctx = params.n_batch = params.n_ubatch = tokens
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.warmup = False
        params.verbosity = -1
        # The library also listens on a port of this machine. Nobody else is to use it.
        params.api_keys = [secrets.token_urlsafe(32)]
        pooling = "rank" if self._role == "rank" else self._file.pooling
        kinds = library.llama_pooling_type
        if self._role != "chat" and hasattr(kinds, f"LLAMA_POOLING_TYPE_{pooling.upper()}"):
            params.pooling_type = getattr(kinds, f"LLAMA_POOLING_TYPE_{pooling.upper()}")
        try:
            return library.Server(params)
        except Exception as error:  # the library's own, which have no common class
            raise ModelError(
                f"llama.cpp cannot load {self.name}: {error}",
                hint="Check the file and the memory that is free, or bring the library up to date: "
                "pip install --upgrade xllamacpp",
            ) from error


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(f"The library that runs GGUF files cannot be imported: {error}", hint=_INSTALL) from error
    return xllamacpp


def _read_keys(file: BinaryIO) -> dict[str, Any]:
    """The keys that describe the model; they stand before the tokenizer's, which are long and not needed."""
    if file.read(4) != _MAGIC:
        raise ValueError
    version, _, count = struct.unpack("<IQQ", _exactly(file, 20))
    if version < _OLDEST_VERSION or count > _MOST_KEYS:
        raise ValueError
    keys: dict[str, Any] = {}
    for _ in range(count):
        name = _read_string(file)
        if name.startswith("tokenizer."):
            break
        keys[name] = _read_value(file, *struct.unpack("<I", _exactly(file, 4)))
    return keys


def _read_value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _read_string(file)
    if kind in _NUMBERS:
        code = f"<{_NUMBERS[kind]}"
        return struct.unpack(code, _exactly(file, struct.calcsize(code)))[0]
    inner, count = struct.unpack("<IQ", _exactly(file, 12))  # an array
    if count > _LONGEST or inner not in {*_NUMBERS, _STRING}:
        raise ValueError
    return [_read_value(file, inner) for _ in range(count)]


def _read_string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", _exactly(file, 8))
    return _exactly(file, length).decode("utf-8", "replace")


def _exactly(file: BinaryIO, length: int) -> bytes:
    if length > _LONGEST:
        raise ValueError
    data = file.read(length)
    if len(data) != length:
        raise ValueError
    return data
