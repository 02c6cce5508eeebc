"""`list`: collections or documents, page by page."""

import re
from collections.abc import Callable, Sequence

from dowse.errors import UsageError
from dowse.filters import from_operators
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Reply
from dowse.interfaces.mcp.dialects.dowse.answers import fits, longest_fit, rendered, reply, too_small, without_empty
from dowse.types import CollectionStats, Context, DocumentInfo

__all__ = ["listed"]

_CURSOR = re.compile(r"\d{1,9}", re.ASCII)
_CONDITIONS = ("collection", "prefix", "filters")


def listed(call: Call, arguments: Arguments) -> Reply:
    """What there is, by name."""
    given = [name for name in _CONDITIONS if name in arguments]
    kind = arguments.get("kind", "documents" if given else "collections")
    if kind == "collections" and given:
        raise BadArgumentsError(f"Argument '{given[0]}' is for documents.", details={"argument": given[0]})
    cursor = arguments.get("cursor", "0")
    if not _CURSOR.fullmatch(cursor):
        raise UsageError(f"{cursor[:100]!r} is not a cursor.", hint="Give one exactly as an answer had it.")
    return reply(_KINDS[kind](call, arguments, int(cursor)))


def _collections(call: Call, arguments: Arguments, offset: int) -> str:
    everything, contexts = call.engine.collections(), call.engine.contexts()
    made = [_collection(each, contexts) for each in everything[offset : offset + arguments["limit"] + 1]]
    return _page(call, arguments, "collections", made, offset, len(everything))


def _documents(call: Call, arguments: Arguments, offset: int) -> str:
    name, prefix = arguments.get("collection"), arguments.get("prefix", "")
    if prefix and name is None:
        raise BadArgumentsError("Argument 'prefix' needs a 'collection'.", details={"argument": "prefix"})
    wanted = from_operators(arguments.get("filters", {}))
    found = call.engine.documents(name, prefix=prefix, filter=wanted, limit=arguments["limit"] + 1, offset=offset)
    total = None
    if wanted is None and not prefix:  # only these are counted anyway
        total = call.engine.stats().documents if name is None else call.engine.collection(name).documents
    return _page(call, arguments, "documents", [_document(info) for info in found], offset, total)


_KINDS: dict[str, Callable[[Call, Arguments, int], str]] = {"collections": _collections, "documents": _documents}


def _page(call: Call, arguments: Arguments, kind: str, entries: Sequence[Json], offset: int, total: int | None) -> str:
    """As many of these as may be and fit; there is one more of them than may be where there is a next page."""

    def render(count: int) -> str:
        cursor = str(offset + count) if count < len(entries) else ""
        return rendered({"kind": kind, kind: entries[:count]} | without_empty({"total": total, "cursor": cursor}))

    most = min(len(entries), arguments["limit"])
    budget: int = arguments["max_tokens"]
    count = longest_fit(most, lambda count: fits(call.engine, render(count), budget))
    if not count and most:
        raise too_small(budget, call.engine.count_tokens(render(1)))
    return render(count)


def _collection(stats: CollectionStats, contexts: Sequence[Context]) -> Json:
    known = stats.collection
    said = [each.text for each in contexts if each.collection == known.name and not each.prefix]
    made: Json = {"name": known.name, "documents": stats.documents, "included": known.included}
    return made | without_empty(
        {
            "folder": known.root,
            "description": known.description,
            "context": wire.context_text(said),
            "updated": wire.iso(known.updated_at or known.created_at),
        }
    )


def _document(info: DocumentInfo) -> Json:
    made: Json = {
        "file": info.file,
        "docid": info.docid,
        "id": str(info.id),
        "title": info.title,
        "media_type": info.media_type,
        "bytes": info.fingerprint.size,
    }
    is_elsewhere = info.origin == "ingested" and info.uri != info.path
    return made | without_empty(
        {
            "updated": wire.iso(info.updated_at),
            "uri": info.uri if is_elsewhere else None,
            "metadata": dict(info.metadata),
        }
    )
