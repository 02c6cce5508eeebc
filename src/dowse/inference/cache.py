"""What models said before, in one small SQLite file of the cache directory.

Two tables: *facts* about models that are dear to find out (the sha256 of a file, the dimensions of an
endpoint), kept for good; and *results* by the hash of everything that they depend on (scores, expansions,
vectors of queries), kept up to a size and an age. Everything in it can be had again, so it never stands in
the way: a file that is locked, damaged, read-only or full costs the saving, not the answer.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

FILE = "model-results-1.sqlite"
MOST_BYTES = 64 << 20
OLDEST = 30 * 86_400
"""Seconds after which a result is asked for again: a service may have been given another model."""

_PATIENCE = 0.2
"""Seconds to wait for another process that writes."""
_CHECKED_EVERY = 100
"""Results between two looks at the size."""
_SIZES = ("page_count", "freelist_count", "page_size")
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB NOT NULL, made INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS results_by_age ON results (made);
"""


def key_of(*parts: str) -> bytes:
    """The key of a result: a digest of every text that it depends on, unmistakably apart."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()


class Cache:
    """Facts and results below one directory. Opened by its first use; safe to share by threads and processes."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES, now: Callable[[], float] = time.time) -> None:
        self._path = folder / FILE
        self._most_bytes = most_bytes
        self._now = now
        self._lock = Lock()
        self._open: sqlite3.Connection | None = None
        self._since_check = 0

    def fact(self, key: str) -> Any:
        """What was remembered under this key, or None."""
        with suppress(sqlite3.Error, OSError, ValueError), self._connection() as connection:
            row = connection.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
            return json.loads(row[0]) if row else None
        return None

    def remember(self, key: str, value: object) -> None:
        """Keep a fact, anything that JSON can say."""
        with suppress(sqlite3.Error, OSError), self._connection() as connection:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, json.dumps(value)))

    def results(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of these results that are there and not too old."""
        found: dict[bytes, bytes] = {}
        with suppress(sqlite3.Error, OSError), self._connection() as connection:
            for key in keys:
                row = connection.execute(
                    "SELECT value FROM results WHERE key = ? AND made > ?", (key, self._now() - OLDEST)
                ).fetchone()
                if row:
                    found[key] = row[0]
        return found

    def put(self, results: Mapping[bytes, bytes]) -> None:
        """Keep these results; the oldest ones leave when there are too many."""
        made = int(self._now())
        with suppress(sqlite3.Error, OSError), self._connection() as connection:
            rows = [(key, value, made) for key, value in results.items()]
            connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
            self._since_check -= len(rows)
            if self._since_check < 0:
                self._since_check = _CHECKED_EVERY
                self._shrink(connection)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._drop()

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Too old ones go, and the older half of all when the used pages are too many."""
        connection.execute("DELETE FROM results WHERE made <= ?", (self._now() - OLDEST,))
        sizes = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _SIZES)
        pages, free, size = sizes
        if (pages - free) * size > self._most_bytes:
            connection.execute(
                "DELETE FROM results WHERE key IN"
                " (SELECT key FROM results ORDER BY made LIMIT (SELECT count(*) / 2 FROM results))"
            )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one caller at a time and in one transaction."""
        with self._lock:
            try:
                if self._open is None:
                    self._open = _open(self._path)
                with self._open:
                    yield self._open
            except sqlite3.OperationalError:
                raise  # busy, read-only, full: it may be good again later
            except sqlite3.DatabaseError:
                self._drop()
                _remove(self._path)  # damaged: a new one is as good
                raise

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")  # losing the last results to a power cut is no loss
        connection.executescript(_TABLES)
    except UnicodeDecodeError as error:  # SQLite names what is damaged, in the bytes that it found there
        connection.close()
        raise sqlite3.DatabaseError("the file is damaged") from error
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()
