"""What is embedded for a chunk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.text.passage import embedding_text


def test_a_passage_is_introduced_by_where_it_stands():
    assert embedding_text("Guide", ["Setup", "Linux"], "Run it.") == "Guide > Setup > Linux\n\nRun it."


def test_a_passage_without_title_and_headings_is_its_text():
    assert embedding_text(None, [], "Run it.") == "Run it."
    assert embedding_text("  ", [""], "Run it.") == "Run it."


@pytest.mark.parametrize("title", ["Guide", "guide ", "GUIDE"])
def test_a_title_that_is_the_first_heading_is_said_once(title):
    assert embedding_text(title, ["Guide", "Setup"], "Run it.") == "Guide > Setup\n\nRun it."


@pytest.mark.parametrize(
    "text",
    [
        "## Linux\n\nRun it.",
        "\n\n## Linux ##\nRun it.",
        "Linux\n-----\nRun it.",
        "**Linux**\n\nRun it.",
        "LINUX\nRun it.",
    ],
)
def test_a_heading_that_opens_the_text_is_not_said_before_it(text):
    assert embedding_text("Guide", ["Setup", "Linux"], text) == f"Guide > Setup\n\n{text}"


def test_several_headings_that_open_the_text_are_all_left_out():
    text = "# Guide\n\n## Setup\n\nRun it."
    assert embedding_text("Guide", ["Guide", "Setup"], text) == text


def test_a_title_that_opens_the_text_is_not_said_before_it():
    assert embedding_text("Guide", [], "Guide\n\nRun it.") == "Guide\n\nRun it."


def test_a_heading_that_comes_later_in_the_text_does_not_count():
    text = "Run it.\n\n## Linux"
    assert embedding_text(None, ["Linux"], text) == f"Linux\n\n{text}"


def test_a_heading_that_only_begins_the_first_sentence_does_not_count():
    assert embedding_text(None, ["Run"], "Run it.") == "Run\n\nRun it."


@given(st.none() | st.text(max_size=20), st.lists(st.text(max_size=20), max_size=4), st.text(max_size=60))
def test_the_text_itself_is_never_changed(title, headings, text):
    assert embedding_text(title, headings, text).endswith(text)
