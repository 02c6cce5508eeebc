"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dowse.interfaces.cli.render import FORMATS
from dowse.interfaces.cli.session import Session

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _choose(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep the format in the session; two different ones on one line are a mistake."""
    if not value:
        return
    session = context.ensure_object(Session)
    chosen = value if isinstance(value, str) else str(parameter.name)
    if session.format not in {None, chosen}:
        raise click.UsageError(f"Choose one format: --format {session.format} or --format {chosen}.", context)
    session.format = chosen


def format_options(function: _Function) -> _Function:
    """`--format NAME`, and `--NAME` for short; the choice ends up in `Session.format`."""
    for name in reversed(FORMATS[1:]):
        function = click.option(
            f"--{name}",
            is_flag=True,
            expose_value=False,
            callback=_choose,
            help=f"Short for --format {name}.",
        )(function)
    return click.option(
        "--format",
        type=click.Choice(FORMATS),
        expose_value=False,
        callback=_choose,
        help="How to print; the default, cli, is for reading.",
    )(function)


def json_option(function: _Function) -> _Function:
    """`--json` for commands whose only other form is text."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


line_numbers_option = click.option("--line-numbers", is_flag=True, help="Put the line's number in front of each line.")
