"""Where the engine's synchronous verbs run: threads, so many per kind, and for look-ups processes beside this one.

What only looks things up never stands behind what asks a model. Look-ups take a few milliseconds of Python, of which
a process runs one at a time: several at once only cost the changes between them. So they go one after the other in
one thread, what stands behind one that takes long goes to others, and what many ask at once to deputies.
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

from dowse.interfaces.http.deputies import Deputies, Errand
from dowse.interfaces.http.errors import RequestTimeoutError
from dowse.interfaces.mcp.dialect import Lane

__all__ = ["Lanes"]

_THREADS: Mapping[Lane, tuple[int, int]] = {"quick": (1, 2), "model": (2, 0), "write": (2, 0)}
"""How many threads a lane has, and how many more for what stands behind a call that takes long."""
_LONG = 0.2
"""Seconds after which a call is taken to wait for something, or to go on for a while."""


class Lanes:
    """Only the event loop calls it. A call that takes too long keeps its place until it ends."""

    def __init__(self, deputies: Deputies | None = None) -> None:
        self._deputies = deputies
        self._lanes = {
            name: _Lane(name, *threads, deputies if name == "quick" else None) for name, threads in _THREADS.items()
        }

    @property
    def helpers(self) -> int:
        """How many processes help at present."""
        return self._deputies.count if self._deputies else 0

    async def run(
        self,
        lane: Lane,
        seconds: float,
        function: Callable[..., Any],
        *arguments: object,
        errand: Errand | None = None,
    ) -> Any:
        """The function's value, or that of the errand, which stands for the same.

        Raises:
            RequestTimeoutError: it took longer than that.
        """
        answer = self._lanes[lane].submit(partial(function, *arguments), errand)
        done, _ = await asyncio.wait([answer], timeout=seconds)
        if done:
            return answer.result()
        answer.cancel()
        raise RequestTimeoutError(
            f"The answer took longer than {seconds:g} seconds.", hint="Ask for less, or start it as a job."
        )

    async def close(self) -> None:
        """Let the threads end with what they do, and the deputies at once."""
        for lane in self._lanes.values():
            lane.close()
        if self._deputies is not None:
            await self._deputies.close()


@dataclass(eq=False, slots=True)
class _Call:
    """What somebody waits for."""

    function: Callable[[], Any]
    answer: "asyncio.Future[Any]"
    errand: Errand | None
    begun: float | None = None
    in_thread: "Future[Any] | None" = None

    def __call__(self) -> Any:
        self.begun = time.monotonic()
        return self.function()


class _Lane:
    """The places for one kind of calls, and those that wait for one."""

    def __init__(self, name: str, usual: int, more: int, deputies: Deputies | None) -> None:
        self._pool = ThreadPoolExecutor(usual, f"dowse-{name}")
        self._more = ThreadPoolExecutor(more, f"dowse-more-{name}") if more else None
        self._usual, self._most_beyond = usual, more
        self._beyond = 0  # calls of the further threads
        self._waiting: deque[_Call] = deque()
        self._calls: deque[_Call] = deque()  # of the usual threads, in their order
        self._look: asyncio.TimerHandle | None = None
        self._deputies = deputies
        if deputies is not None:
            deputies.on_room = self._go_on

    def submit(self, function: Callable[[], Any], errand: Errand | None) -> "asyncio.Future[Any]":
        call = _Call(function, asyncio.get_running_loop().create_future(), errand)
        self._waiting.append(call)
        self._go_on()
        return call.answer

    def close(self) -> None:
        for pool in filter(None, (self._pool, self._more)):
            pool.shutdown(wait=False, cancel_futures=True)

    def _go_on(self) -> None:
        """Give what waits to whoever has room, first come, first served."""
        while self._waiting and self._has_begun(self._waiting[0]):
            self._waiting.popleft()
        if self._waiting and self._deputies is not None:
            self._deputies.look_at(sum(call.errand is not None for call in self._waiting))
        if self._more is not None and self._look is None and (self._waiting or len(self._calls) > self._usual):
            self._look = asyncio.get_running_loop().call_later(_LONG, self._make_way)

    def _has_begun(self, call: _Call) -> bool:
        """Whether it need not wait any more."""
        if call.answer.done():
            return True  # nobody wants it any more
        if self._deputies is not None and call.errand is not None:
            again = partial(self._again, call)
            if self._deputies.send(call.errand, call.answer, again):
                return True
        if self._more is not None and self._beyond < self._most_beyond and self._is_held_up():
            self._beyond += 1
            self._start(call, self._more)
            return True
        if len(self._calls) <= self._usual:  # one more than can run: it begins as soon as another ends
            self._calls.append(call)
            self._start(call, self._pool)
            return True
        return False

    def _again(self, call: _Call) -> None:
        """Have a call done here that a deputy did not live to answer."""
        call.errand = None
        self._waiting.appendleft(call)

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
        if call in self._calls:
            self._calls.remove(call)
        else:
            self._beyond -= 1
        if not call.answer.done():
            if error := running.exception():
                call.answer.set_exception(error)
            else:
                call.answer.set_result(running.result())
        self._go_on()

    def _is_held_up(self) -> bool:
        """Whether every usual thread is at a call that takes long."""
        now = time.monotonic()
        long = [call for call in self._calls if call.begun and now - call.begun > _LONG]
        return len(long) >= self._usual

    def _make_way(self) -> None:
        """Let what is held up go on elsewhere."""
        self._look = None
        if self._more is not None and self._is_held_up():
            for call in list(self._calls):
                if call.in_thread is not None and call.in_thread.cancel():
                    self._calls.remove(call)
                    self._waiting.appendleft(call)
        self._go_on()
