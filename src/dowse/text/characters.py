"""What a character counts as: which spellings are one, and which script or kind it belongs to."""

import unicodedata
from collections.abc import Sequence

__all__ = ["folded", "kinds_of"]


def folded(text: str) -> str:
    """The text with one spelling of what has several: width, ligatures, accents, optional marks, quotes."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    composed = unicodedata.normalize("NFC", decomposed.translate(_folding))
    for parts, letter in _TYPED_AS_ONE:
        composed = composed.replace(parts, letter)
    return composed


def kinds_of(text: str) -> str:
    """One letter for each character of a folded text: a script of `_UNSPACED`, or as in `_Kinds`."""
    return "w" * len(text) if text.isascii() else text.translate(_kinds)


class _Folding(dict[int, str]):
    """What a decomposed character counts as: itself without accent, a space for punctuation, or nothing."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category in {"Cf", "Me"} or (category == "Mn" and _within(code, _OPTIONAL_MARKS)):
            folded = ""
        elif category[0] in "PZ" and not character.isascii():
            folded = " "
        else:
            folded = character
        return self.setdefault(code, folded)


class _Kinds(dict[int, str]):
    """One letter for each character: a script below, `w` in words, `m` a mark, `s` a symbol, or a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        kind = " "
        if character.isascii():
            kind = "w"
        elif category[0] in "LMN":
            kind = next((kind for first, last, kind in _UNSPACED if first <= code <= last), "w")
            if kind == "t" and category[0] == "M":
                kind = "m"
        elif category in {"Sc", "Sm", "So"} and not _within(code, _BOX_DRAWING):
            kind = "s"
        return self.setdefault(code, kind)


def _within(code: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


_OPTIONAL_MARKS = (
    (0x0300, 0x036F),  # accents of Latin, Greek and Cyrillic
    (0x0591, 0x05C7),  # Hebrew points
    (0x064B, 0x0670),  # Arabic vowels and hamza
    (0xFE00, 0xFE0F),  # variation selectors
    (0xE0100, 0xE01EF),
)
_BOX_DRAWING = ((0x2500, 0x259F),)
_UNSPACED = (
    (0x0E00, 0x0EFF, "t"),  # Thai, Lao
    (0x1000, 0x109F, "t"),  # Myanmar
    (0x1100, 0x11FF, "G"),  # Hangul letters
    (0x1780, 0x17FF, "t"),  # Khmer
    (0x3005, 0x3007, "H"),  # signs used like Han
    (0x3041, 0x309F, "J"),  # hiragana
    (0x30A0, 0x30FF, "K"),  # katakana
    (0x3105, 0x312F, "J"),  # bopomofo
    (0x31F0, 0x31FF, "K"),
    (0x3400, 0x9FFF, "H"),
    (0xAC00, 0xD7A3, "G"),  # Hangul syllables
    (0xF900, 0xFAFF, "H"),
    (0x20000, 0x3FFFF, "H"),
)
_LETTERS = (
    "\u2018:' \u2019:' \u02bc:' \u2010:- \u2011:- \u2044:/ \u0640: "
    "ø:o Ø:O ł:l Ł:L đ:d Đ:D ð:d Ð:D þ:th Þ:TH ħ:h Ħ:H æ:ae Æ:AE œ:oe Œ:OE \u0131:i"
)
"""What Unicode does not decompose, with what people type for it."""
_TYPED_AS_ONE = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
"""The am of Thai and Lao, which NFKC takes apart though everybody types one letter: snippets look for it in texts."""
_folding = _Folding({ord(letter): typed for letter, _, typed in (pair.partition(":") for pair in _LETTERS.split())})
_kinds = _Kinds()
