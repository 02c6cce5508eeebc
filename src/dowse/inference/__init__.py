"""What do these words mean? Everything that loads weights: embedders by their names.

Importing this package imports no library: each model brings in what it needs when it is first used.
A model is one row of the table below; its name is the value of the setting `embedder`.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dowse.errors import ConfigError
from dowse.inference import granite, hashed
from dowse.inference.granite import GraniteEmbedder
from dowse.inference.hashed import HashedEmbedder
from dowse.ports import Embedder
from dowse.types import Finding, ModelIdentity

__all__ = ["check", "identity_of", "make_embedder", "model_names", "tokenizer_json"]

OnMessage: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
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
    """The embedders that can be configured, sorted."""
    return sorted(_MODELS)


def make_embedder(
    name: str,
    *,
    cache_dir: Path,
    precision: str = "int8",
    workers: int | None = None,
    on_message: OnMessage | None = None,
) -> Embedder:
    """The embedder of this name; its weights are loaded by its first call."""
    return _model(name).make(cache_dir, precision, workers, on_message)


def identity_of(name: str, precision: str) -> ModelIdentity:
    """The identity that `make_embedder` would give, without making anything."""
    return _model(name).identity(precision)


def tokenizer_json(name: str) -> bytes | None:
    """The tokenizer.json that counts this model's tokens; None: it counts words."""
    return _model(name).tokenizer_json()


def check(name: str, cache_dir: Path) -> list[Finding]:
    """Whether this model could run, for the doctor."""
    return _model(name).check(cache_dir)


def _model(name: str) -> _Model:
    try:
        return _MODELS[name]
    except KeyError:
        near = difflib.get_close_matches(name, _MODELS, n=1, cutoff=0.3)
        guess = f"Did you mean {near[0]!r}? " if near else ""
        raise ConfigError(
            f"There is no embedder named {name!r}.", hint=f"{guess}Known are: {', '.join(model_names())}."
        ) from None
