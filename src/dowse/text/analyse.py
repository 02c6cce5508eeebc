"""How text becomes the terms of the lexical index: one analyser for documents and for queries.

A raw token is a run of characters between white space and brackets, quotes and the like; what connects
words, as in `src/lib/i18n.ts`, stays inside. It becomes its parts, two or three neighbours joined, and the
whole, so that `getUserName` is found by `name`, `username` and `get_user_name`. Case, width and accents
are folded and words are stemmed. Scripts that put no spaces between words become overlapping pairs. Emoji and
operators such as `=>` are terms where they stand by themselves.

Terms hold no white space and at most MAX_TERM characters. No term reaches across a line, so the terms of
two lines are those of the first and then those of the second.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import add
from threading import Lock

import Stemmer

from dowse.text.characters import folded, kinds_of

__all__ = [
    "ANALYSER",
    "MAX_QUERY_CHARACTERS",
    "MAX_QUERY_TERMS",
    "MAX_TERM",
    "STOP_WORDS",
    "analyse",
    "by_word",
    "query_terms",
]

ANALYSER = "dowse-2/snowball-" + ".".join(Stemmer.version().split(".")[:2])
"""Names the rules behind the terms; an index made by others must be made anew before it is searched."""

MAX_TERM = 64
"""Longer words are cut into pieces of this length, a document's and a query's alike."""
MAX_QUERY_CHARACTERS = 8_192
"""What follows in a longer query is not read."""
MAX_QUERY_TERMS = 256
"""Terms beyond these, in the order of the text, are dropped from a query."""

_SAYING_LITTLE = (
    "a about above after again against all am an and any are as at be because been before being below between "
    "both but by ca can did do does doing down during each few for from further had has have having he her here "
    "hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now "
    "of off on once only or other our ours ourselves out over own same she should so some such than that the "
    "their theirs them themselves then there these they this those through to too under until up very was we "
    "were what when where which while who whom why will with wo would you your yours yourself yourselves"
)
STOP_WORDS = frozenset(_SAYING_LITTLE.split())
"""Indexed like any other word, so that "The Who" is found, but left out of queries that have other words."""

_MAX_NAME = 8
"""With more parts than this, it is a long path or address: its neighbours are joined by twos only."""
_MAX_PATH = 32
"""With more parts than this, it is data: nothing is joined."""
_MAX_CJK_WORD = 8
"""A longer run of one script is a clause, not a word: its pairs are enough."""
_MAX_REMEMBERED = 48
_MAX_MEMORY = 131_072

_APART = r"\x00-/:-@\[-^`{-\x7f"
"""ASCII without letters, digits and `_`; beyond ASCII, folding finds what is punctuation."""
_RAW = re.compile(
    rf"[^\x00-\-/:-@\[-^`{{-\x7f][^{_APART}]*+"  # a word character, or the dot of `.net`
    rf"(?:(?:::|[./:'@&\\-])[^{_APART}]++)*+"
    r"(?:\+\+|\#(?!\w))?+"  # `c++`, `c#`
)
_OF_OPERATORS = "=> -> <- :: != == === !== <= >= <=> && || ?? |> := << >> <> =~"
_OPERATORS = frozenset(_OF_OPERATORS.split())
"""Signs that people ask for by themselves: terms where nothing but spaces, quotes and brackets is around them."""
_OPERATOR = re.compile(
    r"[-=!<>:&|?][-=~<>:&|?](?<![^\s(\[{'\"`\x80-\U0010ffff]..)[=>]?+(?![^\s)\]}'\"`,;.?!\x80-\U0010ffff])", re.DOTALL
)
_BETWEEN_PARTS = re.compile(f"[{_APART}_]+")
_CAMEL = re.compile(
    "(?<=[a-z])(?=[A-Z])"  # getUser
    "|(?<=[0-9])(?=[A-Z][a-z])"  # base64Encode, but not 3D
    "|(?<=^[vV])(?=[0-9])"  # v1.2, but not i18n
    "|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))"  # HTTPServer, but not URLs
)
_CONTRACTION = re.compile("(?:n't|'(?:s|t|d|m|re|ve|ll))$", re.IGNORECASE)
_NUMBERED = re.compile("([a-z]{3,})([0-9]+)")

_STEMMED_SCRIPTS = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}
_stemmers = {"english": Stemmer.Stemmer("english", 0)}
_stemming = Lock()  # a stemmer has state: one thread at a time


def analyse(text: str) -> list[str]:
    """The index terms of a text, in its order, with repetitions."""
    return " ".join(by_word(text)).split()


def by_word(text: str) -> list[str]:
    """The same, word by word: the terms of each raw token, joined by spaces."""
    return list(map(_memory.__getitem__, _raw_tokens(text)))


def _raw_tokens(text: str) -> list[str]:
    """What stands between white space, brackets and the like, in the order of the text."""
    cut = _RAW.findall
    found: list[str] = []
    start = 0
    for operator in _OPERATOR.finditer(text):
        found += cut(text, start, operator.start())
        found.append(operator[0])
        start = operator.end()
    return found + cut(text, start) if start else cut(text)


def query_terms(text: str) -> list[str]:
    """The terms to search for: each once, without stop words unless there is nothing else."""
    terms = dict.fromkeys(analyse(text[:MAX_QUERY_CHARACTERS]))
    telling = [term for term in terms if term not in STOP_WORDS]
    return (telling or list(terms))[:MAX_QUERY_TERMS]


class _Memory(dict[str, str]):
    """The joined terms of the raw tokens met lately: running text repeats few words.

    When it is full it becomes the past, from which words that are still in use come back, and the rest is forgotten
    when it is full again.
    """

    __slots__ = ("_past",)

    def __init__(self) -> None:
        super().__init__()
        self._past: dict[str, str] = {}

    def __missing__(self, raw: str) -> str:
        terms = self._past.get(raw)
        if terms is None:
            terms = " ".join(_terms_of_name(raw) if raw.isascii() else _terms_of_any_script(raw))
        if len(raw) <= _MAX_REMEMBERED:
            if len(self) >= _MAX_MEMORY:
                self._past = dict(self)
                self.clear()
            self[raw] = terms
        return terms


_memory = _Memory()


def _terms_of_name(raw: str) -> tuple[str, ...]:
    """The terms of a word or identifier."""
    if raw.isalpha() and raw[1:].islower() and len(raw) <= MAX_TERM:  # most words; the rest would agree
        return (_stem(raw.casefold()),)
    return tuple(_terms_of_parts(raw))


def _terms_of_parts(raw: str) -> Iterator[str]:
    """The parts of an identifier, then what they make together."""
    parts = _parts(_CONTRACTION.sub("", raw) if "'" in raw else raw)
    if not parts:
        yield from {raw} & _OPERATORS
        return
    for part in parts:
        yield _stem_of_part(part)
        if part[-1].isdigit() and (numbered := _NUMBERED.fullmatch(part)):
            yield _stem(numbered[1])
            yield numbered[2]
    yield from (_stem(name) for name in _joined(parts) if len(name) <= MAX_TERM)
    if raw[0] == "." and not _BETWEEN_PARTS.match(raw, 1):
        yield f".{parts[0]}"[:MAX_TERM]
    if raw[-1] in "+#":
        yield parts[-1][: MAX_TERM - 2] + ("#" if raw[-1] == "#" else "++")


def _parts(name: str) -> list[str]:
    """What an identifier is made of, case folded: cut at punctuation, `_` and camelCase."""
    parts: list[str] = []
    for piece in _BETWEEN_PARTS.split(name):
        if len(piece) > MAX_TERM:
            folded = piece.casefold()
            parts += [folded[at : at + MAX_TERM] for at in range(0, len(folded), MAX_TERM)]
        elif piece:
            parts += [part.casefold()[:MAX_TERM] for part in _CAMEL.split(piece)]
    return parts


def _joined(parts: Sequence[str]) -> list[str]:
    """Neighbouring parts as one word; a dot keeps numbers apart, so that 1.23 is not 12.3."""
    if not 1 < len(parts) <= _MAX_PATH:
        return []
    links = [f".{part}" if last[-1].isdigit() and part[0].isdigit() else part for last, part in pairwise(parts)]
    links.insert(0, parts[0])
    lengths = {2, 3, len(parts)} if len(parts) <= _MAX_NAME else {2}
    runs = [links[at : at + length] for length in lengths for at in range(len(parts) - length + 1)]
    return ["".join(run).removeprefix(".") for run in runs]


def _stem(word: str) -> str:
    """The stem of a word in the main language of its script; stop words stay as they are."""
    if word in STOP_WORDS:
        return word
    language = "english"
    if not word.isascii():
        script, _, _ = unicodedata.name(word[0], "").partition(" ")
        language = _STEMMED_SCRIPTS.get(script, language)
    with _stemming:
        if language not in _stemmers:
            _stemmers[language] = Stemmer.Stemmer(language, 0)
        return _stemmers[language].stemWord(word) or word


_stem_of_part = lru_cache(maxsize=16_384)(_stem)  # identifiers are made of few words


def _terms_of_any_script(raw: str) -> list[str]:
    """Fold what has more than one spelling, then treat each stretch of one kind in its way."""
    text = folded(raw)
    kinds = kinds_of(text)
    terms: list[str] = []
    for stretch in _STRETCH.finditer(kinds):
        start, end = stretch.span()
        if kinds[start] in "HGJK":
            terms += _terms_of_cjk(text[start:end], stretch[0])
        elif kinds[start] in "tm":
            terms += _terms_of_unspaced(text[start:end], stretch[0])
        elif kinds[start] == "s":
            terms.append(text[start])
        else:
            for name in _RAW.findall(text, start, end):
                terms += _terms_of_name(name)
    return terms


def _terms_of_cjk(run: str, kinds: str) -> list[str]:
    """Pairs of neighbours, single Han and Hangul characters, and whole runs of one script that may be words."""
    if len(run) == 1:
        return [run]
    terms = [character for character, kind in zip(run, kinds, strict=True) if kind in "HG"]
    terms += map(add, run, run[1:])
    terms += [run[word.start() : word.end()] for word in _CJK_WORD.finditer(kinds)]
    return terms


def _terms_of_unspaced(run: str, kinds: str) -> list[str]:
    """Pairs of neighbouring letters with the vowels and tones that they carry."""
    letters = [run[letter.start() : letter.end()][: MAX_TERM // 2] for letter in _LETTER.finditer(kinds)]
    return letters if len(letters) == 1 else list(map(add, letters, letters[1:]))


_STRETCH = re.compile("[HGJK]+|[tm]+|s|w+")
_CJK_WORD = re.compile("|".join(f"(?<!{kind}){kind}{{3,{_MAX_CJK_WORD}}}(?!{kind})" for kind in "HGJK"))
_LETTER = re.compile("tm*|m+")
