"""Why is a file not in the index? What the ledger and the collections' folders say of a name."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from dowse.ports import Snapshot
from dowse.search import lookup
from dowse.search.why.reasons import Why
from dowse.types import Collection, LedgerEntry

__all__ = ["not_indexed"]


def not_indexed(snapshot: Snapshot, name: str, uri: str | None) -> Why:
    """What is known of a name that is no document: an entry of the ledger, a folder that is walked, a likeness."""
    if entry := _entry_of(snapshot.ledger(), name, snapshot.collections(), uri):
        said = {"failed": "could not be read", "skipped": "was left out", "excluded": "was taken out of the index"}
        message = f"{entry.collection}/{entry.path} {said[entry.state]}: {entry.reason}"
        return Why("not_indexed", message, hint=entry.hint, entry=entry)
    if collection := _walking(snapshot.collections(), uri):
        return Why(
            "not_indexed",
            f"{name} lies in the folder of {collection.name}, but is not in the index.",
            hint=f"If it is new: dowse update -c {collection.name}. Files that are hidden, ignored (.gitignore, "
            f".dowseignore), excluded or outside of the pattern {collection.pattern} are never looked at.",
        )
    if uri:
        return Why("not_indexed", f"{name} is in no collection.", hint=f"Add it: dowse ingest {name}")
    near = lookup.similar(snapshot, name)
    hint = f"Did you mean one of these? {', '.join(near)}" if near else "See what there is: dowse ls"
    return Why("not_indexed", f"Nothing of the name {name} was ever seen.", hint=hint)


def _entry_of(
    ledger: Iterable[LedgerEntry], name: str, collections: Iterable[Collection], uri: str | None
) -> LedgerEntry | None:
    """What the ledger says of a name: `collection/path`, the end of it, or a file on the disk."""
    folders = {each.name: _folder(each) for each in collections}
    plain, place = name.strip("/"), unquote(uri or "")
    found = None
    for entry in ledger:
        file = f"{entry.collection}/{entry.path}"
        folder = folders.get(entry.collection)
        if plain == file or name == entry.path or (folder and place == folder + entry.path):
            return entry
        if found is None and f"/{file}".endswith(f"/{plain}"):
            found = entry
    return found


def _walking(collections: Iterable[Collection], uri: str | None) -> Collection | None:
    place = unquote(uri or "")
    return next((each for each in collections if (folder := _folder(each)) and place.startswith(folder)), None)


def _folder(collection: Collection) -> str:
    """What the URIs of the files below a collection's folder start with, decoded; empty without a folder."""
    return f"{unquote(Path(collection.root).as_uri()).rstrip('/')}/" if collection.root else ""
