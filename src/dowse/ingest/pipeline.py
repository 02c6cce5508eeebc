"""Bring a collection up to date with its folder: walk -> compare -> read -> put -> remove.

Everything is searchable by words afterwards; `backlog` adds the vectors. Stopped anywhere, the next run
goes on: what was put stays, what was not is found again by the comparison.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from dowse.errors import DowseError, SourceError
from dowse.ingest import sources
from dowse.ingest.chunk import CHUNKER, ChunkSettings, chunk
from dowse.ingest.extract import extract, format_of
from dowse.ports import Store
from dowse.text.tokens import TokenCounter
from dowse.types import (
    Collection,
    Content,
    DocumentInfo,
    Draft,
    Event,
    Fingerprint,
    IndexReport,
    Known,
    LedgerEntry,
    new_document_id,
    now_ms,
)

# A batch is one transaction: large enough to be cheap, small enough to hold the lock below a second.
_BATCH_DOCUMENTS = 256
_BATCH_CHARACTERS = 4_000_000

# A file that was written this shortly before it was read may have changed since without a trace in its
# times: some file systems count in steps of two seconds.
_RACY_NS = 2_000_000_000

# The guard: this many documents gone at once, and more than half of them all, looks like an accident.
_GUARDED_COUNT = 20
_GUARDED_SHARE = 0.5

_MOST_CHUNKS = 1 << 20  # of one document: a ref has no room for more


@dataclass(frozen=True)
class IndexSettings:
    """What indexing needs to know. The tokenizer is asked for only when a file must be chunked."""

    max_file_size: int
    max_tokens: int
    tokenizer: str
    tokenizer_json: Callable[[], bytes | None]

    @cached_property
    def counter(self) -> TokenCounter:
        """Counts tokens as the embedding model does."""
        return TokenCounter(self.tokenizer_json())

    @property
    def chunking(self) -> ChunkSettings:
        """How long passages may be."""
        return ChunkSettings(max_tokens=self.max_tokens)

    def recipe(self, media_type: str) -> str:
        """Names everything that decides what becomes of some bytes; a new name makes them read anew."""
        found = format_of(media_type)
        return f"{media_type}:{found.version if found else 0} {CHUNKER}:{self.max_tokens} {self.tokenizer}"


@dataclass
class _Comparison:
    """What the walk found, against what the store knows."""

    to_read: list[sources.Found] = field(default_factory=list)
    unchanged: int = 0
    refused: list[LedgerEntry] = field(default_factory=list)
    gone: dict[str, Known] = field(default_factory=dict)
    """Walked documents whose files are not there any more."""
    seen: set[str] = field(default_factory=set)
    """Paths that the walk came upon, but for documents that are kept out now."""
    unreadable: list[str] = field(default_factory=list)
    """Folders that could not be looked into, with a slash at the end."""
    is_empty: bool = True
    """Whether the folder holds nothing to index."""

    def is_unknown(self, path: str) -> bool:
        """Whether the walk could not have come upon this path."""
        return path.startswith(tuple(self.unreadable))


def index_collection(
    store: Store,
    collection: Collection,
    settings: IndexSettings,
    *,
    on_event: Callable[[Event], None] | None = None,
    prune: bool = False,
) -> IndexReport:
    """Index what is new or changed, remove what is gone, and report. `prune` overrules the guard."""
    tell = on_event or (lambda _: None)
    report = IndexReport(collection.name)
    if collection.root is None:
        return report
    known = store.fingerprints(collection.name)
    tell(Event("walk", note=collection.root))
    try:
        compared = _compare(collection, known, settings)
    except SourceError as error:
        if not (prune and error.reason == "missing"):
            return replace(report, guarded=f"{error.message} Nothing was removed. {_way_out(collection, error)}")
        compared = _Comparison(gone=_walked(known))

    run = _Run(store, collection, settings, known, compared)
    for done, found in enumerate(compared.to_read, start=1):
        tell(Event("read", done, len(compared.to_read), found.path))
        run.take(found)
    tell(Event("store"))
    run.flush()
    guarded = "" if prune else _guard(collection, known, compared)
    removed = 0
    if compared.gone and not guarded:
        removed = store.delete([gone.id for gone in compared.gone.values() if gone.id])
    if obsolete := _obsolete(store, collection, compared, run.failed, guarded):
        store.forget(collection.name, obsolete)
    if news := [entry for entry in compared.refused if _is_news(entry, known)]:
        store.record(news)
    _mark_updated(store, collection)
    tell(Event("done", len(compared.to_read), len(compared.to_read)))
    return replace(
        report,
        added=run.added,
        changed=run.changed,
        moved=run.moved,
        removed=removed,
        unchanged=compared.unchanged + run.same,
        chunks=run.chunks,
        failed=(*run.failed, *(entry for entry in compared.refused if entry.state == "failed")),
        skipped=tuple(entry for entry in compared.refused if entry.state == "skipped"),
        guarded=guarded,
    )


def _compare(collection: Collection, known: Mapping[str, Known], settings: IndexSettings) -> _Comparison:
    """Walk the folder; fingerprints decide, and only change or doubt sends a file to be read."""
    compared = _Comparison()
    for item in sources.walk(Path(collection.root or ""), collection.pattern, max_file_size=settings.max_file_size):
        before = known.get(item.path)
        if isinstance(item, sources.Refused):
            if item.is_directory:
                compared.unreadable.append(f"{item.path}/")
            compared.refused.append(_ledger_entry(collection.name, item))
            if item.state == "skipped" and before is not None and before.id is not None:
                continue  # what is kept out now leaves the index like a file that is gone
        else:
            compared.is_empty = False
            if before is None or _may_have_changed(item, before, settings):
                compared.to_read.append(item)
            elif before.state is None:
                compared.unchanged += 1
        compared.seen.add(item.path)
    compared.gone = {
        path: before
        for path, before in _walked(known).items()
        if path not in compared.seen and not compared.is_unknown(path)
    }
    return compared


def _walked(known: Mapping[str, Known]) -> dict[str, Known]:
    """The documents that a walk found, and that a walk may remove."""
    return {path: each for path, each in known.items() if each.id is not None and each.origin == "walked"}


def _may_have_changed(found: sources.Found, before: Known, settings: IndexSettings) -> bool:
    if before.id is None:
        # What failed is tried again: permissions and readers change without a trace in the file.
        return before.state != "excluded"
    now, then = found.fingerprint, before.fingerprint
    if (now.size, now.mtime_ns, now.inode) != (then.size, then.mtime_ns, then.inode):
        return True
    is_racy = then.mtime_ns > then.read_ns - _RACY_NS
    return is_racy or before.recipe != settings.recipe(found.media_type)


class _Run:
    """The files of one run on their way into the store, batch by batch."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        settings: IndexSettings,
        known: Mapping[str, Known],
        compared: _Comparison,
    ) -> None:
        self._store, self._collection, self._settings, self._known = store, collection, settings, known
        self._gone = compared.gone
        self._gone_by_hash: dict[str, list[str]] = {}
        for path, gone in sorted(compared.gone.items(), reverse=True):
            self._gone_by_hash.setdefault(gone.content_hash, []).append(path)
        self._drafts: list[Draft] = []
        self._characters = 0
        self._restats: dict[str, Fingerprint] = {}
        self._failed: list[LedgerEntry] = []
        self.failed: list[LedgerEntry] = []
        self.added = self.changed = self.moved = self.same = self.chunks = 0

    def take(self, found: sources.Found) -> None:
        """Read one file and do with it what its content asks for; a file that fails is recorded, no more."""
        try:
            data, fingerprint = sources.read(found.absolute, self._settings.max_file_size)
            digest = hashlib.sha256(data).hexdigest()
            recipe = self._settings.recipe(found.media_type)
            before = self._known.get(found.path)
            if before is not None and (before.content_hash, before.recipe) == (digest, recipe):
                self._restats[found.path] = fingerprint
                self.same += 1
            else:
                self._put(found, data, fingerprint, digest, recipe)
        except SourceError as error:
            if error.reason != "missing":  # gone since the walk: the next one will know
                self._failed.append(_failure(self._collection.name, found, error))
        if len(self._drafts) >= _BATCH_DOCUMENTS or self._characters >= _BATCH_CHARACTERS:
            self.flush()

    def _put(self, found: sources.Found, data: bytes, fingerprint: Fingerprint, digest: str, recipe: str) -> None:
        content = None
        stored = self._store.known([(digest, recipe)])
        title = stored.get((digest, recipe))
        if not stored:
            content = self._content(data, found)
            title = content.title
            self.chunks += len(content.chunks)
            self._characters += len(content.text)
        before = self._known.get(found.path)
        is_replaced = before is not None and before.id is not None
        moved_from = [] if is_replaced else self._gone_by_hash.get(digest, [])
        gone = self._gone.pop(moved_from.pop()) if moved_from else None
        self.changed += is_replaced
        self.moved += gone is not None
        self.added += not is_replaced and gone is None
        info = DocumentInfo(
            id=(gone and gone.id) or new_document_id(),
            collection=self._collection.name,
            path=found.path,
            uri=found.absolute.as_uri(),
            title=title or found.absolute.name,
            content_hash=digest,
            media_type=found.media_type,
            origin="walked",
            fingerprint=fingerprint,
        )
        self._drafts.append(Draft(info, recipe, content))

    def _content(self, data: bytes, found: sources.Found) -> Content:
        try:
            extracted = extract(data, found.media_type, found.path)
            chunks = chunk(extracted, self._settings.counter, self._settings.chunking)
        except DowseError:
            raise
        except Exception as error:
            # One file that a reader cannot cope with must not keep the others out.
            raise SourceError(
                f"{found.path} could not be understood ({type(error).__name__}: {error}).",
                reason="internal",
                hint="This is a fault of Dowse: please report it together with the file.",
            ) from error
        if len(chunks) > _MOST_CHUNKS:
            raise SourceError(
                f"{found.path} has {len(chunks):,} passages; the limit is {_MOST_CHUNKS:,}.",
                reason="too_many_passages",
                hint="Split it into several files, or add it to .dowseignore.",
            )
        return Content(extracted.text, extracted.title, chunks, extracted.metadata)

    def flush(self) -> None:
        """Put what has been gathered."""
        if self._drafts:
            self._store.put(self._drafts)
        if self._restats:
            self._store.restat(self._collection.name, self._restats)
        if self._failed:
            self._store.record(self._failed)
            self.failed += self._failed
        self._drafts, self._characters, self._restats, self._failed = [], 0, {}, []


def _guard(collection: Collection, known: Mapping[str, Known], compared: _Comparison) -> str:
    """Why nothing may be deleted, or an empty string."""
    gone, walked = len(compared.gone), len(_walked(known))
    is_emptied = compared.is_empty and gone == walked
    are_many = gone > _GUARDED_COUNT and gone > _GUARDED_SHARE * walked
    if not gone or not (is_emptied or are_many):
        return ""
    what = f"{gone} of {walked} documents" if gone < walked else f"all {walked} documents"
    return (
        f"The files of {what} are gone from {collection.root}, which looks like an accident: nothing was removed. "
        f"{_way_out(collection)}"
    )


def _way_out(collection: Collection, error: SourceError | None = None) -> str:
    """What to do about a guard that held."""
    if error is not None and error.reason != "missing":
        return error.hint
    question = f"{error.hint} " if error else ""
    return f"{question}If that is meant: dowse update -c {collection.name} --prune"


def _obsolete(
    store: Store, collection: Collection, compared: _Comparison, failed: list[LedgerEntry], guarded: str
) -> list[str]:
    """Paths of ledger entries that hold no more: the file is gone, or nothing is wrong with it now.

    An exclusion is the user's word: it goes only with its file, and not when that may be an accident.
    """
    with store.snapshot() as snapshot:
        ledger = snapshot.ledger(collection.name)
    still = {entry.path for entry in (*compared.refused, *failed)}
    return [
        entry.path
        for entry in ledger
        if entry.path not in still
        and not compared.is_unknown(entry.path)
        and (entry.state != "excluded" or (entry.path not in compared.seen and not guarded))
    ]


def _is_news(entry: LedgerEntry, known: Mapping[str, Known]) -> bool:
    before = known.get(entry.path)
    if before is None:
        return True
    return before.state != "excluded" and (before.state != entry.state or before.fingerprint != entry.fingerprint)


def _mark_updated(store: Store, collection: Collection) -> None:
    with store.snapshot() as snapshot:
        current = next((each for each in snapshot.collections() if each.name == collection.name), None)
    if current is not None:
        store.put_collection(replace(current, updated_at=now_ms()))


def _failure(collection: str, found: sources.Found, error: SourceError) -> LedgerEntry:
    return LedgerEntry(
        collection, found.path, "failed", error.reason, error.message, error.hint, now_ms(), found.fingerprint
    )


def _ledger_entry(collection: str, item: sources.Refused) -> LedgerEntry:
    return LedgerEntry(collection, item.path, item.state, item.code, item.reason, item.hint, now_ms(), item.fingerprint)
