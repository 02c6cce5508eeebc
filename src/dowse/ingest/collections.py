"""Collections: made, changed, and checked before they are."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from dowse.errors import ConflictError, NotFoundError, UsageError
from dowse.ingest.chunk import check_chunking
from dowse.ingest.sources import check_pattern, resolve_root
from dowse.ports import Store
from dowse.types import Chunking, Collection, MetadataValue, now_ms

__all__ = ["CollectionSettings", "add_collection", "check_name", "configure_collection", "no_collection"]


class CollectionSettings(TypedDict, total=False):
    """What may be said of a collection when it is made, and changed afterwards."""

    pattern: str
    exclude: Sequence[str]
    description: str
    chunking: Chunking | None
    settings: Mapping[str, MetadataValue]


def add_collection(
    store: Store, root: Path | str | None, name: str = "", **settings: Unpack[CollectionSettings]
) -> Collection:
    """Create a collection; with a root, that folder is what gets walked. Nothing is read yet."""
    folder = None if root is None else resolve_root(root)
    name = name or (folder.name if folder else "")
    check_name(name)
    made = _with(Collection(name, None if folder is None else str(folder), created_at=now_ms()), settings)
    with store.snapshot() as snapshot:
        everything = snapshot.collections()
    for known in everything:
        if known.name == name:
            raise ConflictError(
                f"There is already a collection named {name!r} ({known.root or 'without a folder'}).",
                hint=f"Choose another name with --name, or bring it up to date: dowse update -c {name}",
            )
        if folder is not None and (known.root, known.pattern) == (str(folder), made.pattern):
            raise ConflictError(
                f"The folder {folder} is already the collection {known.name!r}.",
                hint=f"Bring it up to date: dowse update -c {known.name}",
            )
    return _put(store, made)


def configure_collection(store: Store, collection: Collection, **settings: Unpack[CollectionSettings]) -> Collection:
    """Change settings, and only those that are given. The next `index` does what follows from them."""
    return _put(store, _with(collection, settings))


def check_name(name: str) -> None:
    """Raise UsageError for what cannot be the name of a collection."""
    bad = (
        not name
        or name != name.strip()
        or name in {".", ".."}
        or any(c in "/\\:\0" or not c.isprintable() for c in name)
    )
    if bad:
        raise UsageError(
            f"{name!r} cannot be the name of a collection.",
            hint="Use letters, digits, spaces, '-', '_' or '.': no slashes, colons or control characters.",
        )


def no_collection(name: str, known: Iterable[str]) -> NotFoundError:
    """The error that says so, and which ones there are."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f"Did you mean {near[0]!r}?"
    elif names:
        hint = f"The collections are: {', '.join(names)}."
    else:
        hint = "There are none yet: dowse collection add PATH"
    return NotFoundError(f"There is no collection named {name!r}.", hint=hint)


def _with(collection: Collection, settings: CollectionSettings) -> Collection:
    return replace(
        collection,
        pattern=settings.get("pattern", collection.pattern),
        exclude=tuple(settings.get("exclude", collection.exclude)),
        description=settings.get("description", collection.description),
        chunking=settings.get("chunking", collection.chunking),
        settings=settings.get("settings", collection.settings),
    )


def _put(store: Store, collection: Collection) -> Collection:
    check_pattern(collection.pattern)
    for line in collection.exclude:
        if not line.strip() or "\n" in line:
            raise UsageError(
                f"{line!r} is no pattern of what to leave out.", hint="Write it as in .gitignore: drafts/, *.tmp"
            )
    if collection.chunking is not None:
        check_chunking(collection.chunking)
    store.put_collection(collection)
    return collection
