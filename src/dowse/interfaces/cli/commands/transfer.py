"""`backup` and `restore` of an index, `export` and `import` of a collection."""

from pathlib import Path

import click

from dowse.interfaces import wire
from dowse.interfaces.cli import progress, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.types import TransferReport

_FILE = click.argument("file", type=click.Path(path_type=Path))
_REPLACE = click.option("--force", is_flag=True, help="Replace a file of this name.")


@click.command(cls=Command)
@_FILE
@_REPLACE
@json_option
@click.pass_obj
def backup(session: Session, file: Path, *, force: bool, as_json: bool) -> None:
    """Write the whole index to one file.

    Others may write to the index meanwhile: the file holds one moment of it.
    """
    with session.engine() as engine:
        report = engine.backup(file, replace=force)
    _show(session, report, f"Backed up to {file}", as_json=as_json)


@click.command(cls=Command)
@_FILE
@click.option("--force", is_flag=True, help="Replace an index that has documents in it.")
@json_option
@click.pass_obj
def restore(session: Session, file: Path, *, force: bool, as_json: bool) -> None:
    """Put a backup in the place of the index.

    It is checked first; until the last moment the old index answers.
    """
    with session.engine(create=True) as engine:
        report = engine.restore(file, force=force)
    _show(session, report, f"Restored from {file}", as_json=as_json)


@click.command(cls=Command)
@click.argument("collection")
@_FILE
@_REPLACE
@json_option
@click.pass_obj
def export(session: Session, collection: str, file: Path, *, force: bool, as_json: bool) -> None:
    """Write a collection to one file, with its passages and vectors, for another index.

    The file has the texts of all its documents in it, but not where they lie on this machine.
    """
    with session.engine() as engine:
        report = engine.export_collection(collection, file, replace=force)
    _show(session, report, f"Exported {collection} to {file}", as_json=as_json)


@click.command(cls=Command, name="import")
@_FILE
@click.option("--name", default="", metavar="NAME", help="What to call it here.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where its files lie here, so that `update` can follow them.",
)
@json_option
@click.pass_obj
def import_(session: Session, file: Path, *, name: str, root: Path | None, as_json: bool) -> None:
    """Take in a collection that `export` wrote.

    Where this index uses the same model, nothing has to be embedded again.
    """
    with session.engine(create=True) as engine:
        report = engine.import_collection(file, name=name, root=root)
    _show(session, report, f"Imported {report.collection}", as_json=as_json)


@click.command(cls=Command)
@click.option(
    "--to", "target", required=True, metavar="INDEX", help="A name, a path, or opensearch://HOST:PORT/PREFIX."
)
@json_option
@click.pass_obj
def migrate(session: Session, target: str, *, as_json: bool) -> None:
    """Copy the whole index into another one: onto a cluster, or back.

    Documents keep their ids and nothing is embedded again. What is there already is left alone, so that an
    interrupted move goes on; at the end both are compared. This index stays as it is.
    """
    with session.engine() as engine, progress.shown(session) as on_event:
        report = engine.migrate(target, on_event=on_event)
    _show(session, report, f"Moved to {target}", as_json=as_json)


def _show(session: Session, report: TransferReport, what: str, *, as_json: bool) -> None:
    for note in report.notes:
        session.say(note)
    if as_json:
        terminal.emit(wire.dumps(wire.transfer_report(report)))
        return
    counts = f"{terminal.counted(report.documents, 'document')}, {terminal.counted(report.vectors, 'vector')}"
    terminal.emit(terminal.one_line(f"{what}: {counts}, {report.size / (1 << 20):,.1f} MB"))
