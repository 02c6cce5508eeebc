"""The three indexes of a store, how they are mapped, and whether those that are there fit.

`chunks` holds each document's record and its passages, routed by the document's id, so that one shard has all of a
document and shows it as of one moment. `contents` holds what is found by its id alone: contents, originals,
vectors, the ledger, and which document has which place. `state` holds the catalogue and the counters.
"""

from collections.abc import Mapping
from typing import Any

from dowse.errors import NotFoundError, StoreError, StoreUnavailableError, StoreVersionError
from dowse.records import record
from dowse.store.opensearch.address import Address
from dowse.store.opensearch.connection import Connection
from dowse.text.analyse import ANALYSER
from dowse.text.fields import BOOSTS, K1, B

__all__ = [
    "LAYOUT",
    "LONGEST_RESULT",
    "NEWEST",
    "Indexes",
    "ensure_layout",
    "lexical_field",
    "vector_field",
    "vector_mapping",
]

LAYOUT = 2
"""Counts up when indexes made before would be read wrongly."""

_KEYWORD = {"type": "keyword", "ignore_above": 8_000}
_TERM = {"type": "keyword", "doc_values": False}
_KEPT = {"type": "object", "enabled": False}
_SIMILARITY = "dowse"
NEWEST = {"preference": "_primary"}
"""Searches of `chunks` go where a refresh shows all that was written; replicas have it a moment later."""
LONGEST_RESULT = 100_000
"""How many hits one search may have; whoever wants more of the best gets so many."""


@record
class Indexes:
    """The names of the indexes of one store."""

    chunks: str
    contents: str
    state: str

    @classmethod
    def of(cls, prefix: str) -> "Indexes":
        """Those with this prefix."""
        return cls(f"{prefix}-chunks", f"{prefix}-contents", f"{prefix}-state")

    @property
    def all(self) -> str:
        """All of them, as a request names them."""
        return f"{self.chunks},{self.contents},{self.state}"


def lexical_field(field: str) -> str:
    """Where the terms of a field of `text.fields` stand."""
    return f"lex_{field}"


def vector_field(tag: str) -> str:
    """Where the vectors of the model of this name stand."""
    return f"vector_{tag}"


def ensure_layout(connection: Connection, indexes: Indexes, *, create: bool = True) -> None:
    """Make what is missing, unless told not to; refuse what another version made, and a cluster that has lost shards.

    Raises:
        StoreVersionError: the indexes were made by another layout or another analyser.
        StoreUnavailableError: the cluster is red.
    """
    address = connection.address
    for name, body in _bodies(indexes, address).items():
        params = {"wait_for_active_shards": address.copies, "timeout": f"{address.timeout:.0f}s"}
        if connection.request("GET", f"/{name}/_mapping", missing=True) is None:
            if not create:
                raise NotFoundError(f"There is no index {name} at {address}.", hint="Make one: dowse collection add")
            _make(connection, name, body, params)
    # Half the time that a node has to answer: its verdict, with status 408, must come before the next one is asked.
    patience = {"wait_for_status": "yellow", "timeout": f"{500 * address.timeout:.0f}ms", "ignore": 408}
    health = connection.request("GET", f"/_cluster/health/{indexes.all}", params=patience)
    if health["timed_out"] or health["status"] == "red":
        raise StoreUnavailableError(
            f"The cluster at {address} is red: shards of the index are on no node.",
            hint="Bring its nodes back: GET /_cluster/allocation/explain says what is missing.",
        )
    _check_version(connection, indexes)


def vector_mapping(field: str, dims: int) -> dict[str, Any]:
    """The mapping of one model's vectors; unit vectors, so that the inner product is the cosine."""
    method = {
        "name": "hnsw",
        "engine": "lucene",
        "space_type": "innerproduct",
        "parameters": {"m": 16, "ef_construction": 100},
    }
    return {"properties": {field: {"type": "knn_vector", "dimension": dims, "method": method}}}


def _make(connection: Connection, name: str, body: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    try:
        answer = connection.request("PUT", f"/{name}", body, params, timeout=6 * connection.address.timeout)
    except StoreError as error:
        if "resource_already_exists" in str(error):
            return  # another process was faster, or this one before it asked again
        raise
    if not answer["shards_acknowledged"]:
        raise StoreUnavailableError(
            f"The index {name} was made, but its shards do not start.", hint="GET /_cluster/allocation/explain"
        )


def _check_version(connection: Connection, indexes: Indexes) -> None:
    for name in (indexes.chunks, indexes.contents, indexes.state):
        mapping = connection.request("GET", f"/{name}/_mapping")[name]["mappings"]
        made = mapping.get("_meta", {}).get("dowse", {})
        if made != {"layout": LAYOUT, "analyser": ANALYSER}:
            raise StoreVersionError(
                f"The index {name} was made by another version: {made or 'not by Dowse'}.",
                hint="Use the version that made it, or choose another prefix and `dowse migrate` to it.",
            )


def _bodies(indexes: Indexes, address: Address) -> dict[str, dict[str, Any]]:
    settings = {
        "number_of_replicas": address.replicas,
        "refresh_interval": "30s",  # readers refresh when something was written, see catalog.py
        "max_result_window": LONGEST_RESULT,
        "max_terms_count": LONGEST_RESULT,
        "max_regex_length": LONGEST_RESULT,
        "unassigned.node_left.delayed_timeout": "5s",
        "merge.policy.expunge_deletes_allowed": 0,
    }
    shards = {**settings, "number_of_shards": address.shards}
    searched = {
        **shards,
        "replication.type": "SEGMENT",  # replicas copy what the primary built: see NEWEST
        "knn": True,
        "knn.algo_param.ef_search": 256,
        "similarity": _similarity(),
    }
    return {
        indexes.chunks: {"settings": {"index": searched}, "mappings": _mapping(_CHUNKS, "vector_*")},
        indexes.contents: {"settings": {"index": shards}, "mappings": _mapping(_CONTENTS)},
        indexes.state: {"settings": {"index": {**settings, "number_of_shards": 1}}, "mappings": _mapping(_STATE)},
    }


def _similarity() -> dict[str, Any]:
    return {_SIMILARITY: {"type": "BM25", "k1": K1, "b": B}}


def _mapping(properties: Mapping[str, Any], *unsaved: str) -> dict[str, Any]:
    mapping: dict[str, Any] = {
        "_meta": {"dowse": {"layout": LAYOUT, "analyser": ANALYSER}},
        "dynamic": "strict",
        "properties": {"kind": {"type": "keyword"}, **properties},
    }
    if unsaved:
        mapping["_source"] = {"excludes": list(unsaved)}
    return mapping


_LEXICAL = {
    "type": "text",
    "analyzer": "whitespace",
    "index_options": "freqs",
    "similarity": _SIMILARITY,
}
_CHUNKS: dict[str, Any] = {
    "version": {"type": "long"},
    "document": {"type": "keyword"},
    "collection": {"type": "keyword"},
    "facts": {"type": "keyword", "doc_values": False},
    # of documents
    "path": _KEYWORD,
    "endings": _TERM,
    "hash": {"type": "keyword"},
    "docid": _TERM,
    "uri": _TERM,
    "content": {"type": "keyword"},
    "keys": _KEYWORD,
    "created": {"type": "long"},
    "chunks": {"type": "integer"},
    "info": _KEPT,
    # of passages
    "ref": {"type": "long"},
    "key": {"type": "keyword"},
    "written": {"type": "long"},
    "embedded": {"type": "keyword"},
    "weight": {"type": "integer"},
    "words": {"type": "keyword", "index": False},
    "lead": {"type": "keyword", "index": False, "doc_values": False},
    "passage": _KEPT,
    **{lexical_field(field): _LEXICAL for field in BOOSTS},
}
_CONTENTS: dict[str, Any] = {
    "hash": {"type": "keyword"},
    "collection": {"type": "keyword"},
    "path": _KEYWORD,
    "state": {"type": "keyword"},
    "stamp": {"type": "long"},
    "released": {"type": "long"},
    "until": {"type": "long"},
    "keys": {"type": "keyword", "doc_values": False},
    "key": {"type": "keyword"},
    "model": {"type": "keyword"},
    "document": {"type": "keyword"},
    "kept": _KEPT,
}
_STATE: dict[str, Any] = {
    "versions": {"type": "long", "index": False},
    "sequence": {"type": "long", "index": False},
    "kept": _KEPT,
}
