"""Documents by their id alone, whatever else may be called like it."""

from dowse.engine import Engine
from dowse.errors import NotFoundError
from dowse.interfaces.mcp.dialects.rag.failures import DocumentNotFoundError
from dowse.interfaces.mcp.dialects.rag.ids import parse_ulid, ulid
from dowse.types import Document

__all__ = ["find_document"]


def find_document(engine: Engine, identifier: str) -> Document:
    """The document that has this ULID.

    Raises:
        BadArgumentsError: it is no ULID.
        DocumentNotFoundError: there is no such document.
    """
    meant = parse_ulid(identifier)
    try:
        document = engine.get(str(meant))
    except NotFoundError as error:
        raise _unknown(ulid(meant)) from error
    if document.info.id != meant:  # a file is called like this id
        raise _unknown(ulid(meant))
    return document


def _unknown(identifier: str) -> DocumentNotFoundError:
    return DocumentNotFoundError(f"Document not found: {identifier}")
