"""The folder against what the store knows of it: what is new, changed, gone or refused, and what may be deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dowse.errors import SourceError
from dowse.ingest import sources
from dowse.ingest.settings import IndexSettings
from dowse.types import Collection, Fingerprint, Known, LedgerEntry, now_ms

__all__ = ["Comparison", "compare", "guard", "ingested", "is_same_file", "walked", "way_out"]

# A file that was written this shortly before it was read may have changed since without a trace in its
# times: some file systems count in steps of two seconds.
_RACY_NS = 2_000_000_000

# What takes minutes to fail is not tried again while the file is the same.
_GIVEN_UP = frozenset({"too_slow", "too_much_memory", "crashed"})

# The guard: this many documents gone at once, and more than half of them all, looks like an accident.
_GUARDED_COUNT = 20
_GUARDED_SHARE = 0.5


@dataclass
class Comparison:
    """What the walk found, against what the store knows."""

    to_read: list[sources.Found] = field(default_factory=list)
    unchanged: int = 0
    refused: list[LedgerEntry] = field(default_factory=list)
    gone: dict[str, Known] = field(default_factory=dict)
    """Walked documents whose files are not there any more."""
    superseded: dict[str, Known] = field(default_factory=dict)
    """Files that were ingested by themselves and that the walk finds now: the walked document takes their place."""
    seen: set[str] = field(default_factory=set)
    """Paths that the walk came upon, but for documents that are kept out now."""
    held: set[str] = field(default_factory=set)
    """Those of them whose entry in the ledger still holds: the file is as it was when nobody could read it."""
    unreadable: list[str] = field(default_factory=list)
    """Folders that could not be looked into, with a slash at the end."""
    is_empty: bool = True
    """Whether the folder holds nothing to index."""
    only: sources.Selection | None = None
    """What the walk was restricted to."""

    def is_unknown(self, path: str) -> bool:
        """Whether the walk could not have come upon this path."""
        return path.startswith(tuple(self.unreadable)) or not (self.only is None or self.only.covers(path))


def compare(
    collection: Collection,
    known: Mapping[str, Known],
    settings: IndexSettings,
    only: sources.Selection | None = None,
    *,
    retry: bool = False,
) -> Comparison:
    """Walk the folder; fingerprints decide, and only change or doubt sends a file to be read.

    `retry` also sends those that took too long, or in which there was no text.
    """
    compared = Comparison(only=only and _with_other_names(only, known))
    given = {path: each for path, each in ingested(known).items() if path.startswith("file:")}
    for item in sources.walk(
        Path(collection.root or ""),
        collection.pattern,
        exclude=collection.exclude,
        max_file_size=settings.max_file_size,
        only=compared.only,
    ):
        before = known.get(item.path)
        if isinstance(item, sources.Refused):
            if item.is_directory:
                compared.unreadable.append(f"{item.path}/")
            compared.refused.append(_ledger_entry(collection.name, item))
            if item.state == "skipped" and before is not None and before.id is not None:
                continue  # what is kept out now leaves the index like a file that is gone
        else:
            compared.is_empty = False
            if given and (uri := item.absolute.as_uri()) in given:
                compared.superseded[uri] = given[uri]
            if before is None or _may_have_changed(item, before, settings, retry=retry):
                compared.to_read.append(item)
            elif before.state is None:
                compared.unchanged += 1
            else:
                compared.held.add(item.path)
        compared.seen.add(item.path)
    compared.gone = {
        path: before
        for path, before in walked(known).items()
        if path not in compared.seen and not compared.is_unknown(path)
    }
    return compared


def _with_other_names(only: sources.Selection, known: Mapping[str, Known]) -> sources.Selection:
    """Also the paths that the same files have by links, hard ones included: no path tells of the others."""
    inodes = {each.fingerprint.inode for path, each in known.items() if only.covers(path)} - {0}
    return only.with_also(path for path, each in known.items() if each.fingerprint.inode in inodes)


def walked(known: Mapping[str, Known]) -> dict[str, Known]:
    """The documents that a walk found, and that a walk may remove."""
    return {path: each for path, each in known.items() if each.id is not None and each.origin == "walked"}


def ingested(known: Mapping[str, Known]) -> dict[str, Known]:
    """The documents that were given one by one, and that only their user takes out."""
    return {path: each for path, each in known.items() if each.id is not None and each.origin == "ingested"}


def is_same_file(now: Fingerprint, then: Fingerprint) -> bool:
    """Whether a file is surely the one that was read."""
    is_equal = (now.size, now.mtime_ns, now.inode) == (then.size, then.mtime_ns, then.inode)
    return is_equal and then.mtime_ns <= then.read_ns - _RACY_NS


def _may_have_changed(found: sources.Found, before: Known, settings: IndexSettings, *, retry: bool) -> bool:
    if before.id is None:
        is_hopeless = before.code in _GIVEN_UP or (before.state == "skipped" and found.media_type is None)
        if is_hopeless and not retry:
            return found.fingerprint != before.fingerprint
        # What failed is tried again: permissions and readers change without a trace in the file.
        return before.state != "excluded"
    media_type = before.declared_type or found.media_type or before.media_type
    return (
        before.origin != "walked"  # it was ingested before it was found here
        or before.recipe != settings.recipe(media_type)
        or not is_same_file(found.fingerprint, before.fingerprint)
    )


def guard(collection: Collection, known: Mapping[str, Known], compared: Comparison) -> str:
    """Why nothing may be deleted, or an empty string."""
    gone, all_walked = len(compared.gone), len(walked(known))
    is_emptied = compared.is_empty and gone == all_walked
    are_many = gone > _GUARDED_COUNT and gone > _GUARDED_SHARE * all_walked
    if not gone or not (is_emptied or are_many):
        return ""
    what = f"{gone} of {all_walked} documents" if gone < all_walked else f"all {all_walked} documents"
    return (
        f"The files of {what} are gone from {collection.root}, which looks like an accident: nothing was removed. "
        f"{way_out(collection)}"
    )


def way_out(collection: Collection, error: SourceError | None = None) -> str:
    """What to do about a guard that held."""
    if error is not None and error.reason != "missing":
        return error.hint
    question = f"{error.hint} " if error else ""
    return f"{question}If that is meant: dowse update -c {collection.name} --prune"


def _ledger_entry(collection: str, item: sources.Refused) -> LedgerEntry:
    return LedgerEntry(collection, item.path, item.state, item.code, item.reason, item.hint, now_ms(), item.fingerprint)
