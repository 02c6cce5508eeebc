"""`get`, `multi-get` and `ls`: documents by name, and their names."""

from typing import TYPE_CHECKING

import click

from dowse.errors import NotFoundError
from dowse.interfaces import wire
from dowse.interfaces.cli import render, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.commands.collection import collection_lines
from dowse.interfaces.cli.options import format_options, json_option, line_numbers_option
from dowse.interfaces.cli.session import Session

if TYPE_CHECKING:
    from dowse.types import Document, DocumentInfo

_MAX_LINES = click.IntRange(min=1)


@click.command(cls=Command)
@click.argument("name", metavar="NAME[:LINE[:COUNT]]")
@click.option("--from", "first_line", type=click.IntRange(min=1), metavar="LINE", help="Start at this line.")
@click.option("-l", "--max-lines", type=_MAX_LINES, metavar="N", help="At most so many lines.")
@line_numbers_option
@json_option
@click.pass_obj
def get(
    session: Session,
    name: str,
    first_line: int | None,
    max_lines: int | None,
    *,
    line_numbers: bool,
    as_json: bool,
) -> None:
    """Print a document.

    NAME is collection/path, the end of a path, or a docid.
    """
    with session.engine() as engine:
        found = engine.get(name, first_line=first_line, max_lines=max_lines)
    if name != found.info.file:
        session.say(f"{terminal.one_line(found.info.file)}  {found.info.docid}")
    for text in found.contexts:
        session.say(f"context: {terminal.one_line(text)}")
    made = wire.document(found, line_numbers=line_numbers)
    terminal.emit(wire.dumps(made) if as_json else made["body"])
    _tell_part(session, found)


def _tell_part(session: Session, found: "Document") -> None:
    last = found.first_line + found.text.count("\n")
    if last - found.first_line + 1 < found.total_lines:
        session.say(f"Lines {found.first_line:,} to {last:,} of {found.total_lines:,}.")


@click.command("multi-get", cls=Command)
@click.argument("pattern")
@click.option("-l", "--max-lines", type=_MAX_LINES, metavar="N", help="At most so many lines of each.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=10_240,
    show_default=True,
    metavar="N",
    help="Skip larger documents.",
)
@line_numbers_option
@format_options
@click.pass_obj
def multi_get(session: Session, pattern: str, max_lines: int | None, max_bytes: int, *, line_numbers: bool) -> None:
    """Print several documents.

    PATTERN is a glob over collection/path, or names with commas between them.
    """
    with session.engine() as engine:
        found = engine.get_many(pattern, max_lines=max_lines, max_bytes=max_bytes)
    for name, reason in found.missed:
        session.say(f"left out: {terminal.one_line(name)}: {terminal.one_line(reason)}")
    look = render.Look(format=session.format or "cli", line_numbers=line_numbers)
    terminal.emit(render.documents(found.documents, found.missed, look, cut=max_lines is not None))
    if not found.documents:
        raise NotFoundError(f"None of {pattern!r} can be shown.", hint="Raise --max-bytes, or see: dowse ls")


@click.command(cls=Command)
@click.argument("place", required=False, metavar="[COLLECTION[/PREFIX]]")
@click.option("--skipped", is_flag=True, help="List the files that were left out, with the reasons.")
@json_option
@click.pass_obj
def ls(session: Session, place: str | None, *, skipped: bool, as_json: bool) -> None:
    """List the collections, or the documents of one."""
    name, _, prefix = (place or "").removeprefix("qmd://").removeprefix("dowse://").strip("/").partition("/")
    with session.engine(create=True) as engine:
        if skipped:
            entries = [
                entry
                for entry in engine.ledger(name or None)
                if entry.state != "failed" and entry.path.startswith(prefix)
            ]
            listing = [wire.ledger_entry(entry) for entry in entries]
            text = "\n".join(render.ledger_line(entry) for entry in entries)
        elif place is None:
            known = engine.collections()
            listing = [wire.collection(each) for each in known]
            text = collection_lines(known)
        else:
            documents = engine.documents(name, prefix=prefix)
            listing = [wire.document_info(each) for each in documents]
            text = "\n".join(_line(each) for each in documents)
    terminal.emit(wire.dumps(listing) if as_json else text)


def _line(info: "DocumentInfo") -> str:
    day = (wire.iso(info.fingerprint.mtime_ns // 1_000_000) or "").partition("T")[0]
    return f"{info.docid}  {info.fingerprint.size:>11,}  {day:<10}  {terminal.one_line(info.file)}"
