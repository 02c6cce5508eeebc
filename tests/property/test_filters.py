"""Whatever a filter asks, SQLite selects what the naive reading of the filter selects."""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contract.builders import add_collections, make_draft
from dowse.errors import UsageError
from dowse.filters import OPERATORS, And, Compare, Filter, Not, Or, from_flat, from_operators, predicate
from dowse.filters.fields import FIELDS
from dowse.filters.tree import Operator, Scalar
from dowse.ports import Snapshot
from dowse.store.sqlite import SqliteStore
from dowse.store.sqlite.filtering import condition_of, prepare
from dowse.store.sqlite.rows import DOCUMENT_TABLES
from dowse.store.sqlite.snapshot import SqliteSnapshot
from dowse.types import Chunk, Draft, Fingerprint, MetadataValue, Passage

_Test = TypeVar("_Test", bound=Callable[..., None])

NOW = datetime(2024, 6, 1, 12, 30, tzinfo=UTC)
DAY_NS = 86_400 * 10**9
KEYS = [
    "author",
    "rating",
    "date",
    "created",
    "modified",
    "tags",
    "tag",
    "keywords",
    "a.b",
    'q"x',
    "ключ",
    "e\\n",
    "type",
    "",
]
TEXTS = [
    *("Ada", "ada", "straße", "STRASSE", "é", "e\u0301", "a, b", "x/y", "#x", "md", ".MD", "text/markdown", "code"),
    *(
        "notes",
        "Work",
        "sub/",
        "sub/é.md",
        "*.md",
        "**/[a-m]*",
        "{notes,work}/*",
        "?",
        "sub",
        "one",
        "Two",
        "One > Two",
    ),
    *("2024", "2024-05", "2024-05-01", "2024-05-01T10:00:00+02:00", "1969-12-31", "9999-12-31", "today", "7d", "3m"),
    *(
        "true",
        "4",
        "0.5",
        "",
        " ",
        "%",
        "_",
        "'",
        '"',
        "\\",
        "ſ",
        "K",
        "walked",
        "file:///",
        "/library/notes/",
        "\ud800",
    ),
]
NUMBERS = [0, 1, 2, 4, -1, 0.5, 4.0, 1000, 2024, 10**15, 2**63, -(2**63), 2**80, 1e300]
PATHS = [
    "a.md",
    "sub/é.md",
    "sub/E\u0301.MD",
    "sub/x.tar.gz",
    "Straße.txt",
    "Sub/K.py",
    "README",
    "x.pſ",
    "_%.md",
    "a b.c++",
]
TYPES = ["text/markdown", "text/x-python", "application/pdf", "image/x-Other", "TEXT/PLAIN"]
PLACES: list[dict[str, MetadataValue]] = [{}, {"sheet": "Ada"}, {"sheet": "4", "hidden": True}]

texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=4))
scalars = st.one_of(texts, st.sampled_from(NUMBERS), st.booleans())
fields = st.one_of(
    st.sampled_from([*FIELDS, *KEYS]), st.sampled_from(KEYS).map("metadata.{}".format), st.just("place.sheet")
)


def comparison(field: str, operator: Operator, values: list[Scalar]) -> Filter:
    """One that makes sense in its form, though not always in its types."""
    given = {"in": tuple(values), "exists": isinstance(values[0], str)}
    return Compare(field, operator, given.get(operator, values[0]))


def joined(parts: list[Filter], shape: int) -> Filter:
    """These parts, as one tree of one of several shapes."""
    first, *rest = parts
    if not rest:
        return Not(first) if shape % 2 else first
    inner = joined(rest, shape // 3)
    return (And((first, inner)), Or((Not(first), inner)), Not(And((first, Or((inner,))))))[shape % 3]


leaf = st.builds(comparison, fields, st.sampled_from(OPERATORS), st.lists(scalars, min_size=1, max_size=3))
filters = st.builds(joined, st.lists(leaf, min_size=1, max_size=4), st.integers(0, 80))


def make_drafts(count: int) -> Iterator[Draft]:
    """Documents with every oddity, the same in every run."""
    chance = random.Random(7)  # noqa: S311 - chance, not secrecy
    plain = [text for text in TEXTS if text.isprintable() and "\ud800" not in text]
    values: list[MetadataValue] = [*plain, *NUMBERS, True, False, [], ["x/y", "Ada"], ["2024", "true", "0.5"]]

    def some_metadata() -> dict[str, MetadataValue]:
        return {key: chance.choice(values) for key in chance.sample(KEYS, chance.choice([0, 0, 1, 3, 6]))}

    for number in range(count):
        path = f"{number}/{chance.choice(PATHS)}" if number >= len(PATHS) else PATHS[number]
        draft = make_draft(
            path,
            f"text {number}\n\nmore\n\nend",
            collection=chance.choice(["notes", "Work"]),
            origin=chance.choice(["walked", "ingested"]),
            title=chance.choice(plain) or "none",
            metadata=some_metadata(),
            content_metadata=some_metadata(),
            created_at=chance.choice([1, 4, 1000, 1_714_550_400_000]),
        )
        info = replace(
            draft.info,
            media_type=chance.choice(TYPES),
            fingerprint=Fingerprint(
                size=chance.choice([1, 4, 1000]), mtime_ns=chance.choice([0, -1, 5 * 10**5, 19_844 * DAY_NS])
            ),
        )
        assert draft.content is not None
        chunks = tuple(some_place(chunk, chance) for chunk in draft.content.chunks)
        yield replace(draft, info=info, content=replace(draft.content, chunks=chunks))


def some_place(chunk: Chunk, chance: random.Random) -> Chunk:
    headings = chance.choice([(), ("One",), ("One", "Two"), ("Straße", "", "two\nlines")])
    page, place = chance.choice([None, 1, 4]), chance.choice(PLACES)
    return replace(chunk, headings=headings, level=len(headings), page=page, place=place)


@pytest.fixture(scope="module")
def view() -> Iterator[SqliteSnapshot]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "index")
        add_collections(store, "notes", "Work")
        store.put(list(make_drafts(60)))
        with store.snapshot() as snapshot:
            prepare(snapshot._connection)
            yield snapshot
        store.close()


@dataclass
class Stored:
    """All passages of a view. Hypothesis prints what a failing test was given, and this would be most of it."""

    passages: list[Passage] = field(repr=False)

    @classmethod
    def of(cls, view: Snapshot) -> "Stored":
        return cls([passage for info in view.documents() for passage in view.chunks(info.id)])


@pytest.fixture(scope="module")
def stored(view: SqliteSnapshot) -> Stored:
    return Stored.of(view)


def beside_halves(test: _Test) -> _Test:
    """Half a surrogate pair, which no store can hold, still has a place in the order of texts."""
    for name in ("place.sheet", "metadata.tag", "title"):
        for operator in OPERATORS:
            for value in ("\ud800", "A\udfff", "\ue000\ud800"):
                test = example(Compare(name, operator, operator == "exists" or value))(test)
    return test


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(filters)
@beside_halves
def test_sqlite_selects_what_the_filter_means(view: SqliteSnapshot, stored: Stored, filter: Filter) -> None:  # noqa: A002
    condition = condition_of(filter, NOW)
    holds = predicate(filter, NOW)
    if condition.of_passages:
        query = (
            f"SELECT d.uuid, c.ordinal FROM {DOCUMENT_TABLES} JOIN chunks c ON c.content = n.id WHERE {condition.sql}"
        )
        expected = {
            (passage.info.id.bytes, passage.ordinal)
            for passage in stored.passages
            if holds(passage.info, passage.chunk, passage.ordinal)
        }
    else:
        query = f"SELECT d.uuid, 0 FROM {DOCUMENT_TABLES} WHERE {condition.sql}"
        expected = {(info.id.bytes, 0) for info in view.documents() if holds(info, None, 0)}
    assert set(view._connection.execute(query, condition.parameters)) == expected


names = st.one_of(
    st.sampled_from([f"${each}" for each in OPERATORS]), st.sampled_from(["$and", "$or", "$not", "$ne"]), fields
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(names, json_values, max_size=3))
def test_any_object_is_a_filter_or_is_refused_in_our_words(written: dict[str, object]) -> None:
    for read in (from_flat, from_operators):
        with suppress(UsageError):
            assert (read(written) is None) is (not written)
