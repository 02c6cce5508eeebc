"""The store: the port's writing side over one cluster."""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from dowse.errors import ConflictError, StoreUnavailableError
from dowse.store.opensearch.address import Address
from dowse.store.opensearch.backlog import Vectors, count_waiting, waiting_texts
from dowse.store.opensearch.care import Care
from dowse.store.opensearch.catalog import Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes, ensure_layout
from dowse.store.opensearch.leases import Leases
from dowse.store.opensearch.rows import content_id, ledger_from, ledger_id, ledger_to, original_id, place_id
from dowse.store.opensearch.snapshot import OpenSearchSnapshot
from dowse.store.opensearch.views import View, Views, of_kind
from dowse.store.opensearch.writing import Documents
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

__all__ = ["OpenSearchStore"]


class OpenSearchStore:
    """A store on a cluster; any number of them, on any number of machines, may share one."""

    def __init__(self, address: Address | str, *, create: bool = True) -> None:
        self.address = Address.parse(address) if isinstance(address, str) else address
        self._indexes = Indexes.of(self.address.prefix)
        self._connection = Connection(self.address)
        self._counters = Counters(self._connection, self._indexes)
        self._views = Views(self._connection, self._indexes, self._counters)
        self._vectors = Vectors(self._connection, self._indexes, self._counters)
        self._documents = Documents(self._connection, self._indexes, self._counters, self._vectors)
        self._leases = Leases(self._connection, self._indexes)
        self._care = Care(self._connection, self._indexes, self._counters, self._vectors, self._documents)
        ensure_layout(self._connection, self._indexes, create=create)
        self._counters.begin()

    @contextmanager
    def snapshot(self) -> Iterator[OpenSearchSnapshot]:
        """A view of everything that was acknowledged."""
        with self._view() as view:
            yield OpenSearchSnapshot(view, self._connection, self._indexes)

    @contextmanager
    def _view(self) -> Iterator[View]:
        view = self._views.take()
        lost = False
        try:
            yield view
        except StoreUnavailableError:  # with a node go the points in time that it held
            lost = True
            raise
        finally:
            self._views.give_back(view, lost=lost)

    # Collections and contexts

    def put_collection(self, collection: Collection) -> None:
        """One change of the catalogue."""

        def changed(catalog: Catalog) -> Catalog:
            id_ = catalog.id_of(collection.name)
            created = catalog.collections[id_].created_at if id_ else collection.created_at or now_ms()
            return catalog.with_collection(id_ or uuid4().hex, replace(collection, created_at=created))

        self._counters.change(changed)

    def rename_collection(self, name: str, new_name: str) -> None:
        """One change of the catalogue; what filters compare is written anew afterwards."""
        renamed = ""

        def changed(catalog: Catalog) -> Catalog:
            nonlocal renamed
            renamed = catalog.required(name)
            if catalog.id_of(new_name) not in (None, renamed):
                raise ConflictError(f"A collection named {new_name!r} exists.", hint="Choose another name.")
            return catalog.with_collection(renamed, replace(catalog.collections[renamed], name=new_name))

        catalog = self._counters.change(changed)
        with self._view() as view:
            for records in self._care.batches(view, {"term": {"collection": renamed}}):
                self._documents.rewrite(self._care.current(records), catalog)
        self._counters.acknowledge()

    def drop_collection(self, name: str) -> int:
        """Gone with one change of the catalogue; its documents are removed afterwards."""
        dropped = ""

        def changed(catalog: Catalog) -> Catalog:
            nonlocal dropped
            dropped = catalog.required(name)
            return catalog.with_collection(dropped, None)

        self._counters.change(changed)
        with self._view() as view:
            count = view.chunks.count(of_kind("document", {"term": {"collection": dropped}}))
            self._care.drop(view, dropped)
        self._counters.acknowledge()
        return count

    def put_context(self, context: Context) -> None:
        """One change of the catalogue."""

        def changed(catalog: Catalog) -> Catalog:
            id_ = None if context.collection is None else catalog.required(context.collection)
            return replace(catalog, contexts={**catalog.contexts, (id_, context.prefix): context.text})

        self._counters.change(changed)

    def drop_context(self, collection: str | None, prefix: str) -> bool:
        """One change of the catalogue, if it is there."""
        found = False

        def changed(catalog: Catalog) -> Catalog:
            nonlocal found
            where = (None if collection is None else catalog.id_of(collection), prefix)
            found = where in catalog.contexts and (collection is None or where[0] is not None)
            if not found:
                return catalog
            return replace(catalog, contexts={each: text for each, text in catalog.contexts.items() if each != where})

        self._counters.change(changed)
        return found

    # What is known

    def fingerprints(self, collection: str, paths: Sequence[str] | None = None) -> Mapping[str, Known]:
        """Ledger entries first, so that a document at the same path wins."""
        if paths is not None:
            return self._known_at(collection, paths)
        known: dict[str, Known] = {}
        with self._view() as view:
            id_ = view.catalog.id_of(collection)
            if id_ is None:
                return known
            within = {"term": {"collection": id_}}
            for hit in view.contents.scan(of_kind("ledger", within), ["path"]):
                entry = ledger_from(hit["_source"], view.catalog.names)
                known[entry.path] = Known(entry.fingerprint, state=entry.state, code=entry.code)
            known |= {record.info.path: record.known for record in self._care.records(view, within)}
        return known

    def _known_at(self, collection: str, paths: Sequence[str]) -> dict[str, Known]:
        """By id, which is always current: whoever holds a lease asks what others did before."""
        catalog = self._counters.catalog()
        id_ = catalog.id_of(collection)
        if id_ is None:
            return {}
        entries = self._connection.get_many([(self._indexes.contents, ledger_id(id_, path), "") for path in paths])
        known = {}
        for found in entries.values():
            entry = ledger_from(found["_source"], catalog.names)
            known[entry.path] = Known(entry.fingerprint, state=entry.state, code=entry.code)
        records = self._care.current_by_id(self._owners(id_, paths))
        wanted = set(paths)
        return known | {
            record.info.path: record.known
            for record in records
            if record.collection == id_ and record.info.path in wanted
        }

    def _owners(self, collection: str, paths: Iterable[str]) -> list[str]:
        """The ids of the documents that these paths are noted for."""
        notes = self._connection.get_many(
            [(self._indexes.contents, place_id(collection, path), "") for path in paths], ["document"]
        )
        return [note["_source"]["document"] for note in notes.values()]

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """The titles of those that have content."""
        ids = {content_id(key): key for key in keys}
        wanted = [(self._indexes.contents, id_, "") for id_ in ids]
        found = self._connection.get_many(wanted, ["kept.title"])
        return {ids[id_]: each["_source"].get("kept", {}).get("title") for id_, each in found.items()}

    def original(self, content_hash: str) -> bytes | None:
        """The bytes, if they were kept."""
        found = self._connection.get(self._indexes.contents, original_id(content_hash))
        return b64decode(found["_source"]["kept"]["data"]) if found else None

    # Documents and the ledger

    def put(self, drafts: Sequence[Draft]) -> None:
        """Each document changes as a whole; none changes where a draft is refused."""
        self._documents.put(drafts)

    def restat(self, collection: str, fingerprints: Mapping[str, Fingerprint]) -> None:
        """Replace fingerprints where there is something to replace; size and time are what filters compare."""
        catalog = self._counters.catalog()
        id_ = catalog.required(collection)
        records = [
            replace(record, info=replace(record.info, fingerprint=fingerprints[record.info.path]))
            for record in self._care.current_by_id(self._owners(id_, fingerprints))
            if record.collection == id_ and record.info.path in fingerprints
        ]
        self._documents.rewrite(records, catalog)
        entries = self._connection.get_many(
            [(self._indexes.contents, ledger_id(id_, path), "") for path in fingerprints]
        )
        for found in entries.values():
            entry = ledger_from(found["_source"], catalog.names)
            print_ = replace(fingerprints[entry.path], etag="")  # what is not a document has no use for it
            body = ledger_to(replace(entry, fingerprint=print_), id_)
            self._connection.write([Write("index", self._indexes.contents, found["_id"], body)])
        self._counters.acknowledge()

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Write the entries down."""
        catalog = self._counters.catalog()
        placed = [(catalog.required(entry.collection), replace(entry, at=entry.at or now_ms())) for entry in entries]
        self._documents.record(placed)
        self._counters.acknowledge()

    def delete(self, documents: Sequence[UUID], *, exclude: bool = False) -> int:
        """Remove those that are there, and count them."""
        return self._documents.delete(documents, exclude=exclude)

    def forget(self, collection: str, paths: Sequence[str]) -> None:
        """Drop the entries that are there."""
        id_ = self._counters.catalog().required(collection)
        self._connection.write(Write("delete", self._indexes.contents, ledger_id(id_, path)) for path in paths)
        self._counters.acknowledge()

    # Vectors

    def unembedded(self, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
        """Shortest text first, ties by key."""
        with self._view() as view:
            return waiting_texts(view, model, limit)

    def count_unembedded(self, model: ModelIdentity) -> int:
        """How many there are."""
        with self._view() as view:
            return count_waiting(view, model)

    def put_vectors(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """Keep them, unless those of another model are there."""
        self._vectors.put(model, vectors)

    def add_model(self, model: ModelIdentity) -> None:
        """Name it in the catalogue as the one to come."""
        self._vectors.add_model(model)

    def switch_model(self, model: ModelIdentity) -> None:
        """Name it in the catalogue as the one that answers."""
        self._vectors.switch_model(model)

    def drop_vectors(self) -> None:
        """Forget the vectors and their models."""
        self._vectors.drop()

    def lease(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:
        """Notes with a time, which whoever is first writes."""
        return self._leases.take(names, owner, seconds)

    # Care

    def cleanup(self, older_than_ms: int) -> int:
        """Forget old unused contents, then what no content is left for; the cluster frees the space when it merges."""
        with self._view() as view:
            self._care.cleanup(view, older_than_ms)
            self._vectors.give_up(now_ms() - older_than_ms)
        with self._view() as view:
            self._care.forget_unneeded(view)
        return 0

    def check(self, *, deep: bool = False) -> list[Finding]:
        """What the cluster says of itself, and what we count."""
        with self._view() as view:
            return self._care.check(view, deep=deep)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Write everything derived anew."""
        with self._view() as view:
            self._care.rebuild(view, progress)

    def close(self) -> None:
        """Let go of the views and the sockets."""
        if not self._connection.closed:
            self._views.close()
        self._connection.close()
