"""Everything that can go wrong, as one tree.

    DowseError
    ├── UsageError                  the caller asked for something impossible           exit 2, HTTP 400
    │   └── ConfigError             a setting is unknown, malformed or out of range
    ├── NotFoundError               a document, collection, context or file is unknown  exit 3, HTTP 404
    ├── ConflictError               the name is taken, or the guard refuses             exit 4, HTTP 409
    ├── SourceError                 a file or URL cannot be read or understood          exit 5, HTTP 422
    ├── StoreError                  the index cannot be read or written                 exit 6, HTTP 500
    │   ├── StoreLockedError        another process is writing and did not finish       exit 7, HTTP 503
    │   ├── StoreFullError          the disk is full or the index may not be written    HTTP 507
    │   ├── StoreUnavailableError   the cluster cannot be reached, or not as a whole    HTTP 503
    │   ├── StoreCorruptError       the database is damaged or not ours
    │   └── StoreVersionError       the index was written by a newer Dowse
    └── ModelError                  a model is missing, damaged or failing              exit 8, HTTP 503
        └── ModelMismatchError      the index holds vectors of another model            HTTP 409

Each class carries a machine-readable `code`, the `exit_code` of the command line and the
`http_status` of the server. Each instance carries a message that names the problem and a
`hint` that names the way out. Interfaces render errors; nothing below them prints.
"""

from collections.abc import Mapping
from typing import ClassVar, Self

__all__ = [
    "ConfigError",
    "ConflictError",
    "DowseError",
    "ModelError",
    "ModelMismatchError",
    "NotFoundError",
    "SourceError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreUnavailableError",
    "StoreVersionError",
    "UsageError",
]


class DowseError(Exception):
    """The root of the tree: catch this to catch everything that Dowse raises on purpose."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})


class UsageError(DowseError):
    """The caller asked for something that cannot be done as asked."""

    code = "usage"
    exit_code = 2
    http_status = 400


class ConfigError(UsageError):
    """A setting is unknown, malformed or out of range."""

    code = "config"


class NotFoundError(DowseError):
    """A document, collection, context or file that was named is not there."""

    code = "not_found"
    exit_code = 3
    http_status = 404


class ConflictError(DowseError):
    """The name is taken, or a guard refuses to go on without being told to."""

    code = "conflict"
    exit_code = 4
    http_status = 409


class SourceError(DowseError):
    """A file or URL cannot be read or understood; recorded per file, the run goes on."""

    code = "source"
    exit_code = 5
    http_status = 422

    def __init__(self, message: str, *, reason: str = "unreadable", hint: str = "") -> None:
        super().__init__(message, hint=hint, details={"reason": reason})
        self.reason = reason


class StoreError(DowseError):
    """The index cannot be read or written."""

    code = "store"
    exit_code = 6
    http_status = 500


class StoreLockedError(StoreError):
    """Another process holds the writer lock and did not finish in time."""

    code = "store_locked"
    exit_code = 7
    http_status = 503


class StoreFullError(StoreError):
    """The disk is full, or the index may not be written to."""

    code = "store_full"
    http_status = 507


class StoreUnavailableError(StoreError):
    """The cluster that holds the index cannot be reached, refuses, or can answer in part only."""

    code = "store_unavailable"
    http_status = 503


class StoreCorruptError(StoreError):
    """The database is damaged, or is not a Dowse index."""

    code = "store_corrupt"


class StoreVersionError(StoreError):
    """The index was written by a newer version of Dowse."""

    code = "store_version"


class ModelError(DowseError):
    """A model is missing, damaged, or failed while it was asked."""

    code = "model"
    exit_code = 8
    http_status = 503


class ModelMismatchError(ModelError):
    """The index holds vectors made by another model than the configured one."""

    code = "model_mismatch"
    http_status = 409

    @classmethod
    def between(cls, held: str, configured: str) -> Self:
        """The error of an index that holds vectors of one model and is asked for those of another."""
        return cls(
            f"The index holds vectors of {held}, not of the configured {configured}.",
            hint="Make them anew with the configured model: dowse embed --force",
        )
