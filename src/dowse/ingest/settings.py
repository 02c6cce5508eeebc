"""What indexing needs to know, and the recipe that follows from it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from dowse.ingest.chunk import CHUNKER
from dowse.ingest.extract import format_of
from dowse.ingest.extract.limits import Limits
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking

__all__ = ["IndexSettings"]


@dataclass(frozen=True)
class IndexSettings:
    """Settings of one run. The tokenizer is asked for only when a source must be chunked."""

    max_file_size: int
    chunking: Chunking
    tokenizer: str
    tokenizer_json: Callable[[], bytes | None]
    limits: Limits = field(default_factory=Limits)
    """What reading one file may take."""

    @cached_property
    def counter(self) -> TokenCounter:
        """Counts tokens as the embedding model does."""
        return TokenCounter(self.tokenizer_json())

    @cached_property
    def _recipes(self) -> dict[str, str]:
        return {}

    def recipe(self, media_type: str) -> str:
        """Names everything that decides what becomes of some bytes; a new name makes them read anew."""
        known = self._recipes.get(media_type)
        if known is None:
            known = self._recipes[media_type] = self._recipe(media_type)
        return known

    def _recipe(self, media_type: str) -> str:
        found = format_of(media_type)
        version = str(found.version if found else 0)
        if found and found.family == "code":
            from dowse.ingest.extract.code import variant  # folders of notes need it not

            version += variant(media_type)
        lengths = f"{self.chunking.max_tokens}/{self.chunking.min_tokens}/{self.chunking.overlap_tokens}"
        return f"{media_type}:{version} {CHUNKER}:{lengths} {self.tokenizer}"
