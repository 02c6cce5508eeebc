"""Care for what is derived: catch up after a crash, examine, rebuild, free what nobody uses."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from dowse.errors import DowseError, StoreCorruptError
from dowse.logs import log, timed
from dowse.store.sqlite.counting import bytes_below
from dowse.store.sqlite.database import MIGRATIONS, ONLY_A_BACKUP, connect_reader, in_our_words
from dowse.store.sqlite.lexical import LexicalIndex
from dowse.store.sqlite.lock import holder
from dowse.store.sqlite.models import Held, give_up_successor, held, next_generation
from dowse.store.sqlite.vector_files import VectorFiles
from dowse.store.sqlite.writing import entries_since, read_meta, remember_commit
from dowse.text.analyse import ANALYSER
from dowse.types import Finding, ref_of, version_of

_REBUILD_ENTRIES = 20_000  # per tantivy commit: bounds memory
_VECTOR_ROWS = 10_000  # copied at a time
_MOST_WASTE = 0.1  # of the entries of the word index may be dead before cleaning up builds it anew
RESTORING = ".restoring-"
"""How the folder of a restore begins; the writer that finds one has outlived it."""

Progress = Callable[[int, int], None]


def needed_opstamp(connection: sqlite3.Connection) -> int:
    """The tantivy commit that SQLite relies on."""
    return int(connection.execute("SELECT ifnull(max(opstamp), 0) FROM lexical_commits").fetchone()[0])


def recover(connection: sqlite3.Connection, directory: Path) -> None:
    """Bring the derived indexes to where SQLite says that they are. The writer does this before each write.

    Ahead: a crash hit between the two commits, and the extra entries go. Behind: what is missing is
    replayed from the change numbers. Missing, damaged, or made by another analyser: rebuilt.
    """
    generation = read_meta(connection, "lexical")
    if generation is not None:
        index = LexicalIndex.at(directory, generation)
        there, needed = index.opstamp(), needed_opstamp(connection)
        if there is None or read_meta(connection, "analyser") != ANALYSER or index.problem():
            with timed("words.rebuilt"):
                rebuild_lexical(connection, directory, None)
        elif there != needed:
            log("words.caught_up", "info", there=there, needed=needed)
            _catch_up(connection, index, there, needed)
    _restore_vectors(connection, directory)


def _catch_up(connection: sqlite3.Connection, index: LexicalIndex, there: int, needed: int) -> None:
    seq = int(read_meta(connection, "seq"))
    if there > needed:
        opstamp = index.commit((), newer_than=int(read_meta(connection, "version")))
    else:
        applied = connection.execute(
            "SELECT ifnull(max(seq), 0) FROM lexical_commits WHERE opstamp <= ?", (there,)
        ).fetchone()[0]
        # What died since then stands in it again, and no tombstone is left that would say so.
        kept = {row[0] for row in connection.execute("SELECT version FROM documents WHERE seq <= ?", (applied,))}
        dead = {version_of(ref) for ref in index.load().refs()} - kept
        opstamp = index.commit(entries_since(connection, applied), sorted(dead))
        connection.execute("DELETE FROM lexical_commits WHERE opstamp > ?", (there,))
    remember_commit(connection, seq, opstamp)


def rebuild(connection: sqlite3.Connection, directory: Path, progress: Progress | None) -> None:
    """Make everything anew that is derived: SQLite's own indexes where they are damaged, words, vectors."""
    verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        connection.execute("REINDEX")
        verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreCorruptError(f"The database in {directory} is damaged: {verdict}.", hint=ONLY_A_BACKUP)
    rebuild_lexical(connection, directory, progress)
    rebuild_vectors(connection, directory)


def rebuild_lexical(connection: sqlite3.Connection, directory: Path, progress: Progress | None) -> None:
    """Build a new generation beside the old one, which answers until SQLite names the new one."""
    old = int(read_meta(connection, "lexical") or 0)
    new = old + 1
    index = LexicalIndex.at(directory, new)
    index.remove()
    total = connection.execute(
        "SELECT ifnull(sum(n.chunks), 0) FROM documents d JOIN contents n ON n.id = d.content"
    ).fetchone()[0]
    entries = entries_since(connection, -1)
    opstamp, done = index.commit(()), 0
    while batch := list(islice(entries, _REBUILD_ENTRIES)):
        opstamp = index.commit(batch)
        done += len(batch)
        if progress:
            progress(done, total)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [("lexical", new), ("analyser", ANALYSER)])
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
    connection.execute("DELETE FROM tombstones")
    connection.execute("DELETE FROM lexical_commits")
    remember_commit(connection, int(read_meta(connection, "seq")), opstamp)
    connection.execute("COMMIT")
    remove_stale_files(connection, directory)


def rebuild_vectors(connection: sqlite3.Connection, directory: Path) -> None:
    """Write vector files of a new generation, without the rows of vectors that are gone."""
    for model in held(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _rebuild_vectors_of(connection, directory, model)
            connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    remove_stale_files(connection, directory)


def _rebuild_vectors_of(connection: sqlite3.Connection, directory: Path, model: Held) -> None:
    new = next_generation(connection)
    files, count = VectorFiles(directory, new, model.dims), 0
    for part in _vector_parts(connection, model.id, -1):
        moved = [(each, count + place, blob) for place, (each, _, blob) in enumerate(part)]
        _write_vectors(files, moved, model.dims)
        # Rows only move down, so that a new number never meets one that is still in use.
        connection.executemany("UPDATE vectors SET row = ? WHERE id = ?", [(row, each) for each, row, _ in moved])
        count += len(moved)
    connection.execute("UPDATE models SET generation = ?, rows = ? WHERE id = ?", (new, count, model.id))


def _restore_vectors(connection: sqlite3.Connection, directory: Path) -> None:
    """Write the rows that the vector files should have and do not."""
    for model in held(connection):
        files = model.files(directory)
        there = files.rows_on_disk()
        if there < model.rows:
            log("vectors.restored", "info", there=there, needed=model.rows)
            for part in _vector_parts(connection, model.id, there - 1):
                _write_vectors(files, part, model.dims)


def _vector_parts(connection: sqlite3.Connection, model: int, after_row: int) -> Iterator[list[tuple[int, int, bytes]]]:
    while part := connection.execute(
        "SELECT id, row, vector FROM vectors WHERE model = ? AND row > ? ORDER BY row LIMIT ?",
        (model, after_row, _VECTOR_ROWS),
    ).fetchall():
        after_row = part[-1][1]
        yield part


def _write_vectors(files: VectorFiles, part: list[tuple[int, int, bytes]], dims: int) -> None:
    """Write vectors (id, row, blob) at their rows; gaps between them become zeros."""
    from dowse.store.sqlite.vectors import from_blobs

    first = part[0][1]
    files.write(first, from_blobs([row - first for _, row, _ in part], [blob for _, _, blob in part], dims))


def remove_stale_files(connection: sqlite3.Connection, directory: Path) -> None:
    """Delete the derived files of generations that SQLite no longer names."""
    lexical = read_meta(connection, "lexical")
    current = {f"vectors-{model.generation}" for model in held(connection)}
    for path in directory.glob("lexical-*"):
        if path.name != f"lexical-{lexical}":
            shutil.rmtree(path, ignore_errors=True)
    for path in directory.glob(f"{RESTORING}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in directory.glob("vectors-*"):
        if path.stem not in current:
            # Where another process has it mapped and the system minds, the next cleaning takes it.
            with suppress(PermissionError):
                path.unlink(missing_ok=True)


def cleanup(connection: sqlite3.Connection, directory: Path, released_before: int) -> int:
    """Free contents released before this time, vectors that nothing uses, and the space of both."""
    before = bytes_below(directory)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "DELETE FROM contents WHERE released_at <= ? AND id NOT IN (SELECT content FROM documents)",
        (released_before,),
    )
    connection.execute("DELETE FROM originals WHERE hash NOT IN (SELECT hash FROM contents)")
    dropped = connection.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks)").rowcount
    give_up_successor(connection, released_before)
    dead = [row[0] for row in connection.execute("SELECT version FROM tombstones")]
    connection.execute("COMMIT")
    generation = read_meta(connection, "lexical")
    if dead and generation is not None:
        opstamp = LexicalIndex.at(directory, generation).commit((), dead)
        connection.execute("BEGIN IMMEDIATE")
        # A new number, so that no reader pairs the emptied list with entries that it loaded before.
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
        connection.execute("DELETE FROM tombstones")
        remember_commit(connection, int(read_meta(connection, "seq")), opstamp)
        connection.execute("COMMIT")
    if generation is not None and LexicalIndex.at(directory, generation).waste() > _MOST_WASTE:
        rebuild_lexical(connection, directory, None)
    if dropped:
        rebuild_vectors(connection, directory)
    remove_stale_files(connection, directory)
    connection.execute("VACUUM")
    # Emptying the log waits for readers; the next writer empties it where one is reading now.
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute(f"PRAGMA busy_timeout = {patience}")
    return max(0, before - bytes_below(directory))


def check(directory: Path, database: Path, *, deep: bool) -> list[Finding]:
    """Examine the database, the word index and the vector files; every finding names its remedy."""
    try:
        with in_our_words(directory):
            if not database.exists():
                return [Finding("index", True, f"There is no index at {directory} yet.", "dowse collection add PATH")]
            connection = connect_reader(database)
            try:
                return [
                    _check_database(connection, directory, deep=deep),
                    _check_writer(directory),
                    _check_lexical(connection, directory, deep=deep),
                    _check_vectors(connection, directory, deep=deep),
                ]
            finally:
                connection.close()
    except DowseError as error:
        return [Finding("database", False, error.message, error.hint)]


def _check_database(connection: sqlite3.Connection, directory: Path, *, deep: bool) -> Finding:
    verdict = connection.execute(f"PRAGMA {'integrity_check' if deep else 'quick_check'}(1)").fetchone()[0]
    strays = connection.execute("PRAGMA foreign_key_check").fetchone()
    if verdict != "ok" or strays:
        problem = verdict if verdict != "ok" else f"a row of {strays[0]} refers to nothing"
        hint = f"Try `dowse doctor --repair`. If that cannot mend it: {ONLY_A_BACKUP}"
        return Finding("database", False, f"The database in {directory} is damaged: {problem}.", hint)
    said = f"The database is sound (layout {len(MIGRATIONS)}, SQLite {sqlite3.sqlite_version})."
    return Finding("database", True, said)


def _check_writer(directory: Path) -> Finding:
    who = holder(directory / "writer.lock")
    message = f"{who} is writing." if who else "Nobody is writing; the lock is free."
    return Finding("lock", True, message)


def _check_lexical(connection: sqlite3.Connection, directory: Path, *, deep: bool) -> Finding:
    mend = "Make it anew: dowse doctor --repair"
    generation = read_meta(connection, "lexical")
    if generation is None:
        return Finding("words", True, "There is no word index yet.")
    if read_meta(connection, "analyser") != ANALYSER:
        return Finding("words", False, "The word index was made by another version of the analyser.", mend)
    index = LexicalIndex.at(directory, generation)
    there = index.opstamp()
    if there is None:
        return Finding("words", False, "The word index is missing or damaged.", mend)
    if there < needed_opstamp(connection):
        return Finding("words", False, "The word index is behind the database.", mend)
    if problem := index.problem(thorough=deep):
        return Finding("words", False, f"The word index is damaged: {problem}.", mend)
    if deep:
        held = set(index.load().refs())
        live = {
            ref_of(version, ordinal)
            for version, ordinal in connection.execute(
                "SELECT d.version, c.ordinal FROM documents d JOIN chunks c ON c.content = d.content"
            )
        }
        if missing := live - held:
            return Finding("words", False, f"The word index lacks {len(missing)} of {len(live)} passages.", mend)
    return Finding("words", True, "The word index is complete.")


def _check_vectors(connection: sqlite3.Connection, directory: Path, *, deep: bool) -> Finding:
    mend = "Make them anew from the database: dowse doctor --repair"
    known = held(connection)
    if not known:
        return Finding("vectors", True, "There are no vectors yet.", "dowse embed")
    for model in known:
        files, count = model.files(directory), model.rows
        there = files.rows_on_disk()
        if there < count:
            return Finding("vectors", False, f"The vector files lack {count - there} of {count} rows.", mend)
        if deep:
            mapped = files.open().map(count)
            parts = _vector_parts(connection, model.id, -1)
            wrong = sum(not mapped.holds(row, blob) for part in parts for _, row, blob in part)
            if wrong:
                return Finding("vectors", False, f"{wrong} of {count} rows of the vector files are damaged.", mend)
    return Finding("vectors", True, "The vector files are complete.")
