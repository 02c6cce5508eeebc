"""What a batch of drafts comes to: worked out on the few documents that it touches, before anything is written.

The drafts are taken one after the other, as `Store.put` says: a later one may link to the content of an earlier one,
take the place that it left, or replace it. Only what stands at the end is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from dowse.errors import StoreError
from dowse.store.opensearch.catalog import Catalog
from dowse.store.opensearch.connection import Connection
from dowse.store.opensearch.layout import Indexes
from dowse.store.opensearch.rows import ContentKey, Record, StoredContent, content_id, ledger_id, place_id
from dowse.types import Draft, MetadataValue, now_ms

__all__ = ["Place", "Plan", "plan_put", "read_records"]

Place = tuple[str, str]
"""The id of a collection, and a path."""


@dataclass
class Plan:
    """The documents that a batch touches: as they were, and as they shall be."""

    before: dict[str, Record] = field(default_factory=dict)
    """By document id."""
    after: dict[str, Record] = field(default_factory=dict)
    owners: dict[Place, str] = field(default_factory=dict)
    """Which document has each place in the end."""
    notes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The version of each place's note, where there is one."""
    noted: dict[str, str] = field(default_factory=dict)
    """Which document each note names."""
    contents: dict[ContentKey, StoredContent] = field(default_factory=dict)
    new_contents: set[ContentKey] = field(default_factory=set)
    originals: dict[str, bytes] = field(default_factory=dict)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The version of each document's record; also of those that a dropped collection left behind."""
    reserved: dict[str, str] = field(default_factory=dict)
    """The document that a place's note names, where that document is not there."""
    entries: list[str] = field(default_factory=list)
    """The ids of the ledger's entries at these places."""
    placed: set[Place] = field(default_factory=set)
    """Every place that some draft named."""

    def published(self) -> list[Record]:
        """The records to write."""
        return [record for id_, record in self.after.items() if record is not self.before.get(id_)]

    def removed(self) -> list[Record]:
        """The records to delete."""
        return [record for id_, record in self.before.items() if id_ not in self.after]


def plan_put(connection: Connection, indexes: Indexes, catalog: Catalog, drafts: Sequence[Draft]) -> Plan:
    """Read what the drafts touch and take them in their order.

    Raises:
        NotFoundError: a collection is unknown.
        StoreError: a draft links to content that is unknown.
    """
    places = [(catalog.required(draft.info.collection), draft.info.path) for draft in drafts]
    plan = Plan(placed=set(places))
    ledger = {ledger_id(*place) for place in places}
    ids = [*(place_id(*place) for place in places), *ledger]
    found = connection.get_many([(indexes.contents, id_, "") for id_ in dict.fromkeys(ids)], ["document"])
    plan.entries = sorted(ledger & found.keys())
    for id_ in found.keys() - ledger:
        note = found[id_]
        plan.notes[id_] = (note["_seq_no"], note["_primary_term"])
        plan.noted[id_] = note["_source"]["document"]
    ids = [*(draft.info.id.hex for draft in drafts), *plan.noted.values()]
    there = read_records(connection, indexes, catalog, ids)
    plan.seen = {id_: record.on for id_, record in there.items() if record.on}
    plan.before = {id_: record for id_, record in there.items() if record.info.collection}
    plan.after = dict(plan.before)
    # Another writer has just noted a place and not yet written its document, or died: that id is for whoever is first.
    plan.reserved = {id_: owner for id_, owner in plan.noted.items() if owner not in there}
    old = {place_id(record.collection, record.info.path) for record in plan.before.values()} - plan.notes.keys()
    for id_, note in connection.get_many([(indexes.contents, id_, "") for id_ in sorted(old)], ["document"]).items():
        plan.notes[id_] = (note["_seq_no"], note["_primary_term"])
    for record in plan.before.values():
        plan.owners[record.collection, record.info.path] = record.id
    _read_contents(connection, indexes, plan, drafts)
    for draft, place in zip(drafts, places, strict=True):
        _take(plan, draft, place)
    return plan


def read_records(connection: Connection, indexes: Indexes, catalog: Catalog, ids: Sequence[str]) -> dict[str, Record]:
    """The records of these documents as they are now; those of a dropped collection have none in their info."""
    names = catalog.names
    found = connection.get_many([(indexes.chunks, id_, id_) for id_ in dict.fromkeys(ids)])
    return {
        id_: Record.read(each["_source"], names, (each["_seq_no"], each["_primary_term"]))
        for id_, each in found.items()
    }


def _read_contents(connection: Connection, indexes: Indexes, plan: Plan, drafts: Sequence[Draft]) -> None:
    keys = {content_id(key): key for key in ((draft.info.content_hash, draft.recipe) for draft in drafts)}
    found = connection.get_many([(indexes.contents, id_, "") for id_ in keys])
    plan.contents = {keys[id_]: StoredContent.read(each["_source"]) for id_, each in found.items()}


def _take(plan: Plan, draft: Draft, place: Place) -> None:
    """Add, replace or move one document."""
    info, key = draft.info, (draft.info.content_hash, draft.recipe)
    if key not in plan.contents:
        if draft.content is None:
            raise StoreError(
                f"The content of {info.file} is unknown: hash {info.content_hash}, recipe {draft.recipe}.",
                hint="Put the document with its content.",
            )
        plan.contents[key] = StoredContent(draft.content)
        plan.new_contents.add(key)
    if draft.original is not None:
        plan.originals[info.content_hash] = draft.original
    occupant = plan.after.get(plan.owners.get(place, ""))
    previous = plan.after.get(info.id.hex, occupant)
    if occupant is not None:
        del plan.after[occupant.id]
    if previous is not None:
        plan.owners.pop((previous.collection, previous.info.path), None)
    content = plan.contents[key].content
    old = replace(info, id=_id_for(plan, info.id, place)) if previous is None else previous.info
    made = replace(
        info,
        id=old.id,
        metadata=_plain({**content.metadata, **info.metadata}),
        chunks=len(content.chunks),
        created_at=old.created_at or now_ms(),
        updated_at=info.updated_at or now_ms(),
    )
    said = _plain(info.metadata)
    plan.after[old.id.hex] = Record(made, 0, place[0], key, said, on=plan.seen.get(old.id.hex))
    plan.owners[place] = old.id.hex


def _id_for(plan: Plan, given: UUID, place: Place) -> UUID:
    """The id of a new document: its own, unless another one is reserved for its place."""
    reserved = plan.reserved.get(place_id(*place))
    return given if reserved is None or reserved in plan.after else UUID(reserved)


def _plain(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """A copy of our own, down to its lists."""
    return {key: list(value) if isinstance(value, list) else value for key, value in metadata.items()}
