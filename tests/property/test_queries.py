"""Whatever is typed is answered, by both stores alike, and only with what its conditions let through."""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contract.builders import add_collections, make_draft
from dowse.errors import UsageError
from dowse.filters import Filter, predicate
from dowse.ports import Snapshot, Store
from dowse.search.pipeline import answer
from dowse.search.syntax import parse
from dowse.store.memory import MemoryStore
from dowse.store.sqlite import SqliteStore
from dowse.types import And, Answer, Compare, Draft, Not, Or, Query
from search.asking import ENGLISH, embed_all, models

WORDS = [
    "auth",
    "author",
    "authorise",
    "pool",
    "connection",
    "c++",
    "=>",
    "数据库",
    "备份",
    "ภาษา",
    "👍",
    "naïve",
    "v1.2",
]
PATHS = ["a.md", "sub/b.md", "sub/deep/c.py", "d e.txt", "É.md"]
TAGS = [["work"], ["work/plans", "home"], []]
EVERYTHING = 200

pieces = st.sampled_from(
    [
        *(WORDS * 2),
        *(
            '"',
            "“",
            "”",
            "-",
            "*",
            ":",
            "::",
            ",",
            "\\",
            "/",
            "(",
            "{",
            "[",
            "'",
            "?",
            "^",
            "~",
            "+",
            "\n",
            " ",
            " ",
            " ",
        ),
        *("type:", "tag:", "title:", "path:", "after:", "before:", "collection:", "lex: ", "vec: ", "hyde: "),
        *("intent: ", "expand: ", "md", "notes", "work", "sub/", "*.md", "2024", "7d", "2024-05", "\0", "\ud800", "İ"),
        *("AND", "OR", "NOT", "$and", "' OR 1=1 --", "body:auth", "auth*", "-auth", '"connection pool"', '-"pool"'),
    ]
)
CONDITIONS = [
    *(
        "type:md",
        "type:md,python",
        "tag:work",
        "tag:home,work",
        "path:*.md",
        "path:1",
        "collection:notes",
        "title:plan",
    ),
    *("after:2024-05", "before:2024-06", "after:1y", "-type:md", "-tag:work", "-path:*.py", "-collection:work"),
]
words = st.sampled_from(WORDS)
items = st.one_of(
    words,
    words,
    st.lists(words, min_size=1, max_size=2).map(lambda found: f'"{" ".join(found)}"'),
    words.map("-{}".format),
    words.map("{}*".format),
    words.map('-"{}"'.format),
    st.sampled_from(CONDITIONS),
)
lines = st.lists(items, min_size=1, max_size=4).map(" ".join)
documents = st.lists(
    st.tuples(st.sampled_from(["lex", "vec", "hyde", "expand", "intent"]), lines), min_size=1, max_size=3
)
queries = st.one_of(
    lines,
    documents.map(lambda found: "\n".join(f"{kind}: {line}" for kind, line in found)),
    st.lists(pieces, min_size=1, max_size=12).map("".join),
    st.text(min_size=1, max_size=30),
)
"""What is meant as a query, and what is not."""

values = st.sampled_from(["work", "home", "md", "a.md", "sub/", "*.md", "2024-05", "draft", "", "7d", "notes"])
leaves = st.one_of(
    st.builds(
        Compare,
        st.sampled_from(["tag", "type", "path", "title", "date", "collection", "author"]),
        st.sampled_from(["eq", "prefix", "contains", "glob", "gte", "lt"]),
        values,
    ),
    st.builds(
        Compare, st.sampled_from(["page", "ordinal", "size"]), st.sampled_from(["eq", "gt", "lte"]), st.integers(0, 3)
    ),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda parts: And(tuple(parts)), st.lists(inner, max_size=3)),
        st.builds(lambda parts: Or(tuple(parts)), st.lists(inner, max_size=3)),
    ),
    max_leaves=4,
)


def make_drafts() -> Iterator[Draft]:
    """Documents that share words, the same for every store."""
    chance = random.Random(11)  # noqa: S311 - chance, not secrecy
    for number in range(40):
        paragraphs = [" ".join(chance.choices(WORDS, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 3))]
        metadata = {"tags": chance.choice(TAGS), "author": chance.choice(["Ada", "work"])}
        yield make_draft(
            f"{number}/{chance.choice(PATHS)}",
            "\n\n".join(paragraphs),
            collection=chance.choice(["notes", "work"]),
            title=chance.choice(["Plan", "draft of work", "notes"]),
            metadata=metadata | ({"date": "2024-05-02"} if number % 3 else {}),
        )


@pytest.fixture(scope="module")
def views() -> Iterator[tuple[Snapshot, Snapshot]]:
    """The same documents with vectors in both stores: SQLite's, and the oracle's."""
    drafts = list(make_drafts())
    with tempfile.TemporaryDirectory() as folder:
        stores: tuple[Store, Store] = (SqliteStore(Path(folder) / "index"), MemoryStore())
        for store in stores:
            add_collections(store, "notes", "work")
            store.put(drafts)
            embed_all(store, ENGLISH)
        with stores[0].snapshot() as actual, stores[1].snapshot() as expected:
            yield actual, expected
        for store in stores:
            store.close()


def places(found: Answer) -> dict[tuple[str, int], float]:
    return {(hit.info.file, hit.ordinal): hit.score for hit in found.hits}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(queries, st.sampled_from(["lex", "hybrid", "auto"]))
@example("-auth", "auto")
@example("lex: \nvec: \ud800", "hybrid")
@example('"数据库备份" -ภาษา tag:work', "hybrid")
def test_every_query_is_answered_alike_and_within_its_conditions(
    views: tuple[Snapshot, Snapshot], text: str, mode: str
) -> None:
    if not text.strip():
        with pytest.raises(UsageError):
            answer(views[0], Query(text), models(ENGLISH))
        return
    query = Query(text, mode=mode, limit=EVERYTHING)  # type: ignore[arg-type]  # a table's
    actual, expected = (answer(view, query, models(ENGLISH)) for view in views)
    assert (actual.mode, actual.notes) == (expected.mode, expected.notes)
    assert places(actual) == pytest.approx(places(expected), abs=1e-5)
    assert all(0 <= hit.score <= 1 for hit in actual.hits)
    conditions = parse(text).filter
    if conditions is not None:
        holds = predicate(conditions)
        assert all(holds(hit.info, hit.chunk, hit.ordinal) for hit in actual.hits)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(filters, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), st.integers(1, 5))
def test_a_filter_lets_the_same_passages_through_in_both_stores_with_the_right_count(
    views: tuple[Snapshot, Snapshot],
    filter: Filter,  # noqa: A002 - the noun
    asked_for: list[str],
    limit: int,
) -> None:
    asked = [Query(" ".join(asked_for), mode="lex", limit=size, filter=filter) for size in (EVERYTHING, limit)]
    everything, few = (answer(views[0], query, models(ENGLISH)) for query in asked)
    oracle = answer(views[1], asked[0], models(ENGLISH))
    assert places(everything) == pytest.approx(places(oracle), abs=1e-5)
    assert len(few.hits) == min(limit, len(everything.hits))
    holds = predicate(filter)
    unfiltered = answer(views[1], Query(" ".join(asked_for), mode="lex", limit=EVERYTHING), models(ENGLISH))
    passing = {(hit.info.file, hit.ordinal) for hit in unfiltered.hits if holds(hit.info, hit.chunk, hit.ordinal)}
    assert set(places(everything)) == passing
    for view in views:
        listed = {info.file for info in view.documents(filter=filter)}
        assert listed >= {file for file, _ in places(everything)}
