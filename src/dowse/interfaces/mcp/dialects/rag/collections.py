"""Collections, and what they say about chunking and searching."""

import difflib
from dataclasses import asdict, replace

from dowse.engine import Engine
from dowse.interfaces.mcp.dialect import Json
from dowse.interfaces.mcp.dialects.rag.failures import CollectionNotFoundError
from dowse.records import record
from dowse.search.fuse import WEIGHTS
from dowse.types import Chunking, Collection, CollectionStats

__all__ = ["CHUNKING", "SearchSettings", "all_settings", "find_collection", "new_settings", "search_settings"]

CHUNKING = Chunking(max_tokens=512, min_tokens=50, overlap_tokens=0)
"""Of collections that are made here."""

_LARGEST_TOP_K = 100
_LISTED = 10  # names in a message
_SHOWN = 60  # characters of a name in a message


@record
class SearchSettings:
    """How a collection is searched where the call says nothing else."""

    top_k: int = 10
    hybrid: bool = True
    hybrid_alpha: float = WEIGHTS["hybrid"]["vec"]
    """How much meaning weighs, from 0 to 1; words weigh the rest. By default as everywhere in Dowse."""


_NEW = SearchSettings(hybrid_alpha=0.5)


def new_settings() -> dict[str, int | float | bool]:
    """Those that a collection made here starts with, as it stores them."""
    return asdict(_NEW)


def search_settings(collection: Collection) -> SearchSettings:
    """Those of a collection; what it does not say, or what cannot be, is as everywhere."""
    settings, said = SearchSettings(), collection.settings
    top_k, hybrid, alpha = said.get("top_k"), said.get("hybrid"), said.get("hybrid_alpha")
    if isinstance(top_k, int) and not isinstance(top_k, bool) and 1 <= top_k <= _LARGEST_TOP_K:
        settings = replace(settings, top_k=top_k)
    if isinstance(hybrid, bool):
        settings = replace(settings, hybrid=hybrid)
    if isinstance(alpha, int | float) and not isinstance(alpha, bool) and 0 <= alpha <= 1:
        settings = replace(settings, hybrid_alpha=float(alpha))
    return settings


def all_settings(engine: Engine, collection: Collection) -> Json:
    """Everything that steers a collection, as its resource shows it."""
    chunking = collection.chunking or Chunking(max_tokens=engine.config.chunk_tokens)
    return {
        "chunking": {
            "max_tokens": chunking.max_tokens,
            "min_tokens": chunking.min_tokens,
            "overlap_tokens": chunking.overlap_tokens,
        },
        "search": asdict(search_settings(collection)),
    }


def find_collection(engine: Engine, name: str) -> CollectionStats:
    """The collection of this name.

    Raises:
        CollectionNotFoundError: there is none; the message says which one may be meant.
    """
    everything = {each.collection.name: each for each in engine.collections()}
    if name in everything:
        return everything[name]
    hint = "Make it with rag_create_collection."
    if near := difflib.get_close_matches(name[:_SHOWN], everything, n=1):
        hint = f"Did you mean {near[0]}?"
    elif everything:
        listed = ", ".join(list(everything)[:_LISTED]) + (", …" if len(everything) > _LISTED else "")
        hint = f"There are: {listed}. Others are made with rag_create_collection."
    raise CollectionNotFoundError(f"Collection not found: {name[:_SHOWN]}.", hint=hint)
