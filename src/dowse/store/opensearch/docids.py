"""How many digits of its hash each document needs to be told from the others: those whose hashes begin alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dowse.store.opensearch.rows import docid_start
from dowse.store.opensearch.views import View, of_kind
from dowse.types import DocumentInfo, docid_digits

__all__ = ["alike", "learn", "told_apart"]

_MOST = 1_000
_MOST_ALIKE = 65_536


def told_apart(view: View, infos: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """The same with docids of the length that it takes."""
    unknown = sorted({info.content_hash for info in infos} - view.digits.keys())
    for start in range(0, len(unknown), _MOST):
        part = unknown[start : start + _MOST]
        learn(view, part, view.chunks.search(alike(view, part)))
    return [replace(info, docid_digits=view.digits[info.content_hash]) for info in infos]


def alike(view: View, hashes: Iterable[str]) -> dict[str, Any]:
    """A search for all hashes of documents that begin like one of these."""
    known = {"terms": {"collection": list(view.catalog.collections)}}
    starts = sorted({docid_start(each) for each in hashes})
    return {
        "query": of_kind("document", known, {"terms": {"docid": starts}}),
        "size": 0,
        "track_total_hits": False,
        "aggs": {"hashes": {"terms": {"field": "hash", "size": _MOST_ALIKE}}},
    }


def learn(view: View, hashes: Iterable[str], answer: Mapping[str, Any]) -> None:
    """Remember what the answer to that search says of these; hashes that begin alike are neighbours in order."""
    ordered = sorted({bucket["key"] for bucket in answer["aggregations"]["hashes"]["buckets"]} | set(hashes))
    for place, each in enumerate(ordered):
        beside = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        view.digits[each] = docid_digits(each, *beside)
