"""The two legs of recall: BM25 over the analyser's terms, and the nearest vectors.

Scores are those of every other store: the same fields, boosts and constants, with the statistics of all shards. Of
the vectors the graph is asked first, and wider than needed; where it finds too few, all in scope are compared.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.ports import Alternatives
from dowse.store.opensearch.counting import count, counting, learn, uncounted
from dowse.store.opensearch.filtering import Dsl, any_of, query_of
from dowse.store.opensearch.layout import LONGEST_RESULT, lexical_field, vector_field
from dowse.store.opensearch.rows import unit
from dowse.store.opensearch.views import View, of_kind
from dowse.text.fields import BOOSTS, K1, idf
from dowse.types import Ranked, Ref, Scope, version_of

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["best_words", "cosines", "frequencies", "nearest", "word_scores"]

Groups = Sequence[Mapping[str, float]]
"""Each term with what may stand in its place, and the weights."""

_MOST_NEIGHBOURS = 10_000
_WIDER = 2
_NARROWEST = 128


def best_words(
    view: View, terms: Sequence[str], k: int, scope: Scope, alternatives: Alternatives, required: Sequence[str]
) -> Ranked:
    """The k best by words, and the most that any text could score."""
    groups = _groups(terms, alternatives)
    if not groups:
        return Ranked((), 0.0)
    everything = [term for group in groups for term in group]
    if k <= 0:
        count(view, everything)
        return Ranked((), _ceiling(view, groups))
    k = min(k, LONGEST_RESULT)
    body = _ranked_body(_worth(view, groups), k, [*_within(view, scope), *map(_having, required)])
    unknown = uncounted(view, everything)
    found, *counted = view.chunks.search_many([body, *([counting(unknown)] if unknown else [])], everywhere=1)
    for answer in counted:
        learn(view, unknown, answer)
    hits = _live(
        view, found, lambda dead: view.chunks.search({**body, "query": _without(body["query"], dead)}, everywhere=True)
    )
    # Scores count what was deleted until it is merged away, the ceiling does not: among few passages one may pass it.
    return Ranked(_sorted(hits, k), max(_ceiling(view, groups), *hits.values(), 0.0))


def word_scores(view: View, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives) -> dict[Ref, float]:
    """The scores of just these chunks."""
    known = view.live({version_of(ref) for ref in refs})
    scores = {ref: 0.0 for ref in refs if version_of(ref) in known}
    groups = _groups(terms, alternatives)
    if groups and scores:
        body = _ranked_body(_worth(view, groups), len(scores), [{"terms": {"ref": list(scores)}}])
        scores.update(_hits(view.chunks.search(body, everywhere=True)))
    return scores


def frequencies(view: View, terms: Sequence[str]) -> dict[str, int]:
    """In how many chunks' bodies each term stands."""
    counts = count(view, terms)
    return {term: counts[term]["body"] for term in terms}


def nearest(view: View, tag: str, vector: "Vector", k: int, scope: Scope) -> Ranked:
    """The k with the highest cosines."""
    if k <= 0:
        return Ranked((), 1.0)
    k = min(k, LONGEST_RESULT)
    asked, within, field = unit(vector), _within(view, scope), vector_field(tag)
    wanted = min(k, _MOST_NEIGHBOURS)
    width = min(_MOST_NEIGHBOURS, max(_NARROWEST, _WIDER * wanted))

    def graph(dead: Sequence[int]) -> Mapping[str, Any]:
        limit = of_kind("chunk", *within, without=[{"terms": {"version": list(dead)}}] if dead else ())
        knn = {"vector": asked, "k": wanted, "filter": limit, "method_parameters": {"ef_search": width}}
        return view.chunks.search(_page({"knn": {field: knn}}, wanted))

    hits = _live(view, graph(()), graph)
    if len(hits) < k:
        hits = _live(
            view,
            view.chunks.search(_compared(tag, asked, within, k)),
            lambda dead: view.chunks.search(_compared(tag, asked, within, k, dead)),
        )
    return Ranked(_sorted({ref: _cosine(score) for ref, score in hits.items()}, k), 1.0)


def cosines(view: View, tag: str, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
    """The cosines of just these chunks."""
    if not refs:
        return {}
    among = [{"terms": {"ref": list(refs)}}]
    known = view.live({version_of(ref) for ref in refs})
    found = _hits(view.chunks.search(_compared(tag, unit(vector), among, len(refs))))
    return {ref: _cosine(score) for ref, score in found.items() if version_of(ref) in known}


def sampled(view: View, tag: str, k: int, scope: Scope) -> tuple[list[Ref], list[bytes], int]:
    """Up to k embedded chunks in scope, spread evenly over all, the keys of their texts, and how many there are."""
    query = of_kind("chunk", {"term": {"embedded": tag}}, *_within(view, scope))
    found = [hit["_source"] for hit in view.chunks.scan(query, ["ref"], ["ref", "key", "version"])]
    living = view.living([each["version"] for each in found])
    everything = [each for each in found if each["version"] in living]
    picked = [everything[at * len(everything) // k] for at in range(k)] if len(everything) > k else everything
    return [each["ref"] for each in picked], [bytes.fromhex(each["key"]) for each in picked], len(everything)


def _live(
    view: View, found: Mapping[str, Any], again: Callable[[Sequence[int]], Mapping[str, Any]]
) -> dict[Ref, float]:
    """The hits of live versions; where others took places, the search is made again without them."""
    dead: set[int] = set()
    while True:
        hits = _hits(found)
        if view.clean:
            view.met.update(map(version_of, hits))
            return hits
        live = view.living([version_of(ref) for ref in hits])
        more = {version_of(ref) for ref in hits} - live.keys()
        if not more:
            return hits
        dead |= more
        found = again(sorted(dead))


def _hits(answer: Mapping[str, Any]) -> dict[Ref, float]:
    return {Ref(hit["fields"]["ref"][0]): hit["_score"] for hit in answer["hits"]["hits"]}


def _sorted(hits: Mapping[Ref, float], k: int) -> tuple[tuple[Ref, float], ...]:
    return tuple(sorted(hits.items(), key=lambda hit: (-hit[1], hit[0]))[:k])


def _page(query: Dsl, size: int) -> dict[str, Any]:
    return {
        "query": query,
        "size": size,
        "stored_fields": "_none_",  # else a block of texts is unpacked for the id of every hit
        "docvalue_fields": ["ref"],
        "track_total_hits": False,
    }


def _ranked_body(worth: Sequence[Dsl], size: int, within: Sequence[Dsl]) -> dict[str, Any]:
    scored = {"bool": {"should": list(worth), "minimum_should_match": 1, "filter": [of_kind("chunk", *within)]}}
    return _page(scored, size)


def _without(query: Dsl, dead: Sequence[int]) -> Dsl:
    return {"bool": {"must": [query], "must_not": [{"terms": {"version": list(dead)}}]}}


def _compared(
    tag: str, asked: Sequence[float], within: Sequence[Dsl], size: int, dead: Sequence[int] = ()
) -> dict[str, Any]:
    """A search that compares every vector in scope."""
    params = {"field": vector_field(tag), "query_value": list(asked), "space_type": "innerproduct"}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    without = [{"terms": {"version": list(dead)}}] if dead else ()
    there = of_kind("chunk", {"term": {"embedded": tag}}, *within, without=without)
    return _page({"script_score": {"query": there, "script": script}}, size)


def _cosine(score: float) -> float:
    """The inner product that the score was made of: x + 1 where it is positive, else 1 / (1 - x)."""
    return max(-1.0, min(1.0, score - 1 if score >= 1 else 1 - 1 / score))


def _within(view: View, scope: Scope) -> list[Dsl]:
    names = view.catalog.names
    ids = [id_ for id_, name in names.items() if scope.collections is None or name in scope.collections]
    limits: list[Dsl] = [{"terms": {"collection": ids}}]
    if scope.filter is not None:
        limits.append(query_of(scope.filter))
    return limits


def _groups(terms: Sequence[str], alternatives: Alternatives) -> list[dict[str, float]]:
    return [{**alternatives.get(term, {}), term: 1.0} for term in dict.fromkeys(terms)]


def _worth(view: View, groups: Groups) -> list[Dsl]:
    """What each group is worth in a chunk: the most of what its terms are, over all fields."""
    worth = []
    for group in groups:
        ways = [_fields_of(term, weight * view.scale) for term, weight in group.items()]
        worth.append(ways[0] if len(ways) == 1 else {"dis_max": {"queries": ways}})
    return worth


def _fields_of(term: str, weight: float) -> Dsl:
    should = [
        {"term": {lexical_field(field): {"value": term, "boost": boost * weight}}} for field, boost in BOOSTS.items()
    ]
    return {"bool": {"should": should}}


def _having(term: str) -> Dsl:
    return any_of([{"term": {lexical_field(field): term}} for field in BOOSTS])


def _ceiling(view: View, groups: Groups) -> float:
    total = view.chunk_count

    def most(term: str) -> float:
        counts = view.counts[term]
        return sum(BOOSTS[field] * (K1 + 1) * idf(total, having) for field, having in counts.items() if having)

    return sum(max(weight * most(term) for term, weight in group.items()) for group in groups)
