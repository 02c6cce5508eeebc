"""Care: free what nobody uses, examine, and write everything derived anew."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from dowse.store.opensearch.backlog import Vectors
from dowse.store.opensearch.catalog import Counters
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.filtering import Dsl
from dowse.store.opensearch.layout import Indexes
from dowse.store.opensearch.planning import read_records
from dowse.store.opensearch.rows import Record, original_id
from dowse.store.opensearch.views import View, of_kind
from dowse.store.opensearch.writing import Documents
from dowse.types import Finding, now_ms

__all__ = ["Care"]

Progress = Callable[[int, int], None]
_Each = TypeVar("_Each")
_BATCH = 100
_MOST_TERMS = 1_000
_GRACE_MS = 3_600_000
"""A version younger than this may be in the making: its passages are not swept away."""


class Care:
    """Works on views of its own; the store opens and closes them."""

    def __init__(
        self, connection: Connection, indexes: Indexes, counters: Counters, vectors: Vectors, documents: Documents
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._counters = counters
        self._vectors = vectors
        self._documents = documents

    def cleanup(self, view: View, older_than_ms: int) -> None:
        """Delete contents that no document shows and none has shown for so long, then what only they needed."""
        now = now_ms()
        self._sweep(view)
        old = of_kind("content", {"range": {"released": {"lte": now - older_than_ms}}})
        for batch in _batches(view.contents.scan(old, ["stamp", "hash"], ["hash"])):
            used = self._used(view, "document", "content", [hit["_id"] for hit in batch])
            unused = [hit["_id"] for hit in batch if hit["_id"] not in used]
            # Only as it is now: a document that links to it meanwhile has marked it.
            for id_, each in self._connection.get_many([(self._indexes.contents, id_, "") for id_ in unused]).items():
                if each["_source"]["released"] <= now - older_than_ms:
                    on = (each["_seq_no"], each["_primary_term"])
                    self._connection.write([Write("delete", self._indexes.contents, id_, on=on)])
        self._counters.acknowledge()

    def forget_unneeded(self, view: View) -> None:
        """Delete originals and vectors that no content is left for; with the last vector goes the model."""
        gone: list[Write] = []
        for batch in _batches(view.contents.scan(of_kind("original"), ["hash"], ["hash"])):
            hashes = {hit["_source"]["hash"] for hit in batch}
            kept = set(view.contents.values(of_kind("content", {"terms": {"hash": sorted(hashes)}}), "hash"))
            gone += [Write("delete", self._indexes.contents, original_id(each)) for each in hashes - kept]
        left = 0
        for batch in _batches(view.contents.scan(of_kind("vector"), ["key", "model"], ["key", "model"])):
            keys = sorted({hit["_source"]["key"] for hit in batch})
            named = {key: {"term": {"keys": key}} for key in keys}
            body = {
                "query": of_kind("content", {"terms": {"keys": keys}}),
                "size": 0,
                "aggs": {"of": {"filters": {"filters": named}}},
            }
            buckets = view.contents.search(body)["aggregations"]["of"]["buckets"]
            unused = {key for key in keys if not buckets[key]["doc_count"]}
            gone += [
                Write("delete", self._indexes.contents, hit["_id"]) for hit in batch if hit["_source"]["key"] in unused
            ]
            answering = view.catalog.tag_of(view.catalog.model)
            left += sum(hit["_source"]["key"] not in unused and hit["_source"]["model"] == answering for hit in batch)
        self._connection.write(gone)
        if view.catalog.model is not None and not left:
            self._counters.change(lambda catalog: replace(catalog, model=None))
        if gone:
            self._counters.acknowledge()

    def check(self, view: View, *, deep: bool) -> list[Finding]:
        """The cluster's own word, and whether every passage and vector is where it belongs."""
        health = self._connection.request("GET", f"/_cluster/health/{self._indexes.all}")
        missing = health["unassigned_shards"]
        findings = [
            Finding(
                "cluster",
                health["status"] == "green",
                f"The cluster is {health['status']} with {health['number_of_nodes']} nodes; "
                f"{missing} copies of shards are on none.",
                "" if health["status"] == "green" else "Bring its nodes back, or lower `replicas`.",
            )
        ]
        dead = view.dead_versions(of_kind("chunk"))
        findings.append(
            Finding(
                "versions",
                not dead,
                f"{len(dead)} versions were never finished or not wholly removed; no search finds them.",
                "dowse doctor --repair" if dead else "",
            )
        )
        if deep:
            findings.append(self._compare(view))
        return findings

    def _compare(self, view: View) -> Finding:
        """Whether each document has as many passages as it says."""
        wrong = 0
        for batch in _batches(view.chunks.scan(of_kind("document"), ["version"], ["version", "chunks"])):
            wanted = {hit["_source"]["version"]: hit["_source"]["chunks"] for hit in batch}
            counted = {"terms": {"field": "version", "size": len(wanted)}}
            body = {
                "query": of_kind("chunk", {"terms": {"version": list(wanted)}}),
                "size": 0,
                "aggs": {"of": counted},
            }
            there = {
                each["key"]: each["doc_count"] for each in view.chunks.search(body)["aggregations"]["of"]["buckets"]
            }
            wrong += sum(there.get(version, 0) != chunks for version, chunks in wanted.items())
        return Finding(
            "passages",
            not wrong,
            f"{wrong} documents lack passages, or have too many.",
            "dowse doctor --repair" if wrong else "",
        )

    def rebuild(self, view: View, progress: Progress | None) -> None:
        """Write every document's passages again from its content and vectors, and let the shards drop what is dead."""
        self._sweep(view)
        total = max(1, view.chunks.count(of_kind("document")))
        done = 0
        for records in _batches(self.records(view)):
            self._documents.rewrite(self.current(records), self._counters.catalog())
            done += len(records)
            if progress is not None:
                progress(min(done, total), total)
        self._connection.refresh(self._indexes.chunks)
        params = {"only_expunge_deletes": True}
        self._connection.request("POST", f"/{self._indexes.chunks}/_forcemerge", params=params, timeout=3_600)
        self._counters.acknowledge()
        if progress is not None and done < total:
            progress(total, total)

    def records(self, view: View, *queries: Dsl) -> Iterator[Record]:
        """The records of the view that these queries find."""
        names = view.catalog.names
        known = {"terms": {"collection": list(names)}}
        fields = ["version", "collection", "info"]
        for hit in view.chunks.scan(of_kind("document", known, *queries), ["version"], fields):
            yield Record.read(hit["_source"], names)

    def batches(self, view: View, *queries: Dsl) -> Iterator[list[Record]]:
        """The same, some at a time."""
        return _batches(self.records(view, *queries))

    def current(self, records: Sequence[Record]) -> list[Record]:
        """The same as they are now, with the version that a write must name."""
        return self.current_by_id([record.id for record in records])

    def current_by_id(self, ids: Sequence[str]) -> list[Record]:
        """The records of these documents, with the version that a write must name."""
        found = read_records(self._connection, self._indexes, self._counters.catalog(), ids)
        return [record for record in found.values() if record.info.collection]

    def drop(self, view: View, collection: str) -> None:
        """Delete what lies in a collection that the catalogue no longer has."""
        within: Dsl = {"term": {"collection": collection}}
        for batch in _batches(view.chunks.scan(of_kind("document", within), ["version"], ["content"])):
            ids = {hit["_source"]["content"] for hit in batch}
            self._connection.write(
                Write("update", self._indexes.contents, id_, {"doc": {"released": now_ms()}}) for id_ in sorted(ids)
            )
        for index in (self._indexes.chunks, self._indexes.contents):
            self._vectors.delete(within, index)

    def _sweep(self, view: View) -> None:
        """Delete passages of versions that are not live, and what dropped collections left."""
        settled: Dsl = {"range": {"written": {"lte": now_ms() - _GRACE_MS}}}
        dead = view.dead_versions(of_kind("chunk", settled))
        for start in range(0, len(dead), _MOST_TERMS):
            versions = {"terms": {"version": dead[start : start + _MOST_TERMS]}}
            self._vectors.delete(of_kind("chunk", settled, versions), self._indexes.chunks)
        unknown = {"terms": {"collection": list(view.catalog.collections)}}
        orphans = {"bool": {"filter": [{"exists": {"field": "collection"}}], "must_not": [unknown]}}
        if view.chunks.count(orphans) + view.contents.count(orphans):
            for index in (self._indexes.chunks, self._indexes.contents):
                self._vectors.delete(orphans, index)

    def _used(self, view: View, kind: str, field: str, ids: Sequence[str]) -> set[str]:
        """Which of these ids things of this kind name."""
        return set(view.chunks.values(of_kind(kind, {"terms": {field: list(ids)}}), field))


def _batches(each: Iterator[_Each]) -> Iterator[list[_Each]]:
    while batch := list(islice(each, _BATCH)):
        yield batch
