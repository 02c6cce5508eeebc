"""The kinds of models that one line of configuration can name, as tables: embedders, rerankers, expanders.

A row says which options a kind takes and how it is made. Each row imports its own modules when it is used, so
that a plain search pays for none of them. `specs` says how a line is written.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from dowse.errors import ConfigError, ModelError
from dowse.inference import specs
from dowse.inference.specs import Spec
from dowse.records import record

if TYPE_CHECKING:
    from dowse.inference.cache import Cache
    from dowse.inference.cached import NamedExpander, NamedReranker
    from dowse.inference.endpoint import Endpoint
    from dowse.inference.gguf import GgufFile
    from dowse.inference.onnx_folder import OnnxFolder
    from dowse.inference.served import Served
    from dowse.ports import Embedder
    from dowse.types import ModelIdentity

Say: TypeAlias = Callable[[str], None] | None

_ASKING = frozenset({"key", "timeout"})
_VECTORS = frozenset({"dims", "tokens", "query", "passage"})
_SERVED_TOKENS = 512
"""What a model behind an address is assumed to read; `tokens` says otherwise. Longer texts are cut."""


@record
class EmbedderKind:
    """How embedders of one kind are made, and what can be known of them without asking or loading anything."""

    options: frozenset[str]
    make: "Callable[[Spec, Cache, int | None, Say], Embedder]"
    identity: "Callable[[Spec, Cache], ModelIdentity]"


@record
class RerankerKind:
    """How rerankers of one kind are made."""

    options: frozenset[str]
    make: "Callable[[Spec, Cache, int | None, Say], NamedReranker]"


@record
class ExpanderKind:
    """How expanders of one kind are made."""

    options: frozenset[str]
    make: "Callable[[Spec, int | None], NamedExpander]"


# Services at an address


def _openai_embedder(spec: Spec, cache: "Cache", workers: int | None, _say: Say) -> "Embedder":
    from dowse.inference.cached import CachedQueries
    from dowse.inference.service_embedder import BATCH, ServiceEmbedder

    served = _served(spec)
    embedder = ServiceEmbedder(
        _endpoint(spec),
        served.model,
        served,
        cache,
        batch=spec.whole("batch", BATCH),
        workers=workers or 1,
        timeout=_timeout(spec),
    )
    return CachedQueries(embedder, cache)


def _openai_identity(spec: Spec, cache: "Cache") -> "ModelIdentity":
    return _served(spec).identity(cache) or _unknown(spec)


def _cohere_reranker(spec: Spec, _cache: "Cache", _workers: int | None, _say: Say) -> "NamedReranker":
    from dowse.inference.service_reranker import ServiceReranker

    return ServiceReranker(_endpoint(spec), spec.name, scores=spec.option("scores"), timeout=_timeout(spec))


def _chat_reranker(spec: Spec, _cache: "Cache", _workers: int | None, _say: Say) -> "NamedReranker":
    from dowse.inference.chat import Chat
    from dowse.inference.chat_reranker import ChatReranker

    return ChatReranker(Chat(_endpoint(spec), spec.name), timeout=_timeout(spec))


def _chat_expander(spec: Spec, _workers: int | None) -> "NamedExpander":
    from dowse.inference.chat import Chat
    from dowse.inference.chat_expander import ChatExpander

    return ChatExpander(Chat(_endpoint(spec), spec.name), timeout=_timeout(spec))


def _endpoint(spec: Spec) -> "Endpoint":
    from dowse.inference.endpoint import Endpoint

    return Endpoint(specs.address(spec), key_variable=spec.option("key"))


def _served(spec: Spec) -> "Served":
    from dowse.inference.prefixes import Prefixes, known_prefixes
    from dowse.inference.served import Served

    if not spec.name:
        raise ConfigError(f"{spec.text!r} names no model.", hint=f"Write it like {spec.kind}:{spec.place}#MODEL")
    found = known_prefixes(spec.name)
    return Served(
        url=specs.address(spec),
        model=spec.name,
        prefixes=Prefixes(spec.option("query", found.query), spec.option("passage", found.passage)),
        max_tokens=spec.whole("tokens", _SERVED_TOKENS),
        dims=spec.whole("dims", 0) or None,
    )


def _timeout(spec: Spec) -> float | None:
    return spec.seconds("timeout", 0.0) or None


# ONNX folders, here or at the hub


def _onnx_embedder(spec: Spec, cache: "Cache", workers: int | None, say: Say) -> "Embedder":
    from dowse.inference.onnx_models import OnnxEmbedder

    return OnnxEmbedder(lambda: _folder(spec, cache, say), cache, workers)


def _onnx_identity(spec: Spec, cache: "Cache") -> "ModelIdentity":
    from dowse.inference.onnx_models import known_identity

    folder = onnx_folder(spec, cache)
    return (known_identity(folder, cache) if folder else None) or _unknown(spec)


def _onnx_reranker(spec: Spec, cache: "Cache", workers: int | None, say: Say) -> "NamedReranker":
    from dowse.inference.onnx_models import OnnxReranker

    return OnnxReranker(lambda: _folder(spec, cache, say), cache, workers)


def onnx_folder(spec: Spec, cache: "Cache") -> "OnnxFolder | None":
    """The folder of an `onnx` or `hub` model as it is on this machine; None when it was not fetched yet."""
    from dowse.inference.onnx_folder import open_folder

    if spec.kind == "onnx":
        return open_folder(specs.folder_or_file(spec), spec)
    remembered = cache.fact(_place_key(spec))  # so that a search need not import the hub's client
    if isinstance(remembered, str) and Path(remembered).is_dir():
        return open_folder(Path(remembered), spec, spec.place)
    from dowse.inference import hub

    found = hub.local_folder(spec)
    if found is None:
        return None
    cache.remember(_place_key(spec), str(found))
    return open_folder(found, spec, spec.place)


def _folder(spec: Spec, cache: "Cache", say: Say) -> "OnnxFolder":
    """The same, fetched if need be."""
    found = onnx_folder(spec, cache)
    if found is not None:
        return found
    from dowse.inference import hub
    from dowse.inference.onnx_folder import open_folder

    folder = hub.fetch(spec, say)
    cache.remember(_place_key(spec), str(folder))
    return open_folder(folder, spec, spec.place)


def _place_key(spec: Spec) -> str:
    return f"hub {spec.place} {spec.name} {spec.option('file')}"


# GGUF files


def _gguf_embedder(spec: Spec, cache: "Cache", workers: int | None, _say: Say) -> "Embedder":
    from dowse.inference.cached import CachedQueries
    from dowse.inference.gguf import GgufService
    from dowse.inference.service_embedder import ServiceEmbedder

    file = _gguf(spec)
    return CachedQueries(ServiceEmbedder(GgufService(file, "embed", workers), file.name, file, cache), cache)


def _gguf_identity(spec: Spec, cache: "Cache") -> "ModelIdentity":
    return _gguf(spec).identity(cache)


def _gguf_reranker(spec: Spec, _cache: "Cache", workers: int | None, _say: Say) -> "NamedReranker":
    from dowse.inference.gguf import GgufService
    from dowse.inference.service_reranker import ServiceReranker

    return ServiceReranker(GgufService(_gguf(spec), "rank", workers), "", scores=spec.option("scores"))


def _gguf_expander(spec: Spec, workers: int | None) -> "NamedExpander":
    from dowse.inference.chat import Chat
    from dowse.inference.chat_expander import ChatExpander
    from dowse.inference.gguf import GgufService

    return ChatExpander(Chat(GgufService(_gguf(spec), "chat", workers), ""))


def _gguf(spec: Spec) -> "GgufFile":
    from dowse.inference.gguf import open_gguf

    return open_gguf(specs.folder_or_file(spec), spec)


def _unknown(spec: Spec) -> NoReturn:
    raise ModelError(
        f"Nothing is known yet of the model {spec.place}{f'#{spec.name}' if spec.name else ''}: it was never used.",
        hint="Make vectors with it: dowse embed",
    )


_FOLDER = _VECTORS | {"file", "pooling"}

EMBEDDERS = {
    "openai": EmbedderKind(_ASKING | _VECTORS | {"batch"}, _openai_embedder, _openai_identity),
    "onnx": EmbedderKind(_FOLDER, _onnx_embedder, _onnx_identity),
    "hub": EmbedderKind(_FOLDER, _onnx_embedder, _onnx_identity),
    "gguf": EmbedderKind(_VECTORS | {"pooling"}, _gguf_embedder, _gguf_identity),
}
RERANKERS = {
    "cohere": RerankerKind(_ASKING | {"scores"}, _cohere_reranker),
    "chat": RerankerKind(_ASKING, _chat_reranker),
    "onnx": RerankerKind(frozenset({"file", "tokens"}), _onnx_reranker),
    "hub": RerankerKind(frozenset({"file", "tokens"}), _onnx_reranker),
    "gguf": RerankerKind(frozenset({"scores", "tokens"}), _gguf_reranker),
}
EXPANDERS = {
    "chat": ExpanderKind(_ASKING, _chat_expander),
    "gguf": ExpanderKind(frozenset(), _gguf_expander),
}
