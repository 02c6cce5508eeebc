"""`collection …`: which folders are searched."""

from typing import TYPE_CHECKING

import click

from dowse.interfaces import wire
from dowse.interfaces.cli.app import Group
from dowse.interfaces.cli.commands.indexing import bring_up_to_date
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.interfaces.cli.terminal import counted, emit, one_line

if TYPE_CHECKING:
    from dowse.types import CollectionStats


@click.group(cls=Group)
def collection() -> None:
    """Add, list and change collections of documents."""


@collection.command()
@click.argument("path")
@click.option("--name", default="", help="What to call it; the folder's own name otherwise.")
@click.option("--mask", default="**/*", show_default=True, metavar="GLOB", help="Which files, below the folder.")
@click.option("--description", default="", help="What is in it, for whoever searches.")
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@click.pass_obj
def add(session: Session, path: str, name: str, mask: str, description: str, *, no_embed: bool) -> None:
    """Add the folder PATH and index it: words first, then vectors.

    Ctrl-C is safe at any time: what is indexed stays, `update` and `embed` go on from there.
    """
    with session.engine(create=True) as engine:
        made = engine.add_collection(path, name=name, pattern=mask, description=description)
        session.say(f"Added {one_line(made.name)}: {one_line(str(made.root))} ({one_line(made.pattern)})")
        bring_up_to_date(session, engine, [made.name], prune=False, embed=not no_embed, as_json=False)


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
