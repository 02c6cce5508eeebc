r"""How many tokens is this text for the embedding model? Exactly, and much faster than by encoding it.

A byte-level BPE tokenizer first cuts text into pre-tokens with GPT-2's regular expression and never
merges across them, so the count of a text is the sum over any cut along those borders. We cut into
*units*, white space followed by a run without white space, because three kinds of place are borders
whatever stands around them:

- a character that is not white space before one that is;
- a letter or digit before a CJK punctuation mark;
- a CJK punctuation mark before a letter or digit.

Units repeat (a word with the space before it), so their counts are remembered. Only a new unit is
measured: ASCII with a copy of GPT-2's expression, which is certain there, everything else with the
tokenizer's own, whose Unicode tables may be newer than Python's. `tokenizers` is imported by the
first unit that is measured.

Limits: `</s>`, `<mask>` and the like count as the ordinary text they are in a document, as in
`tokenizers` with `encode_special_tokens`. A run of more than 4,096 letters, digits or marks without
any of the borders above is measured in parts and may count a few tokens too many.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from dowse.errors import ModelError

__all__ = ["TokenCounter", "TokenIndex"]

_LONGEST_RUN = 4_096
_LONG_TEXT = 1 << 17
_CACHED_LENGTH = 64
_CACHED_COUNTS = 200_000

# White space as the tokenizer sees it: Python's, without the four ASCII separators 1C to 1F.
_ASCII_UNIT = re.compile(r"[\t-\r ]*[^\t-\r ]+|[\t-\r ]+")
_UNICODE_UNIT = re.compile(r"[^\S\x1c-\x1f]*[\S\x1c-\x1f]+|[^\S\x1c-\x1f]+")
_MARKS = "\u3001-\u3003\u3008-\u3011\u3014-\u301b\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_CJK_MARK = re.compile(f"[{_MARKS}]")
# Runs of marks and of other characters, joined until one ends at a border.
_CJK_UNIT = re.compile(
    r"(?!\Z)[^\S\x1c-\x1f]*+"
    rf"(?:[{_MARKS}]++(?![^\W_])|(?:[^\s{_MARKS}]|[\x1c-\x1f])++(?<![^\W_]))*+"
    rf"(?:[{_MARKS}]++|(?:[^\s{_MARKS}]|[\x1c-\x1f])++)?+"
)
_ASCII_PRETOKEN = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\t-\r A-Za-z0-9]+|[\t-\r ]+(?![^\t-\r ])|[\t-\r ]+"
)
# GPT-2 writes bytes as printable characters; those of ASCII that are not printable move up by 256.
_ASCII_BYTES = {byte: 256 + byte for byte in range(33)} | {127: 289}
_WORD = re.compile(r"\w+|[^\w\s]")


class TokenCounter:
    """Counts the tokens of one tokenizer, given as its `tokenizer.json`; without one, words and marks.

    Safe to share between threads.
    """

    __slots__ = ("_counts",)

    def __init__(self, tokenizer_json: bytes | None) -> None:
        measure = _words if tokenizer_json is None else _BytePairs(tokenizer_json)
        self._counts = _Remembered(measure)

    def count(self, text: str) -> int:
        """The number of tokens of this text, without the special ones at its ends."""
        return sum(map(self._counts.__getitem__, _units(text)))

    def following(self, text: str, before: int, start: int, end: int) -> tuple[int, int]:
        """The tokens of `text[start:end]` alone, and how many it adds behind what ends at `before`.

        Between the two lies only white space, and at `before` a border as described above. Then this is
        exact: `count(text[a:end]) == count(text[a:before]) + added`, wherever `a` is.
        """
        counts = self._counts
        units = list(_units(text[before:end]))
        added = sum(map(counts.__getitem__, units))
        if before == start:
            return added, added
        opening = units[0]
        if len(opening) <= start - before:
            # The separators 1C to 1F are white space for Python alone. They never merge with anything,
            # so the sums hold, but here one stands between the white space and the passage.
            return self.count(text[start:end]), added
        return added - counts[opening] + counts[opening[start - before :]], added

    def index(self, text: str, start: int = 0, end: int | None = None) -> "TokenIndex":
        """Prepare to count many spans of `text[start:end]`."""
        return TokenIndex(self._counts, text, start, len(text) if end is None else end)


class TokenIndex:
    """The counts of all spans of a text: running totals at the borders of its units."""

    __slots__ = ("_borders", "_counts", "_text", "_totals")

    def __init__(self, counts: "_Remembered", text: str, start: int, end: int) -> None:
        units = list(_units(text[start:end]))
        self._counts = counts
        self._text = text
        self._borders = list(accumulate(map(len, units), initial=start))
        self._totals = list(accumulate(map(counts.__getitem__, units), initial=0))

    def count(self, start: int, end: int) -> int:
        """The tokens of `text[start:end]` by itself, as exact as `TokenCounter.count`.

        Two look-ups when both ends are borders; the cut-off part of a unit is measured anew.
        """
        borders, totals = self._borders, self._totals
        first = bisect_left(borders, start)
        last = bisect_right(borders, end) - 1
        if first > last:
            return self._part(start, end)
        tokens = totals[last] - totals[first]
        if borders[first] != start:
            tokens += self._part(start, borders[first])
        if borders[last] != end:
            tokens += self._part(borders[last], end)
        return tokens

    def _part(self, start: int, end: int) -> int:
        return sum(map(self._counts.__getitem__, _units(self._text[start:end])))


class _Remembered(dict[str, int]):
    """What a function said of short strings; starts again when it is full."""

    __slots__ = ("_measure",)

    def __init__(self, measure: Callable[[str], int]) -> None:
        super().__init__()
        self._measure = measure

    def __missing__(self, part: str) -> int:
        tokens = self._measure(part)
        if len(part) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_COUNTS:
                self.clear()
            self[part] = tokens
        return tokens


class _BytePairs:
    """Measures a unit with a byte-level BPE tokenizer, which is loaded by the first call."""

    __slots__ = ("_json", "_pretokens", "_split", "_tokenize")

    def __init__(self, tokenizer_json: bytes) -> None:
        self._json = tokenizer_json
        self._pretokens: _Remembered | None = None
        self._split: Callable[[str], list[tuple[str, tuple[int, int]]]]
        self._tokenize: Callable[[str], list[object]]

    def __call__(self, unit: str) -> int:
        pretokens = self._load() if self._pretokens is None else self._pretokens
        if unit.isascii():
            return sum(map(pretokens.__getitem__, _cut(_ASCII_PRETOKEN, unit)))
        parts = (unit[at : at + _LONGEST_RUN] for at in range(0, len(unit), _LONGEST_RUN))
        return sum(self._merge(pretoken) for part in parts for pretoken, _ in self._split(part))

    def _load(self) -> "_Remembered":
        from tokenizers import Tokenizer
        from tokenizers.pre_tokenizers import ByteLevel

        tokenizer = Tokenizer.from_buffer(self._json)
        cutter = tokenizer.pre_tokenizer
        ours = isinstance(cutter, ByteLevel) and cutter.use_regex and not cutter.add_prefix_space
        if not ours or tokenizer.normalizer is not None:
            raise ModelError(
                "The tokenizer is not a byte-level one with GPT-2's rules, so its tokens cannot be counted.",
                hint="Use a model with a RoBERTa or GPT-2 tokenizer.json.",
            )
        self._split = cutter.pre_tokenize_str
        self._tokenize = tokenizer.model.tokenize
        self._pretokens = _Remembered(lambda pretoken: self._merge(pretoken.translate(_ASCII_BYTES)))
        return self._pretokens

    def _merge(self, pretoken: str) -> int:
        """The tokens of one pre-token that is written in GPT-2's alphabet of bytes."""
        if len(pretoken) <= _LONGEST_RUN:
            return len(self._tokenize(pretoken))
        parts = range(0, len(pretoken), _LONGEST_RUN)
        return sum(len(self._tokenize(pretoken[at : at + _LONGEST_RUN])) for at in parts)


def _words(unit: str) -> int:
    return sum(1 for _ in _cut(_WORD, unit))


def _units(text: str) -> Iterable[str]:
    if text.isascii():
        return _cut(_ASCII_UNIT, text)
    return _cut(_CJK_UNIT if _CJK_MARK.search(text) else _UNICODE_UNIT, text)


def _cut(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    """All matches; one at a time where a list of them would be large."""
    if len(text) <= _LONG_TEXT:
        matches: list[str] = pattern.findall(text)
        return matches
    return (match.group() for match in pattern.finditer(text))
