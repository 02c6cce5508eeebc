"""A whole store into another one: documents with their ids, vectors, ledger and contexts, and proof that all came.

What is there already is left alone, so that an interrupted move goes on where it stopped. Nothing is taken from the
source; whoever moves decides when to use the other one.
"""

from collections.abc import Callable, Mapping
from dataclasses import astuple
from hashlib import sha256
from typing import TYPE_CHECKING

from dowse.errors import ConflictError, StoreError
from dowse.ports import Snapshot, Store
from dowse.store.portable.parts import Head, Part, head_of, parts_of
from dowse.types import Draft, Event, Known, TransferReport

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["move"]

OnEvent = Callable[[Event], None]


def move(source: Store, target: Store, *, on_event: OnEvent | None = None) -> TransferReport:
    """Copy everything that the source holds at this moment, then compare.

    Raises:
        ConflictError: the target holds documents that the source does not.
        StoreError: the target does not hold the same afterwards.
    """
    tell = on_event or (lambda _: None)
    with source.snapshot() as view:
        total = sum(stats.documents for stats in view.stats().collections)
        done = vectors = 0
        for context in view.contexts():
            if context.collection is None:
                target.put_context(context)
        for collection in view.collections():
            head = head_of(view, collection.name)
            known = _begin(view, target, head)
            for part in parts_of(view, head):
                vectors += _take(target, head, part, known)
                done += len(part.drafts)
                tell(Event("store", done, total))
            _check(source, target, head)
        _check_vectors(source, target, view)
        tell(Event("done", done, total))
    return TransferReport("", done, vectors, 0)


def _begin(view: Snapshot, target: Store, head: Head) -> dict[str, Known]:
    """Make the collection there; returns what it has."""
    name = head.collection.name
    ours = {info.id for info in view.documents(name)}
    with target.snapshot() as other:
        theirs = {collection.name for collection in other.collections()}
    known = dict(target.fingerprints(name)) if name in theirs else {}
    foreign = [path for path, each in known.items() if each.id is not None and each.id not in ours]
    if foreign:
        raise ConflictError(
            f"The collection {name} there holds documents that are not here: {foreign[0]}"
            + (f" and {len(foreign) - 1} more." if len(foreign) > 1 else "."),
            hint="Move into an index that is empty, or that an interrupted move began.",
        )
    target.put_collection(head.collection)
    for context in head.contexts:
        target.put_context(context)
    target.record(view.ledger(name))
    return known


def _take(target: Store, head: Head, part: Part, known: dict[str, Known]) -> int:
    """Put what is not there yet; returns how many vectors came along."""
    wanted: list[tuple[bytes, Vector]] = []
    if head.model is not None and part.vectors:
        with target.snapshot() as view:
            have = view.vectors(head.model, list(part.vectors))
        wanted = [(key, vector) for key, vector in part.vectors.items() if key not in have]
        if wanted:
            # First, so that a store which keeps them beside the passages writes these once.
            target.put_vectors(head.model, wanted)
    missing = [draft for draft in part.drafts if not _is_there(draft, known.get(draft.info.path))]
    if missing:
        target.put(missing)
    return len(wanted)


def _is_there(draft: Draft, known: Known | None) -> bool:
    info = draft.info
    return known is not None and (known.id, known.content_hash, known.recipe, known.fingerprint) == (
        info.id,
        info.content_hash,
        draft.recipe,
        info.fingerprint,
    )


def _check(source: Store, target: Store, head: Head) -> None:
    """Compare what both know of every path."""
    name = head.collection.name
    here, there = (_digest(store.fingerprints(name)) for store in (source, target))
    if here != there:
        raise StoreError(
            f"The collection {name} did not arrive as it is here: {here[0]} entries with the sum {here[1][:12]}, "
            f"there {there[0]} with {there[1][:12]}.",
            hint="Did somebody write to one of them? Move again: it goes on from here.",
        )


def _check_vectors(source: Store, target: Store, view: Snapshot) -> None:
    """Compare how many texts wait for a vector."""
    model = view.model()
    if model is not None:
        here, there = (store.count_unembedded(model) for store in (source, target))
        if there > here:
            raise StoreError(f"{there - here} texts have a vector here and none there.", hint="Move again.")


def _digest(known: Mapping[str, Known]) -> tuple[int, str]:
    """How many entries, and one hash over all that is known of them."""
    entries = sorted(known.items())
    total = sha256()
    for path, each in entries:
        total.update(repr((path, astuple(each))).encode(errors="surrogatepass"))
    return len(entries), total.hexdigest()
