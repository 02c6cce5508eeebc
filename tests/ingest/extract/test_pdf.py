"""PDF: pages, paragraphs, columns and words, in the order of reading."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import PageBreak, Paragraph

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import media_type_of
from dowse.text.tokens import TokenCounter
from ingest.extract.make_pdf import (
    BODY,
    CODE,
    LOREM,
    book,
    drawn,
    lines,
    raw_page,
    raw_pdf,
    stream,
    together,
)
from ingest.extract.pdf_reading import MEDIA_TYPE, paragraphs, read, sentences

WORDS = TokenCounter(None)


class TestPages:
    def test_are_units_with_their_numbers(self):
        extracted = read(drawn(lines("On the first."), lines("On the second."), lines("On the third.")))
        assert extracted.text == "On the first.\n\nOn the second.\n\nOn the third.\n\n"
        assert [(unit.start, unit.page) for unit in extracted.units] == [(0, 1), (15, 2), (31, 3)]
        assert extracted.metadata["pages"] == 3

    def test_share_no_chunk_and_give_chunks_their_places(self):
        story = [Paragraph(sentences(name, 60), BODY) for name in ("Alpha", "Beta")]
        extracted = read(book([story[0], PageBreak(), story[1]]))
        chunks = chunk(extracted, WORDS)
        assert {each.page for each in chunks} == {1, 2}
        for each in chunks:
            assert ("Alpha" in each.text) == (each.page == 1)
            assert each.text == extracted.text[each.start : each.end]
        places = [each.place["page_position"] for each in chunks if each.page == 1]
        assert places == sorted(places, key=("start", "middle", "end").index)
        assert {places[0], places[-1]} == {"start", "end"}

    def test_without_text_leave_no_trace_in_it(self):
        extracted = read(drawn(lambda _canvas: None, lines("Something."), lambda _canvas: None))
        assert extracted.text == "Something.\n\n"
        assert [unit.page for unit in extracted.units] == [2]
        assert extracted.metadata["pages"] == 3

    def test_say_what_number_is_printed_on_them(self):
        data = raw_pdf(
            (
                b"<</Type/Catalog/Pages 2 0 R/PageLabels<</Nums[0<</S/r>>1<</S/D>>]>>>>",
                b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>>>/Contents 6 0 R>>",
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>>>/Contents 6 0 R>>",
                b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
                stream(b"BT /F 10 Tf 72 700 Td (The same words.) Tj ET"),
            )
        )
        assert [unit.place for unit in read(data).units] == [{"page_label": "i"}, {"page_label": "1"}]

    def test_that_are_turned_are_read_as_they_are_seen(self):
        content = b"BT /F 12 Tf 0 1 -1 0 100 100 Tm (First line here) Tj 0 1 -1 0 114 100 Tm (second line) Tj ET"
        assert paragraphs(raw_page(content, entries=b"/Rotate 90")) == ["First line here second line"]

    def test_that_stand_on_their_heads_are_read_too(self):
        content = b"BT /F 12 Tf -1 0 0 -1 500 100 Tm (First line here) Tj -1 0 0 -1 500 114 Tm (second line) Tj ET"
        assert paragraphs(raw_page(content, entries=b"/Rotate 180")) == ["First line here second line"]

    def test_say_last_what_is_written_across_them(self):
        def sideways(canvas):
            canvas.saveState()
            canvas.rotate(90)
            canvas.drawString(100, -30, "A stamp along the edge")
            canvas.restoreState()

        assert paragraphs(drawn(together(sideways, lines("The text of this page is", "upright.")))) == [
            "The text of this page is upright.",
            "A stamp along the edge",
        ]


class TestParagraphs:
    def test_are_whole_again(self):
        assert paragraphs(book([Paragraph(LOREM, BODY), Paragraph(LOREM, BODY)])) == [LOREM, LOREM]

    def test_may_begin_with_a_line_that_is_set_in(self):
        indented = BODY.clone("indented", firstLineIndent=14, spaceAfter=0)
        assert paragraphs(book([Paragraph(LOREM, indented), Paragraph(LOREM, indented)])) == [LOREM, LOREM]

    def test_keep_line_ends_that_were_meant(self):
        data = drawn(lines("Mill Lane 4", "Whitby", "North Yorkshire, England, United Kingdom"))
        assert paragraphs(data) == ["Mill Lane 4\nWhitby\nNorth Yorkshire, England, United Kingdom"]

    @pytest.mark.parametrize(
        ("line_end", "line_start", "joined"),
        [
            ("a long docu-", "ment about it", "a long document about it"),
            ("a long docu\u00ad", "ment about it", "a long document about it"),
            ("this is well-", "known to all", "this is well-known to all"),
            ("state-of-the-", "art in it all", "state-of-the-art in it all"),
            ("in the years 1939-", "1945 it was", "in the years 1939-1945 it was"),
            ("the old Anglo-", "Saxon words", "the old Anglo-Saxon words"),
            ("sent an e-", "mail to us all", "sent an e-mail to us all"),
            ("both pre-", "and postwar", "both pre- and postwar"),
            ("it ended -", "so they said", "it ended - so they said"),
        ],
    )
    def test_undo_hyphens_at_line_ends_unless_they_may_be_real(self, line_end, line_start, joined):
        assert paragraphs(drawn(lines(line_end, line_start))) == [joined]

    def test_learn_from_the_document_which_hyphens_are_real(self):
        data = drawn(
            lines("It was a by-", "law of theirs.", "", "", "No by-law held. It was re-", "entered. He reentered.")
        )
        assert paragraphs(data) == ["It was a by-law of theirs.", "No by-law held. It was reentered. He reentered."]

    def test_with_marks_are_lists(self):
        data = drawn(lines("What to take:", "\u2022 bread", "\u2022 water from the", "well", "\u2022 salt", leading=12))
        extracted = read(data)
        assert [block.kind for block in extracted.blocks] == ["paragraph", "list"]
        assert extracted.text == "What to take:\n\n- bread\n- water from the well\n- salt\n\n"

    def test_in_fixed_width_type_are_code(self):
        data = book([Paragraph(LOREM, BODY), Paragraph("def f(x):<br/>&nbsp;&nbsp;return x<br/>print(f(1))", CODE)])
        extracted = read(data)
        assert [block.kind for block in extracted.blocks] == ["paragraph", "code"]
        assert extracted.text.endswith("```\ndef f(x):\n  return x\nprint(f(1))\n```\n\n")

    def test_in_fixed_width_type_are_prose_where_all_text_is(self):
        assert paragraphs(book([Paragraph(LOREM, CODE), Paragraph(LOREM, CODE)])) == [LOREM, LOREM]


class TestColumns:
    @pytest.mark.parametrize("count", [2, 3])
    def test_are_read_one_after_the_other(self, count):
        story = [Paragraph(sentences(name, 30), BODY) for name in ("Alpha", "Beta", "Gamma", "Delta")]
        assert " ".join(paragraphs(book(story, columns=count))) == " ".join(
            sentences(name, 30) for name in ("Alpha", "Beta", "Gamma", "Delta")
        )

    def test_are_not_interleaved_though_drawn_line_by_line(self):
        def draw(canvas):
            canvas.setFont("Helvetica", 10)
            for index in range(12):
                y = 700 - index * 12
                canvas.drawString(60, y, f"left line {index} fills the width of its column")
                canvas.drawString(300, y, f"right line {index} fills the width of its own")

        text = read(drawn(draw)).text
        places = [text.index(f"{side} line {index} ") for side in ("left", "right") for index in range(12)]
        assert places == sorted(places)

    def test_come_between_what_goes_across_the_page(self):
        def draw(canvas):
            canvas.setFont("Helvetica", 10)
            canvas.drawString(
                60, 760, "Above them a line goes all the way across the page, over both of the columns below."
            )
            for side, x in (("left", 60), ("right", 300)):
                for index in range(8):
                    canvas.drawString(x, 730 - index * 12, f"{side} line {index} fills the width of its column")
            canvas.drawString(
                60, 600, "Below them another line goes all the way across the page, as the first one did before."
            )

        text = read(drawn(draw)).text
        words = ["Above", *(f"{side} line {index} " for side in ("left", "right") for index in range(8)), "Below"]
        places = [text.index(word) for word in words]
        assert places == sorted(places)

    def test_of_three_may_stand_above_two(self):
        def column(name, x, y, count, words):
            return lines(*(f"{name} {index} {words}" for index in range(count)), x=x, y=y)

        authors = [column(name, x, 760, 4, "of some place") for name, x in (("Ann", 60), ("Ben", 240), ("Cleo", 420))]
        body = [column(name, x, 700, 10, "goes on until the column ends") for name, x in (("left", 60), ("right", 310))]
        text = read(drawn(together(*authors, *body))).text
        places = [
            text.index(f"{name} {last}")
            for name, last in (("Ann", 3), ("Ben", 3), ("Cleo", 3), ("left", 9), ("right", 9))
        ]
        assert places == sorted(places)

    def test_written_from_right_to_left_begin_on_the_right(self):
        hebrew = dict(zip("abcdefgh", "אבגדהוזח", strict=True))
        left = b" ".join(
            b"1 0 0 1 60 %d Tm (aaaaaaaaaa bbbbbbbbbb cccccccccc) Tj" % (700 - 12 * index) for index in range(6)
        )
        right = b" ".join(
            b"1 0 0 1 320 %d Tm (dddddddddd eeeeeeeeee ffffffffff) Tj" % (700 - 12 * index) for index in range(6)
        )
        text = read(raw_page(b"BT /F 10 Tf %b %b ET" % (left, right), letters=hebrew)).text
        assert text.count("ד") == text.count("א") == 60
        assert text.rindex("ד") < text.index("א")


class TestWords:
    def test_have_no_ligatures_and_no_odd_spaces(self):
        letters = {"A": "\ufb01", "B": "\ufb04", "C": "\u2009", "D": "\u00a0", "E": "\u200b", "G": "e\u0301"}
        assert paragraphs(raw_page(b"BT /F 12 Tf 72 700 Td (Ane oBineCsoDit EisG) Tj ET", letters=letters)) == [
            "fine oﬄine so it is\u00e9".replace("\ufb04", "ffl")
        ]

    def test_beyond_sixteen_bits_are_kept(self):
        assert paragraphs(
            raw_page(b"BT /F 12 Tf 72 700 Td (xA B) Tj ET", letters={"A": "\U0001d400", "B": "\U0001f30a"})
        ) == ["x\U0001d400 \U0001f30a"]

    def test_from_right_to_left_are_in_the_order_of_reading(self):
        hebrew = dict(zip("abcdefgh", "שלוםעולטמ", strict=False))
        # Drawn from left to right, as it is seen; so the last letter comes first.
        content = b"BT /F 12 Tf 400 700 Td (dcba) Tj ET BT /F 12 Tf 400 680 Td (hgfe) Tj ET"
        text = read(raw_page(content, letters=hebrew)).text
        assert "שלום" in text
        assert text.index("שלום") < text.index("עולט")

    def test_without_spaces_are_joined_without_spaces(self):
        pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
        data = drawn(
            lines("吾輩は猫である。名前はま", "だ無い。どこで生れたかと", "んと見当がつかぬ。", font="HeiseiMin-W3")
        )
        assert paragraphs(data) == ["吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"]


class TestReading:
    def test_works_in_many_threads_at_once(self):
        files = [drawn(*(lines(f"File {number}, page {page}.") for page in range(5))) for number in range(8)]
        expected = [read(data).text for data in files]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda data: read(data).text, files * 4))
        assert found == expected * 4

    def test_goes_by_the_name_of_the_file(self):
        assert media_type_of("folder/Paper.PDF") == MEDIA_TYPE

    def test_keeps_every_word_once_and_in_order_on_plain_pages(self):
        story = [Paragraph(sentences(name, 8), BODY) for name in ("Alpha", "Beta", "Gamma")]
        words = read(book(story)).text.split()
        assert words == " ".join(sentences(name, 8) for name in ("Alpha", "Beta", "Gamma")).split()
        starts = [block.start for block in read(book(story)).blocks]
        assert all(one < other for one, other in pairwise(starts))
