"""Embed what has no vector yet. The backlog is a query, not a state: after a crash, running again goes on."""

import time
from collections.abc import Callable

from dowse.errors import ModelMismatchError
from dowse.ports import Embedder, Store
from dowse.types import EmbedReport, Event

_FETCH = 1024  # passages asked for at once
_BATCH = 64  # passages embedded between two commits: what an interruption costs at most


def embed_backlog(store: Store, embedder: Embedder, *, on_event: Callable[[Event], None] | None = None) -> EmbedReport:
    """Give every live passage a vector, shortest first, and report what was done."""
    tell = on_event or (lambda _: None)
    model = embedder.identity
    with store.snapshot() as snapshot:
        held = snapshot.model()
    if held is not None and held != model:
        raise ModelMismatchError.between(f"{held.name} ({held.precision})", f"{model.name} ({model.precision})")
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
