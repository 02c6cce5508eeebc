"""`config` and `completion`: how the program is set up, and how a shell completes it."""

import json

import click

from dowse.config import describe
from dowse.interfaces import wire
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import Command, root
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session


@click.command(cls=Command)
@json_option
@click.pass_obj
def config(session: Session, *, as_json: bool) -> None:
    """Show every setting, as TOML, with where its value came from."""
    effective = session.config
    rows = []
    for name, variable, _default, takes, doc in describe():
        value = getattr(effective, name)
        rows.append(
            {
                "name": name,
                "value": value if value is None or isinstance(value, int | float) else str(value),
                "origin": effective.origins.get(name, "default"),
                "variable": variable,
                "takes": takes,
                "doc": doc,
            }
        )
    terminal.emit(wire.dumps(rows) if as_json else "\n".join(_toml_line(row) for row in rows))


def _toml_line(row: wire.Json) -> str:
    if row["value"] is None:
        return f"# {row['name']} is not set: {row['doc']}"
    return f"{row['name']} = {json.dumps(row['value'])}  # {row['origin']}"


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_obj
def completion(session: Session, shell: str) -> None:
    """Print the completion script of a shell.

    For bash: dowse completion bash > ~/.local/share/bash-completion/completions/dowse
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    if maker is None:  # click knows all three; a Choice cannot say so to a type checker
        raise click.UsageError(f"There is no completion for {shell}.")
    variable = f"_{session.program.upper()}_COMPLETE"
    terminal.emit(maker(root, {}, session.program, variable).source())
