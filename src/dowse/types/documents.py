"""What is kept: collections, documents with their passages, and the paths that are not documents."""

import os
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Literal
from uuid import UUID

from dowse.records import record

Origin = Literal["walked", "ingested"]
LedgerState = Literal["failed", "skipped", "excluded"]
Freshness = Literal["fresh", "stale", "gone", "unknown"]
"""Whether a source is as it was indexed; unknown where only reading it again could tell, as for a URL."""

MetadataValue = str | int | float | bool | list[str]

_DOCID_DIGITS = 6


@record
class Chunking:
    """How long passages are, in tokens of the embedding model."""

    max_tokens: int = 256
    min_tokens: int = 32
    """Cutting a long section avoids parts below this; a small section stays a passage of its own."""
    overlap_tokens: int = 0
    """How much of the passage before is repeated, inside one section."""


@record
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
    exclude: tuple[str, ...] = ()
    """Globs of paths below the root that are left out."""
    chunking: Chunking | None = None
    """None: as the configuration says."""
    settings: Mapping[str, MetadataValue] = field(default_factory=dict)
    """What an interface keeps of it for itself; the engine does not look."""


@record
class Context:
    """A description attached to a collection or to a path prefix in it; collection None: to everything."""

    collection: str | None
    prefix: str
    """Whole path segments, without slashes at the ends; empty for the whole collection."""
    text: str


@record
class Fingerprint:
    """What `stat` or a web server said of a source when it was read, and when that was: enough to know it again."""

    size: int
    mtime_ns: int
    inode: int = 0
    read_ns: int = 0
    etag: str = ""


@record
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
    """What its content says of itself, and what was said of it when it was ingested, which counts more."""
    created_at: int = 0
    updated_at: int = 0
    declared_type: str = ""
    """The media type that its user gave it; empty: `media_type` was found out."""
    chunks: int = 0
    """How many passages it has; the store counts them."""
    docid_digits: int = field(default=_DOCID_DIGITS, compare=False)
    """How many digits of its hash tell its content from every other one in the index; the store looks."""

    @property
    def docid(self) -> str:
        """The short handle that people and agents type: `#` and the first hex digits of the content hash.

        Six of them, or more where others begin alike. Only copies of the same content share it.
        """
        return f"#{self.content_hash[: self.docid_digits]}"

    @property
    def file(self) -> str:
        """The name shown everywhere: collection and path."""
        return f"{self.collection}/{self.path}"


def docid_digits(content_hash: str, *others: str | None) -> int:
    """How many digits of a hash none of these others begins with; as many as a docid has at least."""
    digits = _DOCID_DIGITS
    for other in others:
        while other and digits <= len(content_hash) and other[:digits] == content_hash[:digits]:
            digits += 1
    return digits


@record
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


@record
class Content:
    """What extraction and chunking made of a source's bytes; shared by every document with the same bytes."""

    text: str
    title: str | None
    """The title that the content itself gives; None: the document goes by its file's name."""
    chunks: tuple[Chunk, ...]
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@record
class Draft:
    """A new or changed document on its way into a store."""

    info: DocumentInfo
    """Its metadata is what was said of the document; what the content says is in `content`."""
    recipe: str
    """Names the extractor, chunker and settings; content is shared per (content hash, recipe)."""
    content: Content | None
    """None: the store has this content already (see `Store.known`) and only the document is new."""
    original: bytes | None = None
    """The source's bytes, to be kept: for what has no address where they could be read again."""


@record
class Document:
    """A document with its whole text, as `get` returns it."""

    info: DocumentInfo
    text: str
    contexts: tuple[str, ...] = ()
    first_line: int = 1
    """The line at which `text` starts, when only a part was asked for."""
    total_lines: int = 0


@record
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


@record
class Known:
    """What a store remembers of one path, for the comparison with the disk."""

    fingerprint: Fingerprint
    content_hash: str = ""
    id: UUID | None = None
    """None for an entry of the ledger."""
    origin: Origin = "walked"
    recipe: str = ""
    state: LedgerState | None = None
    code: str = ""
    """Of an entry of the ledger."""
    media_type: str = ""
    declared_type: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    """What was said of the document when it was ingested, without what its content says."""


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
