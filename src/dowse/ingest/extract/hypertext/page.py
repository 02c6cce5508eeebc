"""The state of a reading: the open paragraph, heading or code, and where finished parts go."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.ingest.extract.hypertext.inline import Inline
from dowse.ingest.extract.hypertext.sink import Sink
from dowse.ingest.extract.hypertext.tokens import unescaped

if TYPE_CHECKING:
    from dowse.ingest.extract.hypertext.parts import Table

__all__ = ["Closer", "Page"]

Closer = Callable[[], None]
"""What is to be done at the end of an element."""

_ENDS_HEADING = frozenset(str.split("article blockquote dl form hr main ol p pre section table ul"))


class Page:
    """A page while it is read."""

    def __init__(self, *, local_links: bool, shows_hidden: bool) -> None:
        self.title = ""
        self.language = ""
        self.metas: list[dict[str, str]] = []
        self.tokens = 0
        """How many tags and texts were read."""
        self.is_cut = False
        """Whether there were more than are read."""
        self.hidden = 0
        """The number of characters that people would not see."""
        self.shows_hidden = shows_hidden
        self.local_links = local_links
        self.sink = Sink()
        self.inline = Inline(local_links=local_links)
        self.heading = 0
        """The level of the open heading."""
        self.code: list[str] | None = None
        """The text of the open `pre`."""
        self.code_language = ""
        self.counters: list[int] = []
        """The numbers of the next items, -1 for a list without; one per open list."""
        self.tables: list[Table] = []
        self.is_dropping = False
        self._is_hidden = False

    def text(self, text: str) -> None:
        """Go on with a text, as it is written."""
        if self.is_dropping:
            if self._is_hidden:
                self.hidden += len(text.strip())
        elif self.code is not None and not self.heading:
            self.code.append(unescaped(text))
        else:
            self.inline.add(unescaped(text))

    def break_line(self) -> None:
        """A line ends."""
        if self.heading:
            self.inline.add(" ")
        elif self.code is not None:
            self.code.append("\n")
        else:
            self.inline.break_line()

    def break_block(self, tag: str) -> None:
        """A block of this name begins or ends."""
        if self.is_dropping:
            return
        if self.heading and tag not in _ENDS_HEADING:
            self.inline.add(" ")
        elif self.code is not None and not self.heading:
            if self.code and not self.code[-1].endswith("\n"):
                self.code.append("\n")
        else:
            self.flush()

    def flush(self) -> None:
        """End the open paragraph or heading."""
        level, self.heading = self.heading, 0
        self.inline.is_plain = False
        for text, words in self.inline.finish():
            if level:
                self.sink.heading(level, text, words)
            else:
                self.sink.write("paragraph", text, words)

    def flush_code(self) -> None:
        """Write the code so far; the `pre` may go on."""
        if self.code:
            self.sink.code("".join(self.code), self.code_language)
            self.code = []

    def drop(self, *, is_hidden: bool) -> Closer:
        """Leave out what follows, up to the end of the element."""
        self.is_dropping, self._is_hidden = True, is_hidden

        def close() -> None:
            self.is_dropping = False

        return close
