"""What is asked and answered: filters, queries, hits, and how each hit got its score."""

from dataclasses import field
from typing import Literal, NewType, TypeAlias, get_args

from dowse.records import record
from dowse.types.documents import Chunk, DocumentInfo, Freshness

Mode = Literal["auto", "lex", "vec", "hybrid"]
SearchKind = Literal["lex", "vec", "hyde"]
"""By words, by meaning, or by the meaning of a text that could stand in the answer."""

Verdict = Literal["found", "uncertain", "absent"]
"""Of an answer as a whole; absent says that what was asked is probably in none of the documents."""

Ref = NewType("Ref", int)
"""A store's own handle of one chunk of one live document, good within one snapshot; see `ref_of`."""

ORDINAL_BITS = 20
ORDINAL_MASK = (1 << ORDINAL_BITS) - 1

Operator = Literal["eq", "in", "gt", "gte", "lt", "lte", "contains", "prefix", "glob", "exists"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
"""What a comparison can ask; `$ne` and `$nin` are the negations of two of them."""

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | tuple[Scalar, ...]


@record
class Compare:
    """A field compared with a value: a tuple of them for `in`, True or False for `exists`."""

    field: str
    op: Operator
    value: Value


@record
class And:
    """All parts hold; without parts it holds."""

    parts: tuple["Filter", ...]


@record
class Or:
    """One part holds; without parts it does not."""

    parts: tuple["Filter", ...]


@record
class Not:
    """The part does not hold."""

    part: "Filter"


Filter: TypeAlias = Compare | And | Or | Not


@record
class Scope:
    """Where a search may look. Applied inside the store, never after a cut-off."""

    collections: frozenset[str] | None = None
    """None: every collection."""
    filter: Filter | None = None


@record
class Ranked:
    """One leg's recall: refs with their scores, best first, and the most that any text could score."""

    hits: tuple[tuple[Ref, float], ...]
    ceiling: float
    """For BM25 the sum of boost * (k1 + 1) * idf over the terms that each field knows; for cosine 1."""


@record
class Passage:
    """A chunk together with the document it stands in."""

    ref: Ref
    info: DocumentInfo
    chunk: Chunk
    ordinal: int


@record
class Query:
    """A search as the engine takes it; a plain string means `Query(text)`."""

    text: str
    mode: Mode = "auto"
    collections: tuple[str, ...] = ()
    """Empty: the collections that are included by default."""
    limit: int = 10
    min_score: float = 0.0
    per_document: int = 0
    """How many passages one document may contribute; 0: as many as rank."""
    snippets: bool = True
    """Whether hits come with their best lines picked; whoever shows whole passages need not pay for that."""
    verdict: bool = True
    """Whether the answer as a whole is judged; whoever does not say whether it is there need not pay for that."""
    filter: Filter | None = None
    """Which documents and passages may answer; see `dowse.filters` for what it means."""
    plain: bool = False
    """Whether `text` is words alone, in which quotes, dashes and colons mean nothing."""
    searches: tuple[tuple[SearchKind, str], ...] = ()
    """Several searches by words or by meaning instead of `text`, the first of double weight."""
    intent: str = ""
    """What the searches are about; for rerankers and expanders."""
    expand: bool = False
    """Whether the configured expander is asked for further searches."""
    rerank: bool = False
    """Whether the configured reranker reads the best passages."""
    fresh: Literal["wait", "warn", "ignore"] = "warn"
    """What to do about hits whose files changed: index these first, mark them, or not even look."""
    fold: bool = False
    """Whether of texts that are nearly the same only the best is a hit, which names the others."""
    merge: bool = False
    """Whether passages that follow each other in a document and both hit become one."""
    diversity: float = 0.0
    """How much variety counts beside the score, from 0 to 1: what says the same as a better hit sinks."""
    recency: float = 0.0
    """In how many days a document loses half of what being new is worth; 0: age does not count."""
    fusion: Literal["evidence", "ranks"] = "evidence"
    """What a reranker's opinion is blended with: the evidence, or reciprocal ranks as the qmd specification has it."""
    candidates: int = 30
    """How many passages the reranker reads."""


@record
class Leg:
    """One list's evidence for a hit."""

    name: Literal["lex", "vec"]
    rank: int | None
    """Place in the leg's own list; None when the hit came from the other leg and was scored afterwards."""
    raw: float
    """BM25 or cosine."""
    value: float
    """The same in [0, 1]."""
    weight: float


@record
class Feature:
    """What reading a passage adds to the evidence of the legs: weight * value."""

    name: Literal["window", "pairs", "unread", "code", "recent"]
    value: float
    """In [0, 1]."""
    weight: float


@record
class Explain:
    """How a hit got its score, step by step."""

    legs: tuple[Leg, ...]
    fused: float
    """The sum of weight * value over the legs and the features, before calibration.

    A passage without a vector in a hybrid search has one leg, and the evidence that its words are worth alone.
    """
    score: float
    reranked: float | None = None
    """What the reranker says of it, of which the score is made too; None where none was asked."""
    features: tuple[Feature, ...] = ()


@record
class Snippet:
    """The lines of a passage that answer the query best; empty where the query asked for none."""

    text: str
    first_line: int
    start: int
    """Character offset in the document's text."""
    highlights: tuple[tuple[int, int], ...] = ()
    """Spans inside `text` that match the query's words."""


@record
class Hit:
    """A passage that answers, with everything that is needed to cite and check it."""

    info: DocumentInfo
    chunk: Chunk
    ordinal: int
    score: float
    snippet: Snippet
    contexts: tuple[str, ...]
    explain: Explain
    freshness: Freshness = "unknown"
    copies: tuple[str, ...] = ()
    """The other files in which nearly the same text stands, where the query asked to fold these."""


@record
class Answer:
    """The hits of one search, best first, and what the reader should know about them."""

    query: Query
    mode: Literal["lex", "vec", "hybrid"]
    """What was really done, after `auto` and fallbacks."""
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    """Plain sentences: which leg was missing and why, which index lags."""
    verdict: Verdict = "uncertain"
    """Whether the answer is among the documents: found, uncertain (also where it was not asked), probably absent."""
    confidence: float = 0.0
    """The evidence behind the verdict, from 0 to 1."""
    embedding_seconds: float = field(default=0.0, compare=False)
    """How much of the time went into the vectors of the query."""


def ref_of(version: int, ordinal: int) -> Ref:
    """The handle of a chunk: a number of its document's live version and its place there, in one integer."""
    return Ref(version << ORDINAL_BITS | ordinal)


def version_of(ref: int) -> int:
    """The part of a ref that all chunks of one document share, and no others."""
    return ref >> ORDINAL_BITS


def ordinal_of(ref: int) -> int:
    """Which chunk of its document a ref means."""
    return ref & ORDINAL_MASK
