"""How far a long run is: a bar on a terminal, an occasional line elsewhere, nothing when quiet.

All of it goes to stderr. The clock is a parameter, so that tests need not wait.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.session import Session
from dowse.types import Event

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

OnEvent = Callable[[Event], None]

SECONDS_BETWEEN_LINES = 5.0
_LABELS = {"walk": "Looking", "read": "Reading", "store": "Indexing", "embed": "Embedding", "ask": "Asking"}


@contextmanager
def shown(session: Session) -> Iterator[OnEvent]:
    """A place to send events to while they are shown."""
    if session.quiet:
        yield _ignore
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield _Bars(bar)
    else:
        yield Lines(verbose=session.verbose)


def _ignore(event: Event) -> None:
    """Quiet."""


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True, no_color=not terminal.wants_colour(sys.stderr)),
        transient=True,
        redirect_stdout=False,
    )


class Pace:
    """Counts one stage and estimates its rate and what remains."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage = ""
        self._began = 0.0
        self._first = 0

    def at(self, event: Event) -> float:
        """The steps per second of this stage so far; 0 while that is unknown."""
        if event.stage != self._stage:
            self._stage, self._began, self._first = event.stage, self._clock(), event.done
        passed = self._clock() - self._began
        return (event.done - self._first) / passed if passed > 0 else 0.0


class Lines:
    """At most one plain line in a few seconds; with `verbose` also every file."""

    def __init__(self, *, verbose: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._verbose = verbose
        self._clock = clock
        self._pace = Pace(clock)
        self._last = clock()

    def __call__(self, event: Event) -> None:
        """Say where the run is, if it is time to."""
        rate = self._pace.at(event)
        if self._verbose and event.path:
            terminal.talk(f"{event.stage}: {terminal.one_line(event.path)}")
        if event.stage not in _LABELS or self._clock() - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = self._clock()
        total = f" of {event.total:,}" if event.total else ""
        left = f", {_duration((event.total - event.done) / rate)} left" if rate and event.total else ""
        speed = f", {rate:.1f}/s" if rate else ""
        terminal.talk(f"{_LABELS[event.stage]}: {event.done:,}{total}{speed}{left}")


class _Bars:
    """One bar per stage, made when the stage begins."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._pace = Pace()

    def __call__(self, event: Event) -> None:
        if event.stage not in _LABELS:
            return
        rate = self._pace.at(event)
        if event.stage not in self._tasks:
            for task in self._tasks.values():
                self._progress.update(task, visible=False)
            self._tasks[event.stage] = self._progress.add_task(_LABELS[event.stage], total=None, rate="")
        self._progress.update(
            self._tasks[event.stage],
            completed=event.done,
            total=event.total or None,
            rate=f"{rate:.1f}/s" if rate else "",
            visible=True,
        )


def _duration(seconds: float) -> str:
    """As people say it: 45 s, 12 min, 3.5 h."""
    minute, hour = 60, 3600
    if seconds < 2 * minute:
        return f"{seconds:.0f} s"
    return f"{seconds / minute:.0f} min" if seconds < 2 * hour else f"{seconds / hour:.1f} h"
