"""What indexing needs to know, and the recipe that follows from it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from dowse.ingest.chunk import CHUNKER
from dowse.ingest.extract import format_of
from dowse.ingest.extract.limits import Limits
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking

__all__ = ["IndexSettings", "largest_file"]

_BATCH_DOCUMENTS = 800
_BATCH_CHARACTERS = 3_200_000
_PROGRAM = 96 << 20
"""What the program takes with nothing to do, the process that reads files included."""
_BYTES_PER_CHARACTER = 100  # of a batch whose words are all different: the worst there is
_BYTES_PER_FILE_BYTE = 128  # of one document on its way from the disk into the index, its terms made one by one


def largest_file(max_memory: int) -> int:
    """The bytes of the largest file that can be indexed below this ceiling: a document is stored as a whole."""
    return (max_memory - _PROGRAM) // _BYTES_PER_FILE_BYTE


@dataclass(frozen=True)
class IndexSettings:
    """Settings of one run. The tokenizer is asked for only when a source must be chunked."""

    max_file_size: int
    chunking: Chunking
    tokenizer: str
    tokenizer_json: Callable[[], bytes | None]
    limits: Limits = field(default_factory=Limits)
    """What reading one file may take."""
    max_memory: int = 0
    """What this process should stay below; 0: no ceiling."""

    @property
    def batch(self) -> tuple[int, int]:
        """How many documents and characters may wait to be stored together.

        A batch is one transaction: large enough to be cheap, small enough to hold the lock below a second. What waits
        takes up to a hundred times its characters until it is on the disk.
        """
        if not self.max_memory:
            return _BATCH_DOCUMENTS, _BATCH_CHARACTERS
        characters = min(_BATCH_CHARACTERS, (self.max_memory - _PROGRAM) // 2 // _BYTES_PER_CHARACTER)
        return max(1, _BATCH_DOCUMENTS * characters // _BATCH_CHARACTERS), characters

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
