"""What is asked, in the terms of the index: words to look for, meanings to look near, and what must or must not be.

A word that hardly any passage has is also taken as the beginning of words, as is one that ends in `*`. What it
becomes is worth less than the word itself, so that exact matches stay in front.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.errors import ModelError
from dowse.ports import NONE, Alternatives, Expander, Snapshot
from dowse.records import record
from dowse.search.contexts import Described, described
from dowse.search.matching import Matcher
from dowse.search.syntax import Parsed, Phrase, Search, Word, parse, typed, words_alone
from dowse.text.analyse import analyse, query_terms
from dowse.types import Filter, Query, Scope, SearchKind

if TYPE_CHECKING:
    from dowse.search.sieve import Sieve

__all__ = ["Asked", "Words", "is_spelling", "understand"]

_RARE = 5  # a word that fewer passages have may be the beginning of another one
_SHORTEST = 3  # letters of such a beginning
_IMPLIED, _MOST_IMPLIED = 0.6, 8
_ASKED_FOR, _MOST_ASKED_FOR = 0.9, 40
_SHORTEST_STEM = 4
_LONGEST_STEM = 64  # no word of any language has a longer one
_PER_IDF = 2.2 * 1.3  # what a word is worth per unit of its idf: in body and around, and sometimes in a title
_LARGE = 500  # passages, from which on a word that none of them has says all that it can
_EVERYWHERE = Scope()
_PAIR = 2  # scripts without spaces are indexed by such
_MEMORY = "questions"
_QUESTIONS_KEPT, _LONGEST_KEPT = 512, 1_000  # of so many characters: 3 MB at the most


@record
class Words:
    """One search by words."""

    terms: tuple[str, ...]
    alternatives: Alternatives
    required: tuple[str, ...]
    weight: float
    text: str = ""
    worth: Mapping[str, float] = field(default_factory=dict)
    """What each term could add to a passage's BM25; one that no passage has, as much as the dearest one."""
    known: float = 1.0
    """How much of that is worth of terms that some passage has."""
    places: tuple[Described, ...] = ()
    """Where users' descriptions have some of the terms."""


@dataclass(frozen=True)
class Asked:
    """A query, understood."""

    words: tuple[Words, ...]
    meanings: tuple[tuple[str, float], ...]
    """Texts for the model, each with its weight."""
    sieve: "Sieve | None"
    """What phrases and exclusions let through; None where there are none."""
    filter: Filter | None
    notes: tuple[str, ...]
    text: str
    """The most important search, for whoever reads passages with it."""

    @property
    def terms(self) -> list[str]:
        """Every term that is looked for, alternatives included: what snippets show.

        Of searches by meaning alone, the words that they are put in: what answers mostly has some of them.
        """
        if not self.words:
            return list(dict.fromkeys(term for text, _ in self.meanings for term in query_terms(text)))
        found = [term for each in self.words for term in each.terms]
        others = [other for each in self.words for group in each.alternatives.values() for other in group]
        return list(dict.fromkeys([*found, *others]))

    @property
    def worth(self) -> list[float]:
        """What each of these terms is worth, an alternative its part of it; the same for all where that is unknown."""
        known: dict[str, float] = {}
        for each in self.words:
            own = [(term, each.worth.get(term, 0.0)) for term in each.terms]
            own += [
                (other, share * each.worth.get(term, 0.0))
                for term, group in each.alternatives.items()
                for other, share in group.items()
            ]
            for term, value in own:
                known[term] = max(value, known.get(term, 0.0))
        return [known.get(term, 1.0) for term in self.terms]

    @cached_property
    def matcher(self) -> Matcher:
        """Finds these terms in texts; searches by words that show whole passages never need it."""
        return Matcher(self.terms)


def understand(snapshot: Snapshot, query: Query, expander: Callable[[], Expander | None]) -> Asked:
    """Read the query; words and meanings as far as its mode wants them.

    The next page of an answer, and whoever types, ask the same again: what words of a text are worth is remembered
    until the index changes. No answer is.
    """
    if query.searches or query.expand or query.filter is not None:
        return _understood(snapshot, query, expander)
    known: dict[tuple[str, str, bool], Asked] = snapshot.memory.setdefault(_MEMORY, {})
    key = query.text, query.mode, query.plain
    asked = known.get(key)
    if asked is None:
        asked = _understood(snapshot, query, expander)
        # Conditions may be of today; and what phrases let through was made for one search.
        if asked.filter is None and asked.sieve is None and len(query.text) <= _LONGEST_KEPT:
            if len(known) >= _QUESTIONS_KEPT:
                known.clear()
            known[key] = asked
    # A new one each time, for it remembers what was found in texts.
    return Asked(asked.words, asked.meanings, asked.sieve, asked.filter, asked.notes, asked.text)


def _understood(snapshot: Snapshot, query: Query, expander: Callable[[], Expander | None]) -> Asked:
    if query.searches:
        parsed = typed(query.searches, query.intent)
    else:
        parsed = words_alone(query.text) if query.plain else parse(query.text)
    searches, notes = list(parsed.searches), list(parsed.notes)
    if query.expand:
        further, note = _expanded(parsed, query, expander())
        searches += [search for search in further if search.kind == "lex" or query.mode != "lex"]
        notes += [note] if note else []
    words = [
        found
        for search in searches
        if search.kind in {"plain", "lex"} and query.mode != "vec" and (found := _words(snapshot, search))
    ]
    meanings = [
        (search.text, search.weight)
        for search in searches
        if _says_something(search.text)
        and (search.kind in {"vec", "hyde"} or (search.kind == "plain" and query.mode != "lex"))
    ]
    return Asked(
        tuple(words),
        tuple(meanings),
        _sieve(parsed),
        _joined(parsed.filter, query.filter),
        tuple(notes),
        parsed.text,
    )


def _sieve(parsed: Parsed) -> "Sieve | None":
    if not any(search.phrases or search.excluded for search in parsed.searches):
        return None
    from dowse.search.sieve import Sieve  # most queries are words alone

    return Sieve(parsed) or None


def _joined(one: Filter | None, other: Filter | None) -> Filter | None:
    if one is None or other is None:
        return one or other
    from dowse.filters import both  # most queries have no filter, let alone two

    return both(one, other)


def _expanded(parsed: Parsed, query: Query, expander: Expander | None) -> tuple[list[Search], str]:
    """Further searches by the expander, or the note that says why there are none."""
    if expander is None:
        return [], "No expander is configured, so the query was searched as it is."
    try:
        found = expander.expand(parsed.text, query.intent or parsed.intent)
    except ModelError as error:
        return [], f"Searched without expansion. {error.message} {error.hint}".rstrip()
    return [search for kind, text in found for search in _further(kind, text)], ""


def _further(kind: SearchKind, text: str) -> Sequence[Search]:
    """What a model thought of, as a search of single weight; its words are words, whatever signs are among them."""
    if kind == "lex":
        return [replace(search, kind="lex", weight=1.0) for search in words_alone(text).searches]
    return [Search(kind, (Phrase(" ".join(text.split())),))] if text.strip() else []


def _words(snapshot: Snapshot, search: Search) -> Words | None:
    terms = query_terms(search.text)
    if not terms:
        return None
    required = [term for phrase in search.phrases for term in _surely_in(phrase)]
    alternatives = _alternatives(snapshot, search, terms) or NONE
    worth, known = _worth(snapshot, terms, alternatives)
    places = described(contexts, terms) if snapshot.comparable_scores and (contexts := snapshot.contexts()) else ()
    return Words(tuple(terms), alternatives, tuple(required), search.weight, search.text, worth, known, places)


def _worth(snapshot: Snapshot, terms: Sequence[str], alternatives: Alternatives) -> tuple[dict[str, float], float]:
    """What each term is worth, and how much of it all is known.

    A word that stands nowhere is not explained by any passage, and most telling: without it, one common word of a
    question about something else would count as all that was asked. It counts as much as the dearest known one, and
    less in a small collection, which lacks most words of any question. What joins the parts of a name, as `username`
    does for user-name, is one spelling among several and need not be there.
    """
    worth = {term: snapshot.lexical([term], 0, _EVERYWHERE, alternatives).ceiling for term in terms}
    known = sum(worth.values())
    unknown = [term for term, value in worth.items() if not value and not is_spelling(term, terms)]
    if unknown:
        counts = snapshot.frequencies([term for term, value in worth.items() if value])
        # A word in n of N passages is worth log(N / n): so many passages are there, about.
        passages = max((count * math.exp(worth[term] / _PER_IDF) for term, count in counts.items()), default=1.0)
        share = min(1.0, math.log(1 + passages) / math.log(_LARGE))
        worth |= dict.fromkeys(unknown, share * max(worth.values()) or 1.0)
    total = sum(worth.values())
    return worth, known / total if total else 0.0


def is_spelling(term: str, terms: Sequence[str]) -> bool:
    """Whether a term joins parts of a name of which the first is a term, too."""
    return any(term != other and len(other) > 1 and term.startswith(other) for other in terms)


def _surely_in(phrase: str) -> list[str]:
    """Terms of every passage that has the phrase, however its words are joined there."""
    required = []
    for word in re.findall(r"\w+", phrase):
        terms = analyse(word)
        pairs = [term for term in terms if len(term) == _PAIR and not term.isascii()]
        required += pairs or terms[-1:]
    return required


def _alternatives(snapshot: Snapshot, search: Search, terms: Sequence[str]) -> dict[str, dict[str, float]]:
    """For a word that is the beginning of others, those others with what they are worth."""
    found: dict[str, dict[str, float]] = {}
    for word in search.words:
        if word.prefix and (own := analyse(word.text)):
            found[own[-1]] = _completed(snapshot, word, own[-1])
    counts = snapshot.frequencies([term for term in terms if term not in found])  # all in one request
    for term, count in counts.items():
        if count < _RARE and _may_begin(term):
            others = [each for each in snapshot.completions(term, _MOST_IMPLIED + 1) if each != term]
            if others:
                found[term] = dict.fromkeys(others[:_MOST_IMPLIED], _IMPLIED)
    return {term: others for term, others in found.items() if others}


def _completed(snapshot: Snapshot, word: Word, term: str) -> dict[str, float]:
    """What `word*` stands for. Words are indexed by their stems, which may be shorter than what was typed."""
    start = word.text.lower()
    others = snapshot.completions(start, _MOST_ASKED_FOR)
    if not others:
        longest = min(len(start) - 1, _LONGEST_STEM)
        stems = (start[:length] for length in range(longest, _SHORTEST_STEM - 1, -1))
        counts = snapshot.frequencies(list(stems))
        others = [stem for stem, count in counts.items() if count][:1]
    return {other: _ASKED_FOR for other in others if other != term}


def _says_something(text: str) -> bool:
    """Whether there is a letter or digit in it: a model finds something near to anything."""
    return any(map(str.isalnum, text))


def _may_begin(term: str) -> bool:
    return len(term) >= _SHORTEST and term.isascii() and term.isalpha()
