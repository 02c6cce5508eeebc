"""`context …`: what folders are about, in words that come back with every result from them."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from dowse.errors import NotFoundError
from dowse.interfaces import wire
from dowse.interfaces.cli.app import Group
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.interfaces.cli.terminal import emit, one_line
from dowse.types import Collection, Context

if TYPE_CHECKING:
    from dowse.engine import Engine

_SCHEMES = ("qmd://", "dowse://")


@click.group(cls=Group)
def context() -> None:
    """Say what a folder is about.

    Searches return these descriptions with every result from that folder.
    """


@context.command()
@click.argument("words", nargs=-1, required=True, metavar="[PLACE] TEXT")
@click.pass_context
def add(run: click.Context, words: tuple[str, ...]) -> None:
    """Describe PLACE with TEXT.

    PLACE is / for everything, COLLECTION or COLLECTION/FOLDER (also as qmd:// or dowse://), or the path of a
    folder or file in a collection; without it, the current folder.
    """
    if len(words) > len(("PLACE", "TEXT")):
        raise click.UsageError("There are more than PLACE and TEXT here: put the text in quotes.", run)
    session: Session = run.obj
    place, text = words if len(words) > 1 else (".", words[0])
    with session.engine(create=True) as engine:
        collection, prefix = resolve(engine, place)
        made = engine.add_context(text, collection=collection, prefix=prefix)
    session.say(f"Added a context for {one_line(place_of(made))}.")


@context.command("list")
@json_option
@click.pass_obj
def list_all(session: Session, *, as_json: bool) -> None:
    """List every context."""
    with session.engine(create=True) as engine:
        known = engine.contexts()
    if as_json:
        emit(wire.dumps([wire.context(each) for each in known]))
    else:
        emit("\n".join(f"{one_line(place_of(each))}\t{one_line(each.text)}" for each in known))


@context.command("rm")
@click.argument("place")
@click.pass_obj
def remove(session: Session, place: str) -> None:
    """Remove the context of exactly this PLACE."""
    with session.engine() as engine:
        collection, prefix = resolve(engine, place)
        engine.remove_context(collection=collection, prefix=prefix)
    session.say(f"Removed the context of {one_line(place)}.")


def place_of(known: Context) -> str:
    """A context's place as it can be typed."""
    return "/" if known.collection is None else "/".join(filter(None, [known.collection, known.prefix]))


def resolve(engine: "Engine", place: str) -> tuple[str | None, str]:
    """Collection (None: everything) and prefix of a place as people type it."""
    if place == "/":
        return None, ""
    for scheme in _SCHEMES:
        if place.startswith(scheme):
            name, _, prefix = unquote(place.removeprefix(scheme)).strip("/").partition("/")
            return name or None, prefix
    known = [each.collection for each in engine.collections()]
    name, _, prefix = place.partition("/")
    if any(each.name == name for each in known):
        return name, prefix.strip("/")
    path = Path(place)
    if place.startswith((".", "~")) or path.is_absolute() or path.exists():
        return _collection_of(path, known)
    return engine.collection(name).collection.name, prefix


def _collection_of(path: Path, known: list[Collection]) -> tuple[str, str]:
    """The collection whose folder holds this path most closely, and the path below it."""
    target = path.expanduser().resolve()
    holders = [each for each in known if each.root and target.is_relative_to(each.root)]
    if not holders or not target.exists():
        what = "is in no collection" if target.exists() else "does not exist"
        raise NotFoundError(
            f"The path {target} {what}.",
            hint="Give a path inside a collection, or COLLECTION/FOLDER: dowse collection list",
        )
    nearest = max(holders, key=lambda each: len(str(each.root)))
    below = target.relative_to(str(nearest.root)).as_posix()
    return nearest.name, "" if below == "." else below
