"""Every statement of the dialects' specifications has tests, and every test of a dialect says what it is for."""

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))["requirement"]
DIALECTS = "interfaces/mcp/dialects"
KEYS = {"id", "source", "says", "tests"}


def marks_of(file: Path) -> dict[str, set[str]]:
    """The tests of a file, each with the ids of its `covers` marks."""
    found = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = [
                each
                for each in node.decorator_list
                if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.covers"
            ]
            found[node.name] = {str(ast.literal_eval(value)) for mark in marks for value in mark.args}
    return found


COVERS = {
    f"{file.relative_to(TESTS).as_posix()}::{name}": ids
    for file in sorted((TESTS / "interfaces" / "mcp").rglob("test_*.py"))
    for name, ids in marks_of(file).items()
}


def test_rows_are_complete_and_have_ids_of_their_own():
    seen = defaultdict(int)
    for row in ROWS:
        assert set(row) == KEYS, row
        assert all(row.values()), row
        seen[row["id"]] += 1
    assert [name for name, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_row_names_tests_that_exist_and_name_it(row):
    for name in row["tests"]:
        assert name in COVERS, f"there is no test {name}"
        assert row["id"] in COVERS[name], f"{name} does not say that it covers {row['id']}"


@pytest.mark.parametrize("name", [name for name in COVERS if name.startswith(DIALECTS) or COVERS[name]])
def test_a_test_of_a_dialect_names_rows_that_exist_and_name_it(name):
    assert COVERS[name], "mark it: @pytest.mark.covers(...)"
    rows = {row["id"]: row["tests"] for row in ROWS}
    for identifier in COVERS[name]:
        assert identifier in rows, f"there is no row {identifier}"
        assert name in rows[identifier], f"row {identifier} does not name it"
