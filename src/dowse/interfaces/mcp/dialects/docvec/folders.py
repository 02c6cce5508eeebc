"""What in a folder is new: its files sifted by their content before any of them is indexed."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dowse.engine import Engine
from dowse.errors import SourceError
from dowse.ingest import sources
from dowse.ingest.extract import media_type_of
from dowse.ingest.sources.given import path_of_file_uri
from dowse.interfaces.mcp.dialects.docvec.failures import said_of_reading
from dowse.types import Event, IngestReport

__all__ = ["Sifted", "sift"]

_TELLING = frozenset({"bad_name", "broken_link", "too_large", "unreadable"})
"""Of what a walk refuses, that which its user would miss."""


@dataclass
class Sifted:
    """The files of a folder that are in a format we read, each in one of these."""

    new: dict[str, str] = field(default_factory=dict)
    """To be indexed: the hash of its content by its path."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """Path and hash of what has the same content as one of these."""
    duplicates: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    """What to say of those that failed, by path."""
    reasons: list[str] = field(default_factory=list)
    """Why they did, as far as that says more."""

    def fail(self, path: str, reason: str, said: str) -> None:
        """Leave out a file."""
        self.errors[path] = said_of_reading(reason, path)
        self.reasons.append(f"{path}: {said}")

    def settle(self, report: IngestReport, root: str | None) -> None:
        """Take note of what came of the new ones; their copies share their fate.

        Args:
            report: of their ingestion.
            root: of the collection that they went into, which its own files are named by.
        """
        failed: dict[str, tuple[str, str]] = {}
        for entry in (*report.failed, *report.skipped):
            is_ours = root is not None and not entry.path.startswith("file:")
            path = str(Path(root or "") / entry.path if is_ours else path_of_file_uri(entry.path))
            self.fail(path, entry.code, entry.reason)
            failed[self.new.get(path, "")] = entry.code, entry.reason
        for path, digest in self.copies:
            if digest in failed:
                self.fail(path, *failed[digest])
            else:
                self.duplicates += 1


def sift(engine: Engine, folder: Path, collection: str, *, recursive: bool, tell: Callable[[Event], None]) -> Sifted:
    """Find the files whose content no document has; nothing is indexed yet.

    A file whose own document has another content is new whatever it holds, or that document would stay behind.
    """
    documents = engine.documents()
    known = {info.content_hash for info in documents}
    here = {info.uri: info.content_hash for info in documents if info.collection == collection}
    most = engine.config.max_file_size
    sifted = Sifted()
    taken: set[str] = set()
    for done, item in enumerate(sources.walk(folder, "**/*" if recursive else "*", max_file_size=most), start=1):
        tell(Event("walk", done, 0, item.path))
        if media_type_of(item.path) is None and not (isinstance(item, sources.Refused) and item.is_directory):
            continue
        if isinstance(item, sources.Refused):
            if item.code in _TELLING:
                sifted.fail(str(folder / item.path), item.code, item.reason)
            continue
        path = Path(item.real)
        if not path.is_relative_to(folder):  # a link has taken the folder's place
            continue
        try:
            digest = hashlib.sha256(sources.read(path, most)[0]).hexdigest()
        except SourceError as error:
            sifted.fail(str(path), error.reason, error.message)
            continue
        is_outdated = here.get(path.as_uri(), digest) != digest
        if digest in known and not is_outdated:
            sifted.duplicates += 1
        elif digest in taken and not is_outdated:
            sifted.copies.append((str(path), digest))
        else:
            sifted.new[str(path)] = digest
            taken.add(digest)
    return sifted
