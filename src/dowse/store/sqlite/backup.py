"""An index as one file, and back: a zip of the database alone, for everything else is derived from it.

    dowse.db         a copy by SQLite's backup interface: one moment, whoever writes meanwhile
    manifest.json    what this is, its layout, its size and its sha256

A restore checks all of that, builds the derived files beside those in use, and then lets SQLite copy the
database over the old one in one transaction: whoever reads sees the old index until that commits.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from dowse.durable import new_file
from dowse.errors import ConflictError, NotFoundError, StoreCorruptError, StoreFullError, StoreVersionError
from dowse.store.sqlite import care
from dowse.store.sqlite.database import MIGRATIONS, connect_reader, connect_writer
from dowse.store.sqlite.models import held
from dowse.store.sqlite.writing import read_meta
from dowse.types import TransferReport, now_ms

__all__ = ["FORMAT", "VERSION", "restore", "write_backup"]

FORMAT = "dowse-backup"
VERSION = 1

_DATABASE = "dowse.db"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 1 << 16
_PIECE = 1 << 20
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, OverflowError),
    *(NotImplementedError, RuntimeError),
)
"""What zipfile and json say to files that are none of ours; RuntimeError: encrypted, or nested without end."""
_DAMAGED = "Take another backup: nothing was changed."


def write_backup(database: Path, file: Path, upgrade: Callable[[], None], *, replace: bool) -> TransferReport:
    """Write what the database holds in this moment to a new file; `upgrade` brings an earlier layout up to date."""
    if not database.exists():
        raise NotFoundError(f"There is no index at {database.parent}.", hint="Check --index.")
    with new_file(file, replace=replace) as target, _folder_in(file.parent, ".backing-up-") as folder:
        copy = folder / _DATABASE
        _copy(database, copy, upgrade)
        with closing(sqlite3.connect(copy)) as connection:
            counts = _counts(connection)
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            with copy.open("rb") as source, archive.open(_DATABASE, "w", force_zip64=True) as member:
                digest, size = _stream(source, member)
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "layout": layout,
                "made_at": now_ms(),
                "sha256": digest,
                "bytes": size,
                "documents": counts[0],
                "vectors": counts[1],
            }
            archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
        return TransferReport("", *counts, size=target.tell())


def _copy(database: Path, copy: Path, upgrade: Callable[[], None]) -> None:
    """All pages in one read transaction, so that no writer is in the way and none gets into it."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(connect_reader(database, upgrade)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def restore(directory: Path, database: Path, file: Path, *, force: bool) -> TransferReport:
    """Check a backup and put it in the place of the index; the caller holds the writer's lock."""
    if not force:
        _refuse_documents(database)
    with _folder_in(directory, care.RESTORING) as folder:
        copy = folder / _DATABASE
        _unpack(file, copy)
        with closing(connect_writer(copy)) as restored:
            _examine(restored)
            _number_anew(restored, directory, database)
            care.rebuild(restored, folder, None)
            counts = _counts(restored)
            for path in [*folder.glob("lexical-*"), *folder.glob("vectors-*")]:
                path.rename(directory / path.name)
            _replace(restored, database)
    with closing(connect_writer(database)) as connection:
        care.recover(connection, directory)
        care.remove_stale_files(connection, directory)
    bad = [finding for finding in care.check(directory, database, deep=False) if not finding.ok]
    if bad:
        raise StoreCorruptError(f"The backup was restored, but: {bad[0].message}", hint=bad[0].hint)
    return TransferReport("", *counts, size=file.stat().st_size)


def _refuse_documents(database: Path) -> None:
    with closing(connect_reader(database, lambda: connect_writer(database).close())) as connection:
        there = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    if there:
        raise ConflictError(
            f"The index {database.parent} has {there:,} documents, which the backup would replace.",
            hint="If that is meant: dowse restore FILE --force. Or choose another index with --index.",
        )


def _unpack(file: Path, copy: Path) -> None:
    """The database out of the file, if it is whole and not newer than this program."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive)
            declared = archive.getinfo(_DATABASE).file_size
            if declared != manifest.get("bytes"):
                raise StoreCorruptError(f"{file} is damaged: its size is not what it says.", hint=_DAMAGED)
            if declared * 2 > shutil.disk_usage(copy.parent).free:
                raise StoreFullError(
                    f"Restoring needs {declared * 2:,} bytes beside {copy.parent.parent}.", hint="Free some space."
                )
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(descriptor, "wb") as target, archive.open(_DATABASE) as source:
                digest, _ = _stream(source, target)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file}.", hint="Check the path.") from None
    except _UNREADABLE as error:
        raise StoreCorruptError(f"{file} is damaged, or no backup of Dowse.", hint=_DAMAGED) from error
    if digest != manifest.get("sha256"):
        raise StoreCorruptError(f"{file} is damaged: its checksum is wrong.", hint=_DAMAGED)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    if sorted(archive.namelist()) != [_DATABASE, _MANIFEST] or archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
        raise KeyError(_MANIFEST)
    manifest: dict[str, Any] = json.loads(archive.read(_MANIFEST))
    if manifest["format"] != FORMAT:
        raise KeyError(FORMAT)
    if int(manifest["version"]) > VERSION or int(manifest["layout"]) > len(MIGRATIONS):
        raise StoreVersionError(
            f"The backup was written by a newer Dowse (layout {manifest['layout']}; here {len(MIGRATIONS)}).",
            hint="Upgrade Dowse, then restore it.",
        )
    return manifest


def _examine(restored: sqlite3.Connection) -> None:
    verdict = restored.execute("PRAGMA integrity_check(1)").fetchone()[0]
    strays = restored.execute("PRAGMA foreign_key_check").fetchone()
    if verdict != "ok" or strays:
        raise StoreCorruptError(f"The database in the backup is damaged: {verdict}.", hint=_DAMAGED)


def _number_anew(restored: sqlite3.Connection, directory: Path, database: Path) -> None:
    """Numbers above all that were used here, so that nobody takes a new file or change for one that he knows."""
    seq, used = 0, [0]
    try:
        with closing(connect_reader(database)) as old:
            seq = int(read_meta(old, "seq") or 0)
            used += [int(read_meta(old, name) or 0) for name in ("lexical", "vectors")]
    except (sqlite3.Error, StoreCorruptError, StoreVersionError):
        pass  # what is damaged or older has no readers that remember anything of it
    for path in [*directory.glob("lexical-*"), *directory.glob("vectors-*")]:
        number = path.stem.rpartition("-")[2]
        used.append(int(number) if number.isdecimal() else 0)
    for name, floor in (("seq", seq), ("vectors", max(used)), ("lexical", max(used))):
        highest = max(floor, int(read_meta(restored, name) or 0))
        restored.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, highest + 1))


def _replace(restored: sqlite3.Connection, database: Path) -> None:
    """Copy over the old database in one transaction; one that SQLite cannot open any more is put aside."""
    if database.exists():
        try:
            with closing(connect_writer(database)) as live:
                restored.backup(live)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
        except StoreCorruptError:
            pass
        else:
            return
        stamp = now_ms()
        for suffix in ("-wal", "-shm", ""):
            old = database.with_name(database.name + suffix)
            if old.exists():
                old.rename(database.with_name(f"damaged-{stamp}.db{suffix}"))
    with closing(connect_writer(database)) as live:
        restored.backup(live)


def _counts(connection: sqlite3.Connection) -> tuple[int, int]:
    documents = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    return int(documents), sum(each.rows for each in held(connection)[:1])


def _stream(source: IO[bytes], target: IO[bytes]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += target.write(piece)
    return digest.hexdigest(), size


@contextmanager
def _folder_in(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder for drafts on the same disk, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
