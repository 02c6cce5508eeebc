"""Questions to a store, with hashed words for meaning: texts are as near as the words that they share."""

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

from dowse.errors import ModelError
from dowse.inference.hashed import HashedEmbedder
from dowse.ports import Snapshot, Store
from dowse.search.pipeline import Models, answer
from dowse.types import Answer, ModelIdentity, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowse.ports import Vector

EMBEDDER = HashedEmbedder()
IDENTITY = EMBEDDER.identity
ENGLISH = replace(IDENTITY, name="hashed-english", language="en")
MODES = ("lex", "vec", "hybrid", "auto")
LIBRARY = {
    "tea.md": "Green tea wants water below eighty degrees.\n\nBlack tea wants boiling water.",
    "bread.md": "# Bread\n\nFlour, water, salt and time.\n\nThe oven is hot when the stone is hot.",
    "garden/soil.md": "# Soil\n\nWorms turn leaves into soil.\n\nWater the beds in the evening.",
    "garden/tools.md": "A spade, a rake, a can for water.",
}


def embed_all(store: Store, identity: ModelIdentity = IDENTITY) -> None:
    """Give every text that waits a vector of hashed words, under this identity."""
    waiting = store.unembedded(identity, 10_000)
    rows = EMBEDDER.embed_passages([text for _, text in waiting])
    store.put_vectors(identity, [(key, row) for (key, _), row in zip(waiting, rows, strict=True)])


def ask(store: Store, text: str, *, identity: ModelIdentity = IDENTITY, **options: object) -> Answer:
    """The answer to a query with these options."""
    with store.snapshot() as view:
        return ask_view(view, text, identity=identity, **options)


def ask_view(view: Snapshot, text: str, *, identity: ModelIdentity = IDENTITY, **options: object) -> Answer:
    return answer(view, Query(text, **options), models(identity))  # type: ignore[arg-type]  # a table's


def models(identity: ModelIdentity = IDENTITY, embed_query: "Callable[[str], Vector]" = EMBEDDER.embed_query) -> Models:
    """The models of a search, with this way to embed a question."""
    return Models(
        lambda: identity, lambda: SimpleNamespace(embed_query=embed_query, embed_passages=EMBEDDER.embed_passages)
    )  # type: ignore[arg-type,return-value]


def failing(text: str) -> "Vector":
    """A model that cannot be asked."""
    raise ModelError(f"The model cannot read {text!r}.", hint="Mend it.")


def files(found: Answer) -> list[str]:
    """Where the hits are, best first."""
    return [hit.info.file for hit in found.hits]


def places(found: Answer) -> list[tuple[str, int]]:
    """The same with the number of the passage."""
    return [(hit.info.file, hit.ordinal) for hit in found.hits]
