"""CSV and TSV become Markdown tables in slices that repeat their header and know their rows."""

import csv
import re
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse

unhurried = settings(deadline=None)

WORDS = TokenCounter(None)


def read(content: str | bytes, media_type: str = "text/csv") -> Extracted:
    data = content.encode() if isinstance(content, str) else content
    return check(extract(data, media_type, "data.csv"))


def lines(content: str | bytes) -> list[str]:
    return read(content).text.strip().split("\n")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "media_type"),
        [("a.csv", "text/csv"), ("A.TSV", "text/tab-separated-values"), ("a.tab", "text/tab-separated-values")],
    )
    def test_tell_the_type(self, name, media_type):
        assert media_type_of(name) == media_type


class TestTables:
    def test_are_markdown_rows_under_their_header(self):
        extracted = read("name,age\nAnn,34\nBob,27\n")
        assert extracted.text == "| name | age |\n| --- | --- |\n| Ann | 34 |\n| Bob | 27 |\n\n"
        assert [block.kind for block in extracted.blocks] == ["table"]
        assert extracted.title is None

    def test_are_cut_into_slices_that_fit_a_passage_and_repeat_the_header(self):
        rows = [f"{n},name {n},2024-01-{n % 28 + 1:02},{n * 1.5}" for n in range(1, 301)]
        extracted = read("\n".join(["id,name,day,amount", *rows]))
        chunks = chunk(extracted, WORDS)
        assert len(chunks) > 10
        assert all(each.text.startswith("| id | name | day | amount |\n| --- |") for each in chunks)
        assert all(each.tokens <= 256 for each in chunks)
        values = [line.split(" | ")[0].strip("| ") for each in chunks for line in each.text.split("\n")[2:]]
        assert values == [str(n) for n in range(1, 301)], "every row once, in order"

    def test_know_the_rows_of_the_file_for_every_passage(self):
        extracted = read("\n".join(["id,name", *(f"{n},name {n}" for n in range(2, 200))]))
        for each in chunk(extracted, WORDS):
            first, last = str(each.place["rows"]).split("-")
            shown = each.text.split("\n")[2:]
            assert shown[0].startswith(f"| {first} |")
            assert shown[-1].startswith(f"| {last} |")

    def test_escape_what_parts_cells_and_join_the_lines_of_a_cell(self):
        assert lines('a,b\n"x|y","two\nlines"\n1,2')[2:] == [r"| x\|y | two lines |", "| 1 | 2 |"]

    def test_take_letters_for_names_where_there_is_no_header(self):
        assert lines("1,2.5\n3,4.5")[:3] == ["| A | B |", "| --- | --- |", "| 1 | 2.5 |"]

    def test_take_years_for_names_beside_words(self):
        assert lines("Region,2023,2024\nNorth,10,20")[0] == "| Region | 2023 | 2024 |"

    def test_leave_out_columns_without_anything(self):
        assert lines("a,,b\n1,,2\n3,,4") == ["| a | b |", "| --- | --- |", "| 1 | 2 |", "| 3 | 4 |"]

    def test_keep_values_beyond_the_header_under_letters(self):
        assert lines("a,b\n1,2,3")[0] == "| a | b | C |"

    def test_may_have_a_title_and_notes_above(self):
        extracted = read("Sales of the year,,\n,,\nname,amount,city\nAnn,1,Rome\n")
        assert [block.kind for block in extracted.blocks] == ["paragraph", "table"]
        assert extracted.text.startswith("Sales of the year\n\n| name | amount | city |")
        assert [unit.place for unit in extracted.units] == [{"rows": "1-4"}]

    def test_go_on_after_an_empty_line_unless_a_new_header_comes(self):
        text = read("name,age\nAnn,34\n\nBob,27\n\ncity,people\nRome,2.8\n").text
        assert text.count("| name | age |") == 2
        assert "| city | people |\n| --- | --- |\n| Rome | 2.8 |" in text

    def test_of_a_single_column_are_lines(self):
        extracted = read("red\ngreen\nblue")
        assert extracted.text.strip() == "red\ngreen\nblue"
        assert [block.kind for block in extracted.blocks] == ["paragraph"]

    def test_of_a_single_column_of_many_lines_are_cut_where_a_passage_is_full(self):
        lines = [f"Line {number} says something of its own." for number in range(1, 101)]
        extracted = read("\n".join(lines))
        assert len(extracted.units) > 3
        assert extracted.units[1].place == {
            "rows": f"{1 + extracted.text[: extracted.units[1].start].count('Line')}-32"
        }
        assert [line for line in extracted.text.split("\n") if line] == lines

    def test_with_a_header_alone_keep_it(self):
        assert lines("name,age\n") == ["| name | age |", "| --- | --- |"]


class TestDialects:
    @pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
    def test_the_mark_between_cells_is_found(self, mark):
        assert lines(f"name{mark}age\nAnn{mark}34\nBob{mark}27")[2] == "| Ann | 34 |"

    def test_decimal_commas_do_not_part_cells(self):
        assert lines("1,5;2,5\n3,5;4,5")[2] == "| 1,5 | 2,5 |"

    def test_commas_in_words_do_not_win_over_tabs(self):
        assert lines("name\ttext\nAnn\tone, two, three\nBob\tfour")[2] == "| Ann | one, two, three |"

    @pytest.mark.parametrize("mark", [";", "\t"])
    def test_a_line_of_excel_names_the_mark(self, mark):
        extracted = read(f"sep={mark}\na,x{mark}b,y\n1,1{mark}2,2")
        assert extracted.text.startswith("| a,x | b,y |")
        assert extracted.units[0].place == {"rows": "3"}

    def test_quotes_hold_marks_line_ends_and_doubled_quotes(self):
        assert lines('a,b\n"x, ""y""\nz",2')[2] == '| x, "y" z | 2 |'

    def test_a_quote_that_never_closes_spoils_nothing(self):
        text = read('a,b\n"open,1\nAnn,2\nBob,3\n').text
        assert "| Ann | 2 |" in text
        assert "| Bob | 3 |" in text

    def test_a_cell_of_a_megabyte_is_kept(self):
        text = "word " * 200_000
        assert read(f"a,b\n1,{text}\n").text.count("word") == 200_000
        assert read(f'a,b\n1,"{text}"\n').text.count("word") == 200_000


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    def test_are_found(self, encoding):
        assert lines("Name;Größe\r\nÄpfel;5\r\n".encode(encoding)) == [
            "| Name | Größe |",
            "| --- | --- |",
            "| Äpfel | 5 |",
        ]


class TestBounds:
    def test_a_hundred_thousand_columns_stay_bounded_and_keep_their_names(self):
        names = ",".join(f"column{n}" for n in range(100_000))
        values = ",".join(["7", *[""] * 99_998, "8"])
        extracted = extract(f"{names}\n{values}\n{values}\n".encode(), "text/csv", "wide.csv")
        assert len(extracted.text) < 3_000_000
        assert "Row 2:\n- column0: 7\n- column99999: 8" in extracted.text
        assert extracted.text.startswith("Columns: column0, column1, ")

    def test_a_long_row_becomes_names_and_values_that_can_be_cut_anywhere(self):
        story = "Once upon a time there was a table. " * 40
        extracted = read(f"id,title,story\n1,short,x\n2,long,{story}\n3,short,y\n")
        assert [block.kind for block in extracted.blocks] == ["table", "list", "table"]
        assert f"Row 3:\n- id: 2\n- title: long\n- story: {story.strip()}" in extracted.text

    def test_a_long_name_is_not_repeated_whole_for_every_value(self):
        extracted = read(f"{'n' * 5000},b\n" + "1,2\n" * 200)
        assert len(extracted.text) < 30_000

    def test_nothing_gives_nothing(self):
        assert read("").blocks == ()
        assert read("\n,,\n\n").blocks == ()

    def test_binary_content_is_refused(self):
        refusal = read_or_refuse(b"\0\1\2" * 100, "text/csv")
        assert getattr(refusal, "reason", "") == "binary"

    @unhurried
    @given(
        rows=st.lists(
            st.lists(
                st.sampled_from(["", "a", "7", "x y", 'say "hi"', "1,5", "a;b", "l\nm", "|", "漢字", "w" * 90]),
                max_size=6,
            ),
            max_size=40,
        ),
        mark=st.sampled_from(",;\t|"),
    )
    def test_every_value_of_any_table_is_in_the_text(self, rows, mark):
        made = StringIO()
        csv.writer(made, delimiter=mark).writerows(rows)
        extracted = read(made.getvalue())
        assert all(word in extracted.text for row in rows for cell in row for word in re.findall(r"\w+", cell))

    @unhurried
    @given(data=st.binary(max_size=200) | st.text(alphabet='a,;\t|"\n\r 1\x0b\x85\u2028', max_size=80).map(str.encode))
    def test_any_bytes_are_read_or_refused(self, data):
        read_or_refuse(data, "text/csv")
