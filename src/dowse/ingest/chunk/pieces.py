"""The pieces that chunks are put together from: blocks, and the parts of blocks that are too long.

A block that fits into a chunk is never cut. A longer one is cut where its kind allows it best (code at
empty lines, a paragraph at sentence ends), and a part that is still too long at the next level: lines,
words, and at last anywhere, as in text that has no spaces. Each piece carries what a chunk border before
it costs, so that the packer can weigh a good border against an even size.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from dowse.ingest.extract import Block, BlockKind
from dowse.text.tokens import TokenCounter, TokenIndex

__all__ = ["LIKELY_CHARACTERS", "Piece", "cut_blocks", "cut_span", "windows"]

_WINDOW = 1 << 16
"""The most characters that are packed at once, so that time and memory stay proportional to the text."""
_FINEST = 8
"""Parts of a block below this fraction of a chunk are joined again: finer borders gain nothing."""
_GRAIN = 16
"""The same for whole blocks; it bounds the packer's search."""


LIKELY_CHARACTERS = 5
"""What has more characters per token of room than this hardly ever fits, and is counted once, for being cut."""


class Piece(NamedTuple):
    """A span that no chunk border cuts."""

    start: int
    end: int
    tokens: int
    """Of the span by itself."""
    added: int
    """How many tokens a chunk grows by it and by the white space before it."""
    cost: float
    """Of a chunk border before it."""


class _Level(NamedTuple):
    """A kind of place to cut at, after each match, and the cost of doing so.

    Costs compare with the packer's price of uneven chunks: 0.1 is two chunks that are each a fifth of
    the maximum away from their ideal size.
    """

    border: re.Pattern[str]
    cost: float


_EMPTY_LINES = _Level(re.compile(r"\n[^\S\n]*\n(?:[^\S\n]*\n)*"), 0.1)
_ITEMS = _Level(re.compile(r"\n(?=[^\S\n]*(?:[-*+]|\d{1,9}[.)])[ \t])"), 0.1)
_LINES = _Level(re.compile(r"\n"), 0.3)
# A full stop before a small letter ends an abbreviation. CJK ones need no space after them.
_SENTENCES = _Level(
    re.compile(
        r"[.!?\u2026]['\"\u2019\u201d)\]*_`]*\s+(?=[^a-z\s])"
        r"|[\u3002\uff01\uff1f\uff61]['\"\u2019\u201d\u300d\u300f\uff09)\]]*\s*"
    ),
    0.15,
)
_WORDS = _Level(re.compile(r"\s+"), 0.6)
_ANYWHERE = 1.0
_HEADING = 100.0
_LEAD_IN = 0.3

_PROSE = (_SENTENCES, _LINES, _WORDS)
_VERBATIM = (_EMPTY_LINES, _LINES, _WORDS)
_CUTS: dict[BlockKind, tuple[_Level, ...]] = {
    "heading": _PROSE,
    "paragraph": _PROSE,
    "list": (_ITEMS, *_PROSE),
    "table": (_LINES, _WORDS),
    "code": _VERBATIM,
    "html": _VERBATIM,
    "front matter": (_LINES, _WORDS),
}


def windows(text: str, blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Groups of consecutive blocks of at most 64 K characters; a longer block becomes several."""
    group: list[Block] = []
    for block in blocks:
        for part in _bounded(text, block) if block.end - block.start > _WINDOW else (block,):
            if group and part.end - group[0].start > _WINDOW:
                yield group
                group = []
            group.append(part)
    if group:
        yield group


def cut_blocks(text: str, blocks: Sequence[Block], counter: TokenCounter, limit: int) -> list[Piece]:
    """The pieces of these blocks, each of at most `limit` tokens."""
    pieces: list[Piece] = []
    before: Block | None = None
    reached = blocks[0].start
    heading = 0
    for block in blocks:
        kind, start, end, _, _ = block
        cost = _border_cost(text, before, block)
        index = counter.index(text, reached, end) if end - start > limit * LIKELY_CHARACTERS else None
        if index:
            tokens, added = index.count(start, end), index.count(reached, end)
        else:
            tokens, added = counter.following(text, reached, start, end)
        # What follows a heading must fit beside it, or the heading would stand alone.
        beside = heading + added - tokens if heading else 0
        if 2 * beside > limit:
            beside = 0
        if tokens + beside <= limit:
            _append(pieces, Piece(start, end, tokens, added, cost), limit // _GRAIN)
        else:
            index = index or counter.index(text, reached, end)
            pieces += cut_span(text, (reached, start, end), index, limit - beside, _CUTS[kind], cost)
        heading = heading + added if kind == "heading" else 0
        before = block
        reached = end
    return pieces


def cut_span(
    text: str,
    span: tuple[int, int, int],
    index: TokenIndex,
    limit: int,
    levels: Sequence[_Level] = (_WORDS,),
    cost: float = 0.0,
) -> list[Piece]:
    """Cut a span that is too long at the first of these levels, and what is still too long at the next.

    The span is where the text before it ends, its start, and its end.
    """
    if not levels:
        return _cut_anywhere(text, span, index, limit, cost)
    reached, start, end = span
    level, *deeper = levels
    pieces: list[Piece] = []
    for part_start, part_end in _parts(text, start, end, level.border):
        price = level.cost if pieces else cost
        tokens = index.count(part_start, part_end)
        if tokens > limit:
            pieces += cut_span(text, (reached, part_start, part_end), index, limit, deeper, price)
        else:
            piece = Piece(part_start, part_end, tokens, index.count(reached, part_end), price)
            _append(pieces, piece, limit // _FINEST)
        reached = part_end
    return pieces


def _append(pieces: list[Piece], piece: Piece, grain: int) -> None:
    """Add a piece, or join it to the one before if both are small and white space lies between them."""
    if pieces:
        last = pieces[-1]
        if last.tokens + piece.added <= grain and last.end < piece.start:
            joined = last.added + piece.added
            pieces[-1] = Piece(last.start, piece.end, last.tokens + piece.added, joined, last.cost)
            return
    pieces.append(piece)


def _cut_anywhere(text: str, span: tuple[int, int, int], index: TokenIndex, limit: int, cost: float) -> list[Piece]:
    """Cut into parts of equally many characters, and those again that do not fit."""
    reached, start, end = span
    tokens = index.count(start, end)
    if tokens <= limit or end - start == 1:
        return [Piece(start, end, tokens, index.count(reached, end), cost)]
    step = max((end - start) // ceil(4 * tokens / limit), 1)
    pieces: list[Piece] = []
    while start < end:
        stop = min(start + step, end)
        while start + 1 < stop < end and _belongs_to_previous(text[stop]):
            stop -= 1
        pieces += _cut_anywhere(text, (reached, start, stop), index, limit, _ANYWHERE if pieces else cost)
        reached = start = stop
    return pieces


def _belongs_to_previous(character: str) -> bool:
    """Accents, variation selectors and joiners make no sense at the start of a chunk."""
    return unicodedata.category(character) in {"Mn", "Mc", "Me"} or character == "\u200d"


def _border_cost(text: str, before: Block | None, block: Block) -> float:
    if before is None:
        return 0.0
    if before.kind == "heading":
        return _HEADING
    introduces = before.kind == "paragraph" and block.kind != "paragraph" and text[before.end - 1] in ":\uff1a"
    opens = before.kind == "html" and not text.startswith("</", before.start)
    closes = block.kind == "html" and text.startswith("</", block.start)
    return _LEAD_IN if introduces or opens or closes else 0.0


def _parts(text: str, start: int, end: int, border: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for found in border.finditer(text, start, end):
        yield from _trimmed(text, start, found.end())
        start = found.end()
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without white space at its ends, but with the indent of its first line; none if empty."""
    body = text[start:end].rstrip()
    if not body:
        return
    end = start + len(body)
    if body[0].isspace():
        margin = len(body) - len(body.lstrip())
        line = body.rfind("\n", 0, margin) + 1
        at_line = line or start == 0 or text[start - 1] == "\n"
        start += line if at_line else margin
    yield start, end


def _bounded(text: str, block: Block) -> Iterator[Block]:
    """A very long block as several, cut after a line or a word where there is one."""
    start = block.start
    while block.end - start > _WINDOW:
        halfway, limit = start + _WINDOW // 2, start + _WINDOW
        stop = text.rfind("\n", halfway, limit) + 1 or text.rfind(" ", halfway, limit) + 1 or limit
        for part_start, part_end in _trimmed(text, start, stop):
            yield block._replace(start=part_start, end=part_end)
        start = stop
    for part_start, part_end in _trimmed(text, start, block.end):
        yield block._replace(start=part_start, end=part_end)
