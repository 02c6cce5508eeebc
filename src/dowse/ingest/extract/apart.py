"""Work that may crash, hang or eat memory, done in a process of its own.

A parser written in C meets files from anywhere. What nothing can stop inside this process is stopped from
outside: the helper is ended when it takes too much time or memory, and started anew when it is asked again.
Arguments and results travel as JSON: a helper that a hostile file has taken over can answer nonsense, no more.

The helper starts with the first call, serves one call at a time, and ends with this process, or when nothing is
asked of it for a while. Limits on processor time and memory hold where the system offers them (not on Windows);
the limit on time by the clock holds everywhere.
"""

import atexit
import json
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from threading import Lock, Timer
from typing import IO, Any

__all__ = ["Apart", "LostError"]

_LENGTH = struct.Struct("<Q")
_IDLE_SECONDS = 60
_START = "import json, sys; sys.path[:], *given = json.loads(sys.argv[1]); from {} import serve; serve(*given)"


class LostError(Exception):
    """The helper crashed or went beyond its limits, and there is no result."""


class Apart:
    """A function that runs in a helper process."""

    def __init__(self, function: str, *, cpu_seconds: float, clock_seconds: float, memory: int) -> None:
        """Name the function as `module:function`; the limits are those of one call, and bytes of the process."""
        self._given = (function, cpu_seconds, memory)
        self._clock_seconds = clock_seconds
        self._lock = Lock()
        self._helper: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._asked = 0.0

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises:
            LostError: there is no result, and there would be none the next time.
        """
        question = json.dumps(arguments).encode()
        with self._lock:
            helper = self._running()
            timer = Timer(self._clock_seconds, helper.kill)
            timer.daemon = True
            timer.start()
            try:
                answer = _exchange(helper, question)
            finally:
                timer.cancel()
            if answer is None:
                self._end()
                raise LostError("The helper process is lost.")
            self._asked = time.monotonic()
            return json.loads(answer)

    def close(self) -> None:
        """End the helper; the next call starts another one."""
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        """The helper, started if there is none, or only that of the process that this one was forked from."""
        if self._owner != os.getpid():
            self._helper, self._owner = None, os.getpid()
        # One that is about to end by itself might do so while it is asked.
        is_tired = time.monotonic() - self._asked > _IDLE_SECONDS / 2
        if self._helper and (is_tired or self._helper.poll() is not None):
            self._end()
        if self._helper is None:
            try:
                self._helper = subprocess.Popen(  # noqa: S603 - our own module, in this interpreter
                    [sys.executable, "-c", _START.format(__name__), json.dumps([sys.path, *self._given])],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            except OSError as error:
                raise LostError("No helper process can be started.") from error
            atexit.register(self.close)
        return self._helper

    def _end(self) -> None:
        helper, self._helper = self._helper, None
        if helper and self._owner == os.getpid():
            atexit.unregister(self.close)
            helper.kill()
            with suppress(OSError):
                helper.communicate()


def _exchange(helper: subprocess.Popen[bytes], question: bytes) -> bytes | None:
    if helper.stdin is None or helper.stdout is None:
        return None
    try:
        _send(helper.stdin, question)
        return _receive(helper.stdout)
    except OSError:
        return None


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """One message, None when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def serve(function: str, cpu_seconds: float, memory: int) -> None:
    """What the helper does until its end."""
    # What a library prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = function.partition(":")
    work = getattr(import_module(module), name)
    _limit_memory(memory)
    while True:
        _set_alarm(_IDLE_SECONDS)
        question = _receive(sys.stdin.buffer)
        _set_alarm(0)
        if question is None:
            return
        _set_cpu_limit(cpu_seconds)
        answer = json.dumps(work(*json.loads(question))).encode()
        _set_cpu_limit(0)
        _send(answers, answer)


def _limit_memory(memory: int) -> None:
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _set_alarm(seconds: int) -> None:
    """End this process after so many seconds: nobody handles the signal. 0 takes it back."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _set_cpu_limit(seconds: float) -> None:
    """The same, by this process's own processor time."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
