"""Connections to the SQLite file, its numbered migrations, and SQLite's errors in our words."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dowse.durable import make_folder
from dowse.errors import (
    DowseError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreVersionError,
    UsageError,
)
from dowse.store.sqlite import rows
from dowse.store.sqlite.lexical import LexicalError

APPLICATION_ID = 0x446F7773  # "Dows": marks the file as ours

# Append only. The number of a migration is its place in this tuple, kept in `user_version`.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    INSERT INTO meta VALUES ('seq', 0), ('version', 0);

    CREATE TABLE collections (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        root TEXT,
        pattern TEXT NOT NULL,
        included INTEGER NOT NULL,
        description TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
    );

    CREATE TABLE contexts (
        collection INTEGER REFERENCES collections (id) ON DELETE CASCADE,
        prefix TEXT NOT NULL,
        text TEXT NOT NULL
    );
    CREATE UNIQUE INDEX contexts_place ON contexts (ifnull(collection, 0), prefix);

    -- What extraction and chunking made of some bytes. Shared by every document with the same bytes.
    CREATE TABLE contents (
        id INTEGER PRIMARY KEY,
        hash TEXT NOT NULL,
        recipe TEXT NOT NULL,
        title TEXT,
        metadata TEXT NOT NULL,
        text BLOB NOT NULL,            -- UTF-8, so that chunks are cut by byte offsets
        lines INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        missing INTEGER NOT NULL,      -- how many of its chunks have no vector
        released_at INTEGER,           -- since when no document uses it
        UNIQUE (hash, recipe)
    );
    CREATE INDEX contents_missing ON contents (id) WHERE missing > 0;

    CREATE TABLE chunks (
        content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        first_byte INTEGER NOT NULL,
        last_byte INTEGER NOT NULL,
        first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        headings TEXT NOT NULL,
        level INTEGER NOT NULL,
        page INTEGER,
        place TEXT NOT NULL,
        key BLOB NOT NULL,             -- hash of the text that is embedded
        length INTEGER NOT NULL,       -- of that text, in characters
        PRIMARY KEY (content, ordinal)
    ) WITHOUT ROWID;
    CREATE INDEX chunks_key ON chunks (key);

    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        uuid BLOB NOT NULL UNIQUE,
        collection INTEGER NOT NULL REFERENCES collections (id),
        path TEXT NOT NULL,
        uri TEXT NOT NULL,
        title TEXT NOT NULL,
        content INTEGER NOT NULL REFERENCES contents (id),
        version INTEGER NOT NULL UNIQUE,  -- new on every change; what tantivy's entries carry
        seq INTEGER NOT NULL,             -- the change that made this version live
        media_type TEXT NOT NULL,
        origin TEXT NOT NULL,
        metadata TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        read_ns INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (collection, path)
    );
    CREATE INDEX documents_content ON documents (content);
    CREATE INDEX documents_seq ON documents (seq);

    -- Paths that are not documents, and why.
    CREATE TABLE ledger (
        collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        state TEXT NOT NULL,
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        hint TEXT NOT NULL,
        at INTEGER NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        read_ns INTEGER NOT NULL,
        PRIMARY KEY (collection, path)
    ) WITHOUT ROWID;

    CREATE TABLE models (
        id INTEGER PRIMARY KEY,
        identity TEXT NOT NULL UNIQUE,
        dims INTEGER NOT NULL,
        generation INTEGER NOT NULL,   -- which vector files
        rows INTEGER NOT NULL          -- how many rows of them count
    );
    CREATE TABLE vectors (
        id INTEGER PRIMARY KEY,
        model INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
        row INTEGER NOT NULL,
        key BLOB NOT NULL,
        vector BLOB NOT NULL,          -- float32, little endian, unit length
        UNIQUE (model, key),
        UNIQUE (model, row)
    );

    -- Versions that are dead but may still stand in tantivy.
    CREATE TABLE tombstones (version INTEGER PRIMARY KEY);
    -- Which tantivy commit (opstamp) each change relies on.
    CREATE TABLE lexical_commits (seq INTEGER PRIMARY KEY, opstamp INTEGER NOT NULL);
    """,
    """
    ALTER TABLE collections ADD COLUMN exclude TEXT NOT NULL DEFAULT '';       -- a glob per line
    ALTER TABLE collections ADD COLUMN chunking TEXT NOT NULL DEFAULT '';      -- JSON; empty: as configured
    ALTER TABLE collections ADD COLUMN settings TEXT NOT NULL DEFAULT '';      -- JSON, an interface's own
    ALTER TABLE documents ADD COLUMN etag TEXT NOT NULL DEFAULT '';
    ALTER TABLE documents ADD COLUMN declared_type TEXT NOT NULL DEFAULT '';   -- the user's word on the media type
    -- The bytes of documents that have no address to read them from again.
    CREATE TABLE originals (hash TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
    """,
    """
    -- The model with the lowest id answers; another one is its successor, whose vectors are being made.
    ALTER TABLE models ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0;       -- when it got its last vector
    -- What `status` adds up stands behind the texts, which need not be read for it.
    CREATE INDEX contents_counts ON contents (id, chunks, missing);
    """,
)

_OWNER = """
    SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), count(*)
    FROM sqlite_schema
"""
"""One statement, so one moment: somebody may be making the index just now."""
_BUSY_SECONDS = 10.0
_PAGE = 8_192  # of a new database: texts of a few KB fill pages of 4 KB badly


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open or create the database for writing, migrated to this version."""
    new = not path.exists()
    if new:
        make_folder(path.parent)
        path.touch(mode=0o600)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
    try:
        # Before anything is written into what may be somebody else's.
        if _check_owner(connection, path) == 0:
            for each in path.parent.glob(f"{path.name}*"):  # begun by somebody who died over it
                each.chmod(0o600)
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.create_function("unpacked", 1, rows.text_from, deterministic=True)
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path, upgrade: Callable[[], None] | None = None) -> sqlite3.Connection:
    """Open the database for reading only; where there is none, or an empty file, an empty one in memory.

    `upgrade` is called for one of an earlier layout: the one case in which reading writes, once per upgrade.
    """
    if not path.exists():
        return _stand_in()
    connection = _connect_read_only(path)
    try:
        version = _check_owner(connection, path)
        if version == 0:  # a writer is making it now, or died over it; the next one will go on
            connection.close()
            return _stand_in()
        if version < len(MIGRATIONS):
            if upgrade is None:
                raise StoreVersionError(
                    f"The index {path.parent} has the layout of an earlier version of Dowse.",
                    hint="Any other command brings it up to date: dowse status",
                )
            connection.close()
            upgrade()
            return connect_reader(path)
    except BaseException:
        connection.close()
        raise
    return connection


class Momentary(sqlite3.Connection):
    """Good for one look: a stand-in for an index that is not there yet, or a file read without its locks."""


def _stand_in() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Momentary)
    connection.create_function("unpacked", 1, rows.text_from, deterministic=True)
    _migrate(connection)
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    uri = path.resolve().as_uri()
    kinds: dict[str, type[sqlite3.Connection]] = {"?mode=ro": sqlite3.Connection, "?immutable=1": Momentary}
    for suffix, factory in kinds.items():
        connection = sqlite3.connect(
            uri + suffix,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_SECONDS,
            factory=factory,
        )
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.create_function("unpacked", 1, rows.text_from, deterministic=True)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except BaseException as error:
            connection.close()
            # A directory that is full or that we may not write to has no place for the shared memory of the
            # log. When the log is empty too, nobody is writing, and the file can be read as it lies there.
            log = path.with_name(path.name + "-wal")
            is_quiet = not (log.exists() and log.stat().st_size)
            if isinstance(error, sqlite3.OperationalError) and factory is not Momentary and is_quiet:
                continue
            raise
        return connection
    raise StoreError(f"The index {path.parent} cannot be opened.", hint="Check that you may read it.")


def _check_owner(connection: sqlite3.Connection, path: Path) -> int:
    """Refuse what is not ours or newer than us; returns the schema version."""
    owner, version, tables = connection.execute(_OWNER).fetchone()
    if tables and owner != APPLICATION_ID:
        raise StoreCorruptError(
            f"{path} is a database, but not a Dowse index.", hint="Choose another place with --index NAME|PATH."
        )
    if version > len(MIGRATIONS):
        raise StoreVersionError(
            f"The index {path.parent} was written by a newer Dowse (layout {version}; here {len(MIGRATIONS)}).",
            hint="Upgrade Dowse, or choose another index with --index NAME|PATH.",
        )
    return int(version)


def _migrate(connection: sqlite3.Connection) -> None:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(MIGRATIONS)):
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[number]}"
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {number + 1}; COMMIT;"
        )


ONLY_A_BACKUP = (
    "Restore a backup with `dowse restore FILE --force`, or move the index away and index again: "
    "the documents themselves are untouched."
)
_Saying = tuple[type[DowseError], str, str]
_FULL: _Saying = (StoreFullError, "The disk that holds the index {place} is full.", "Free some space; nothing is lost.")
_READ_ONLY: _Saying = (
    StoreFullError,
    "The index {place} may not be written to.",
    "Check the permissions of that directory, or choose another with --index.",
)
_NO_DIRECTORY: _Saying = (
    StoreError,
    "{place} cannot be the directory of an index: there is a file in its place.",
    "Choose another place with --index NAME|PATH.",
)
# What SQLite or the system says, in lower case -> what we say. The first that fits counts.
_SAYINGS: dict[str, _Saying] = {
    "disk is full": _FULL,
    "no space left": _FULL,
    "quota exceeded": _FULL,
    "sqlite_ioerr_shmsize": _FULL,  # no room for the shared memory beside the log
    "readonly": _READ_ONLY,
    "read-only": _READ_ONLY,
    "file exists": _NO_DIRECTORY,
    "not a directory": _NO_DIRECTORY,
    "unable to open": (
        StoreError,
        "The index {place} cannot be opened.",
        "Check that dowse.db in that directory is a file and that you may read it.",
    ),
    "locked": (StoreLockedError, "The index {place} is busy.", "Try again in a moment."),
    "not a database": (
        StoreCorruptError,
        "The file {place}/dowse.db is not a Dowse index.",
        "Choose another place with --index, or move that file away.",
    ),
    "malformed": (
        StoreCorruptError,
        "The index {place} is damaged.",
        f"Examine it with `dowse doctor --deep`. {ONLY_A_BACKUP}",
    ),
    "i/o error": (
        StoreError,
        "The disk that holds the index {place} failed.",
        "Look at the system's log, then run `dowse doctor --deep`.",
    ),
}


@contextmanager
def in_our_words(place: Path) -> Iterator[None]:
    """Turn the errors of SQLite, tantivy and the file system into ours; the cause stays attached."""
    try:
        with sqlite_in_our_words(place):
            yield
    except LexicalError as error:
        raise StoreCorruptError(
            f"The word index in {place} failed: {error}.", hint="Make it anew: dowse doctor --repair"
        ) from error
    except OSError as error:
        # Without the file's name, which may contain anything.
        problem = error.strerror or type(error).__name__
        _raise_known(problem, place, error)
        raise StoreError(
            f"The index {place} cannot be read or written: {problem}.",
            hint="Check the permissions and the free space of that directory.",
        ) from error


@contextmanager
def sqlite_in_our_words(place: Path) -> Iterator[None]:
    """The same for SQLite's errors alone, where the code inside may fail in ways that are not the store's."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{error.object!r} is not valid Unicode, so that it cannot be in an index.", hint="Write it in UTF-8."
        ) from error
    except sqlite3.Error as error:
        _raise_known(f"{error} {getattr(error, 'sqlite_errorname', '')}", place, error)
        raise StoreError(f"The index {place} failed: {error}.", hint="Examine it with `dowse doctor`.") from error


def _raise_known(problem: str, place: Path, cause: Exception) -> None:
    for saying, (kind, message, hint) in _SAYINGS.items():
        if saying in problem.lower():
            raise kind(message.format(place=place), hint=hint) from cause
