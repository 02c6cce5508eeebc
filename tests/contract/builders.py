"""Small documents for the store's suites, made from plain text without the ingest package.

Paragraphs are chunks, `# …` starts a section, and a vector is a hashed bag of words, so that sharing words
is being near.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from dowse.ports import Snapshot, Store
from dowse.text.analyse import query_terms
from dowse.types import (
    Chunk,
    Collection,
    Content,
    DocumentInfo,
    Draft,
    Fingerprint,
    LedgerEntry,
    LedgerState,
    MetadataValue,
    ModelIdentity,
    Origin,
    Ranked,
    Ref,
    Scope,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

EVERYWHERE = Scope()
MODEL = ModelIdentity(name="bag-of-words", weights="1", dims=64, pooling="sum", precision="f32", max_tokens=10_000)
OTHER_MODEL = ModelIdentity(name="other-words", weights="2", dims=64, pooling="sum", precision="f32", max_tokens=10_000)
RECIPE = "paragraphs"
DAY_MS = 24 * 60 * 60 * 1000

_serial = count(1)


def new_id() -> UUID:
    """An id that no other document of this run has; counted, so that a run can be repeated."""
    return UUID(int=next(_serial))


def make_content(text: str, recipe: str = RECIPE) -> Content:
    """Cut at blank lines (or not at all, by the recipe "whole"), with exact spans and heading paths."""
    pattern = r"\S(?:.|\n(?!\s*\n))*" if recipe == RECIPE else r"(?s)\S.*"
    chunks: list[Chunk] = []
    title: str | None = None
    heading: tuple[str, ...] = ()
    for match in re.finditer(pattern, text):
        passage = match.group().rstrip()
        if passage.startswith("# "):
            heading = (passage.splitlines()[0].removeprefix("# "),)
            title = title or heading[0]
        first_line = text.count("\n", 0, match.start()) + 1
        chunks.append(
            Chunk(
                text=passage,
                start=match.start(),
                end=match.start() + len(passage),
                first_line=first_line,
                last_line=first_line + passage.count("\n"),
                tokens=len(passage.split()),
                headings=heading,
            )
        )
    return Content(text=text, title=title, chunks=tuple(chunks))


def make_draft(
    path: str,
    text: str,
    *,
    collection: str = "notes",
    id: UUID | None = None,  # noqa: A002 - the field is called so
    recipe: str = RECIPE,
    title: str | None = None,
    origin: Origin = "walked",
    linked: bool = False,
    metadata: Mapping[str, MetadataValue] | None = None,
    content_metadata: Mapping[str, MetadataValue] | None = None,
    created_at: int = 1_000,
    updated_at: int = 1_000,
) -> Draft:
    """A draft of this text at this path; `linked` leaves the content out, as for content that is known."""
    content = replace(make_content(text, recipe), metadata=content_metadata or {})
    info = DocumentInfo(
        id=id or new_id(),
        collection=collection,
        path=path,
        uri=f"file:///library/{collection}/{path}",
        title=title or content.title or path.rsplit("/", 1)[-1],
        content_hash=content_hash(text),
        media_type="text/markdown",
        origin=origin,
        fingerprint=Fingerprint(size=len(text.encode()), mtime_ns=updated_at * 1_000_000),
        metadata=metadata or {},
        created_at=created_at,
        updated_at=updated_at,
        chunks=len(content.chunks),
    )
    return Draft(info, recipe, None if linked else content)


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def ledger_entry(path: str, *, collection: str = "notes", state: LedgerState = "failed", size: int = 1) -> LedgerEntry:
    """An entry as the ingest pipeline writes one."""
    return LedgerEntry(
        collection=collection,
        path=path,
        state=state,
        code="unreadable",
        reason="It could not be read.",
        hint="Look at it.",
        at=2_000,
        fingerprint=Fingerprint(size=size, mtime_ns=5),
    )


def add_collections(store: Store, *names: str) -> None:
    for name in names:
        store.put_collection(Collection(name, root=f"/library/{name}", created_at=1, updated_at=1))


def put_texts(store: Store, texts: Mapping[str, str], *, collection: str = "notes") -> None:
    """Put one document for each path and text, in one batch."""
    store.put([make_draft(path, text, collection=collection) for path, text in texts.items()])


def id_at(store: Store, name: str) -> UUID:
    """The id of the one document with this `collection/path`."""
    with store.snapshot() as view:
        (info,) = view.find(name, "path")
    return info.id


def paths(infos: Iterable[DocumentInfo]) -> list[str]:
    """Their names, `collection/path`, in the order given."""
    return [info.file for info in infos]


def bag_of_words(text: str) -> "Vector":
    """A unit vector with one bump for each word, at a place that its hash decides."""
    vector = np.zeros(MODEL.dims, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(word.encode()).digest()
        vector[digest[0] % MODEL.dims] += 1
    length = math.sqrt(float(vector @ vector))
    return vector / np.float32(length) if length else vector


def embed_backlog(store: Store, *, limit: int = 1_000) -> list[str]:
    """Embed up to `limit` texts that wait for a vector; returns them."""
    waiting = store.unembedded(MODEL, limit)
    store.put_vectors(MODEL, [(key, bag_of_words(text)) for key, text in waiting])
    return [text for _, text in waiting]


def located(view: Snapshot, ranked: Ranked) -> list[tuple[str, int]]:
    """The hits as (`collection/path`, ordinal), best first."""
    return [(place[0], place[1]) for place in scored(view, ranked)]


def scored(view: Snapshot, ranked: Ranked) -> list[tuple[str, int, float]]:
    """The hits as (`collection/path`, ordinal, score), best first."""
    scores = dict(ranked.hits)
    passages = view.passages([ref for ref, _ in ranked.hits])
    return [(passage.info.file, passage.ordinal, scores[passage.ref]) for passage in passages]


def all_refs(view: Snapshot, *words: str) -> list[Ref]:
    """The refs of every chunk that has one of the words."""
    return [ref for ref, _ in view.lexical(terms(*words), 1_000, EVERYWHERE).hits]


def terms(*words: str) -> Sequence[str]:
    """The words as a query has them: analysed, each once."""
    return query_terms(" ".join(words))


def search_words(store: Store, *words: str, k: int = 10, scope: Scope = EVERYWHERE) -> list[tuple[str, int]]:
    """A lexical search in a snapshot of its own."""
    with store.snapshot() as view:
        return located(view, view.lexical(terms(*words), k, scope))


def search_near(store: Store, text: str, *, k: int = 10, scope: Scope = EVERYWHERE) -> list[tuple[str, int]]:
    """A vector search in a snapshot of its own."""
    with store.snapshot() as view:
        return located(view, view.nearest(MODEL, bag_of_words(text), k, scope))
