"""What must stand in a passage, and what must not: phrases and exclusions, judged on the text itself.

A phrase is its words in their order, with nothing but spaces and punctuation between them; case, width and accents
do not count. It stands in the text, in the headings above it, in the document's title or path, or it begins in one
passage and ends in the next. What is excluded must not stand next to a passage either, for a passage is also found
by the words around it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from dowse.ports import Snapshot
from dowse.search.syntax import Parsed, Phrase, Search, Word
from dowse.text.analyse import analyse
from dowse.types import Passage, Ref, ref_of, version_of

__all__ = ["Sieve"]

_WORD = r"\w+(?:\+\+|#(?!\w))?"  # C, C++ and C# are three languages
_MOST_WORDS = 100  # that start as an excluded beginning does
_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u31ff\u3400-\u9fff\ua960-\ua97f"
    r"\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


class Sieve:
    """Tells the passages that a query lets through; made once per query."""

    def __init__(self, parsed: Parsed) -> None:
        asked = [search for search in parsed.searches if search.kind in {"plain", "lex"}]
        excluded = _excluded(asked)
        self._required = [found for search in asked for phrase in search.phrases if (found := _phrase(phrase))]
        self._forbidden = [found for item in excluded if isinstance(item, Phrase) and (found := _phrase(item.text))]
        self._banned = [(terms, item) for item in excluded if isinstance(item, Word) and (terms := analyse(item.text))]

    def __bool__(self) -> bool:
        return bool(self._required or self._forbidden or self._banned)

    def sift(self, snapshot: Snapshot, passages: Sequence[Passage]) -> list[Passage]:
        """Those of the passages that have what they must have, and nothing that they must not."""
        banned = self._with_banned_words(snapshot, passages)
        return [each for each in passages if each.ref not in banned and self._has_the_phrases(snapshot, each)]

    def _has_the_phrases(self, snapshot: Snapshot, passage: Passage) -> bool:
        if not self._required and not self._forbidden:
            return True
        names = "\n".join((*passage.chunk.headings, passage.info.title, passage.info.path))
        own = _folded(f"{passage.chunk.text}\n{names}")
        missing = [phrase for phrase in self._required if not phrase.search(own)]
        if not missing and not self._forbidden:
            return True
        before, after = _beside(snapshot, passage)
        if any(phrase.search(_folded(f"{before} {passage.chunk.text} {after}\n{names}")) for phrase in self._forbidden):
            return False
        return all(phrase.search(_folded(f"{passage.chunk.text} {after}")) for phrase in missing)

    def _with_banned_words(self, snapshot: Snapshot, passages: Sequence[Passage]) -> set[Ref]:
        """The passages in which, or around which, an excluded word stands: as a search for it would find them."""
        refs = [passage.ref for passage in passages]
        banned: set[Ref] = set()
        for terms, word in self._banned:
            wanted = (
                [snapshot.completions(word.text.lower(), _MOST_WORDS)]
                if word.prefix
                else [[term] for term in dict.fromkeys(terms)]
            )
            having = refs
            for group in wanted:
                scores = snapshot.lexical_scores(group, having) if having else {}
                having = [ref for ref in having if scores.get(ref, 0) > 0]
            banned.update(having)
        return banned


def _beside(snapshot: Snapshot, passage: Passage) -> tuple[str, str]:
    """The texts of the passages before and after this one, empty at the ends of the document."""
    version, at = version_of(passage.ref), passage.ordinal
    refs = [ref_of(version, ordinal) for ordinal in (at - 1, at + 1) if ordinal >= 0]
    texts = {each.ordinal: each.chunk.text for each in snapshot.passages(refs)}
    return texts.get(at - 1, ""), texts.get(at + 1, "")


def _excluded(searches: Iterable[Search]) -> list[Word | Phrase]:
    return [item for search in searches for item in search.excluded]


def _phrase(text: str) -> re.Pattern[str] | None:
    """What finds these words one after the other; None where there are none."""
    words = re.findall(_WORD, _folded(text))
    if not words:
        return None
    pattern = _edged(words[0])
    for before, word in pairwise(words):
        is_close = re.match(_UNSPACED, before[-1]) or re.match(_UNSPACED, word[0])
        pattern += (r"[\W_]*" if is_close else r"[\W_]+") + _edged(word)
    return re.compile(pattern)


def _edged(word: str) -> str:
    """A word that is not a part of a longer one; scripts without spaces have no such edges."""
    start = "" if re.match(_UNSPACED, word[0]) else r"(?<!\w)"
    end = "" if re.match(_UNSPACED, word[-1]) else r"(?!\w)"
    return f"{start}{re.escape(word)}{end}"


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
