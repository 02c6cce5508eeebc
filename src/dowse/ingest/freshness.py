"""Is a document still as it was indexed? One `stat` per document of a result, and no more than that.

`fresh` and `stale` say what size, time and inode say: a file that was only touched counts as stale, and one
that was written again in the very moment in which it was read, as fresh. `gone` is said only where the
place itself is there to be asked: with its folder missing or empty, as when a disk is not connected, a file
is `unknown`, for the same reason for which the mass-delete guard deletes nothing then. So is everything
that has no file.

Searches import this, so it imports next to nothing.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from dowse.types import DocumentInfo, Freshness, Hit

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["check", "freshness_of", "note_about", "outdated"]

_FILE: Final = "file://"


def check(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The same hits, each saying how fresh its document is."""
    known: dict[UUID, Freshness] = {}
    checked = []
    for hit in hits:
        if hit.info.id not in known:
            known[hit.info.id] = freshness_of(hit.info)
        # Field by field: `replace` would take as long as the look at the file.
        checked.append(
            Hit(
                hit.info,
                hit.chunk,
                hit.ordinal,
                hit.score,
                hit.snippet,
                hit.contexts,
                hit.explain,
                known[hit.info.id],
                hit.copies,
            )
        )
    return tuple(checked)


def freshness_of(info: DocumentInfo) -> Freshness:
    """What `stat` says now of the file that this document was read from."""
    location = _location(info.uri)
    if not location:
        return "unknown"
    try:
        status = os.stat(location)  # noqa: PTH116  # a Path would cost more than the call itself
    except (FileNotFoundError, NotADirectoryError):
        return "gone" if _is_there(_place(info, location)) else "unknown"
    except (OSError, ValueError):
        return "unknown"
    then = info.fingerprint
    is_same = status.st_size == then.size and status.st_mtime_ns == then.mtime_ns
    # Where a system gives no file numbers, the fingerprint has none.
    return "fresh" if is_same and then.inode in {0, status.st_ino} else "stale"


def outdated(hits: Iterable[Hit]) -> dict[str, list[str]]:
    """The paths of walked documents that are stale or gone, by collection: what to index before answering."""
    found: dict[str, list[str]] = {}
    for hit in hits:
        if hit.freshness in {"stale", "gone"} and hit.info.origin == "walked":
            paths = found.setdefault(hit.info.collection, [])
            if hit.info.path not in paths:
                paths.append(hit.info.path)
    return found


def note_about(hits: Sequence[Hit]) -> str:
    """A sentence about hits that are not fresh, and what to do; empty where there are none."""
    counts = {
        what: len({hit.info.id for hit in hits if hit.freshness == state})
        for state, what in (("stale", "changed"), ("gone", "vanished"))
    }
    said = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    if not said:
        return ""
    return f"Of the documents found, {said} since they were indexed: dowse update, or ask with --fresh wait."


def _location(uri: str) -> str:
    """The path that a `file://` URI names, as the system writes it; empty for other URIs."""
    if not uri.startswith(_FILE):
        return ""
    path = os.fsdecode(unquote_to_bytes(uri[len(_FILE) :].partition("#")[0]))
    if os.name != "nt":
        return path
    return path[1:] if path.startswith("/") else f"//{path}"  # a drive, or a share on another machine


def _place(info: DocumentInfo, location: str) -> str:
    """The folder that has to be there for its file to be gone: the walked root, else the file's own folder."""
    parts = info.path.count("/") + 1 if info.origin == "walked" else 1
    # Counted, not compared: the disk may spell names otherwise than the index does.
    return location.replace(os.sep, "/").rsplit("/", parts)[0] or "/"


def _is_there(folder: str) -> bool:
    """Whether this is a folder with anything in it; an unmounted disk leaves an empty one."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False
