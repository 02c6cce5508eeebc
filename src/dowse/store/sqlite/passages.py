"""The passages behind refs, each read once between two changes of the store."""

import json
import sqlite3
from collections.abc import Sequence
from typing import cast

from dowse.store.sqlite import rows
from dowse.types import ORDINAL_BITS, ORDINAL_MASK, Chunk, DocumentInfo, Passage, Ref, ordinal_of, version_of

# One statement for any number of values, so that SQLite need not prepare it anew for each search.
_CHUNKS = (
    f"SELECT w.value, {rows.CHUNK_COLUMNS}, {rows.CHUNK_TEXT} "
    f"FROM json_each(?) w CROSS JOIN contents n ON n.id = w.value >> {ORDINAL_BITS} "
    f"JOIN chunks c ON c.content = n.id AND c.ordinal = (w.value & {ORDINAL_MASK})"
)
_DOCUMENTS = (
    f"SELECT d.version, d.content, {rows.DOCUMENT_COLUMNS} "
    "FROM json_each(?) w CROSS JOIN documents d ON d.version = w.value "
    "JOIN collections l ON l.id = d.collection JOIN contents n ON n.id = d.content"
)
_DOCUMENTS_KEPT = 10_000  # some 10 MB
_PASSAGES_KEPT = 5_000  # some 10 MB
_PLENTY = 512 << 20


class Passages:
    """What searches found since the last change; several threads may ask at once, each by its own connection.

    A version is of one document and one content, whatever happens to others: only a change can make
    what is remembered of it wrong, and whoever sees a change starts with a new memory.
    """

    def __init__(self, max_memory: int = 0) -> None:
        """Remember less below a ceiling: of half a gigabyte this takes its usual share."""
        share = min(1.0, max_memory / _PLENTY) if max_memory else 1.0
        self._most_documents, self._most = int(_DOCUMENTS_KEPT * share), int(_PASSAGES_KEPT * share)
        self._documents: dict[int, tuple[int, DocumentInfo]] = {}
        self._passages: dict[Ref, Passage] = {}

    def behind(self, connection: sqlite3.Connection, refs: Sequence[Ref]) -> list[Passage]:
        """The passages in the order asked; unknown refs are left out."""
        kept = self._passages
        if all(known := [kept.get(ref) for ref in refs]):  # as when something is asked again
            return cast("list[Passage]", known)
        found = {ref: passage for ref in refs if (passage := kept.get(ref))}
        if missing := [ref for ref in refs if ref not in found]:
            read = self._read(connection, missing)
            if len(kept) + len(read) > self._most:
                kept = self._passages = dict(list(kept.items())[self._most // 2 :])  # those read first go first
            if len(read) < self._most // 2:
                kept.update(read)
            found |= read
        return [found[ref] for ref in refs if ref in found]

    def _read(self, connection: sqlite3.Connection, refs: Sequence[Ref]) -> dict[Ref, Passage]:
        documents = self._documents_of(connection, {version_of(ref) for ref in refs})
        # Copies share their content: where in it a chunk stands is packed into one number, as a ref is.
        places = {
            ref: documents[version][0] << ORDINAL_BITS | ordinal_of(ref)
            for ref in refs
            if (version := version_of(ref)) in documents
        }
        chunks: dict[int, Chunk] = {
            row[0]: rows.chunk_from(row[1:-1], row[-1])
            for row in connection.execute(_CHUNKS, (json.dumps(list(places.values())),))
        }
        return {
            ref: Passage(ref, documents[version_of(ref)][1], chunks[place], ordinal_of(ref))
            for ref, place in places.items()
            if place in chunks
        }

    def _documents_of(self, connection: sqlite3.Connection, versions: set[int]) -> dict[int, tuple[int, DocumentInfo]]:
        """The content and the document of each version, among others."""
        documents = self._documents
        if missing := [version for version in versions if version not in documents]:
            if len(documents) > self._most_documents:
                documents = self._documents = {}
                missing = list(versions)
            for version, content, *columns in connection.execute(_DOCUMENTS, (json.dumps(missing),)):
                documents[version] = content, rows.document_from(tuple(columns))
        return documents
