"""A hit as much of which is shown as fits, with true spans and a mark for what is left out."""

from collections.abc import Callable
from dataclasses import replace

from dowse.records import record
from dowse.search.budget.sentences import cut
from dowse.types import Chunk, Hit, Snippet

__all__ = ["Portion", "shorter_passage", "shorter_snippet"]

Count = Callable[[str], int]

_LEAST = 8  # tokens: fewer of a longer text say nothing


@record
class Portion:
    """A hit, whole or shortened; its chunk's and snippet's texts and spans are those of what is shown."""

    hit: Hit
    before: int = 0
    """How many tokens of the text are left out in front of it."""
    after: int = 0
    """And how many behind it."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.before and not self.after

    @property
    def passage(self) -> str:
        """The passage's text for the reader, with marks where some of it is left out."""
        return self._marked(self.hit.chunk.text)

    @property
    def snippet(self) -> str:
        """The snippet's text in the same way."""
        return self._marked(self.hit.snippet.text)

    @property
    def shown(self) -> Hit:
        """The hit with the marks in its snippet, for renderers of hits."""
        return replace(self.hit, snippet=replace(self.hit.snippet, text=self.snippet)) if self.after else self.hit

    def _marked(self, text: str) -> str:
        front = "\u2026 " if self.before else ""
        return f"{front}{text} \u2026 [{self.after:,} more tokens]" if self.after else f"{front}{text}"


def shorter_snippet(portion: Portion, max_tokens: int, count: Count) -> Portion | None:
    """The hit with a snippet of at most so many tokens; its passage, and what is cited, stay as they are."""
    snippet = portion.hit.snippet
    text = _beginning(snippet.text, max_tokens, count)
    if not text:
        return None
    left = count(snippet.text[len(text) :].strip())
    return Portion(replace(portion.hit, snippet=_clipped(snippet, snippet.start, text)), after=portion.after + left)


def shorter_passage(portion: Portion, max_tokens: int, count: Count) -> Portion | None:
    """The hit with a passage of at most so many tokens, its span and lines those of what is left.

    It starts with the passage, or where that would leave out the lines that answer, with these.
    """
    chunk, snippet = portion.hit.chunk, portion.hit.snippet
    at, text = 0, _beginning(chunk.text, max_tokens, count)
    answering = snippet.start - chunk.start
    if snippet.text and 0 < answering < len(chunk.text) and answering + len(snippet.text) > len(text):
        at, text = answering, _beginning(chunk.text[answering:], max_tokens, count)
    if not text:
        return None
    return Portion(
        replace(
            portion.hit,
            chunk=_part(chunk, at, text, count),
            snippet=_clipped(snippet, chunk.start + at, text),
        ),
        before=portion.before + count(chunk.text[:at].strip()),
        after=portion.after + count(chunk.text[at + len(text) :].strip()),
    )


def _beginning(text: str, max_tokens: int, count: Count) -> str:
    """As much of a text as fits; empty where that is too little to be of use."""
    part = cut(text, max_tokens, count)
    return part if len(part) == len(text) or (max_tokens >= _LEAST and any(map(str.isalnum, part))) else ""


def _part(chunk: Chunk, at: int, text: str, count: Count) -> Chunk:
    first_line = chunk.first_line + chunk.text.count("\n", 0, at)
    start = chunk.start + at
    return replace(
        chunk,
        text=text,
        start=start,
        end=start + len(text),
        first_line=first_line,
        last_line=first_line + text.count("\n"),
        tokens=count(text),
    )


def _clipped(snippet: Snippet, start: int, text: str) -> Snippet:
    """As much of a snippet as stands in this text, which starts there in the document."""
    length = max(0, min(len(snippet.text), start + len(text) - snippet.start))
    inside = (span for span in snippet.highlights if span[0] < length)
    highlights = tuple((first, min(last, length)) for first, last in inside)
    return replace(snippet, text=snippet.text[:length].rstrip(), highlights=highlights)
