"""What goes wrong, with the specification's codes: `{"error": {"code", "message"}}`."""

from dowse.errors import ConflictError, DowseError, ModelError, NotFoundError, SourceError, StoreError, UsageError
from dowse.interfaces.mcp.access import RefusedError
from dowse.interfaces.mcp.dialect import Reply

__all__ = [
    "CollectionExistsError",
    "CollectionNotFoundError",
    "DocumentNotFoundError",
    "InvalidUriError",
    "LoadFailedError",
    "TextTooLongError",
    "failed",
]


class DocumentNotFoundError(NotFoundError):
    """No document has this id."""

    code = "DOCUMENT_NOT_FOUND"


class CollectionNotFoundError(NotFoundError):
    """No collection has this name."""

    code = "COLLECTION_NOT_FOUND"


class CollectionExistsError(ConflictError):
    """Another collection has this name."""

    code = "COLLECTION_EXISTS"


class InvalidUriError(UsageError):
    """An address that means nothing here."""

    code = "INVALID_URI"


class LoadFailedError(DowseError):
    """A file or web address that cannot be read, or may not be."""

    code = "LOAD_FAILED"


class TextTooLongError(UsageError):
    """A query with too many tokens, or a document with too many bytes."""

    code = "TEXT_TOO_LONG"


_OWN = (
    DocumentNotFoundError,
    CollectionNotFoundError,
    CollectionExistsError,
    InvalidUriError,
    LoadFailedError,
    TextTooLongError,
)
_CODES: tuple[tuple[type[DowseError], str], ...] = (
    *((each, each.code) for each in _OWN),
    (NotFoundError, CollectionNotFoundError.code),
    (SourceError, LoadFailedError.code),
    (ModelError, "EMBEDDING_ERROR"),
    (StoreError, "DATABASE_ERROR"),
    (ConflictError, "INVALID_ARGUMENT"),
    (RefusedError, "INVALID_ARGUMENT"),
    (UsageError, "INVALID_ARGUMENT"),
)
"""The first that fits; whatever is missing here went wrong inside."""
_INTERNAL = "DATABASE_ERROR"


def failed(error: DowseError, tool: str) -> Reply:
    """The specification's form of an error."""
    code = next((code for kind, code in _CODES if isinstance(error, kind)), _INTERNAL)
    if isinstance(error, RefusedError) and tool == "rag_ingest":
        code = LoadFailedError.code
    message = " ".join(filter(None, [error.message, error.hint]))
    return Reply.json({"error": {"code": code, "message": message}}, is_error=True)
