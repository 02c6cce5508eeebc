"""How much of a text is written in other scripts than Latin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.text.scripts import share_beyond_latin


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("plain words", 0),
        ("naïve café, Łódź, Đà Nẵng, smørrebrød", 0),
        ("1234 …!? 😀 m² ½ ﬁﬀ ＡＢ 𝐱 ℕ ª", 0),
        ("Привет", 1),
        ("Ελληνικά", 1),
        ("مرحبا", 1),
        ("שלום", 1),
        ("हिन्दी", 1),
        ("ไทย", 1),
        ("հայերեն", 1),
        ("ქართული", 1),
        ("docker по", 0.25),
        ("the α of β-carotene", 2 / 15),
        ("数据库", 1),
        ("データベース", 1),
        ("ひらがな", 1),
        ("한국어", 1),
        ("\u1112\u1161\u11ab", 1),
        ("ﾃﾞｰﾀ", 1),
        ("𠀀𠀁", 1),
        ("「数据库」 100 %", 1),
        ("db 数据", 0.5),
        ("ab数", 1 / 3),
        ("a・b", 0),
        ("a⼀⼀⼀", 0.75),
        ("_数_", 1),
    ],
)
def test_letters_count_and_nothing_else_does(text: str, share: float) -> None:
    assert share_beyond_latin(text) == pytest.approx(share)


@given(st.text() | st.text("ab数データ한ー・⼀\u3099 1", max_size=20))
def test_a_share_lies_between_0_and_1(text: str) -> None:
    assert 0 <= share_beyond_latin(text) <= 1


@given(latin=st.integers(0, 20), han=st.integers(0, 20))
def test_the_share_is_that_of_the_letters(latin: int, han: int) -> None:
    expected = han / (latin + han) if latin + han else 0
    assert share_beyond_latin("a" * latin + " 1, " + "库" * han) == pytest.approx(expected)
