"""The few lines of a passage that answer the query best, with true line numbers and matched spans.

Words choose them, each by what it is worth. Meaning does only where a passage has none of the words: measured on
passages that hold the answer, the lines that are nearest to the question show less of it than those with its words.
"""

import re
from collections.abc import Callable, Sequence

from dowse.search.matching import Match, Matcher
from dowse.types import Chunk, Snippet

_LENGTH = 300  # characters, as the qmd specification has it
_PIECE = re.compile(r"\S(?:.{0,98}\S)?(?!\S)|\S{1,100}")
"""How much of a line that is longer than a snippet is taken or left at a time: whole words, where there are any."""
_MOST_COMPARED = 12  # windows of a passage that has none of the words

Nearest = Callable[[Sequence[str]], int]
"""Which of some texts is the nearest to the question in meaning."""


def snippet(
    chunk: Chunk, matcher: Matcher, worth: Sequence[float] | None = None, nearest: Nearest | None = None
) -> Snippet:
    """The window of whole lines with the most of the query's words; only a line that is too long is cut.

    Args:
        chunk: the passage.
        matcher: finds the words.
        worth: what each of its terms counts; without, all count alike.
        nearest: asked where there are no words; without, the first lines are shown.
    """
    text = chunk.text
    matches, rows = matcher.matches(text), _rows(text)
    windows = _windows(rows) if nearest and not matches else []
    if nearest and len(windows) > 1:
        start, end = windows[nearest([text[first:last] for first, last in windows])]
    else:
        start, end = _best_window(rows, matches, worth)
    highlights = tuple((first - start, min(last, end) - start) for first, last, _ in matches if start <= first < end)
    return Snippet(text[start:end], chunk.first_line + text.count("\n", 0, start), chunk.start + start, highlights)


def _rows(text: str) -> list[tuple[int, int]]:
    """The lines that are not blank, without white space at their ends; those that are too long in pieces."""
    rows, start = [], 0
    for line in text.split("\n"):
        end = start + len(line.rstrip())
        if end - start > _LENGTH:
            rows += [piece.span() for piece in _PIECE.finditer(text, start, end)]
        elif end > start:
            rows.append((start, end))
        start += len(line) + 1
    return rows or [(0, 0)]


def _windows(rows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The passage in as many rows at a time as a snippet has room for."""
    windows: list[tuple[int, int]] = []
    for start, end in rows:
        if windows and end - windows[-1][0] <= _LENGTH:
            windows[-1] = windows[-1][0], end
        else:
            windows.append((start, end))
    return windows[:_MOST_COMPARED]


def _best_window(
    rows: Sequence[tuple[int, int]], matches: Sequence[Match], worth: Sequence[float] | None
) -> tuple[int, int]:
    """Where the rows start and end that show what is worth most of the query's terms, then the most matches.

    What follows a match says more than what stands before it: one row before it, as many after it as there is
    room for, and more before it only where nothing follows.
    """
    first, last = _best_rows(rows, matches, worth)
    if first and rows[last][1] - rows[first - 1][0] <= _LENGTH:
        first -= 1
    while last + 1 < len(rows) and rows[last + 1][1] - rows[first][0] <= _LENGTH:
        last += 1
    while first and rows[last][1] - rows[first - 1][0] <= _LENGTH:
        first -= 1
    return rows[first][0], rows[last][1]


def _best_rows(
    rows: Sequence[tuple[int, int]], matches: Sequence[Match], worth: Sequence[float] | None
) -> tuple[int, int]:
    """The first and the last of the matched rows that are best together; the first ones among equals."""
    matched: list[tuple[int, int, int]] = []  # row, its terms, how many matches start in it
    row = 0
    for at, _, bits in matches:
        while row + 1 < len(rows) and rows[row + 1][0] <= at:
            row += 1
        if matched and matched[-1][0] == row:
            matched[-1] = row, matched[-1][1] | bits, matched[-1][2] + 1
        else:
            matched.append((row, bits, 1))
    best, most = (0, 0), (-1.0, 0)
    for number, (first, _, _) in enumerate(matched):
        terms = count = 0
        last, farthest = first, rows[first][0] + _LENGTH
        for row, bits, more in matched[number:]:
            if rows[row][1] > farthest:
                break
            last, terms, count = row, terms | bits, count + more
        value = _value(terms, worth) if worth else terms.bit_count(), count
        if value > most:
            best, most = (first, last), value
    return best


def _value(terms: int, worth: Sequence[float]) -> float:
    return sum(each for number, each in enumerate(worth) if terms >> number & 1)
