"""A store of which somebody sees only some collections: everything else is as if it were not there.

It stands between the engine and any other store, so that no verb and no interface can forget to ask. What is hidden
here is hidden everywhere: in hits and counts, in names that are suggested, in messages of errors. Two things still
depend on the other collections: how rare a word is, and so the second digit of a score; and whether content that is
put in had to be read again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from uuid import UUID

from dowse.errors import DowseError, NotFoundError
from dowse.ports import NONE, Alternatives, Snapshot, Store
from dowse.types import (
    And,
    Collection,
    Compare,
    Context,
    Document,
    DocumentInfo,
    Draft,
    Filter,
    Finding,
    Fingerprint,
    Known,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["OutOfScopeError", "ScopedSnapshot", "ScopedStore"]


class OutOfScopeError(DowseError):
    """What was to be changed lies outside of the collections that may be. The same whether it is there or not."""

    code = "refused"
    exit_code = 4
    http_status = 403


class ScopedSnapshot:
    """See `ports.Snapshot`."""

    def __init__(self, snapshot: Snapshot, collections: frozenset[str]) -> None:
        self._snapshot = snapshot
        self._names = collections
        self.notes = snapshot.notes
        self.comparable_scores = snapshot.comparable_scores
        self.is_remote = snapshot.is_remote
        self.memory: dict[str, Any] = {}  # what others see is no concern of whoever sees these

    # Searching

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """See `ports.Snapshot.lexical`."""
        return self._snapshot.lexical(terms, k, self._narrowed(scope), alternatives, required)

    def lexical_scores(
        self, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives = NONE
    ) -> dict[Ref, float]:
        """See `ports.Snapshot.lexical_scores`: whoever has a ref was given it."""
        return self._snapshot.lexical_scores(terms, refs, alternatives)

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See `ports.Snapshot.frequencies`: none of a word that stands only elsewhere."""
        found = self._snapshot.frequencies(terms)
        return {term: count if count and self._has(term) else 0 for term, count in found.items()}

    def completions(self, prefix: str, limit: int) -> list[str]:
        """See `ports.Snapshot.completions`: only words that stand here."""
        return [term for term in self._snapshot.completions(prefix, limit) if self._has(term)]

    def metadata_keys(self) -> frozenset[str]:
        """See `ports.Snapshot.metadata_keys`."""
        return frozenset(key for info in self.documents() for key in info.metadata)

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """See `ports.Snapshot.nearest`."""
        return self._snapshot.nearest(model, vector, k, self._narrowed(scope))

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """See `ports.Snapshot.cosines`: whoever has a ref was given it."""
        return self._snapshot.cosines(model, vector, refs)

    def sample(self, model: ModelIdentity, k: int, scope: Scope) -> "tuple[list[Ref], Vector, int]":
        """See `ports.Snapshot.sample`."""
        return self._snapshot.sample(model, k, self._narrowed(scope))

    def mark(self) -> str:
        """See `ports.Snapshot.mark`."""
        return self._snapshot.mark()

    def model(self) -> ModelIdentity | None:
        """See `ports.Snapshot.model`."""
        return self._snapshot.model()

    def successor(self) -> ModelIdentity | None:
        """See `ports.Snapshot.successor`."""
        return self._snapshot.successor()

    def vectors(self, model: ModelIdentity, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
        """See `ports.Snapshot.vectors`: whoever has the key has the text."""
        return self._snapshot.vectors(model, keys)

    # Documents

    def drafts(self, collection: str) -> Iterator[Draft]:
        """See `ports.Snapshot.drafts`."""
        return self._snapshot.drafts(collection) if collection in self._names else iter(())

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """See `ports.Snapshot.passages`."""
        return [each for each in self._snapshot.passages(refs) if each.info.collection in self._names]

    def chunks(self, document: UUID) -> list[Passage]:
        """See `ports.Snapshot.chunks`."""
        return [each for each in self._snapshot.chunks(document) if each.info.collection in self._names]

    def collections(self) -> tuple[Collection, ...]:
        """See `ports.Snapshot.collections`."""
        return tuple(each for each in self._snapshot.collections() if each.name in self._names)

    def contexts(self) -> tuple[Context, ...]:
        """See `ports.Snapshot.contexts`: what is said of everything is said to everybody."""
        found = self._snapshot.contexts()
        return tuple(each for each in found if each.collection is None or each.collection in self._names)

    def documents(
        self,
        collection: str | None = None,
        *,
        prefix: str = "",
        filter: Filter | None = None,  # noqa: A002 - the noun
        limit: int | None = None,
        offset: int = 0,
        newest: bool = False,
    ) -> list[DocumentInfo]:
        """See `ports.Snapshot.documents`."""
        listed = partial(self._snapshot.documents, prefix=prefix, newest=newest)
        if collection is not None:
            return listed(collection, filter=filter, limit=limit, offset=offset) if collection in self._names else []
        here = [each.name for each in self.collections()]
        if not here:
            return []
        # The field compares without regard to case, so that what it finds is looked at once more where names differ
        # in nothing else.
        if self._has_twins:
            found = listed(filter=filter)
            kept = [info for info in found if info.collection in self._names]
            return kept[offset:] if limit is None else kept[offset : offset + limit]
        wanted: Filter = Compare("collection", "in", tuple(here))
        narrowed = wanted if filter is None else And((wanted, filter))
        return listed(filter=narrowed, limit=limit, offset=offset)

    def document(self, document: UUID) -> Document | None:
        """See `ports.Snapshot.document`."""
        found = self._snapshot.document(document)
        return found if found and found.info.collection in self._names else None

    def texts(self, content_hash: str) -> list[str]:
        """See `ports.Snapshot.texts`: only of what a document here has, for an older text says not whose it was."""
        return self._snapshot.texts(content_hash) if self.find(content_hash, "hash") else []

    def find(self, name: str, by: Literal["path", "suffix", "hash", "uri"]) -> list[DocumentInfo]:
        """See `ports.Snapshot.find`."""
        return [info for info in self._snapshot.find(name, by) if info.collection in self._names]

    def ledger(self, collection: str | None = None) -> list[LedgerEntry]:
        """See `ports.Snapshot.ledger`."""
        return [entry for entry in self._snapshot.ledger(collection) if entry.collection in self._names]

    def stats(self) -> StoreStats:
        """See `ports.Snapshot.stats`: the size on disk is that of everything, so it is not told."""
        found = self._snapshot.stats()
        collections = tuple(each for each in found.collections if each.collection.name in self._names)
        chunks = sum(each.chunks for each in collections)
        return replace(
            found,
            collections=collections,
            documents=sum(each.documents for each in collections),
            chunks=chunks,
            vectors=min(found.vectors, chunks),
            bytes_on_disk=0,
            successor=None,
        )

    # Parts

    @cached_property
    def _has_twins(self) -> bool:
        """Whether a collection that may be seen differs from one that may not in nothing but case."""
        folded = {name.casefold() for name in self._names}
        return any(
            each.name.casefold() in folded and each.name not in self._names for each in self._snapshot.collections()
        )

    def _narrowed(self, scope: Scope) -> Scope:
        names = self._names if scope.collections is None else self._names & scope.collections
        return replace(scope, collections=frozenset(names))

    def _has(self, term: str) -> bool:
        return bool(self._snapshot.lexical([term], 1, Scope(self._names)).hits)


class ScopedStore:
    """See `ports.Store`."""

    def __init__(self, store: Store, collections: frozenset[str]) -> None:
        self._store = store
        self._names = collections

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """See `ports.Store.snapshot`."""
        with self._store.snapshot() as snapshot:
            yield ScopedSnapshot(snapshot, self._names)

    # Changes inside of the collections

    def put_collection(self, collection: Collection) -> None:
        """See `ports.Store.put_collection`."""
        self._check(collection.name)
        self._store.put_collection(collection)

    def rename_collection(self, name: str, new_name: str) -> None:
        """See `ports.Store.rename_collection`."""
        self._check(name)
        self._check(new_name)
        self._store.rename_collection(name, new_name)

    def drop_collection(self, name: str) -> int:
        """See `ports.Store.drop_collection`."""
        self._check(name)
        return self._store.drop_collection(name)

    def put_context(self, context: Context) -> None:
        """See `ports.Store.put_context`."""
        self._check(context.collection)
        self._store.put_context(context)

    def drop_context(self, collection: str | None, prefix: str) -> bool:
        """See `ports.Store.drop_context`."""
        self._check(collection)
        return self._store.drop_context(collection, prefix)

    def fingerprints(self, collection: str, paths: Sequence[str] | None = None) -> Mapping[str, Known]:
        """See `ports.Store.fingerprints`."""
        self._check(collection)
        return self._store.fingerprints(collection, paths)

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """See `ports.Store.known`: whoever has the bytes learns nothing of them."""
        return self._store.known(keys)

    def original(self, content_hash: str) -> bytes | None:
        """See `ports.Store.original`."""
        with self.snapshot() as view:
            return self._store.original(content_hash) if view.find(content_hash, "hash") else None

    def put(self, drafts: Sequence[Draft]) -> None:
        """See `ports.Store.put`."""
        for draft in drafts:
            self._check(draft.info.collection)
        self._store.put(drafts)

    def restat(self, collection: str, fingerprints: Mapping[str, Fingerprint]) -> None:
        """See `ports.Store.restat`."""
        self._check(collection)
        self._store.restat(collection, fingerprints)

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """See `ports.Store.record`."""
        for entry in entries:
            self._check(entry.collection)
        self._store.record(entries)

    def delete(self, documents: Sequence[UUID], *, exclude: bool = False) -> int:
        """See `ports.Store.delete`."""
        with self.snapshot() as view:
            if any(view.document(each) is None for each in documents):
                raise NotFoundError("One of the documents is not in the index any more.", hint="Look again.")
        return self._store.delete(documents, exclude=exclude)

    def forget(self, collection: str, paths: Sequence[str]) -> None:
        """See `ports.Store.forget`."""
        self._check(collection)
        self._store.forget(collection, paths)

    # Vectors are made for everything at once: whoever may write may let that happen.

    def unembedded(self, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
        """See `ports.Store.unembedded`."""
        return self._store.unembedded(model, limit)

    def count_unembedded(self, model: ModelIdentity) -> int:
        """See `ports.Store.count_unembedded`."""
        return self._store.count_unembedded(model)

    def put_vectors(self, model: ModelIdentity, vectors: "Sequence[tuple[bytes, Vector]]") -> None:
        """See `ports.Store.put_vectors`."""
        self._store.put_vectors(model, vectors)

    def switch_model(self, model: ModelIdentity) -> None:
        """See `ports.Store.switch_model`."""
        self._store.switch_model(model)

    def lease(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:
        """See `ports.Store.lease`."""
        return self._store.lease(names, owner, seconds)

    # What concerns the whole index

    def add_model(self, model: ModelIdentity) -> None:  # noqa: ARG002 - the port's
        """Refused."""
        self._refuse()

    def drop_vectors(self) -> None:
        """Refused."""
        self._refuse()

    def cleanup(self, older_than_ms: int) -> int:  # noqa: ARG002 - the port's
        """Refused."""
        self._refuse()

    def check(self, *, deep: bool = False) -> list[Finding]:  # noqa: ARG002 - the port's
        """Refused."""
        self._refuse()

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:  # noqa: ARG002 - the port's
        """Refused."""
        self._refuse()

    def close(self) -> None:
        """The store belongs to somebody else."""

    def _check(self, collection: str | None) -> None:
        if collection not in self._names:
            self._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise OutOfScopeError(
            "This is outside of the collections that the token is for.", hint="Use a token that is for them."
        )
