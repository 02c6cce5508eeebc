"""Errors in the form of the docvec dialect: a message, one of its codes, and what else there is to say."""

from dowse.errors import DowseError, ModelError, NotFoundError, SourceError, UsageError
from dowse.ingest.extract import format_of, media_type_of
from dowse.interfaces.mcp.access import RefusedError
from dowse.interfaces.mcp.dialect import Reply

__all__ = ["FailedError", "failed", "reading_failed", "said_of_reading"]

_EXTRACTION = "EXTRACTION_FAILED"
_CODES: tuple[tuple[type[DowseError], str], ...] = (
    (RefusedError, "PERMISSION_DENIED"),
    (NotFoundError, "FILE_NOT_FOUND"),
    (UsageError, "INVALID_INPUT"),
    (SourceError, _EXTRACTION),
    (ModelError, "EMBEDDING_FAILED"),
)
_OTHER_CODES = {"index_file": "STORAGE_ERROR", "index_directory": "STORAGE_ERROR"}
"""What else goes wrong does so in the index; while searching it is called otherwise."""
_OTHERWISE = "QUERY_FAILED"
_OF_READING = {
    "missing": ("FILE_NOT_FOUND", "File not found: {path}"),
    "broken_link": ("FILE_NOT_FOUND", "File not found: {path}"),
    "unreadable": ("PERMISSION_DENIED", "Permission denied: {path}"),
}
"""By the reason of a source that cannot be read; every other one is about its content."""


class FailedError(DowseError):
    """What the specification has a code and a message for."""

    code = "docvec"

    def __init__(self, error_code: str, message: str, **details: object) -> None:
        super().__init__(message, details=details)
        self.error_code = error_code


def failed(error: DowseError, tool: str) -> Reply:
    """An error as the client sees it."""
    details = error.details | ({"hint": error.hint} if error.hint else {})
    message = error.message
    if isinstance(error, FailedError):
        code = error.error_code
    else:
        usual = _OTHER_CODES.get(tool, _OTHERWISE)
        code = next((code for kind, code in _CODES if isinstance(error, kind)), usual)
    if isinstance(error, ModelError):
        message, details = "Embedding service unavailable", {"cause": message, **details}
    return Reply.json({"success": False, "error": message, "error_code": code, "details": details}, is_error=True)


def reading_failed(reason: str, path: str, said: str, hint: str) -> FailedError:
    """The error of a file that was named by itself; `said` is why, in a sentence."""
    code, message = _OF_READING.get(reason, (_EXTRACTION, "Failed to extract content"))
    details = {"hint": hint} if hint else {}
    return FailedError(code, message.format(path=path), reason=reason, cause=said, **details)


def said_of_reading(reason: str, path: str) -> str:
    """The message about one file of a folder."""
    if reason in _OF_READING:
        return _OF_READING[reason][1].format(path=path)
    found = format_of(media_type_of(path.replace("\\", "/")) or "")
    return f"Failed to extract content from {found.name}" if found else "Failed to extract content"
