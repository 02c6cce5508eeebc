"""In how many passages terms stand, field by field: counted once for each view, several terms in one request."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dowse.store.opensearch.filtering import any_of
from dowse.store.opensearch.layout import lexical_field
from dowse.store.opensearch.views import View
from dowse.text.fields import BOOSTS

__all__ = ["count", "counting", "learn", "uncounted"]


def count(view: View, terms: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """The numbers of these terms, and of all that were counted before."""
    unknown = uncounted(view, terms)
    if unknown:
        learn(view, unknown, view.chunks.search(counting(unknown)))
    return view.counts


def uncounted(view: View, terms: Iterable[str]) -> list[str]:
    """Those that this view has no numbers of yet."""
    return [term for term in dict.fromkeys(terms) if term not in view.counts]


def counting(terms: Sequence[str]) -> dict[str, Any]:
    """A search that counts how many passages have each of these terms in each field; only passages have any."""
    named = {
        f"{place}:{field}": {"term": {lexical_field(field): term}}
        for place, term in enumerate(terms)
        for field in BOOSTS
    }
    return {
        "query": any_of(list(named.values())),
        "size": 0,
        "track_total_hits": False,
        "aggs": {"terms": {"filters": {"filters": named}}},
    }


def learn(view: View, terms: Sequence[str], answer: Mapping[str, Any]) -> None:
    """Remember what the answer to that search says."""
    buckets = answer["aggregations"]["terms"]["buckets"]
    for place, term in enumerate(terms):
        view.counts[term] = {field: int(buckets[f"{place}:{field}"]["doc_count"]) for field in BOOSTS}
