"""The protocol's official conformance suite passes, but for what tests/clients/conformance.toml explains."""

import json
import tomllib
from pathlib import Path

import pytest

from dowse.interfaces.mcp.dialects import load
from interfaces.mcp.talking import http_server

EXPECTED = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text(encoding="utf-8"))["expected"]
GOOD = {"SUCCESS", "INFO", "SKIPPED"}


@pytest.fixture
def failures(client, folder, tmp_path):
    """The scenarios in which something failed or was warned of, each with what was said."""
    results = tmp_path / "results"
    with http_server(folder, dialects=[load("conformance")], default="conformance") as address:
        done = client("conformance", "server", "--url", f"{address}/mcp", "--suite", "all", "--output-dir", results)
    found = {}
    for file in results.glob("*/checks.json"):
        scenario = file.parent.name.removeprefix("server-").partition("-20")[0]
        checks = json.loads(file.read_text(encoding="utf-8"))
        assert checks, f"{scenario} checked nothing"
        found[scenario] = [each.get("errorMessage", each["id"]) for each in checks if each["status"] not in GOOD]
    assert len(found) >= 30, done.stdout + done.stderr
    return {scenario: said for scenario, said in found.items() if said}


def test_the_suite_fails_where_it_is_expected_to_and_nowhere_else(failures):
    assert {name: said for name, said in failures.items() if name not in EXPECTED} == {}, "new failures"
    assert [name for name in EXPECTED if name not in failures] == [], "these pass now: strike them off the list"
    assert all(EXPECTED.values()), "each has a reason"
