"""`list_documents`, `list_libraries` and `get_document`."""

from dataclasses import replace
from uuid import UUID

from dowse.engine import Engine
from dowse.errors import NotFoundError
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Reply
from dowse.interfaces.mcp.dialects.mcpvectordb.shapes import document, moment
from dowse.types import Document

__all__ = ["find", "get_document", "list_documents", "list_libraries", "no_document", "no_library"]


def list_documents(call: Call, arguments: Arguments) -> Reply:
    """One page of them, newest first."""
    library, limit, offset = arguments.get("library"), int(arguments["limit"]), int(arguments["offset"])
    try:
        infos = call.engine.documents(library, limit=limit, offset=offset, newest=True)
    except NotFoundError:
        nothing = Reply.json({"documents": [], "count": 0, "total": 0})
        return replace(nothing, notes=(no_library(library, call.engine),))
    page = [document(info, content_hash=info.content_hash, created_at=moment(info.created_at)) for info in infos]
    counted = call.engine.stats() if library is None else call.engine.collection(library)
    return Reply.json({"documents": page, "count": len(page), "total": counted.documents})


def list_libraries(call: Call, _: Arguments) -> Reply:
    """All of them, also those that nothing is in."""
    libraries = [
        {"library": each.collection.name, "document_count": each.documents, "chunk_count": each.chunks}
        for each in call.engine.collections()
    ]
    return Reply.json({"libraries": libraries})


def get_document(call: Call, arguments: Arguments) -> Reply:
    """One document with the whole text that was read out of it."""
    found = find(call.engine, arguments["doc_id"])
    return Reply.json(document(found.info, content=found.text))


def find(engine: Engine, doc_id: str) -> Document:
    """The document with this id, and nothing that is merely called so.

    Raises:
        BadArgumentsError: it is no id.
        NotFoundError: there is none.
    """
    try:
        wanted = UUID(doc_id)
    except ValueError as error:
        raise BadArgumentsError(
            f"Argument 'doc_id' must be the UUID of a document, not {doc_id[:60]!r}.", details={"argument": "doc_id"}
        ) from error
    try:
        found = engine.get(wanted.urn)  # the spelling that no path has
    except NotFoundError as error:
        raise no_document(doc_id) from error
    if found.info.id != wanted:
        raise no_document(doc_id)
    return found


def no_document(doc_id: str) -> NotFoundError:
    """The error that says so."""
    return NotFoundError(f"Document not found: {doc_id}.", hint="list_documents shows the ids of all that there are.")


def no_library(name: object, engine: Engine) -> str:
    """Why nothing is found in a library that there is not: a remark, for a library is no more than what is in it."""
    names = ", ".join(each.name for each in engine.known_collections())
    return f"There is no library {name!r}. " + (f"There are: {names}" if names else "There is none yet.")
