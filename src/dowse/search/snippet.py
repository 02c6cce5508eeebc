"""The few lines of a passage that answer the query best, with true line numbers and matched spans."""

import re
from collections.abc import Sequence

from dowse.search.matching import Match, Matcher
from dowse.types import Chunk, Snippet

_LENGTH = 300  # characters, as the qmd specification has it
_PIECE = re.compile(r"\S(?:.{0,98}\S)?(?!\S)|\S{1,100}")
"""How much of a line that is longer than a snippet is taken or left at a time: whole words, where there are any."""


def snippet(chunk: Chunk, matcher: Matcher) -> Snippet:
    """The window of whole lines with the most of the query's words; only a line that is too long is cut."""
    text = chunk.text
    matches = matcher.matches(text)
    start, end = _best_window(_rows(text), matches)
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


def _best_window(rows: Sequence[tuple[int, int]], matches: Sequence[Match]) -> tuple[int, int]:
    """Where the rows start and end that show the most of the query's terms, then the most matches.

    What follows a match says more than what stands before it: one row before it, as many after it as there is
    room for, and more before it only where nothing follows.
    """
    first, last = _best_rows(rows, matches)
    if first and rows[last][1] - rows[first - 1][0] <= _LENGTH:
        first -= 1
    while last + 1 < len(rows) and rows[last + 1][1] - rows[first][0] <= _LENGTH:
        last += 1
    while first and rows[last][1] - rows[first - 1][0] <= _LENGTH:
        first -= 1
    return rows[first][0], rows[last][1]


def _best_rows(rows: Sequence[tuple[int, int]], matches: Sequence[Match]) -> tuple[int, int]:
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
    best, most = (0, 0), (0, 0)
    for number, (first, _, _) in enumerate(matched):
        terms = count = 0
        last, farthest = first, rows[first][0] + _LENGTH
        for row, bits, more in matched[number:]:
            if rows[row][1] > farthest:
                break
            last, terms, count = row, terms | bits, count + more
        worth = terms.bit_count(), count
        if worth > most:
            best, most = (first, last), worth
    return best
