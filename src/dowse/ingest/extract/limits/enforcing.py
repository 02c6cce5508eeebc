"""How a process ends itself when one file takes more than it may: by the system where it can, else by a thread.

The system needs nobody's help: a signal that nobody handles ends a process in the middle of C code as well. Where
it offers no such limits (memory on macOS, everything on Windows), a thread looks at the process ten times a second;
it has to wait for C code that lets no other thread run, which then only the limit by the clock stops, from outside.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from threading import Event, Thread

__all__ = ["ENFORCERS", "EXIT_MEMORY", "EXIT_TIME", "NEEDED", "memory_held"]

EXIT_TIME = 81
EXIT_MEMORY = 82
_LOOK_SECONDS = 0.1


if sys.platform == "win32":

    def memory_held() -> int:
        """How many bytes of memory this process held at most; 0 where that cannot be found out."""
        import ctypes
        from ctypes import wintypes

        class Counters(ctypes.Structure):
            """PROCESS_MEMORY_COUNTERS."""

            _fields_ = (
                ("cb", wintypes.DWORD),
                ("PageFaultCount", wintypes.DWORD),
                ("PeakWorkingSetSize", ctypes.c_size_t),
                ("rest", ctypes.c_size_t * 7),
            )

        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        kernel.K32GetProcessMemoryInfo.argtypes = (wintypes.HANDLE, ctypes.POINTER(Counters), wintypes.DWORD)
        counters = Counters(ctypes.sizeof(Counters))
        kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
        return int(counters.PeakWorkingSetSize)

else:
    import resource

    def memory_held() -> int:
        """How many bytes of memory this process holds, or held at most; 0 where that cannot be found out."""
        try:
            with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - nothing else here needs pathlib
                numbers = file.read()
        except OSError:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # which on macOS is in bytes
        # Linux has that number too, but counts what the process that started this one held.
        return int(numbers.split()[1]) * resource.getpagesize()

    @cache
    def _prepare() -> None:
        """Undo what keeps signals from ending this process, and keep it from leaving its memory in a file then."""
        ending = {signal.SIGPROF, signal.SIGALRM}
        for each in ending:
            signal.signal(each, signal.SIG_DFL)  # a process inherits what is ignored and what is blocked
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ending)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    @contextmanager
    def _by_system(seconds: float, clock_seconds: float, memory: int) -> Iterator[None]:
        """Timers that end the process, and a bound on its address space, at which Python raises MemoryError."""
        _prepare()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        allowed = memory if soft == resource.RLIM_INFINITY else min(memory, soft)
        with suppress(OSError, ValueError):  # macOS knows the name of this limit and no more
            resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, clock_seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _by_thread(seconds: float, clock_seconds: float, memory: int) -> Iterator[None]:
    """A thread for the time of one file; the process ends with a code that says why."""
    is_done = Event()
    late_at, late_by_clock_at = time.process_time() + seconds, time.monotonic() + clock_seconds

    def look() -> None:
        while not is_done.wait(_LOOK_SECONDS):
            if time.process_time() > late_at or time.monotonic() > late_by_clock_at:
                os._exit(EXIT_TIME)
            if memory_held() > memory:
                os._exit(EXIT_MEMORY)

    Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        is_done.set()


Enforcer = Callable[[float, float, int], AbstractContextManager[None]]

ENFORCERS: dict[str, Enforcer] = {"thread": _by_thread}
if sys.platform != "win32":
    ENFORCERS["system"] = _by_system

NEEDED = {"linux": ("system",), "win32": ("thread",)}.get(sys.platform, ("system", "thread"))
"""The names of those that it takes here."""
