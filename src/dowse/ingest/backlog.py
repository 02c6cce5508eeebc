"""Embed what has no vector yet. The backlog is a query, not a state: after a crash, running again goes on."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing

from dowse.errors import ModelMismatchError
from dowse.ingest import sharing
from dowse.logs import timed
from dowse.ports import Embedder, Store
from dowse.types import EmbedReport, Event, ModelIdentity, new_document_id

_FETCH = 1024  # passages asked for at once
_BATCH = 64  # passages embedded between two commits: what an interruption costs at most


def embed_backlog(
    store: Store, embedder: Embedder, *, on_event: Callable[[Event], None] | None = None, anew: bool = False
) -> EmbedReport:
    """Give every live passage a vector, shortest first, and report what was done.

    `anew` makes all of them anew: those of another model answer until the new ones are complete, then they go.
    """
    tell = on_event or (lambda _: None)
    model = embedder.identity
    _begin(store, model, anew=anew)
    started = time.monotonic()
    done, total = 0, store.count_unembedded(model)
    tell(Event("embed", done, total))
    with closing(_shares(store, model)) as shares:
        for batch in shares:
            with timed("embed", passages=len(batch)):
                vectors = embedder.embed_passages([text for _, text in batch])
            store.put_vectors(model, [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)])
            done += len(batch)
            tell(Event("embed", done, max(total, done)))
    _finish(store, model)
    tell(Event("done", done, done))
    return EmbedReport(embedded=done, remaining=store.count_unembedded(model), seconds=time.monotonic() - started)


def _shares(store: Store, model: ModelIdentity) -> Generator[list[tuple[bytes, str]], None, None]:
    """Parts of the backlog that nobody else works on, until nothing is left of it.

    Each part is leased before it is embedded, so that any number of processes share the work. What one of them leaves
    undone is free again when its lease ends.
    """
    owner = new_document_id().hex
    while waiting := store.unembedded(model, _FETCH):
        asked, idle = time.monotonic(), True
        for first in range(0, len(waiting), _BATCH):
            if time.monotonic() - asked > sharing.LEASE_SECONDS / 4:
                break  # others may have done the rest, and their leases end: ask again what is left
            named = {f"embed {key.hex()} {model.name}": (key, text) for key, text in waiting[first : first + _BATCH]}
            granted = store.lease(list(named), owner, sharing.LEASE_SECONDS)
            if granted:
                idle = False
                yield from _held(store, [name for name in named if name in granted], owner, named)
        if idle:
            time.sleep(sharing.PAUSE)  # all that is left is in the hands of others


def _held(
    store: Store, names: list[str], owner: str, named: Mapping[str, tuple[bytes, str]]
) -> Generator[list[tuple[bytes, str]], None, None]:
    """One part; whoever does not finish it gives it back."""
    finished = False
    try:
        yield [named[name] for name in names]
        finished = True
    finally:
        if not finished:
            store.lease(names, owner, 0)


def embed_in_slices(store: Store, embedder: Embedder, *, seconds: float) -> Iterator[int]:
    """Do the same in steps of about this long, for whoever has other things to do in between.

    Yields how many passages each step embedded. What else became of the index meanwhile does no harm.
    """
    model = embedder.identity
    _begin(store, model)
    size = 1
    while waiting := store.unembedded(model, _FETCH):
        while waiting:
            batch, waiting = waiting[:size], waiting[size:]
            started = time.monotonic()
            vectors = embedder.embed_passages([text for _, text in batch])
            store.put_vectors(model, [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)])
            took = max(time.monotonic() - started, 0.001)
            size = max(1, min(_BATCH, 2 * size, int(len(batch) * seconds / took)))
            yield len(batch)
    _finish(store, model)


def _begin(store: Store, model: ModelIdentity, *, anew: bool = False) -> None:
    """Make room for this model's vectors where it answers, is to answer, or is told to."""
    with store.snapshot() as snapshot:
        held, successor = snapshot.model(), snapshot.successor()
    if held is None or held == model:
        if anew:
            store.drop_vectors()
    elif successor == model:
        return
    elif anew:
        store.add_model(model)
    else:
        raise ModelMismatchError.between(f"{held.name} ({held.precision})", f"{model.name} ({model.precision})")


def _finish(store: Store, model: ModelIdentity) -> None:
    """Let a successor answer that lacks nothing any more."""
    with store.snapshot() as snapshot:
        is_next = snapshot.successor() == model
    if is_next and not store.count_unembedded(model):
        store.switch_model(model)
