"""`watch`: keep the index up to date while files change, until stopped."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from dowse.interfaces import wire
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session, Stopped
from dowse.types import IndexReport

if TYPE_CHECKING:
    from dowse.ingest.watch.state import WatchStatus
    from dowse.ingest.watch.watcher import Batch

_COUNTS = ("added", "changed", "moved", "removed")


class _Terminated(KeyboardInterrupt):
    """Somebody asked the process to end, in good order."""


@dataclass
class _Ending:
    """Whether somebody asked for it: Python drops what a handler raises where nobody can catch it."""

    is_asked_for: bool = False


@click.command(cls=Command)
@click.option("-c", "--collection", "names", multiple=True, metavar="NAME", help="Only this one (repeatable).")
@click.option("--poll", is_flag=True, help="Look at the folders again and again instead of being told of changes.")
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@json_option
@click.pass_obj
def watch(session: Session, names: Sequence[str], *, poll: bool, no_embed: bool, as_json: bool) -> None:
    """Keep the index up to date while files change.

    It first catches up, then follows every folder until Ctrl-C, which is safe at any time. Folders on network drives
    are polled. With --json, every batch is one line of JSON.
    """
    show = _as_json if as_json else _as_text(session)
    try:
        with session.engine() as engine, _ending_on_signals() as ending:
            watcher = engine.watcher(names, poll=poll, embed=not no_embed, on_batch=show)
            session.say("Watching. Stop with Ctrl-C.")
            watcher.run(lambda: ending.is_asked_for)
        session.say("Ended.")
    except _Terminated:
        session.say("Ended.")
    except KeyboardInterrupt as stop:
        raise Stopped("Stopped. Nothing is lost: catch up and go on with `dowse watch`.") from stop


def watch_line(status: "WatchStatus") -> str:
    """What `status` says of the watcher; empty where there is none and never was."""
    since = _moment(status.since)
    if status.state == "off":
        return ""
    if status.state == "died":
        return f"Watched:     no: the watcher that ran since {since} is gone (process {status.pid}): dowse watch"
    how = ", ".join(name if way == "events" else f"{name} ({way})" for name, way in status.collections.items())
    problems = "; ".join(status.problems.values())
    said = f"; {problems}" if problems else ""
    return terminal.one_line(f"Watched:     {how or 'nothing yet'}, by process {status.pid} since {since}{said}")


def _as_json(batch: "Batch") -> None:
    """A line of ASCII, so that nothing in it can break a line, a terminal or an encoding."""
    made: dict[str, Any] = wire.index_report(batch.report) if batch.report else {"collection": batch.collection or None}
    made |= {"seconds": round(batch.seconds, 3), "whole": batch.is_whole, "embedded": batch.embedded}
    terminal.emit(json.dumps(made | {"problem": batch.problem or None}))
    terminal.flush()


def _as_text(session: Session) -> Callable[["Batch"], None]:
    """One line per batch on stderr; a look at everything that found nothing is news only the first time."""
    caught_up: set[str] = set()
    problems: dict[str, str] = {}

    def show(batch: "Batch") -> None:
        is_known = bool(batch.problem) and problems.get(batch.collection) == batch.problem
        problems[batch.collection] = batch.problem
        line = "" if is_known else _line(batch)
        if batch.is_whole and batch.collection not in caught_up:
            caught_up.add(batch.collection)
            line = line or f"{batch.collection}: up to date in {batch.seconds:.2f} s"
        if line or session.verbose:
            session.say(terminal.one_line(f"{time.strftime('%H:%M:%S')} {line or f'{batch.collection}: no change'}"))
        if batch.report is not None and not batch.is_whole:
            for entry in batch.report.failed:
                session.say(terminal.one_line(f"failed: {entry.collection}/{entry.path}: {entry.reason} {entry.hint}"))

    return show


def _line(batch: "Batch") -> str:
    """What a batch did in words; empty when it changed nothing."""
    if batch.problem:
        return f"{batch.collection}: {batch.problem}" if batch.collection else batch.problem
    if batch.embedded:
        return f"embedded {terminal.counted(batch.embedded, 'passage')}"
    counts = _counts(batch.report) if batch.report else ""
    return f"{batch.collection}: {counts} in {batch.seconds:.2f} s" if counts else ""


def _counts(report: IndexReport) -> str:
    done = [f"{getattr(report, what):,} {what}" for what in _COUNTS if getattr(report, what)]
    return ", ".join([*done, f"{len(report.failed):,} failed"] if done and report.failed else done)


def _moment(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(milliseconds / 1000))


@contextmanager
def _ending_on_signals() -> Iterator[_Ending]:
    """Let a request to end, or the end of the terminal, stop the watcher as Ctrl-C does."""
    ending = _Ending()

    def end(_number: int, _frame: FrameType | None) -> None:
        ending.is_asked_for = True
        raise _Terminated

    def dropped(what: "sys.UnraisableHookArgs") -> None:
        if not isinstance(what.exc_value, _Terminated):  # this one is noted
            tell_of_dropped(what)

    chosen = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        chosen = []  # signals belong to the main thread
    before = {number: signal.signal(number, end) for number in chosen}
    tell_of_dropped, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        yield ending
    finally:
        sys.unraisablehook = tell_of_dropped
        for number, handler in before.items():
            signal.signal(number, handler)
