"""Processes that look things up for a server that has more to do than one process can.

Python runs one thing at a time in a process, whatever the number of cores. As soon as look-ups wait for one another,
a deputy is started: a process of this program with the same index, which is sent what is asked and sends back what
is to be said. It is told nothing else and keeps nothing, so that whatever it dies of costs only the work under way,
which is done again. It ends when nobody needed it for a while, or when the server is gone.
"""

import asyncio
import os
import pickle
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dowse.config import Config
from dowse.errors import DowseError
from dowse.interfaces.http.rows import Asked, Row
from dowse.interfaces.mcp.dialect import Arguments
from dowse.records import record

if TYPE_CHECKING:
    from dowse.interfaces.http.making import Made

__all__ = ["FRAME", "Deputies", "Errand", "usual_number"]

FRAME = struct.Struct(">I")
"""Before each message, in both directions: its length."""
_AT_ONCE = 2  # errands that a deputy has: the next one is there when one is done
_QUEUE = 2  # look-ups that wait, from which on another deputy is worth its memory
_IDLE_SECONDS = 120.0
_MOST_DEATHS = 3  # after these, something is wrong that a further one would not mend
_MOST_USUAL = 4


def usual_number() -> int:
    """One for each core but the one that the server itself is busy on."""
    return max(0, min(_MOST_USUAL, (os.cpu_count() or 1) - 1))


@record
class Errand:
    """One request for a row that may be answered elsewhere."""

    row: str
    arguments: Arguments
    collections: frozenset[str] | None
    settings: Mapping[str, str]
    request_id: str
    started: float
    """By a clock that all processes of a machine share."""

    @classmethod
    def of(cls, row: Row, asked: Asked) -> "Errand":
        """What of a request counts there."""
        return cls(row.name, asked.arguments, asked.access.collections, asked.settings, asked.request_id, asked.started)


class Deputies:
    """Those of one server. Only its event loop calls this."""

    def __init__(self, config: Config, most: int) -> None:
        self._config = config
        self._most = most
        self._ready: list[_Deputy] = []
        self._lives: set[asyncio.Task[None]] = set()
        self._is_starting = False
        self._deaths = 0
        self.on_room: Callable[[], None] = lambda: None
        """Called when one has come, has gone, or can take another errand."""

    @property
    def count(self) -> int:
        """How many can be sent."""
        return len(self._ready)

    def send(self, errand: Errand, answer: "asyncio.Future[Any]", undone: Callable[[], None]) -> bool:
        """Have it done by whoever has the least to do; False where nobody has room. `undone`: that one died."""
        deputy = min(self._ready, key=lambda each: len(each.errands), default=None)
        if deputy is None or len(deputy.errands) >= _AT_ONCE:
            return False
        deputy.send(errand, answer, undone)
        return True

    def look_at(self, waiting: int) -> None:
        """Start one more where so many wait that it is worth it."""
        if waiting >= _QUEUE and self.count < self._most and not self._is_starting:
            self._is_starting = True
            life = asyncio.get_running_loop().create_task(self._live())
            self._lives.add(life)
            life.add_done_callback(self._lives.discard)

    async def close(self) -> None:
        """End all of them: they only read."""
        self._most = 0
        for life in self._lives:
            life.cancel()
        await asyncio.gather(*self._lives, return_exceptions=True)

    async def _live(self) -> None:
        """One deputy, from its start to its end."""
        try:
            # `-P`: nothing in the folder that the server happens to stand in is imported.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "dowse.interfaces.http.deputy"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError:
            self._most = 0  # this machine starts no further process
            return
        deputy = _Deputy(process, self._config)
        try:
            await deputy.hear()  # that it is ready
            self._ready.append(deputy)
            self._is_starting = False
            deputy.used = time.monotonic()
            self._send_home_when_idle(deputy)
            while True:
                self.on_room()
                await deputy.hear_answer()
        except (asyncio.IncompleteReadError, ConnectionError):
            self._deaths += not deputy.is_dismissed
        finally:
            self._is_starting = False
            self._part_with(deputy)
            if self._deaths >= _MOST_DEATHS:
                self._most = 0
            for _, undone in deputy.errands:
                undone()
            with suppress(ProcessLookupError):
                process.kill()
            self.on_room()
            await process.wait()

    def _part_with(self, deputy: "_Deputy") -> None:
        if deputy in self._ready:
            self._ready.remove(deputy)
        deputy.dismiss()

    def _send_home_when_idle(self, deputy: "_Deputy") -> None:
        """Look again and again whether somebody needed it meanwhile."""
        if deputy not in self._ready:
            return
        if time.monotonic() - deputy.used < _IDLE_SECONDS or deputy.errands:
            asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._send_home_when_idle, deputy)
        else:
            self._part_with(deputy)


class _Deputy:
    """One process, from here."""

    def __init__(self, process: asyncio.subprocess.Process, config: Config) -> None:
        assert process.stdin  # noqa: S101  # asked for
        assert process.stdout  # noqa: S101  # the same
        self._to, self._from = process.stdin, process.stdout
        self.is_dismissed = False
        self.errands: deque[tuple[asyncio.Future[Any], Callable[[], None]]] = deque()
        self.used = time.monotonic()
        self._write(config)

    def send(self, errand: Errand, answer: "asyncio.Future[Any]", undone: Callable[[], None]) -> None:
        self.errands.append((answer, undone))
        self.used = time.monotonic()
        self._write(errand)

    async def hear(self) -> Any:
        (length,) = FRAME.unpack(await self._from.readexactly(FRAME.size))
        return pickle.loads(await self._from.readexactly(length))  # noqa: S301 - from a process of our own

    async def hear_answer(self) -> None:
        said: Made | DowseError = await self.hear()
        answer, _ = self.errands.popleft()
        if answer.done():
            return  # nobody waits any more
        if isinstance(said, DowseError):
            answer.set_exception(said)
        else:
            answer.set_result(said)

    def dismiss(self) -> None:
        """It ends when it has read everything."""
        self.is_dismissed = True
        self._to.close()

    def _write(self, message: object) -> None:
        data = pickle.dumps(message)
        self._to.write(FRAME.pack(len(data)) + data)
