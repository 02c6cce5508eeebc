"""Chunks that repeat the end of the one before, for those who ask for it."""

import re
from bisect import bisect_left

from dowse.text.tokens import TokenIndex

__all__ = ["extend_back"]

_SENTENCE_START = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]['\"\u2019\u201d)\]\u300d\u300f]*\s+")
_WORD_START = re.compile(r"(?<=\s)(?=\S)")


def extend_back(text: str, floor: int, span: tuple[int, int], index: TokenIndex, *, overlap: int, most: int) -> int:
    """Where the span begins with up to `overlap` tokens of what stands before it, from `floor` on.

    At a sentence if one begins there, else at a word; the whole has at most `most` tokens.
    """
    start, end = span

    def fits(candidate: int) -> bool:
        return index.count(candidate, start) <= overlap and index.count(candidate, end) <= most

    for border in (_SENTENCE_START, _WORD_START):
        candidates = [floor, *(found.end() for found in border.finditer(text, floor, start))]
        chosen = bisect_left(candidates, True, key=fits)
        if chosen < len(candidates):
            return candidates[chosen]
    return start
