"""Bring just some places of a folder up to date: what a watcher heard of, or what a search found stale.

The same walk, comparison, guard and batches as for the whole folder, over a part of it; a file that moved
within that part keeps its id. What cannot be told from the paths alone becomes a run over everything.
"""

from collections.abc import Callable, Iterable

from dowse.ingest.pipeline import index_collection
from dowse.ingest.settings import IndexSettings
from dowse.ingest.sources import Selection, decides_for_its_folder
from dowse.ports import Store
from dowse.types import Collection, Event, IndexReport

__all__ = ["MOST_PATHS", "index_paths"]

MOST_PATHS = 1_000
"""From here on, looking at everything costs no more."""


def index_paths(
    store: Store,
    collection: Collection,
    settings: IndexSettings,
    paths: Iterable[str],
    *,
    on_event: Callable[[Event], None] | None = None,
) -> IndexReport:
    """Index what is new or changed at these paths and below, remove what is gone from there, and report.

    Paths are below the collection's root, spelled as in `DocumentInfo.path`; an empty one means the root.
    """
    places = {_place_of(path.strip("/")) for path in paths}
    if not places:
        return IndexReport(collection.name)
    only = None if "" in places or len(places) > MOST_PATHS else Selection(places)
    return index_collection(store, collection, settings, on_event=on_event, only=only)


def _place_of(path: str) -> str:
    """What has to be looked at when this path changed: an ignore file speaks for the folder that it is in."""
    folder, _, name = path.rpartition("/")
    return folder if decides_for_its_folder(name) else path
