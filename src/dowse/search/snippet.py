"""The few lines of a passage that answer the query best, with true line numbers and matched spans."""

import re
from collections.abc import Sequence

from dowse.text.analyse import analyse
from dowse.types import Chunk, Snippet

_LENGTH = 300  # characters, as the qmd specification has it
_RUN = re.compile(r"\w+")


class Matcher:
    """Finds the words of a text that are words of the query, as the analyser sees them.

    Made once per query. A pattern over the beginnings of the query's terms picks the few words worth
    analysing, so that a snippet does not cost an analysis of its whole passage.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = frozenset(terms)
        beginnings = sorted({_beginning(term) for term in terms})
        self._pattern = re.compile("|".join(map(re.escape, beginnings)), re.IGNORECASE) if beginnings else None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The matched words of a text, in order, not overlapping."""
        found: list[tuple[int, int]] = []
        if self._pattern is None:
            return found
        end = 0
        for hit in self._pattern.finditer(text):
            if hit.start() < end:
                continue
            start, end = _word_around(text, hit.start(), hit.end())
            if not self._terms.isdisjoint(analyse(text[start:end])):
                found.append((start, end))
            elif not self._terms.isdisjoint(analyse(hit.group())):
                found.append(hit.span())
        return found


def snippet(chunk: Chunk, matcher: Matcher) -> Snippet:
    """The window of whole lines with the most matched words; a line that is too long is cut around them."""
    spans = matcher.spans(chunk.text)
    lines = _lines(chunk.text)
    counts = [sum(start <= at < end for at, _ in spans) for start, end in lines]
    first, last = _best_window(lines, counts)
    start, end = lines[first][0], lines[last][1]
    if end - start > _LENGTH:
        start, end = _cut(chunk.text, start, end, [at for at, _ in spans if start <= at < end])
    while start < end and chunk.text[start] == "\n":
        start += 1
        first += 1
    text = chunk.text[start:end].rstrip()
    inside = tuple((a - start, min(b - start, len(text))) for a, b in spans if start <= a < start + len(text))
    return Snippet(text, chunk.first_line + first, chunk.start + start, inside)


def _beginning(term: str) -> str:
    """What every form of a stemmed term starts with: `happi` stands for happy and happiness."""
    return term[:-1] if len(term) > 3 and term[-1] in "iy" else term  # noqa: PLR2004 - a shorter stem says too little


def _word_around(text: str, start: int, end: int) -> tuple[int, int]:
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    tail = _RUN.match(text, end)
    return start, tail.end() if tail else end


def _lines(text: str) -> list[tuple[int, int]]:
    bounds, start = [], 0
    for line in text.split("\n"):
        bounds.append((start, start + len(line)))
        start += len(line) + 1
    return bounds


def _best_window(lines: Sequence[tuple[int, int]], counts: Sequence[int]) -> tuple[int, int]:
    """The run of lines within the length that holds the most matches; the first one among equals."""
    best, best_count = (0, 0), -1
    first = count = 0
    for last, (_, end) in enumerate(lines):
        count += counts[last]
        while first < last and end - lines[first][0] > _LENGTH:
            count -= counts[first]
            first += 1
        if count > best_count:
            best, best_count = (first, last), count
    first, last = best
    while last + 1 < len(lines) and lines[last + 1][1] - lines[first][0] <= _LENGTH:
        last += 1
    return first, last


def _cut(text: str, start: int, end: int, matches: Sequence[int]) -> tuple[int, int]:
    """A part of one long line, from a little before its first match, at the ends of words."""
    at = matches[0] if matches else start
    left = max(start, min(at - _LENGTH // 4, end - _LENGTH))
    if left > start and (space := text.find(" ", left, left + 40)) >= 0:
        left = space + 1
    right = min(left + _LENGTH, end)
    if right < end and (space := text.rfind(" ", right - 40, right)) > left:
        right = space
    return left, right
