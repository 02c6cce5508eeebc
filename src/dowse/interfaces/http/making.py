"""What a row's function gives, as it goes over the wire; in whatever thread or process that happens."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import field

from dowse.errors import DowseError
from dowse.interfaces.http.rows import Answered, Asked, Row, enveloped
from dowse.interfaces.mcp.dialect import UnexpectedError
from dowse.records import record

__all__ = ["Made", "make"]

_NOT_MODIFIED = 304
_log = logging.getLogger(__name__)


@record
class Made:
    """A response."""

    status: int
    body: bytes | None
    headers: Mapping[str, str] = field(default_factory=dict)


def make(row: Row, asked: Asked, shape: Callable[[Asked, Answered], str] = enveloped) -> Made:
    """Have it done.

    Raises:
        DowseError: what is said of it; nothing else gets out.
    """
    try:
        answered = row.run(asked)
    except DowseError:
        raise
    except Exception as error:
        _log.exception("%s failed unexpectedly", row.name)
        raise UnexpectedError(
            "Something went wrong inside of the server.", hint="Its log on stderr has the details."
        ) from error
    status = answered.status or row.statuses[0]
    if status == _NOT_MODIFIED:
        return Made(status, None, answered.headers)
    text = answered.text if answered.text is not None else shape(asked, answered)
    return Made(status, text.encode(), answered.headers)
