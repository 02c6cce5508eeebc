"""Index and collections as files: backup and restore of the one, export and import of the other."""

from dataclasses import replace as changed
from pathlib import Path

from dowse import __version__
from dowse.durable import new_file
from dowse.errors import UsageError
from dowse.ports import Store
from dowse.store.portable import Archive, take_in, write_archive
from dowse.store.sqlite import SqliteStore
from dowse.types import ModelIdentity, TransferReport

__all__ = ["backup", "export_collection", "import_collection", "restore"]


def backup(store: Store, file: Path, *, replace: bool) -> TransferReport:
    """Write the whole index to one file."""
    return _embedded(store).backup(file, replace=replace)


def restore(store: Store, file: Path, *, force: bool) -> TransferReport:
    """Put a backup in the place of the index."""
    return _embedded(store).restore(file, force=force)


def _embedded(store: Store) -> SqliteStore:
    if not isinstance(store, SqliteStore):
        raise UsageError(
            "Only an index in a folder can be backed up as one file.",
            hint="Use the backups of the store itself, or take collections along: dowse export COLLECTION FILE",
        )
    return store


def export_collection(store: Store, name: str, file: Path, *, replace: bool) -> TransferReport:
    """Write a collection with its vectors to one file."""
    with store.snapshot() as snapshot, new_file(file, replace=replace) as target:
        documents, vectors = write_archive(snapshot, name, target, version=__version__)
        size = target.tell()
    return TransferReport(name, documents, vectors, size)


def import_collection(
    store: Store, file: Path, configured: ModelIdentity | None, *, name: str, root: Path | str | None
) -> TransferReport:
    """Take a collection in; its vectors count where they are of the model that answers, or is to answer, here."""
    from dowse.ingest.chunk import check_chunking
    from dowse.ingest.collections import check_name
    from dowse.ingest.sources import check_pattern, resolve_root

    folder = None if root is None else resolve_root(root)
    with Archive(file) as archive:
        head = archive.head
        if name:
            head = changed(head, collection=changed(head.collection, name=name))
        check_name(head.collection.name)
        check_pattern(head.collection.pattern)
        if head.collection.chunking is not None:
            check_chunking(head.collection.chunking)
        archive.check()
        with store.snapshot() as snapshot:
            wanted = snapshot.model() or configured
        fits = head.model is not None and head.model == wanted
        documents, vectors = take_in(store, head, archive.parts(), root=folder, with_vectors=fits)
    notes = () if fits else (_why_without(head.model, wanted),)
    return TransferReport(head.collection.name, documents, vectors, file.stat().st_size, notes)


def _why_without(theirs: ModelIdentity | None, ours: ModelIdentity | None) -> str:
    make = "Words find everything now; for meaning: dowse embed"
    if theirs is None:
        return f"The file has no vectors. {make}"
    here = f"{ours.name} ({ours.precision})" if ours else "a model that was never used here"
    return f"The file's vectors are of {theirs.name} ({theirs.precision}), this index uses {here}. {make}"
