"""A page as pdfium sees it: its words with their places, put together to fragments of lines.

pdfium gives characters in the order in which they are drawn, with the spaces and line ends that it infers.
A box is asked for where words begin and end only, since each question costs about as much as all the rest
that is done for a character. Coordinates are turned so that text runs along x, whatever way the page is
turned, and lines follow each other downwards along y.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import hypot
from typing import Any, NamedTuple

from dowse.ingest.extract.pdf.words import HYPHEN, tidy

__all__ = ["FAR", "SKEWED", "Fragment", "PageText", "Word", "read_text", "turned"]

SKEWED = 4
"""The turn of text that runs neither along nor across the page, as a watermark does."""

_MOST_CHARACTERS = 400_000
"""Of one page; a large poster has some 50,000."""
_SKEW = 0.2
FAR = 1e6
"""No page is so large."""
_BELOW, _ABOVE = 0.25, 0.8
"""How far letters reach from the baseline, in ems."""
_WIDEST_SPACE = 0.6
"""In ems; wider ones part fragments. In even lines they are wider at times, which costs nothing: fragments of a
line that belong together are joined again."""
_WORD = re.compile(rf"[^\s\0{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
_LINE = re.compile(r"[^\r\n]+")
_FIXED_WIDTH = re.compile(rb"cour|mono|consol|typewriter|cmtt|menlo|inconsol|fixed|code", re.IGNORECASE)
_LONGEST_FONT_NAME = 128


class Fragment(NamedTuple):
    """Words that follow each other closely on one line."""

    text: str
    x0: float
    x1: float
    bottom: float
    top: float
    """Its box is reckoned from baseline and size: what fonts say of their own height is unreliable."""
    y: float
    """The baseline."""
    size: float
    order: int
    """When it is drawn."""
    words: Sequence["Word"]
    mono: bool = False
    """Whether its letters are all of one width, as in code."""

    @property
    def first(self) -> float:
        """How wide the first word is."""
        return self.words[0].x1 - self.words[0].x0

    @property
    def middle(self) -> float:
        """Where its letters have their middle, of whatever size they are."""
        return (self.bottom + self.top) / 2


class PageText(NamedTuple):
    """The fragments of a page by their turn: 0 runs to the right, 1 up, 2 to the left, 3 down, or SKEWED."""

    turns: dict[int, list[Fragment]]
    characters: int
    cut: bool
    readable: bool
    """Whether most of its fonts say which letters they draw; without that, the text makes no sense."""


class Word(NamedTuple):
    """A word and the box around it; `start` is the number of its first character on the page."""

    text: str
    start: int
    x0: float
    y0: float
    x1: float
    y1: float


def turned(turn: int, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    """A box as seen by who has turned the page so that text with this turn can be read."""
    if turn == 1:
        return y0, -x1, y1, -x0
    if turn == 2:  # noqa: PLR2004 - the turns are numbers
        return -x1, -y1, -x0, -y0
    if turn == 3:  # noqa: PLR2004 - the same
        return -y1, x0, -y0, x1
    return x0, y0, x1, y1


def read_text(raw: Any, page: Any) -> PageText:
    """The fragments of a page, in the order in which they are drawn."""
    handle = raw.FPDFText_LoadPage(page)
    if not handle:
        return PageText({}, 0, cut=False, readable=True)
    try:
        return _Reader(raw, handle).read()
    finally:
        raw.FPDFText_ClosePage(handle)


class _Reader:
    """Reads one page of text."""

    def __init__(self, raw: Any, handle: Any) -> None:
        self._raw = raw
        self._handle = handle
        self._fonts: dict[bytes, bool] = {}
        self._name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
        self._flags = ctypes.c_int()
        self._matrix = raw.FS_MATRIX()
        self._rect = raw.FS_RECTF()
        self._rect_address = ctypes.byref(self._rect)
        self._last = (0.0, 0.0, 1.0, 1.0)
        self._turns: dict[int, list[Fragment]] = {}
        self._order = 0
        self._letters = self._unmapped = 0

    def read(self) -> PageText:
        text, cut = self._text()
        for line in _LINE.finditer(text):
            spans = [
                (line.start() + start, line.start() + end) for start, end in map(re.Match.span, _WORD.finditer(line[0]))
            ]
            for turn, part in self._by_turn(spans):
                words = self._words(text, part, turn)
                for run in [list(words)] if turn == SKEWED else _runs(words):
                    self._add(run, turn)
        return PageText(self._turns, len(text), cut, 2 * self._unmapped <= self._letters)

    def _by_turn(self, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        """Words of a line by the way they run: pdfium takes what is drawn in one go for one line, turned or not."""
        if not spans:
            return
        turn = self._turn(spans[0][0])
        if len(spans) == 1 or self._turn(spans[-1][0]) == turn:
            yield turn, spans
            return
        for turn, part in groupby(spans, key=lambda span: self._turn(span[0])):
            yield turn, list(part)

    def _text(self) -> tuple[str, bool]:
        """One character per character that pdfium counts: those beyond 16 bits are two."""
        raw, handle = self._raw, self._handle
        count = max(0, int(raw.FPDFText_CountChars(handle)))
        asked = min(count, _MOST_CHARACTERS)
        buffer = (ctypes.c_ushort * (2 * asked + 2))()
        got = int(raw.FPDFText_GetText(handle, 0, asked, buffer)) - 1
        if got != asked:
            # Characters without a meaning are left out there; here each keeps its place.
            codes = [int(raw.FPDFText_GetUnicode(handle, index)) for index in range(asked)]
            text = "".join(map(chr, codes))
        else:
            text = bytes(buffer)[: 2 * got].decode("utf-16-le", "surrogatepass")
            if len(text) != got:
                text = "".join(map(chr, buffer[:got]))
        return text, asked < count

    def _turn(self, index: int) -> int:
        """Which way the line runs that begins with this character."""
        matrix = self._matrix
        if not self._raw.FPDFText_GetMatrix(self._handle, index, matrix):
            return 0
        along, across = abs(matrix.a), abs(matrix.b)
        if min(along, across) > _SKEW * max(along, across):
            return SKEWED
        if along >= across:
            return 0 if matrix.a >= 0 else 2
        return 1 if matrix.b > 0 else 3

    def _words(self, text: str, spans: Sequence[tuple[int, int]], turn: int) -> Iterator[Word]:
        for start, end in spans:
            x0, y0, x1, y1 = self._box(start, turn)
            if end - start == 1:
                yield Word(text[start:end], start, x0, y0, x1, y1)
                continue
            left, low, right, high = self._box(end - 1, turn)
            if (low < y1 and y0 < high) or turn == SKEWED:
                yield Word(text[start:end], start, min(x0, left), min(y0, low), max(x1, right), max(y1, high))
            else:
                # Letters below each other are no word, though drawn in one go.
                yield from self._words(text, [(index, index + 1) for index in range(start, end)], turn)

    def _box(self, index: int, turn: int) -> tuple[float, float, float, float]:
        """The box around a character, as wide as its font says; one without a sane place stays near the last one."""
        rect = self._rect
        if self._raw.FPDFText_GetLooseCharBox(self._handle, index, self._rect_address):
            x0, y0, x1, y1 = rect.left, rect.bottom, rect.right, rect.top
            if -FAR < x0 <= x1 < FAR and -FAR < y0 <= y1 < FAR:
                self._last = (x0, y0, x1, y1)
        return turned(turn, *self._last) if turn else self._last

    def _add(self, words: Sequence[Word], turn: int) -> None:
        middle = max(words, key=lambda word: word.x1 - word.x0)
        text = " ".join([word.text for word in words])
        self._letters += len(text)
        if self._raw.FPDFText_HasUnicodeMapError(self._handle, middle.start) == 1:
            self._unmapped += len(text)
        text = tidy(text)
        if not text:
            return
        size, y = self._measure(middle, turn)
        x0, x1 = min([word.x0 for word in words]), max([word.x1 for word in words])
        mono = all(self._is_mono(word.start) for word in (middle, words[0], words[-1]))
        box = (x0, x1, y - _BELOW * size, y + _ABOVE * size)
        self._turns.setdefault(turn, []).append(Fragment(text, *box, y, size, self._order, words, mono))
        self._order += 1

    def _measure(self, word: Word, turn: int) -> tuple[float, float]:
        """The size of the letters of a word and its baseline."""
        raw, handle, matrix = self._raw, self._handle, self._matrix
        height = max(word.y1 - word.y0, 0.1)
        if not raw.FPDFText_GetMatrix(handle, word.start, matrix):
            return 0.85 * height, word.y0 + 0.2 * height
        size = abs(raw.FPDFText_GetFontSize(handle, word.start)) * hypot(matrix.c, matrix.d)
        if not height / 3 <= size <= 2 * height:
            size = 0.85 * height
        _, y, _, _ = turned(turn, matrix.e, matrix.f, matrix.e, matrix.f)
        return size, y if word.y0 - 0.1 * size <= y <= word.y1 else word.y0 + 0.2 * height

    def _is_mono(self, index: int) -> bool:
        name, length = self._name, _LONGEST_FONT_NAME
        if not self._raw.FPDFText_GetFontInfo(self._handle, index, name, length, self._flags):
            return False
        found = self._fonts.get(name.value)
        if found is None:
            found = self._fonts[name.value] = bool(_FIXED_WIDTH.search(name.value))
        return found


def _runs(words: Iterator[Word]) -> Iterator[list[Word]]:
    """Cut a line where the next word stands too far away to follow; in writing from right to left it is on the left."""
    run: list[Word] = []
    for word in words:
        if run:
            before = run[-1]
            height = max(word.y1 - word.y0, before.y1 - before.y0)
            gap = max(word.x0 - before.x1, before.x0 - word.x1)
            if gap > _WIDEST_SPACE * height or word.y0 >= before.y1 or before.y0 >= word.y1:
                yield run
                run = []
        run.append(word)
    if run:
        yield run
