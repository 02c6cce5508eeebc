"""The writer's transaction: what changes, in the order that lets readers see old or new, never neither.

1. Inside an SQLite transaction that nobody sees yet, rows of the new versions are made.
2. tantivy commits their entries, and drops the versions that were dead before this transaction.
3. SQLite commits: the new versions are live, the old ones dead and remembered as tombstones.

A crash after 2 leaves entries that SQLite never heard of; the next writer removes them. The versions
that died in 3 leave tantivy with a later commit: until then SQLite's word keeps them out of answers.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from dowse.errors import NotFoundError, StoreError
from dowse.records import record
from dowse.store.sqlite import rows
from dowse.store.sqlite.lexical import WRITER_BYTES, Entry, LexicalIndex
from dowse.text.analyse import ANALYSER
from dowse.text.fields import each_row, lexical_rows
from dowse.text.lines import count_lines
from dowse.text.passage import embedding_text, vector_key
from dowse.types import (
    Chunk,
    Content,
    Draft,
    now_ms,
    ref_of,
)

_KEY = 12  # the place of the key among the columns below
_COMMITS_KEPT = 1000  # how far back an index that lags can be caught up without a rebuild


@record
class Prepared:
    """A draft with everything computed that needs no lock."""

    draft: Draft
    chunk_rows: tuple[tuple[Any, ...], ...]
    """The columns of `chunks` after `content`; a key names a vector by the text that it is made of."""
    fields: Iterable[dict[str, str]]


def prepare(draft: Draft, *, sparing: bool = False) -> Prepared:
    """Analyse a draft's chunks; the slow part of a write, done before the lock is taken.

    Where memory is short, `sparing`, that waits until each chunk is written: tantivy takes one at a time, and puts
    on the disk what it has when its own share is used up.
    """
    content = draft.content
    if content is None:
        return Prepared(draft, (), [])
    fields = (each_row if sparing else lexical_rows)(draft.info.title, draft.info.path, content.chunks)
    return Prepared(draft, tuple(_chunk_rows(content)), fields)


class Writing:
    """One transaction of the one writer. `SqliteStore` opens it and commits or rolls back."""

    def __init__(self, connection: sqlite3.Connection, directory: Path, heap: int = WRITER_BYTES) -> None:
        self.connection = connection
        self._directory = directory
        self._heap = heap
        self._entries: list[Iterable[Entry]] = []
        self._dead_before = [row[0] for row in connection.execute("SELECT version FROM tombstones")]
        self._seq = int(self._meta("seq")) + 1
        self._set_meta("seq", self._seq)

    def put(self, prepared: Prepared) -> None:
        """Make the draft the live version of its document."""
        draft = prepared.draft
        info = draft.info
        collection = self.collection_id(info.collection)
        content = self._content(prepared)
        known = self._row("SELECT id, content, version, created_at FROM documents WHERE uuid = ?", info.id.bytes)
        at_path = self._row(
            "SELECT id, content, version, created_at, uuid FROM documents WHERE collection = ? AND path = ?",
            collection,
            info.path,
        )
        if known is None:
            known = at_path and at_path[:4]
        elif at_path is not None and at_path[0] != known[0]:
            self.delete(UUID(bytes=at_path[4]))
        version = int(self._meta("version")) + 1
        self._set_meta("version", version)
        print_ = info.fingerprint
        columns = {
            "collection": collection,
            "path": info.path,
            "uri": info.uri,
            "title": info.title,
            "content": content,
            "version": version,
            "seq": self._seq,
            "media_type": info.media_type,
            "origin": info.origin,
            "metadata": rows.metadata_to(info.metadata),
            "size": print_.size,
            "mtime_ns": print_.mtime_ns,
            "inode": print_.inode,
            "read_ns": print_.read_ns,
            "etag": print_.etag,
            "declared_type": info.declared_type,
            "updated_at": info.updated_at or now_ms(),
        }
        if known is None:
            columns |= {"uuid": info.id.bytes, "created_at": info.created_at or now_ms()}
            names, marks = ", ".join(columns), ", ".join("?" * len(columns))
            self.connection.execute(f"INSERT INTO documents ({names}) VALUES ({marks})", tuple(columns.values()))
        else:
            changes = ", ".join(f"{name} = ?" for name in columns)
            self.connection.execute(f"UPDATE documents SET {changes} WHERE id = ?", (*columns.values(), known[0]))
            self._bury(known[2], known[1])
        if draft.original is not None:
            kept = (info.content_hash, draft.original)
            self.connection.execute("INSERT OR IGNORE INTO originals VALUES (?, ?)", kept)
        self.connection.execute("UPDATE contents SET released_at = NULL WHERE id = ?", (content,))
        self.connection.execute("DELETE FROM ledger WHERE collection = ? AND path = ?", (collection, info.path))
        fields = self._fields_of(content, info.title, info.path) if draft.content is None else prepared.fields
        if prepared.chunk_rows or draft.content is None:
            self._entries.append(
                Entry(ref_of(version, ordinal), version, collection, each) for ordinal, each in enumerate(fields)
            )

    def delete(self, document: UUID) -> tuple[Any, ...] | None:
        """Take a document out; returns its collection, path, origin and fingerprint columns, or None."""
        found = self._row(
            "SELECT collection, path, origin, size, mtime_ns, inode, read_ns, id, version, content "
            "FROM documents WHERE uuid = ?",
            document.bytes,
        )
        if found is None:
            return None
        *described, identifier, version, content = found
        self.connection.execute("DELETE FROM documents WHERE id = ?", (identifier,))
        self._bury(version, content)
        return tuple(described)

    def collection_id(self, name: str) -> int:
        """The id of a collection that must be there."""
        found = self._row("SELECT id FROM collections WHERE name = ?", name)
        if found is None:
            raise NotFoundError(f"There is no collection named {name!r}.", hint="See them: dowse collection list")
        return int(found[0])

    def publish(self) -> None:
        """Step 2: everything that the commit of SQLite will make live is in tantivy before it."""
        if not self._entries:
            return
        generation = self._meta("lexical")
        if generation is None:
            generation = 1
            LexicalIndex.at(self._directory, generation).remove()  # of a first writer that died before step 3
            self._set_meta("lexical", generation)
            self._set_meta("analyser", ANALYSER)
        opstamp = LexicalIndex.at(self._directory, generation).commit(
            chain.from_iterable(self._entries), self._dead_before, heap=self._heap
        )
        self.connection.executemany("DELETE FROM tombstones WHERE version = ?", [(v,) for v in self._dead_before])
        remember_commit(self.connection, self._seq, opstamp)

    def _content(self, prepared: Prepared) -> int:
        """The id of the draft's content, stored now if it is new."""
        draft, content = prepared.draft, prepared.draft.content
        known = self._row(
            "SELECT id FROM contents WHERE hash = ? AND recipe = ?", draft.info.content_hash, draft.recipe
        )
        if known is not None:
            return int(known[0])
        if content is None:
            raise StoreError(
                f"The content of {draft.info.file} is not in the index any more.",
                hint="It was cleaned up in this moment: run the same command again.",
            )
        keys = [row[_KEY] for row in prepared.chunk_rows]
        identifier = self.connection.execute(
            "INSERT INTO contents (hash, recipe, title, metadata, text, lines, chunks, missing) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                draft.info.content_hash,
                draft.recipe,
                content.title,
                rows.metadata_to(content.metadata),
                rows.text_to(content.text),
                count_lines(content.text),
                len(keys),
                len(keys) - sum(self._has_vector(key) for key in keys),
            ),
        ).lastrowid
        self.connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(identifier, *row) for row in prepared.chunk_rows],
        )
        return int(identifier or 0)

    def _has_vector(self, key: bytes) -> bool:
        query = "SELECT 1 FROM vectors WHERE key = ? AND model = (SELECT max(id) FROM models)"
        return self._row(query, key) is not None

    def _bury(self, version: int, content: int) -> None:
        self.connection.execute("INSERT INTO tombstones VALUES (?)", (version,))
        self.connection.execute(
            "UPDATE contents SET released_at = ? WHERE id = ? AND id NOT IN (SELECT content FROM documents)",
            (now_ms(), content),
        )

    def _fields_of(self, content: int, title: str, path: str) -> list[dict[str, str]]:
        return lexical_rows(title, path, _chunks_of(self.connection, content))

    def _row(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self.connection.execute(query, values).fetchone()
        return row

    def _meta(self, key: str) -> Any:
        return read_meta(self.connection, key)

    def _set_meta(self, key: str, value: Any) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def entries_since(connection: sqlite3.Connection, seq: int) -> Iterator[Entry]:
    """The entries of every live version that became live after this change, made anew from the truth."""
    documents = connection.execute(
        "SELECT version, collection, title, path, content FROM documents WHERE seq > ? ORDER BY version", (seq,)
    ).fetchall()
    for version, collection, title, path, content in documents:
        for ordinal, fields in enumerate(lexical_rows(title, path, _chunks_of(connection, content))):
            yield Entry(ref_of(version, ordinal), version, collection, fields)


def read_meta(connection: sqlite3.Connection, key: str) -> Any:
    """A value of the `meta` table, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row and row[0]


def remember_commit(connection: sqlite3.Connection, seq: int, opstamp: int) -> None:
    """From this change on, SQLite relies on tantivy being at least at this commit."""
    connection.execute("INSERT OR REPLACE INTO lexical_commits VALUES (?, ?)", (seq, opstamp))
    connection.execute("DELETE FROM lexical_commits WHERE seq < ?", (seq - _COMMITS_KEPT,))


def _chunk_rows(content: Content) -> Iterator[tuple[Any, ...]]:
    starts = iter(_byte_offsets(content.text, [offset for c in content.chunks for offset in (c.start, c.end)]))
    for ordinal, chunk in enumerate(content.chunks):
        embedded = embedding_text(content.title, chunk.headings, chunk.text)
        yield (
            ordinal,
            chunk.start,
            chunk.end,
            next(starts),
            next(starts),
            chunk.first_line,
            chunk.last_line,
            chunk.tokens,
            rows.headings_to(chunk.headings),
            chunk.level,
            chunk.page,
            rows.metadata_to(chunk.place),
            vector_key(embedded),
            len(embedded),
        )


def _byte_offsets(text: str, offsets: Sequence[int]) -> Iterable[int]:
    """Character offsets as offsets in the UTF-8 of the text."""
    if text.isascii():
        return offsets
    byte_of, byte, last = {}, 0, 0
    for offset in sorted(set(offsets)):
        byte += len(text[last:offset].encode())
        byte_of[offset] = byte
        last = offset
    return [byte_of[offset] for offset in offsets]


def _chunks_of(connection: sqlite3.Connection, content: int) -> list[Chunk]:
    query = (
        f"SELECT {rows.CHUNK_COLUMNS}, {rows.CHUNK_TEXT} FROM chunks c JOIN contents n ON n.id = c.content "
        "WHERE c.content = ? ORDER BY c.ordinal"
    )
    return [rows.chunk_from(row[:-1], row[-1]) for row in connection.execute(query, (content,))]
