"""Excel workbooks: sheets as headings and places, values as people see them, tables in slices."""

import datetime as dt
from io import BytesIO

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.ingest.extract.office import rows as rows_module
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.make_office import workbook

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WORDS = TokenCounter(None)


def read(data: bytes) -> Extracted:
    return check(extract(data, MEDIA_TYPE, "book.xlsx"))


def saved(book: Workbook) -> bytes:
    made = BytesIO()
    book.save(made)
    return made.getvalue()


def sheet_of(*rows: list[object]) -> Workbook:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    return book


def table(data: bytes) -> list[str]:
    return read(data).text.strip().split("\n")[2:]


class TestSheets:
    def test_are_headings_and_places_with_rows(self):
        book = sheet_of(["name", "age"], ["Ann", 34])
        book.active.title = "People"
        other = book.create_sheet("Cities")
        other.append(["city", "people"])
        other.append(["Rome", 2800000])
        extracted = read(saved(book))
        assert extracted.text == (
            "# People\n\n| name | age |\n| --- | --- |\n| Ann | 34 |\n\n"
            "# Cities\n\n| city | people |\n| --- | --- |\n| Rome | 2800000 |\n\n"
        )
        first, second = chunk(extracted, WORDS)
        assert first.headings == ("People",)
        assert first.level == 1
        assert first.place == {"sheet": "People", "rows": "2"}
        assert second.headings == ("Cities",)
        assert second.place == {"sheet": "Cities", "rows": "2"}
        assert extracted.metadata["sheets"] == ["People", "Cities"]

    def test_that_are_hidden_are_kept_and_say_so(self):
        book = sheet_of(["a", "b"], [1, 2])
        hidden = book.create_sheet("Secret")
        hidden["A1"] = "Nobody sees this."
        hidden.sheet_state = "hidden"
        extracted = read(saved(book))
        assert "Nobody sees this." in extracted.text
        assert extracted.units[-1].place == {"sheet": "Secret", "hidden": True, "rows": "1"}

    def test_that_are_empty_leave_no_trace(self):
        book = sheet_of(["a", "b"], [1, 2])
        book.create_sheet("Empty")
        extracted = read(saved(book))
        assert "Empty" not in extracted.text
        assert len(extracted.units) == 1

    def test_with_thousands_of_rows_repeat_the_header_in_every_passage(self):
        book = sheet_of(["id", "name", "amount"], *([n, f"name {n}", n / 4] for n in range(2, 1000)))
        chunks = chunk(read(saved(book)), WORDS)
        assert len(chunks) > 20
        for each in chunks:
            head, _, *shown = each.text.removeprefix("# Sheet\n\n").split("\n")
            assert head == "| id | name | amount |"
            first, last = str(each.place["rows"]).split("-")
            assert shown[0].startswith(f"| {first} |")
            assert shown[-1].startswith(f"| {last} |")
            assert each.tokens <= 256


class TestProperties:
    def test_are_metadata_and_title(self):
        book = sheet_of(["a", "b"], [1, 2])
        book.properties.title = "Budget 2024"
        book.properties.creator = "Ann"
        book.properties.keywords = "money, plans; money"
        book.properties.created = dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001 - openpyxl takes no zone
        extracted = read(saved(book))
        assert extracted.title == "Budget 2024"
        assert extracted.metadata["author"] == "Ann"
        assert extracted.metadata["tags"] == ["money", "plans", "money"]
        assert extracted.metadata["created"] == "2024-01-02T03:04:05Z"


class TestValues:
    @pytest.mark.parametrize(
        ("value", "code", "shown"),
        [
            (0.1 + 0.2, "General", "0.3"),
            (1234567.5, "#,##0.00", "1234567.5"),
            (12345678901234, "0", "12345678901234"),
            (0.256, "0.0%", "25.6%"),
            (True, "General", "TRUE"),
            (dt.date(2024, 2, 29), "dd/mm/yyyy", "2024-02-29"),
            (dt.date(1900, 1, 1), "yyyy-mm-dd", "1900-01-01"),
            (dt.datetime(2024, 2, 29, 13, 45), "m/d/yy h:mm", "2024-02-29 13:45"),  # noqa: DTZ001
            (dt.datetime(2024, 2, 29, 13, 45, 10), 'dd"de"mmm h:mm:ss', "2024-02-29 13:45:10"),  # noqa: DTZ001
            (dt.time(7, 30), "h:mm AM/PM", "07:30"),
            (dt.timedelta(hours=27, minutes=5), "[h]:mm:ss", "27:05:00"),
            (45000, "mmmm yyyy", "2023-03-15"),
            (45000, '0.00 "days"', "45000"),
            (45000, "[Red]0;[Blue]-0", "45000"),
            (5, "General", "5"),
            (-3, "yyyy-mm-dd", "-3"),
            ("two\nlines", "General", "two lines"),
        ],
    )
    def test_are_written_as_people_read_them(self, value, code, shown):
        book = sheet_of(["a", "b"], ["x", value])
        book.active["B2"].number_format = code
        assert table(saved(book))[-1] == f"| x | {shown} |"

    def test_of_formulas_are_those_computed_last(self):
        rows = (
            '<row r="1"><c r="A1" t="str"><f>"a"</f><v>sum</v></c><c r="B1" t="inlineStr"><is><t>of</t></is></c></row>'
            '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2"><f>SUM(A1:A9)</f></c></row>'
            '<row r="3"><c r="A3" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="B3" t="d"><v>2024-01-02</v></c></row>'
        )
        assert table(workbook({"S": rows})) == [
            *("| sum | of |", "| --- | --- |", "| 2 | =SUM(A1:A9) |", "| #DIV/0! | 2024-01-02 |")
        ]

    def test_count_from_1904_where_the_workbook_says_so(self):
        rows = (
            '<row><c t="str"><v>day</v></c><c t="str"><v>n</v></c></row><row><c s="1"><v>0</v></c><c><v>7</v></c></row>'
        )
        styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
        data = workbook({"S": rows}, styles=styles, properties='<workbookPr date1904="1"/>')
        assert table(data)[-1] == "| 1904-01-01 | 7 |"

    def test_of_rich_text_are_joined_without_phonetic_hints(self):
        strings = (
            "<si><r><t>Rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>"
            "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si><si><t>line_x000D_end_x005F_</t></si>"
        )
        rows = (
            '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c t="s"><v>2</v></c><c><v>1</v></c></row>'
            '<row><c t="s"><v>99</v></c><c t="s"><v>-1</v></c><c t="s"><v>x</v></c><c><v>3</v></c></row>'
        )
        assert table(workbook({"S": rows}, strings)) == [
            *("| Rich text | 東京 | D |", "| --- | --- | --- |", "| line end_ | 1 |  |", "|  |  | 3 |")
        ]

    def test_stand_in_the_columns_that_their_cells_name(self):
        names = '<row r="5"><c r="B5" t="str"><v>b</v></c><c r="AA5" t="str"><v>aa</v></c></row>'
        rows = f'{names}<row r="6"><c r="B6"><v>1</v></c></row>'
        assert table(workbook({"S": rows})) == ["| b | aa |", "| --- | --- |", "| 1 |  |"]


class TestMergedCells:
    def test_that_reach_down_stand_in_each_row(self):
        book = sheet_of(["region", "amount"], ["North", 1], [None, 2], [None, 3], ["South", 4])
        book.active.merge_cells("A2:A4")
        assert table(saved(book))[2:] == ["| North | 1 |", "| North | 2 |", "| North | 3 |", "| South | 4 |"]

    def test_across_the_top_are_a_title(self):
        book = sheet_of(["Report of the year"], ["region", "amount"], ["North", 1])
        book.active.merge_cells("A1:B1")
        extracted = read(saved(book))
        assert extracted.text.startswith("# Sheet\n\nReport of the year\n\n| region | amount |")
        assert extracted.units[0].place == {"sheet": "Sheet", "rows": "1-3"}

    def test_in_a_header_go_before_the_names_below(self):
        book = sheet_of(["", "2023", None, "2024", None], ["region", "in", "out", "in", "out"], ["North", 1, 2, 3, 4])
        for place in ("B1:C1", "D1:E1"):
            book.active.merge_cells(place)
        assert table(saved(book))[0] == "| region | 2023 in | 2023 out | 2024 in | 2024 out |"


class TestTables:
    def test_below_one_another_have_headers_of_their_own(self):
        book = sheet_of(["name", "age"], ["Ann", 34], [], ["city", "people", "area"], ["Rome", 2.8, 1285])
        text = read(saved(book)).text
        assert "| name | age |\n| --- | --- |\n| Ann | 34 |" in text
        assert "| city | people | area |\n| --- | --- | --- |\n| Rome | 2.8 | 1285 |" in text

    def test_styles_and_empty_columns_leave_no_trace(self):
        book = sheet_of(["a", None, None, "b"], [1, None, None, 2])
        book.active["Z50"].font = Font(bold=True)
        assert table(saved(book)) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]

    def test_notes_of_prose_are_paragraphs(self):
        book = sheet_of(["How to read this workbook."], ["Amounts are in thousands."], [None, "See the second sheet."])
        extracted = read(saved(book))
        assert [block.kind for block in extracted.blocks] == ["heading", "paragraph"]


class TestBadWorkbooks:
    def test_a_damaged_sheet_leaves_the_others(self):
        rows = '<row><c t="str"><v>kept</v></c></row>'
        extracted = read(workbook({"Good": rows, "Bad": "<sheetData><row><c><v>1</v>"}))
        assert "kept" in extracted.text
        assert extracted.metadata["truncated"] is True
        assert extracted.metadata["truncated_reason"] == "the sheet Bad is damaged"

    def test_a_damaged_single_sheet_is_refused(self):
        refusal = read_or_refuse(workbook({"Bad": "<sheetData><row><c><v>1</v>"}), MEDIA_TYPE)
        assert getattr(refusal, "reason", "") == "damaged"

    def test_one_long_text_in_millions_of_cells_is_cut_and_says_so(self):
        row = "<row>" + '<c t="s"><v>0</v></c>' * 50 + "</row>"
        extracted = extract(workbook({"S": row * 400}, f"<si><t>{'x' * 30_000}</t></si>"), MEDIA_TYPE, "book.xlsx")
        assert len(extracted.text) < 3_000_000
        assert extracted.metadata["truncated"] is True
        assert extracted.metadata["truncated_reason"]

    def test_cells_far_apart_are_bounded(self, monkeypatch):
        monkeypatch.setattr(rows_module, "_MOST_PLACES", 100_000)
        rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 20))
        refusal = read_or_refuse(workbook({"S": rows}), MEDIA_TYPE)
        assert getattr(refusal, "reason", "") == "too_large"

    @pytest.mark.parametrize(
        "rows",
        [
            '<row r="x"><c r="?1" t="s" s="q"><v/></c></row>',
            '<row r="99999999999"><c r="ZZZZ1"><v>1</v></c></row><row r="1"><c r="a1"><v>2</v></c></row>',
            '<row><c t="n"><v>nan</v></c><c><v>1e999</v></c><c s="99"><v>-</v></c></row>',
            '<c r="A1"><v>no row</v></c>',
            '<row><c><is><rPh><t>spoken</t></rPh></is></c><c t="str"><v>_xD800_</v></c></row>',
        ],
    )
    def test_nonsense_in_cells_is_survived(self, rows):
        read(workbook({"S": rows}))
