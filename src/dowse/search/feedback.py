"""Pseudo-relevance feedback: the first answers' own words as a further search. The expander that needs no model.

What the best passages say often, and the rest of the index seldom, is likely to be about the same thing. It helps
where a question and its answers use different words, and leads astray where the first answers are wrong:
benchmarks/ablation.py has what it is worth.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from dowse.ports import Snapshot
from dowse.text.analyse import STOP_WORDS, analyse, query_terms
from dowse.types import Scope, SearchKind

__all__ = ["Feedback"]

_PASSAGES = 8
_WORDS = 10
_SHORTEST = 3
_IN_SEVERAL = 2  # a word of one passage alone is about that passage


class Feedback:
    """An expander over one snapshot."""

    name = "prf"

    def __init__(self, snapshot: Snapshot, scope: Scope) -> None:
        self._snapshot = snapshot
        self._scope = scope

    def expand(self, query: str, intent: str = "") -> Sequence[tuple[SearchKind, str]]:
        """One search by the words that the best passages share and others lack."""
        known = set(query_terms(f"{query} {intent}"))
        hits = self._snapshot.lexical(list(known), _PASSAGES, self._scope).hits
        passages = self._snapshot.passages([ref for ref, _ in hits])
        spelled: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for passage in passages:
            words = {term: word for word in re.findall(r"[^\W\d_]+", passage.chunk.text) for term in analyse(word)[:1]}
            counts.update(term for term in words if term not in known and len(term) >= _SHORTEST)
            spelled |= words
        several = [term for term, count in counts.items() if count >= _IN_SEVERAL and term not in STOP_WORDS]
        frequency = self._snapshot.frequencies(several)
        best = sorted(several, key=lambda term: (-counts[term] / math.log(2 + frequency[term]), term))[:_WORDS]
        return [("lex", " ".join(spelled[term] for term in best))] if best else []

    def close(self) -> None:
        """Nothing is held."""
