"""The process that reads files, from the outside: started when it is first needed, asked, watched, ended.

It serves one question at a time, and ends with this process, or when nothing is asked of it for a while. Whatever
it does wrong costs the file that it was asked about, and no other: the next question goes to a new process.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any, cast

from dowse.ingest.extract.limits.enforcing import EXIT_MEMORY, EXIT_TIME, NEEDED
from dowse.ingest.extract.limits.packing import NonsenseError, encode, receive, send
from dowse.ingest.extract.limits.terms import Cause, Limits, LostError

if TYPE_CHECKING:
    from io import RawIOBase

__all__ = ["Helper"]

_IDLE_SECONDS = 60.0
_START_SECONDS = 60.0
_WORN_SHARE = 4
"""A process that has grown to this part of its limit is not asked again: what it holds would count for other files."""
_END_SECONDS = 5.0
_LONGEST_GREETING = 1 << 10
_SERVING = "dowse.ingest.extract.limits.serving"
# Isolated: a folder that is indexed may hold a `json.py`, and Python would take it from the current folder.
_START = f"import json, sys; sys.path[:], *given = json.loads(sys.argv[1]); from {_SERVING} import serve; serve(*given)"

_CAUSES: dict[int, Cause] = {
    EXIT_TIME: "time",
    EXIT_MEMORY: "memory",
    **{-getattr(signal, name): "time" for name in ("SIGPROF", "SIGALRM") if hasattr(signal, name)},
}
"""By the code that the process ended with."""


class Helper:
    """A process that is there when it is asked. Threads take turns."""

    def __init__(
        self, function: str, *, idle_seconds: float = _IDLE_SECONDS, enforcers: tuple[str, ...] = NEEDED
    ) -> None:
        """Name the function that reads as `module:function`."""
        self._given = (function, enforcers)
        self._idle_seconds = idle_seconds
        self._turn = Lock()
        self._process: _Process | None = None
        self._owner = os.getpid()

    def ask(self, media_type: str, name: str, data: bytes, limits: Limits) -> tuple[str, Any, bytes]:
        """What the function makes of a file: the kind of the answer, its value, and the text.

        Raises:
            LostError: there is no answer, and a new process would have none either.
        """
        self._leave_to_owner()
        question = encode((media_type, name, limits.seconds, limits.clock_seconds, limits.memory))
        with self._turn:
            process = self._running()
            was_new = not process.has_answered
            try:
                return process.ask(question, data, limits)
            except LostError as lost:
                # Others may have left it damaged, or it may just have ended: what is said of a file must
                # not depend on the files before it.
                if was_new or lost.cause == "time":
                    raise
            return self._running().ask(question, data, limits)

    def close(self) -> None:
        """End the process; the next question starts another one."""
        self._leave_to_owner()
        with self._turn:
            if self._process:
                self._process.end()

    def _running(self) -> "_Process":
        if self._process is None or self._process.is_over:
            self._process = _Process(self._given, self._idle_seconds)
            atexit.unregister(self.close)
            atexit.register(self.close)
        return self._process

    def _leave_to_owner(self) -> None:
        """In a copy of the process that started it: that one goes on asking, so this one needs its own."""
        if self._owner != os.getpid():
            inherited, self._process = self._process, None
            self._turn, self._owner = Lock(), os.getpid()
            if inherited:
                inherited.leave()


class _Process:
    """One process from its start to its end."""

    def __init__(self, given: tuple[str, tuple[str, ...]], idle_seconds: float) -> None:
        self.has_answered = False
        self.is_over = False
        self._idle_seconds = idle_seconds
        self._is_busy = True
        self._is_late = False
        self._changed = Condition()
        self._deadline = self._looked_at = time.monotonic() + _START_SECONDS
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - our own module, in this interpreter
                [sys.executable or "", "-I", "-c", _START, json.dumps([sys.path, *given])],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise LostError("start", error.strerror or str(error)) from error
        self._questions = cast("RawIOBase", self._popen.stdin)
        self._answers = cast("RawIOBase", self._popen.stdout)
        try:
            Thread(target=self._watch, name="dowse extraction watch", daemon=True).start()
        except RuntimeError as error:  # there are too many threads
            self.end()
            raise LostError("start", str(error)) from error
        self._exchange(None, b"", _LONGEST_GREETING)

    def ask(self, question: bytes, data: bytes, limits: Limits) -> tuple[str, Any, bytes]:
        """Send a question and wait for its answer, or for the end of this process."""
        if not self._set_deadline(limits.clock_seconds, is_busy=True):
            self.end()
            raise LostError("crash")
        answer, text = self._exchange(question, data, limits.memory)
        try:
            kind, value, held = answer
            is_worn = held * _WORN_SHARE > limits.memory
        except (TypeError, ValueError):
            raise self._nonsense() from None
        if kind == "memory":
            self.end()
            raise LostError("memory")
        self.has_answered = True
        if is_worn or not self._set_deadline(self._idle_seconds, is_busy=False):
            self.end()
        return kind, value, text

    def end(self) -> None:
        """End it in any state, and leave nothing of it behind."""
        with self._changed:
            self.is_over = True
            self._changed.notify()
        self._popen.kill()
        self._popen.wait()
        self._questions.close()
        self._answers.close()

    def leave(self) -> None:
        """Let go of it without a word to it: another process owns it."""
        self.is_over = True
        self._popen.returncode = 0
        self._questions.close()
        self._answers.close()

    def _exchange(self, question: bytes | None, data: bytes, most: int) -> tuple[Any, bytes]:
        try:
            with suppress(OSError):  # nobody reads: then there is no answer either
                if question is not None:
                    send(self._questions, question, data)
            answer = receive(self._answers, most)
        except NonsenseError as error:
            raise self._nonsense() from error
        except BaseException:
            self.end()  # half a question or half an answer is on its way
            raise
        if answer is None:
            raise self._lost(is_starting=question is None)
        return answer

    def _nonsense(self) -> LostError:
        self.end()
        return LostError("crash", "its answer made no sense")

    def _lost(self, *, is_starting: bool) -> LostError:
        """Why there is no answer."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_SECONDS)  # its answers ended, so it is about to
        code = self._popen.poll()
        self.end()
        detail = "it does not end" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                detail = signal.Signals(-code).name
        if is_starting:
            return LostError("start", detail)
        return LostError("time" if self._is_late else _CAUSES.get(code or 0, "crash"), detail)

    def _set_deadline(self, seconds: float, *, is_busy: bool) -> bool:
        """By when it must have answered, or been asked; False when it is too late for that."""
        with self._changed:
            if self.is_over or self._is_late:
                return False
            self._is_busy = is_busy
            self._deadline = time.monotonic() + seconds
            if self._deadline < self._looked_at:
                self._changed.notify()
            return True

    def _watch(self) -> None:
        """End it when it is late. This thread sleeps from one deadline to the next, not from question to question."""
        with self._changed:
            while not self.is_over and (left := self._deadline - time.monotonic()) > 0:
                self._looked_at = self._deadline
                self._changed.wait(left)
            if self.is_over:
                return
            self._is_late = True
        if self._is_busy:
            self._popen.kill()  # whoever waits for its answer sees to the rest
        else:
            self.end()
