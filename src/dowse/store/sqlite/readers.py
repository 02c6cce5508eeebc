"""How readers see the store: idle connections, and snapshots whose parts belong together."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from dowse.errors import StoreError
from dowse.store.sqlite import care
from dowse.store.sqlite.database import Momentary, connect_reader, in_our_words, sqlite_in_our_words
from dowse.store.sqlite.lexical import LexicalIndex, LexicalView
from dowse.store.sqlite.models import held
from dowse.store.sqlite.passages import Passages
from dowse.store.sqlite.snapshot import WORDS_DAMAGED, Derived, SqliteSnapshot
from dowse.store.sqlite.vector_files import OpenVectors
from dowse.store.sqlite.writing import read_meta
from dowse.text.analyse import ANALYSER

_LOAD_ATTEMPTS = 50
_REMEDY = "Mend it: dowse doctor --repair"
OTHER_ANALYSER = (
    "The word index was made by another version of the analyser, so some words may be missed. "
    "Make it anew: dowse update"
)


class Readers:
    """The reading half of a store; any number of threads may read at once."""

    def __init__(self, directory: Path, database: Path, upgrade: Callable[[], None], max_memory: int = 0) -> None:
        self._max_memory = max_memory
        self._directory = directory
        self._database = database
        self._database_name = str(database)  # each search asks whether it is still there
        self._upgrade = upgrade
        self._guard = threading.Lock()  # over the fields below
        self._idle: list[sqlite3.Connection] = []
        self._derived: tuple[int, Derived] | None = None
        self._closed = False

    def snapshot(self) -> AbstractContextManager[SqliteSnapshot]:
        """See `ports.Store.snapshot`."""
        return _Reading(self)

    def open_snapshot(self) -> tuple[sqlite3.Connection, SqliteSnapshot]:
        """A connection in a transaction, to be released, and what is seen by it."""
        connection = None
        try:
            connection = self._reader()
            return connection, SqliteSnapshot(connection, self._directory, self._begin(connection))
        except BaseException as error:
            if connection is not None:
                self.release(connection)
            self.say_in_our_words(error, in_our_words)
            raise

    def say_in_our_words(self, error: BaseException, words: Callable[[Path], AbstractContextManager[None]]) -> None:
        """Raise what an error means, where that is known. Only now: each search would pay for words that few need."""
        if isinstance(error, Exception):
            with words(self._directory):
                raise error

    def _reader(self) -> sqlite3.Connection:
        with self._guard:
            self.check_open()
            if self._idle:
                return self._idle.pop()
        return connect_reader(self._database, self._upgrade)

    def release(self, connection: sqlite3.Connection) -> None:
        """End the transaction, and keep the connection for the next one."""
        connection.rollback()
        is_there = os.access(self._database_name, os.F_OK)  # a third of what `exists` takes, with every search
        with self._guard:
            if not isinstance(connection, Momentary) and is_there and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _begin(self, connection: sqlite3.Connection) -> Derived:
        """Start a transaction together with a view of the derived indexes that fits it.

        They are opened between two looks at the change number. When both are equal, tantivy holds
        everything live at that number (its commit came first), and nothing live has left it yet
        (entries leave with a later change). Otherwise a writer was faster: look again.
        """
        for _ in range(_LOAD_ATTEMPTS):
            connection.execute("BEGIN")
            seq = read_meta(connection, "seq")
            with self._guard:
                cached = self._derived
            if cached is not None and cached[0] == seq:
                return cached[1]
            derived = self._load(connection)
            connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            if read_meta(connection, "seq") == seq:
                with self._guard:
                    self._derived = (seq, derived)
                return derived
            connection.execute("ROLLBACK")
        connection.execute("BEGIN")
        note = "The index changes faster than it can be read: some answers may be missing."
        return replace(derived, notes=(*derived.notes, note))

    def _load(self, connection: sqlite3.Connection) -> Derived:
        lexical, word_notes = self._load_lexical(connection)
        vectors, vector_notes = self._load_vectors(connection)
        return Derived(
            lexical=lexical,
            last_version=int(read_meta(connection, "version")),
            dead=frozenset(row[0] for row in connection.execute("SELECT version FROM tombstones")),
            vectors=vectors,
            notes=(*word_notes, *vector_notes),
            passages=Passages(self._max_memory),
        )

    def _load_lexical(self, connection: sqlite3.Connection) -> tuple[LexicalView | None, list[str]]:
        generation = read_meta(connection, "lexical")
        if generation is None:
            return None, []
        index = LexicalIndex.at(self._directory, generation)
        needed = care.needed_opstamp(connection)
        there = index.opstamp()
        try:
            view = index.load()
        except OSError:
            return None, [WORDS_DAMAGED]
        if read_meta(connection, "analyser") != ANALYSER:
            return view, [OTHER_ANALYSER]
        if there is None or there < needed:
            return view, [f"The word index is behind, so words may miss the latest documents. {_REMEDY}"]
        return view, []

    def _load_vectors(self, connection: sqlite3.Connection) -> tuple[OpenVectors | None, list[str]]:
        model = next(iter(held(connection)), None)
        if model is None:
            return None, []
        vectors = model.files(self._directory).open()
        missing = model.rows - vectors.rows()
        if missing <= 0:
            return vectors, []
        return vectors, [f"The vector files lack {missing} of {model.rows} rows, so meaning misses these. {_REMEDY}"]

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction without the derived indexes."""
        with in_our_words(self._directory):
            connection = self._reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self.release(connection)

    def check_open(self) -> None:
        """Raise for a store that was closed."""
        if self._closed:
            raise StoreError("The index is closed.", hint="Open it again: dowse.open()")

    def close(self) -> None:
        """Close the idle connections; those in use close when they are released."""
        with self._guard:
            connections, self._idle = self._idle, []
            self._derived = None
            self._closed = True
        for connection in connections:
            connection.close()


class _Reading:
    """A snapshot for a `with`: a class, for a generator would cost each search twice as much."""

    __slots__ = ("_connection", "_readers")

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> SqliteSnapshot:
        self._connection, snapshot = self._readers.open_snapshot()
        return snapshot

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if error is not None:
                self._readers.say_in_our_words(error, sqlite_in_our_words)
        finally:
            if self._connection is not None:
                self._readers.release(self._connection)
