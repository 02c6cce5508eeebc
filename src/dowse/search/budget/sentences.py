"""Where a text can be cut: at the ends of sentences, else between words, else between characters."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence

__all__ = ["cut", "sentence_ends"]

_HORIZON = 32  # characters per token that are looked at; only long runs of one sign have more
_LEAST = 0.25  # of what fits: a sentence that ends sooner is not worth losing the rest for

_CLOSING = "\"'\u2019\u201d\u00bb)\\]"
_WIDE_CLOSING = "\u300d\u300f\u3011\u300b\uff09\u201d\u2019"
_SENTENCE_END = re.compile(
    # A full stop after a lone letter or digit belongs to `e.g.`, to an initial or to a list.
    rf"(?:(?<!\b\w)\.|[!?\u2026\u061f\u06d4\u0964\u0965\u17d4\u104b\u0f0d])++[.!?]*+[{_CLOSING}]*+(?=\s|\Z)"
    # Ideographic and full-width marks end sentences without a space behind them.
    rf"|[\u3002\uff01\uff1f\uff61]++[{_WIDE_CLOSING}]*+"
    # The end of a paragraph, and of a line before an entry of a list, a heading, a table, a fence or an indented line.
    r"|(?<=\S)(?=[^\S\n]*\n(?:[^\S\n]*\n|[^\S\n]+\S|[-*+>|#]|\d+[.)]\s|```|~~~))"
)
_SPACE = re.compile(r"(?<=\S)(?=\s)")
_JOINER = "\u200d"


def sentence_ends(text: str) -> list[int]:
    """The offsets at which a sentence or a block ends, the end of the text aside."""
    return [found.end() for found in _SENTENCE_END.finditer(text) if 0 < found.end() < len(text)]


def cut(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """The longest beginning of a text with at most so many tokens: up to the end of a sentence, where one is near.

    Empty where not even a character fits. Chinese and Japanese sentences end without spaces; Thai has none, so
    it is cut at spaces, which stand between clauses there.
    """
    if max_tokens < 1:
        return ""
    seen = text[: max_tokens * _HORIZON]
    if len(seen) == len(text) and count(text) <= max_tokens:
        return text

    def longest(places: Sequence[int]) -> int:
        """The last of the places up to which the text fits; 0 for none."""
        fits = bisect_right(places, x=False, key=lambda place: count(seen[:place]) > max_tokens)
        return places[fits - 1] if fits and count(seen[: places[fits - 1]]) <= max_tokens else 0

    between_words = longest([found.end() for found in _SPACE.finditer(seen)])
    sentence = longest(sentence_ends(seen))
    if sentence and sentence >= _LEAST * between_words:
        return seen[:sentence].rstrip()
    if between_words:
        return seen[:between_words]
    end = longest(range(1, len(seen) + 1))
    while 0 < end < len(text) and _is_joined(text, end):
        end -= 1
    return seen[:end].rstrip()


def _is_joined(text: str, place: int) -> bool:
    """Whether the characters around a place are one to the reader."""
    return text[place] == _JOINER or text[place - 1] == _JOINER or unicodedata.category(text[place]).startswith("M")
