"""One run of the program: the global options, the configuration they lead to, and the engine."""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Config
from dowse.interfaces.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dowse.engine import Engine


class Stopped(KeyboardInterrupt):
    """Ctrl-C at a place that can say how to go on."""


@dataclass
class Session:
    """What the global options said; made once per run and handed to every command."""

    program: str = "dowse"
    index: str | None = None
    config_file: Path | None = None
    quiet: bool = False
    verbose: bool = False
    log_format: str = "text"
    format: str | None = None
    """The output format, for the commands that have several; None: the default one."""

    @cached_property
    def config(self) -> Config:
        """The configuration that this run works with."""
        return Config.load(self.config_file, index=self.index)

    @contextmanager
    def engine(self, *, create: bool = False) -> "Iterator[Engine]":
        """Open the index; with `create`, one that is not there yet counts as empty until it is written to."""
        from dowse.engine import open_engine  # `--help` and mistakes need no engine

        with self._logged(), open_engine(config=self.config, create=create, on_message=self.say) as engine:
            yield engine

    @contextmanager
    def _logged(self) -> "Iterator[None]":
        """Show what happens inside, to whoever asked for it."""
        if not self.verbose:
            yield
            return
        from dowse.logs import listen  # few ask

        with listen(terminal.show_record):
            yield

    def say(self, text: str) -> None:
        """Tell people on stderr, unless they want quiet."""
        if not self.quiet:
            terminal.talk(terminal.as_typed(text, self.program))
