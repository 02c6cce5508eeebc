"""Reading: every answer is a loop over everything."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from dowse.filters import field_of, leaves, predicate
from dowse.ports import NONE, Alternatives
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
    Draft,
    Filter,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
    Succession,
    docid_digits,
    ref_of,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

_MATCHES: dict[str, Callable[[DocumentInfo, str], bool]] = {
    "path": lambda info, name: info.file == name,
    "suffix": lambda info, name: f"/{info.file}".endswith(f"/{name}"),
    "hash": lambda info, name: info.content_hash.startswith(name),
    "uri": lambda info, name: info.uri == name,
}


class MemorySnapshot:
    """A view of one state, which nobody changes any more."""

    notes: tuple[str, ...] = ()
    comparable_scores = True
    is_remote = False

    def __init__(self, state: State) -> None:
        self._state = state
        self.memory: dict[str, Any] = {}
        self._hashes = sorted({entry.info.content_hash for entry in state.documents.values()})
        self._passages = {
            passage.ref: replace(passage, info=self._told_apart(passage.info)) for passage in state.passages()
        }

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """Score every chunk in scope that has one of the terms."""
        bm25, groups = self._bm25, _groups(terms, alternatives)
        everything = [term for group in groups for term in group]
        refs = [
            ref
            for ref in self._in_scope(scope)
            if bm25.matches(everything, ref) and all(bm25.matches([term], ref) for term in required)
        ]
        best = _best(((ref, self._score(groups, ref)) for ref in refs), k)
        return Ranked(best, _most(groups, lambda term: bm25.ceiling([term])))

    def lexical_scores(
        self, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives = NONE
    ) -> dict[Ref, float]:
        """Score just these chunks."""
        groups = _groups(terms, alternatives)
        return {ref: self._score(groups, ref) for ref in refs if ref in self._passages}

    def _score(self, groups: Iterable[Mapping[str, float]], ref: Ref) -> float:
        return _most(groups, lambda term: self._bm25.score([term], ref))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Look into every chunk."""
        return {term: self._bm25.having("body", term) for term in terms}

    def completions(self, prefix: str, limit: int) -> list[str]:
        """Look at every word of every chunk."""
        counts = Counter(self._bm25.words("body"))
        found = [(-count, term) for term, count in counts.items() if term.startswith(prefix)]
        return [term for _, term in sorted(found)[:limit]]

    def metadata_keys(self) -> frozenset[str]:
        """Those of every document."""
        return frozenset(key for info in self._infos() for key in info.metadata)

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """Compare with every vector in scope."""
        return Ranked(_best(self.cosines(model, vector, self._in_scope(scope)).items(), k), 1.0)

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """Compare with the vectors of these chunks, unless another model made them."""
        if self._state.model is None or model != self._state.model:
            return {}
        asked = [float(value) for value in vector]
        held = self._state.vectors[model]
        stored = {ref: held.get(self._key(self._passages[ref])) for ref in refs if ref in self._passages}
        return {ref: _cosine(asked, values) for ref, values in stored.items() if values is not None}

    def sample(self, model: ModelIdentity, k: int, scope: Scope) -> "tuple[list[Ref], Vector, int]":
        """Those in scope that have a vector, thinned out."""
        import numpy as np

        held = self._state.vectors[model] if model == self._state.model else {}
        stored = {ref: held.get(self._key(self._passages[ref])) for ref in sorted(self._in_scope(scope))}
        everything = [(ref, values) for ref, values in stored.items() if values]
        picked = [everything[at * len(everything) // k] for at in range(k)] if len(everything) > k else everything
        matrix = np.array([values for _, values in picked], dtype=np.float32).reshape(len(picked), model.dims)
        return [ref for ref, _ in picked], matrix, len(everything)

    def mark(self) -> str:
        """That of the state."""
        return str(self._state.mark)

    def model(self) -> ModelIdentity | None:
        """The first one."""
        return self._state.model

    def successor(self) -> ModelIdentity | None:
        """The second one."""
        return self._state.successor

    def vectors(self, model: ModelIdentity, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
        """Look each key up."""
        import numpy as np

        held = self._state.vectors.get(model, {}) if model == self._state.model else {}
        return {key: np.asarray(held[key], dtype=np.float32) for key in keys if key in held}

    def drafts(self, collection: str) -> Iterator[Draft]:
        """Put each document together again."""
        state = self._state
        for info in self.documents(collection):
            entry = state.documents[info.id]
            yield Draft(
                replace(info, metadata=entry.said),
                entry.content[1],
                state.contents[entry.content],
                state.originals.get(info.content_hash),
            )

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """Look each ref up."""
        return [self._passages[ref] for ref in refs if ref in self._passages]

    def chunks(self, document: UUID) -> list[Passage]:
        """Those of all passages that stand in it."""
        found = [passage for passage in self._passages.values() if passage.info.id == document]
        return sorted(found, key=lambda passage: passage.ordinal)

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
        self,
        collection: str | None = None,
        *,
        prefix: str = "",
        filter: Filter | None = None,  # noqa: A002 - the noun
        limit: int | None = None,
        offset: int = 0,
        newest: bool = False,
    ) -> list[DocumentInfo]:
        """One page of the sorted list."""
        infos = [
            info
            for info in self._infos()
            if collection in (None, info.collection) and info.path.startswith(prefix) and self._lets(filter, info)
        ]
        if newest:
            infos.sort(key=lambda info: (info.created_at, info.id), reverse=True)
        return infos[offset:][:limit]

    def _lets(self, filter: Filter | None, info: DocumentInfo) -> bool:  # noqa: A002 - the noun
        if filter is None:
            return True
        keeps = predicate(filter)
        if any(field_of(leaf.field).of_passage for leaf in leaves(filter)):
            return any(keeps(info, passage.chunk, passage.ordinal) for passage in self.chunks(info.id))
        return keeps(info, None, 0)

    def document(self, document: UUID) -> Document | None:
        """The document with the text of its content."""
        entry = self._state.documents.get(document)
        if entry is None:
            return None
        text = self._state.contents[entry.content].text
        return Document(self._told_apart(entry.info), text, total_lines=count_lines(text))

    def texts(self, content_hash: str) -> list[str]:
        """Those of all contents, the latest first."""
        contents = reversed(self._state.contents.items())
        return [content.text for (known, _), content in contents if known.startswith(content_hash)]

    def find(self, name: str, by: Literal["path", "suffix", "hash", "uri"]) -> list[DocumentInfo]:
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
            vectors=len(self._state.vectors[self._state.model]) if self._state.model else 0,
            bytes_on_disk=0,
            model=self._state.model,
            successor=self._succession(),
        )

    def _succession(self) -> Succession | None:
        state = self._state
        if state.successor is None:
            return None
        return Succession(state.successor, len(state.vectors[state.successor]), len(state.waiting(state.successor)))

    def _collection_stats(self, collection: Collection) -> CollectionStats:
        name = collection.name
        states = [entry.state for entry in self.ledger(name)]
        passages = [passage for passage in self._passages.values() if passage.info.collection == name]
        missing = [each for each in passages if self._key(each) not in self._state.newest]
        return CollectionStats(
            collection=collection,
            documents=len(self.documents(name)),
            chunks=len(passages),
            unembedded=len({passage.info.id for passage in missing}),
            failed=states.count("failed"),
            skipped=states.count("skipped"),
            missing=len(missing),
        )

    def _told_apart(self, info: DocumentInfo) -> DocumentInfo:
        """The same with as many digits in its docid as it takes."""
        at = self._hashes.index(info.content_hash)
        beside = self._hashes[max(0, at - 1) : at] + self._hashes[at + 1 : at + 2]
        return replace(info, docid_digits=docid_digits(info.content_hash, *beside))

    def _infos(self) -> list[DocumentInfo]:
        infos = [self._told_apart(entry.info) for entry in self._state.documents.values()]
        return sorted(infos, key=lambda info: (info.collection, info.path))

    def _in_scope(self, scope: Scope) -> list[Ref]:
        keeps = None if scope.filter is None else predicate(scope.filter)
        return [
            ref
            for ref, passage in self._passages.items()
            if (scope.collections is None or passage.info.collection in scope.collections)
            and (keeps is None or keeps(passage.info, passage.chunk, passage.ordinal))
        ]

    def _key(self, passage: Passage) -> bytes:
        content = self._state.contents[self._state.documents[passage.info.id].content]
        return chunk_key(content, passage.chunk)

    @cached_property
    def _bm25(self) -> Bm25:
        rows: dict[Ref, Mapping[str, Sequence[str]]] = {}
        for entry in self._state.documents.values():
            chunks = self._state.contents[entry.content].chunks
            for ordinal, row in enumerate(lexical_rows(entry.info.title, entry.info.path, chunks)):
                rows[ref_of(entry.version, ordinal)] = {field: terms.split() for field, terms in row.items()}
        return Bm25(rows)


def _groups(terms: Sequence[str], alternatives: Alternatives) -> list[dict[str, float]]:
    """Each term with what may stand in its place, and the weights."""
    return [{**alternatives.get(term, {}), term: 1.0} for term in dict.fromkeys(terms)]


def _most(groups: Iterable[Mapping[str, float]], worth: Callable[[str], float]) -> float:
    """The sum over the groups of the most that any of its terms is worth."""
    return sum(max(weight * worth(term) for term, weight in group.items()) for group in groups)


def _best(scored: Iterable[tuple[Ref, float]], k: int) -> tuple[tuple[Ref, float], ...]:
    """The k highest, ties by ref."""
    return tuple(sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k])


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors; 0 where one of them is zero and has no direction."""
    lengths = math.hypot(*left) * math.hypot(*right)
    if lengths == 0:
        return 0.0
    return sum(one * other for one, other in zip(left, right, strict=True)) / lengths
