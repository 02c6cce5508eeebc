"""Filters inside SQLite: what is said in SQL, what is left to our function, and the keys that there are."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contract.builders import add_collections, make_draft
from dowse.filters import And, Compare, Filter, Not, Or
from dowse.store.sqlite import SqliteStore
from dowse.store.sqlite.filtering import condition_of, metadata_keys, prepare
from dowse.store.sqlite.rows import DOCUMENT_TABLES

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def made_at(folder: Path) -> SqliteStore:
    store = SqliteStore(folder / "index")
    add_collections(store, "notes", "Work")
    store.put(
        [
            make_draft("a.md", "# One\n\nalpha\n\n# Two\n\nbeta", metadata={"rating": 5}),
            make_draft("sub/b.md", "beta", content_metadata={"rating": 4, "tags": ["x/y"], "date": "2024-05-01"}),
            make_draft("c.txt", "gamma", collection="Work", metadata={"tags": ["z"]}, content_metadata={"tags": ["x"]}),
        ]
    )
    return store


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    store = made_at(tmp_path_factory.mktemp("filtering"))
    with store.snapshot() as view:
        prepare(view._connection)
        yield view._connection
    store.close()


def paths_of(connection: sqlite3.Connection, filter: Filter) -> list[str]:  # noqa: A002 - the noun of filters
    condition = condition_of(filter, NOW)
    assert not condition.of_passages
    query = f"SELECT d.path FROM {DOCUMENT_TABLES} WHERE {condition.sql} ORDER BY d.path"
    return [path for (path,) in connection.execute(query, condition.parameters)]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (Compare("collection", "eq", "work"), ["c.txt"]),
        (Compare("collection", "in", ("WORK", "Notes")), ["a.md", "c.txt", "sub/b.md"]),
        (Compare("path", "prefix", "notes/SUB"), ["sub/b.md"]),
        (Compare("type", "eq", "txt"), ["c.txt"]),
        (Compare("type", "in", ("markdown", "pdf")), ["a.md", "c.txt", "sub/b.md"]),
        (Compare("rating", "gte", 4), ["a.md", "sub/b.md"]),
        (Not(Compare("rating", "gt", 4)), ["c.txt", "sub/b.md"]),
        (Compare("tag", "eq", "x"), ["sub/b.md"]),
        (Compare("date", "gte", "5w"), ["sub/b.md"]),
        (Compare("modified", "lt", "1971"), ["a.md", "c.txt", "sub/b.md"]),
        (Compare("modified", "gt", "9999"), []),
        (Compare("size", "lt", 2**70), ["a.md", "c.txt", "sub/b.md"]),
        (And(()), ["a.md", "c.txt", "sub/b.md"]),
        (Or(()), []),
    ],
)
def test_a_condition_selects_the_documents_that_fit(connection, filter, expected):  # noqa: A002 - the noun of filters
    assert paths_of(connection, filter) == expected


def test_a_condition_on_passages_selects_passages(connection):
    condition = condition_of(And((Compare("heading", "eq", "two"), Compare("type", "eq", "md"))))
    assert condition.of_passages
    query = f"SELECT d.path, c.ordinal FROM {DOCUMENT_TABLES} JOIN chunks c ON c.content = n.id WHERE {condition.sql}"
    assert connection.execute(query, condition.parameters).fetchall() == [("a.md", 2), ("a.md", 3)]


def test_what_the_user_said_beats_what_the_content_says(connection):
    assert paths_of(connection, Compare("tag", "eq", "z")) == ["c.txt"]
    assert paths_of(connection, Compare("metadata.tags", "eq", "x")) == []


@pytest.mark.parametrize("value", ["'; DROP TABLE documents; --", "%", "_", "\0", "\ud800", 'a"b', "\\", "数据库"])
def test_values_are_never_part_of_the_statement(connection, value):
    for field in ("collection", "path", "type", "title", "tag", value, "metadata.rating"):
        for operator in ("eq", "contains", "prefix", "glob"):
            assert paths_of(connection, Compare(field, operator, value)) == []


def test_a_thousand_values_and_hundreds_of_parts_are_one_statement(connection):
    many = tuple(f"t{number}" for number in range(1_000))
    assert paths_of(connection, Compare("type", "in", (*many, "txt"))) == ["c.txt"]
    assert paths_of(connection, Or(tuple(Compare("tag", "eq", value) for value in many[:500]))) == []


def test_the_keys_of_all_metadata_are_known(connection):
    assert metadata_keys(connection) == {"rating", "tags", "date"}


def test_keys_of_what_was_deleted_are_not(tmp_path):
    store = made_at(tmp_path)
    with store.snapshot() as view:
        gone = [info.id for info in view.documents() if info.path == "sub/b.md"]
    store.delete(gone)
    with store.snapshot() as view:
        assert metadata_keys(view._connection) == {"rating", "tags"}
    store.close()
