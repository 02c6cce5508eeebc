"""`update` and `embed`, and the run behind them that `collection add` shares: words first, then vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import click

from dowse.errors import ConflictError
from dowse.interfaces import wire
from dowse.interfaces.cli import progress, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session, Stopped
from dowse.types import EmbedReport, IndexReport, LedgerEntry, StoreStats

if TYPE_CHECKING:
    from dowse.engine import Engine

_FAILURES_SHOWN = 10


@click.command(cls=Command)
@click.option("-c", "--collection", "names", multiple=True, metavar="NAME", help="Only this one (repeatable).")
@click.option("--prune", is_flag=True, help="Also delete what the mass-delete guard would keep.")
@click.option("--retry", is_flag=True, help="Try files again that took too long, or had no text in them.")
@click.option("--urls", is_flag=True, help="Also ask the web whether ingested addresses have changed.")
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@json_option
@click.pass_obj
def update(session: Session, /, names: Sequence[str], *, no_embed: bool, as_json: bool, **how: bool) -> None:
    """Bring the index up to date with its folders and files.

    Words first, then vectors. Ctrl-C is safe at any time.
    """
    with session.engine() as engine:
        chosen = names or [each.collection.name for each in engine.collections()]
        if not chosen:
            session.say("There is nothing to update yet. Add a folder: dowse collection add PATH")
        bring_up_to_date(session, engine, chosen, embed=not no_embed, as_json=as_json, **how)


@click.command(cls=Command)
@click.option("--force", is_flag=True, help="Make all of them anew; those of another model answer until that is done.")
@json_option
@click.pass_obj
def embed(session: Session, *, force: bool, as_json: bool) -> None:
    """Make the vectors that are still missing.

    Stop it at any time: it goes on where it was.
    """
    with session.engine() as engine:
        report = make_vectors(session, engine, force=force)
    terminal.emit(wire.dumps(wire.embed_report(report)) if as_json else _embed_line(report))


def bring_up_to_date(
    session: Session,
    engine: "Engine",
    names: Sequence[str],
    *,
    embed: bool,
    as_json: bool = False,
    **how: bool,
) -> None:
    """Index these collections for words, say so, then embed what lacks a vector; print what was done."""
    reports = [_index(session, engine, name, as_json=as_json, **how) for name in names]
    stats = engine.stats()
    count = sum(each.documents for each in stats.collections if each.collection.name in names)
    session.say(f"{terminal.counted(count, 'document')} {'is' if count == 1 else 'are'} searchable by words.")
    made = None
    if embed and lacks_vectors(stats):
        made = make_vectors(session, engine)
        if not as_json:
            terminal.emit(_embed_line(made))
    if as_json:
        embedding = wire.embed_report(made) if made else None
        terminal.emit(
            wire.dumps({"collections": [wire.index_report(each) for each in reports], "embedding": embedding})
        )
    _refuse_if_guarded(reports)


def lacks_vectors(stats: StoreStats) -> bool:
    """Whether embedding has anything to do; answered without loading a model."""
    missing = sum(each.unembedded for each in stats.collections)
    return missing > 0 or (stats.model is None and stats.chunks > 0)


def make_vectors(session: Session, engine: "Engine", *, force: bool = False) -> EmbedReport:
    """Embed the backlog with progress."""
    with goes_on_with("dowse embed"), progress.shown(session) as on_event:
        return engine.embed(on_event=on_event, force=force)


def _index(
    session: Session,
    engine: "Engine",
    name: str,
    *,
    as_json: bool,
    prune: bool = False,
    retry: bool = False,
    urls: bool = False,
) -> IndexReport:
    with goes_on_with("dowse update"), progress.shown(session) as on_event:
        web: Literal["ask anywhere", "leave"] = "ask anywhere" if urls else "leave"
        report = engine.index(name, on_event=on_event, prune=prune, retry=retry, web=web)
    if not as_json:
        terminal.emit(_index_line(report))
    tell_refused(session, "failed", report.failed)
    if session.verbose:
        tell_refused(session, "skipped", report.skipped)
    return report


@contextmanager
def goes_on_with(command: str) -> Iterator[None]:
    """Turn Ctrl-C into the sentence that says how to resume."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Stopped(f"Stopped. Nothing is lost: go on with `{command}`.") from stop


def tell_refused(session: Session, what: str, entries: Sequence[LedgerEntry]) -> None:
    """A line for each of these, as far as they fit on a screen."""
    for entry in entries[:_FAILURES_SHOWN]:
        hint = f" ({entry.hint})" if entry.hint else ""
        session.say(terminal.one_line(f"{what}: {entry.collection}/{entry.path}: {entry.reason}{hint}"))
    if len(entries) > _FAILURES_SHOWN:
        rest = len(entries) - _FAILURES_SHOWN
        place = "status --failed" if what == "failed" else "ls --skipped"
        session.say(f"{what}: {rest:,} more, see dowse {place}")


def _index_line(report: IndexReport) -> str:
    counts = [f"{getattr(report, what):,} {what}" for what in ("added", "changed", "moved", "removed", "unchanged")]
    counts += [f"{len(getattr(report, what)):,} {what}" for what in ("failed", "skipped") if getattr(report, what)]
    return terminal.one_line(f"{report.collection}: {', '.join(counts)}")


def _embed_line(report: EmbedReport) -> str:
    if not report.embedded and not report.remaining:
        return "Every passage has its vector."
    rest = f" {report.remaining:,} remain." if report.remaining else ""
    return f"Embedded {terminal.counted(report.embedded, 'passage')} in {report.seconds:.1f} s.{rest}"


def _refuse_if_guarded(reports: Sequence[IndexReport]) -> None:
    """The guard held something back: everything else is done, its own words say what to do."""
    held = [report.guarded for report in reports if report.guarded]
    if held:
        raise ConflictError(" ".join(held), hint="Everything else is up to date. Look at the folder before you prune.")
