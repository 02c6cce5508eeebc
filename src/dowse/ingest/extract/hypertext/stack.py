"""The open elements of a page: how deep they may nest, and which tags end which of them."""

from collections import Counter
from collections.abc import Iterable

from dowse.ingest.extract.hypertext.page import Closer

__all__ = ["BLOCKS", "VOID", "Stack"]


_DEEPEST = 512
"""As in browsers."""

VOID = frozenset(
    str.split("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")
)
BLOCKS = frozenset(
    str.split(
        "address article aside blockquote body caption center colgroup dd details dialog dir div dl dt fieldset "
        "figcaption figure footer form frameset h header hgroup hr html legend li listing main menu nav noframes ol "
        "optgroup option p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp"
    )
)
_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_CELLS = frozenset({"td", "th", "caption"})
_GROUPS = ("thead", "tbody", "tfoot")
_OF_TABLES = frozenset({"table", "tr", *_CELLS, *_GROUPS})
# What an element may not stand in: its start ends them, up to the innermost list or table.
_ENDED_IN_LIST = {"li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd")}
_ENDED_IN_TABLE = {
    "td": ("td", "th", "caption"),
    "th": ("td", "th", "caption"),
    "tr": ("tr", "caption"),
    **dict.fromkeys(_GROUPS, (*_GROUPS, "tr", "caption")),
}


class Stack:
    """The open elements, outermost first, each with what is to be done at its end."""

    def __init__(self) -> None:
        self._tags: list[str] = []
        self._closers: list[Closer | None] = []
        self._open: Counter[str] = Counter()
        self._overflow = 0
        """Elements that are too deep to be on the stack."""
        self._borders: dict[str, list[int]] = {"block": [], "cell": [], "list": [], "table": []}
        """Where the elements lie that end tags of others do not reach beyond."""

    @property
    def is_full(self) -> bool:
        """Whether the next element is too deep; it is to be counted by `skip`."""
        return len(self._tags) >= _DEEPEST

    def __contains__(self, tag: str) -> bool:
        return self._open[tag] > 0

    def skip(self) -> None:
        """An element begins that is too deep."""
        self._overflow += 1

    def push(self, tag: str, closer: Closer | None = None) -> None:
        """An element begins."""
        index = len(self._tags)
        self._tags.append(tag)
        self._closers.append(closer)
        self._open[tag] += 1
        if tag in BLOCKS:
            self._borders["block"].append(index)
            if tag in _LISTS:
                self._borders["list"].append(index)
            elif tag in _CELLS:
                self._borders["cell"].append(index)
            elif tag == "table":
                self._borders["table"].append(index)

    def make_room(self, tag: str) -> None:
        """End what ends where an element of this name begins."""
        if tag in _ENDED_IN_LIST:
            self._end_innermost(_ENDED_IN_LIST[tag], max(self._border("list"), self._border("cell")))
        elif tag in _ENDED_IN_TABLE:
            self._end_innermost(_ENDED_IN_TABLE[tag], self._border("table"))
        elif tag in {"a", "h"}:
            self._end_innermost((tag,), self._border("cell"))
        if tag in BLOCKS:
            self._end_innermost(("p",), self._border("cell"))

    def end(self, tag: str) -> None:
        """An end tag: ends the innermost element of this name and all inside it, unless it cannot reach it."""
        if self._overflow and (tag in BLOCKS or tag in self):
            self._overflow -= 1
            return
        kind = "table" if tag in _OF_TABLES else "cell" if tag in BLOCKS else "block"
        border = self._border(kind)
        self._end_innermost((tag,), border - 1 if tag == "table" else border)

    def end_all(self) -> None:
        """The page ends."""
        self._pop_to(0)

    def _border(self, kind: str) -> int:
        borders = self._borders[kind]
        return borders[-1] if borders else -1

    def _end_innermost(self, tags: Iterable[str], border: int) -> None:
        """End the outermost of the innermost elements of these names that lie inside the border."""
        places = [self._last(tag) for tag in tags if self._open[tag]]
        inside = [place for place in places if place > border]
        if inside:
            self._pop_to(min(inside))

    def _last(self, tag: str) -> int:
        return len(self._tags) - 1 - self._tags[::-1].index(tag)

    def _pop_to(self, index: int) -> None:
        while len(self._tags) > index:
            self._open[self._tags.pop()] -= 1
            closer = self._closers.pop()
            for borders in self._borders.values():
                if borders and borders[-1] == len(self._tags):
                    borders.pop()
            if closer:
                closer()
