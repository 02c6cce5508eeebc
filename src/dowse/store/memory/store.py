"""Writing: every write changes a copy of the state and then puts it in the place of the old one."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from dowse.errors import ConflictError, ModelMismatchError, NotFoundError, StoreError
from dowse.store.memory.snapshot import MemorySnapshot
from dowse.store.memory.state import ContentKey, Entry, State, embeddable
from dowse.types import (
    Collection,
    Context,
    Draft,
    Finding,
    Fingerprint,
    Known,
    LedgerEntry,
    ModelIdentity,
    now_ms,
)

if TYPE_CHECKING:
    from dowse.ports import Vector


class MemoryStore:
    """A store that lives as long as its process, for one thread.

    A write that raises leaves the old state in place; a snapshot keeps the state it was opened on.
    """

    def __init__(self) -> None:
        self._latest: State | None = State()
        self._leases: dict[str, tuple[str, float]] = {}

    @property
    def _state(self) -> State:
        if self._latest is None:
            raise StoreError("The store is closed.", hint="Open it again.")
        return self._latest

    @contextmanager
    def _changes(self) -> Iterator[State]:
        state = self._state.copy()
        yield state
        _note_unused(state)
        self._latest = state

    @contextmanager
    def snapshot(self) -> Iterator[MemorySnapshot]:
        """A view of the state as it is now."""
        yield MemorySnapshot(self._state)

    def put_collection(self, collection: Collection) -> None:
        """Create or replace it; the time of its creation stays."""
        with self._changes() as state:
            old = state.collections.get(collection.name, collection)
            created_at = old.created_at or now_ms()
            state.collections[collection.name] = replace(collection, created_at=created_at)

    def rename_collection(self, name: str, new_name: str) -> None:
        """Change the name wherever it stands."""
        with self._changes() as state:
            _require_collection(state, name)
            if new_name in state.collections and new_name != name:
                raise ConflictError(f"A collection named {new_name!r} exists.", hint="Choose another name.")
            state.collections[new_name] = replace(state.collections.pop(name), name=new_name)
            for identity, entry in state.documents.items():
                if entry.info.collection == name:
                    state.documents[identity] = replace(entry, info=replace(entry.info, collection=new_name))
            for place in [place for place in state.ledger if place[0] == name]:
                state.ledger[new_name, place[1]] = replace(state.ledger.pop(place), collection=new_name)
            for where in [where for where in state.contexts if where[0] == name]:
                state.contexts[new_name, where[1]] = replace(state.contexts.pop(where), collection=new_name)

    def drop_collection(self, name: str) -> int:
        """Remove it and all that is in it."""
        with self._changes() as state:
            _require_collection(state, name)
            del state.collections[name]
            kept = {identity: entry for identity, entry in state.documents.items() if entry.info.collection != name}
            dropped = len(state.documents) - len(kept)
            state.documents = kept
            state.ledger = {place: entry for place, entry in state.ledger.items() if place[0] != name}
            state.contexts = {where: context for where, context in state.contexts.items() if where[0] != name}
        return dropped

    def put_context(self, context: Context) -> None:
        """Attach or replace it."""
        with self._changes() as state:
            if context.collection is not None:
                _require_collection(state, context.collection)
            state.contexts[context.collection, context.prefix] = context

    def drop_context(self, collection: str | None, prefix: str) -> bool:
        """Remove it, if it is there."""
        with self._changes() as state:
            return state.contexts.pop((collection, prefix), None) is not None

    def fingerprints(self, collection: str, paths: Sequence[str] | None = None) -> Mapping[str, Known]:
        """Ledger entries first, so that a document at the same path wins."""
        known = {
            entry.path: Known(entry.fingerprint, state=entry.state, code=entry.code)
            for entry in self._state.ledger.values()
            if entry.collection == collection
        }
        for entry in self._state.documents.values():
            info = entry.info
            if info.collection == collection:
                known[info.path] = Known(
                    info.fingerprint,
                    info.content_hash,
                    info.id,
                    info.origin,
                    recipe=entry.content[1],
                    media_type=info.media_type,
                    declared_type=info.declared_type,
                    metadata=entry.said,
                )
        return known if paths is None else {path: known[path] for path in paths if path in known}

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """The titles of those that have content."""
        contents = self._state.contents
        return {key: contents[key].title for key in keys if key in contents}

    def original(self, content_hash: str) -> bytes | None:
        """The bytes, if they were kept."""
        return self._state.originals.get(content_hash)

    def put(self, drafts: Sequence[Draft]) -> None:
        """Take the drafts in their order; a later one may link to the content of an earlier one."""
        with self._changes() as state:
            for draft in drafts:
                _put(state, draft)

    def restat(self, collection: str, fingerprints: Mapping[str, Fingerprint]) -> None:
        """Replace fingerprints where there is something to replace."""
        with self._changes() as state:
            _require_collection(state, collection)
            for path, fingerprint in fingerprints.items():
                place = (collection, path)
                document = state.at(place)
                if document is not None:
                    info = replace(document.info, fingerprint=fingerprint)
                    state.documents[info.id] = replace(document, info=info)
                if place in state.ledger:
                    print_ = replace(fingerprint, etag="")  # what is not a document has no use for it
                    state.ledger[place] = replace(state.ledger[place], fingerprint=print_)

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Write the entries down."""
        with self._changes() as state:
            for entry in entries:
                _require_collection(state, entry.collection)
                state.ledger[entry.collection, entry.path] = replace(entry, at=entry.at or now_ms())

    def delete(self, documents: Sequence[UUID], *, exclude: bool = False) -> int:
        """Remove those that are there, and count them."""
        removed = 0
        with self._changes() as state:
            for identity in documents:
                entry = state.documents.pop(identity, None)
                removed += entry is not None
                if entry is not None and exclude and entry.info.origin == "walked":
                    state.ledger[entry.info.collection, entry.info.path] = _exclusion(entry)
        return removed

    def forget(self, collection: str, paths: Sequence[str]) -> None:
        """Drop the entries that are there."""
        with self._changes() as state:
            _require_collection(state, collection)
            for path in paths:
                state.ledger.pop((collection, path), None)

    def unembedded(self, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
        """Shortest text first, ties by key."""
        backlog = self._state.waiting(model).items()
        return sorted(backlog, key=lambda item: (len(item[1]), item[0]))[:limit]

    def count_unembedded(self, model: ModelIdentity) -> int:
        """How many there are."""
        return len(self._state.waiting(model))

    def put_vectors(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """Keep them as tuples, unless those of another model are there."""
        with self._changes() as state:
            if state.model is not None and model not in state.vectors:
                raise ModelMismatchError(
                    f"The index holds vectors of {state.model.name}, these are of {model.name}.",
                    hint="dowse embed --force",
                )
            if vectors:
                self._make_room(state, model)
                state.vectors[model] |= {key: tuple(float(value) for value in vector) for key, vector in vectors}
                state.touched_at = now_ms()

    def add_model(self, model: ModelIdentity) -> None:
        """Give it an empty dictionary behind the one that answers."""
        with self._changes() as state:
            self._make_room(state, model)
            state.touched_at = now_ms()

    def _make_room(self, state: State, model: ModelIdentity) -> None:
        if model not in state.vectors:
            answering = {} if state.model is None else {state.model: state.vectors[state.model]}
            state.vectors = answering | {model: {}}

    def switch_model(self, model: ModelIdentity) -> None:
        """Forget those in front of it."""
        with self._changes() as state:
            if model == state.successor:
                state.vectors = {model: state.vectors[model]}

    def drop_vectors(self) -> None:
        """Forget the vectors and their models."""
        with self._changes() as state:
            state.vectors.clear()
        self._leases.clear()

    def lease(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:
        """Note who holds what until when."""
        now = time.monotonic()
        held = {name: lease for name, lease in self._leases.items() if lease[1] > now}
        granted = frozenset(name for name in names if held.get(name, (owner, 0))[0] == owner)
        self._leases = held | dict.fromkeys(granted, (owner, now + seconds))
        return granted

    def cleanup(self, older_than_ms: int) -> int:
        """Forget old unused contents, then the vectors that no content is left for; nothing is on disk."""
        with self._changes() as state:
            cutoff = now_ms() - older_than_ms
            for key in [key for key, since in state.unused_since.items() if since <= cutoff]:
                del state.contents[key]
                del state.unused_since[key]
            hashes = {content_hash for content_hash, _ in state.contents}
            state.originals = {each: data for each, data in state.originals.items() if each in hashes}
            wanted = {key for content in state.contents.values() for key in embeddable(content)}
            if state.successor is not None and state.touched_at <= cutoff:
                del state.vectors[state.successor]
            state.vectors = {
                model: {key: vector for key, vector in vectors.items() if key in wanted}
                for model, vectors in state.vectors.items()
            }
        return 0

    def check(self, *, deep: bool = False) -> list[Finding]:  # noqa: ARG002 - there is no deeper look to take
        """There is nothing derived that could be wrong."""
        documents = len(self._state.documents)
        return [Finding("memory", True, f"{documents} documents are in memory.")]

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """There is nothing derived to make anew."""
        chunks = sum(1 for _ in self._state.passages())
        if progress is not None:
            progress(chunks, chunks)

    def close(self) -> None:
        """Forget everything."""
        self._latest = None


def _require_collection(state: State, name: str) -> None:
    if name not in state.collections:
        raise NotFoundError(f"There is no collection named {name!r}.", hint="dowse collection list")


def _put(state: State, draft: Draft) -> None:
    """Add, replace or move one document, as `Store.put` says."""
    info = draft.info
    _require_collection(state, info.collection)
    key = (info.content_hash, draft.recipe)
    if draft.content is not None:
        state.contents.setdefault(key, deepcopy(draft.content))
    elif key not in state.contents:
        raise StoreError(
            f"The content of {info.file} is unknown: hash {info.content_hash}, recipe {draft.recipe}.",
            hint="Put the document with its content.",
        )
    if draft.original is not None:
        state.originals[info.content_hash] = draft.original
    occupant = state.at((info.collection, info.path))
    previous = state.documents.get(info.id, occupant)
    if occupant is not None:
        del state.documents[occupant.info.id]
    old = info if previous is None else previous.info
    # What the draft says of a document beats what its content says of itself.
    metadata = {**state.contents[key].metadata, **info.metadata}
    state.documents[old.id] = Entry(
        replace(
            info,
            id=old.id,
            metadata=deepcopy(metadata),
            chunks=len(state.contents[key].chunks),
            created_at=old.created_at or now_ms(),
            updated_at=info.updated_at or now_ms(),
        ),
        key,
        state.next_version,
        deepcopy(dict(info.metadata)),
    )
    state.next_version += 1
    state.ledger.pop((info.collection, info.path), None)


def _exclusion(entry: Entry) -> LedgerEntry:
    info = entry.info
    return LedgerEntry(
        collection=info.collection,
        path=info.path,
        state="excluded",
        code="excluded",
        reason="It was deleted from the index.",
        hint="Ingest it again to bring it back.",
        at=now_ms(),
        fingerprint=info.fingerprint,
    )


def _note_unused(state: State) -> None:
    """Remember since when each content is shown by no document."""
    used: set[ContentKey] = {entry.content for entry in state.documents.values()}
    for key in state.contents:
        if key in used:
            state.unused_since.pop(key, None)
        else:
            state.unused_since.setdefault(key, now_ms())
