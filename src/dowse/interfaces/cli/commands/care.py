"""`status`, `doctor` and `cleanup`: how the index is, and what keeps it well."""

import sys
from pathlib import Path

import click

from dowse import __version__
from dowse.errors import ConfigError, DowseError
from dowse.interfaces import wire
from dowse.interfaces.cli import progress, render, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.commands.collection import collection_lines
from dowse.interfaces.cli.commands.daemon import line, standings
from dowse.interfaces.cli.commands.watch import watch_line
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.types import Event, Finding, LedgerEntry, StoreStats


@click.command(cls=Command)
@click.option("--failed", is_flag=True, help="List the files that could not be read, with the reasons.")
@json_option
@click.pass_obj
def status(session: Session, *, failed: bool, as_json: bool) -> None:
    """Show what is in the index and what it lacks.

    With --json, -v adds the index's path and its size on disk, which depend on more than what is indexed.
    """
    with session.engine(create=True) as engine:
        stats, ledger, watched = engine.stats(), engine.ledger(), engine.watched()
    failures = [entry for entry in ledger if entry.state == "failed"]
    if as_json:
        made = wire.status(stats, failures, version=__version__) | {"watch": wire.watched(watched)}
        if session.verbose:
            made["daemon"] = next(standings(session.config, only_this_index=True), None)
            made |= {"index": session.config.where, "bytes": stats.bytes_on_disk}
        terminal.emit(wire.dumps(made))
    elif failed:
        terminal.emit("\n".join(render.ledger_line(entry) for entry in failures))
    else:
        terminal.emit(_summary(session, stats, ledger, watch_line(watched)))


def _summary(session: Session, stats: StoreStats, ledger: list[LedgerEntry], watched: str) -> str:
    missing = sum(each.unembedded for each in stats.collections)
    model = f" by {stats.model.name} ({stats.model.precision})" if stats.model else ""
    lines = [
        f"Index:       {session.config.where} ({stats.bytes_on_disk / (1 << 20):,.1f} MB)",
        f"Documents:   {stats.documents:,}",
        f"Passages:    {stats.chunks:,}, {stats.vectors:,} vectors{model}",
        f"Collections: {len(stats.collections)}",
    ]
    lines += [f"  {line}" for line in collection_lines(stats.collections).splitlines()]
    if stats.successor is not None:
        coming = stats.successor
        lines.append(
            f"Next model:  {coming.model.name} ({coming.model.precision}): {coming.vectors:,} vectors, "
            f"{coming.waiting:,} to go; until then the present one answers"
        )
    if missing or (stats.chunks and not stats.vectors):
        lines.append(f"{terminal.counted(missing, 'document')} to embed: {session.program} embed")
    failed = sum(entry.state == "failed" for entry in ledger)
    if ledger:
        see = [f"{session.program} status --failed"] if failed else []
        see += [f"{session.program} ls --skipped"] if failed < len(ledger) else []
        lines.append(f"Not indexed: {failed:,} failed, {len(ledger) - failed:,} left out: {', '.join(see)}")
    if watched:
        lines.append(terminal.as_typed(watched, session.program))
    lines += [f"Daemon:      {line(each)}" for each in standings(session.config, only_this_index=True)]
    return "\n".join(terminal.clean(line) for line in lines)


@click.command(cls=Command)
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Keep what was deleted since then.")
@click.pass_obj
def cleanup(session: Session, days: float | None) -> None:
    """Free what deleted documents left behind.

    It is kept for some time (keep_days in the configuration), so that a folder that comes back costs nothing.
    """
    with session.engine() as engine:
        freed = engine.cleanup(days=days)
    session.say(f"Freed {freed:,} bytes.")


@click.command(cls=Command)
@click.option("--deep", is_flag=True, help="Compare every derived entry with the database.")
@click.option("--repair", is_flag=True, help="First make everything derived anew.")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a file for whoever helps, without texts, names and questions.",
)
@json_option
@click.pass_obj
def doctor(session: Session, *, deep: bool, repair: bool, bundle: Path | None, as_json: bool) -> None:
    """Examine the index, the models and their surroundings; each check names its remedy.

    Exits with 1 when something is wrong.
    """
    try:
        findings = _findings(session, deep=deep, repair=repair, bundle=bundle)
    except ConfigError as error:
        findings = [Finding("settings", ok=False, message=error.message, hint=error.hint)]
    if as_json:
        terminal.emit(wire.dumps([wire.finding(each) for each in findings]))
    else:
        coloured = terminal.wants_colour(sys.stdout)
        terminal.write("\n".join(_finding_line(each, coloured=coloured) for each in findings))
    bad = [each for each in findings if not each.ok]
    if bad:
        raise DowseError(f"{len(bad)} of {len(findings)} checks failed.", hint=bad[0].hint)


def _findings(session: Session, *, deep: bool, repair: bool, bundle: Path | None) -> list[Finding]:
    with session.engine() as engine, progress.shown(session) as on_event:
        findings = engine.doctor(
            deep=deep, repair=repair, progress=lambda done, total: on_event(Event("store", done, total))
        )
        findings.append(_daemon_finding(session))
        if bundle is not None:
            size = engine.bundle(bundle)
            session.say(f"Wrote {bundle} ({size:,} bytes). In it are, and nothing else:")
            for line in engine.bundle_contents:
                session.say(f"- {line}")
    return findings


def _daemon_finding(session: Session) -> Finding:
    """Whether clients of MCP share a process over this index, and whether that one is of this version."""
    found = list(standings(session.config, only_this_index=True))
    if not found:
        said = "Nobody shares a process over this index; the first `dowse mcp` starts one."
        return Finding("daemon", ok=True, message=said)
    other = [each for each in found if each["version"] != __version__]
    message = " ".join(
        f"{line(each).capitalize()}, of version {each['version']}, up for {each['uptime_s']:,.0f} s; ends after "
        f"{each['ends_after_s']:,.0f} s without a client."
        for each in found
    )
    return Finding("daemon", not other, message, f"End it: {session.program} daemon stop" if other else "")


def _finding_line(finding: Finding, *, coloured: bool) -> str:
    word = "ok" if finding.ok else "FAILED"
    if coloured:
        word = click.style(word, fg="green" if finding.ok else "red", bold=True)
    hint = f" ({finding.hint})" if finding.hint and not finding.ok else ""
    return f"{word}  {terminal.one_line(finding.check)}: {terminal.one_line(finding.message + hint)}"
