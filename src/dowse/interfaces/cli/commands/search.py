"""`search`, `vsearch` and `query`: three modes of the same question, rendered alike."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from dowse.errors import NotFoundError, UsageError
from dowse.interfaces import wire
from dowse.interfaces.cli import render, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import format_options, line_numbers_option
from dowse.interfaces.cli.session import Session
from dowse.types import Answer, Hit, Mode, Query

if TYPE_CHECKING:
    from dowse.engine import Engine

_Function = TypeVar("_Function", bound=Callable[..., Any])

_EPILOG = "Put -- before a query that starts with a dash: search -- -redis cache"


def _search_options(min_score: float) -> Callable[[_Function], _Function]:
    """What all three commands take; only the default threshold differs."""
    options = (
        click.argument("words", nargs=-1, required=True, metavar="QUERY..."),
        click.option(
            "-n", "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many files."
        ),
        click.option("--all", "everything", is_flag=True, help="Every file that matches, without a limit."),
        click.option(
            "--min-score",
            type=click.FloatRange(0, 1),
            default=min_score,
            show_default=True,
            help="Leave out weaker results.",
        ),
        click.option(
            "-c", "--collection", "collections", multiple=True, metavar="NAME", help="Only in this one (repeatable)."
        ),
        click.option("--full", is_flag=True, help="Whole documents instead of the passages that match."),
        line_numbers_option,
        click.option(
            "--fresh",
            type=click.Choice(["wait", "warn", "ignore"]),
            default="warn",
            show_default=True,
            help="What to do about results whose files have changed: index them first, mark them, or do not look.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=1),
            metavar="N",
            help="At most so many tokens of output; the rest can be asked for with --cursor.",
        ),
        click.option("--cursor", default="", metavar="TEXT", help="Go on where an answer with --max-tokens ended."),
        click.option("--explain", is_flag=True, help="Show how each score and the verdict came about."),
        click.option(
            "--per-document",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="At most so many passages of one file; 0 for as many as rank.",
        ),
        click.option("--fold", is_flag=True, help="Of texts that are nearly the same, only the best."),
        click.option("--merge", is_flag=True, help="Passages that follow each other as one (with --per-document)."),
        click.option(
            "--diversity",
            type=click.FloatRange(0, 1),
            default=0.0,
            help="How much variety counts beside the score, from 0 to 1.",
        ),
        click.option(
            "--recency",
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="DAYS",
            help="Prefer what is new: after so many days that counts half.",
        ),
        format_options,
    )

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@click.command(cls=Command, epilog=_EPILOG)
@_search_options(0.0)
@click.pass_obj
def search(session: Session, /, words: Sequence[str], **options: Any) -> None:
    """Find documents by their words."""
    _run(session, words, "lex", **options)


@click.command(cls=Command, epilog=_EPILOG)
@_search_options(0.3)
@click.pass_obj
def vsearch(session: Session, /, words: Sequence[str], **options: Any) -> None:
    """Find documents by their meaning."""
    _run(session, words, "vec", **options)


@click.command(cls=Command, epilog=_EPILOG)
@_search_options(0.0)
@click.pass_obj
def query(session: Session, /, words: Sequence[str], **options: Any) -> None:
    """Find documents by words and meaning together."""
    _run(session, words, "auto", **options)


def _run(
    session: Session,
    words: Sequence[str],
    mode: Mode,
    *,
    limit: int,
    everything: bool,
    min_score: float,
    collections: Sequence[str],
    full: bool,
    line_numbers: bool,
    fresh: Literal["wait", "warn", "ignore"],
    explain: bool,
    max_tokens: int | None,
    cursor: str,
    **shape: Any,
) -> None:
    text = terminal.as_utf8(" ".join(words)).strip()
    if not text:
        raise UsageError("The query is empty.", hint="Give some words: dowse query how are backups made")
    with session.engine() as engine:
        most = _all_of(engine, shape["per_document"]) if everything else limit
        answer = engine.search(Query(text, mode, tuple(collections), most, min_score, fresh=fresh, **shape))
        bodies = _bodies(engine, answer) if full else {}
    _tell(session, answer, explain=explain)
    look = render.Look(
        format=session.format or "cli",
        line_numbers=line_numbers,
        explain=explain,
        coloured=terminal.wants_colour(sys.stdout),
        editor=session.config.editor,
    )
    rendered = _fitted(session, engine, answer, lambda hits: render.hits(hits, bodies, look), max_tokens, cursor)
    terminal.write(rendered) if look.format == "cli" else terminal.emit(rendered)


def _all_of(engine: "Engine", per_document: int) -> int:
    """As many results as there can be."""
    stats = engine.stats()
    return max(1, min(stats.chunks, stats.documents * per_document) if per_document else stats.chunks)


def _fitted(
    session: Session,
    engine: "Engine",
    answer: Answer,
    rendered: Callable[[Sequence[Hit]], str],
    max_tokens: int | None,
    cursor: str,
) -> str:
    """The output, as much of it as may be; what is left is told on stderr, which does not count."""
    if max_tokens is None and not cursor:
        return rendered(answer.hits)
    from dowse.search.budget import fit, page_of, shorter_snippet  # most searches have no budget

    if max_tokens is None:
        return rendered([portion.shown for portion in page_of(answer, cursor).portions])
    packed = fit(
        answer,
        lambda page: rendered([portion.shown for portion in page.portions]).rstrip("\n") + "\n",
        count=engine.count_tokens,
        max_tokens=max_tokens,
        cursor=cursor,
        shorten=shorter_snippet,
    )
    if packed.rest.omitted:
        session.say(f"{terminal.counted(packed.rest.omitted, 'more result')}: --cursor {packed.rest.cursor}")
    return packed.rendered


def _bodies(engine: "Engine", answer: Answer) -> dict[str, str]:
    """The whole texts by document id; a document deleted in this very moment keeps its passage."""
    bodies = {}
    for hit in answer.hits:
        key = str(hit.info.id)
        try:
            bodies[key] = engine.get(key).text
        except NotFoundError:
            bodies[key] = hit.chunk.text
    return bodies


def _tell(session: Session, answer: Answer, *, explain: bool) -> None:
    """What is no result: on stderr, so that stdout stays data."""
    for note in answer.notes:
        session.say(f"note: {note}")
    if answer.verdict != "found" or explain:
        session.say(f"verdict: {answer.verdict}, {wire.VERDICTS[answer.verdict]} ({answer.confidence:.2f})")
    if session.verbose:
        session.say(f"{len(answer.hits):,} results, mode {answer.mode}.")
    if not answer.hits:
        session.say(f'No results found for "{terminal.one_line(answer.query.text)}".')
