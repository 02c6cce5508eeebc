"""The lists, the counts, and the resources: what is in the index."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Reply
from dowse.interfaces.mcp.dialects.rag import metadata
from dowse.interfaces.mcp.dialects.rag.collections import all_settings, find_collection
from dowse.interfaces.mcp.dialects.rag.content_types import lower_name, proper_name
from dowse.interfaces.mcp.dialects.rag.documents import find_document
from dowse.interfaces.mcp.dialects.rag.ids import chunk_ulid, ulid
from dowse.types import CollectionStats, DocumentInfo, Passage

__all__ = ["list_collections", "list_documents", "read_collection", "read_collections", "read_document", "stats"]

_MIME_TYPE = "application/json"


def list_collections(call: Call, _: Arguments) -> Reply:
    """Every collection by name."""
    collections = [
        {
            "name": each.collection.name,
            "description": each.collection.description,
            "created_at": each.collection.created_at,
        }
        for each in call.engine.collections()
    ]
    return Reply.json({"collections": collections, "total": len(collections)})


def list_documents(call: Call, arguments: Arguments) -> Reply:
    """One page of a collection's documents, by path."""
    limit, offset = arguments["limit"], arguments["offset"]
    for name in ("limit", "offset"):
        if arguments[name] < 0:
            raise BadArgumentsError(
                f"Argument '{name}' must be a whole number of at least 0, not {arguments[name]}.",
                details={"argument": name},
            )
    total = find_collection(call.engine, arguments["collection"]).documents
    documents = call.engine.documents(arguments["collection"], limit=limit, offset=offset)
    return Reply.json(
        {
            "collection": arguments["collection"],
            "documents": [_listed(info) for info in documents],
            "count": len(documents),
            "total": total,
            "offset": offset,
            "limit": limit,
        }
    )


def stats(call: Call, arguments: Arguments) -> Reply:
    """How much there is, in one collection or in all."""
    everything = call.engine.stats()
    counted: Sequence[CollectionStats] = everything.collections
    if "collection" in arguments:
        counted = [find_collection(call.engine, arguments["collection"])]
    result: Json = {
        "collections": len(everything.collections),
        "documents": sum(each.documents for each in counted),
        "chunks": sum(each.chunks for each in counted),
        "embeddings": sum(each.chunks - each.missing for each in counted),
        "storage_bytes": everything.bytes_on_disk,
    }
    return Reply.json(result | ({"filter": arguments["collection"]} if "collection" in arguments else {}))


def read_collections(call: Call, uri: str, _: Mapping[str, str]) -> Sequence[Json]:
    """The resource: every collection with its counts."""
    return _contents(
        uri,
        [
            {
                "name": each.collection.name,
                "description": each.collection.description,
                "documents": each.documents,
                "chunks": each.chunks,
                "created_at": each.collection.created_at,
            }
            for each in call.engine.collections()
        ],
    )


def read_collection(call: Call, uri: str, variables: Mapping[str, str]) -> Sequence[Json]:
    """The resource: one collection with its settings and documents."""
    collection = find_collection(call.engine, unquote(variables["name"])).collection
    documents = call.engine.documents(collection.name)
    return _contents(
        uri,
        {
            "name": collection.name,
            "description": collection.description,
            "settings": all_settings(call.engine, collection),
            "created_at": collection.created_at,
            "documents": [
                {"id": ulid(info.id), "source_uri": info.uri, "content_type": proper_name(info.media_type)}
                for info in documents
            ],
        },
    )


def read_document(call: Call, uri: str, variables: Mapping[str, str]) -> Sequence[Json]:
    """The resource: one document with its whole text and its passages."""
    document = find_document(call.engine, unquote(variables["id"]))
    info = document.info
    return _contents(
        uri,
        {
            "id": ulid(info.id),
            "collection": info.collection,
            "source_uri": info.uri,
            "content_type": proper_name(info.media_type),
            "metadata": metadata.shown(info.metadata),
            "created_at": info.created_at,
            "updated_at": info.updated_at,
            "raw_content": document.text,
            "chunks": [_chunk(passage) for passage in call.engine.chunks(info.id)],
        },
    )


def _listed(info: DocumentInfo) -> Json:
    return {
        "id": ulid(info.id),
        "source_uri": info.uri,
        "content_type": lower_name(info.media_type),
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    }


def _chunk(passage: Passage) -> Json:
    chunk = passage.chunk
    return {
        "id": chunk_ulid(passage.info.id, passage.ordinal, chunk.text),
        "index": passage.ordinal,
        "content": chunk.text,
        "tokens": chunk.tokens,
        "lines": f"{chunk.first_line}-{chunk.last_line}",
    }


def _contents(uri: str, value: object) -> Sequence[Json]:
    return [{"uri": uri, "mimeType": _MIME_TYPE, "text": json.dumps(value, ensure_ascii=False)}]
