"""Reading: every answer is a loop over everything."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from dowse.store.memory.bm25 import Bm25
from dowse.store.memory.state import State, chunk_key
from dowse.text.fields import lexical_rows
from dowse.text.lines import count_lines
from dowse.types import (
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
    ref_of,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

_MATCHES: dict[str, Callable[[DocumentInfo, str], bool]] = {
    "path": lambda info, name: info.file == name,
    "suffix": lambda info, name: f"/{info.file}".endswith(f"/{name}"),
    "hash": lambda info, name: info.content_hash.startswith(name),
}


class MemorySnapshot:
    """A view of one state, which nobody changes any more."""

    notes: tuple[str, ...] = ()

    def __init__(self, state: State) -> None:
        self._state = state
        self._passages = {passage.ref: passage for passage in state.passages()}

    def lexical(self, terms: Sequence[str], k: int, scope: Scope) -> Ranked:
        """Score every chunk in scope that has one of the terms."""
        bm25 = self._bm25
        refs = [ref for ref in self._in_scope(scope) if bm25.matches(terms, ref)]
        return Ranked(_best(((ref, bm25.score(terms, ref)) for ref in refs), k), bm25.ceiling(terms))

    def lexical_scores(self, terms: Sequence[str], refs: Sequence[Ref]) -> dict[Ref, float]:
        """Score just these chunks."""
        return {ref: self._bm25.score(terms, ref) for ref in refs if ref in self._passages}

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """Compare with every vector in scope."""
        return Ranked(_best(self.cosines(model, vector, self._in_scope(scope)).items(), k), 1.0)

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """Compare with the vectors of these chunks, unless another model made them."""
        if model != self._state.model:
            return {}
        asked = [float(value) for value in vector]
        stored = {ref: self._vector(self._passages[ref]) for ref in refs if ref in self._passages}
        return {ref: _cosine(asked, values) for ref, values in stored.items() if values is not None}

    def model(self) -> ModelIdentity | None:
        """The one whose vectors are kept."""
        return self._state.model

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """Look each ref up."""
        return [self._passages[ref] for ref in refs if ref in self._passages]

    def collections(self) -> tuple[Collection, ...]:
        """All, by name."""
        return tuple(sorted(self._state.collections.values(), key=lambda collection: collection.name))

    def contexts(self) -> tuple[Context, ...]:
        """All: those without a collection first."""
        return tuple(
            sorted(
                self._state.contexts.values(),
                key=lambda context: (context.collection is not None, context.collection or "", context.prefix),
            )
        )

    def documents(
        self, collection: str | None = None, *, prefix: str = "", limit: int | None = None, offset: int = 0
    ) -> list[DocumentInfo]:
        """One page of the sorted list."""
        infos = [
            info for info in self._infos() if collection in (None, info.collection) and info.path.startswith(prefix)
        ]
        return infos[offset:][:limit]

    def document(self, document: UUID) -> Document | None:
        """The document with the text of its content."""
        entry = self._state.documents.get(document)
        if entry is None:
            return None
        text = self._state.contents[entry.content].text
        return Document(entry.info, text, total_lines=count_lines(text))

    def find(self, name: str, by: Literal["path", "suffix", "hash"]) -> list[DocumentInfo]:
        """Try every document."""
        return [info for info in self._infos() if _MATCHES[by](info, name)]

    def ledger(self, collection: str | None = None) -> list[LedgerEntry]:
        """The entries, by collection and path."""
        return [entry for place, entry in sorted(self._state.ledger.items()) if collection in (None, place[0])]

    def stats(self) -> StoreStats:
        """Count everything."""
        return StoreStats(
            collections=tuple(self._collection_stats(collection) for collection in self.collections()),
            documents=len(self._state.documents),
            chunks=len(self._passages),
            vectors=len(self._state.vectors),
            bytes_on_disk=0,
            model=self._state.model,
        )

    def _collection_stats(self, collection: Collection) -> CollectionStats:
        name = collection.name
        states = [entry.state for entry in self.ledger(name)]
        passages = [passage for passage in self._passages.values() if passage.info.collection == name]
        return CollectionStats(
            collection=collection,
            documents=len(self.documents(name)),
            chunks=len(passages),
            unembedded=len({passage.info.id for passage in passages if self._vector(passage) is None}),
            failed=states.count("failed"),
            skipped=states.count("skipped"),
        )

    def _infos(self) -> list[DocumentInfo]:
        infos = [entry.info for entry in self._state.documents.values()]
        return sorted(infos, key=lambda info: (info.collection, info.path))

    def _in_scope(self, scope: Scope) -> list[Ref]:
        return [
            ref
            for ref, passage in self._passages.items()
            if scope.collections is None or passage.info.collection in scope.collections
        ]

    def _vector(self, passage: Passage) -> tuple[float, ...] | None:
        content = self._state.contents[self._state.documents[passage.info.id].content]
        return self._state.vectors.get(chunk_key(content, passage.chunk))

    @cached_property
    def _bm25(self) -> Bm25:
        rows: dict[Ref, Mapping[str, Sequence[str]]] = {}
        for entry in self._state.documents.values():
            chunks = self._state.contents[entry.content].chunks
            for ordinal, row in enumerate(lexical_rows(entry.info.title, entry.info.path, chunks)):
                rows[ref_of(entry.version, ordinal)] = row
        return Bm25(rows)


def _best(scored: Iterable[tuple[Ref, float]], k: int) -> tuple[tuple[Ref, float], ...]:
    """The k highest, ties by ref."""
    return tuple(sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k])


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors; 0 where one of them is zero and has no direction."""
    lengths = math.hypot(*left) * math.hypot(*right)
    if lengths == 0:
        return 0.0
    return sum(one * other for one, other in zip(left, right, strict=True)) / lengths
