"""From configuration to parts: which models are asked, and how sources are indexed.

Every part is made on first need, so that commands that ask no model never import one.
"""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from dowse import inference
from dowse.config import Config
from dowse.errors import ModelError
from dowse.ports import Embedder, Expander, Reranker
from dowse.types import Chunking, Collection, Finding, ModelIdentity

if TYPE_CHECKING:
    from dowse.ingest.settings import IndexSettings
    from dowse.search.landscape import Landscapes
    from dowse.search.pipeline import Models
    from dowse.text.tokens import TokenCounter

__all__ = ["FEEDBACK", "Parts"]

FEEDBACK = "prf"
"""The expander that is no model: pseudo-relevance feedback."""

_MEMORY_PER_WORKER = 256 << 20
_LEAST_FOR_READING = 128 << 20  # of address space: the libraries that read files are mapped into it


class Parts:
    """What one engine works with, besides its store."""

    def __init__(self, config: Config, on_message: Callable[[str], None] | None) -> None:
        self._config = config
        self._on_message = on_message
        self._predecessors: dict[ModelIdentity, Embedder | None] = {}

    @cached_property
    def embedder(self) -> Embedder:
        """The model that turns texts into vectors."""
        config = self._config
        return inference.make_embedder(
            config.embedder,
            cache_dir=config.cache_dir,
            precision=config.precision,
            workers=self._workers,
            on_message=self._on_message,
        )

    @property
    def _workers(self) -> int | None:
        """How many threads embed: under a ceiling as many as fit beside the weights, each with a text of its own."""
        most = self._config.max_memory // _MEMORY_PER_WORKER
        if not self._config.max_memory:
            return self._config.workers
        return max(1, min(most, self._config.workers or os.cpu_count() or 1))

    @cached_property
    def reranker(self) -> Reranker | None:
        """The model that reads passages a second time, if there is one."""
        config = self._config
        return inference.make_reranker(
            config.reranker, cache_dir=config.cache_dir, workers=self._workers, on_message=self._on_message
        )

    @cached_property
    def expander(self) -> Expander | None:
        """The model that thinks of further searches, if there is one."""
        if self._config.expander == FEEDBACK:
            return None
        return inference.make_expander(self._config.expander, cache_dir=self._config.cache_dir, workers=self._workers)

    @cached_property
    def models(self) -> "Models":
        """How a search asks them."""
        from dowse.search.pipeline import Models  # an update asks nothing

        config = self._config
        return Models(
            identity=lambda: inference.identity_of(config.embedder, config.precision, config.cache_dir),
            embedder=lambda: self.embedder,
            predecessor=self._predecessor,
            reranker=lambda: self.reranker,
            expander=lambda: self.expander,
            feedback=config.expander == FEEDBACK,
        )

    def known_identity(self) -> ModelIdentity | None:
        """Which vectors the configured model makes; None while that is not known."""
        try:
            return self.models.identity()
        except ModelError:
            return None

    def _predecessor(self, identity: ModelIdentity) -> Embedder | None:
        """The model that answers until the configured one has made its vectors, if it can still be had."""
        if identity not in self._predecessors:
            config = self._config
            self._predecessors[identity] = inference.make_known_embedder(
                identity, cache_dir=config.cache_dir, workers=self._workers, on_message=self._on_message
            )
        return self._predecessors[identity]

    @cached_property
    def tokens(self) -> "TokenCounter":
        """Counts tokens as the embedding model does."""
        from dowse.text.tokens import TokenCounter  # counting loads a tokenizer; only budgets need it

        return TokenCounter(inference.tokenizer_json(self._config.embedder))

    @cached_property
    def landscapes(self) -> "Landscapes":
        """The latest maps of the index."""
        from dowse.search.landscape import Landscapes

        return Landscapes()

    def index_settings(self, collection: Collection) -> "IndexSettings":
        """How a collection is indexed."""
        from dowse.ingest.extract.limits import Limits  # a search need not load it
        from dowse.ingest.settings import IndexSettings, largest_file

        config = self._config
        ceiling = config.max_memory
        return IndexSettings(
            max_file_size=min(config.max_file_size, largest_file(ceiling)) if ceiling else config.max_file_size,
            chunking=collection.chunking or Chunking(max_tokens=config.chunk_tokens),
            tokenizer=inference.tokenizer_name(config.embedder),
            tokenizer_json=lambda: inference.tokenizer_json(config.embedder),
            limits=Limits(
                config.extract_seconds,
                min(config.extract_memory, max(_LEAST_FOR_READING, ceiling // 2)) if ceiling else config.extract_memory,
            ),
            max_memory=ceiling,
        )

    def check(self) -> list[Finding]:
        """Whether the configured models work."""
        config = self._config
        expander = "" if config.expander == FEEDBACK else config.expander
        return inference.check(config.embedder, config.cache_dir, reranker=config.reranker, expander=expander)

    def close(self) -> None:
        """Stop workers and free weights, of those that were made."""
        for name in ("embedder", "reranker", "expander"):
            made = self.__dict__.get(name)
            if made is not None:
                made.close()
        for other in self._predecessors.values():
            if other is not None:
                other.close()
