"""The mapping between nouns and what the indexes hold, and the ids that everything has there."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from dowse.records import record
from dowse.store.opensearch.facts import chunk_facts, document_facts
from dowse.store.opensearch.layout import lexical_field, vector_field
from dowse.text.fields import lexical_rows
from dowse.text.passage import embedding_text, vector_key
from dowse.types import (
    Chunk,
    Content,
    DocumentInfo,
    Fingerprint,
    Known,
    LedgerEntry,
    MetadataValue,
    docid_digits,
    now_ms,
    ref_of,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

ContentKey = tuple[str, str]
"""Content hash and recipe."""


def digest(*parts: str) -> str:
    """A short name for a tuple of texts."""
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:40]


def content_id(key: ContentKey) -> str:
    """Of the content with this hash and recipe."""
    return f"content-{digest(*key)}"


def original_id(content_hash: str) -> str:
    """Of the bytes that were kept."""
    return f"original-{content_hash}"


def vector_id(tag: str, key: str) -> str:
    """Of the vector that one model made of one text."""
    return f"vector-{tag}-{key}"


def ledger_id(collection: str, path: str) -> str:
    """Of the reason why a path is no document."""
    return f"ledger-{digest(collection, path)}"


def place_id(collection: str, path: str) -> str:
    """Of the note which document has a path."""
    return f"place-{digest(collection, path)}"


def chunk_id(version: int, ordinal: int) -> str:
    """Of one passage of one version of a document."""
    return f"{version}-{ordinal}"


@record
class Record:
    """One live version of a document, as its record in the index says."""

    info: DocumentInfo
    """Its collection is the name that this had when the record was read."""
    version: int
    collection: str
    """The id of the collection, which outlives its name."""
    key: ContentKey
    said: Mapping[str, MetadataValue]
    """The part of the info's metadata that came with the draft."""
    on: tuple[int, int] | None = None
    """The sequence number and primary term of the record, where it was read by its id."""

    @property
    def id(self) -> str:
        """The id of the document, and the routing of all that belongs to it."""
        return self.info.id.hex

    @property
    def known(self) -> Known:
        """What a walk compares."""
        info = self.info
        return Known(
            info.fingerprint,
            info.content_hash,
            info.id,
            info.origin,
            recipe=self.key[1],
            media_type=info.media_type,
            declared_type=info.declared_type,
            metadata=self.said,
        )

    @classmethod
    def read(cls, source: Mapping[str, Any], names: Mapping[str, str], on: tuple[int, int] | None = None) -> "Record":
        """From the source of a record; `names` are those of the collections by id."""
        kept = source["info"]
        fields = dict(kept["fields"])
        return cls(
            info=DocumentInfo(
                **{
                    **fields,
                    "id": UUID(fields["id"]),
                    "collection": names.get(source["collection"], ""),
                    "fingerprint": Fingerprint(**fields["fingerprint"]),
                }
            ),
            version=source["version"],
            collection=source["collection"],
            key=(fields["content_hash"], kept["recipe"]),
            said=kept["said"],
            on=on,
        )

    def source(self) -> dict[str, Any]:
        """What the index holds of it."""
        info = self.info
        return {
            "kind": "document",
            "version": self.version,
            "document": self.id,
            "collection": self.collection,
            "facts": document_facts(info),
            "path": info.path,
            "endings": endings(info.path),
            "hash": info.content_hash,
            "docid": docid_start(info.content_hash),
            "uri": digest(info.uri),
            "content": content_id(self.key),
            "keys": sorted(info.metadata),
            "created": info.created_at,
            "chunks": info.chunks,
            "info": {"fields": info_to(info), "recipe": self.key[1], "said": dict(self.said)},
        }


@dataclass(frozen=True)
class StoredContent:
    """A content with what follows from it."""

    content: Content

    @cached_property
    def texts(self) -> list[str]:
        """What is embedded of each chunk."""
        content = self.content
        return [embedding_text(content.title, chunk.headings, chunk.text) for chunk in content.chunks]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each chunk's text, in hex."""
        return [vector_key(text).hex() for text in self.texts]

    @classmethod
    def read(cls, source: Mapping[str, Any]) -> "StoredContent":
        """From the source of a content."""
        kept = source["kept"]
        chunks = tuple(chunk_from(each) for each in kept["chunks"])
        return cls(Content(kept["text"], kept["title"], chunks, kept["metadata"]))

    def source(self, key: ContentKey, stamp: int, now: int) -> dict[str, Any]:
        """What the index holds of it."""
        content = self.content
        return {
            "kind": "content",
            "hash": key[0],
            "stamp": stamp,
            "released": now,
            "keys": sorted(set(self.keys)),
            "kept": {
                "recipe": key[1],
                "text": content.text,
                "title": content.title,
                "metadata": dict(content.metadata),
                "chunks": [chunk_to(chunk) for chunk in content.chunks],
            },
        }


def chunk_sources(
    record: Record, stored: StoredContent, vectors: Mapping[str, Mapping[str, list[float]]]
) -> list[dict[str, Any]]:
    """The passages of one version of a document, with the vectors that their texts have of each model."""
    content, shared = stored.content, document_facts(record.info)
    rows = lexical_rows(record.info.title, record.info.path, content.chunks)
    sources, now = [], now_ms()
    for ordinal, (chunk, row) in enumerate(zip(content.chunks, rows, strict=True)):
        key = stored.keys[ordinal]
        made = {tag: of_model[key] for tag, of_model in vectors.items() if key in of_model}
        sources.append(
            {
                "kind": "chunk",
                "version": record.version,
                "ref": ref_of(record.version, ordinal),
                "document": record.id,
                "collection": record.collection,
                "facts": [*shared, *chunk_facts(record.info, chunk, ordinal)],
                "key": key,
                "written": now,
                "embedded": sorted(made),
                "weight": len(stored.texts[ordinal]),
                "lead": content.title or "",
                "passage": chunk_to(chunk),
                "words": sorted(set(row["body"].split())),
                **{lexical_field(name): terms for name, terms in row.items()},
                **{vector_field(tag): vector for tag, vector in made.items()},
            }
        )
    return sources


def docid_start(content_hash: str) -> str:
    """The digits that every docid has; hashes that begin alike are found by them."""
    return content_hash[: docid_digits("")]


def endings(path: str) -> list[str]:
    """The path and what follows each of its slashes."""
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def info_to(info: DocumentInfo) -> dict[str, Any]:
    """A document's info as JSON, without the name of its collection."""
    fields = asdict(info)
    del fields["collection"]
    return {**fields, "id": info.id.hex}


def chunk_to(chunk: Chunk) -> dict[str, Any]:
    """A chunk as JSON."""
    return asdict(chunk)


def chunk_from(kept: Mapping[str, Any]) -> Chunk:
    """The reverse."""
    return Chunk(**{**kept, "headings": tuple(kept["headings"])})


def ledger_to(entry: LedgerEntry, collection: str) -> dict[str, Any]:
    """An entry of the ledger, in the collection with this id."""
    fields = asdict(entry)
    del fields["collection"]
    return {"kind": "ledger", "collection": collection, "path": entry.path, "state": entry.state, "kept": fields}


def ledger_from(source: Mapping[str, Any], names: Mapping[str, str]) -> LedgerEntry:
    """The reverse."""
    kept = source["kept"]
    fingerprint = Fingerprint(**kept["fingerprint"])
    return LedgerEntry(**{**kept, "collection": names[source["collection"]], "fingerprint": fingerprint})


def vector_to(vector: "Vector") -> str:
    """A vector as text, exactly."""
    import numpy as np

    return b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def array_from(kept: str) -> "Vector":
    """The reverse."""
    import numpy as np

    return np.frombuffer(b64decode(kept), dtype="<f4")


def unit(vector: "Vector | Sequence[float]") -> list[float]:
    """The same direction at length one, to a billionth: finer than the float32 that it becomes there."""
    import numpy as np

    values = np.asarray(vector, dtype=np.float64)
    length = float(np.sqrt(values @ values))
    rounded: list[float] = np.round(values / length if length else values, 9).tolist()
    return rounded
