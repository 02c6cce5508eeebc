"""The threads that the engine's synchronous verbs run in, so many per kind.

What only looks things up never stands behind what asks a model. Look-ups take a few milliseconds of Python, of which
a process runs one at a time: several at once only cost the changes between them. So they go one after the other in
one thread, and what stands behind one that takes long goes to others.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from dowse.interfaces.http.errors import RequestTimeoutError
from dowse.interfaces.mcp.dialect import Lane

__all__ = ["Lanes"]

_THREADS: Mapping[Lane, tuple[int, int]] = {"quick": (1, 2), "model": (2, 0), "write": (2, 0)}
"""How many threads a lane has, and how many more for what stands behind a call that takes long."""
_LONG = 0.2
"""Seconds after which a call is taken to wait for something, or to go on for a while."""


class Lanes:
    """Only the event loop calls it. A call that takes too long keeps its thread until it ends."""

    def __init__(self) -> None:
        self._lanes = {name: _Lane(name, *threads) for name, threads in _THREADS.items()}

    async def run(self, lane: Lane, seconds: float, function: Callable[..., Any], *arguments: object) -> Any:
        """The function's value.

        Raises:
            RequestTimeoutError: it took longer than that.
        """
        future = self._lanes[lane].submit(partial(function, *arguments))
        done, _ = await asyncio.wait([future], timeout=seconds)
        if done:
            return future.result()
        future.cancel()
        raise RequestTimeoutError(
            f"The answer took longer than {seconds:g} seconds.", hint="Ask for less, or start it as a job."
        )

    def close(self) -> None:
        """Let the threads end with what they do."""
        for lane in self._lanes.values():
            lane.close()


@dataclass(eq=False, slots=True)
class _Call:
    """What somebody waits for."""

    function: Callable[[], Any]
    answer: "asyncio.Future[Any]"
    begun: float | None = None
    in_thread: "Future[Any] | None" = None

    def __call__(self) -> Any:
        self.begun = time.monotonic()
        return self.function()


class _Lane:
    """Threads for one kind of calls."""

    def __init__(self, name: str, usual: int, more: int) -> None:
        self._pool = ThreadPoolExecutor(usual, f"dowse-{name}")
        self._more = ThreadPoolExecutor(more, f"dowse-more-{name}") if more else None
        self._usual = usual
        self._calls: deque[_Call] = deque()  # of the usual threads, in their order
        self._look: asyncio.TimerHandle | None = None

    def submit(self, function: Callable[[], Any]) -> "asyncio.Future[Any]":
        call = _Call(function, asyncio.get_running_loop().create_future())
        if self._more is not None and self._is_held_up():
            self._start(call, self._more)
        else:
            self._calls.append(call)
            self._start(call, self._pool)
            self._look_later()
        return call.answer

    def close(self) -> None:
        for pool in filter(None, (self._pool, self._more)):
            pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, call: _Call, pool: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        running = call.in_thread = pool.submit(call)

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # a call may outlive the loop that nobody waits in any more
                loop.call_soon_threadsafe(self._ended, call, running)

        running.add_done_callback(tell)

    def _ended(self, call: _Call, running: "Future[Any]") -> None:
        if running.cancelled():
            return
        if not call.answer.done():
            if error := running.exception():
                call.answer.set_exception(error)
            else:
                call.answer.set_result(running.result())

    def _is_held_up(self) -> bool:
        """Whether every usual thread is at a call that takes long."""
        while self._calls and self._calls[0].in_thread is not None and self._calls[0].in_thread.done():
            self._calls.popleft()
        first = list(self._calls)[: self._usual]
        now = time.monotonic()
        return len(first) == self._usual and all(call.begun and now - call.begun > _LONG for call in first)

    def _look_later(self) -> None:
        if self._more is not None and self._look is None and len(self._calls) > self._usual:
            self._look = asyncio.get_running_loop().call_later(_LONG, self._make_way)

    def _make_way(self) -> None:
        """Let what is held up go on elsewhere."""
        self._look = None
        if self._is_held_up() and self._more is not None:
            for call in list(self._calls)[self._usual :]:
                if call.in_thread is not None and call.in_thread.cancel():
                    self._calls.remove(call)
                    self._start(call, self._more)
        self._look_later()
