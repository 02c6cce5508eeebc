"""Sources on their way into the store: read, compare by content, extract, chunk, put in batches.

Where bytes come from is the source's own business; what becomes of them is decided here, once for files of
a walk and for whatever is ingested.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from dowse.errors import SourceError
from dowse.ingest import sources
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import (
    describe_media_type,
    format_of,
    guess_from_head,
    in_utf8,
    media_type_of_content,
)
from dowse.ingest.extract.limits import extract_within_limits
from dowse.ingest.settings import IndexSettings
from dowse.ports import Store
from dowse.records import record
from dowse.types import (
    Collection,
    Content,
    DocumentInfo,
    Draft,
    Fingerprint,
    Known,
    LedgerEntry,
    MetadataValue,
    Origin,
    new_document_id,
    now_ms,
)

__all__ = ["Action", "Intake", "Loaded", "Source", "walked_source"]

_UNREAD = Fingerprint(0, 0)
_MOST_CHUNKS = 1 << 20  # of one document: a ref has no room for more

Action = Literal["added", "changed", "moved", "described", "same"]
"""What a source did to the index; `described`: only what is said of it changed."""


class Loaded(NamedTuple):
    """What reading a source gave."""

    data: bytes
    fingerprint: Fingerprint
    media_type: str = ""
    """What whoever sent it called it."""
    content_hash: str = ""
    """Of the bytes as they once came, where these are not they."""
    charset: str = ""
    """What whoever sent it says of its letters."""
    name: str = ""
    """What whoever sent it calls it, where its address does not tell."""
    must_keep: bool = False
    """Whether these bytes can be had from nowhere else."""
    is_unread: bool = False
    """There are no bytes, because they are those of the last time."""


@record
class Source:
    """Something that becomes a document."""

    path: str
    """The document's key inside its collection."""
    uri: str
    name: str
    """Its title where its content gives none, and what messages call it."""
    origin: Origin
    read: Callable[[Fingerprint | None], Loaded | None]
    """Gets the bytes; given the fingerprint of the last time, it may answer None: not modified."""
    media_type: str | None = None
    """What its name says; None: its content has to."""
    declared_type: str = ""
    """The user's word, which nothing overrules."""
    metadata: Mapping[str, MetadataValue] | None = None
    """What is said of it; None: what was said before."""
    fingerprint: Fingerprint = _UNREAD
    """As far as it is known without reading, for the ledger."""


class Intake:
    """The sources of one run on their way into one collection, batch by batch."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        settings: IndexSettings,
        known: Mapping[str, Known],
        gone: dict[str, Known] | None = None,
        claim: Callable[[Mapping[str, Known]], Mapping[str, Known]] = dict,
    ) -> None:
        """Take `known` from `Store.fingerprints`; of `gone`, those that turn up elsewhere are taken out.

        `claim` says which of those are this run's to move.
        """
        self._claim = claim
        self._store, self._collection, self._settings, self._known = store, collection, settings, known
        self._gone = {} if gone is None else gone
        self._gone_by_hash: dict[str, list[str]] = {}
        for path, document in sorted(self._gone.items(), reverse=True):
            self._gone_by_hash.setdefault(document.content_hash, []).append(path)
        self._drafts: list[Draft] = []
        self._characters = 0
        self._restats: dict[str, Fingerprint] = {}
        self._unrecorded: list[LedgerEntry] = []
        self.refused: list[LedgerEntry] = []
        self.counts: dict[Action, int] = dict.fromkeys(("added", "changed", "moved", "described", "same"), 0)
        self.chunks = 0

    def take(self, source: Source) -> Action | None:
        """Read one source and do with it what its content asks for; one that fails is recorded, no more."""
        action: Action | None = None
        try:
            action = self.put(source)
        except SourceError as error:
            self._refuse(source, error)
        return action

    def put(self, source: Source) -> Action:
        """The same for a source whose failure is its giver's to hear.

        Raises:
            SourceError: it cannot be read, or not be understood.
        """
        before = self._known.get(source.path)
        if before is not None and before.id is None:
            before = None  # an entry of the ledger
        action = self._compare(source, self._load(source, before), before)
        self.counts[action] += 1
        most_documents, most_characters = self._settings.batch
        if len(self._drafts) >= most_documents or self._characters >= most_characters:
            self.flush()
        return action

    def _refuse(self, source: Source, error: SourceError) -> None:
        """Write down why a source is not indexed; what is not there at all is nothing to remember."""
        # What nothing promised to be readable is left out; what should have been, failed.
        is_promised = source.media_type or source.declared_type or error.reason != "unsupported"
        state: Literal["skipped", "failed"] = "failed" if is_promised else "skipped"
        entry = LedgerEntry(
            self._collection.name,
            source.path,
            state,
            error.reason,
            error.message,
            error.hint,
            now_ms(),
            source.fingerprint,
        )
        if error.reason != "missing":
            self._unrecorded.append(entry)
        elif source.origin == "walked":
            return  # gone since the walk: the next one will know
        self.refused.append(entry)

    @property
    def is_stored(self) -> bool:
        """Whether nothing waits to be put."""
        return not (self._drafts or self._restats or self._unrecorded)

    def flush(self) -> None:
        """Put what has been gathered."""
        if self._drafts:
            self._store.put(self._drafts)
        if self._restats:
            self._store.restat(self._collection.name, self._restats)
        if self._unrecorded:
            self._store.record(self._unrecorded)
        self._drafts, self._characters, self._restats, self._unrecorded = [], 0, {}, []

    def _load(self, source: Source, before: Known | None) -> Loaded:
        """The bytes, or none of them where they are those of the last time and need not be read anew."""
        if before is not None:
            media_type = source.declared_type or before.declared_type or before.media_type
            is_current = before.recipe == self._settings.recipe(media_type)
            loaded = source.read(before.fingerprint if is_current else None)
            return loaded or Loaded(b"", before.fingerprint, content_hash=before.content_hash, is_unread=True)
        loaded = source.read(None)
        if loaded is None:
            raise SourceError(f"{source.name} says that it did not change, but it is new.", hint="Try it again.")
        return loaded

    def _compare(self, source: Source, loaded: Loaded, before: Known | None) -> Action:
        digest = loaded.content_hash or hashlib.sha256(loaded.data).hexdigest()
        declared = source.declared_type or (before.declared_type if before else "")
        media_type = declared or (before.media_type if before and loaded.is_unread else _media_type(source, loaded))
        recipe = self._settings.recipe(media_type)
        gone = None if before else self._moved_from(digest)
        known = before or gone
        said = source.metadata if source.metadata is not None else (known.metadata if known else {})
        is_same = before is not None and (before.content_hash, before.recipe) == (digest, recipe)
        if is_same and before is not None and (before.metadata, before.origin) == (said, source.origin):
            self._restats[source.path] = loaded.fingerprint
            return "same"
        data = in_utf8(loaded.data, media_type, loaded.charset)
        content, title = self._content(source, data, media_type, (digest, recipe))
        info = DocumentInfo(
            id=(known and known.id) or new_document_id(),
            collection=self._collection.name,
            path=source.path,
            uri=source.uri,
            title=title or source.name,
            content_hash=digest,
            media_type=media_type,
            origin=source.origin,
            fingerprint=loaded.fingerprint,
            metadata=said,
            declared_type=declared,
        )
        self._drafts.append(Draft(info, recipe, content, loaded.data if loaded.must_keep else None))
        if before is None:
            return "moved" if gone else "added"
        return "described" if is_same else "changed"

    def _moved_from(self, digest: str) -> Known | None:
        """A document that is gone from its place and has this content."""
        paths = self._gone_by_hash.get(digest, [])
        while paths:
            path = paths.pop()
            if self._claim({path: self._gone[path]}):
                return self._gone.pop(path)
        return None

    def _content(
        self, source: Source, data: bytes, media_type: str, key: tuple[str, str]
    ) -> tuple[Content | None, str | None]:
        """What the bytes hold, None where the store has it already; and the title that it gives."""
        stored = self._store.known([key])
        if key in stored:
            return None, stored[key]
        content = self._read(source, data, media_type)
        self.chunks += len(content.chunks)
        self._characters += len(content.text)
        return content, content.title

    def _read(self, source: Source, data: bytes, media_type: str) -> Content:
        extracted = extract_within_limits(data, media_type, source.name, self._settings.limits)
        try:
            chunks = chunk(extracted, self._settings.counter, self._settings.chunking)
        except Exception as error:
            # One file that cannot be coped with must not keep the others out.
            raise SourceError(
                f"{source.name} could not be cut into passages ({type(error).__name__}: {error}).",
                reason="internal",
                hint="This is a fault of Dowse: please report it together with the file.",
            ) from error
        if len(chunks) > _MOST_CHUNKS:
            raise SourceError(
                f"{source.name} has {len(chunks):,} passages; the limit is {_MOST_CHUNKS:,}.",
                reason="too_many_passages",
                hint="Split it into several files, or add it to .dowseignore.",
            )
        return Content(extracted.text, extracted.title, chunks, extracted.metadata)


def _media_type(source: Source, loaded: Loaded) -> str:
    found = media_type_of_content(loaded.data, loaded.name or source.name, loaded.media_type)
    if found == "application/octet-stream" and source.media_type:
        return source.media_type  # whose reader says what is wrong with it
    if format_of(found) is None:
        raise _unsupported(source.name, found)
    return found


def _unsupported(name: str, media_type: str) -> SourceError:
    return SourceError(
        f"{name} is {describe_media_type(media_type)}, in which there is no text to read.",
        reason="unsupported",
        hint="If it is text, say so: dowse ingest PATH --content-type text",
    )


def walked_source(found: sources.Found, max_file_size: int) -> Source:
    """A file that a walk found."""

    def load(_: Fingerprint | None) -> Loaded:
        if found.media_type is None:
            head = sources.read_head(Path(found.real))
            if guess_from_head(head, found.path) is None:
                raise _unsupported(found.path, media_type_of_content(head, found.path))
        return Loaded(*sources.read(Path(found.real), max_file_size))

    return Source(
        path=found.path,
        uri=found.absolute.as_uri(),
        name=found.path.rpartition("/")[2],
        origin="walked",
        read=load,
        media_type=found.media_type,
        fingerprint=found.fingerprint,
    )
