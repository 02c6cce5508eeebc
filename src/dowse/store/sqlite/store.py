"""The Store port on SQLite: snapshots for readers, one transaction at a time for the writer."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from dowse.durable import make_folder
from dowse.errors import ConflictError, NotFoundError
from dowse.logs import timed
from dowse.store.sqlite import care, models, rows
from dowse.store.sqlite.database import connect_writer, in_our_words
from dowse.store.sqlite.heap import share_heap
from dowse.store.sqlite.lexical import WRITER_BYTES
from dowse.store.sqlite.lock import WriterLock
from dowse.store.sqlite.readers import Readers
from dowse.store.sqlite.snapshot import SqliteSnapshot
from dowse.store.sqlite.writing import Writing, prepare
from dowse.text.passage import embedding_text
from dowse.types import (
    Collection,
    Context,
    Draft,
    Finding,
    Fingerprint,
    Known,
    LedgerEntry,
    ModelIdentity,
    TransferReport,
    now_ms,
)

if TYPE_CHECKING:
    from dowse.ports import Vector


class SqliteStore:
    """See `ports.Store`. Opening reads nothing and writes nothing; the first write makes the files."""

    def __init__(
        self, directory: Path, *, create: bool = True, lock_timeout: float = 30.0, max_memory: int = 0
    ) -> None:
        self.directory = directory
        self._sparing = bool(max_memory)
        if max_memory:
            share_heap()
        self._heap = min(WRITER_BYTES, max_memory // 8) if max_memory else WRITER_BYTES
        self._database = directory / "dowse.db"
        with in_our_words(directory):
            if not create and not self._database.exists():
                raise NotFoundError(
                    f"There is no index at {directory}.", hint="Make one: dowse collection add PATH, or check --index."
                )
        self._lock = WriterLock(directory / "writer.lock", lock_timeout)
        self._writer: sqlite3.Connection | None = None
        self._readers = Readers(directory, self._database, self._upgrade, max_memory)

    def snapshot(self) -> AbstractContextManager[SqliteSnapshot]:
        """See `ports.Store.snapshot`."""
        return self._readers.snapshot()

    # Writing

    @contextmanager
    def _writing(self) -> Iterator[Writing]:
        with in_our_words(self.directory):
            make_folder(self.directory)
            with timed("store.write"), self._lock.held():
                connection = self._connection()
                care.recover(connection, self.directory)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    writing = Writing(connection, self.directory, self._heap)
                    yield writing
                    writing.publish()
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise

    def _connection(self) -> sqlite3.Connection:
        """The writer's connection; only whoever holds the lock uses it."""
        self._readers.check_open()
        if self._writer is None:
            self._writer = connect_writer(self._database)
        return self._writer

    def _upgrade(self) -> None:
        """Bring an index of an earlier layout to this one, with all that is derived from it."""
        with self._lock.held():
            care.recover(self._connection(), self.directory)

    def put_collection(self, collection: Collection) -> None:
        """See `ports.Store.put_collection`."""
        with self._writing() as writing:
            marks = ", ".join("?" * len(rows.COLLECTION_COLUMNS.split(", ")))
            changes = ", ".join(
                f"{column} = excluded.{column}"
                for column in rows.COLLECTION_COLUMNS.split(", ")
                if column not in {"name", "created_at"}
            )
            writing.connection.execute(
                f"INSERT INTO collections ({rows.COLLECTION_COLUMNS}) VALUES ({marks}) "
                f"ON CONFLICT (name) DO UPDATE SET {changes}",
                rows.collection_to(collection),
            )

    def rename_collection(self, name: str, new_name: str) -> None:
        """See `ports.Store.rename_collection`."""
        with self._writing() as writing:
            identifier = writing.collection_id(name)
            try:
                writing.connection.execute("UPDATE collections SET name = ? WHERE id = ?", (new_name, identifier))
            except sqlite3.IntegrityError:
                raise ConflictError(
                    f"There is already a collection named {new_name!r}.", hint="Choose another name."
                ) from None

    def drop_collection(self, name: str) -> int:
        """See `ports.Store.drop_collection`."""
        with self._writing() as writing:
            identifier = writing.collection_id(name)
            documents = writing.connection.execute(
                "SELECT uuid FROM documents WHERE collection = ?", (identifier,)
            ).fetchall()
            for (uuid,) in documents:
                writing.delete(UUID(bytes=uuid))
            writing.connection.execute("DELETE FROM collections WHERE id = ?", (identifier,))
        return len(documents)

    def put_context(self, context: Context) -> None:
        """See `ports.Store.put_context`."""
        with self._writing() as writing:
            collection = None if context.collection is None else writing.collection_id(context.collection)
            writing.connection.execute(
                "DELETE FROM contexts WHERE collection IS ? AND prefix = ?", (collection, context.prefix)
            )
            writing.connection.execute(
                "INSERT INTO contexts VALUES (?, ?, ?)", (collection, context.prefix, context.text)
            )

    def drop_context(self, collection: str | None, prefix: str) -> bool:
        """See `ports.Store.drop_context`."""
        with self._writing() as writing:
            return bool(
                writing.connection.execute(
                    "DELETE FROM contexts WHERE prefix = ?1 AND collection IS "
                    "(SELECT id FROM collections WHERE name = ?2) AND (?2 IS NULL OR collection IS NOT NULL)",
                    (prefix, collection),
                ).rowcount
            )

    def put(self, drafts: Sequence[Draft]) -> None:
        """See `ports.Store.put`."""
        prepared = [prepare(draft, sparing=self._sparing) for draft in drafts]
        with self._writing() as writing:
            for each in prepared:
                writing.put(each)

    def restat(self, collection: str, fingerprints: Mapping[str, Fingerprint]) -> None:
        """See `ports.Store.restat`."""
        with self._writing() as writing:
            identifier = writing.collection_id(collection)
            values = [
                (each.size, each.mtime_ns, each.inode, each.read_ns, each.etag, identifier, path)
                for path, each in fingerprints.items()
            ]
            for table, columns in {"documents": ", etag = ?5", "ledger": ""}.items():
                writing.connection.executemany(
                    f"UPDATE {table} SET size = ?1, mtime_ns = ?2, inode = ?3, read_ns = ?4{columns} "
                    "WHERE collection = ?6 AND path = ?7",
                    values,
                )

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """See `ports.Store.record`."""
        with self._writing() as writing:
            for entry in entries:
                self._record(writing, writing.collection_id(entry.collection), entry)

    def _record(self, writing: Writing, collection: int, entry: LedgerEntry) -> None:
        print_ = entry.fingerprint
        writing.connection.execute(
            "INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                collection,
                entry.path,
                entry.state,
                entry.code,
                entry.reason,
                entry.hint,
                entry.at or now_ms(),
                print_.size,
                print_.mtime_ns,
                print_.inode,
                print_.read_ns,
            ),
        )

    def delete(self, documents: Sequence[UUID], *, exclude: bool = False) -> int:
        """See `ports.Store.delete`."""
        deleted = 0
        with self._writing() as writing:
            for document in documents:
                gone = writing.delete(document)
                if gone is None:
                    continue
                deleted += 1
                collection, path, origin, *print_ = gone
                if exclude and origin == "walked":
                    entry = LedgerEntry(
                        "",
                        path,
                        "excluded",
                        "excluded",
                        "It was deleted from the index by hand.",
                        "Ingest it again to bring it back.",
                        fingerprint=Fingerprint(*print_),
                    )
                    self._record(writing, collection, entry)
        return deleted

    def forget(self, collection: str, paths: Sequence[str]) -> None:
        """See `ports.Store.forget`."""
        with self._writing() as writing:
            identifier = writing.collection_id(collection)
            writing.connection.executemany(
                "DELETE FROM ledger WHERE collection = ? AND path = ?", [(identifier, path) for path in paths]
            )

    # What is known, for the comparison with the disk

    def fingerprints(self, collection: str, paths: Sequence[str] | None = None) -> Mapping[str, Known]:
        """See `ports.Store.fingerprints`."""
        known: dict[str, Known] = {}
        chosen = "" if paths is None else "AND {}.path IN (SELECT value FROM json_each(?))"
        given = (collection,) if paths is None else (collection, json.dumps(list(paths)))
        with self._readers.reading() as connection:
            for path, state, code, *print_ in connection.execute(
                "SELECT g.path, g.state, g.code, g.size, g.mtime_ns, g.inode, g.read_ns FROM ledger g "
                f"JOIN collections l ON l.id = g.collection WHERE l.name = ? {chosen.format('g')}",
                given,
            ):
                known[path] = Known(Fingerprint(*print_), state=state, code=code)
            for path, digest, uuid, origin, recipe, media_type, declared, metadata, *print_ in connection.execute(
                "SELECT d.path, n.hash, d.uuid, d.origin, n.recipe, d.media_type, d.declared_type, d.metadata, "
                "d.size, d.mtime_ns, d.inode, d.read_ns, d.etag "
                f"FROM {rows.DOCUMENT_TABLES} WHERE l.name = ? {chosen.format('d')}",
                given,
            ):
                known[path] = Known(
                    Fingerprint(*print_),
                    digest,
                    UUID(bytes=uuid),
                    origin,
                    recipe,
                    media_type=media_type,
                    declared_type=declared,
                    metadata=rows.metadata_from(metadata),
                )
        return known

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """See `ports.Store.known`."""
        query = "SELECT title FROM contents WHERE hash = ? AND recipe = ?"
        with self._readers.reading() as connection:
            found = {key: connection.execute(query, key).fetchone() for key in keys}
        return {key: row[0] for key, row in found.items() if row is not None}

    def original(self, content_hash: str) -> bytes | None:
        """See `ports.Store.original`."""
        with self._readers.reading() as connection:
            row = connection.execute("SELECT data FROM originals WHERE hash = ?", (content_hash,)).fetchone()
        return row and bytes(row[0])

    # Vectors

    def unembedded(self, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
        """See `ports.Store.unembedded`."""
        # What is sorted has no texts in it: SQLite would sort each passage together with its whole document.
        chosen = f"SELECT c.content, c.ordinal {_UNEMBEDDED} GROUP BY c.key ORDER BY c.length, c.key LIMIT ?2"
        query = (
            f"SELECT c.length, c.key, n.title, c.headings, {rows.CHUNK_TEXT} FROM ({chosen}) w "
            "CROSS JOIN chunks c ON c.content = w.content AND c.ordinal = w.ordinal JOIN contents n ON n.id = c.content"
        )
        with self._readers.reading() as connection:
            found = connection.execute(query, (rows.identity_to(model), limit)).fetchall()
        return [
            (key, embedding_text(title, rows.headings_from(headings), text.decode()))
            for _, key, title, headings, text in sorted(found, key=itemgetter(0, 1))
        ]

    def count_unembedded(self, model: ModelIdentity) -> int:
        """See `ports.Store.count_unembedded`."""
        with self._readers.reading() as connection:
            query = f"SELECT count(DISTINCT c.key) {_UNEMBEDDED}"
            return int(connection.execute(query, (rows.identity_to(model),)).fetchone()[0])

    def put_vectors(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """See `ports.Store.put_vectors`."""
        vectors = list(dict(vectors).items())
        if vectors:
            with self._writing() as writing:
                models.put(writing.connection, self.directory, model, vectors)

    def add_model(self, model: ModelIdentity) -> None:
        """See `ports.Store.add_model`."""
        with self._writing() as writing:
            models.room_for(writing.connection, model, as_successor=True)
        self._remove_stale_files()

    def switch_model(self, model: ModelIdentity) -> None:
        """See `ports.Store.switch_model`."""
        with self._writing() as writing:
            models.switch(writing.connection, model)
        self._remove_stale_files()

    def drop_vectors(self) -> None:
        """See `ports.Store.drop_vectors`."""
        with self._writing() as writing:
            writing.connection.execute("DELETE FROM models")
            writing.connection.execute("UPDATE contents SET missing = chunks")
        self._remove_stale_files()

    def _remove_stale_files(self) -> None:
        with in_our_words(self.directory), self._lock.held():
            care.remove_stale_files(self._connection(), self.directory)

    # Care

    def lease(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:  # noqa: ARG002 - see there
        """Everything to all: two processes that embed the same text on one machine do no harm."""
        return frozenset(names)

    def cleanup(self, older_than_ms: int) -> int:
        """See `ports.Store.cleanup`."""
        with in_our_words(self.directory):
            if not self._database.exists():
                return 0
            with self._lock.held():
                connection = self._connection()
                care.recover(connection, self.directory)
                return care.cleanup(connection, self.directory, now_ms() - older_than_ms)

    def check(self, *, deep: bool = False) -> list[Finding]:
        """See `ports.Store.check`."""
        return care.check(self.directory, self._database, deep=deep)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """See `ports.Store.rebuild`."""
        with in_our_words(self.directory):
            if not self._database.exists():
                return
            with self._lock.held():
                care.rebuild(self._connection(), self.directory, progress)

    def backup(self, file: Path, *, replace: bool = False) -> TransferReport:
        """Write everything that cannot be made anew to one file; see `backup.write_backup`."""
        from dowse.store.sqlite.backup import write_backup  # a search need not load what packs and unpacks

        with in_our_words(self.directory):
            return write_backup(self._database, file, self._upgrade, replace=replace)

    def restore(self, file: Path, *, force: bool = False) -> TransferReport:
        """Put what a backup holds in the place of this index; see `backup.restore`."""
        from dowse.store.sqlite.backup import restore

        with in_our_words(self.directory):
            make_folder(self.directory)
            with self._lock.held():
                self._readers.check_open()
                if self._writer is not None:
                    self._writer.close()
                    self._writer = None
                return restore(self.directory, self._database, file, force=force)

    def close(self) -> None:
        """See `ports.Store.close`."""
        self._readers.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None


# Live chunks without a vector of the model ?1. `missing` spares the chunks of contents that the newest has done.
_UNEMBEDDED = (
    "FROM contents n JOIN chunks c ON c.content = n.id "
    "LEFT JOIN models m ON m.identity = ?1 LEFT JOIN vectors v ON v.model = m.id AND v.key = c.key "
    "WHERE v.id IS NULL AND (n.missing > 0 OR m.id IS NOT (SELECT max(id) FROM models)) "
    "AND n.id IN (SELECT content FROM documents)"
)
