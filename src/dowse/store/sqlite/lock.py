"""One writer at a time across processes, by a lock on a file that names its holder.

The operating system releases the lock when its holder dies, so a crash leaves nothing to clear up.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dowse.errors import StoreFullError, StoreLockedError
from dowse.locks import try_lock, unlock

_FIRST_WAIT = 0.005
_LONGEST_WAIT = 0.1


class WriterLock:
    """The right to write to one index: for one thread of one process at a time."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._threads = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, hold it, release it. StoreLockedError names the holder after the time-out."""
        deadline = time.monotonic() + self._timeout
        if not self._threads.acquire(timeout=max(self._timeout, 0)):
            raise self._timed_out()
        try:
            descriptor = self._wait(deadline)
            try:
                yield
            finally:
                unlock(descriptor)
                os.close(descriptor)
        finally:
            self._threads.release()

    def _wait(self, deadline: float) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreFullError(
                f"The index {self._path.parent} cannot be written: {error.strerror}.",
                hint="Check the permissions and the free space of that directory, or choose another with --index.",
            ) from error
        try:
            pause = _FIRST_WAIT
            while not try_lock(descriptor):
                if time.monotonic() >= deadline:
                    raise self._timed_out()
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_WAIT)
            _sign(descriptor)
        except BaseException:
            os.close(descriptor)  # which also gives the lock back, should Ctrl-C come in between
            raise
        return descriptor

    def _timed_out(self) -> StoreLockedError:
        return StoreLockedError(
            f"{_signed(self._path)} is writing to the index {self._path.parent}; waited {self._timeout:g} s.",
            hint="Wait until it is done, or raise lock_timeout. The lock of a process that died is free at once.",
        )


def holder(path: Path) -> str:
    """Who holds the lock, in words; empty while nobody does."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return ""
    try:
        if not try_lock(descriptor):
            return _signed(path)
        unlock(descriptor)
        return ""
    finally:
        os.close(descriptor)


def _signed(path: Path) -> str:
    """The process that signed the lock last."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):  # no reason to fail
        known = json.loads(path.read_text(encoding="utf-8"))
        return f"Process {known['pid']} ({known['program']}, for {int(time.time()) - known['since']} s)"
    return "Another process"


def _sign(descriptor: int) -> None:
    """Note who holds the lock: a courtesy, and on a full disk the lock itself still holds."""
    path = Path(sys.argv[0])
    program = path.parent.name if path.name == "__main__.py" else path.name
    holder = {"pid": os.getpid(), "program": program, "since": int(time.time())}
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(holder).encode())
