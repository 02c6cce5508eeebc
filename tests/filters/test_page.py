"""The page on queries says what the code does."""

import json
import re
from pathlib import Path

import pytest

from dowse.filters import FIELDS, OPERATORS, from_operators
from dowse.search.conditions import KEYS
from dowse.search.syntax import parse

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "concepts" / "queries.md").read_text(encoding="utf-8")
ROWS = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("| ")]


def test_the_table_of_fields_is_that_of_the_code():
    rows = [tuple(row) for row in ROWS if len(row) == 3 and row[0].startswith("`")]
    assert rows == [(f"`{field.name}`", field.kind, field.meaning) for field in FIELDS.values()]


def test_fields_of_passages_come_last():
    assert [name for name, field in FIELDS.items() if field.of_passage] == list(FIELDS)[list(FIELDS).index("page") :]


def test_every_operator_and_every_name_of_a_condition_has_its_row():
    first = " ".join(row[0] for row in ROWS)
    assert all(f"`${operator}`" in first for operator in (*OPERATORS, "ne", "nin", "not"))
    assert all(f"`{key}:" in first for key in KEYS)


@pytest.mark.parametrize("example", re.findall(r"^\| `(\w+:\S+)` \|", PAGE, re.MULTILINE))
def test_a_condition_that_the_page_shows_is_one(example):
    (condition,) = parse(example).conditions
    assert example.startswith(f"{condition.key}:")


@pytest.mark.parametrize("line", re.findall(r"^\| `((?:lex|vec|hyde|expand): .*?)` \|", PAGE, re.MULTILINE))
def test_a_line_that_the_page_shows_is_a_search(line):
    (search,) = parse(line).searches
    assert search.kind == line.partition(":")[0].replace("expand", "plain")


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
def test_a_filter_that_the_page_shows_can_be_read(block):
    assert from_operators(json.loads(block)) is not None
