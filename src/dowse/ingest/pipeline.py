"""Bring a collection up to date with its sources: walk -> compare -> read -> put -> remove.

Everything is searchable by words afterwards; `backlog` adds the vectors. Stopped anywhere, the next run
goes on: what was put stays, what was not is found again by the comparison. Several runs at once share the reading.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from dowse.errors import SourceError
from dowse.ingest.compare import Comparison, compare, guard, ingested, walked, way_out
from dowse.ingest.given import Web, again, is_address
from dowse.ingest.intake import Intake, Source, walked_source
from dowse.ingest.settings import IndexSettings
from dowse.ingest.sharing import Sharing
from dowse.ingest.sources import Selection
from dowse.ports import Store
from dowse.types import Collection, Event, IndexReport, Known, LedgerEntry, now_ms

__all__ = ["IndexSettings", "index_collection"]


def index_collection(
    store: Store,
    collection: Collection,
    settings: IndexSettings,
    *,
    on_event: Callable[[Event], None] | None = None,
    prune: bool = False,
    retry: bool = False,
    only: Selection | None = None,
    web: Web = "leave",
) -> IndexReport:
    """Index what is new or changed, remove what is gone, and report.

    `prune` overrules the guard; `retry` tries again what took too long; `only` looks at a part of the folder
    and leaves the rest as it is;
    `web` says whether the servers of ingested addresses are asked too.
    """
    tell = on_event or (lambda _: None)
    known = dict(store.fingerprints(collection.name))
    compared, accident = _compare(collection, known, settings, only, prune=prune, retry=retry, tell=tell)
    if accident:
        return IndexReport(collection.name, guarded=accident)
    leaving = compared.gone | compared.superseded
    share = Sharing(store, collection, known)
    intake = Intake(store, collection, settings, known, leaving, share.claim)
    to_read = [walked_source(found, settings.max_file_size) for found in compared.to_read]
    if only is None:
        to_read += _ingested_again(store, known, settings, compared, web)
    with closing(share.taken(to_read, intake.flush)) as sources:
        for done, source in enumerate(sources, start=1):
            tell(Event("read", done, len(to_read), source.path))
            intake.take(source)
            if intake.is_stored:
                share.release()
    tell(Event("store"))
    compared.held |= share.elsewhere
    still = share.claim(leaving)
    compared.gone = {path: gone for path, gone in compared.gone.items() if path in still}
    guarded = "" if prune else guard(collection, known, compared)
    removable = ({} if guarded else compared.gone) | {p: each for p, each in compared.superseded.items() if p in still}
    removed = store.delete([each.id for each in removable.values() if each.id]) if removable else 0
    share.release()
    with store.snapshot() as snapshot:
        ledger = snapshot.ledger(collection.name)
    refused = (*compared.refused, *intake.refused, *(entry for entry in ledger if entry.path in compared.held))
    if obsolete := _obsolete(ledger, compared, refused, guarded):
        store.forget(collection.name, obsolete)
    if news := [entry for entry in compared.refused if _is_news(entry, known)]:
        store.record(news)
    if only is None or any((*intake.counts.values(), intake.refused, removed, obsolete, news)):
        _mark_updated(store, collection)
    tell(Event("done", len(to_read), len(to_read)))
    counts = intake.counts
    return IndexReport(
        collection.name,
        added=counts["added"],
        changed=counts["changed"] + counts["described"],
        moved=counts["moved"],
        removed=removed,
        unchanged=compared.unchanged + counts["same"] + len(share.elsewhere),
        chunks=intake.chunks,
        failed=tuple(entry for entry in refused if entry.state == "failed"),
        skipped=tuple(entry for entry in refused if entry.state == "skipped"),
        guarded=guarded,
    )


def _compare(
    collection: Collection,
    known: Mapping[str, Known],
    settings: IndexSettings,
    only: Selection | None,
    *,
    prune: bool,
    retry: bool,
    tell: Callable[[Event], None],
) -> tuple[Comparison, str]:
    """What is to be done, or why nothing may be: the folder is not there, which looks like an accident."""
    if collection.root is None:
        return Comparison(), ""
    tell(Event("walk", note=collection.root))
    try:
        return compare(collection, known, settings, only, retry=retry), ""
    except SourceError as error:
        if prune and error.reason == "missing":
            return Comparison(gone=walked(known)), ""
        return Comparison(), f"{error.message} Nothing was removed. {way_out(collection, error)}"


def _ingested_again(
    store: Store, known: Mapping[str, Known], settings: IndexSettings, compared: Comparison, web: Web
) -> Iterator[Source]:
    """The ingested documents that have to be read again."""
    for path, each in ingested(known).items():
        if path in compared.superseded or path in compared.seen:
            continue
        source = again(path, each, settings, store, web)
        if source is not None:
            yield source
        else:
            compared.unchanged += 1


def _obsolete(
    ledger: Sequence[LedgerEntry], compared: Comparison, refused: Sequence[LedgerEntry], guarded: str
) -> list[str]:
    """Paths of ledger entries that hold no more: the file is gone, or nothing is wrong with it now.

    An exclusion is the user's word: it goes only with its file, and not when that may be an accident.
    """
    still = {entry.path for entry in refused}
    return [
        entry.path
        for entry in ledger
        if entry.path not in still
        and not is_address(entry.path)  # what failed to be ingested stays until it succeeds
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
