"""The mapping between rows and nouns: the only place that knows the order of columns."""

import json
import sqlite3
import zlib
from dataclasses import asdict
from typing import Any
from uuid import UUID

from dowse.types import (
    Chunk,
    Chunking,
    Collection,
    DocumentInfo,
    Fingerprint,
    LedgerEntry,
    ModelIdentity,
    docid_digits,
    now_ms,
)

COLLECTION_COLUMNS = "name, root, pattern, included, description, created_at, updated_at, exclude, chunking, settings"
_NEXT_TO_IT = (
    "SELECT o.hash FROM contents o WHERE o.hash {} n.hash "
    "AND EXISTS (SELECT 1 FROM documents x WHERE x.content = o.id) ORDER BY o.hash {} LIMIT 1"
)
DOCUMENT_COLUMNS = (
    "d.uuid, l.name, d.path, d.uri, d.title, n.hash, d.media_type, d.origin, "
    "d.size, d.mtime_ns, d.inode, d.read_ns, d.metadata, n.metadata, d.created_at, d.updated_at, "
    "d.etag, d.declared_type, n.chunks, "
    # The hashes beside its own in the order of all that documents have: what a docid must tell it from.
    f"({_NEXT_TO_IT.format('<', 'DESC')}), ({_NEXT_TO_IT.format('>', 'ASC')})"
)
DOCUMENT_TABLES = "documents d JOIN collections l ON l.id = d.collection JOIN contents n ON n.id = d.content"
CHUNK_COLUMNS = 'c.start, c."end", c.first_line, c.last_line, c.tokens, c.headings, c.level, c.page, c.place'
# Bytes, not characters: SQLite would have to decode the text from its start to find the nth character.
CHUNK_TEXT = (
    "substr(CASE WHEN substr(n.text, 1, 1) = x'ff' THEN unpacked(n.text) ELSE n.text END, "
    "c.first_byte + 1, c.last_byte - c.first_byte)"
)
LEDGER_COLUMNS = "l.name, g.path, g.state, g.code, g.reason, g.hint, g.at, g.size, g.mtime_ns, g.inode, g.read_ns"

_PACKED = b"\xff"  # begins no UTF-8
_LONGEST_PACKED = 8 << 10  # a passage of a longer one would take too long to unpack


def collection_from(row: sqlite3.Row | tuple[Any, ...]) -> Collection:
    """From COLLECTION_COLUMNS."""
    name, root, pattern, included, description, created_at, updated_at, exclude, chunking, settings = row
    return Collection(
        name,
        root,
        pattern,
        bool(included),
        description,
        created_at,
        updated_at,
        tuple(exclude.split("\n")) if exclude else (),
        Chunking(**json.loads(chunking)) if chunking else None,
        metadata_from(settings),
    )


def collection_to(collection: Collection) -> tuple[Any, ...]:
    """The values of COLLECTION_COLUMNS."""
    return (
        collection.name,
        collection.root,
        collection.pattern,
        collection.included,
        collection.description,
        collection.created_at or now_ms(),
        collection.updated_at,
        "\n".join(collection.exclude),
        json.dumps(asdict(collection.chunking)) if collection.chunking else "",
        metadata_to(collection.settings),
    )


def document_from(row: tuple[Any, ...]) -> DocumentInfo:
    """From DOCUMENT_COLUMNS. What the user said of a document beats what its content says of itself."""
    return DocumentInfo(
        id=UUID(bytes=row[0]),
        collection=row[1],
        path=row[2],
        uri=row[3],
        title=row[4],
        content_hash=row[5],
        media_type=row[6],
        origin=row[7],
        fingerprint=Fingerprint(row[8], row[9], row[10], row[11], row[16]),
        metadata=metadata_from(row[13]) | metadata_from(row[12]) if row[12] or row[13] else {},
        created_at=row[14],
        updated_at=row[15],
        declared_type=row[17],
        chunks=row[18],
        docid_digits=docid_digits(row[5], row[19], row[20]),
    )


def text_to(text: str) -> bytes:
    """A text as UTF-8, packed where that is shorter; a long one stays open, to be read in parts."""
    data = text.encode()
    if len(data) <= _LONGEST_PACKED:
        packed = _PACKED + zlib.compress(data, 1)
        if len(packed) < len(data):
            return packed
    return data


def text_from(stored: bytes) -> bytes:
    """The reverse."""
    return zlib.decompress(memoryview(stored)[1:]) if stored[:1] == _PACKED else stored


def chunk_from(row: tuple[Any, ...], text: bytes) -> Chunk:
    """From CHUNK_COLUMNS and CHUNK_TEXT."""
    start, end, first_line, last_line, tokens, headings, level, page, place = row
    if None in row[:5]:  # what a damaged page reads as, though no such row can be written
        raise sqlite3.DatabaseError("a passage has no place in its document")
    return Chunk(
        text.decode(),
        start,
        end,
        first_line,
        last_line,
        tokens,
        headings_from(headings),
        level,
        page,
        metadata_from(place),
    )


def headings_from(stored: str) -> tuple[str, ...]:
    """A heading path is stored as its lines."""
    return tuple(stored.split("\n")) if stored else ()


def headings_to(headings: tuple[str, ...]) -> str:
    """The reverse; a heading has no line breaks."""
    return "\n".join(heading.replace("\n", " ") for heading in headings)


def ledger_from(row: tuple[Any, ...]) -> LedgerEntry:
    """From LEDGER_COLUMNS."""
    collection, path, state, code, reason, hint, at, size, mtime_ns, inode, read_ns = row
    return LedgerEntry(collection, path, state, code, reason, hint, at, Fingerprint(size, mtime_ns, inode, read_ns))


def identity_from(stored: str) -> ModelIdentity:
    """A model's identity is stored as JSON."""
    return ModelIdentity(**json.loads(stored))


def identity_to(identity: ModelIdentity) -> str:
    """The reverse, in one spelling, so that equal identities are equal strings."""
    return json.dumps(asdict(identity), sort_keys=True)


def metadata_to(metadata: Any) -> str:
    """Metadata is stored as JSON; most documents have none."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True) if metadata else ""


def metadata_from(stored: str) -> dict[str, Any]:
    """The reverse."""
    return json.loads(stored) if stored else {}
