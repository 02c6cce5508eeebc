"""Is it in the documents at all? One word for an answer as a whole: found, uncertain, or probably absent.

A search always finds something nearest. Whether that answers is told by the best of the first hits: by the same
absolute evidence as scores are made of, by neighbours of the question that are neighbours there, and by how many of
its words stand there at all, for a share of the words says less the fewer they are. Two words are little evidence
either way: they are found only where they stand together, and called absent only where next to nothing speaks for
them. In a small collection, where few words are known, nothing is called absent that has one of them. A question is
never found of which no word stands anywhere: models find a neighbour of any gibberish.

benchmarks/calibrate.py fits the curves, and measures how often each verdict is wrong.
"""

import math
from collections.abc import Mapping, Sequence

from dowse.ports import Snapshot
from dowse.search.asking import Asked, Words
from dowse.search.features import NOTHING, Close, Closeness
from dowse.search.fuse import score
from dowse.text.analyse import analyse, query_terms
from dowse.types import Explain, Passage, Scope, Verdict

__all__ = ["ABSENT", "CURVES", "FOUND", "SMALL", "evidence_of", "judge"]

FOUND = 0.7
"""From this confidence on, the answer is there."""
ABSENT = 0.3
"""Below it, it is not."""
SMALL = 50
"""With fewer documents, a collection is too small to call something absent of which any word is there."""
CURVES: Mapping[str, tuple[float, float, float, float]] = {
    "lex": (8.7, 5.3, 3.2, -7.2),
    "hybrid": (14.7, 3.4, 1.9, -11.0),
    "vec": (33.0, 0.0, 0.0, -22.0),
}
"""By mode, what the parts of `evidence_of` weigh, and the offset, in the logistic that is the confidence."""
_FEW_FOUND: Mapping[str, float] = {"lex": FOUND, "hybrid": FOUND, "vec": 0.8}
"""From this confidence on, a question of few words is found, where they also stand together."""
_FEW_ABSENT: Mapping[str, float] = {"lex": 0.05, "hybrid": 0.08, "vec": 0.05}
"""Below it, it is absent."""
_LOOKED_AT = 3  # hits
_FEW_WORDS = 2
_TOGETHER = 0.99  # of what the words are worth, in one place
_UNSPACED = 2  # letters of a foreign script that may be a word

Hits = Sequence[tuple[Passage, Explain]]


def judge(snapshot: Snapshot, scope: Scope, mode: str, best: Hits, asked: Asked) -> tuple[Verdict, float]:
    """The verdict on an answer with these first hits, before any is left out, and how sure it is."""
    first = best[:_LOOKED_AT]
    if not first:
        return "absent", 0.0
    if not snapshot.comparable_scores:
        return "uncertain", first[0][1].score
    words = asked.words[0] if asked.words else None
    near = _near(first, words, asked)
    # Of words that stand nowhere, meaning has found a neighbour, as of anything; and they are no few words.
    is_known = words.known > 0 if words else any(snapshot.frequencies(query_terms(asked.text)).values())
    is_short = is_known and _size(words.text if words else asked.text) <= _FEW_WORDS
    evidence = evidence_of(first, near)
    confidence = _confidence(mode, evidence)
    if mode == "hybrid" and not is_short:
        # What is said in other words is found by its score alone.
        confidence = max(confidence, score(mode, evidence[0]))
    if confidence >= (_FEW_FOUND[mode] if is_short else FOUND):
        is_told = is_known and (not is_short or words is None or max(near).window >= _TOGETHER)
        return ("found" if is_told else "uncertain"), confidence
    if confidence < (_FEW_ABSENT[mode] if is_short else ABSENT):
        has_words = words is None or any(close.window for close in near)
        if not (has_words and _is_small(snapshot, scope)):
            return "absent", confidence
    return "uncertain", confidence


def evidence_of(first: Hits, near: Sequence[Close]) -> tuple[float, float, float]:
    """What speaks for an answer: fused evidence, neighbours, and how many words (as a logarithm), each at its best."""
    return (
        max(explain.fused for _, explain in first),
        max(close.pairs for close in near),
        math.log1p(max(close.words for close in near)),
    )


def _near(first: Hits, words: Words | None, asked: Asked) -> list[Close]:
    if words is None:
        return [NOTHING] * len(first)
    closeness, matcher = Closeness(words, asked.terms), asked.matcher
    return [closeness.of(matcher.matches(*_whole(passage))) for passage, _ in first]


def _confidence(mode: str, evidence: tuple[float, float, float]) -> float:
    *weights, offset = CURVES[mode]
    return 1 / (1 + math.exp(-offset - sum(weight * value for weight, value in zip(weights, evidence, strict=True))))


def _is_small(snapshot: Snapshot, scope: Scope) -> bool:
    """Whether few documents were searched. Most often the one that makes them many is there, and settles it."""
    left = SMALL
    for name in scope.collections or ():
        if snapshot.documents(name, filter=scope.filter, limit=1, offset=left - 1):
            return False
        left -= len(snapshot.documents(name, filter=scope.filter, limit=left))
    return True


def _whole(passage: Passage) -> tuple[str, ...]:
    """The passage with its title and headings, which answer too."""
    return passage.info.title, *passage.chunk.headings, passage.chunk.text


def _size(text: str) -> int:
    """How many telling words a question has; letters of scripts without spaces count by twos."""
    terms = set(query_terms(text))
    said = [word for word in text.split() if not terms.isdisjoint(analyse(word))]
    return sum(1 if word.isascii() else max(1, len(word) // _UNSPACED) for word in said)
