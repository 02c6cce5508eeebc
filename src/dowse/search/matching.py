"""Which words of a text are words of the query? Found without analysing all of the text."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from dowse.text.analyse import analyse

Match = tuple[int, int, int]
"""Start and end of a matched word, and which of the query's terms it holds: one bit each."""

# Thai, Lao, Myanmar, Hangul, Khmer, kana and Han put no spaces between words: their terms are found as they stand.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
# What `\w` leaves out though it stands inside words: accents, points, vowel signs, soft hyphens and joiners.
_MARKS = r"\xad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u200c\u200d"
_ASCII_WORD = re.compile(
    r"[a-zA-Z0-9_]+(?:\+\+|#(?!\w)|'[tT](?!\w))?"  # and `c++`, `c#`, `can't`
    r"|(?<!\w)[-=!~<>:&|?]{2,3}(?!\w)"  # operators that stand alone
)
# What the analyser leaves out where it joins the parts of `user_name` and `wi-fi`.
_JOINTS = b"./:'@&\\_-"
_JOINT = f"[{re.escape(_JOINTS.decode())}]{{0,2}}"


class Matcher:
    """Finds the words of a text that are words of the query, as the analyser sees them.

    Made once per query. Only a string between spaces that has the beginning of a term in it, or a foreign letter,
    is worth a look, and one look for all of its occurrences. Limits: `dying` is not found for `die`, nor what
    stands in an unspaced script and in another normal form than the query.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._bits = {term: 1 << number for number, term in enumerate(terms)}
        beginnings = sorted({_beginning(term) for term in terms if term.isascii()})
        self._beginnings = [(each, each.encode()) for each in beginnings]
        literal = [term for term in terms if not term.isascii() and not _word().match(term)]
        # Of 数据库, 数 alone says little: it counts where nothing else does.
        parts = {character for term in literal if len(term) > 1 for character in term}
        self._literal = [term for term in literal if term not in parts]
        self._weak = [term for term in literal if term in parts]
        self._seen: dict[str, list[Match]] = {}
        self._strong: dict[str, list[Match]] = {}

    def matches(self, *texts: str) -> list[Match]:
        """The matched words of a text, in order, not overlapping; of several texts as of lines under each other.

        Ranking, verdict and snippet look at the same passages: what was found in a text is remembered.
        """
        if len(texts) == 1:
            return self._strong_in(texts[0]) or self._weak_in(texts[0])
        found = _shifted((self._strong_in(text) for text in texts), texts)
        return found or _shifted((self._weak_in(text) for text in texts), texts)

    def _strong_in(self, text: str) -> list[Match]:
        matches = self._strong.get(text)
        if matches is None:
            found = self._occurrences(text, self._literal) if self._literal else []
            for start, end in self._strings(text).items():
                string = text[start:end]
                inside = self._seen.get(string)
                if inside is None:
                    inside = self._seen[string] = self._words(string)
                for first, last, bits in inside:
                    found.append((start + first, start + last, bits))
            matches = self._strong[text] = _merged(found)
        return matches

    def _weak_in(self, text: str) -> list[Match]:
        return _merged(self._occurrences(text, self._weak)) if self._weak else []

    def _strings(self, text: str) -> dict[int, int]:
        """Where the strings between spaces start and end that are worth a look."""
        lowered = _lowered(text.replace("\n", " ").replace("\t", " "))
        squeezed = _squeezed(lowered)
        strings: dict[int, int] = {}

        def add(start: int, end: int) -> int:
            end = lowered.find(" ", end)
            end = end if end >= 0 else len(lowered)
            strings[lowered.rfind(" ", 0, start) + 1] = end
            return end

        for beginning, as_bytes in self._beginnings:
            at = lowered.find(beginning)
            while at >= 0:
                at = lowered.find(beginning, add(at, at))
            if squeezed.count(as_bytes) > lowered.count(beginning):
                for joined in re.finditer(_JOINT.join(map(re.escape, beginning)), lowered):
                    add(*joined.span())
        foreign = None if text.isascii() else _foreign_letter().search(text)
        while foreign:
            foreign = _foreign_letter().search(text, add(*foreign.span()))
        return strings

    def _words(self, string: str) -> list[Match]:
        """The matched words of a string, and what matches only together, as `user-name` does for `username`."""
        words = _words_of(string)
        found = [(start, end, bits) for start, end, terms in words if (bits := self._bits_of(terms))]
        missing = self._bits_of(analyse(string)) if len(words) > 1 and self._may_be_joined(string) else 0
        for size in (2, 3, len(words)):
            for _, _, bits in found:
                missing &= ~bits
            if not missing:
                break
            for (start, _, _), (_, end, _) in zip(words, words[size - 1 :], strict=False):
                if bits := missing & self._bits_of(analyse(string[start:end])):
                    found.append((start, end, bits))
        return found

    def _may_be_joined(self, string: str) -> bool:
        lowered = _lowered(string)
        squeezed = _squeezed(lowered)
        return any(as_bytes in squeezed and beginning not in lowered for beginning, as_bytes in self._beginnings)

    def _bits_of(self, terms: Iterable[str]) -> int:
        bits = 0
        for term in terms:
            bits |= self._bits.get(term, 0)
        return bits

    def _occurrences(self, text: str, terms: Iterable[str]) -> list[Match]:
        found = []
        for term in terms:
            at = text.find(term)
            while at >= 0:
                found.append((at, at + len(term), self._bits[term]))
                at = text.find(term, at + 1)
        return found


@lru_cache(maxsize=16_384)  # running text repeats few words, and some 5 MB hold most of them
def _words_of(string: str) -> list[tuple[int, int, list[str]]]:
    """Where the words of a string between spaces start and end, each with its terms."""
    words = (_ASCII_WORD if string.isascii() else _word()).finditer(string)
    return [(*word.span(), analyse(word[0])) for word in words]


@cache  # classes of so many letters take milliseconds to compile, and plain English never needs them
def _word() -> re.Pattern[str]:
    return re.compile(rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])+(?:\+\+|#(?!\w)|['\u2019][tT](?!\w))?")


@cache
def _foreign_letter() -> re.Pattern[str]:
    """What may stand in a word beyond ASCII, and a few signs."""
    return re.compile(rf"[^\x00-\x7f\u2000-\u206f\u3000-\u3004{_UNSPACED}]")


def _beginning(term: str) -> str:
    """What every form of a stemmed term has: `happ` for happy and happiness, `us` for use and using."""
    return term[:-1] if len(term) > 3 or term[2:] in {"e", "i", "y"} else term  # noqa: PLR2004 - less says too little


def _lowered(text: str) -> str:
    """The text in small letters, each in its place: İ is the one whose small form is longer."""
    return text.replace("\u0130", "i").lower()


def _squeezed(lowered: str) -> bytes:
    """The text without what joins words, to see whether a term stands there in parts."""
    return lowered.encode(errors="replace").translate(None, _JOINTS)


def _shifted(matches: Iterable[Sequence[Match]], texts: Sequence[str]) -> list[Match]:
    """The matches of texts, at their places in all of these under each other."""
    found: list[Match] = []
    below = 0
    for each, text in zip(matches, texts, strict=True):
        found += [(start + below, end + below, bits) for start, end, bits in each] if below else each
        below += len(text) + 1
    return found


def _merged(matches: list[Match]) -> list[Match]:
    """In order, with those that overlap or touch made one."""
    merged: list[Match] = []
    for start, end, bits in sorted(matches):
        if merged and start <= merged[-1][1]:
            first, last, others = merged[-1]
            merged[-1] = first, max(last, end), others | bits
        else:
            merged.append((start, end, bits))
    return merged
