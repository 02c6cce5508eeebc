"""Is it in the documents at all? One word for an answer as a whole: found, uncertain, or probably absent.

A search always finds something nearest. Whether that answers is told by the same absolute evidence as scores are
made of: the best of the first hits. Answers by words alone are judged by words that stand together too, for one
common word of a question says little. Two words are little evidence either way: they are found only where both
stand together, and in a small collection, where few words are known, nothing is called absent that has one of them.
By meaning alone, a question is never found of which no word stands anywhere: models find a neighbour of any gibberish.

benchmarks/calibrate.py measures how often each verdict is wrong.
"""

import math
from collections.abc import Sequence
from functools import cache

from dowse.ports import Snapshot
from dowse.search.asking import Asked, Words
from dowse.search.features import Closeness
from dowse.search.fuse import score
from dowse.text.analyse import analyse, query_terms
from dowse.types import Explain, Passage, Scope, Verdict

__all__ = ["ABSENT", "FOUND", "SMALL", "judge"]

FOUND = 0.7
"""From this confidence on, the answer is there."""
ABSENT = 0.3
"""Below it, it is not."""
SMALL = 50
"""With fewer documents, a collection is too small to call something absent of which any word is there."""
_LOOKED_AT = 3  # hits
_FEW_WORDS = 2
_TOGETHER = 0.99  # of what the words are worth, in one place
_UNSPACED = 2  # letters of a foreign script that may be a word
_BY_WORDS = (11.0, 5.0, 8.0, -5.4)
"""Weights of BM25's share, window and pairs, and the offset of the logistic, for words alone."""


def judge(
    snapshot: Snapshot,
    scope: Scope,
    mode: str,
    best: Sequence[tuple[Passage, Explain]],
    asked: Asked,
) -> tuple[Verdict, float]:
    """The verdict on an answer with these first hits, before any is left out, and how sure it is."""
    first = best[:_LOOKED_AT]
    if not first:
        return "absent", 0.0
    words = asked.words[0] if asked.words else None

    @cache
    def near() -> list[tuple[float, float]]:
        if words is None:
            return [(0.0, 0.0)] * len(first)
        closeness, matcher = Closeness(words, asked.terms), asked.matcher
        return [closeness.of(matcher.matches(*_whole(passage))) for passage, _ in first]

    if mode == "lex":
        confidence = max(_by_words(explain, *close) for (_, explain), close in zip(first, near(), strict=True))
    else:
        confidence = max(score(mode, explain.fused) for _, explain in first)
    if confidence >= FOUND:
        if words is None:
            is_told = any(snapshot.frequencies(query_terms(asked.text)).values())
        else:
            is_told = _size(words) > _FEW_WORDS or max(near())[0] >= _TOGETHER
        return ("found" if is_told else "uncertain"), confidence
    if confidence < ABSENT and not (_is_small(snapshot, scope) and (words is None or max(near())[0])):
        return "absent", confidence
    return "uncertain", confidence


def _is_small(snapshot: Snapshot, scope: Scope) -> bool:
    """Whether few documents were searched; no more are listed than it takes to know."""
    left = SMALL
    for name in scope.collections or ():
        left -= len(snapshot.documents(name, filter=scope.filter, limit=left)) if left else 0
    return left > 0


def _by_words(explain: Explain, window: float, pairs: float) -> float:
    share, together, ordered, offset = _BY_WORDS
    evidence = share * explain.legs[0].value + together * window + ordered * pairs + offset
    return 1 / (1 + math.exp(-evidence))


def _whole(passage: Passage) -> tuple[str, ...]:
    """The passage with its title and headings, which answer too."""
    return passage.info.title, *passage.chunk.headings, passage.chunk.text


def _size(words: Words) -> int:
    """How many telling words a search has; letters of scripts without spaces count by twos."""
    said = [word for word in words.text.split() if any(term in words.worth for term in analyse(word))]
    return sum(1 if word.isascii() else max(1, len(word) // _UNSPACED) for word in said)
