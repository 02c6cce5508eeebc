"""What may reach a terminal: cleaned text, colour where it is wanted, talk on stderr.

Documents are data from anywhere, so control characters in them must not become commands to the
terminal. Meaning never depends on colour.
"""

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from dowse.interfaces.cli.commands import COMMANDS

if TYPE_CHECKING:
    from dowse.logs import Record

_talking = {"format": "text"}
"""How stderr is written; one for the process, as stderr is."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""C0 and C1 control characters except tab and newline: every escape sequence starts with one."""


class OutputError(Exception):
    """stdout does not take what is written to it."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"The output cannot be written: {cause.strerror or cause}.")
        self.reader_left = isinstance(cause, BrokenPipeError)
        """Whether the reader of a pipe, such as `head`, closed it: nothing to complain about."""


def prepare_streams() -> None:
    """Make both streams UTF-8 whatever the locale says; what UTF-8 cannot hold is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def abandon_stdout() -> None:
    """Point stdout nowhere, so that the interpreter's last flush cannot fail as well."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return


def as_utf8(argument: str) -> str:
    """An argument as its user typed it, where the locale made Python read it as something else than UTF-8."""
    try:
        return os.fsencode(argument).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # not from a command line
        return argument


def clean(text: str) -> str:
    """The text without control characters; tabs and newlines stay."""
    return _CONTROLS.sub("", text)


def one_line(text: str) -> str:
    """The cleaned text with every run of white space as one space."""
    return " ".join(clean(text.replace("\n", " ").replace("\t", " ")).split())


def counted(number: int, noun: str) -> str:
    """`1 document`, `2,000 documents`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: only on a terminal that can, and never against NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def emit(text: str) -> None:
    """Write data to stdout, ending in a newline; exact in a pipe or file, cleaned on a terminal."""
    write(clean(text) if sys.stdout.isatty() else text)


def write(text: str) -> None:
    """Write text that is already fit for stdout, colours included, ending in a newline."""
    try:
        sys.stdout.write(text if text.endswith("\n") or not text else f"{text}\n")
    except OSError as error:
        raise OutputError(error) from error


def flush() -> None:
    """Make sure that everything written has arrived."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error


def reader_has_left() -> bool:
    """Whether stdout is a pipe that nobody reads any more; where that cannot be asked, assume so."""
    import select  # asked after a failure alone

    try:
        watch = select.poll()
        watch.register(sys.stdout.fileno(), 0)
        return bool(watch.poll(0))
    except (AttributeError, OSError, ValueError):
        return True


def use_log_format(name: str) -> None:
    """Write to stderr as `text` or as `json` from now on."""
    _talking["format"] = name


def talk(text: str, level: str = "info", **fields: object) -> None:
    """Write a line for people to stderr, or an object for programs; nobody listening there is no reason to fail."""
    if _talking["format"] == "json":
        text = _as_json({"level": level, "event": "message", "message": text.strip(), **fields})
    try:
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()
    except OSError:
        return


def show_record(record: "Record") -> None:
    """Write an event of the log to stderr."""
    if _talking["format"] == "json":
        line = _as_json({"level": record.level, "event": record.event, **record.fields})
    else:
        line = " ".join(
            [f"{record.level}: {record.event}", *(f"{name}={value}" for name, value in record.fields.items())]
        )
    with suppress(OSError):
        sys.stderr.write(clean(line) + "\n")


def _as_json(fields: dict[str, object]) -> str:
    import json  # people read text
    from datetime import UTC, datetime  # the same

    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"time": now, **fields})


def as_typed(text: str, program: str) -> str:
    """The text with its example commands as this user would type them: `qmd update` for `dowse update`."""
    names = "|".join(map(re.escape, COMMANDS))
    return re.sub(rf"\bdowse(?= (?:{names})\b)", program, text)
