"""A collection as a stream of parts: read from any snapshot, written to any store, a bounded piece at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import ConflictError, DowseError, NotFoundError
from dowse.ports import Snapshot, Store
from dowse.records import record
from dowse.text.passage import embedding_text, vector_key
from dowse.types import Collection, Content, Context, Draft, ModelIdentity, new_document_id, now_ms

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Head", "Part", "head_of", "parts_of", "take_in"]

_PART_DOCUMENTS = 200
_PART_CHARACTERS = 4_000_000
_UNFINISHED = ".importing"
_FOREIGN = "imported "
"""Before the recipe of content that came from elsewhere: a file here with the same bytes is read all the same,
so that nobody can say in advance what it contains."""


@record
class Head:
    """What is known of a collection before its documents."""

    collection: Collection
    contexts: tuple[Context, ...] = ()
    model: ModelIdentity | None = None
    """Whose vectors come along."""
    documents: int = 0


@record
class Part:
    """Some documents with the vectors of their passages. Content that an earlier part brought is left out."""

    drafts: tuple[Draft, ...]
    vectors: "Mapping[bytes, Vector]" = field(default_factory=dict)


def head_of(snapshot: Snapshot, name: str) -> Head:
    """The head of a collection that must be there."""
    for stats in snapshot.stats().collections:
        if stats.collection.name == name:
            contexts = tuple(each for each in snapshot.contexts() if each.collection == name)
            return Head(stats.collection, contexts, snapshot.model(), stats.documents)
    raise NotFoundError(f"There is no collection named {name!r}.", hint="See them: dowse collection list")


def parts_of(snapshot: Snapshot, head: Head) -> Iterator[Part]:
    """Every document of a collection, as many at a time as memory should hold.

    Of what was already given only the names are remembered: some hundred bytes a document, eighty a passage.
    """
    seen: set[tuple[str, str]] = set()
    given: set[bytes] = set()
    waiting: list[Draft] = []
    length = 0
    for draft in snapshot.drafts(head.collection.name):
        known = (draft.info.content_hash, draft.recipe)
        waiting.append(replace(draft, content=None, original=None) if known in seen else draft)
        seen.add(known)
        length += len(draft.content.text) if draft.content else 0
        if len(waiting) >= _PART_DOCUMENTS or length >= _PART_CHARACTERS:
            yield _part(snapshot, head, waiting, given)
            waiting, length = [], 0
    if waiting:
        yield _part(snapshot, head, waiting, given)


def _part(snapshot: Snapshot, head: Head, drafts: list[Draft], given: set[bytes]) -> Part:
    keys = {key for draft in drafts if draft.content for key in keys_of(draft.content)} - given
    given |= keys
    return Part(tuple(drafts), snapshot.vectors(head.model, sorted(keys)) if head.model else {})


def keys_of(content: Content) -> set[bytes]:
    """What the vectors of a content's passages are known by."""
    return {vector_key(embedding_text(content.title, chunk.headings, chunk.text)) for chunk in content.chunks}


def take_in(
    store: Store,
    head: Head,
    parts: Iterable[Part],
    *,
    root: Path | None = None,
    with_vectors: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int]:
    """Put a collection into a store, under the name that its head has; returns how many documents and vectors.

    It is filled under another name, where no search looks by itself, and gets its own when it is complete.
    """
    name, filling = head.collection.name, head.collection.name + _UNFINISHED
    with store.snapshot() as snapshot:
        known = {collection.name for collection in snapshot.collections()}
    if name in known:
        raise ConflictError(
            f"There is already a collection named {name!r}.", hint="Choose another name with --name NAME."
        )
    if filling in known:  # of an import that died
        store.drop_collection(filling)
    made = replace(head.collection, name=filling, root=str(root) if root else None, included=False, created_at=now_ms())
    store.put_collection(made)
    try:
        counts = _fill(store, filling, head, parts, root=root, with_vectors=with_vectors, progress=progress)
        for context in head.contexts:
            store.put_context(replace(context, collection=filling))
        store.rename_collection(filling, name)  # first: what has the other name is never looked at
        store.put_collection(replace(made, name=name, included=head.collection.included, updated_at=now_ms()))
    except BaseException:
        with suppress(DowseError):  # what stopped us may stop this too; the next import drops it first
            store.drop_collection(filling)
        raise
    return counts


def _fill(
    store: Store,
    filling: str,
    head: Head,
    parts: Iterable[Part],
    *,
    root: Path | None,
    with_vectors: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[int, int]:
    documents = vectors = 0
    for part in parts:
        with store.snapshot() as snapshot:
            drafts = [_settled(snapshot, draft, filling, root) for draft in part.drafts]
        store.put(drafts)
        if with_vectors and head.model is not None and part.vectors:
            store.put_vectors(head.model, list(part.vectors.items()))
            vectors += len(part.vectors)
        documents += len(drafts)
        if progress is not None:
            progress(documents, max(documents, head.documents))
    return documents, vectors


def _settled(snapshot: Snapshot, draft: Draft, collection: str, root: Path | None) -> Draft:
    """A draft at home in its new store: an id that is free, an address that means something here."""
    info = draft.info
    uri = info.uri
    if info.origin == "walked":
        uri = (root / info.path).as_uri() if root else f"import:/{info.path}"
    taken = snapshot.document(info.id) is not None
    settled = replace(info, collection=collection, uri=uri, id=new_document_id() if taken else info.id)
    return replace(draft, info=settled, recipe=_FOREIGN + draft.recipe.removeprefix(_FOREIGN))
