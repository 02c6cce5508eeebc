"""Dowse: local-first search over documents, for people and for their AI agents.

This is the public door. Names arrive on first use, so that `import dowse` itself loads nothing:

    import dowse

    with dowse.open() as engine:
        for hit in engine.search("how are indexes locked?").hits:
            print(hit.info.file, hit.snippet.first_line, hit.score)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.config import Config
    from dowse.engine import Engine
    from dowse.engine import open_engine as open  # noqa: A004  # read as `dowse.open`, like `gzip.open`
    from dowse.errors import (
        ConfigError,
        ConflictError,
        DowseError,
        ModelError,
        ModelMismatchError,
        NotFoundError,
        SourceError,
        StoreCorruptError,
        StoreError,
        StoreFullError,
        StoreLockedError,
        StoreUnavailableError,
        StoreVersionError,
        UsageError,
    )
    from dowse.ingest.sources.given import given_content
    from dowse.types import (
        Answer,
        Chunk,
        Chunking,
        Collection,
        CollectionStats,
        Context,
        Document,
        DocumentInfo,
        EmbedReport,
        Event,
        Explain,
        Feature,
        Finding,
        Hit,
        IndexReport,
        Ingested,
        IngestReport,
        LedgerEntry,
        Leg,
        ModelIdentity,
        Query,
        Snippet,
        StoreStats,
        Succession,
        TransferReport,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Chunk",
    "Chunking",
    "Collection",
    "CollectionStats",
    "Config",
    "ConfigError",
    "ConflictError",
    "Context",
    "Document",
    "DocumentInfo",
    "DowseError",
    "EmbedReport",
    "Engine",
    "Event",
    "Explain",
    "Feature",
    "Finding",
    "Hit",
    "IndexReport",
    "IngestReport",
    "Ingested",
    "LedgerEntry",
    "Leg",
    "ModelError",
    "ModelIdentity",
    "ModelMismatchError",
    "NotFoundError",
    "Query",
    "Snippet",
    "SourceError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreStats",
    "StoreUnavailableError",
    "StoreVersionError",
    "Succession",
    "TransferReport",
    "UsageError",
    "__version__",
    "given_content",
    "open",
]

_ELSEWHERE = {
    "Config": ("config", "Config"),
    "Engine": ("engine", "Engine"),
    "given_content": ("ingest.sources.given", "given_content"),
    "open": ("engine", "open_engine"),
}
"""Module and name of what is neither an error nor a noun."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'dowse' has no attribute {name!r}")
    module, attribute = _ELSEWHERE.get(name, ("errors" if name.endswith("Error") else "types", name))
    value = getattr(import_module(f"dowse.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
