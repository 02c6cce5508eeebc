"""`verify` and `why`: does this citation still hold, and why is this document found or not?"""

from collections.abc import Sequence

import click

from dowse.interfaces import wire
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.search.verify import Verdict
from dowse.search.why import Why
from dowse.types import Mode, Query

_RAW = {"lex": "BM25", "vec": "cosine"}


@click.command(cls=Command, epilog='For example: verify "dowse://notes/tea.md#L3" --quote "below eighty degrees"')
@click.argument("words", nargs=-1, required=True, metavar="CITATION|QUOTE")
@click.option("--quote", default="", metavar="TEXT", help="What the citation is said to say.")
@json_option
@click.pass_obj
def verify(session: Session, /, words: Sequence[str], quote: str, *, as_json: bool) -> None:
    """Check whether a citation or a quoted text still holds.

    The answer is valid, moved (and where), changed (and how) or gone. Exits with 1 when it is not valid.
    """
    claim = terminal.as_utf8(" ".join(words))
    with session.engine() as engine:
        verdict = engine.verify(claim, quote=terminal.as_utf8(quote))
    for note in verdict.notes:
        session.say(f"note: {note}")
    terminal.emit(wire.dumps(wire.verdict(verdict)) if as_json else _verdict_lines(verdict))
    if verdict.state != "valid":
        raise click.exceptions.Exit(1)


def _verdict_lines(verdict: Verdict) -> str:
    lines = [f"{verdict.state}: {verdict.message}"]
    for citation in verdict.citations:
        page = f" (page {citation.page})" if citation.page else ""
        headings = f"  {' > '.join(citation.headings)}" if citation.headings else ""
        place = f"{citation.file}:{_range(citation.first_line, citation.last_line)}"
        lines += [f"  {terminal.one_line(f'{place}{page}{headings}')}", f"    {citation.uri}"]
    lines += [f"  {terminal.clean(line)}" for line in verdict.diff.splitlines()]
    return "\n".join(lines)


@click.command(cls=Command, epilog='For example: why "how hot is the water" notes/tea.md')
@click.argument("query")
@click.argument("name", metavar="DOCUMENT")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="As in the search.")
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="As in the search.")
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME", help="As in the search (repeatable).")
@click.option(
    "--mode",
    type=click.Choice(["auto", "lex", "vec", "hybrid"]),
    default="auto",
    show_default=True,
    help="lex is what `search` does, vec `vsearch`, auto `query`.",
)
@json_option
@click.pass_obj
def why(
    session: Session,
    query: str,
    name: str,
    limit: int,
    min_score: float,
    collections: Sequence[str],
    mode: Mode,
    *,
    as_json: bool,
) -> None:
    """Tell why a document is found for a query, or why not.

    It is not indexed, filtered out, without a match, below the cut, or found at a rank, with the score of each leg.
    """
    asked = Query(terminal.as_utf8(query), mode, tuple(collections), limit, min_score, per_document=1, fresh="ignore")
    with session.engine() as engine:
        reason = engine.why(asked, terminal.as_utf8(name))
    for note in reason.notes:
        session.say(f"note: {note}")
    terminal.emit(wire.dumps(wire.why(reason)) if as_json else _why_lines(reason))
    if reason.hint and not as_json:
        session.say(f"hint: {reason.hint}")


def _why_lines(reason: Why) -> str:
    lines = [f"{reason.outcome.replace('_', ' ')}: {reason.message}"]
    if reason.hit:
        chunk = reason.hit.chunk
        place = f"{reason.hit.info.file}:{_range(chunk.first_line, chunk.last_line)}"
        lines.append(f"  {place}  {reason.hit.info.docid}")
        for leg in reason.hit.explain.legs:
            rank = "" if leg.rank is None else f"rank {leg.rank:,}, "
            lines.append(f"  {leg.name}: {rank}{_RAW[leg.name]} {leg.raw:.3f} -> {leg.value:.3f} x {leg.weight:.2f}")
        lines.append(f"  fused {reason.hit.explain.fused:.3f}, score {reason.hit.explain.score:.3f}")
        lines.append(f"  words of the query in it: {', '.join(reason.words) or 'none'}")
    return "\n".join(terminal.one_line(line) if not line.startswith("  ") else terminal.clean(line) for line in lines)


def _range(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else str(first)
