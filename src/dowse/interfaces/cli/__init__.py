"""The command line: `dowse`, also installed as `qmd`.

`main` is the entry point of both. It runs one command and turns whatever happens into an exit code
and, on stderr, `error:` and `hint:` lines. stdout carries data alone.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from dowse.errors import DowseError
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import root
from dowse.interfaces.cli.session import Session, Stopped

EXIT_WORSE = 9
"""`eval --strict`: answers are worse than in the run before, by more than chance."""
EXIT_BUG = 70
"""An error that Dowse did not foresee: a bug."""
EXIT_OUTPUT = 74
"""stdout cannot be written to, for example because its disk is full."""
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE: the reader of our output, such as `head`, has seen enough."""
_PROGRAMS = ("dowse", "qmd")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    terminal.prepare_streams()
    terminal.use_log_format("text")  # until this command line says otherwise
    try:
        code = _run(_program_name(), list(sys.argv[1:] if argv is None else argv))
        terminal.flush()
    except terminal.OutputError as failure:
        terminal.abandon_stdout()
        if failure.reader_left:
            return EXIT_BROKEN_PIPE
        terminal.talk(f"error: {failure}")
        return EXIT_OUTPUT
    return code


def _run(program: str, arguments: list[str]) -> int:
    """One command, with every exception but that of the output turned into an exit code."""
    variable = f"_{program.upper()}_COMPLETE"
    try:
        if variable in os.environ:
            return _complete(program, variable)
        with root.make_context(program, arguments, obj=Session(program=program)) as context:
            root.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as failure:
        return _misused(failure)
    except DowseError as failure:
        _report(program, failure.message, failure.hint, failure.code)
        return failure.exit_code
    except (KeyboardInterrupt, click.Abort) as stop:
        message = terminal.as_typed(str(stop), program) if isinstance(stop, Stopped) else "Stopped."
        terminal.talk(f"\n{message}")
        return EXIT_INTERRUPTED
    except terminal.OutputError:
        raise
    except Exception as failure:  # the last line of defence: never a traceback by default
        if isinstance(failure, BrokenPipeError) and terminal.reader_has_left():
            raise terminal.OutputError(failure) from failure
        return _unexpected(failure)
    return 0


def _complete(program: str, variable: str) -> int:
    """Answer a shell that asks, through the script of `dowse completion`, what could come next."""
    from click.shell_completion import shell_complete  # asked for by shells alone

    return shell_complete(root, {}, program, variable, os.environ[variable])


def _program_name() -> str:
    name = Path(sys.argv[0]).stem.lower()
    return name if name in _PROGRAMS else _PROGRAMS[0]


def _misused(failure: click.ClickException) -> int:
    context = getattr(failure, "ctx", None)
    if context is not None:
        terminal.talk(context.get_usage())
        _report(context.find_root().info_name, failure.format_message(), f"Try '{context.command_path} --help'.")
    else:
        terminal.talk(f"error: {failure.format_message()}")
    return failure.exit_code


def _report(program: str, message: str, hint: str, code: str = "usage") -> None:
    terminal.talk(f"error: {terminal.as_typed(message, program)}", "error", code=code)
    if hint:
        terminal.talk(f"hint: {terminal.as_typed(hint, program)}", code=code)


def _unexpected(failure: Exception) -> int:
    if os.environ.get("DOWSE_DEBUG", "0") not in {"", "0"}:
        import traceback  # for whoever asked

        terminal.talk("".join(traceback.format_exception(failure)))
    terminal.talk(f"error: {type(failure).__name__}: {failure}", "error", code="bug")
    terminal.talk("hint: This is a bug; run again with DOWSE_DEBUG=1 for the trace.")
    return EXIT_BUG
