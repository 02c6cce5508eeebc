"""`collection …`: which folders are searched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.interfaces import wire
from dowse.interfaces.cli.app import Group
from dowse.interfaces.cli.commands.indexing import bring_up_to_date
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.interfaces.cli.terminal import counted, emit, one_line
from dowse.types import Chunking

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.types import CollectionStats

_Function = TypeVar("_Function", bound=Callable[..., Any])


def chunking_options(function: _Function) -> _Function:
    """How long passages are."""
    for option in (
        click.option("--overlap-tokens", type=int, metavar="N", help="How much of the passage before is repeated."),
        click.option("--min-tokens", type=int, metavar="N", help="What long sections are not cut below."),
        click.option("--max-tokens", type=int, metavar="N", help="How long a passage may be, in tokens."),
    ):
        function = option(function)
    return function


def _chunking(engine: "Engine", known: Chunking | None, lengths: Mapping[str, int | None]) -> Chunking | None:
    """The collection's own lengths, None while it has none: those that are given, else what applied before."""
    given = {key: value for key, value in lengths.items() if value is not None}
    return replace(known or Chunking(max_tokens=engine.config.chunk_tokens), **given) if given else known


@click.group(cls=Group)
def collection() -> None:
    """Add, list and change collections of documents."""


@collection.command()
@click.argument("path")
@click.option("--name", default="", help="What to call it; the folder's own name otherwise.")
@click.option("--mask", default="**/*", show_default=True, metavar="GLOB", help="Which files, below the folder.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="What to leave out, as in .gitignore (repeatable).")
@click.option("--description", default="", help="What is in it, for whoever searches.")
@chunking_options
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@click.pass_obj
def add(
    session: Session,
    /,
    path: str,
    name: str,
    mask: str,
    exclude: Sequence[str],
    description: str,
    *,
    no_embed: bool,
    **lengths: int | None,
) -> None:
    """Add the folder PATH and index it: words first, then vectors.

    Ctrl-C is safe at any time: what is indexed stays, `update` and `embed` go on from there.
    """
    with session.engine(create=True) as engine:
        chunking = _chunking(engine, None, lengths)
        made = engine.add_collection(
            path, name=name, pattern=mask, exclude=exclude, description=description, chunking=chunking
        )
        session.say(f"Added {one_line(made.name)}: {one_line(str(made.root))} ({one_line(made.pattern)})")
        bring_up_to_date(session, engine, [made.name], embed=not no_embed)


@collection.command("set")
@click.argument("name")
@click.option("--mask", default=None, metavar="GLOB", help="Which files, below the folder.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="What to leave out instead of what was (repeatable).")
@click.option("--exclude-nothing", is_flag=True, help="Leave nothing out any more.")
@click.option("--description", default=None, help="What is in it, for whoever searches.")
@chunking_options
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@click.pass_obj
def configure(
    session: Session,
    /,
    name: str,
    mask: str | None,
    exclude: Sequence[str],
    description: str | None,
    *,
    exclude_nothing: bool,
    no_embed: bool,
    **lengths: int | None,
) -> None:
    """Change what is in a collection and how it is cut, then bring it up to date.

    Other lengths of passages read this collection anew, and no other.
    """
    with session.engine() as engine:
        known = engine.collection(name).collection
        changed = engine.configure_collection(
            name,
            pattern=known.pattern if mask is None else mask,
            exclude=() if exclude_nothing else exclude or known.exclude,
            description=known.description if description is None else description,
            chunking=_chunking(engine, known.chunking, lengths),
        )
        if replace(changed, description=known.description) != known:
            bring_up_to_date(session, engine, [name], embed=not no_embed)


@collection.command("list")
@json_option
@click.pass_obj
def list_all(session: Session, *, as_json: bool) -> None:
    """List the collections."""
    with session.engine(create=True) as engine:
        known = engine.collections()
    emit(wire.dumps([wire.collection(each) for each in known]) if as_json else collection_lines(known))


@collection.command()
@click.argument("name")
@json_option
@click.pass_obj
def show(session: Session, name: str, *, as_json: bool) -> None:
    """Show one collection with its counts."""
    with session.engine() as engine:
        facts = wire.collection(engine.collection(name))
    if as_json:
        emit(wire.dumps(facts))
    else:
        emit("\n".join(f"{key}: {one_line(str(value))}".rstrip() for key, value in facts.items() if value is not None))


@collection.command()
@click.argument("name")
@click.pass_obj
def remove(session: Session, name: str) -> None:
    """Remove a collection from the index; its files stay."""
    with session.engine() as engine:
        count = engine.remove_collection(name)
    session.say(f"Removed {one_line(name)}: {counted(count, 'document')} left the index, the files stay.")


@collection.command()
@click.argument("name")
@click.argument("new_name")
@click.pass_obj
def rename(session: Session, name: str, new_name: str) -> None:
    """Rename a collection; nothing is indexed again."""
    with session.engine() as engine:
        engine.rename_collection(name, new_name)
    session.say(f"Renamed {one_line(name)} to {one_line(new_name)}.")


@collection.command()
@click.argument("name")
@click.pass_obj
def include(session: Session, name: str) -> None:
    """Search this collection when a query names none."""
    _set_included(session, name, included=True)


@collection.command()
@click.argument("name")
@click.pass_obj
def exclude(session: Session, name: str) -> None:
    """Search this collection only when a query names it."""
    _set_included(session, name, included=False)


def _set_included(session: Session, name: str, *, included: bool) -> None:
    with session.engine() as engine:
        engine.include_collection(name, included=included)
    session.say(f"{one_line(name)} is searched {'by default' if included else 'only when it is named'}.")


def collection_lines(known: "tuple[CollectionStats, ...]") -> str:
    """A line per collection: name, number of documents, folder, pattern."""
    names = [one_line(each.collection.name) for each in known]
    width = max(map(len, names), default=0)
    lines = []
    for name, each in zip(names, known, strict=True):
        root, pattern = one_line(each.collection.root or "(no folder)"), one_line(each.collection.pattern)
        note = "" if each.collection.included else "  (searched only when named)"
        lines.append(f"{name:<{width}}  {each.documents:>7,} documents  {root}  {pattern}{note}")
    return "\n".join(lines)
