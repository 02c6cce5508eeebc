"""Vectors: which texts wait for one, where each is kept, and how it reaches the passages that share the text.

The truth is one document for each text; the passages carry a copy in the graph. Each model has a field of its own,
so that vectors of two models never meet.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowse.errors import ModelMismatchError
from dowse.store.opensearch.catalog import Catalog, Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.filtering import EVERYTHING, Dsl
from dowse.store.opensearch.layout import Indexes, vector_mapping
from dowse.store.opensearch.rows import chunk_from, digest, unit, vector_from, vector_id, vector_to
from dowse.store.opensearch.views import View, of_kind
from dowse.text.passage import embedding_text
from dowse.types import ModelIdentity, version_of

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["Vectors", "count_waiting", "documents_waiting", "vector_field", "waiting_texts"]

_MOST_EXACT = 40_000


def vector_field(model: ModelIdentity) -> str:
    """Where the vectors of this model stand."""
    return f"vector_{digest(repr(model))[:12]}"


def waiting_texts(view: View, model: ModelIdentity, limit: int) -> list[tuple[bytes, str]]:
    """The texts without a vector, shortest first, equal ones once."""
    found: dict[str, str] = {}
    if limit <= 0:
        return []
    fields = ["key", "ref", "lead", "passage"]
    for hit in view.chunks.scan(_waiting(view, model), ["weight", "key", "ref"], fields, page=min(limit + 1, 1_000)):
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
    query = _waiting(view, model)
    dead = view.dead_versions(query)
    if dead:
        query = {"bool": {"filter": [query], "must_not": [{"terms": {"version": dead}}]}}
    counted = {"cardinality": {"field": "key", "precision_threshold": _MOST_EXACT}}
    answer = view.chunks.search({"query": query, "size": 0, "aggs": {"texts": counted}})
    return int(answer["aggregations"]["texts"]["value"])


def documents_waiting(view: View) -> Counter[str]:
    """How many documents of each collection have a passage without a vector."""
    versions = list(view.chunks.values(of_kind("chunk", {"term": {"waits": True}}), "version"))
    return Counter(record.collection for record in view.living(versions).values())


def _waiting(view: View, model: ModelIdentity) -> Dsl:
    held = view.catalog.model
    known = {"terms": {"collection": list(view.catalog.collections)}}
    return of_kind("chunk", known, {"term": {"waits": True}} if held in (None, model) else EVERYTHING)


class Vectors:
    """The writing side."""

    def __init__(self, connection: Connection, indexes: Indexes, counters: Counters) -> None:
        self._connection = connection
        self._indexes = indexes
        self._counters = counters

    def of(self, model: ModelIdentity | None, keys: Iterable[str]) -> dict[str, list[float]]:
        """The vectors that are kept for these texts."""
        if model is None:
            return {}
        wanted = [(self._indexes.contents, vector_id(key), "") for key in dict.fromkeys(keys)]
        found = self._connection.get_many(wanted).values()
        return {each["_source"]["key"]: vector_from(each["_source"]["kept"]["vector"]) for each in found}

    def put(self, model: ModelIdentity, vectors: Sequence[tuple[bytes, "Vector"]]) -> None:
        """Keep them, and give them to the passages that wait for them."""
        self._claim(model, anything=bool(vectors))
        if not vectors:
            return
        by_key = {key.hex(): vector for key, vector in vectors}
        self._connection.write(
            Write(
                "index",
                self._indexes.contents,
                vector_id(key),
                {"kind": "vector", "key": key, "kept": {"vector": vector_to(vector)}},
            )
            for key, vector in by_key.items()
        )
        # Looked for after they are kept: a passage written meanwhile finds them itself.
        self._connection.refresh(self._indexes.chunks)
        field = vector_field(model)
        units = {key: unit(vector) for key, vector in by_key.items()}
        self._connection.write(
            Write(
                "update",
                self._indexes.chunks,
                hit["_id"],
                {"doc": {field: units[hit["fields"]["key"][0]], "waits": False}},
                routing=hit["fields"]["document"][0],
            )
            for hit in self._waiting_for(list(by_key))
        )
        self._counters.acknowledge()

    def _waiting_for(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """The passages with these texts that have no vector yet."""
        body = {
            "query": of_kind("chunk", {"term": {"waits": True}}, {"terms": {"key": list(keys)}}),
            "size": 10_000,
            "_source": False,
            "docvalue_fields": ["key", "document"],
            "sort": ["ref"],
            "track_total_hits": False,
        }
        found: list[dict[str, Any]] = []
        while True:
            params = {"allow_partial_search_results": False}
            hits = self._connection.request("POST", f"/{self._indexes.chunks}/_search", body, params)["hits"]["hits"]
            found += hits
            if len(hits) < 10_000:  # noqa: PLR2004 - the size above
                return found
            body["search_after"] = hits[-1]["sort"]

    def _claim(self, model: ModelIdentity, *, anything: bool) -> None:
        """Make this the store's model, unless another one is."""

        def claimed(catalog: Catalog) -> Catalog:
            if catalog.model is not None and catalog.model != model:
                raise ModelMismatchError.between(catalog.model.name, model.name)
            return replace(catalog, model=model) if anything else catalog

        if anything:
            mapping = vector_mapping(vector_field(model), model.dims)
            self._connection.request("PUT", f"/{self._indexes.chunks}/_mapping", mapping)
        self._counters.change(claimed)

    def drop(self) -> None:
        """Forget all of them; the passages wait again."""
        self._counters.change(lambda catalog: replace(catalog, model=None))
        self._connection.refresh(self._indexes.all)
        self.delete(of_kind("vector"))
        # The vectors are not part of what is kept of a passage, so that writing it again leaves them out.
        self._by_query(
            self._indexes.chunks,
            "_update_by_query",
            {
                "query": of_kind("chunk", {"term": {"waits": False}}),
                "script": {"source": "ctx._source.waits = true"},
            },
        )
        self._counters.acknowledge()

    def delete(self, query: Dsl, index: str = "") -> None:
        """Delete everything that a query finds in an index, by default that of contents and vectors."""
        self._by_query(index or self._indexes.contents, "_delete_by_query", {"query": query})

    def _by_query(self, index: str, act: str, body: Dsl) -> None:
        params = {"conflicts": "proceed", "refresh": True, "wait_for_active_shards": self._connection.address.copies}

        def done() -> bool:
            answer = self._connection.request("POST", f"/{index}/{act}", body, params, timeout=600)
            return not answer["version_conflicts"] and not answer["failures"]

        self._connection.until_done(done)
