"""One heap for all threads, for processes with a ceiling on memory.

tantivy writes with threads that live for one commit. The allocator of Linux gives each thread a heap of its own and
keeps what such a heap once held: after some commits, memory that nobody uses is a multiple of what anybody does.
"""

import sys
from contextlib import suppress

__all__ = ["share_heap"]

_TRIM_THRESHOLD, _ARENA_MAX = -1, -8  # the numbers of <malloc.h>
_KEPT = 128 << 10


def share_heap() -> bool:
    """Let all threads use the same heap, and give back what is free at its end; whether this system can do that."""
    if sys.platform != "linux":
        return False
    import ctypes  # only a process with a ceiling needs it

    with suppress(OSError, AttributeError):  # another C library has another allocator
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(_ARENA_MAX, 1)) and bool(mallopt(_TRIM_THRESHOLD, _KEPT))
    return False
