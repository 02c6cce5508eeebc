"""Patterns that somebody gave us, made to keep a matcher busy: each place answers or refuses, and none hangs.

Time is not measured: what is wrong here takes hours, so that a generous limit of processor time tells it apart.
"""

import signal
import sys

import pytest

from dowse import NotFoundError, Query, UsageError
from dowse.ingest.sources.patterns import IgnoreRules, PathPattern
from dowse.interfaces.mcp.access import Access
from dowse.text.globs import compile_glob
from workbench import open_at, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="timers of processor time are those of POSIX")
SECONDS = 30.0
PATH = "a/" * 60 + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x"
HOSTILE = {
    "folders between folders": "**/a/" * 40 + "b",
    "folders and stars": "**/*a*/" * 40 + "b",
    "stars": "a*" * 500 + "b",
    "stars below any folder": "**/" + "*a" * 200 + "b",
    "choices": "{a,aa}" * 1_000,
    "choices in choices": "{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,a}}}}}}}}}}}}}",
    "empty choices": "{,}" * 1_300,
    "open sets": "[" * 4_000,
    "open classes": "[[:a" * 1_000,
    "sets": "[a-z]" * 800 + "*b",
    "folders": "a/" * 30_000,
    "long": "a" * 60_000,
}
CASES = [pytest.param(each, id=name) for name, each in HOSTILE.items()]


@pytest.fixture(autouse=True)
def _within_time():
    def too_long(*_):
        raise AssertionError("this hangs")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def answer_or_refusal(use):
    try:
        return use()
    except (UsageError, NotFoundError) as refusal:
        assert refusal.hint  # noqa: PT017 - a refusal is one of two right answers
        return None


@pytest.mark.parametrize("pattern", CASES)
def test_masks_of_collections_end(pattern):
    def use():
        mask = PathPattern(pattern)
        mask.may_match_below(PATH)
        return mask.matches(PATH)

    assert not answer_or_refusal(use)


@pytest.mark.parametrize("pattern", CASES)
def test_rules_of_ignore_files_end_and_refuse_nothing(pattern):
    assert not IgnoreRules([pattern, f"!{pattern}", f"{pattern}/"]).decide(PATH, PATH[-46:], is_folder=True)


@pytest.mark.parametrize("pattern", CASES)
def test_globs_of_filters_and_of_get_end(pattern):
    assert not answer_or_refusal(lambda: compile_glob(pattern).fullmatch(PATH))


@pytest.mark.parametrize("pattern", CASES)
def test_patterns_of_addresses_end(pattern):
    access = Access(url_patterns=(f"example.org/{pattern}", f"{pattern}/x"))
    assert not access.may_fetch(f"https://{'a' * 60}.example.org/{PATH}")
    assert not access.may_fetch(f"https://example.org/{PATH}")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with open_at(folder) as engine:
        engine.add_collection(
            write(folder / "notes", {"a/" * 20 + "a" * 40 + ".md": "# Tea\n\nGreen tea.\n"}), name="notes"
        )
        engine.index("notes")
        yield engine


@pytest.mark.parametrize("pattern", CASES)
@pytest.mark.parametrize("spelled", ["tea path:{}", "path:{} tea", '"{}"~9', "/{}/", "{}*", "-{} tea"])
def test_questions_end(engine, pattern, spelled):
    answer_or_refusal(lambda: engine.search(Query(spelled.replace("{}", pattern), mode="lex")))


def test_a_phrase_of_thousands_of_words_does_not_end_the_process(engine):
    phrase = " ".join(f"word{number}" for number in range(8_000))
    assert not engine.search(Query(f'"{phrase}"', mode="lex")).hits


@pytest.mark.parametrize("pattern", CASES)
def test_names_of_documents_end(engine, pattern):
    answer_or_refusal(lambda: engine.get_many(pattern))
