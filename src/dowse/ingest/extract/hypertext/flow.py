"""A page read from top to bottom: its tags and texts become headings, paragraphs, items, code and tables.

There is no tree. A stack of open elements, never deeper than 512, says what to do at the end of each; whatever
is nested deeper is read as if it stood at that depth. Inline markup becomes Markdown where it carries
meaning (links, code), and vanishes where it is only looks.
"""

from collections.abc import Iterable

from dowse.ingest.extract.hypertext.elements import HEADINGS, OPENERS, open_void
from dowse.ingest.extract.hypertext.page import Closer, Page
from dowse.ingest.extract.hypertext.parts import Zone
from dowse.ingest.extract.hypertext.stack import BLOCKS, VOID, Stack
from dowse.ingest.extract.hypertext.tokens import Token
from dowse.ingest.extract.hypertext.zones import Hint, hint_of

__all__ = ["read"]

_MOST_TOKENS = 2_000_000
"""A page of 20 MB has about half as many; a page made of nothing but tags must come to an end."""
_MOST_WEIGHED = 8
"""Elements inside one another whose links are weighed."""


def read(tokens: Iterable[Token], *, local_links: bool, shows_hidden: bool) -> Page:
    """Read a page, up to the limit."""
    flow = _Flow(Page(local_links=local_links, shows_hidden=shows_hidden))
    flow.read(tokens)
    return flow.page


class _Flow:
    """One reading of one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._stack = Stack()
        self._weighed = 0
        self._menus = 0

    def read(self, tokens: Iterable[Token]) -> None:
        """Read them in order."""
        page, start, end = self.page, self._start, self._end
        for number, (kind, value, written, is_empty) in enumerate(tokens, 1):
            page.tokens = number
            if number > _MOST_TOKENS:
                page.is_cut = True
                break
            if kind == "text":
                page.text(value)
            elif kind == "start":
                start(value, written, is_empty=is_empty)
            else:
                end(value)
        self._stack.end_all()
        page.flush()

    def _start(self, tag: str, written: str, *, is_empty: bool) -> None:
        page, stack = self.page, self._stack
        if tag in VOID:
            if not page.is_dropping:
                open_void(page, tag, written)
            return
        name = "h" if tag in HEADINGS else tag
        is_block = name in BLOCKS
        if is_block:
            page.break_block(tag)
        stack.make_room(name)
        if stack.is_full:
            if is_block and not is_empty:
                stack.skip()
            return
        closer = None if page.is_dropping else self._open(tag, written)
        if closer or is_block or page.is_dropping or name in stack:
            stack.push(name, closer)
            if is_empty:
                self._end(tag)

    def _end(self, tag: str) -> None:
        name = "h" if tag in HEADINGS else tag
        if name in BLOCKS:
            self.page.break_block(tag)
        self._stack.end(name)

    def _open(self, tag: str, written: str) -> Closer | None:
        hint = hint_of(tag, written)
        if hint is Hint.HIDDEN and not self.page.shows_hidden:
            return self.page.drop(is_hidden=True)
        leave = self._enter(hint) if hint and tag in BLOCKS else None
        opener = OPENERS.get(tag)
        close = opener(self.page, tag, written) if opener else None
        if not leave or not close:
            return leave or close
        # Names of their own: what a nested function refers to may be None for all that the checker knows.
        first, last = close, leave

        def close_and_leave() -> None:
            first()
            last()

        return close_and_leave

    def _enter(self, hint: Hint) -> Closer | None:
        """Begin an element that says which zone of the page it is."""
        page, before = self.page, self.page.sink.zone
        in_article = before <= Zone.ARTICLE or "section" in self._stack
        if hint is Hint.MAIN:
            zone = Zone.MAIN
        elif before is Zone.CHROME:
            return None
        elif hint is Hint.ARTICLE:
            zone = min(before, Zone.ARTICLE)
        elif hint is Hint.CHROME or (hint is Hint.MARGIN and not in_article):
            zone = Zone.CHROME
            self._menus += 1
        else:
            return self._weigh(is_banner=hint is Hint.HEADER and not in_article)
        page.sink.zone = zone

        def leave() -> None:
            page.flush()
            page.sink.zone = before

        return leave

    def _weigh(self, *, is_banner: bool) -> Closer | None:
        """Begin an element that turns out to be chrome, or not, by what it holds."""
        if self._weighed >= _MOST_WEIGHED:
            return None
        self._weighed += 1
        sink, menus = self.page.sink, self._menus
        zone, parts, start = sink.zone, sink.parts, len(sink.parts)

        def leave() -> None:
            self.page.flush()
            self._weighed -= 1
            inside = parts[start:]
            has_title = any(part.level == 1 for part in inside) and menus == self._menus
            is_linked = 2 * sum(part.words for part in inside) < sum(len(part.text) for part in inside)
            if is_linked or (is_banner and not has_title):
                for part in inside:
                    if part.zone >= zone:
                        part.zone = Zone.CHROME

        return leave
