"""A lock on an open file, which the operating system frees when its holder dies: there is never a stale one."""

import os
import sys

__all__ = ["try_lock", "unlock"]

if sys.platform == "win32":
    import msvcrt

    # Locking is mandatory on Windows: a byte far behind the text keeps what the file says readable.
    _LOCKED_BYTE = 1 << 20

    def try_lock(descriptor: int) -> bool:
        """Lock the file if nobody else has; never waits."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give it back."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock the file if nobody else has; never waits."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give it back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
