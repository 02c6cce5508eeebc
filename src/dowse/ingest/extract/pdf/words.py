"""The words of a PDF: characters that only typesetting needs made plain, and words cut at line ends made whole."""

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["HYPHEN", "Mender", "is_right_to_left", "join_lines", "joint", "tidy"]

HYPHEN = "\ufffe"
"""What pdfium writes for a hyphen at the end of a line. Here it stands for one of which it is open whether it
belongs to the word; a Mender decides when all words are known."""

_SOFT_HYPHEN = "\u00ad"
_UNSEEN = "\u00ad\u200b\u200e\u200f\u2060\ufeff\uffff" + "".join(
    map(chr, (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)
_PLAIN = dict.fromkeys(map(ord, _UNSEEN), "") | {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    0x2010: "-",
    0x2011: "-",
    0xF0A7: "\u25aa",  # bullets as Symbol and Wingdings number them
    0xF0B7: "\u2022",
    0xF0D8: "\u27a2",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_COMBINING = re.compile("[\u0300-\u036f]")
_ARABIC_FORMS = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")
# Scripts that are written without spaces; Hangul has them.
_UNSPACED = "\u2e80-\u2fff\u3000-\u312f\u31a0-\u9fff\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_STRAY_SPACE = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ENDS_UNSPACED = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]$")
_STARTS_UNSPACED = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]")
_ENDS_OPEN = re.compile(rf"\w[-{HYPHEN}]$")
_LAST_WORD = re.compile(r"[\w-]*\w$")
_FIRST_WORD = re.compile(r"\w+")
_LONGEST_WORD = 60
_TERM = re.compile(r"\w+(?:-\w+)*")

_FEWEST_LETTERS = 2
_WHOLE_WORD = 4
_PREFIXES = frozenset(
    ("all", "anti", "cross", "ex", "half", "high", "long", "low", "non", "post", "pre", "quasi", "self", "semi", "well")
)
_CONJUNCTIONS = frozenset(("and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"))
"""What follows in `pre- and postwar`."""


def tidy(text: str) -> str:
    """The text as it would be typed: ligatures taken apart, nothing that cannot be seen, accents on their letters."""
    if text.isascii() and text.isprintable():
        return text
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if text.endswith(_SOFT_HYPHEN):
        text = text[:-1] + HYPHEN
    text = text.translate(_PLAIN)
    if _ARABIC_FORMS.search(text):
        text = _ARABIC_FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    if _COMBINING.search(text):
        text = unicodedata.normalize("NFC", text)
    return _STRAY_SPACE.sub("", " ".join(text.split()))


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Whether most letters are Hebrew, Arabic or of a kindred script."""
    right = letters = 0
    for text in texts:
        if text.isascii():
            letters += len(text)
        else:
            right += len(_RIGHT_TO_LEFT.findall(text))
            letters += len(_LETTER.findall(text))
    return 2 * right > letters


def joint(before: str, after: str) -> tuple[str, str]:
    """How two lines of a paragraph are joined: the first one without its hyphen, and what stands between them.

    A hyphen stays open where it may be hyphenation.
    """
    if _ENDS_OPEN.search(before[-2:]):
        open_hyphen = before[-2].isalpha() and after[:1].islower()
        return before[:-1], HYPHEN if open_hyphen else "-"
    if _ENDS_UNSPACED.search(before[-1:]) and _STARTS_UNSPACED.match(after):
        return before, ""
    return before, " "


def join_lines(lines: Iterable[str]) -> str:
    """The lines of a paragraph as one."""
    pieces: list[str] = []
    for line in lines:
        if pieces:
            pieces[-1:] = joint(pieces[-1], line)
        pieces.append(line)
    return "".join(pieces)


class Mender:
    """Decides which hyphens at line ends belong to their words, by the other words of the document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set()
        for text in texts:
            # The halves of cut words are no words.
            parts = text.split(HYPHEN)
            parts[1:] = [_FIRST_WORD.sub("", part, count=1) for part in parts[1:]]
            parts[:-1] = [part[: len(part) - len(_last_word(part))] for part in parts[:-1]]
            self._words.update(term.lower() for part in parts for term in _TERM.findall(part))

    def mend(self, text: str) -> str:
        """The text without open hyphens."""
        first, *others = text.split(HYPHEN)
        pieces = [first]
        for part in others:
            left, right = _last_word(pieces[-1]), _FIRST_WORD.match(part)
            pieces += [self._between(left, right[0]) if left and right else "-", part]
        return "".join(pieces)

    def _between(self, left: str, right: str) -> str:
        """What stands between two halves: a hyphen wherever it may be a real one."""
        words, start, end = self._words, left.lower(), right.lower()
        if f"{start}{end}" in words:
            return ""
        if end in _CONJUNCTIONS:
            return "- "
        compound = f"{start}-{end}" in words or "-" in start or start in _PREFIXES
        short = min(len(start), len(end)) < _FEWEST_LETTERS
        both_words = min(len(start), len(end)) >= _WHOLE_WORD and start in words and end in words
        return "-" if compound or short or both_words else ""


def _last_word(text: str) -> str:
    found = _LAST_WORD.search(text[-_LONGEST_WORD:])
    return found[0] if found else ""
