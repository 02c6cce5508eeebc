"""The engine: one object that wires configuration to parts and offers the verbs.

Above it: interfaces, which parse and render. Below it: ingest, search, store and inference, which
know each other only through the ports. No logic lives here beyond choosing parts and naming errors.
"""

import difflib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dowse import inference
from dowse.config import Config
from dowse.errors import ConflictError, NotFoundError, UsageError
from dowse.ports import Embedder, Store
from dowse.search import lookup
from dowse.search.pipeline import answer
from dowse.store.sqlite import SqliteStore
from dowse.types import (
    Answer,
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    EmbedReport,
    Event,
    Finding,
    IndexReport,
    LedgerEntry,
    Query,
    StoreStats,
    now_ms,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

OnEvent = Callable[[Event], None]


class Engine:
    """Index, search and get over one index. Made by `dowse.open()`; close it, or use it in a `with`."""

    def __init__(self, store: Store, config: Config, *, on_message: Callable[[str], None] | None = None) -> None:
        self.config = config
        self._store = store
        self._on_message = on_message

    @cached_property
    def _embedder(self) -> Embedder:
        """Made on first need, so that commands that ask no model never import one."""
        return inference.make_embedder(
            self.config.embedder,
            cache_dir=self.config.cache_dir,
            precision=self.config.precision,
            workers=self.config.workers,
            on_message=self._on_message,
        )

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
        raise _no_collection(name, [stats.collection.name for stats in everything])

    def add_collection(
        self, root: Path | str | None, *, name: str = "", pattern: str = "**/*", description: str = ""
    ) -> Collection:
        """Create a collection; with a root, that folder is what `index` walks. Nothing is read yet."""
        from dowse.ingest import sources  # a search need not load it

        folder = None if root is None else sources.resolve_root(root)
        sources.check_pattern(pattern)
        name = name or (folder.name if folder else "")
        _check_name(name)
        for known in self._collections():
            if known.name == name:
                raise ConflictError(
                    f"There is already a collection named {name!r} ({known.root or 'without a folder'}).",
                    hint=f"Choose another name with --name, or bring it up to date: dowse update -c {name}",
                )
            if folder is not None and known.root == str(folder) and known.pattern == pattern:
                raise ConflictError(
                    f"The folder {folder} is already the collection {known.name!r}.",
                    hint=f"Bring it up to date: dowse update -c {known.name}",
                )
        collection = Collection(
            name=name,
            root=None if folder is None else str(folder),
            pattern=pattern,
            description=description,
            created_at=now_ms(),
        )
        self._store.put_collection(collection)
        return collection

    def remove_collection(self, name: str) -> int:
        """Remove it with everything in it (the files stay); returns how many documents left the index."""
        self._collection(name)
        return self._store.drop_collection(name)

    def rename_collection(self, name: str, new_name: str) -> None:
        """Rename it; documents keep their ids."""
        self._collection(name)
        _check_name(new_name)
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

    def index(self, name: str, *, on_event: OnEvent | None = None, prune: bool = False) -> IndexReport:
        """Bring a collection up to date with its folder: everything is searchable by words afterwards."""
        from dowse.ingest.pipeline import IndexSettings, index_collection  # a search need not load it

        settings = IndexSettings(
            max_file_size=self.config.max_file_size,
            max_tokens=self.config.chunk_tokens,
            tokenizer=self.config.embedder,
            tokenizer_json=lambda: inference.tokenizer_json(self.config.embedder),
        )
        return index_collection(self._store, self._collection(name), settings, on_event=on_event, prune=prune)

    def embed(self, *, on_event: OnEvent | None = None, force: bool = False) -> EmbedReport:
        """Give every passage that has none a vector; `force` drops the vectors of another model first."""
        from dowse.ingest.backlog import embed_backlog  # a search need not load it

        if force:
            self._store.drop_vectors()
        return embed_backlog(self._store, self._embedder, on_event=on_event)

    # Search

    def search(self, query: str | Query) -> Answer:
        """Answer a question from the index."""
        asked = Query(query) if isinstance(query, str) else query
        with self._store.snapshot() as snapshot:
            for name in asked.collections:
                known = [collection.name for collection in snapshot.collections()]
                if name not in known:
                    raise _no_collection(name, known)
            identity = inference.identity_of(self.config.embedder, self.config.precision)
            return answer(snapshot, asked, identity, self._embed_query)

    # Get

    def get(self, name: str, *, first_line: int | None = None, max_lines: int | None = None) -> Document:
        """A document by path, end of path, `#docid` or id; `name:120` and `name:120:40` pick lines."""
        with self._store.snapshot() as snapshot:
            return lookup.get(snapshot, name, first_line=first_line, max_lines=max_lines)

    def get_many(self, pattern: str, *, max_lines: int | None = None, max_bytes: int | None = None) -> lookup.Found:
        """Documents by a glob over `collection/path`, or by a comma-separated list of names."""
        with self._store.snapshot() as snapshot:
            return lookup.get_many(snapshot, pattern, max_lines=max_lines, max_bytes=max_bytes)

    def documents(self, name: str | None = None, *, prefix: str = "") -> list[DocumentInfo]:
        """The documents of a collection, or of all, by path."""
        if name is not None:
            self._collection(name)
        with self._store.snapshot() as snapshot:
            return snapshot.documents(name, prefix=prefix)

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

    def doctor(
        self, *, deep: bool = False, repair: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> list[Finding]:
        """Examine the index; `repair` first rebuilds everything that is derived."""
        if repair:
            self._store.rebuild(progress)
        return [*self._store.check(deep=deep), *inference.check(self.config.embedder, self.config.cache_dir)]

    def close(self) -> None:
        """Stop workers and release files."""
        if "_embedder" in self.__dict__:
            self._embedder.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _embed_query(self, text: str) -> "Vector":
        return self._embedder.embed_query(text)

    def _collections(self) -> tuple[Collection, ...]:
        with self._store.snapshot() as snapshot:
            return snapshot.collections()

    def _collection(self, name: str) -> Collection:
        known = self._collections()
        for collection in known:
            if collection.name == name:
                return collection
        raise _no_collection(name, [collection.name for collection in known])


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
    store = SqliteStore(settings.index_dir, create=create, lock_timeout=settings.lock_timeout)
    return Engine(store, settings, on_message=on_message)


def _check_name(name: str) -> None:
    bad = (
        not name
        or name != name.strip()
        or name in {".", ".."}
        or any(c in "/\\:\0" or not c.isprintable() for c in name)
    )
    if bad:
        raise UsageError(
            f"{name!r} cannot be the name of a collection.",
            hint="Use letters, digits, spaces, '-', '_' or '.': no slashes, colons or control characters.",
        )


def _no_collection(name: str, known: list[str]) -> NotFoundError:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        hint = f"Did you mean {near[0]!r}?"
    elif known:
        hint = f"The collections are: {', '.join(sorted(known))}."
    else:
        hint = "There are none yet: dowse collection add PATH"
    return NotFoundError(f"There is no collection named {name!r}.", hint=hint)
