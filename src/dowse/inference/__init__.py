"""What do these words mean? Everything that loads weights or asks a model: embedders, rerankers, expanders.

Importing this package imports no library: each model brings in what it needs when it is first used. An embedder
is one row of the table below, its name being the value of the setting `embedder`, or a line that `specs`
describes and `kinds` knows how to make; rerankers and expanders are such lines, or nothing.
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dowse.errors import DowseError
from dowse.inference import granite, hashed
from dowse.inference.granite import GraniteEmbedder
from dowse.inference.hashed import HashedEmbedder
from dowse.ports import Embedder
from dowse.records import record
from dowse.types import Finding, ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.cached import NamedExpander, NamedReranker
    from dowse.inference.specs import Spec

__all__ = [
    "check",
    "identity_of",
    "make_embedder",
    "make_expander",
    "make_known_embedder",
    "make_reranker",
    "model_names",
    "tokenizer_json",
    "tokenizer_name",
]

OnMessage: TypeAlias = Callable[[str], None]


@record
class _Model:
    """How one model is made and what can be known of it beforehand."""

    make: Callable[[Path, str, int | None, OnMessage | None], Embedder]
    identity: Callable[[str], ModelIdentity]
    tokenizer_json: Callable[[], bytes | None]
    check: Callable[[Path], list[Finding]]


_MODELS: dict[str, _Model] = {
    granite.NAME: _Model(
        make=lambda cache, precision, workers, say: GraniteEmbedder(cache, precision, workers, on_message=say),
        identity=granite.identity,
        tokenizer_json=granite.tokenizer_json,
        check=granite.check,
    ),
    hashed.NAME: _Model(
        make=lambda _cache, _precision, _workers, _say: HashedEmbedder(),
        identity=lambda _precision: hashed.identity(),
        tokenizer_json=lambda: None,
        check=lambda _cache: [],
    ),
}


def model_names() -> list[str]:
    """The embedders that have a name of their own, sorted."""
    return sorted(_MODELS)


def make_embedder(
    name: str,
    *,
    cache_dir: Path,
    precision: str = "int8",
    workers: int | None = None,
    on_message: OnMessage | None = None,
) -> Embedder:
    """The embedder of this name or line; its weights are loaded, or its service is asked, by its first call."""
    if name in _MODELS:
        return _MODELS[name].make(cache_dir, precision, workers, on_message)
    from dowse.inference.cache import Cache  # for other models than the default one
    from dowse.inference.kinds import EMBEDDERS  # the same

    spec = _embedder_spec(name)
    from dowse.inference.lines import Remembered  # the same

    cache = Cache(cache_dir)
    return Remembered(EMBEDDERS[spec.kind].make(spec, cache, workers, on_message), name, cache)


def make_known_embedder(
    identity: ModelIdentity, *, cache_dir: Path, workers: int | None = None, on_message: OnMessage | None = None
) -> Embedder | None:
    """The embedder that makes vectors of this identity, if it was ever used on this machine and is still the same."""
    model = _MODELS.get(identity.name)
    if model is not None and identity == model.identity(identity.precision):
        return model.make(cache_dir, identity.precision, workers, on_message)
    from dowse.inference.cache import Cache  # for other models than the default one
    from dowse.inference.lines import line_of  # the same

    with closing(Cache(cache_dir)) as cache:
        line = line_of(identity, cache)
    try:
        if line and identity_of(line, identity.precision, cache_dir) == identity:
            return make_embedder(line, cache_dir=cache_dir, workers=workers, on_message=on_message)
    except DowseError:
        return None  # a line that an earlier version understood, or a file that is gone
    return None


def make_reranker(
    line: str, *, cache_dir: Path, workers: int | None = None, on_message: OnMessage | None = None
) -> "NamedReranker | None":
    """The reranker of this line, which remembers what it said; None for an empty one."""
    if not line:
        return None
    from dowse.inference.cache import Cache  # only where a reranker is configured
    from dowse.inference.cached import CachedReranker  # the same
    from dowse.inference.kinds import RERANKERS  # the same
    from dowse.inference.specs import parse  # the same

    spec = parse(line, "reranker", {kind: row.options for kind, row in RERANKERS.items()})
    cache = Cache(cache_dir)
    return CachedReranker(RERANKERS[spec.kind].make(spec, cache, workers, on_message), cache)


def make_expander(line: str, *, cache_dir: Path, workers: int | None = None) -> "NamedExpander | None":
    """The expander of this line, which remembers what it said; None for an empty one."""
    if not line:
        return None
    from dowse.inference.cache import Cache  # only where an expander is configured
    from dowse.inference.cached import CachedExpander  # the same
    from dowse.inference.kinds import EXPANDERS  # the same
    from dowse.inference.specs import parse  # the same

    spec = parse(line, "expander", {kind: row.options for kind, row in EXPANDERS.items()})
    return CachedExpander(EXPANDERS[spec.kind].make(spec, workers), Cache(cache_dir))


def identity_of(name: str, precision: str, cache_dir: Path | None = None) -> ModelIdentity:
    """The identity of an embedder without loading, asking or fetching anything.

    ModelError where that cannot be known yet: a service that was never asked, a model that was never fetched.
    What was learnt of them is remembered in the cache directory.
    """
    if name in _MODELS:
        return _MODELS[name].identity(precision)
    from dowse.inference.cache import Cache  # for other models than the default one
    from dowse.inference.kinds import EMBEDDERS  # the same

    spec = _embedder_spec(name)
    with closing(Cache(cache_dir or Path(os.devnull))) as cache:  # without a directory nothing is remembered
        return EMBEDDERS[spec.kind].identity(spec, cache)


def tokenizer_json(name: str) -> bytes | None:
    """The tokenizer.json that counts tokens for this embedder; None: words are counted.

    A folder's own where its rules are those that `text.tokens` can count by, else the default model's: its
    tokens are bytes and parts of English words, so in other languages it rather counts too many than too few.
    """
    if name in _MODELS:
        return _MODELS[name].tokenizer_json()
    return _own_tokenizer(_embedder_spec(name)) or granite.tokenizer_json()


def tokenizer_name(name: str) -> str:
    """What to call that tokenizer: two embedders that count alike have the same."""
    if name in _MODELS:
        return name
    own = _own_tokenizer(_embedder_spec(name))
    if own is None:
        return granite.NAME
    import hashlib

    return f"tokenizer-{hashlib.sha256(own).hexdigest()[:12]}"


def check(name: str, cache_dir: Path, *, reranker: str = "", expander: str = "") -> list[Finding]:
    """Whether the configured models work, for the doctor; those that are not the default one are asked something."""
    findings = _MODELS[name].check(cache_dir) if name in _MODELS else []
    if name in _MODELS and not reranker and not expander:
        return findings
    from dowse.inference import checks  # asks and loads what is configured

    if name not in _MODELS:
        _embedder_spec(name)
        findings.append(checks.check_embedder(name, cache_dir))
    if reranker:
        findings.append(checks.check_reranker(reranker, cache_dir))
    if expander:
        findings.append(checks.check_expander(expander, cache_dir))
    return findings


def _own_tokenizer(spec: "Spec") -> bytes | None:
    """The tokenizer of an ONNX folder, if tokens can be counted by it."""
    if spec.kind != "onnx":
        return None
    import json

    try:
        raw = (Path(spec.place).expanduser() / "tokenizer.json").read_bytes()
        read = json.loads(raw)
        cutter = read["pre_tokenizer"]
        is_countable = (
            cutter["type"] == "ByteLevel"
            and cutter.get("use_regex", True)
            and not cutter.get("add_prefix_space", True)
            and read.get("normalizer") is None
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # whoever loads the model says what is wrong with it
    return raw if is_countable else None


def _embedder_spec(name: str) -> "Spec":
    from dowse.inference.kinds import EMBEDDERS  # for other models than the default one
    from dowse.inference.specs import parse  # the same

    return parse(name, "embedder", {kind: row.options for kind, row in EMBEDDERS.items()}, model_names())
