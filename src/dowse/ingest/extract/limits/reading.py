"""Read a file within limits: here when its reader is simple and it is small, else in a process that can be ended."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, SourceError
from dowse.ingest.extract import extract, format_of
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.formats import Family
from dowse.ingest.extract.limits.packing import NonsenseError, unpack
from dowse.ingest.extract.limits.terms import Cause, Limits, LostError

if TYPE_CHECKING:
    from dowse.ingest.extract.limits.helper import Helper

__all__ = ["extract_within_limits"]

_SIMPLE = frozenset[Family](("markdown", "text"))
"""Families whose readers are Python alone and take time and memory in proportion to the file."""
_SMALL = 128 << 10
"""Bytes. The worst that was found takes such a reader half a second; nearly all notes are smaller, and a folder
without any larger ones is spared the start of a process, a tenth of a second."""

_IGNORE = "add it to .dowseignore"
_LOSSES: Mapping[Cause, tuple[str, str, str]] = {
    "time": (
        "too_slow",
        "Reading {name} takes longer than one file may: {seconds:g} seconds of processor time, {clock:g} by the clock.",
        f"If the file is sound, raise the setting extract_seconds and run dowse update --retry; else {_IGNORE}.",
    ),
    "memory": (
        "too_much_memory",
        "Reading {name} takes more memory than one file may: {megabytes:,} MB.",
        f"If the file is sound, raise the setting extract_memory and run dowse update --retry; else {_IGNORE}.",
    ),
    "crash": (
        "crashed",
        "The process that read {name} crashed{detail}.",
        f"It may be damaged, or need more memory than the setting extract_memory allows. To leave it out, {_IGNORE}.",
    ),
    "start": (
        "no_process",
        "{name} was not read: the process to read it in did not start{detail}.",
        "Let Dowse start processes, or set extract_seconds to 0 to read every file without limits.",
    ),
}
"""Per cause: the reason, the message and the hint of the error."""


def extract_within_limits(data: bytes, media_type: str, name: str, limits: Limits) -> Extracted:
    """Read the bytes of one source as `extract` does, but for no longer and with no more memory than the limits say.

    Raises:
        SourceError: what `extract` raises; reason `too_slow`, `too_much_memory` or `crashed` when the file is too
            much, `no_process` when it could not be tried, and `internal` for a fault of the reader.
    """
    found = format_of(media_type)
    if not limits.seconds or found is None or (found.family in _SIMPLE and len(data) <= _SMALL):
        return _extract_here(data, media_type, name)
    try:
        return _understand(name, *_helper().ask(media_type, name, data, limits))
    except LostError as error:
        raise _loss(name, limits, error) from error
    except (NonsenseError, TypeError, ValueError) as error:
        raise _loss(name, limits, LostError("crash", "its answer made no sense")) from error


@cache
def _helper() -> "Helper":
    """The one process for all that is read here; a folder of notes never needs it."""
    from dowse.ingest.extract.limits.helper import Helper

    return Helper("dowse.ingest.extract:extract")


def _understand(name: str, kind: str, value: Any, text: bytes) -> Extracted:
    if kind == "extracted":
        return unpack(value, text)
    if kind not in {"refused", "fault"} or not all(isinstance(each, str) for each in value):
        raise NonsenseError
    if kind == "fault":
        raise _fault(name, *value)
    message, reason, hint = value
    raise SourceError(message, reason=reason, hint=hint)


def _extract_here(data: bytes, media_type: str, name: str) -> Extracted:
    try:
        return extract(data, media_type, name)
    except DowseError:
        raise
    except Exception as error:
        raise _fault(name, type(error).__name__, str(error)) from error


def _fault(name: str, kind: str, message: str) -> SourceError:
    return SourceError(
        f"{name} could not be understood ({kind}: {message}).",
        reason="internal",
        hint="This is a fault of Dowse: please report it together with the file.",
    )


def _loss(name: str, limits: Limits, lost: LostError) -> SourceError:
    reason, message, hint = _LOSSES[lost.cause]
    detail = f" ({lost.detail})" if lost.detail else ""
    return SourceError(
        message.format(
            name=name,
            seconds=limits.seconds,
            clock=limits.clock_seconds,
            megabytes=limits.memory >> 20,
            detail=detail,
        ),
        reason=reason,
        hint=hint,
    )
