"""What the daemon knows of itself: how much memory it has, and how long its log is."""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["bounded_log", "memory"]

_LONGEST_LOG = 1 << 20


def memory() -> int:
    """The bytes that this process has in memory; the most it ever had, where the present cannot be told."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def bounded_log(file: Path, longest: int = _LONGEST_LOG) -> None:
    """Where stderr goes to this file and it has become too long, keep it as the old one and begin a new one."""
    with suppress(OSError):
        if os.fstat(2).st_size <= longest:
            return
        file.replace(file.with_suffix(".log.old"))
        fresh = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(fresh, number)
        os.close(fresh)
