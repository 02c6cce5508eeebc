"""What will be done about a question: by words, by meaning or by both, and with which models.

Words alone answer where meaning cannot be had, and the plan says why.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from dowse.errors import ModelError, ModelMismatchError
from dowse.ports import Embedder, Expander, Reranker, Snapshot
from dowse.records import record
from dowse.search.asking import Asked
from dowse.search.recall import Legs
from dowse.text.scripts import share_beyond_latin
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Models", "Plan", "answering", "plan"]

_FOREIGN_SHARE = 0.3  # above it a model for English only adds noise


@record
class Models:
    """What can be asked about meaning; each is called only when it is needed."""

    identity: Callable[[], ModelIdentity]
    """Which model embeds. ModelError: that is not known yet."""
    embedder: Callable[[], Embedder]
    predecessor: Callable[[ModelIdentity], Embedder | None] = lambda _: None
    """The model that answers while this one makes its vectors; None where it cannot be had any more."""
    reranker: Callable[[], Reranker | None] = lambda: None
    expander: Callable[[], Expander | None] = lambda: None
    feedback: bool = False
    """Whether the first answers' own words are the expander."""


@record
class Plan:
    """The mode after fallbacks, what is searched with, and what the reader should know."""

    mode: Literal["lex", "vec", "hybrid"]
    legs: Legs
    notes: tuple[str, ...] = ()
    embedding_seconds: float = 0.0
    nearest: Callable[[Sequence[str]], int] | None = None
    """Which of some texts is the nearest to the question; None where meaning is not asked for."""


def plan(snapshot: Snapshot, asked: Asked, models: Models) -> Plan:
    """Embed what is asked where that makes sense; words alone answer where it does not, and the answer says so."""
    if not asked.meanings:
        return Plan("lex", Legs(asked.words))
    try:
        identity, embedder, notes = answering(snapshot, models)
        wanted = asked.meanings
        if asked.words and identity.language == "en":
            wanted = tuple(each for each in asked.meanings if share_beyond_latin(each[0]) <= _FOREIGN_SHARE)
        if not wanted:
            note = f"{identity.name} knows only English, so this query was answered by words alone."
            return Plan("lex", Legs(asked.words), (note,))
        started = time.perf_counter()
        asks = embedder()
        vectors = tuple((asks.embed_query(text), weight) for text, weight in wanted)
        seconds = time.perf_counter() - started
    except ModelError as error:
        if not asked.words:
            raise
        return Plan("lex", Legs(asked.words), (f"Answered by words alone. {error.message} {error.hint}".rstrip(),))
    legs = Legs(asked.words, identity, vectors)
    return Plan("hybrid" if asked.words else "vec", legs, notes, seconds, _nearest_to(vectors[0][0], asks))


def _nearest_to(vector: "Vector", embedder: Embedder) -> Callable[[Sequence[str]], int]:
    def nearest(texts: Sequence[str]) -> int:
        try:
            return int((embedder.embed_passages(texts) @ vector).argmax())
        except ModelError:
            return 0  # what it embedded a moment ago stands; only the choice of lines is lost

    return nearest


def answering(snapshot: Snapshot, models: Models) -> tuple[ModelIdentity, Callable[[], Embedder], tuple[str, ...]]:
    """The model whose vectors answer, and a note where it is not the configured one.

    Another one is asked only while its successor makes its vectors: whoever just changed the configuration may not
    want to send questions to the old address any more.
    """
    held, configured = snapshot.model(), models.identity()
    if held is None:
        raise ModelError("The index has no vectors yet.", hint="Make them: dowse embed")
    if held == configured:
        return held, models.embedder, ()
    predecessor = models.predecessor(held) if snapshot.successor() == configured else None
    if predecessor is None:
        raise ModelMismatchError.between(
            f"{held.name} ({held.precision})", f"{configured.name} ({configured.precision})"
        )
    note = f"{held.name} answers until the vectors of {configured.name} are complete: dowse embed"
    return held, lambda: predecessor, (note,)
