"""The nouns: Collection, Document, Chunk, Query, Hit, and the reports about them.

Frozen values without behaviour, from the standard library alone. Every layer speaks in them,
so they know nothing of files, databases, models or protocols. Times are integers, milliseconds
since 1970 in UTC. Character offsets count Unicode code points of `Document.text`; lines start at 1.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NewType
from uuid import UUID

Mode = Literal["auto", "lex", "vec", "hybrid"]
Origin = Literal["walked", "ingested"]
LedgerState = Literal["failed", "skipped", "excluded"]

Ref = NewType("Ref", int)
"""A store's own handle of one chunk of one live document, good within one snapshot; see `ref_of`."""

ORDINAL_BITS = 20
ORDINAL_MASK = (1 << ORDINAL_BITS) - 1

MetadataValue = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents, usually a folder that is walked."""

    name: str
    root: str | None = None
    """The absolute folder that is walked; None for a collection that only takes what is ingested."""
    pattern: str = "**/*"
    included: bool = True
    """Whether a query that names no collection searches this one."""
    description: str = ""
    created_at: int = 0
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """A description attached to a collection or to a path prefix in it; collection None: to everything."""

    collection: str | None
    prefix: str
    """Whole path segments, without slashes at the ends; empty for the whole collection."""
    text: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What `stat` said of a file when it was read, and when that was: enough to tell that it is the same."""

    size: int
    mtime_ns: int
    inode: int = 0
    read_ns: int = 0


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document without its text: what listings and hits carry."""

    id: UUID
    collection: str
    path: str
    """The key inside its collection: the POSIX path below the root, or the URI it was ingested from."""
    uri: str
    """Where its bytes come from, as an absolute URI."""
    title: str
    content_hash: str
    """The sha256 of the source's bytes, in hex."""
    media_type: str
    origin: Origin
    fingerprint: Fingerprint
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    created_at: int = 0
    updated_at: int = 0

    @property
    def docid(self) -> str:
        """The short handle that people and agents type: `#` and six hex digits of the content hash."""
        return f"#{self.content_hash[:6]}"

    @property
    def file(self) -> str:
        """The name shown everywhere: collection and path."""
        return f"{self.collection}/{self.path}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of a text, with its exact place: `text == document.text[start:end]`."""

    text: str
    start: int
    end: int
    first_line: int
    last_line: int
    tokens: int
    """Counted with the embedding model's own tokenizer."""
    headings: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    level: int = 0
    """The depth of the innermost of them, 1 to 6; 0 without any."""
    page: int | None = None
    place: Mapping[str, MetadataValue] = field(default_factory=dict)
    """Where else it stands, in the words of its format: `page_position`, `class_name`, `function_name`, `sheet`."""


@dataclass(frozen=True, slots=True)
class Content:
    """What extraction and chunking made of a source's bytes; shared by every document with the same bytes."""

    text: str
    title: str | None
    """The title that the content itself gives; None: the document goes by its file's name."""
    chunks: tuple[Chunk, ...]
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """A new or changed document on its way into a store."""

    info: DocumentInfo
    recipe: str
    """Names the extractor, chunker and settings; content is shared per (content hash, recipe)."""
    content: Content | None
    """None: the store has this content already (see `Store.known`) and only the document is new."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its whole text, as `get` returns it."""

    info: DocumentInfo
    text: str
    contexts: tuple[str, ...] = ()
    first_line: int = 1
    """The line at which `text` starts, when only a part was asked for."""
    total_lines: int = 0


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A file that is not a document, and why: failed, skipped, or excluded by its user."""

    collection: str
    path: str
    state: LedgerState
    code: str
    reason: str
    hint: str = ""
    at: int = 0
    fingerprint: Fingerprint = Fingerprint(0, 0)


@dataclass(frozen=True, slots=True)
class Known:
    """What a store remembers of one path, for the comparison with the disk."""

    fingerprint: Fingerprint
    content_hash: str = ""
    id: UUID | None = None
    """None for an entry of the ledger."""
    origin: Origin = "walked"
    recipe: str = ""
    state: LedgerState | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a search may look. Applied inside the store, never after a cut-off."""

    collections: frozenset[str] | None = None
    """None: every collection."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One leg's recall: refs with their scores, best first, and the most that any text could score."""

    hits: tuple[tuple[Ref, float], ...]
    ceiling: float
    """For BM25 the sum of boost * (k1 + 1) * idf over the terms that each field knows; for cosine 1."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk together with the document it stands in."""

    ref: Ref
    info: DocumentInfo
    chunk: Chunk
    ordinal: int


@dataclass(frozen=True, slots=True)
class Query:
    """A search as the engine takes it; a plain string means `Query(text)`."""

    text: str
    mode: Mode = "auto"
    collections: tuple[str, ...] = ()
    """Empty: the collections that are included by default."""
    limit: int = 10
    min_score: float = 0.0
    per_document: int = 0
    """How many passages one document may contribute; 0: as many as rank."""
    snippets: bool = True
    """Whether hits come with their best lines picked; whoever shows whole passages need not pay for that."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One list's evidence for a hit."""

    name: Literal["lex", "vec"]
    rank: int | None
    """Place in the leg's own list; None when the hit came from the other leg and was scored afterwards."""
    raw: float
    """BM25 or cosine."""
    value: float
    """The same in [0, 1]."""
    weight: float


@dataclass(frozen=True, slots=True)
class Explain:
    """How a hit got its score, step by step."""

    legs: tuple[Leg, ...]
    fused: float
    """The sum of weight * value over the legs, before calibration.

    A passage without a vector in a hybrid search has one leg, and the evidence that its words are worth alone.
    """
    score: float


@dataclass(frozen=True, slots=True)
class Snippet:
    """The lines of a passage that answer the query best; empty where the query asked for none."""

    text: str
    first_line: int
    start: int
    """Character offset in the document's text."""
    highlights: tuple[tuple[int, int], ...] = ()
    """Spans inside `text` that match the query's words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers, with everything that is needed to cite and check it."""

    info: DocumentInfo
    chunk: Chunk
    ordinal: int
    score: float
    snippet: Snippet
    contexts: tuple[str, ...]
    explain: Explain


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one search, best first, and what the reader should know about them."""

    query: Query
    mode: Literal["lex", "vec", "hybrid"]
    """What was really done, after `auto` and fallbacks."""
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    """Plain sentences: which leg was missing and why, which index lags."""


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a long run, for progress bars and logs."""

    stage: Literal["walk", "read", "store", "embed", "done"]
    done: int = 0
    total: int = 0
    path: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What one embedding run did."""

    embedded: int = 0
    remaining: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """A collection and what is in it."""

    collection: Collection
    documents: int
    chunks: int
    unembedded: int
    """Documents with at least one passage that has no vector yet."""
    failed: int
    skipped: int


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a health check, with its remedy."""

    check: str
    ok: bool
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Totals over the whole index."""

    collections: tuple[CollectionStats, ...]
    documents: int
    chunks: int
    vectors: int
    bytes_on_disk: int
    model: ModelIdentity | None = None
    """The model whose vectors the index holds."""


def ref_of(version: int, ordinal: int) -> Ref:
    """The handle of a chunk: a number of its document's live version and its place there, in one integer."""
    return Ref(version << ORDINAL_BITS | ordinal)


def version_of(ref: int) -> int:
    """The part of a ref that all chunks of one document share, and no others."""
    return ref >> ORDINAL_BITS


def ordinal_of(ref: int) -> int:
    """Which chunk of its document a ref means."""
    return ref & ORDINAL_MASK


def new_document_id() -> UUID:
    """A UUIDv7: 48 bits of milliseconds, then random, so that ids sort by the time they were made."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds << 80) | random
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return UUID(int=value)


def now_ms() -> int:
    """The present, in the unit of every stored time."""
    return time.time_ns() // 1_000_000
