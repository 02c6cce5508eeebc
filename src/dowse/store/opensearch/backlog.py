"""Vectors: which texts wait for one, where each is kept, and how it reaches the passages that share the text.

The truth is one document for each text and model; the passages carry copies in the graph. Each model that comes gets
a name, and a field of that name: forgetting a model is forgetting its name, and no passage is touched.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dowse.errors import ModelMismatchError
from dowse.store.opensearch.catalog import Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.filtering import Dsl
from dowse.store.opensearch.layout import NEWEST, Indexes, vector_field, vector_mapping
from dowse.store.opensearch.rows import array_from, chunk_from, chunk_id, unit, vector_id, vector_to
from dowse.store.opensearch.views import View, of_kind
from dowse.text.passage import embedding_text
from dowse.types import ModelIdentity, now_ms, ordinal_of, version_of

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Vectors", "count_vectors", "count_waiting", "kept_vectors", "waiting_in", "waiting_texts"]

_MOST_EXACT = 40_000
_PAGE = 10_000


def waiting_texts(view: View, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
    """The texts without a vector, shortest first, equal ones once."""
    found: dict[str, str] = {}
    if limit <= 0:
        return []
    fields, query = ["key", "ref", "lead", "passage"], _waiting(view, view.catalog.tag_of(model))
    for hit in view.chunks.scan(query, ["weight", "key", "ref"], fields, page=min(limit + 1, 1_000)):
        source = hit["_source"]
        if source["key"] in found or not view.shows(version_of(source["ref"])):
            continue
        if len(found) == limit:
            break
        chunk = chunk_from(source["passage"])
        found[source["key"]] = embedding_text(source["lead"] or None, chunk.headings, chunk.text)
    return [(bytes.fromhex(key), text) for key, text in found.items()]


def count_waiting(view: View, model: ModelIdentity) -> int:
    """How many texts wait: exact up to tens of thousands, then within a few per cent."""
    query = _waiting(view, view.catalog.tag_of(model))
    dead = view.dead_versions(query)
    if dead:
        query = {"bool": {"filter": [query], "must_not": [{"terms": {"version": dead}}]}}
    counted = {"cardinality": {"field": "key", "precision_threshold": _MOST_EXACT}}
    answer = view.chunks.search({"query": query, "size": 0, "aggs": {"texts": counted}})
    return int(answer["aggregations"]["texts"]["value"])


def waiting_in(view: View, tag: str = "") -> tuple[Counter[str], Counter[str]]:
    """How many documents and passages of each collection lack vectors of this model."""
    versions = dict(view.chunks.counted(_waiting(view, tag), "version"))
    living = view.living(list(versions))
    documents = Counter(record.collection for record in living.values())
    passages: Counter[str] = Counter()
    for version, record in living.items():
        passages[record.collection] += versions[version]
    return documents, passages


def count_vectors(view: View, tag: str) -> int:
    """How many texts have a vector of this model."""
    return view.contents.count(of_kind("vector", {"term": {"model": tag}})) if tag else 0


def kept_vectors(view: View, tag: str, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
    """The vectors that are kept for these texts."""
    ids = [vector_id(tag, key.hex()) for key in dict.fromkeys(keys)]
    hits = view.contents.scan(of_kind("vector", {"ids": {"values": ids}}), ["key"]) if ids else ()
    return {bytes.fromhex(hit["_source"]["key"]): array_from(hit["_source"]["kept"]["vector"]) for hit in hits}


def _waiting(view: View, tag: str) -> Dsl:
    known = {"terms": {"collection": list(view.catalog.collections)}}
    return of_kind("chunk", known, without=[{"term": {"embedded": tag}}] if tag else ())


class Vectors:
    """The writing side."""

    def __init__(self, connection: Connection, indexes: Indexes, counters: Counters) -> None:
        self._connection = connection
        self._indexes = indexes
        self._counters = counters
        self._mapped: set[str] = set()
        self._visible = -1
        """How many writes that may have added passages are known to be visible to searches."""

    def of(self, tag: str, keys: Iterable[str]) -> dict[str, list[float]]:
        """The unit vectors that are kept for these texts, now."""
        wanted = [(self._indexes.contents, vector_id(tag, key), "") for key in dict.fromkeys(keys)]
        found = self._connection.get_many(wanted).values()
        return {each["_source"]["key"]: unit(array_from(each["_source"]["kept"]["vector"])) for each in found}

    def put(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """Keep them, and give them to the passages that wait for them."""
        catalog = self._claim(model) if vectors else self._checked(self._counters.catalog(), model)
        if not vectors:
            return
        tag, by_key = catalog.tag_of(model), {key.hex(): vector for key, vector in vectors}
        self._connection.write(
            Write(
                "index",
                self._indexes.contents,
                vector_id(tag, key),
                {"kind": "vector", "key": key, "model": tag, "kept": {"vector": vector_to(vector)}},
            )
            for key, vector in by_key.items()
        )
        # Looked for after they are kept: a passage written meanwhile finds them itself.
        self._show_passages()
        hits = self._waiting_for(tag, list(by_key))
        made = {tag: {key: unit(vector) for key, vector in by_key.items()}}
        # What is kept of a passage has no vectors in it: writing one means writing those of both models.
        made |= {other: self.of(other, by_key) for other in catalog.held if other != tag and hits}
        self._connection.write(
            Write("update", self._indexes.chunks, _id(hit), {"doc": _vectors_of(hit, made)}, routing=_document(hit))
            for hit in hits
        )
        self._counters.acknowledge(only_vectors=True)

    def _show_passages(self) -> None:
        """Let searches find every passage, unless nothing but vectors was written since they did, by whomever.

        A refresh ends a segment of the graph, which is then merged with others; one for each batch costs more than
        the batch.
        """
        written = self._counters.without_vectors()
        if written != self._visible:
            self._connection.refresh(self._indexes.chunks)
            self._visible = written

    def _waiting_for(self, tag: str, keys: Sequence[str]) -> list[dict[str, Any]]:
        """The passages with these texts that have no vector of this model yet."""
        waiting = of_kind("chunk", {"terms": {"key": list(keys)}}, without=[{"term": {"embedded": tag}}])
        body: dict[str, Any] = {
            "query": waiting,
            "size": _PAGE,
            "stored_fields": "_none_",
            "docvalue_fields": ["key", "document", "ref"],
            "sort": ["ref"],
            "track_total_hits": False,
        }
        found: list[dict[str, Any]] = []
        while True:
            params = {"allow_partial_search_results": False, **NEWEST}
            hits = self._connection.request("POST", f"/{self._indexes.chunks}/_search", body, params)["hits"]["hits"]
            found += hits
            if len(hits) < _PAGE:
                return found
            body["search_after"] = hits[-1]["sort"]

    def _claim(self, model: ModelIdentity) -> Catalog:
        """Make room for this model's vectors, unless another one holds the place."""
        tag = uuid4().hex[:12]

        def claimed(catalog: Catalog) -> Catalog:
            self._checked(catalog, model)
            if catalog.model is None and catalog.successor != model:
                return replace(catalog, model=model, successor=None, tags={"model": tag})
            return replace(catalog, touched=now_ms()) if catalog.successor == model else catalog

        catalog = self._counters.change(claimed)
        field = vector_field(catalog.tag_of(model))
        if field not in self._mapped:
            self._connection.request("PUT", f"/{self._indexes.chunks}/_mapping", vector_mapping(field, model.dims))
            self._mapped.add(field)
        return catalog

    def _checked(self, catalog: Catalog, model: ModelIdentity) -> Catalog:
        if catalog.model is not None and not catalog.tag_of(model):
            raise ModelMismatchError.between(catalog.model.name, model.name)
        return catalog

    def add_model(self, model: ModelIdentity) -> None:
        """Let this model be the successor of the one that answers."""
        tag = uuid4().hex[:12]

        def added(catalog: Catalog) -> Catalog:
            if catalog.model in (None, model):
                return catalog
            tags = catalog.tags if catalog.successor == model else {**catalog.tags, "successor": tag}
            return replace(catalog, successor=model, tags=tags, touched=now_ms())

        self._counters.change(added)
        self._forget_others()

    def switch_model(self, model: ModelIdentity) -> None:
        """Let the successor answer."""

        def switched(catalog: Catalog) -> Catalog:
            if catalog.successor != model:
                return catalog
            return replace(catalog, model=model, successor=None, tags={"model": catalog.tags["successor"]})

        self._counters.change(switched)
        self._forget_others()

    def give_up(self, cutoff: int) -> None:
        """Forget a successor that got no vector since then."""

        def given_up(catalog: Catalog) -> Catalog:
            if catalog.successor is None or catalog.touched > cutoff:
                return catalog
            return replace(catalog, successor=None)

        self._counters.change(given_up)
        self._forget_others()

    def drop(self) -> None:
        """Forget all of them; the passages wait again."""
        self._counters.change(lambda catalog: replace(catalog, model=None, successor=None, tags={}))
        self._forget_others()
        self.delete(of_kind("lease"))  # they were for vectors that are gone

    def _forget_others(self) -> None:
        """Delete the vectors of models that the catalogue no longer names."""
        held = list(self._counters.catalog().held)
        self._connection.refresh(self._indexes.contents)
        self.delete(of_kind("vector", without=[{"terms": {"model": held}}]))
        self._counters.acknowledge()

    def delete(self, query: Dsl, index: str = "") -> None:
        """Delete everything that a query finds in an index, by default that of contents and vectors."""
        params = {"conflicts": "proceed", "refresh": True, "wait_for_active_shards": self._connection.address.copies}
        params |= NEWEST
        path = f"/{index or self._indexes.contents}/_delete_by_query"

        def done() -> bool:
            answer = self._connection.request("POST", path, {"query": query}, params, timeout=600)
            return not answer["version_conflicts"] and not answer["failures"]

        self._connection.until_done(done)


def _id(hit: dict[str, Any]) -> str:
    ref = hit["fields"]["ref"][0]
    return chunk_id(version_of(ref), ordinal_of(ref))


def _document(hit: dict[str, Any]) -> str:
    return str(hit["fields"]["document"][0])


def _vectors_of(hit: dict[str, Any], made: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """What a passage gets: the vectors of its text, and the names of the models that made them."""
    key = hit["fields"]["key"][0]
    there = {tag: vectors[key] for tag, vectors in made.items() if key in vectors}
    return {"embedded": sorted(there), **{vector_field(tag): vector for tag, vector in there.items()}}
