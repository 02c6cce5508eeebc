"""Reading: one view, asked in the words of the port."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from dowse.errors import StoreUnavailableError
from dowse.ports import NONE, Alternatives
from dowse.store.opensearch import docids, ranking
from dowse.store.opensearch.backlog import count_vectors, count_waiting, kept_vectors, waiting_in
from dowse.store.opensearch.connection import Connection
from dowse.store.opensearch.filtering import Dsl, any_of, asks_passages, query_of
from dowse.store.opensearch.layout import Indexes, lexical_field
from dowse.store.opensearch.rows import Record, StoredContent, chunk_from, content_id, digest, ledger_from
from dowse.store.opensearch.views import Hit, View, of_kind
from dowse.text.lines import count_lines
from dowse.types import (
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    Draft,
    Filter,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
    Succession,
    ordinal_of,
    ref_of,
    version_of,
)

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["OpenSearchSnapshot"]

_INFO = ["version", "collection", "info"]
_MOST_KEYS = 65_536
_SHALLOW = 10_000
_SPECIAL = frozenset('.?+*|{}[]()"\\#@&<>~^$-/')


class OpenSearchSnapshot:
    """A view of one moment of the cluster."""

    notes: tuple[str, ...] = ()
    comparable_scores = True
    is_remote = True

    def __init__(self, view: View, connection: Connection, indexes: Indexes) -> None:
        self._view = view
        self.memory: dict[str, Any] = {}
        self._connection = connection
        self._indexes = indexes

    # By words and by meaning

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """BM25 with the statistics of all shards."""
        return ranking.best_words(self._view, terms, k, scope, alternatives, required)

    def lexical_scores(
        self, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives = NONE
    ) -> dict[Ref, float]:
        """The same for just these."""
        return ranking.word_scores(self._view, terms, refs, alternatives)

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Counted over all shards."""
        return ranking.frequencies(self._view, terms)

    def completions(self, prefix: str, limit: int) -> list[str]:
        """The most frequent of the words that start so."""
        if limit <= 0:
            return []
        start = "".join(f"\\{each}" if each in _SPECIAL else each for each in prefix)
        counted = {
            "field": "words",
            "include": f"{start}(.*)",  # without the brackets the server fails where no word is that high
            "size": limit,
            "shard_size": 10 * limit + 100,
            "order": [{"_count": "desc"}, {"_key": "asc"}],
        }
        having = of_kind("chunk", {"prefix": {lexical_field("body"): {"value": prefix}}})
        body = {"query": having, "size": 0, "track_total_hits": False, "aggs": {"words": {"terms": counted}}}
        return [bucket["key"] for bucket in self._view.chunks.search(body)["aggregations"]["words"]["buckets"]]

    def metadata_keys(self) -> frozenset[str]:
        """Those of all records."""
        return frozenset(self._view.chunks.values(of_kind("document", self._known()), "keys"))

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """Through the graph, with the filters inside; nothing for another model than the store's."""
        if model != self.model():
            return Ranked((), 1.0)
        return ranking.nearest(self._view, self._view.catalog.tag_of(model), vector, k, scope)

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """Compared one by one."""
        if model != self.model():
            return {}
        return ranking.cosines(self._view, self._view.catalog.tag_of(model), vector, refs)

    def sample(self, model: ModelIdentity, k: int, scope: Scope) -> "tuple[list[Ref], Vector, int]":
        """Those in scope are listed, and a part of them is fetched."""
        import numpy as np

        if model != self.model():
            return [], np.zeros((0, model.dims), dtype=np.float32), 0
        tag = self._view.catalog.tag_of(model)
        refs, keys, count = ranking.sampled(self._view, tag, k, scope)
        held = kept_vectors(self._view, tag, keys)
        rows = [(ref, held[key]) for ref, key in zip(refs, keys, strict=True) if key in held]
        matrix = np.array([vector for _, vector in rows], dtype=np.float32).reshape(len(rows), model.dims)
        return [ref for ref, _ in rows], matrix, count

    def mark(self) -> str:
        """The number of the latest change."""
        return str(self._view.sequence)

    def model(self) -> ModelIdentity | None:
        """The one that the catalogue names."""
        return self._view.catalog.model

    def successor(self) -> ModelIdentity | None:
        """The one that the catalogue names next."""
        return self._view.catalog.successor

    def vectors(self, model: ModelIdentity, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
        """Those that are kept for these texts."""
        if model != self.model():
            return {}
        return kept_vectors(self._view, self._view.catalog.tag_of(model), keys)

    def drafts(self, collection: str) -> Iterator[Draft]:
        """Each record with its content."""
        id_ = self._view.catalog.id_of(collection)
        if id_ is None:
            return
        names, query = self._view.catalog.names, of_kind("document", {"term": {"collection": id_}})
        for hit in self._view.chunks.scan(query, ["path", "document"], _INFO, page=100):
            record = Record.read(hit["_source"], names)
            info = replace(record.info, metadata=record.said)
            yield Draft(info, record.key[1], self._content(record).content, self._original(info.content_hash))

    def _original(self, content_hash: str) -> bytes | None:
        query = of_kind("original", {"term": {"hash": content_hash}})
        hits = self._view.contents.search({"query": query, "size": 1})["hits"]["hits"]
        return b64decode(hits[0]["_source"]["kept"]["data"]) if hits else None

    # Passages and documents

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """The chunks from the index, with the records of their versions."""
        if not refs:
            return []
        view = self._view
        records = view.living([version_of(ref) for ref in refs])
        page = {
            "query": of_kind("chunk", {"terms": {"ref": sorted(set(refs))}}),
            "size": len(set(refs)),
            "_source": ["ref", "passage"],
            "track_total_hits": False,
        }
        hashes = {record.info.content_hash for record in records.values()}
        there, others = view.chunks.search_many([page, docids.alike(view, hashes - view.digits.keys())])
        docids.learn(view, hashes - view.digits.keys(), others)
        infos = {version: self._told_apart(record.info) for version, record in records.items()}
        found = {hit["_source"]["ref"]: hit["_source"]["passage"] for hit in there["hits"]["hits"]}
        return [
            Passage(ref, infos[version_of(ref)], chunk_from(found[ref]), ordinal_of(ref))
            for ref in refs
            if ref in found and version_of(ref) in infos
        ]

    def _told_apart(self, info: DocumentInfo) -> DocumentInfo:
        return docids.told_apart(self._view, [info])[0]

    def chunks(self, document: UUID) -> list[Passage]:
        """Those of its content."""
        record = self._record(document)
        if record is None:
            return []
        info = self._told_apart(record.info)
        return [
            Passage(ref_of(record.version, ordinal), info, chunk, ordinal)
            for ordinal, chunk in enumerate(self._content(record).content.chunks)
        ]

    def collections(self) -> tuple[Collection, ...]:
        """All, by name."""
        return tuple(sorted(self._view.catalog.collections.values(), key=lambda each: each.name))

    def contexts(self) -> tuple[Context, ...]:
        """All: the general ones first."""
        return self._view.catalog.listed_contexts()

    def documents(
        self,
        collection: str | None = None,
        *,
        prefix: str = "",
        filter: Filter | None = None,  # noqa: A002 - the noun
        limit: int | None = None,
        offset: int = 0,
        newest: bool = False,
    ) -> list[DocumentInfo]:
        """Collection by collection, by path; or by the time that they came at, and their ids."""
        limits: list[Dsl] = [{"prefix": {"path": {"value": prefix}}}] if prefix else []
        if filter is not None:
            limits.append(self._lets(filter))
        if newest:
            chosen = [id_ for id_, name in self._view.catalog.names.items() if collection in (None, name)]
            query = of_kind("document", {"terms": {"collection": chosen}}, *limits)
            return docids.told_apart(
                self._view, [record.info for record in self._page(query, offset, limit, newest=True)]
            )
        found: list[DocumentInfo] = []
        for id_, name in sorted(self._view.catalog.names.items(), key=lambda each: each[1]):
            if collection not in (None, name) or (limit is not None and len(found) >= limit):
                continue
            query = of_kind("document", {"term": {"collection": id_}}, *limits)
            if offset:
                here = self._view.chunks.count(query)
                if here <= offset:
                    offset -= here
                    continue
            left = None if limit is None else limit - len(found)
            found += [record.info for record in self._page(query, offset, left)]
            offset = 0
        return docids.told_apart(self._view, found)

    def _page(self, query: Dsl, offset: int, limit: int | None, *, newest: bool = False) -> Iterator[Record]:
        names = self._view.catalog.names
        order: list[Any] = [{"created": "desc"}, {"document": "desc"}] if newest else ["path", "document"]
        if limit is not None and offset + limit <= _SHALLOW:
            body = {"query": query, "from": offset, "size": limit, "sort": order, "_source": _INFO}
            hits: Iterator[Hit] = iter(self._view.chunks.search(body)["hits"]["hits"]) if limit else iter(())
            offset = 0
        else:
            hits = self._view.chunks.scan(query, order, _INFO)
        for place, hit in enumerate(hits):
            if limit is not None and place >= offset + limit:
                return
            if place >= offset:
                yield Record.read(hit["_source"], names)

    def _lets(self, filter: Filter) -> Dsl:  # noqa: A002 - the noun
        """The documents that a filter lets through, or that have a passage which it lets through."""
        query = query_of(filter)
        if not asks_passages(filter):
            return query
        found = self._view.chunks.values(of_kind("chunk", query), "version")
        return {"terms": {"version": list(found)}}

    def document(self, document: UUID) -> Document | None:
        """Its record, and the text of its content."""
        record = self._record(document)
        if record is None:
            return None
        text = self._content(record).content.text
        return Document(self._told_apart(record.info), text, total_lines=count_lines(text))

    def texts(self, content_hash: str) -> list[str]:
        """Of contents, by the start of their hash."""
        query = of_kind("content", {"prefix": {"hash": {"value": content_hash}}})
        found = list(self._view.contents.scan(query, ["stamp", "hash"], ["kept.text"]))
        return [hit["_source"]["kept"]["text"] for hit in reversed(found)]

    def find(self, name: str, by: Literal["path", "suffix", "hash", "uri"]) -> list[DocumentInfo]:
        """By the terms that a record has for each of these."""
        if by == "hash":
            query: Dsl = {"prefix": {"hash": {"value": name}}}
        elif by == "uri":
            query = {"term": {"uri": digest(name)}}
        else:
            ways = [
                {"bool": {"filter": [{"term": {"collection": id_}}, {"term": {"path": name[len(collection) + 1 :]}}]}}
                for id_, collection in self._view.catalog.names.items()
                if name.startswith(f"{collection}/")
            ]
            query = any_of([*ways, {"term": {"endings": name}}] if by == "suffix" else ways)
        names = self._view.catalog.names
        hits = self._view.chunks.scan(of_kind("document", self._known(), query), ["path", "document"], _INFO)
        infos = docids.told_apart(self._view, [Record.read(hit["_source"], names).info for hit in hits])
        return sorted(infos, key=lambda info: (info.collection, info.path))

    def ledger(self, collection: str | None = None) -> list[LedgerEntry]:
        """The entries, by collection and path."""
        names = self._view.catalog.names
        hits = self._view.contents.scan(of_kind("ledger", self._known()), ["path", "collection"])
        entries = [ledger_from(hit["_source"], names) for hit in hits]
        wanted = [entry for entry in entries if collection in (None, entry.collection)]
        return sorted(wanted, key=lambda entry: (entry.collection, entry.path))

    def stats(self) -> StoreStats:
        """Counted in the cluster; the size is that of all copies."""
        view = self._view
        newest = view.catalog.held[-1:]
        waiting, missing = waiting_in(view, *newest)
        each = {"terms": {"field": "collection", "size": _MOST_KEYS}}
        counting = {
            "query": of_kind("document", self._known()),
            "size": 0,
            "aggs": {"in": {**each, "aggs": {"chunks": {"sum": {"field": "chunks"}}}}},
        }
        failing = {
            "query": of_kind("ledger", self._known()),
            "size": 0,
            "aggs": {"in": {**each, "aggs": {"states": {"terms": {"field": "state"}}}}},
        }
        counted, failed = _buckets(view.chunks.search(counting)), _buckets(view.contents.search(failing))
        collections = []
        for id_, collection in sorted(view.catalog.collections.items(), key=lambda item: item[1].name):
            there, states = counted.get(id_), _states(failed.get(id_))
            collections.append(
                CollectionStats(
                    collection,
                    documents=there["doc_count"] if there else 0,
                    chunks=int(there["chunks"]["value"]) if there else 0,
                    unembedded=waiting.get(id_, 0),
                    failed=states.get("failed", 0),
                    skipped=states.get("skipped", 0),
                    missing=missing.get(id_, 0),
                )
            )
        return StoreStats(
            tuple(collections),
            documents=sum(each.documents for each in collections),
            chunks=sum(each.chunks for each in collections),
            vectors=count_vectors(view, view.catalog.tag_of(view.catalog.model)),
            bytes_on_disk=self._bytes(),
            model=view.catalog.model,
            successor=self._succession(),
        )

    def _succession(self) -> Succession | None:
        catalog = self._view.catalog
        if catalog.successor is None:
            return None
        tag = catalog.tag_of(catalog.successor)
        return Succession(
            catalog.successor, count_vectors(self._view, tag), count_waiting(self._view, catalog.successor)
        )

    def _bytes(self) -> int:
        stats = self._connection.request("GET", f"/{self._indexes.all}/_stats/store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def _known(self) -> Dsl:
        """What lies in a collection that is there: one that was dropped takes its documents along at once."""
        return {"terms": {"collection": list(self._view.catalog.collections)}}

    def _record(self, document: UUID) -> Record | None:
        query = of_kind("document", self._known(), {"term": {"document": document.hex}})
        hits = self._view.chunks.search({"query": query, "size": 1, "_source": _INFO})["hits"]["hits"]
        return Record.read(hits[0]["_source"], self._view.catalog.names) if hits else None

    def _content(self, record: Record) -> StoredContent:
        query = of_kind("content", {"ids": {"values": [content_id(record.key)]}})
        hits = self._view.contents.search({"query": query, "size": 1})["hits"]["hits"]
        if not hits:
            raise StoreUnavailableError(
                f"The content of {record.info.file} is missing.", hint="Index it again: dowse update"
            )
        return StoredContent.read(hits[0]["_source"])


def _buckets(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {bucket["key"]: bucket for bucket in answer["aggregations"]["in"]["buckets"]}


def _states(bucket: Mapping[str, Any] | None) -> dict[str, int]:
    return {each["key"]: each["doc_count"] for each in bucket["states"]["buckets"]} if bucket else {}
