"""The four ports: what may be swapped, and what each one promises.

Store, Embedder, Reranker and Expander are the only interfaces with more than one implementation.
Everything else is a function. `engine.py` alone picks the concrete ones; the suite in
tests/contract runs every store through the same behaviours.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias
from uuid import UUID

from dowse.types import (
    Collection,
    Context,
    Document,
    DocumentInfo,
    Draft,
    Filter,
    Finding,
    Fingerprint,
    Known,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """One unit-length row, or a matrix of them: numpy is imported only where vectors are."""


Alternatives: TypeAlias = Mapping[str, Mapping[str, float]]
"""For some terms, other terms that may stand in their place, with a weight each."""
NONE: Alternatives = MappingProxyType({})


class Snapshot(Protocol):
    """One unchanging view of a store: everything read from it belongs together.

    A snapshot shows each document in its old version or its new one, never in neither and never
    half. It never writes and never waits for a writer.
    """

    notes: tuple[str, ...]
    """What the reader should know: a derived index that lags or is damaged, in plain sentences."""
    comparable_scores: bool
    """Whether `lexical` scores as `text.fields` says, below its ceiling, and `nearest` gives cosines.

    Then evidence is added up. Where it is False, the order of each list is all that counts of it, and answers are
    neither `found` nor `absent`.
    """

    is_remote: bool
    """Whether calls wait for other machines, so that two at once take the time of one; then any thread may call."""

    memory: dict[str, Any]
    """What was made from this state of the store, for further snapshots of the very same; bounded by whoever fills it.

    A store that keeps none, or whose snapshots show different things, gives each an empty one.
    """

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """The k chunks in scope that BM25 ranks best for any of the analysed terms, ties by ref.

        Fewer than k only where fewer match; which of equally good ones make the cut is the store's choice.
        Terms come from `text.analyse`, as does what was indexed. A term with alternatives is worth the most of
        what it and they are worth in a chunk, each of them times its weight. Where terms are required, only chunks
        count that have every one of them in some field.
        """
        ...

    def lexical_scores(
        self, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives = NONE
    ) -> dict[Ref, float]:
        """The BM25 scores of just these chunks; 0 for those without any of the terms."""
        ...

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks' own words each of these terms stands; those of dead versions may still count."""
        ...

    def completions(self, prefix: str, limit: int) -> list[str]:
        """The terms that start so and stand in the most chunks, most frequent first."""
        ...

    def metadata_keys(self) -> frozenset[str]:
        """Every key that the metadata of some document has."""
        ...

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """The k chunks in scope whose vectors have the highest cosine with this one, ties and the cut as above."""
        ...

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """The cosines of just these chunks; those without a vector are left out."""
        ...

    def sample(self, model: ModelIdentity, k: int, scope: Scope) -> "tuple[list[Ref], Vector, int]":
        """Up to k chunks in scope with their vectors, spread evenly over all of them, and how many there are.

        The same chunks for the same state of the store; in the order of their refs.
        """
        ...

    def mark(self) -> str:
        """Another one after every change of the store: what was made from it holds as long as this is the same."""
        ...

    def model(self) -> ModelIdentity | None:
        """The model whose vectors answer; None while there are none."""
        ...

    def successor(self) -> ModelIdentity | None:
        """The model that is to take its place, while its vectors are being made; None otherwise."""
        ...

    def vectors(self, model: ModelIdentity, keys: Sequence[bytes]) -> dict[bytes, "Vector"]:
        """Those vectors of the answering model that these keys have."""
        ...

    def drafts(self, collection: str) -> Iterator[Draft]:
        """Every document of a collection as it could be put again, by path: content, original bytes and all."""
        ...

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """The chunks behind these refs with their documents, in the order asked; unknown refs are left out."""
        ...

    def chunks(self, document: UUID) -> list[Passage]:
        """Every chunk of a document, in the order of its text; none for a document that is not there."""
        ...

    def collections(self) -> tuple[Collection, ...]:
        """All collections, by name."""
        ...

    def contexts(self) -> tuple[Context, ...]:
        """All contexts: the general ones first, then by collection and prefix."""
        ...

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
        """Documents by collection and path, or those that came last first; `prefix` is a string prefix of the path.

        Of a filter that looks at passages, documents are found that have one which it lets through.
        """
        ...

    def document(self, document: UUID) -> Document | None:
        """The whole document, or None."""
        ...

    def texts(self, content_hash: str) -> list[str]:
        """The texts made of the bytes whose hash starts so, newest first; also of replaced and deleted documents.

        What `cleanup` has freed is not among them.
        """
        ...

    def find(self, name: str, by: Literal["path", "suffix", "hash", "uri"]) -> list[DocumentInfo]:
        """Documents by `collection/path`, by the end of it from a slash on, by the start of their hash, by URI."""
        ...

    def ledger(self, collection: str | None = None) -> list[LedgerEntry]:
        """What is not indexed and why, by collection and path."""
        ...

    def stats(self) -> StoreStats:
        """Totals for status."""
        ...


class Store(Protocol):
    """What is remembered. Writes are serialised across processes; each call is one transaction.

    A write that returns is durable. A write that raises has changed nothing that a snapshot can see.
    """

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a view of the latest commit; close it soon, it holds resources back."""
        ...

    def put_collection(self, collection: Collection) -> None:
        """Create the collection, or replace the settings of the one with this name."""
        ...

    def rename_collection(self, name: str, new_name: str) -> None:
        """Rename; documents keep their ids. ConflictError when the new name is taken."""
        ...

    def drop_collection(self, name: str) -> int:
        """Remove the collection with its documents, ledger and contexts; returns how many documents."""
        ...

    def put_context(self, context: Context) -> None:
        """Attach or replace the text at this collection and prefix."""
        ...

    def drop_context(self, collection: str | None, prefix: str) -> bool:
        """Remove it; False when there was none."""
        ...

    def fingerprints(self, collection: str, paths: Sequence[str] | None = None) -> Mapping[str, Known]:
        """What is known of every path of the collection, or of these: documents and ledger entries."""
        ...

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """Which of these (content hash, recipe) pairs the store has content for, deleted ones included.

        Each comes with the title that the content itself gives.
        """
        ...

    def original(self, content_hash: str) -> bytes | None:
        """The bytes that a draft with this hash asked to keep; None where none did."""
        ...

    def put(self, drafts: Sequence[Draft]) -> None:
        """Add or replace documents, all or none; each is searchable by words when this returns.

        A draft whose id the store has moves that document to the draft's path. Else, where the path is
        taken, the document that has it is replaced and keeps its id. Putting a path clears its ledger entry.
        What a draft says of its document takes the place of what was said before.
        """
        ...

    def restat(self, collection: str, fingerprints: Mapping[str, Fingerprint]) -> None:
        """Remember new fingerprints of documents and ledger entries whose content did not change."""
        ...

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Remember why these paths are not indexed; a document that had the path stays as it is."""
        ...

    def delete(self, documents: Sequence[UUID], *, exclude: bool = False) -> int:
        """Remove documents; `exclude` leaves a ledger entry for walked ones so that they stay away."""
        ...

    def forget(self, collection: str, paths: Sequence[str]) -> None:
        """Drop the ledger entries of these paths."""
        ...

    def unembedded(self, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
        """Up to `limit` (key, text to embed) of live chunks without a vector of this model, shortest first.

        Equal texts share one key, so copies, moves and unchanged passages are never embedded twice.
        """
        ...

    def count_unembedded(self, model: ModelIdentity) -> int:
        """How many keys `unembedded` would return without a limit."""
        ...

    def put_vectors(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """Remember the vectors of these keys. ModelMismatchError when the index holds another model's."""
        ...

    def add_model(self, model: ModelIdentity) -> None:
        """Let vectors of this model be put beside those that answer, until `switch_model` puts it in their place.

        There is one successor at a time: what an earlier one had is forgotten.
        """
        ...

    def switch_model(self, model: ModelIdentity) -> None:
        """Let the vectors of the successor answer, and forget the others; nothing changes for any other model."""
        ...

    def drop_vectors(self) -> None:
        """Forget every vector, and every lease, so that they can be made anew."""
        ...

    def lease(self, names: Sequence[str], owner: str, seconds: float) -> frozenset[str]:
        """Those of these names that no other owner holds now; they are this one's for so long.

        With names for parts of some work, any number of processes can share it, and what one left undone is
        taken over when its time has passed. A store that only one machine writes to may give everything to all.
        """
        ...

    def cleanup(self, older_than_ms: int) -> int:
        """Free content and vectors that no document has used for this long; returns bytes freed on disk.

        A successor that got no vector for this long was given up, and goes as well.
        """
        ...

    def check(self, *, deep: bool = False) -> list[Finding]:
        """Examine the store; `deep` compares every derived entry with the truth."""
        ...

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make everything derived anew from the truth."""
        ...

    def close(self) -> None:
        """Release files; the store cannot be used afterwards."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. Made without loading weights; the first call loads them."""

    @property
    def identity(self) -> ModelIdentity:
        """Which vectors these are; known without loading anything."""
        ...

    def load(self) -> None:
        """Load what the first question would wait for, where it is on this machine; nobody is asked for anything."""
        ...

    def embed_query(self, text: str) -> "Vector":
        """The vector of a question, shape (dims,)."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> "Vector":
        """The vectors of these passages, shape (len(texts), dims); too long ones are cut, not refused."""
        ...

    def close(self) -> None:
        """Stop workers and free the weights."""
        ...


class Reranker(Protocol):
    """Reads a question and passages together and says how well each one answers."""

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score in [0, 1] per passage, in their order."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Expander(Protocol):
    """Turns a question into further questions worth asking."""

    def expand(self, query: str, intent: str = "") -> Sequence[tuple[Literal["lex", "vec", "hyde"], str]]:
        """Typed sub-queries, the strongest first, without the question itself."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...
