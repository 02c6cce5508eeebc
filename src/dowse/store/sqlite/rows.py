"""The mapping between rows and nouns: the only place that knows the order of columns."""

import json
import sqlite3
from dataclasses import asdict
from typing import Any
from uuid import UUID

from dowse.types import (
    Chunk,
    Collection,
    DocumentInfo,
    Fingerprint,
    LedgerEntry,
    ModelIdentity,
)

COLLECTION_COLUMNS = "name, root, pattern, included, description, created_at, updated_at"
DOCUMENT_COLUMNS = (
    "d.uuid, l.name, d.path, d.uri, d.title, n.hash, d.media_type, d.origin, "
    "d.size, d.mtime_ns, d.inode, d.read_ns, d.metadata, n.metadata, d.created_at, d.updated_at"
)
DOCUMENT_TABLES = "documents d JOIN collections l ON l.id = d.collection JOIN contents n ON n.id = d.content"
CHUNK_COLUMNS = 'c.start, c."end", c.first_line, c.last_line, c.tokens, c.headings, c.level, c.page, c.place'
# Bytes, not characters: SQLite would have to decode the text from its start to find the nth character.
CHUNK_TEXT = "substr(n.text, c.first_byte + 1, c.last_byte - c.first_byte)"
LEDGER_COLUMNS = "l.name, g.path, g.state, g.code, g.reason, g.hint, g.at, g.size, g.mtime_ns, g.inode, g.read_ns"


def collection_from(row: sqlite3.Row | tuple[Any, ...]) -> Collection:
    """From COLLECTION_COLUMNS."""
    name, root, pattern, included, description, created_at, updated_at = row
    return Collection(name, root, pattern, bool(included), description, created_at, updated_at)


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
        fingerprint=Fingerprint(row[8], row[9], row[10], row[11]),
        metadata=_mapping(row[13]) | _mapping(row[12]) if row[12] or row[13] else {},
        created_at=row[14],
        updated_at=row[15],
    )


def chunk_from(row: tuple[Any, ...], text: bytes) -> Chunk:
    """From CHUNK_COLUMNS and CHUNK_TEXT."""
    start, end, first_line, last_line, tokens, headings, level, page, place = row
    return Chunk(
        text=text.decode(),
        start=start,
        end=end,
        first_line=first_line,
        last_line=last_line,
        tokens=tokens,
        headings=headings_from(headings),
        level=level,
        page=page,
        place=_mapping(place),
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


def _mapping(stored: str) -> dict[str, Any]:
    return json.loads(stored) if stored else {}
