"""PDF: tables, headings and running heads, found by how they look."""

import pytest
from reportlab.platypus import PageBreak, Paragraph
from reportlab.platypus import Table as DrawnTable

from dowse.ingest.chunk import chunk
from dowse.text.tokens import TokenCounter
from ingest.extract.make_pdf import (
    BODY,
    LOREM,
    SECTION,
    TITLE,
    book,
    drawn,
    lines,
    together,
)
from ingest.extract.pdf_reading import paragraphs, read, sentences

WORDS = TokenCounter(None)


class TestTables:
    ROWS = (("City", "People", "Since"), ("Rome", "2800000", "-753"), ("Whitby", "13213", "656"))
    MARKDOWN = "| City | People | Since |\n| --- | --- | --- |\n| Rome | 2800000 | -753 |\n| Whitby | 13213 | 656 |"

    def test_that_are_ruled_become_rows(self):
        table = DrawnTable(self.ROWS, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
        extracted = read(book([Paragraph(LOREM, BODY), table, Paragraph(LOREM, BODY)]))
        assert [block.kind for block in extracted.blocks] == ["paragraph", "table", "paragraph"]
        assert extracted.text == f"{LOREM}\n\n{self.MARKDOWN}\n\n{LOREM}\n\n"

    def test_that_are_ruled_keep_lines_of_a_cell_together(self):
        cells = [
            ["Name", "What it is"],
            ["Whitby", Paragraph("a seaside town, port and civil parish", BODY)],
            ["Rome", "b"],
        ]
        table = DrawnTable(cells, colWidths=[60, 90], style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
        assert "| Whitby | a seaside town, port and civil parish |" in read(book([table])).text

    def test_that_are_ruled_part_words_that_nearly_touch(self):
        def draw(canvas):
            canvas.setFont("Helvetica", 10)
            canvas.grid([72, 102, 132, 162], [660, 680, 700, 720])
            canvas.drawString(74, 706, "abcde fghij klmno")
            for index, row in enumerate((("1", "2", "3"), ("4", "5", "6"))):
                for cell, x in zip(row, (74, 104, 134), strict=True):
                    canvas.drawString(x, 686 - 20 * index, cell)

        assert read(drawn(draw)).text == (
            "| abcde | fghij | klmno |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n\n"
        )

    def test_that_stand_in_columns_become_rows(self):
        def draw(canvas):
            canvas.setFont("Helvetica", 10)
            for index, row in enumerate((*self.ROWS, ("York", "141685", "71"))):
                for cell, x in zip(row, (72, 172, 272), strict=True):
                    canvas.drawString(x, 700 - index * 16, cell)

        extracted = read(drawn(together(lines("Some cities of this world", y=740), draw)))
        assert [block.kind for block in extracted.blocks] == ["paragraph", "table"]
        assert extracted.text == f"Some cities of this world\n\n{self.MARKDOWN}\n| York | 141685 | 71 |\n\n"

    def test_are_kept_though_they_are_all_that_a_page_has(self):
        table = DrawnTable(self.ROWS, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
        assert paragraphs(book([table, PageBreak()] * 4)) == [self.MARKDOWN] * 4

    def test_are_cut_into_chunks_that_repeat_the_names_of_columns(self):
        rows = [("Number", "Square"), *((str(number), str(number * number)) for number in range(1, 36))]
        table = DrawnTable(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
        chunks = chunk(read(book([table])), WORDS)
        assert all("| Number | Square |" in each.text for each in chunks)
        assert "| 35 | 1225 |" in chunks[-1].text

    @pytest.mark.parametrize(
        "rows",
        [
            [("1.", "bread and butter"), ("2.", "water from the well"), ("3.", "salt"), ("4.", "oil")],
            [
                ("Introduction . . . . . . . . .", "1"),
                ("The sea . . . . . . . . .", "7"),
                ("The end . . . . . . .", "9"),
            ],
            [("only", "two"), ("short", "rows")],
        ],
        ids=["list", "contents", "too short"],
    )
    def test_are_not_seen_in_what_is_none(self, rows):
        def draw(canvas):
            canvas.setFont("Helvetica", 10)
            for index, row in enumerate(rows):
                for cell, x in zip(row, (72, 260), strict=True):
                    canvas.drawString(x, 700 - index * 14, cell)

        assert all(block.kind != "table" for block in read(drawn(draw)).blocks)

    def test_are_not_seen_in_columns_of_short_lines(self):
        names = ["apple, 12", "beech, 31", "cedar, 7", "dune, 40", "eagle, 3", "fern, 9"]
        data = drawn(together(lines(*names[:3], x=72), lines(*names[3:], x=200)))
        assert all(block.kind != "table" for block in read(data).blocks)

    def test_are_not_seen_in_the_boxes_of_forms(self):
        def draw(canvas):
            for x, y, width in ((72, 700, 100), (172, 700, 300), (72, 680, 250), (322, 680, 150), (72, 660, 400)):
                canvas.rect(x, y, width, 20)
                canvas.drawString(x + 4, y + 6, f"Box at {x}")

        assert all(block.kind != "table" for block in read(drawn(draw)).blocks)

    def test_are_not_seen_in_boxes_around_text(self):
        frame = DrawnTable(
            [[Paragraph(LOREM * 3, BODY), Paragraph(LOREM * 3, BODY)]] * 2,
            style=[("GRID", (0, 0), (-1, -1), 1, "black")],
        )
        assert all(block.kind != "table" for block in read(book([frame])).blocks)


class TestHeadings:
    def test_come_from_the_outline(self):
        def page(title, level, text):
            def draw(canvas):
                canvas.bookmarkHorizontal(title, 0, 752)
                canvas.addOutlineEntry(title, title, level)
                lines(f"2.{level} {title}", *text)(canvas)

            return draw

        extracted = read(drawn(page("The Sea", 0, ["", "It is wide."]), page("Tides", 1, ["", "They come and go."])))
        assert extracted.text == "# 2.0 The Sea\n\nIt is wide.\n\n## 2.1 Tides\n\nThey come and go.\n\n"
        assert [(block.level, block.label) for block in extracted.blocks if block.kind == "heading"] == [
            (1, "2.0 The Sea"),
            (2, "2.1 Tides"),
        ]
        first, second = chunk(extracted, WORDS)
        assert (first.headings, first.level, first.page) == (("2.0 The Sea",), 1, 1)
        assert (second.headings, second.level, second.page) == (("2.0 The Sea", "2.1 Tides"), 2, 2)

    def test_from_the_outline_stand_at_their_place_when_the_page_has_other_words(self):
        def draw(canvas):
            lines("Something before.", y=740)(canvas)
            lines("Something after.", y=500)(canvas)
            canvas.bookmarkHorizontal("here", 0, 520)
            canvas.addOutlineEntry("Another wording", "here", 0)

        assert read(drawn(draw)).text == "Something before.\n\n# Another wording\n\nSomething after.\n\n"

    def test_from_the_outline_may_be_the_first_line_of_a_paragraph(self):
        def draw(canvas):
            lines("Tides", "They come and go twice every day.")(canvas)
            canvas.bookmarkHorizontal("here", 0, 752)
            canvas.addOutlineEntry("1.2 Tides", "here", 0)

        assert read(drawn(draw)).text == "# Tides\n\nThey come and go twice every day.\n\n"

    def test_from_the_outline_that_only_count_pages_are_none(self):
        def draw(canvas):
            lines("Some text.")(canvas)
            canvas.bookmarkPage("here")
            canvas.addOutlineEntry("Page 1", "here", 0)

        assert read(drawn(draw)).text == "Some text.\n\n"

    def test_come_from_the_size_of_letters_without_an_outline(self):
        story = [
            Paragraph("The Lighthouse", TITLE),
            Paragraph("Evenings", SECTION),
            Paragraph(LOREM, BODY),
            Paragraph("Mornings", SECTION),
            Paragraph(LOREM, BODY),
        ]
        extracted = read(book(story))
        assert extracted.text == f"# The Lighthouse\n\n## Evenings\n\n{LOREM}\n\n## Mornings\n\n{LOREM}\n\n"
        assert extracted.title == "The Lighthouse"

    def test_are_not_made_of_letters_that_are_hardly_larger(self):
        data = book([Paragraph("Almost", BODY.clone("more", fontSize=11)), Paragraph(LOREM, BODY)])
        assert [block.kind for block in read(data).blocks] == ["paragraph", "paragraph"]

    def test_are_not_made_of_long_text_in_large_letters(self):
        data = book([Paragraph(LOREM, TITLE), Paragraph(LOREM * 3, BODY)])
        assert [block.kind for block in read(data).blocks] == ["paragraph", "paragraph"]


class TestRunningHeads:
    @staticmethod
    def pages(count: int, head: str = "The Keeper's Book", foot: str = "Page {}") -> list[str]:
        def on_page(canvas, document):
            canvas.setFont("Helvetica", 9)
            canvas.drawString(57, 800, head.format(document.page))
            canvas.drawCentredString(300, 40, foot.format(document.page))

        story = [each for name in range(count) for each in (Paragraph(sentences(f"Day{name}", 3), BODY), PageBreak())]
        return paragraphs(book(story, on_page=on_page))

    def test_are_said_once_and_page_numbers_never(self):
        assert self.pages(4) == ["The Keeper's Book", *(sentences(f"Day{name}", 3) for name in range(4))]

    def test_with_the_number_inside_are_said_once(self):
        found = self.pages(4, head="The Keeper's Book, {}", foot="")
        assert found == ["The Keeper's Book, 1", *(sentences(f"Day{name}", 3) for name in range(4))]

    def test_may_alternate_between_left_and_right_pages(self):
        def page(number):
            head = ("The Keeper's Book", "Part One: The Sea")[number % 2]
            return together(lines(head, y=800), lines(f"Day {number}.", y=700), lines(str(number + 11), x=300, y=40))

        assert paragraphs(drawn(*map(page, range(8)))) == [
            "The Keeper's Book",
            "Day 0.",
            "Part One: The Sea",
            *(f"Day {number}." for number in range(1, 8)),
        ]

    def test_may_be_watermarks(self):
        def mark(canvas):
            canvas.saveState()
            canvas.rotate(45)
            canvas.drawString(400, 100, "DRAFT")
            canvas.restoreState()

        data = drawn(*(together(mark, lines(f"Page of {name}.")) for name in ("Ann", "Ben", "Cleo")))
        assert paragraphs(data) == ["Page of Ann.", "DRAFT", "Page of Ben.", "Page of Cleo."]

    def test_may_be_roman_numbers(self):
        data = drawn(*(together(lines(f"Day {day}."), lines(day, x=300, y=40)) for day in ("iii", "iv", "v", "vi")))
        assert paragraphs(data) == [f"Day {day}." for day in ("iii", "iv", "v", "vi")]

    def test_stay_in_files_too_short_to_tell(self):
        assert len(self.pages(2)) == 6

    def test_are_none_where_each_page_has_other_words(self):
        data = drawn(
            *(
                together(lines(f"Letter {word}"), lines("Dear friend,", y=600))
                for word in ("one", "two", "three", "four")
            )
        )
        assert [f"Letter {word}" in paragraphs(data) for word in ("one", "two", "three", "four")] == [True] * 4
