"""A short run of every target of `make fuzz`, and everything that was ever found."""

import json
import os
import sys

import pytest

from dowse.errors import SourceError
from dowse.ingest.extract.limits import Limits, extract_within_limits
from fuzz.fuzzing import CORPUS, add_to_tally, fuzz
from fuzz.targets import TARGETS, Target

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits of processes are those of POSIX")
FEW = 12
FEWEST = 1
SLOW = {"open-database", "open-words", "open-vectors", "open-backup"}
FOUND = sorted(file.relative_to(CORPUS).as_posix() for file in CORPUS.glob("*/*"))


@pytest.fixture(autouse=True)
def _no_server_left():
    yield
    if "fuzz.served" in sys.modules:
        sys.modules["fuzz.served"].discard()


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow if each in SLOW else ()) for each in TARGETS]
)
def test_spoiled_inputs_meet_nothing_but_answers_and_refusals(name, tmp_path):
    most = FEWEST if name in SLOW else FEW
    tried, found = fuzz(name, TARGETS[name], seed=1, seconds=60, most=most, crashes=tmp_path)
    assert tried
    assert not found


@pytest.mark.parametrize("file", FOUND)
def test_what_was_found_once_is_mended(file):
    TARGETS[file.partition("/")[0]].run((CORPUS / file).read_bytes())


def test_a_finding_is_kept_once_with_its_input(tmp_path):
    def fragile(data: bytes) -> None:
        if b"a" in data:
            raise KeyError(data)

    tried, found = fuzz("fragile", Target(fragile, lambda: [b"bab"]), seed=1, seconds=60, most=50, crashes=tmp_path)
    assert tried == 50
    assert list(found) == ["KeyError in test_fuzz.py:fragile"]
    (file,) = tmp_path.iterdir()
    assert b"a" in file.read_bytes()


def test_a_tally_adds_up_what_runs_did(tmp_path):
    file = tmp_path / "results" / "fuzzing.json"
    for name, seconds, tried, found in (("query", 70.0, 100, 0), ("names", 50.0, 10, 2), ("query", 60.0, 5, 1)):
        add_to_tally(file, name, seconds, tried, found)
    tally = json.loads(file.read_text())
    assert tally["numbers"] == {"targets": 2, "minutes": 3.0, "executions": 115, "findings": 3}
    assert tally["targets"]["query"] == {"seconds": 130, "executions": 105, "findings": 1}


def test_a_parser_that_crashes_takes_nobody_along():
    limits = Limits(seconds=60, memory=1 << 30)
    crashing = (CORPUS / "read-rust" / "parser-crash.txt").read_bytes()
    try:
        extract_within_limits(crashing, "text/x-rust", "bad.rs", limits)
    except SourceError as refusal:
        assert refusal.reason == "crashed"  # noqa: PT017 - other versions of the parser do not crash
    assert "fn tea" in extract_within_limits(b"fn tea() {}\n", "text/x-rust", "good.rs", limits).text
