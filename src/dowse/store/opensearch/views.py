"""Points in time: what all readers of one moment share, and the ways to ask it.

A view is one point in time of each of the three indexes. Each shard shows one moment; a document lies on one shard,
so it is seen in its old version or its new one. A view is used again as long as nothing was acknowledged since it
was opened; a new one is opened after a refresh, so that it shows all that was.
"""

import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from dowse.errors import StoreUnavailableError
from dowse.store.opensearch.catalog import CATALOG, Catalog, Counters
from dowse.store.opensearch.connection import Connection
from dowse.store.opensearch.failures import in_our_words
from dowse.store.opensearch.filtering import Dsl
from dowse.store.opensearch.layout import NEWEST, Indexes
from dowse.store.opensearch.rows import Record
from dowse.text.fields import K1

__all__ = ["Hit", "Reader", "View", "Views", "of_kind"]

Hit = Mapping[str, Any]

_KEEP_SECONDS = 300
_PAGE = 5_000
_EVERYWHERE = {"search_type": "dfs_query_then_fetch"}
LAST_WITH_FACTOR = 2
"""The last version of the server whose BM25 has the factor k1 + 1, as ours does."""


class Reader:
    """One index at one moment."""

    def __init__(self, connection: Connection, pit: str) -> None:
        self._connection = connection
        self.pit = pit

    def search(self, body: Mapping[str, Any], *, everywhere: bool = False) -> Mapping[str, Any]:
        """One search; `everywhere` counts terms over all shards before it scores."""
        return self.search_many([body], everywhere=int(everywhere))[0]

    def search_many(self, bodies: Sequence[Mapping[str, Any]], *, everywhere: int = 0) -> list[Mapping[str, Any]]:
        """Several searches in one request, the first few `everywhere`. An answer of some shards only is none."""
        asked = [{**body, "pit": {"id": self.pit, "keep_alive": f"{_KEEP_SECONDS}s"}} for body in bodies]
        how = [
            {"allow_partial_search_results": False, **(_EVERYWHERE if at < everywhere else {})}
            for at in range(len(asked))
        ]
        if len(asked) == 1:
            answers = [self._connection.request("POST", "/_search", asked[0], how[0])]
        else:
            lines = "".join(f"{json.dumps(each)}\n" for pair in zip(how, asked, strict=True) for each in pair)
            answers = self._connection.request("POST", "/_msearch", lines)["responses"]
        for answer in answers:
            self._whole(answer)
        return answers

    def _whole(self, answer: Mapping[str, Any]) -> None:
        if "error" in answer:
            causes = [answer["error"], *answer["error"].get("root_cause", [])]
            said = {
                "type": " ".join(str(each.get("type", "")) for each in causes),
                "reason": "; ".join(str(each.get("reason", "")) for each in causes),
            }
            raise in_our_words(said, self._connection.address, answer.get("status")) or StoreUnavailableError(str(said))
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise StoreUnavailableError(
                f"Only {answer['_shards']['successful']} of {answer['_shards']['total']} shards answered.",
                hint="Try again; GET /_cluster/health says what is missing.",
            )

    def scan(self, query: Dsl, sort: Sequence[str], source: Sequence[str] = ("*",), page: int = 1_000) -> Iterator[Hit]:
        """Every hit, by these fields, which together tell any two apart; `page` of them in one request."""
        body: dict[str, Any] = {
            "query": query,
            "size": page,
            "sort": list(sort),
            "_source": list(source),
            "track_total_hits": False,
        }
        while True:
            hits = self.search(body)["hits"]["hits"]
            yield from hits
            if len(hits) < body["size"]:
                return
            body["search_after"] = hits[-1]["sort"]

    def count(self, query: Dsl) -> int:
        """How many there are, exactly."""
        body = {"query": query, "size": 0, "track_total_hits": True}
        return int(self.search(body)["hits"]["total"]["value"])

    def values(self, query: Dsl, field: str) -> Iterator[Any]:
        """Every different value of a field among the hits."""
        return (value for value, _ in self.counted(query, field))

    def counted(self, query: Dsl, field: str) -> Iterator[tuple[Any, int]]:
        """The same, each with the number of hits that have it."""
        after: Mapping[str, Any] | None = None
        while True:
            composite: dict[str, Any] = {"size": _PAGE, "sources": [{"value": {"terms": {"field": field}}}]}
            if after is not None:
                composite["after"] = after
            body = {"query": query, "size": 0, "track_total_hits": False, "aggs": {"all": {"composite": composite}}}
            found = self.search(body)["aggregations"]["all"]
            yield from ((bucket["key"]["value"], bucket["doc_count"]) for bucket in found["buckets"])
            after = found.get("after_key")
            if after is None:
                return


class View:
    """One moment of the store."""

    def __init__(self, connection: Connection, pits: Mapping[str, str], indexes: Indexes, sequence: int) -> None:
        self._connection = connection
        self.chunks = Reader(connection, pits[indexes.chunks])
        self.contents = Reader(connection, pits[indexes.contents])
        self._state = Reader(connection, pits[indexes.state])
        self.sequence = sequence
        self.opened = time.monotonic()
        self.readers = 0
        self._records: dict[int, Record] = {}
        self._dead: set[int] = set()
        self.counts: dict[str, dict[str, int]] = {}
        """In how many passages each term stands, by field."""
        self.digits: dict[str, int] = {}
        """How many digits of these hashes tell them from all others."""
        self.met: set[int] = set()
        """Versions that a search found while all passages were of live ones."""

    @property
    def scale(self) -> float:
        """What the cluster's BM25 must be multiplied with: the newer ones leave out the factor k1 + 1."""
        return K1 + 1 if self._connection.major > LAST_WITH_FACTOR else 1.0

    @cached_property
    def catalog(self) -> Catalog:
        """The catalogue of this moment."""
        hits = self._state.search({"query": of_kind("catalog", {"ids": {"values": [CATALOG]}}), "size": 1})["hits"][
            "hits"
        ]
        return Catalog.read(hits[0]["_source"]["kept"]) if hits else Catalog()

    @cached_property
    def chunk_count(self) -> int:
        """How many passages the index holds, those of versions that are not live included."""
        return self.chunks.count(of_kind("chunk"))

    @cached_property
    def clean(self) -> bool:
        """Whether every passage belongs to a live version: their number tells."""
        body = {"query": of_kind("document"), "size": 0, "aggs": {"chunks": {"sum": {"field": "chunks"}}}}
        return int(self.chunks.search(body)["aggregations"]["chunks"]["value"]) == self.chunk_count

    def living(self, versions: Sequence[int]) -> dict[int, Record]:
        """The records of those of these versions that are live."""
        unknown = sorted(set(versions) - self._records.keys() - self._dead)
        if unknown:
            names = self.catalog.names
            query = of_kind("document", {"terms": {"version": unknown}})
            for hit in self.chunks.scan(query, ["version"], ["version", "collection", "info"]):
                if hit["_source"]["collection"] in names:
                    record = Record.read(hit["_source"], names)
                    self._records[record.version] = record
            self._dead.update(set(unknown) - self._records.keys())
        return {version: self._records[version] for version in versions if version in self._records}

    def live(self, versions: Collection[int]) -> set[int]:
        """Those of these versions that are live; only what no search has met is looked up."""
        unknown = [version for version in versions if version not in self.met]
        return {version for version in versions if version in self.met} | self.living(unknown).keys()

    def shows(self, version: int) -> bool:
        """Whether this version is live."""
        return self.clean or version in self.living([version])

    def dead_versions(self, query: Dsl) -> list[int]:
        """Versions with passages among the hits that are not, or no longer, live."""
        if self.clean:
            return []
        found = list(self.chunks.values(query, "version"))
        live = self.living(found)
        return [version for version in found if version not in live]

    def close(self) -> None:
        """Let the nodes forget it."""
        pits = [reader.pit for reader in (self.chunks, self.contents, self._state)]
        self._connection.request("DELETE", "/_search/point_in_time", {"pit_id": pits}, missing=True)


class Views:
    """Hands out views: the present one as long as it shows all that was acknowledged."""

    def __init__(self, connection: Connection, indexes: Indexes, counters: Counters) -> None:
        self._connection = connection
        self._indexes = indexes
        self._counters = counters
        self._present: View | None = None
        self._lock = threading.Lock()

    def take(self) -> View:
        """A view of everything that was acknowledged before this call; give it back."""
        try:
            sequence = self._counters.sequence()
        except StoreUnavailableError:
            with self._lock:
                self._present = None  # whatever is away may have held it
            raise
        with self._lock:
            present = self._present
            fresh = present is not None and time.monotonic() - present.opened < _KEEP_SECONDS / 2
            if present is None or not fresh or present.sequence != sequence:
                self._present = self._open(sequence)
                if present is not None and not present.readers:
                    _forget(present)
                present = self._present
            present.readers += 1
            return present

    def give_back(self, view: View, *, lost: bool = False) -> None:
        """The reader is done; a lost view is not handed out again."""
        with self._lock:
            view.readers -= 1
            if lost and self._present is view:
                self._present = None
            if not view.readers and self._present is not view:
                _forget(view)

    def close(self) -> None:
        """Forget the present one."""
        with self._lock:
            if self._present is not None:
                _forget(self._present)
            self._present = None

    def _open(self, sequence: int) -> View:
        self._connection.refresh(self._indexes.all)
        params = {"keep_alive": f"{_KEEP_SECONDS}s", "allow_partial_pit_creation": False, **NEWEST}
        pits = {
            index: self._connection.request("POST", f"/{index}/_search/point_in_time", params=params)["pit_id"]
            for index in self._indexes.all.split(",")
        }
        return View(self._connection, pits, self._indexes, sequence)


def _forget(view: View) -> None:
    """Close a view; that its nodes have gone is no harm."""
    with suppress(StoreUnavailableError):
        view.close()


def of_kind(kind: str, *queries: Dsl, without: Sequence[Dsl] = ()) -> Dsl:
    """Things of one kind that all the queries find."""
    parts: dict[str, Any] = {"filter": [{"term": {"kind": kind}}, *queries]}
    if without:
        parts["must_not"] = list(without)
    return {"bool": parts}
