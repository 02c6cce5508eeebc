"""From a document's blocks to chunks: the passages that are searched, embedded and cited.

The rules: a chunk never crosses from one section or unit (a page, a function) into another; a section
that fits is one chunk, however small; a longer one becomes as few near-equal chunks as fit, cut between
blocks, and inside a block only when it alone is too long. A section's first chunk starts at its heading.
Together the chunks hold every character that is not white space, each exactly once unless an overlap is
asked for.

Front matter is text that people search for (tags, aliases), so it is kept: short front matter opens the
first section's first chunk, where title and tags help the passage to be found; longer front matter would
drown it, in words and above all in its vector, and is a chunk of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from dowse.errors import ConfigError
from dowse.ingest.chunk.overlap import extend_back
from dowse.ingest.chunk.pack import pack
from dowse.ingest.chunk.pieces import LIKELY_CHARACTERS, cut_blocks, cut_span, windows
from dowse.ingest.chunk.sections import Section, sections
from dowse.ingest.chunk.units import Units
from dowse.ingest.extract import Block, Extracted
from dowse.text.tokens import TokenCounter, TokenIndex
from dowse.types import Chunk, Chunking

__all__ = ["CHUNKER", "check_chunking", "chunk"]

CHUNKER = "1"
"""Part of every document's recipe: it changes whenever the same blocks would give other chunks."""

_FEWEST_TOKENS = 16
_FRONT_MATTER_SHARE = 4
_HINT = "The defaults suit most documents: 256 tokens, without overlap."


_DEFAULTS = Chunking()


def check_chunking(settings: Chunking) -> None:
    """Raise ConfigError for settings that cannot be."""
    if settings.max_tokens < _FEWEST_TOKENS:
        raise ConfigError(f"max_tokens is {settings.max_tokens}, and must be at least {_FEWEST_TOKENS}.", hint=_HINT)
    if settings.min_tokens < 0:
        raise ConfigError(f"min_tokens is {settings.min_tokens}, and must be at least 0.", hint=_HINT)
    if not 0 <= settings.overlap_tokens <= settings.max_tokens // 2:
        raise ConfigError(
            f"overlap_tokens is {settings.overlap_tokens}, and must be 0 to half of max_tokens.", hint=_HINT
        )


def chunk(extracted: Extracted, counter: TokenCounter, settings: Chunking = _DEFAULTS) -> tuple[Chunk, ...]:
    """Cut a document; in the order of its text, with `chunk.text == extracted.text[start:end]`."""
    check_chunking(settings)
    text = extracted.text
    chunks: list[Chunk] = []
    position, line = 0, 1
    units = Units(extracted)
    for section in _sections(extracted, counter, settings):
        for start, end, tokens in _spans(text, section.blocks, counter, settings):
            line += text.count("\n", position, start)
            position = start
            passage = text[start:end]
            last_line = line + passage.count("\n")
            page, place = units.place_of(section.unit, start, end)
            chunks.append(
                Chunk(passage, start, end, line, last_line, tokens, section.headings, section.level, page, place)
            )
    return tuple(chunks)


def _sections(extracted: Extracted, counter: TokenCounter, settings: Chunking) -> Iterator[Section]:
    """The document's sections, the first one with the front matter if that is short."""
    found = sections(extracted.blocks, extracted.units)
    first = next(found, None)
    if first and first.blocks[0].kind == "front matter":
        block = first.blocks[0]
        second = next(found, None)
        tokens = counter.count(extracted.text[block.start : block.end])
        if second and tokens <= settings.max_tokens // _FRONT_MATTER_SHARE:
            first = second._replace(blocks=[block, *second.blocks])
        elif second:
            yield first
            first = second
    if first:
        yield first
    yield from found


def _spans(
    text: str, blocks: Sequence[Block], counter: TokenCounter, settings: Chunking
) -> Iterator[tuple[int, int, int]]:
    """Start, end and tokens of the chunks of one section."""
    start, end = blocks[0].start, blocks[-1].end
    if end - start <= settings.max_tokens * LIKELY_CHARACTERS:
        tokens = counter.count(text[start:end])
        if tokens <= settings.max_tokens:
            yield start, end, tokens
            return
    room = settings.max_tokens - settings.overlap_tokens
    for group in windows(text, blocks):
        spans = _cut(text, group, counter, room, settings.min_tokens)
        if settings.overlap_tokens:
            index = counter.index(text, group[0].start, group[-1].end)
            spans = _overlapping(text, spans, index, settings)
        yield from spans


def _cut(
    text: str, blocks: Sequence[Block], counter: TokenCounter, most: int, least: int
) -> Iterator[tuple[int, int, int]]:
    """Spans of at most `most` tokens that cover the blocks."""
    for pieces in pack(cut_blocks(text, blocks, counter, most), most, least):
        start, end = pieces[0].start, pieces[-1].end
        tokens = pieces[0].tokens + sum(piece.added for piece in pieces[1:])
        if all(before.end < after.start for before, after in pairwise(pieces)):
            yield start, end, tokens
            continue
        # Without white space between pieces the sum is only near: their tokens may merge, or part anew.
        tokens = counter.count(text[start:end])
        if tokens <= most:
            yield start, end, tokens
        else:
            index = counter.index(text, start, end)
            for piece in cut_span(text, (start, start, end), index, most):
                yield piece.start, piece.end, piece.tokens


def _overlapping(
    text: str, spans: Iterable[tuple[int, int, int]], index: TokenIndex, settings: Chunking
) -> Iterator[tuple[int, int, int]]:
    floor: int | None = None
    for start, end, tokens in spans:
        if floor is None:
            yield start, end, tokens
        else:
            most = settings.max_tokens
            shared = extend_back(text, floor, (start, end), index, overlap=settings.overlap_tokens, most=most)
            yield shared, end, index.count(shared, end)
        floor = start
