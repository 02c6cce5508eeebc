"""`get`, `multi_get`, `status` and the resource `qmd://{+path}`."""

from collections.abc import Mapping, Sequence

from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, Call, Json, Reply
from dowse.interfaces.mcp.dialects.qmd.numbers import whole, whole_or_none
from dowse.interfaces.mcp.uris import encoded_path
from dowse.types import Document

__all__ = ["get", "multi_get", "read", "status"]

_MIME_TYPE = "text/markdown"
"""Of every document: what is read out of any format is Markdown."""


def get(call: Call, arguments: Arguments) -> Reply:
    """One document, whole or from some line on."""
    document = call.engine.get(
        arguments["file"],
        first_line=whole_or_none(arguments, "fromLine"),
        max_lines=whole_or_none(arguments, "maxLines"),
    )
    return Reply([_embedded(document, line_numbers=arguments["lineNumbers"])])


def multi_get(call: Call, arguments: Arguments) -> Reply:
    """Several documents; first come the notices about those that are not among them."""
    found = call.engine.get_many(
        arguments["pattern"],
        max_lines=whole_or_none(arguments, "maxLines"),
        max_bytes=whole(arguments, "maxBytes"),
    )
    notices = [{"type": "text", "text": _notice(name, reason)} for name, reason in found.missed]
    documents = [_embedded(each, line_numbers=arguments["lineNumbers"], tell_rest=True) for each in found.documents]
    is_error = not documents and not any(_is_too_large(reason) for _, reason in found.missed)
    return Reply([*notices, *documents], is_error=is_error)


def status(call: Call, _: Arguments) -> Reply:
    """What is in the index."""
    stats = call.engine.stats()
    collections: list[Json] = []
    for each in stats.collections:
        made = wire.collection(each)
        kept = {name: made[name] for name in ("name", "path", "pattern", "documents", "lastUpdated")}
        collections.append(kept | {"lastUpdated": made["lastUpdated"] or ""})
    structured: Json = {
        "totalDocuments": stats.documents,
        "needsEmbedding": sum(each.unembedded for each in stats.collections),
        "hasVectorIndex": stats.vectors > 0,
        "collections": collections,
    }
    lines = [
        "QMD Index Status:",
        f"  Total documents: {structured['totalDocuments']}",
        f"  Needs embedding: {structured['needsEmbedding']}",
        f"  Vector index: {'yes' if structured['hasVectorIndex'] else 'no'}",
        f"  Collections: {len(collections)}",
        *(f"    - {each['path'] or each['name']} ({each['documents']} docs)" for each in collections),
    ]
    return Reply.text("\n".join(lines), structured)


def read(call: Call, uri: str, _: Mapping[str, str]) -> Sequence[Json]:
    """The resource: a whole document with its lines numbered."""
    return [_contents(call.engine.get(uri), line_numbers=True) | {"uri": uri}]


def _embedded(document: Document, *, line_numbers: bool, tell_rest: bool = False) -> Json:
    return {"type": "resource", "resource": _contents(document, line_numbers=line_numbers, tell_rest=tell_rest)}


def _contents(document: Document, *, line_numbers: bool, tell_rest: bool = False) -> Json:
    text = wire.numbered(document.text, document.first_line) if line_numbers else document.text
    shown = document.first_line - 1 + len(document.text.split("\n"))
    if tell_rest and shown < document.total_lines:
        text += f"\n\n[... truncated {document.total_lines - shown} more lines]"
    context = wire.context_text(document.contexts)
    if context:
        text = f"<!-- Context: {context.replace('-->', '--&gt;')} -->\n\n{text}"
    return {
        "uri": f"qmd://{encoded_path(document.info.file)}",
        "name": document.info.file,
        "title": document.info.title,
        "mimeType": _MIME_TYPE,
        "text": text,
    }


def _notice(name: str, reason: str) -> str:
    if _is_too_large(reason):
        return f"[SKIPPED: {name} - {reason} Use 'qmd get' with file=\"{name}\" to retrieve.]"
    return f"{name}: {reason}"


def _is_too_large(reason: str) -> bool:
    return reason.startswith("File too large")
