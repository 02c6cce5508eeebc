"""The engine: one object that wires configuration to parts and offers the verbs.

Above it: interfaces, which parse and render. Below it: ingest, search, store and inference, which
know each other only through the ports. No logic lives here beyond choosing parts and naming errors.
What only some verbs need is imported by them: a search loads nothing of what indexing does.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack
from uuid import UUID

from dowse.config import Config
from dowse.engine.parts import Parts
from dowse.engine.stores import migrate, open_store
from dowse.errors import NotFoundError, UsageError
from dowse.logs import timed
from dowse.ports import Snapshot, Store
from dowse.types import (
    Answer,
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    EmbedReport,
    Event,
    Filter,
    Finding,
    IndexReport,
    IngestReport,
    LedgerEntry,
    Passage,
    Query,
    StoreStats,
    TransferReport,
)

if TYPE_CHECKING:
    from dowse.ingest.collections import CollectionSettings
    from dowse.ingest.given import Said, Web
    from dowse.ingest.sources.given import Given
    from dowse.ingest.watch.state import WatchStatus
    from dowse.ingest.watch.watcher import Batch, Watcher
    from dowse.search.lookup import Found
    from dowse.search.verify import Verdict
    from dowse.search.why import Why

OnEvent = Callable[[Event], None]

DEFAULT_COLLECTION = "default"
"""Where ingested things go that name no collection."""


class Engine:
    """Index, search and get over one index. Made by `dowse.open()`; close it, or use it in a `with`."""

    def __init__(self, store: Store, config: Config, *, on_message: Callable[[str], None] | None = None) -> None:
        self.config = config
        self._store = store
        self._parts = Parts(config, on_message)

    # Collections and contexts

    def collections(self) -> tuple[CollectionStats, ...]:
        """Every collection with its counts, by name."""
        return self.stats().collections

    def known_collections(self) -> tuple[Collection, ...]:
        """Every collection without its counts, which take a look at every document."""
        with self._store.snapshot() as snapshot:
            return snapshot.collections()

    def collection(self, name: str) -> CollectionStats:
        """One collection with its counts."""
        everything = self.collections()
        for stats in everything:
            if stats.collection.name == name:
                return stats
        raise _no_collection(name, [stats.collection.name for stats in everything])

    def add_collection(
        self, root: Path | str | None, *, name: str = "", **settings: "Unpack[CollectionSettings]"
    ) -> Collection:
        """Create a collection; with a root, that folder is what `index` walks. Nothing is read yet."""
        from dowse.ingest.collections import add_collection  # a search need not load it

        return add_collection(self._store, root, name, **settings)

    def configure_collection(self, name: str, **settings: "Unpack[CollectionSettings]") -> Collection:
        """Change settings of a collection, and only those that are given; `index` does what follows from them."""
        from dowse.ingest.collections import configure_collection

        return configure_collection(self._store, self._collection(name), **settings)

    def remove_collection(self, name: str) -> int:
        """Remove it with everything in it (the files stay); returns how many documents left the index."""
        self._collection(name)
        return self._store.drop_collection(name)

    def rename_collection(self, name: str, new_name: str) -> None:
        """Rename it; documents keep their ids."""
        from dowse.ingest.collections import check_name

        self._collection(name)
        check_name(new_name)
        self._store.rename_collection(name, new_name)

    def include_collection(self, name: str, *, included: bool) -> None:
        """Say whether searches that name no collection look into this one."""
        self._store.put_collection(replace(self._collection(name), included=included))

    def contexts(self) -> tuple[Context, ...]:
        """Every context, general ones first."""
        with self._store.snapshot() as snapshot:
            return snapshot.contexts()

    def add_context(self, text: str, *, collection: str | None = None, prefix: str = "") -> Context:
        """Describe a collection, a path prefix in it, or (collection None) everything."""
        if not text.strip():
            raise UsageError("A context needs a text.", hint='For example: dowse context add / "My notes since 2019"')
        if collection is not None:
            self._collection(collection)
        context = Context(collection, prefix.strip("/"), text.strip())
        self._store.put_context(context)
        return context

    def remove_context(self, *, collection: str | None = None, prefix: str = "") -> None:
        """Remove the context at exactly this place."""
        if not self._store.drop_context(collection, prefix.strip("/")):
            place = "/" if collection is None else "/".join(filter(None, [collection, prefix.strip("/")]))
            raise NotFoundError(f"There is no context at {place}.", hint="See all of them: dowse context list")

    # Index

    def index(
        self,
        name: str,
        *,
        on_event: OnEvent | None = None,
        prune: bool = False,
        retry: bool = False,
        web: "Web" = "leave",
    ) -> IndexReport:
        """Bring a collection up to date with its sources: everything is searchable by words afterwards.

        `prune` overrules the mass-delete guard, `retry` tries again what took too long to read, `web` asks the
        servers of ingested addresses whether anything changed.
        """
        from dowse.ingest.pipeline import index_collection

        collection = self._collection(name)
        settings = self._parts.index_settings(collection)
        return index_collection(self._store, collection, settings, on_event=on_event, prune=prune, retry=retry, web=web)

    def index_paths(self, name: str, paths: Iterable[str], *, on_event: OnEvent | None = None) -> IndexReport:
        """The same for some paths below the collection's folder, and what is below them."""
        from dowse.ingest.partial import index_paths

        collection = self._collection(name)
        return index_paths(self._store, collection, self._parts.index_settings(collection), paths, on_event=on_event)

    def ingest(
        self,
        *given: "str | Path | Given",
        collection: str = DEFAULT_COLLECTION,
        on_event: OnEvent | None = None,
        **said: "Unpack[Said]",
    ) -> IngestReport:
        """Add files, folders, URLs, data: URIs or `given_content(...)`; a collection that is missing is made."""
        from dowse.ingest.given import ingest_given, understood

        understood_given, all_said = understood(given, said)
        known = self._collection(collection, make=True)
        settings = self._parts.index_settings(known)
        return ingest_given(self._store, known, settings, understood_given, all_said, on_event=on_event)

    def delete(self, *names: str, collection: str | None = None) -> tuple[DocumentInfo, ...]:
        """Take documents out of the index by path, URI, docid, id or glob; what a walk found stays away from now on."""
        from dowse.ingest.given import forget_failures, uri_of_path
        from dowse.search import lookup

        documents = forget_failures(self._store, names, collection)
        with self._store.snapshot() as snapshot:
            found = lookup.find(snapshot, documents, collection, uri_of_path)
        self._store.delete([info.id for info in found], exclude=True)
        return found

    def embed(self, *, on_event: OnEvent | None = None, force: bool = False) -> EmbedReport:
        """Give every passage that has none a vector; `force` makes all of them anew.

        The vectors of another model answer until those of the configured one are complete.
        """
        from dowse.ingest.backlog import embed_backlog

        return embed_backlog(self._store, self._parts.embedder, on_event=on_event, anew=force)

    def watcher(
        self,
        names: Sequence[str] = (),
        *,
        poll: bool = False,
        embed: bool = True,
        on_batch: "Callable[[Batch], None] | None" = None,
    ) -> "Watcher":
        """What keeps these collections (none: all) up to date while files change, once it is told to `run`."""
        from dowse.ingest.watch.watcher import Watcher

        for name in names:
            self._collection(name)
        return Watcher(
            self._store,
            self.config.index_dir,
            self._parts.index_settings,
            names=names,
            embedder=(lambda: self._parts.embedder) if embed else None,
            poll=poll,
            on_batch=on_batch,
        )

    def watched(self) -> "WatchStatus":
        """Whether anybody watches this index, and how that goes."""
        from dowse.ingest.watch.state import watch_status

        return watch_status(self.config.index_dir)

    # Search

    def search(self, query: str | Query) -> Answer:
        """Answer a question from the index, with every hit's freshness unless the query says otherwise."""
        asked = Query(query) if isinstance(query, str) else query
        with timed("search", limit=asked.limit) as said:
            found = self._answer(asked)
            said |= {"mode": found.mode, "hits": len(found.hits), "notes": len(found.notes)}
        if asked.fresh == "ignore":
            return found
        from dowse.ingest import freshness

        hits = freshness.check(found.hits)
        if asked.fresh == "wait" and (outdated := freshness.outdated(hits)):
            for name, paths in outdated.items():
                self.index_paths(name, paths)
            return self.search(replace(asked, fresh="warn"))
        note = freshness.note_about(hits)
        return replace(found, hits=hits, notes=(*found.notes, note) if note else found.notes)

    def _answer(self, asked: Query) -> Answer:
        with self._store.snapshot() as snapshot:
            return self._answer_from(snapshot, asked)

    def _answer_from(self, snapshot: Snapshot, asked: Query) -> Answer:
        known = {collection.name for collection in snapshot.collections()}
        for name in asked.collections:
            if name not in known:
                raise _no_collection(name, known)
        if asked.filter is not None:
            _check_filter(snapshot, asked.filter)
        from dowse.search.pipeline import answer

        return answer(snapshot, asked, self._parts.models)

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has for the embedding model: what budgets are counted in."""
        return self._parts.tokens.count(text)

    # Check

    def verify(self, claim: str, *, quote: str = "") -> "Verdict":
        """Whether a citation or a quoted text still holds: valid, moved, changed or gone."""
        from dowse.ingest.freshness import freshness_of
        from dowse.search.verify import verify

        with self._store.snapshot() as view:
            return verify(
                view, claim, quote=quote, old_texts=view.texts, freshness_of=freshness_of, editor=self.config.editor
            )

    def why(self, query: str | Query, name: str) -> "Why":
        """Why a document is found for a query, or why not: not indexed, filtered, below the cut, rank N."""
        from dowse.ingest.given import uri_of_path
        from dowse.search.syntax import parse
        from dowse.search.why import why

        asked = Query(query) if isinstance(query, str) else query
        conditions = parse(asked.text).filter
        with self._store.snapshot() as view:
            return why(view, asked, name, self._answer_from, conditions=conditions, uri_of=uri_of_path)

    # Get

    def get(self, name: str, *, first_line: int | None = None, max_lines: int | None = None) -> Document:
        """A document by path, end of path, `#docid` or id; `name:120` and `name:120:40` pick lines."""
        from dowse.search import lookup

        with self._store.snapshot() as snapshot:
            return lookup.get(snapshot, name, first_line=first_line, max_lines=max_lines)

    def get_many(self, pattern: str, *, max_lines: int | None = None, max_bytes: int | None = None) -> "Found":
        """Documents by a glob over `collection/path`, or by a comma-separated list of names."""
        from dowse.search import lookup

        with self._store.snapshot() as snapshot:
            return lookup.get_many(snapshot, pattern, max_lines=max_lines, max_bytes=max_bytes)

    def documents(
        self,
        name: str | None = None,
        *,
        prefix: str = "",
        filter: Filter | None = None,  # noqa: A002 - the noun
        limit: int | None = None,
        offset: int = 0,
    ) -> list[DocumentInfo]:
        """The documents of a collection, or of all, by path; `filter` as in `Query`."""
        if name is not None:
            self._collection(name)
        with self._store.snapshot() as snapshot:
            if filter is not None:
                _check_filter(snapshot, filter)
            return snapshot.documents(name, prefix=prefix, filter=filter, limit=limit, offset=offset)

    def chunks(self, document: UUID) -> list[Passage]:
        """Every passage of a document, in the order of its text."""
        with self._store.snapshot() as snapshot:
            return snapshot.chunks(document)

    def ledger(self, name: str | None = None) -> list[LedgerEntry]:
        """The files that are not indexed, each with its reason."""
        with self._store.snapshot() as snapshot:
            return snapshot.ledger(name)

    # Care

    def stats(self) -> StoreStats:
        """Counts and sizes."""
        with self._store.snapshot() as snapshot:
            return snapshot.stats()

    def cleanup(self, *, days: float | None = None) -> int:
        """Free what deleted documents left behind more than `days` ago; returns bytes freed."""
        keep = self.config.keep_days if days is None else days
        return self._store.cleanup(int(keep * 86_400_000))

    def backup(self, file: Path | str, *, replace: bool = False) -> TransferReport:
        """Write the whole index to one file, consistent also while others write to it."""
        from dowse.engine.care import backup

        return backup(self._store, Path(file), replace=replace)

    def restore(self, file: Path | str, *, force: bool = False) -> TransferReport:
        """Put a backup in the place of this index; `force` also where there are documents in it."""
        from dowse.engine.care import restore

        return restore(self._store, Path(file), force=force)

    def export_collection(self, name: str, file: Path | str, *, replace: bool = False) -> TransferReport:
        """Write a collection to one file with its vectors, for another index."""
        from dowse.engine.care import export_collection

        self._collection(name)
        return export_collection(self._store, name, Path(file), replace=replace)

    def import_collection(self, file: Path | str, *, name: str = "", root: Path | str | None = None) -> TransferReport:
        """Take in what `export_collection` wrote; nothing is embedded again where the model is the same."""
        from dowse.engine.care import import_collection

        return import_collection(self._store, Path(file), self._parts.known_identity(), name=name, root=root)

    def migrate(self, to: str | Path, *, on_event: OnEvent | None = None) -> TransferReport:
        """Copy everything into another index, by name, path or the address of a cluster; go on where it stopped."""
        return migrate(self._store, self.config, to, on_event=on_event)

    def doctor(
        self, *, deep: bool = False, repair: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> list[Finding]:
        """Examine the index; `repair` first rebuilds everything that is derived."""
        from dowse.engine.doctor import examine

        if repair:
            self._store.rebuild(progress)
        return examine(self._store, self.config, self._parts, deep=deep)

    def bundle(self, file: Path | str, *, replace: bool = False) -> int:
        """Write what helps to find a problem to a file, without names and texts; returns its size."""
        from dowse.engine.bundle import write_bundle

        return write_bundle(self._store, self.config, self.doctor(), Path(file), replace=replace)

    @property
    def bundle_contents(self) -> tuple[str, ...]:
        """What is in such a file, in words."""
        from dowse.engine.bundle import CONTENTS

        return CONTENTS

    def close(self) -> None:
        """Stop workers and release files."""
        self._parts.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _collection(self, name: str, *, make: bool = False) -> Collection:
        known = {collection.name: collection for collection in self.known_collections()}
        if name not in known and not make:
            raise _no_collection(name, known)
        return known.get(name) or self.add_collection(None, name=name)


def open_engine(
    index: str | Path | None = None,
    *,
    config: Config | None = None,
    create: bool = True,
    on_message: Callable[[str], None] | None = None,
) -> Engine:
    """Open an index by name or path (default: the configured one) and return its engine."""
    settings = config or Config.load()
    if index is not None:
        settings = replace(settings, index=str(Path(index).resolve()) if isinstance(index, Path) else index)
    return Engine(open_store(settings, create=create), settings, on_message=on_message)


def _check_filter(snapshot: Snapshot, filter: Filter) -> None:  # noqa: A002 - the noun
    from dowse.filters import check  # most searches have none

    check(filter, snapshot.metadata_keys())


def _no_collection(name: str, known: Iterable[str]) -> NotFoundError:
    from dowse.ingest.collections import no_collection

    return no_collection(name, known)
