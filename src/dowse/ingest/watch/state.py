"""Who watches this index, and how that goes: a lock that dies with its holder, and a note beside it.

`watch.lock` says whether a watcher lives, because the system frees it with the process. `watch.json` says
what it does; a clean end removes it, so that a note without a lock is what a watcher that died left behind.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal

from dowse.errors import ConflictError, StoreFullError
from dowse.locks import try_lock, unlock
from dowse.records import record
from dowse.types import now_ms

__all__ = ["WatchState", "WatchStatus", "claim", "watch_status"]

_LOCK: Final = "watch.lock"
_NOTE: Final = "watch.json"
_TRIES = 20
_LATEST: Final = 1 << 47  # milliseconds that clocks of all systems can show
_PAUSE = 0.01  # between them: whoever asks for the status holds the lock for an instant


@record
class WatchStatus:
    """What is known of the watcher of an index; apart from `state` as it said itself."""

    state: Literal["off", "running", "died"] = "off"
    """`died`: it ended without a word, and nothing has been followed since."""
    pid: int = 0
    since: int = 0
    """When it began."""
    collections: Mapping[str, str] = field(default_factory=dict)
    """What it follows, and how: `events`, `polling`, or `missing` while the folder is not there."""
    batches: int = 0
    last_batch_at: int = 0
    problems: Mapping[str, str] = field(default_factory=dict)
    """What went wrong and has not gone right since, by collection; under an empty name, what concerns all."""


class WatchState:
    """The note of the watcher that holds the lock. Writing it is a courtesy, so it never fails."""

    def __init__(self, note: Path) -> None:
        self._note = note
        self.status = WatchStatus("running", os.getpid(), now_ms())

    def update(self, **changes: Any) -> None:
        """Say what changed."""
        after = replace(self.status, **changes)
        if after == self.status:
            return
        self.status = after
        self.write()

    def write(self) -> None:
        """Replace the note as a whole."""
        draft = self._note.with_suffix(".new")
        with suppress(OSError):
            draft.write_text(json.dumps(asdict(self.status)), encoding="utf-8")
            draft.replace(self._note)


@contextmanager
def claim(directory: Path) -> Iterator[WatchState]:
    """Be the one watcher of this index until the block ends.

    Raises:
        ConflictError: somebody else is, and the message says who.
        StoreFullError: nothing can be written there.
    """
    try:
        descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreFullError(
            f"The index {directory} cannot be written: {error.strerror}.",
            hint="Check the permissions and the free space of that directory, or choose another with --index.",
        ) from error
    try:
        if not _locked(descriptor):
            raise _taken(directory)
        state = WatchState(directory / _NOTE)
        state.write()
        try:
            yield state
        finally:
            (directory / _NOTE).unlink(missing_ok=True)
            unlock(descriptor)
    finally:
        os.close(descriptor)


def watch_status(directory: Path) -> WatchStatus:
    """Whether somebody watches this index, somebody did and died, or nobody does."""
    try:
        said = json.loads((directory / _NOTE).read_bytes())
        status = WatchStatus(**{each.name: _of_kind(said[each.name], each.default) for each in fields(WatchStatus)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return WatchStatus()
    return replace(status, state="running" if _is_held(directory / _LOCK) else "died")


def _of_kind(value: Any, usual: object) -> Any:
    """A value of the note, if it is of the kind that the field has: a text, a time or count, or texts by name."""
    is_right = isinstance(value, str if isinstance(usual, str) else Mapping)
    if isinstance(usual, int):
        is_right = type(value) is int and 0 <= value <= _LATEST
    elif is_right and isinstance(value, Mapping):
        is_right = all(isinstance(text, str) for text in value.values())
    if not is_right:
        raise ValueError(value)
    return value


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        if not try_lock(descriptor):
            return True
        unlock(descriptor)
        return False
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Take the lock, even if somebody just looks whether it is free."""
    for _ in range(_TRIES):
        if try_lock(descriptor):
            return True
        time.sleep(_PAUSE)
    return False


def _taken(directory: Path) -> ConflictError:
    holder = watch_status(directory)
    since = time.strftime(" since %Y-%m-%d %H:%M:%S", time.localtime(holder.since / 1000)) if holder.since else ""
    who = f"Process {holder.pid}" if holder.pid else "Another process"
    return ConflictError(
        f"{who} is already watching the index {directory}{since}.",
        hint="One watcher is enough: see dowse status, or stop that process first.",
        details={"pid": holder.pid},
    )
