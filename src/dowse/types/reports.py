"""What is told of long runs and of the index as a whole."""

from typing import Literal

from dowse.records import record
from dowse.types.documents import Collection, DocumentInfo, LedgerEntry


@record
class Event:
    """One step of a long run, for progress bars and logs."""

    stage: Literal["walk", "read", "store", "embed", "ask", "done"]
    done: int = 0
    total: int = 0
    path: str = ""
    note: str = ""


@record
class IndexReport:
    """What one indexing run of one collection did."""

    collection: str
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    failed: tuple[LedgerEntry, ...] = ()
    skipped: tuple[LedgerEntry, ...] = ()
    guarded: str = ""
    """Why nothing was deleted, when the mass-delete guard held."""


@record
class Ingested:
    """What became of one source that was given to be ingested."""

    info: DocumentInfo
    action: Literal["added", "replaced", "described", "unchanged"]
    """`described`: only what is said of it changed."""


@record
class IngestReport:
    """What became of several sources."""

    done: tuple[Ingested, ...] = ()
    failed: tuple[LedgerEntry, ...] = ()
    skipped: tuple[LedgerEntry, ...] = ()


@record
class EmbedReport:
    """What one embedding run did."""

    embedded: int = 0
    remaining: int = 0
    seconds: float = 0.0


@record
class TransferReport:
    """What a backup, an export or the reverse of either carried."""

    collection: str
    """Empty for a whole index."""
    documents: int
    vectors: int
    size: int
    """Of the file, in bytes."""
    notes: tuple[str, ...] = ()


@record
class CollectionStats:
    """A collection and what is in it."""

    collection: Collection
    documents: int
    chunks: int
    unembedded: int
    """Documents with at least one passage that has no vector yet."""
    failed: int
    skipped: int
    missing: int = 0
    """Passages that have no vector yet."""


@record
class ModelIdentity:
    """Which model made a vector: two equal identities make comparable vectors."""

    name: str
    weights: str
    """A fingerprint of the weights as they run."""
    dims: int
    pooling: str
    precision: str
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""
    language: str = ""
    """The one language that it knows, as `en`; empty for a model of many."""


@record
class Finding:
    """One result of a health check, with its remedy."""

    check: str
    ok: bool
    message: str
    hint: str = ""


@record
class Succession:
    """How far the vectors of the next model are; those of the present one answer until they are complete."""

    model: ModelIdentity
    vectors: int
    waiting: int
    """Texts that still lack a vector of it."""


@record
class StoreStats:
    """Totals over the whole index."""

    collections: tuple[CollectionStats, ...]
    documents: int
    chunks: int
    vectors: int
    """Of the model that answers."""
    bytes_on_disk: int
    model: ModelIdentity | None = None
    """The model whose vectors answer."""
    successor: Succession | None = None
    """The model that is to take its place."""
