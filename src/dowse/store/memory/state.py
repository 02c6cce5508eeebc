"""Everything that a memory store knows at one moment."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from dowse.records import record
from dowse.text.passage import embedding_text, vector_key
from dowse.types import (
    Chunk,
    Collection,
    Content,
    Context,
    DocumentInfo,
    LedgerEntry,
    MetadataValue,
    ModelIdentity,
    Passage,
    ref_of,
)

ContentKey: TypeAlias = tuple[str, str]
"""Content hash and recipe."""
Place: TypeAlias = tuple[str, str]
"""Collection and path."""


@record
class Entry:
    """One live document: its info, the content it shows, and the number of this version of it."""

    info: DocumentInfo
    content: ContentKey
    version: int
    said: Mapping[str, MetadataValue] = field(default_factory=dict)
    """The part of the info's metadata that came with the draft."""


@dataclass(slots=True)
class State:
    """The dictionaries of a store. Their values are immutable, so a copy of the dictionaries is a copy of all."""

    collections: dict[str, Collection] = field(default_factory=dict)
    contexts: dict[tuple[str | None, str], Context] = field(default_factory=dict)
    documents: dict[UUID, Entry] = field(default_factory=dict)
    contents: dict[ContentKey, Content] = field(default_factory=dict)
    unused_since: dict[ContentKey, int] = field(default_factory=dict)
    originals: dict[str, bytes] = field(default_factory=dict)
    """By content hash."""
    """When the last document of a content went away, for contents that no document shows."""
    ledger: dict[Place, LedgerEntry] = field(default_factory=dict)
    vectors: dict[ModelIdentity, dict[bytes, tuple[float, ...]]] = field(default_factory=dict)
    """Of the model that answers, then of its successor."""
    touched_at: int = 0
    """When the successor got its last vector."""
    next_version: int = 1
    mark: int = field(default_factory=itertools.count().__next__)
    """Every state has its own."""

    def copy(self) -> "State":
        """An independent state that starts out equal."""
        return State(
            collections=dict(self.collections),
            contexts=dict(self.contexts),
            documents=dict(self.documents),
            contents=dict(self.contents),
            unused_since=dict(self.unused_since),
            originals=dict(self.originals),
            ledger=dict(self.ledger),
            vectors={model: dict(vectors) for model, vectors in self.vectors.items()},
            touched_at=self.touched_at,
            next_version=self.next_version,
        )

    @property
    def model(self) -> ModelIdentity | None:
        """Whose vectors answer; None while there are none."""
        first = next(iter(self.vectors), None)
        return first if first is not None and self.vectors[first] else None

    @property
    def successor(self) -> ModelIdentity | None:
        """The model that is to take its place."""
        return next(iter(list(self.vectors)[1:]), None)

    @property
    def newest(self) -> dict[bytes, tuple[float, ...]]:
        """The vectors that are being completed."""
        return next(reversed(self.vectors.values()), {})

    def waiting(self, model: ModelIdentity) -> dict[bytes, str]:
        """The texts of live chunks without a vector of this model, by their keys."""
        embedded = self.vectors.get(model, {})
        return {
            key: text
            for entry in self.documents.values()
            for key, text in embeddable(self.contents[entry.content]).items()
            if key not in embedded
        }

    def at(self, place: Place) -> Entry | None:
        """The document that has this collection and path."""
        for entry in self.documents.values():
            if (entry.info.collection, entry.info.path) == place:
                return entry
        return None

    def passages(self) -> Iterator[Passage]:
        """Every chunk of every live document."""
        for entry in self.documents.values():
            for ordinal, chunk in enumerate(self.contents[entry.content].chunks):
                yield Passage(ref_of(entry.version, ordinal), entry.info, chunk, ordinal)


def embeddable(content: Content) -> dict[bytes, str]:
    """The texts to embed of one content, by their keys: equal texts have one key."""
    texts = [embedding_text(content.title, chunk.headings, chunk.text) for chunk in content.chunks]
    return {vector_key(text): text for text in texts}


def chunk_key(content: Content, chunk: Chunk) -> bytes:
    """The key under which the vector of this chunk is kept."""
    return vector_key(embedding_text(content.title, chunk.headings, chunk.text))
