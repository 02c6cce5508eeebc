"""What is asked: words, phrases, exclusions and conditions, in one query or in several typed ones.

Never an error: what cannot be read as anything else is a word to search for. The text is only cut up here;
which terms its words become is up to the analyser, and what they are worth up to ranking.

    conf* "connection pool" -redis -"test data" type:md -path:archive/ after:2024-05

A query that starts with `lex:`, `vec:`, `hyde:`, `expand:` or `intent:` is a document of one line per search.
A line without one of these goes on with the line above it, or after `intent:` is a search of its own.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from dowse.errors import UsageError
from dowse.records import record
from dowse.search.conditions import KEYS, Condition, Key, fits, joined

if TYPE_CHECKING:
    from dowse.filters import Filter

__all__ = [
    "MAX_SEARCHES",
    "Condition",
    "Item",
    "Key",
    "Kind",
    "Parsed",
    "Phrase",
    "Search",
    "Word",
    "parse",
    "typed",
    "words_alone",
]

Kind = Literal["plain", "lex", "vec", "hyde"]

MAX_SEARCHES = 10
_MOST_CONDITIONS = 32  # in one search, and values in one condition; the others are words
_FIRST_WEIGHT = 2.0

_KINDS: dict[str, Kind] = {"lex": "lex", "vec": "vec", "hyde": "hyde", "expand": "plain"}
_INTENT = "intent"
_QUOTES = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02'  # also those that phones and other languages use
_SIGNS = frozenset(f"{_QUOTES}:*-")
"""Without one of these a query is words alone."""
_MINUS = rf"-(?=[{_QUOTES}]|[._@#/$]?[^\W\d_])"
_KEY = rf"(?P<key>{'|'.join(KEYS)}):"
_QUOTED = rf"[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)[{_QUOTES}]"
# Compiled when they are first needed, which for most queries is never.
_LINE = rf"(?is)\s*({'|'.join([*_KINDS, _INTENT])}):(?!:)(.*)"
_ITEM = (
    rf"(?i)(?P<minus>{_MINUS})?"
    rf"(?:{_KEY}(?:{_QUOTED}|(?P<value>[^\s:{_QUOTES}]\S*))|{_QUOTED.replace('quoted', 'phrase')})"
)
_RUN = r"\S+"
_PREFIX = r"(?P<stem>[^*]*\w)\*"
_ONE_LETTER = r"(?i)-[a-z]\*?"
_BARE = rf"[^\s:{_QUOTES}]\S*"
_LISTS = frozenset({"collection", "type", "tag"})
"""Where a comma parts values, of which one suffices; paths and titles may have commas of their own."""


@record
class Word:
    """A word as it was typed, with its punctuation."""

    text: str
    excluded: bool = False
    prefix: bool = False
    """Whether a `*` asked for all words that start so. Others may be taken so too, if that helps ranking."""


@record
class Phrase:
    """Words that must stand together, in this order."""

    text: str
    excluded: bool = False


Item: TypeAlias = Word | Phrase | Condition


@dataclass(frozen=True)
class Search:
    """One of the searches that a query is made of."""

    kind: Kind
    """`plain` is by words and by meaning, and may be expanded; `lex` by words; `vec` and `hyde` by meaning."""
    items: tuple[Item, ...]
    """In the order of the text; those of `vec` and `hyde` are one phrase each, which is just their text."""
    weight: float = 1.0
    text: str = field(init=False, compare=False)
    """What is looked for, without exclusions, conditions and signs: for a model, or for the analyser."""

    def __post_init__(self) -> None:
        """Put the text together, once: nearly all who look at a search look at its text."""
        words = [item.text for item in self.items if not isinstance(item, Condition) and not item.excluded]
        object.__setattr__(self, "text", " ".join(words))

    @property
    def words(self) -> tuple[Word, ...]:
        """The words to look for."""
        return tuple(item for item in self.items if isinstance(item, Word) and not item.excluded)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that must be there; none in a search by meaning."""
        found = (item for item in self.items if isinstance(item, Phrase) and not item.excluded)
        return tuple(item.text for item in found) if self.kind in {"plain", "lex"} else ()

    @property
    def excluded(self) -> tuple[Word | Phrase, ...]:
        """What must not be there."""
        return tuple(item for item in self.items if not isinstance(item, Condition) and item.excluded)

    def __str__(self) -> str:
        """The search as it would be typed."""
        if self.kind in {"vec", "hyde"}:
            return self.text
        return " ".join(map(_typed, self.items))


@dataclass(frozen=True)
class Parsed:
    """A query, read."""

    searches: tuple[Search, ...]
    """Up to ten, the first of double weight; none where nothing was asked."""
    intent: str = ""
    """What the searches are about, to tell meanings apart; not itself searched for."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What the reader should know, in plain sentences."""

    @property
    def text(self) -> str:
        """What the most important search looks for; empty where there are conditions and exclusions alone."""
        return next((search.text for search in self.searches if search.text), "")

    @property
    def is_typed(self) -> bool:
        """Whether it says itself which searches to make."""
        return any(search.kind != "plain" for search in self.searches) or len(self.searches) > 1

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of all searches."""
        return tuple(item for search in self.searches for item in search.items if isinstance(item, Condition))

    @property
    def filter(self) -> "Filter | None":
        """The conditions as one filter, for the query as a whole."""
        return joined(self.conditions)

    def __str__(self) -> str:
        """The query as it would be typed; reading it gives the same."""
        if not self.is_typed and not self.intent:
            text = " ".join(map(str, self.searches))
            return (
                f'"" {text}' if re.match(_LINE, text) else text
            )  # quotes without words only keep the line from being one
        names = {kind: name for name, kind in _KINDS.items()}
        lines = [f"{_INTENT}: {self.intent}"] if self.intent else []
        return "\n".join([*lines, *(f"{names[search.kind]}: {search}" for search in self.searches)])


def parse(text: str) -> Parsed:
    """Read a query; there is none that cannot be read."""
    if _SIGNS.isdisjoint(text):
        return words_alone(text)  # as nearly always
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and re.match(_LINE, lines[0]):
        parsed = _document(lines)
        if parsed.searches:
            return parsed
    return _parsed([("plain", text)], "")


def words_alone(text: str) -> Parsed:
    """A query in which nothing but words is meant, whatever signs are in it."""
    words = tuple(map(Word, text.split()))
    return Parsed((Search("plain", words, _FIRST_WEIGHT),)) if words else Parsed(())


def typed(searches: Iterable[tuple[str, str]], intent: str = "") -> Parsed:
    """A query from searches whose kinds are given beside their texts.

    Args:
        searches: kind (`lex`, `vec`, `hyde`, or `plain`) and text, the most important one first.
        intent: what they are about.

    Raises:
        UsageError: none or more than ten, an unknown kind, or one without text.
    """
    asked: list[tuple[Kind, str]] = []
    for number, (name, text) in enumerate(searches, 1):
        kind = next((kind for kind in get_args(Kind) if kind == name), None)
        if kind is None:
            raise UsageError(f"There is no kind of search {name!r}.", hint="There are lex, vec, hyde and plain.")
        if not text.strip():
            raise UsageError(f"Search {number} has no text.", hint="Say what to look for.")
        asked.append((kind, text))
    if not 1 <= len(asked) <= MAX_SEARCHES:
        raise UsageError(f"{len(asked)} searches at once cannot be made.", hint=f"Give 1 to {MAX_SEARCHES}.")
    return _parsed(asked, " ".join(intent.split()))


def _document(lines: list[str]) -> Parsed:
    asked: list[tuple[Kind, str]] = []
    intents: list[str] = []
    goes_on = True
    for line in lines:
        found = re.match(_LINE, line)
        name, text = (found[1].lower(), found[2]) if found else ("", line)
        if name == _INTENT:
            intents.append(text)
        elif name:
            asked.append((_KINDS[name], text))
        elif goes_on:
            asked[-1] = (asked[-1][0], f"{asked[-1][1]}\n{text}")
        else:
            asked.append(("plain", text))
        goes_on = name != _INTENT
    return _parsed(asked, " ".join(" ".join(intents).split()))


def _parsed(asked: Iterable[tuple[Kind, str]], intent: str) -> Parsed:
    found = [Search(kind, items) for kind, text in asked if (items := tuple(_items(kind, text)))]
    searches = found[:MAX_SEARCHES]
    first = next((number for number, search in enumerate(searches) if search.text), 0)
    searches[first : first + 1] = [replace(search, weight=_FIRST_WEIGHT) for search in searches[first : first + 1]]
    notes = (f"Only the first {MAX_SEARCHES} of {len(found)} searches were made.",) if len(found) > MAX_SEARCHES else ()
    return Parsed(tuple(searches), intent, notes)


def _items(kind: Kind, text: str) -> Iterator[Item]:
    if kind in {"vec", "hyde"}:
        yield from (Phrase(words) for words in [" ".join(text.split())] if words)
        return
    position = conditions = 0
    runs, items = re.compile(_RUN), re.compile(_ITEM)
    while run := runs.search(text, position):
        found = items.match(text, run.start())
        item: Item | None = None
        if found and found["key"] and conditions < _MOST_CONDITIONS:
            item = _condition(found)
            conditions += item is not None
        elif found and not found["key"]:
            item = Phrase(" ".join(found["phrase"].split()), bool(found["minus"]))
        if found and item:
            position = found.end()
        else:
            item, position = _word(run[0]), run.end()
        if not (isinstance(item, Phrase) and not item.text):  # quotes with nothing in them ask for nothing
            yield item


def _word(run: str) -> Word:
    """What stands between spaces. A lone letter after a dash is an option of some program, not an exclusion."""
    excluded = bool(re.match(_MINUS, run)) and not re.fullmatch(_ONE_LETTER, run)
    text = run[1:] if excluded else run
    prefix = re.fullmatch(_PREFIX, text)
    return Word(prefix["stem"] if prefix else text, excluded, bool(prefix))


def _condition(found: re.Match[str]) -> Condition | None:
    """The condition, unless it has no value that makes sense."""
    key = next(key for key in KEYS if key == found["key"].lower())
    values = [" ".join(found["quoted"].split())] if found["quoted"] is not None else [found["value"]]
    if key in _LISTS and found["quoted"] is None:
        values = found["value"].split(",")
    fitting = tuple(value for value in values if fits(key, value)) if len(values) <= _MOST_CONDITIONS else ()
    return Condition(key, fitting, bool(found["minus"])) if fitting else None


def _typed(item: Item) -> str:
    """An item as it would be typed."""
    minus = "-" if item.excluded else ""
    if isinstance(item, Word):
        return f"{minus}{item.text}{'*' if item.prefix else ''}"
    if isinstance(item, Phrase):
        return f'{minus}"{item.text}"'
    value = ",".join(item.values)
    is_bare = re.fullmatch(_BARE, value) and (len(item.values) > 1 or item.key not in _LISTS or "," not in value)
    return f"{minus}{item.key}:{value}" if is_bare else f'{minus}{item.key}:"{value}"'
