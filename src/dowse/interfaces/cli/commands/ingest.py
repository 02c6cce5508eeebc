"""`ingest`, `delete` and `list`: single documents in, out, and what there is."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dowse.errors import SourceError, UsageError
from dowse.interfaces import wire
from dowse.interfaces.cli import progress, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.commands.indexing import goes_on_with, lacks_vectors, make_vectors, tell_refused
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.types import DocumentInfo, IngestReport, MetadataValue

if TYPE_CHECKING:
    from dowse.ingest.sources.given import Given

_STDIN = "-"
_WORDS = {"true": True, "false": False}


@click.command(cls=Command)
@click.argument("sources", nargs=-1, required=True, metavar="PATH|URI|-...")
@click.option("-c", "--collection", default="default", show_default=True, metavar="NAME", help="Where it goes.")
@click.option("-m", "--metadata", "pairs", multiple=True, metavar="KEY=VALUE", help="Say something of it (repeatable).")
@click.option("--content-type", default="", metavar="TYPE", help="What it is, if that cannot be seen: md, pdf, …")
@click.option("--name", default="", help="What to call that which comes from stdin, as a file would be called.")
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@json_option
@click.pass_obj
def ingest(
    session: Session,
    sources: Sequence[str],
    collection: str,
    pairs: Sequence[str],
    content_type: str,
    name: str,
    *,
    no_embed: bool,
    as_json: bool,
) -> None:
    """Add files, folders, web addresses or data: URIs to a collection.

    `-` reads stdin and needs --name. What is there already is replaced if it changed. A key that is given
    several times becomes a list.
    """
    given = [terminal.as_utf8(each) if each != _STDIN else _from_stdin(name) for each in sources]
    said = _metadata(pairs) if pairs else None
    with session.engine(create=True) as engine:
        with goes_on_with("dowse ingest"), progress.shown(session) as on_event:
            report = engine.ingest(
                *given,
                collection=collection,
                metadata=said,
                content_type=content_type,
                allow_private_urls=True,
                on_event=on_event,
            )
        if not as_json:
            terminal.emit("\n".join(f"{each.action}: {_line(each.info)}" for each in report.done))
        if len(report.failed) > 1:  # one is said by the error
            tell_refused(session, "failed", report.failed)
        tell_refused(session, "skipped", report.skipped)
        made = make_vectors(session, engine) if not no_embed and lacks_vectors(engine.stats()) else None
    if as_json:
        terminal.emit(wire.dumps(wire.ingest_report(report) | {"embedding": wire.embed_report(made) if made else None}))
    _fail_if_anything_failed(report)


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("-c", "--collection", default=None, metavar="NAME", help="Only in this one.")
@json_option
@click.pass_obj
def delete(session: Session, names: Sequence[str], collection: str | None, *, as_json: bool) -> None:
    """Take documents out of the index; files stay where they are.

    NAME is collection/path, the end of a path, a URI, a docid or a glob. What was found in a folder stays out
    until it is ingested again.
    """
    with session.engine() as engine:
        gone = engine.delete(*map(terminal.as_utf8, names), collection=collection)
    terminal.emit(
        wire.dumps([wire.document_info(each) for each in gone])
        if as_json
        else "\n".join(f"deleted: {_line(each)}" for each in gone)
    )


@click.command("list", cls=Command)
@click.option("-c", "--collection", default=None, metavar="NAME", help="Only this one.")
@click.option("--prefix", default="", metavar="PATH", help="Only paths that start so.")
@json_option
@click.pass_obj
def list_documents(session: Session, collection: str | None, prefix: str, *, as_json: bool) -> None:
    """List the documents, of all collections or of one."""
    with session.engine(create=True) as engine:
        found = engine.documents(collection, prefix=prefix)
    terminal.emit(
        wire.dumps([wire.document_info(each) for each in found])
        if as_json
        else "\n".join(f"{_line(each)}  {terminal.one_line(each.title)}" for each in found)
    )


def _line(info: DocumentInfo) -> str:
    return f"{info.docid}  {terminal.one_line(info.file)}  ({terminal.counted(info.chunks, 'passage')})"


def _from_stdin(name: str) -> "Given":
    from dowse.ingest.sources.given import given_content

    if not name:
        raise UsageError("What comes from stdin needs a name.", hint="For example: dowse ingest - --name minutes.md")
    return given_content(sys.stdin.buffer.read(), name)


def _metadata(pairs: Sequence[str]) -> dict[str, MetadataValue]:
    """`key=value` as metadata: numbers, true and false are what they say, everything else is text."""
    values: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = terminal.as_utf8(pair).partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{pair!r} says nothing of anything.", hint="Write KEY=VALUE: -m author=Ada -m year=1843")
        values.setdefault(key.strip(), []).append(value)
    return {key: several if len(several) > 1 else _value(several[0]) for key, several in values.items()}


def _value(text: str) -> MetadataValue:
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        try:
            # Only what is written as a number is written: a version 1.10 or an id 007 stays the text that it is.
            if str(number(text)) == text:
                return number(text)
        except ValueError:
            continue
    return text


def _fail_if_anything_failed(report: IngestReport) -> None:
    if not report.failed:
        return
    first = report.failed[0]
    if len(report.failed) == 1:
        raise SourceError(first.reason, reason=first.code, hint=first.hint)
    raise SourceError(f"{len(report.failed)} sources could not be ingested.", reason=first.code, hint=first.hint)
