"""Embed what has no vector yet. The backlog is a query, not a state: after a crash, running again goes on."""

import time
from collections.abc import Callable, Iterator

from dowse.errors import ModelMismatchError
from dowse.ports import Embedder, Store
from dowse.types import EmbedReport, Event, ModelIdentity

_FETCH = 1024  # passages asked for at once
_BATCH = 64  # passages embedded between two commits: what an interruption costs at most


def embed_backlog(store: Store, embedder: Embedder, *, on_event: Callable[[Event], None] | None = None) -> EmbedReport:
    """Give every live passage a vector, shortest first, and report what was done."""
    tell = on_event or (lambda _: None)
    model = embedder.identity
    _check(store, model)
    started = time.monotonic()
    done, total = 0, store.count_unembedded(model)
    tell(Event("embed", done, total))
    while waiting := store.unembedded(model, _FETCH):
        for first in range(0, len(waiting), _BATCH):
            batch = waiting[first : first + _BATCH]
            vectors = embedder.embed_passages([text for _, text in batch])
            store.put_vectors(model, [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)])
            done += len(batch)
            tell(Event("embed", done, max(total, done)))
    tell(Event("done", done, done))
    return EmbedReport(embedded=done, remaining=store.count_unembedded(model), seconds=time.monotonic() - started)


def embed_in_slices(store: Store, embedder: Embedder, *, seconds: float) -> Iterator[int]:
    """Do the same in steps of about this long, for whoever has other things to do in between.

    Yields how many passages each step embedded. What else became of the index meanwhile does no harm.
    """
    model = embedder.identity
    _check(store, model)
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


def _check(store: Store, model: ModelIdentity) -> None:
    with store.snapshot() as snapshot:
        held = snapshot.model()
    if held is not None and held != model:
        raise ModelMismatchError.between(f"{held.name} ({held.precision})", f"{model.name} ({model.precision})")
