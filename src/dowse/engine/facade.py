"""The engine: one object that wires configuration to parts and offers the verbs.

Above it: interfaces, which parse and render. Below it: ingest, search, store and inference, which
know each other only through the ports. No logic lives here beyond choosing parts and naming errors.
What only some verbs need is imported by them: a search loads nothing of what indexing does.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack
from uuid import UUID

from dowse.config import Config
from dowse.engine.caring import Caring
from dowse.engine.stores import open_store
from dowse.engine.wired import no_collection
from dowse.errors import NotFoundError, UsageError
from dowse.logs import is_heard, timed
from dowse.ports import Snapshot
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
    IndexReport,
    IngestReport,
    LedgerEntry,
    Passage,
    Query,
    Scope,
)

if TYPE_CHECKING:
    from dowse.evaluate import Evaluation, Plan
    from dowse.ingest.collections import CollectionSettings
    from dowse.ingest.given import Said, Web
    from dowse.ingest.sources.given import Given
    from dowse.ingest.watch.state import WatchStatus
    from dowse.ingest.watch.watcher import Batch, Watcher
    from dowse.ports import Vector
    from dowse.search.landscape import Landscape
    from dowse.search.lookup import Found
    from dowse.search.verify import Verdict
    from dowse.search.why import Why

OnEvent = Callable[[Event], None]

DEFAULT_COLLECTION = "default"
"""Where ingested things go that name no collection."""


class Engine(Caring):
    """Index, search and get over one index. Made by `dowse.open()`; close it, or use it in a `with`."""

    def within(self, collections: frozenset[str] | None) -> "Engine":
        """The same engine for somebody who may see and change only these collections; None: all. Closes nothing."""
        if collections is None:
            return self
        from dowse.store.scoped import ScopedStore  # only servers have such clients

        scoped = copy(self)
        scoped.__dict__.update(_store=ScopedStore(self._store, collections), _scope=collections)
        return scoped

    # Collections and contexts

    def collections(self) -> tuple[CollectionStats, ...]:
        """Every collection with its counts, by name."""
        return self.stats().collections

    def collection(self, name: str) -> CollectionStats:
        """One collection with its counts."""
        everything = self.collections()
        for stats in everything:
            if stats.collection.name == name:
                return stats
        raise no_collection(name, [stats.collection.name for stats in everything])

    def add_collection(
        self, root: Path | str | None, *, name: str = "", **settings: "Unpack[CollectionSettings]"
    ) -> Collection:
        """Create a collection; with a root, that folder is what `index` walks. Nothing is read yet."""
        from dowse.ingest.collections import add_collection  # a search need not load it

        return add_collection(self._store, root, name, **settings)

    def configure_collection(self, name: str, **settings: "Unpack[CollectionSettings]") -> Collection:
        """Change settings of a collection, and only those that are given; `index` does what follows from them."""
        from dowse.ingest.collections import configure_collection

        return configure_collection(self._store, self._known(name), **settings)

    def remove_collection(self, name: str) -> int:
        """Remove it with everything in it (the files stay); returns how many documents left the index."""
        self._known(name)
        return self._store.drop_collection(name)

    def rename_collection(self, name: str, new_name: str) -> None:
        """Rename it; documents keep their ids."""
        from dowse.ingest.collections import check_name

        self._known(name)
        check_name(new_name)
        self._store.rename_collection(name, new_name)

    def include_collection(self, name: str, *, included: bool) -> None:
        """Say whether searches that name no collection look into this one."""
        self._store.put_collection(replace(self._known(name), included=included))

    def contexts(self) -> tuple[Context, ...]:
        """Every context, general ones first."""
        with self._store.snapshot() as snapshot:
            return snapshot.contexts()

    def add_context(self, text: str, *, collection: str | None = None, prefix: str = "") -> Context:
        """Describe a collection, a path prefix in it, or (collection None) everything."""
        if not text.strip():
            raise UsageError("A context needs a text.", hint='For example: dowse context add / "My notes since 2019"')
        if collection is not None:
            self._known(collection)
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

        collection = self._known(name)
        settings = self._parts.index_settings(collection)
        return index_collection(self._store, collection, settings, on_event=on_event, prune=prune, retry=retry, web=web)

    def index_paths(self, name: str, paths: Iterable[str], *, on_event: OnEvent | None = None) -> IndexReport:
        """The same for some paths below the collection's folder, and what is below them."""
        from dowse.ingest.partial import index_paths

        collection = self._known(name)
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
        known = self._known_or_new(collection)
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
            self._known(name)
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

        status = watch_status(self.config.index_dir)
        if self._scope is None:
            return status
        followed = {name: how for name, how in status.collections.items() if name in self._scope}
        problems = {name: what for name, what in status.problems.items() if name in self._scope}
        return replace(status, pid=0, collections=followed, problems=problems)

    # Search

    def search(self, query: str | Query) -> Answer:
        """Answer a question from the index, with every hit's freshness unless the query says otherwise."""
        asked = Query(query) if isinstance(query, str) else query
        found = self._answer(asked) if not is_heard() else self._told_answer(asked)
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

    def _told_answer(self, asked: Query) -> Answer:
        with timed("search", limit=asked.limit) as said:
            found = self._answer(asked)
            said |= {"mode": found.mode, "hits": len(found.hits), "notes": len(found.notes)}
        return found

    def _answer(self, asked: Query) -> Answer:
        with self._store.snapshot() as snapshot:
            return self._answer_from(snapshot, asked)

    def _answer_from(self, snapshot: Snapshot, asked: Query) -> Answer:
        if asked.collections:
            known = {collection.name for collection in snapshot.collections()}
            for name in asked.collections:
                if name not in known:
                    raise no_collection(name, known)
        if asked.filter is not None:
            _check_filter(snapshot, asked.filter)
        from dowse.search.pipeline import answer

        return answer(snapshot, asked, self._parts.models)

    def warm_up(self) -> bool:
        """Load what a search by meaning would wait for; whether the index has vectors to search by.

        Raises:
            ModelError: the model cannot be loaded, or the vectors are of another one.
        """
        from dowse.search.planning import answering

        with self._store.snapshot() as snapshot:
            if snapshot.model() is None:
                return False
            _, embedder, _ = answering(snapshot, self._parts.models)
        embedder().load()
        return True

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has for the embedding model: what budgets are counted in."""
        return self._parts.tokens.count(text)

    def embed_texts(self, texts: Sequence[str]) -> "Vector":
        """The vectors of texts, as those of passages: one row for each."""
        return self._parts.embedder.embed_passages(texts)

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

    def evaluate(self, plan: "Plan | None" = None, *, on_event: OnEvent | None = None) -> "Evaluation":
        """How good answers are: queries made from the documents, or judged ones, asked in every mode.

        Compared with the run before it, which the index's folder remembers.
        """
        from dowse import __version__
        from dowse.evaluate import Plan, evaluate

        config, asked = self.config, plan or Plan()
        for name in asked.collections:
            self._known(name)
        settings = {"dowse": __version__, "passage tokens": str(config.chunk_tokens)}
        settings |= {"reranker": config.reranker} if asked.rerank else {}
        settings |= {"expander": config.expander} if asked.expand else {}
        with self._store.snapshot() as view:
            search = partial(self._answer_from, view)  # all queries see the same documents
            return evaluate(view, asked, search, config.index_dir, settings, on_event or (lambda _: None))

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
        newest: bool = False,
    ) -> list[DocumentInfo]:
        """The documents of a collection, or of all, by path or newest first; `filter` as in `Query`."""
        if name is not None:
            self._known(name)
        with self._store.snapshot() as snapshot:
            if filter is not None:
                _check_filter(snapshot, filter)
            return snapshot.documents(name, prefix=prefix, filter=filter, limit=limit, offset=offset, newest=newest)

    def chunks(self, document: UUID) -> list[Passage]:
        """Every passage of a document, in the order of its text."""
        with self._store.snapshot() as snapshot:
            return snapshot.chunks(document)

    def ledger(self, name: str | None = None) -> list[LedgerEntry]:
        """The files that are not indexed, each with its reason."""
        with self._store.snapshot() as snapshot:
            return snapshot.ledger(name)

    def landscape(self, collections: Iterable[str] = (), *, limit: int = 5_000) -> "Landscape":
        """A map of passages by their vectors: a sample of at most so many; without names, of every collection."""
        names = frozenset(self._known(name).name for name in collections) or self._scope
        with self._store.snapshot() as snapshot:
            return self._parts.landscapes.of(snapshot, limit, Scope(names))

    def _known_or_new(self, name: str) -> Collection:
        known = {collection.name: collection for collection in self.known_collections()}
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
