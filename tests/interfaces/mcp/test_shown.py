"""What is invisible or reorders becomes visible; what people write stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.interfaces.mcp.shown import _SUSPECT, REPLACEMENT, all_shown, shown


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\r\nwith lines\n",
        "日本語と中文",
        "naïve – “quotes”",
        "👩‍👩‍👧 family",
        "می‌خواهم",
        "क्‍ष",
        "👍🏽",
        "a\u00adb",
    ],
)
def test_what_people_write_stays(text):
    assert shown(text) == text


@pytest.mark.parametrize(
    "character",
    [
        *("\x00", "\x1b", "\x07", "\x7f", "\x85", "\x9b", "\u200b", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069"),
        *("\u2060", "\ufeff", "\u180e", "\u061c", "\U000e0041", "\u200d", "\u200c", "\ud800", "\x0b"),
    ],
)
def test_each_of_these_becomes_a_mark(character):
    assert shown(f"ab{character}cd") == f"ab{REPLACEMENT}cd"


def test_a_return_that_hides_a_line_is_marked():
    assert shown("rm -rf /\rls   ") == f"rm -rf /{REPLACEMENT}ls   "


@given(st.text())
def test_length_is_kept_and_a_second_time_changes_nothing(text):
    once = shown(text)
    assert len(once) == len(text)
    assert shown(once) == once
    once.encode()


def test_every_text_in_a_value_is_shown():
    assert all_shown({"a\u200b": ["\x1b", 1, None, True, {"b": ("\u202e",)}]}) == {
        f"a{REPLACEMENT}": [REPLACEMENT, 1, None, True, {"b": [REPLACEMENT]}]
    }


def test_nothing_that_is_replaced_counts_as_printable():
    suspects = [chr(code) for code in range(0x110000) if _SUSPECT.match(chr(code))]
    assert len(suspects) > 2_000
    assert not any(character.isprintable() for character in suspects)
