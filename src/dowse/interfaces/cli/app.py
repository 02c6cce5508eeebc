"""The root command: which commands there are, and the options that every one of them takes.

A command's module is imported when that command runs, so that each one pays only for itself.
"""

import difflib
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from dowse import __version__
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.commands import COMMANDS
from dowse.interfaces.cli.session import Session

_PACKAGE = "dowse.interfaces.cli.commands"


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep a global option's value in the session, wherever on the line it stood."""
    session = context.ensure_object(Session)
    if value and parameter.name:
        setattr(session, parameter.name, value)


def _remember_format(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """The same, and from now on stderr is written so."""
    _remember(context, parameter, value)
    if value:
        terminal.use_log_format(value)


def _global_option(*names: str, **settings: Any) -> click.Option:
    return click.Option(names, callback=_remember, expose_value=False, **settings)


GLOBAL_OPTIONS: list[click.Parameter] = [
    _global_option("--index", metavar="NAME|PATH", help="The index to use (or set DOWSE_INDEX)."),
    _global_option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The configuration file (or set DOWSE_CONFIG).",
    ),
    _global_option("-q", "--quiet", is_flag=True, help="Say nothing but errors on stderr."),
    _global_option("-v", "--verbose", is_flag=True, help="Say more: what happens inside, and how long it takes."),
    click.Option(
        ("--log-format",),
        type=click.Choice(["text", "json"]),
        callback=_remember_format,
        expose_value=False,
        help="How stderr reads: lines for people, or a JSON object per line.",
    ),
]


class Command(click.Command):
    """A command that also takes the global options."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Own parameters and the global ones."""
        return [*super().get_params(ctx), *GLOBAL_OPTIONS]


class Group(click.Group):
    """A group of commands that also takes the global options, and suggests the nearest command."""

    command_class = Command

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Own parameters and the global ones."""
        return [*super().get_params(ctx), *GLOBAL_OPTIONS]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(args[0], names, n=1)
            suggestion = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"There is no command '{args[0]}'.{suggestion}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """The group of `COMMANDS`: a name is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # the signature is click's
        """Every command, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command = getattr(import_module(f"{_PACKAGE}.{module}"), attribute)
        assert isinstance(command, click.Command)  # noqa: S101  # the table is ours
        return command


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def root(context: click.Context) -> None:
    """Search your documents by words and by meaning, on this machine alone.

    Start with `collection add FOLDER`, then ask with `query`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
