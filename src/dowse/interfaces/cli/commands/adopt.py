"""`adopt …`: take over what another program has been told."""

import os
from pathlib import Path

import click

from dowse.interfaces.cli.app import Group
from dowse.interfaces.cli.commands.indexing import bring_up_to_date
from dowse.interfaces.cli.session import Session
from dowse.interfaces.cli.terminal import emit, one_line

_WORDS = {"add": "add", "change": "change", "keep": "already there:", "leave": "not taken over:"}


@click.group(cls=Group)
def adopt() -> None:
    """Take over collections from another program."""


@adopt.command()
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="qmd's YAML file or SQLite index; by default the one that qmd would use here.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--no-embed", is_flag=True, help="Words only; `embed` adds the vectors later.")
@click.pass_obj
def qmd(session: Session, *, file: Path | None, dry_run: bool, no_embed: bool) -> None:
    """Take over qmd's collections, contexts and ignore rules, and index them.

    qmd's own files are only read. A second time does what is still missing.
    """
    from dowse.interfaces.adopt.plan import steps
    from dowse.interfaces.adopt.qmd import find, read

    setup = read(file or find(Path.home(), Path.cwd(), os.environ), Path.home())
    session.say(f"From {setup.file}:")
    with session.engine(create=True) as engine:
        plan = list(steps(setup, engine))
        for step in plan:
            emit(f"{_WORDS[step.kind]} {one_line(step.what)}")
        if dry_run:
            session.say("Nothing was changed: this is what `dowse adopt qmd` would do.")
            return
        for step in plan:
            if step.kind in {"add", "change"}:
                step.do(engine)
        names = [step.collection for step in plan if step.collection]
        if names:
            bring_up_to_date(session, engine, names, embed=not no_embed)
