"""Writing documents: the new version first, then the record that makes it live, then the old one goes.

Passages carry the number of their version and count only while the record of their document names it. The record is
one document, written only if it is still what the plan was made on: that is the moment in which a whole version
becomes visible. Whatever is interrupted leaves passages that nobody sees, for `cleanup` to find.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from dowse.store.opensearch.backlog import Vectors
from dowse.store.opensearch.catalog import Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes
from dowse.store.opensearch.planning import Place, Plan, plan_put, read_records
from dowse.store.opensearch.rows import (
    Record,
    StoredContent,
    chunk_id,
    chunk_sources,
    content_id,
    ledger_id,
    ledger_to,
    original_id,
    place_id,
)
from dowse.types import Draft, LedgerEntry, now_ms

__all__ = ["Documents"]


class Documents:
    """Puts, rewrites and removes documents."""

    def __init__(self, connection: Connection, indexes: Indexes, counters: Counters, vectors: Vectors) -> None:
        self._connection = connection
        self._indexes = indexes
        self._counters = counters
        self._vectors = vectors

    def put(self, drafts: Sequence[Draft]) -> None:
        """Add or replace documents; begins anew where another writer changed one of them meanwhile."""
        if drafts:
            self._connection.until_done(lambda: self._put(drafts))

    def _put(self, drafts: Sequence[Draft]) -> bool:
        catalog = self._counters.catalog()
        plan = plan_put(self._connection, self._indexes, catalog, drafts)
        first = self._counters.take_versions(len(drafts))
        self._keep_contents(plan, first)
        if not self._claim_places(plan):
            return False
        published = [replace(record, version=first + place) for place, record in enumerate(plan.published())]
        self._write_chunks(catalog, published, plan)
        flips = [_flip(self._indexes.chunks, record) for record in published]
        outcomes = self._connection.write(flips)
        lost = [record for record, outcome in zip(published, outcomes, strict=True) if outcome.conflict]
        if lost:
            won = [record for record in published if record not in lost]
            replaced = [plan.before[record.id] for record in won if record.id in plan.before]
            self._connection.write([*self._without_chunks([*lost, *replaced]), *self._released(replaced)])
            return False
        self._leave_behind(plan, published)
        self._counters.acknowledge()
        return True

    def _keep_contents(self, plan: Plan, stamp: int) -> None:
        """Write what is new; what is linked to is marked as used, so that a cleanup that saw it unused lets it be."""
        now = now_ms()
        used = {record.key for record in plan.published()} | plan.new_contents
        writes = [
            Write("create", self._indexes.contents, content_id(key), plan.contents[key].source(key, stamp, now))
            if key in plan.new_contents
            else Write("update", self._indexes.contents, content_id(key), {"doc": {"released": now}})
            for key in used
        ]
        writes += [
            Write(
                "index",
                self._indexes.contents,
                original_id(content_hash),
                {"kind": "original", "hash": content_hash, "kept": {"data": b64encode(data).decode()}},
            )
            for content_hash, data in plan.originals.items()
        ]
        self._connection.write(writes)

    def _claim_places(self, plan: Plan) -> bool:
        """Note who has which place; False where somebody else just did."""
        claims = []
        for place, owner in plan.owners.items():
            id_ = place_id(*place)
            # A note that is adopted is written too, so that whoever is about to delete it finds it changed.
            if place not in plan.placed or (plan.noted.get(id_) == owner and id_ not in plan.reserved):
                continue
            body = {"kind": "place", "collection": place[0], "document": owner}
            on = plan.notes.get(id_)
            claims.append(Write("index" if on else "create", self._indexes.contents, id_, body, on=on))
        return not any(outcome.conflict for outcome in self._connection.write(claims))

    def _write_chunks(self, catalog: Catalog, records: Sequence[Record], plan: Plan) -> None:
        keys = {key for record in records for key in plan.contents[record.key].keys}
        vectors = {tag: self._vectors.of(tag, keys) for tag in catalog.held}
        self._connection.write(
            write for record in records for write in self._chunks(record, plan.contents[record.key], vectors)
        )

    def _chunks(
        self, record: Record, content: StoredContent, vectors: Mapping[str, Mapping[str, list[float]]]
    ) -> Iterator[Write]:
        for ordinal, source in enumerate(chunk_sources(record, content, vectors)):
            yield Write(
                "index", self._indexes.chunks, chunk_id(record.version, ordinal), source, routing=source["document"]
            )

    def _without_chunks(self, records: Iterable[Record]) -> Iterator[Write]:
        for record in records:
            for ordinal in range(record.info.chunks):
                yield Write("delete", self._indexes.chunks, chunk_id(record.version, ordinal), routing=record.id)

    def _leave_behind(self, plan: Plan, published: Sequence[Record]) -> None:
        """Remove what the new versions took the place of."""
        removed = plan.removed()
        self._remove(removed)
        old = [plan.before[record.id] for record in published if record.id in plan.before] + removed
        kept = {(record.collection, record.info.path) for record in plan.after.values()}
        left = {(record.collection, record.info.path) for record in old} - kept
        writes = [*self._without_chunks(old), *self._released(old), *_without(self._indexes.contents, left, plan.notes)]
        writes += [Write("delete", self._indexes.contents, entry) for entry in plan.entries]
        self._connection.write(writes)

    def _remove(self, records: Sequence[Record]) -> None:
        """Delete these records, also where they were replaced meanwhile in the places that they have lost."""
        left = {record.id: record for record in records}

        def attempt() -> bool:
            outcomes = self._connection.write(
                Write("delete", self._indexes.chunks, record.id, routing=record.id, on=record.on)
                for record in left.values()
            )
            again = [id_ for id_, outcome in zip(list(left), outcomes, strict=True) if outcome.conflict]
            now = read_records(self._connection, self._indexes, self._counters.catalog(), again)
            places = {id_: (left[id_].collection, left[id_].info.path) for id_ in again}
            left.clear()
            left.update({id_: each for id_, each in now.items() if (each.collection, each.info.path) == places[id_]})
            return not left

        if left:
            self._connection.until_done(attempt)

    def _released(self, records: Iterable[Record]) -> Iterator[Write]:
        """Say of their contents that they lost a document now."""
        for id_ in {content_id(record.key) for record in records}:
            yield Write("update", self._indexes.contents, id_, {"doc": {"released": now_ms()}})

    def rewrite(self, records: Sequence[Record], catalog: Catalog) -> None:
        """Write documents again under their present version: what is said of them changed, not their content."""
        found = self._connection.get_many(
            [(self._indexes.contents, id_, "") for id_ in dict.fromkeys(content_id(record.key) for record in records)]
        )
        contents = {id_: StoredContent.read(each["_source"]) for id_, each in found.items()}
        whole = [record for record in records if content_id(record.key) in contents]
        outcomes = self._connection.write(_flip(self._indexes.chunks, record) for record in whole)
        mine = [record for record, outcome in zip(whole, outcomes, strict=True) if not outcome.conflict]
        plan = Plan(contents={record.key: contents[content_id(record.key)] for record in mine})
        self._write_chunks(catalog, mine, plan)

    def delete(self, ids: Sequence[UUID], *, exclude: bool) -> int:
        """Remove those that are there, and count them."""
        left = {id_.hex for id_ in ids}
        removed = 0

        def attempt() -> bool:
            nonlocal removed, left
            catalog = self._counters.catalog()
            found = read_records(self._connection, self._indexes, catalog, sorted(left)).values()
            records = [record for record in found if record.info.collection]
            notes = self._notes((record.collection, record.info.path) for record in records)
            if exclude:
                # Before the document goes: a crash in between leaves an entry, not a document that comes back.
                self.record([(record.collection, _exclusion(record)) for record in records])
            outcomes = self._connection.write(
                Write("delete", self._indexes.chunks, record.id, routing=record.id, on=record.on) for record in records
            )
            gone = [record for record, outcome in zip(records, outcomes, strict=True) if not outcome.conflict]
            places = {(record.collection, record.info.path) for record in gone}
            left_notes = _without(self._indexes.contents, places, notes)
            self._connection.write([*self._without_chunks(gone), *self._released(gone), *left_notes])
            removed += len(gone)
            left = {record.id for record in records} - {record.id for record in gone}
            return not left

        self._connection.until_done(attempt)
        if removed:
            self._counters.acknowledge()
        return removed

    def _notes(self, places: Iterable[Place]) -> dict[str, tuple[int, int]]:
        """The versions of the notes that these places have."""
        found = self._connection.get_many(
            [(self._indexes.contents, place_id(*place), "") for place in places], ["document"]
        )
        return {id_: (note["_seq_no"], note["_primary_term"]) for id_, note in found.items()}

    def record(self, entries: Iterable[tuple[str, LedgerEntry | None]]) -> None:
        """Write these entries of the ledger down, each with the id of its collection."""
        self._connection.write(
            Write("index", self._indexes.contents, ledger_id(id_, entry.path), ledger_to(entry, id_))
            for id_, entry in entries
            if entry is not None
        )


def _without(index: str, places: Iterable[Place], notes: Mapping[str, tuple[int, int]]) -> Iterator[Write]:
    """Delete the notes of these places, as they were when they were read: one that another writer adopted stays."""
    for id_ in (place_id(*place) for place in places):
        if id_ in notes:
            yield Write("delete", index, id_, on=notes[id_])


def _flip(index: str, record: Record) -> Write:
    """The write that makes a version live, if nobody changed the document meanwhile."""
    action = "index" if record.on else "create"
    return Write(action, index, record.id, record.source(), routing=record.id, on=record.on)


def _exclusion(record: Record) -> LedgerEntry | None:
    info = record.info
    if info.origin != "walked":
        return None
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
