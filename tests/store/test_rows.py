"""Rows of the database that no program of ours wrote."""

import sqlite3

import pytest

from dowse.store.sqlite.rows import chunk_from

WHOLE = (0, 4, 1, 1, 1, "[]", 0, None, None)


@pytest.mark.parametrize("column", range(5))
def test_a_passage_without_a_place_is_damage_and_says_so(column: int) -> None:
    assert chunk_from(WHOLE, b"text").text == "text"
    with pytest.raises(sqlite3.DatabaseError, match="no place"):
        chunk_from((*WHOLE[:column], None, *WHOLE[column + 1 :]), b"text")
