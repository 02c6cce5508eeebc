"""Word documents: headings by style, lists, tables, notes and links as Markdown; nothing that was deleted."""

import datetime as dt
from io import BytesIO

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check
from ingest.extract.make_office import NAMESPACES, members, paragraph, word, zipped

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
WORDS = TokenCounter(None)
LINKS = {"rLink": ("hyperlink", "https://example.org/a b")}


def read(data: bytes) -> Extracted:
    return check(extract(data, MEDIA_TYPE, "letter.docx"))


def text_of(body: str, **parts) -> str:
    return read(word(body, **parts)).text.strip()


def saved(document) -> bytes:
    made = BytesIO()
    document.save(made)
    return made.getvalue()


def headings(extracted: Extracted) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in extracted.blocks if block.kind == "heading"]


def style(identity: str, name: str, base: str = "", properties: str = "") -> str:
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/>{based}'
        f"<w:pPr>{properties}</w:pPr></w:style>"
    )


class TestDocument:
    def test_of_another_program_reads_as_markdown_with_its_places(self):
        document = Document()
        document.add_heading("Annual Report", 0)
        document.add_paragraph("What happened.")
        document.add_heading("Money", 1)
        document.add_paragraph("We earned some.")
        document.add_heading("Plans", 2)
        document.add_paragraph("first", style="List Bullet")
        document.add_paragraph("deeper", style="List Bullet 2")
        document.add_paragraph("one", style="List Number")
        document.add_paragraph("two", style="List Number")
        table = document.add_table(2, 2)
        for cell, text in zip(table._cells, ["name", "amount", "Ann", "5"], strict=True):
            cell.text = text
        extracted = read(saved(document))
        assert extracted.text == (
            "# Annual Report\n\nWhat happened.\n\n# Money\n\nWe earned some.\n\n## Plans\n\n"
            "- first\n  - deeper\n1. one\n2. two\n\n| name | amount |\n| --- | --- |\n| Ann | 5 |\n\n"
        )
        assert extracted.title == "Annual Report"
        assert [block.kind for block in extracted.blocks] == [
            *("heading", "paragraph", "heading", "paragraph", "heading", "list", "table")
        ]
        chunks = chunk(extracted, WORDS)
        assert [(each.headings, each.level) for each in chunks] == [
            (("Annual Report",), 1),
            (("Money",), 1),
            (("Money", "Plans"), 2),
        ]
        assert [(each.first_line, each.last_line) for each in chunks] == [(1, 3), (5, 7), (9, 18)]

    def test_has_its_core_properties_as_metadata(self):
        document = Document()
        document.add_paragraph("text")
        core = document.core_properties
        core.title, core.author, core.keywords, core.language = "From the properties", "Ann", "plans; money", "en"
        core.created = dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
        core.comments = ""
        extracted = read(saved(document))
        assert extracted.title == "From the properties"
        assert extracted.metadata["author"] == "Ann"
        assert extracted.metadata["tags"] == ["plans", "money"]
        assert extracted.metadata["created"] == "2024-01-02T03:04:05Z"
        assert extracted.metadata["language"] == "en"
        assert "description" not in extracted.metadata

    def test_without_a_title_goes_by_its_first_heading_or_nothing(self):
        assert read(word(paragraph("Aims", "Heading1"))).title == "Aims"
        assert read(word(paragraph("text"))).title is None
        assert read(word("")).text == ""

    def test_may_be_of_the_strict_kind(self):
        names = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
        main = "http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument"
        package = "http://schemas.openxmlformats.org/package/2006/relationships"
        body = paragraph("Aims", "Heading1") + paragraph("text")
        data = zipped(
            {
                "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="a" Type="{main}" Target="d.xml"/>'
                "</Relationships>",
                "d.xml": f"<w:document {names}><w:body>{body}</w:body></w:document>",
            }
        )
        assert read(data).text == "# Aims\n\ntext\n\n"


class TestHeadings:
    @pytest.mark.parametrize(
        ("identity", "name"),
        [
            *(("Heading2", "heading 2"), ("berschrift2", "heading 2"), ("X", "Überschrift 2"), ("Titre2", "Titre 2")),
            *(("2", "heading 2"), ("a", "見出し 2"), ("b", "标题 2"), ("Ttulo2", "Título 2"), ("c", "Заголовок 2")),
        ],
    )
    def test_are_known_by_the_name_of_their_style_in_many_languages(self, identity, name):
        extracted = read(word(paragraph("Aims", identity), styles=style(identity, name)))
        assert headings(extracted) == [(2, "Aims")]

    def test_are_known_by_the_style_that_theirs_is_based_on(self):
        styles = style("H1", "heading 1") + style("Mine", "Chapter", "H1") + style("Yours", "Part", "Mine")
        assert headings(read(word(paragraph("Aims", "Yours"), styles=styles))) == [(1, "Aims")]

    def test_are_known_by_outline_levels_above_all(self):
        styles = style("Odd", "Odd", properties='<w:outlineLvl w:val="2"/>') + style("H1", "heading 1")
        body = (
            paragraph("by style", "Odd")
            + paragraph("by itself", properties='<w:outlineLvl w:val="4"/>')
            + paragraph("body after all", "H1", '<w:outlineLvl w:val="9"/>')
        )
        extracted = read(word(body, styles=styles))
        assert headings(extracted) == [(3, "by style"), (5, "by itself")]
        assert "\n\nbody after all\n" in extracted.text

    def test_without_any_styles_are_known_by_the_id_alone(self):
        assert headings(read(word(paragraph("Aims", "Heading3")))) == [(3, "Aims")]

    def test_have_six_levels_and_one_line(self):
        assert headings(read(word(paragraph("Deep", "Heading9")))) == [(6, "Deep")]
        assert (
            text_of("<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r></w:p>")
            == "# a b"
        )

    def test_go_without_links_and_marks_of_notes_in_the_path_of_headings(self):
        body = (
            '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:hyperlink r:id="rLink"><w:r><w:t>The site</w:t></w:r>'
            '</w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        )
        extracted = read(word(body + paragraph("text"), LINKS, footnotes=TestNotes.FOOTNOTES))
        assert extracted.text.startswith("# [The site](https://example.org/a%20b)[^1]\n")
        assert headings(extracted) == [(1, "The site")]
        assert extracted.title == "The site"

    def test_that_are_empty_or_in_the_table_of_contents_are_left_out(self):
        styles = style("TOC1", "toc 1") + style("TOCHeading", "TOC Heading", "Heading1")
        body = paragraph("", "Heading1") + paragraph("Contents", "TOCHeading") + paragraph("Aims\t3", "TOC1")
        assert text_of(body + paragraph("text"), styles=styles) == "text"

    def test_based_on_each_other_in_a_circle_are_survived(self):
        styles = style("A", "a", "B") + style("B", "b", "A")
        assert text_of(paragraph("text", "A"), styles=styles) == "text"


def in_list(number: int, depth: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'


def level(depth: int, form: str, pattern: str, start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
    )


def lists(levels: str, *numbers: str) -> str:
    defined = numbers or ('<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',)
    return f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{"".join(defined)}'


class TestLists:
    def test_have_the_numbers_that_word_would_show(self):
        numbering = lists(level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)") + level(2, "upperRoman", "%1.%3"))
        depths = [0, 1, 1, 2, 2, 0, 1]
        body = "".join(paragraph(f"item {n}", properties=in_list(1, depth)) for n, depth in enumerate(depths))
        assert text_of(body, numbering=numbering).split("\n") == [
            *(
                "1. item 0",
                "  a) item 1",
                "  b) item 2",
                "    1.I item 3",
                "    1.II item 4",
                "2. item 5",
                "  a) item 6",
            )
        ]

    def test_with_bullets_have_dashes(self):
        numbering = lists(level(0, "bullet", "\uf0b7"))
        assert text_of(paragraph("point", properties=in_list(1, 0)), numbering=numbering) == "- point"

    def test_may_start_anew_where_they_say_so(self):
        again = (
            '<w:num w:numId="2"><w:abstractNumId w:val="0"/>'
            '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
        )
        numbering = lists(level(0, "decimal", "%1."), '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>', again)
        body = "".join(paragraph("item", properties=in_list(number, 0)) for number in (1, 1, 2, 2))
        assert text_of(body, numbering=numbering).split("\n") == ["1. item", "2. item", "5. item", "6. item"]

    def test_number_headings_too(self):
        numbering = lists(level(0, "decimal", "%1") + level(1, "decimal", "%1.%2"))
        styles = style("H1", "heading 1", properties=in_list(1, 0)) + style("H2", "heading 2", properties=in_list(1, 1))
        body = paragraph("Aims", "H1") + paragraph("Scope", "H2") + paragraph("Limits", "H2")
        extracted = read(word(body, numbering=numbering, styles=styles))
        assert headings(extracted) == [(1, "1 Aims"), (2, "1.1 Scope"), (2, "1.2 Limits")]

    def test_are_left_by_a_paragraph_with_list_zero(self):
        styles = style("L", "Items", properties=in_list(1, 0))
        body = paragraph("item", "L") + paragraph("no item", "L", '<w:numPr><w:numId w:val="0"/></w:numPr>')
        assert text_of(body, numbering=lists(level(0, "decimal", "(%1)")), styles=styles) == "(1) item\n\nno item"

    def test_indent_the_further_lines_of_an_item(self):
        body = f"<w:p><w:pPr>{in_list(1, 1)}</w:pPr><w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r></w:p>"
        assert read(word(body, numbering=lists(level(1, "bullet", "o")))).text == "  - a\n    b\n\n"

    def test_of_nonsense_are_survived(self):
        numbering = lists(level(0, "decimal", "%1%9%", 99999) + '<w:lvl w:ilvl="x"/>') + "<w:num/>"
        body = paragraph("a", properties=in_list(1, 0)) + paragraph("b", properties=in_list(7, 9))
        assert "a" in text_of(body, numbering=numbering)


class TestTables:
    def test_with_merged_cells_keep_their_columns(self):
        document = Document()
        table = document.add_table(4, 3)
        for row, texts in zip(table.rows, ["abc", "def", "ghi", "jkl"], strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
        table.cell(2, 0).text = ""
        table.cell(1, 0).merge(table.cell(2, 0))
        table.cell(3, 2).text = ""
        table.cell(3, 1).merge(table.cell(3, 2))
        assert read(saved(document)).text.strip().split("\n") == [
            *("| a | b | c |", "| --- | --- | --- |", "| d | e | f |", "| d | h | i |", "| j | k |  |")
        ]

    def test_of_many_rows_repeat_their_header_in_slices(self):
        document = Document()
        table = document.add_table(0, 2)
        for number in range(120):
            for cell, text in zip(table.add_row().cells, [f"name {number}", "some words to say"], strict=True):
                cell.text = text if number else "head"
        extracted = read(saved(document))
        tables = [extracted.text[block.start : block.end] for block in extracted.blocks]
        assert len(tables) > 3
        assert all(each.startswith("| head | head |\n| --- | --- |\n") for each in tables)

    def test_of_one_column_are_frames_around_text(self):
        cell = f"<w:tc>{paragraph('Aims', 'Heading1')}{paragraph('text')}</w:tc>"
        assert text_of(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>") == "# Aims\n\ntext"

    def test_may_hold_lists_line_breaks_pipes_and_tables(self):
        inner = f"<w:tbl><w:tr><w:tc>{paragraph('in')}</w:tc><w:tc>{paragraph('ner')}</w:tc></w:tr></w:tbl>"
        cells = [
            paragraph("a") + paragraph("b"),
            "<w:p><w:r><w:t>c</w:t><w:br/><w:t>d|e</w:t></w:r></w:p>",
            inner + "<w:p/>",
        ]
        row = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
        assert text_of(f"<w:tbl><w:tr>{row}</w:tr></w:tbl>").startswith(r"| a b | c d\|e | in ner |")

    def test_have_headers_of_two_rows_where_they_say_so(self):
        marked = "<w:trPr><w:tblHeader/></w:trPr>"
        wide = (
            f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("2024")}</w:tc><w:tc>{paragraph("who")}</w:tc>'
        )
        rows = [
            marked + wide,
            marked + "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("in", "out", "")),
            "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("1", "2", "Ann")),
        ]
        body = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
        assert text_of(body).startswith("| 2024 in | 2024 out | who |\n")

    def test_that_are_empty_leave_no_trace_and_names_may_be_missing(self):
        document = Document()
        document.add_table(2, 2)
        table = document.add_table(2, 2)
        table.cell(0, 1).text, table.cell(1, 0).text = "2024", "North"
        assert read(saved(document)).text == "|  | 2024 |\n| --- | --- |\n| North |  |\n\n"

    def test_lose_the_rows_that_were_deleted(self):
        row = f"<w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc>"
        gone = f"<w:tr><w:trPr><w:del/></w:trPr>{row.replace('a<', 'gone<')}</w:tr>"
        assert "gone" not in text_of(f"<w:tbl><w:tr>{row}</w:tr>{gone}</w:tbl>")


class TestNotes:
    FOOTNOTES = (
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>____</w:t></w:r></w:p></w:footnote>'
        f'<w:footnote w:id="2">{paragraph("Said who?")}{paragraph("Said she.")}</w:footnote>'
    )

    def test_stand_behind_the_paragraph_that_cites_them(self):
        body = (
            '<w:p><w:r><w:t>A claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>.</w:t></w:r></w:p>'
            + paragraph("Next.")
        )
        assert text_of(body, footnotes=self.FOOTNOTES) == "A claim[^1].\n\n[^1]: Said who? Said she.\n\nNext."

    def test_at_the_end_are_told_apart_and_stand_there_once(self):
        cites = '<w:p><w:r><w:t>x</w:t><w:endnoteReference w:id="5"/><w:footnoteReference w:id="9"/></w:r></w:p>'
        endnotes = f'<w:endnote w:id="5">{paragraph("the end")}</w:endnote>'
        assert text_of(cites + cites, endnotes=endnotes) == "x[^e1]\n\n[^e1]: the end\n\nx[^e1]"

    def test_in_lists_and_tables_stand_behind_them(self):
        cite = '<w:r><w:footnoteReference w:id="2"/></w:r>'
        item = f"<w:p><w:pPr>{in_list(1, 0)}</w:pPr><w:r><w:t>item</w:t></w:r>{cite}</w:p>"
        body = item + paragraph("other", properties=in_list(1, 0))
        assert text_of(body, footnotes=self.FOOTNOTES) == "- item[^1]\n- other\n\n[^1]: Said who? Said she."


class TestLinks:
    def test_keep_their_addresses(self):
        body = '<w:p><w:hyperlink r:id="rLink"><w:r><w:t>the site</w:t></w:r></w:hyperlink></w:p>'
        assert text_of(body, links=LINKS) == "[the site](https://example.org/a%20b)"

    def test_inside_the_document_are_text(self):
        body = '<w:p><w:hyperlink w:anchor="x"><w:r><w:t>see below</w:t></w:r></w:hyperlink></w:p>'
        assert text_of(body) == "see below"

    def test_may_be_fields(self):
        body = (
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
            '<w:r><w:instrText> HYPERLINK "http://a.b/(c)" </w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>here</w:t></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:fldSimple w:instr=\'HYPERLINK "mailto:a@b.c"\'>'
            "<w:r><w:t>a@b.c</w:t></w:r></w:fldSimple></w:p>"
        )
        assert text_of(body) == "[here](http://a.b/%28c%29)a@b.c"

    def test_of_other_fields_show_their_results_alone(self):
        body = (
            '<w:p><w:r><w:t>page </w:t><w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText>'
            '<w:fldChar w:fldCharType="separate"/><w:t>7</w:t><w:fldChar w:fldCharType="end"/></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        )
        assert text_of(body) == "page 7"


class TestInsideParagraphs:
    def test_tracked_insertions_stay_and_deletions_go(self):
        body = (
            "<w:p><w:r><w:t>We </w:t></w:r><w:del><w:r><w:delText>lost</w:delText></w:r></w:del>"
            "<w:ins><w:r><w:t>won</w:t></w:r></w:ins><w:moveFrom><w:r><w:t> moved</w:t></w:r></w:moveFrom>"
            '<w:commentRangeStart w:id="1"/><w:r><w:commentReference w:id="1"/></w:r></w:p>'
        )
        assert text_of(body) == "We won"

    def test_hidden_text_and_prompts_of_empty_fields_are_left_out(self):
        body = (
            "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
            '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r><w:sdt><w:sdtContent><w:r><w:rPr>'
            '<w:rStyle w:val="PlaceholderText"/></w:rPr><w:t>Click here</w:t></w:r></w:sdtContent></w:sdt></w:p>'
        )
        assert text_of(body) == "shown"

    def test_breaks_tabs_hyphens_and_symbols_are_characters(self):
        body = (
            '<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/><w:sym w:char="2713"/>'
            '<w:sym w:char="F0FC"/><w:sym w:char="zz"/></w:r></w:p>'
        )
        assert text_of(body) == "a\nb\tc-✓"

    def test_formulas_are_written_in_a_line(self):
        body = (
            "<w:p><m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:sSup><m:e><m:r>"
            "<m:t>b</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f></m:oMath></w:p>"
        )
        assert text_of(body) == "x=(a)/(b^2)"

    def test_content_controls_and_smart_tags_are_seen_through(self):
        body = (
            f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('in a control')}</w:sdtContent></w:sdt>"
            "<w:p><w:smartTag><w:r><w:t>tagged</w:t></w:r></w:smartTag></w:p>"
        )
        assert text_of(body) == "in a control\n\ntagged"

    def test_readings_above_words_are_left_out(self):
        ruby = (
            "<w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby>"
        )
        assert text_of(f"<w:p><w:r>{ruby}<w:t>京</w:t></w:r></w:p>") == "東京"

    def test_code_keeps_its_lines(self):
        styles = style("SourceCode", "Source Code")
        body = paragraph("def f():", "SourceCode") + paragraph("    return 1", "SourceCode") + paragraph("text")
        extracted = read(word(body, styles=styles))
        assert extracted.text == "```\ndef f():\n    return 1\n```\n\ntext\n\n"
        assert [block.kind for block in extracted.blocks] == ["code", "paragraph"]


class TestDrawings:
    BOX = "<wps:txbx><w:txbxContent>{}</w:txbxContent></wps:txbx>"

    def test_text_boxes_are_read_once_behind_their_paragraph(self):
        box = self.BOX.format(paragraph("in the box"))
        body = (
            f"<w:p><w:r><w:t>host</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{box}"
            f"</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{paragraph('in the box')}"
            "</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>" + paragraph("next")
        )
        assert text_of(body) == "host\n\nin the box\n\nnext"

    def test_old_text_boxes_are_read_too(self):
        box = f"<w:pict><v:textbox><w:txbxContent>{paragraph('old box')}</w:txbxContent></v:textbox></w:pict>"
        assert text_of(f"<w:p><w:r>{box}</w:r></w:p>") == "old box"

    def test_a_box_in_a_box_is_read_once(self):
        inner = f"<w:p><w:r><w:drawing>{self.BOX.format(paragraph('inner'))}</w:drawing></w:r></w:p>"
        outer = f"<w:p><w:r><w:drawing>{self.BOX.format(paragraph('outer') + inner)}</w:drawing></w:r></w:p>"
        assert text_of(outer) == "outer\n\ninner"

    def test_pictures_give_what_is_said_of_them(self):
        picture = '<wp:inline><wp:docPr id="1" name="x" descr="A red\nhouse"/></wp:inline>'
        body = f"<w:p><w:r><w:drawing>{picture}</w:drawing></w:r></w:p>"
        assert text_of(body) == "[Image: A red house]"

    def test_charts_are_tables_behind_their_paragraph(self):
        values = "".join(f'<c:pt idx="{n}"><c:v>{n + 5}</c:v></c:pt>' for n in range(2))
        names = "".join(f'<c:pt idx="{n}"><c:v>{name}</c:v></c:pt>' for n, name in enumerate(("East", "West")))
        series = f"<c:ser><c:cat>{names}</c:cat><c:val>{values}</c:val></c:ser>"
        chart = f"<c:chartSpace {NAMESPACES}><c:chart><c:plotArea>{series}</c:plotArea></c:chart></c:chartSpace>"
        drawn = '<w:p><w:r><w:t>See:</w:t><w:drawing><c:chart r:id="rChart"/></w:drawing></w:r></w:p>'
        parts = members(word(drawn, {"rChart": ("chart", "charts/chart1.xml")})) | {"word/charts/chart1.xml": chart}
        assert read(zipped(parts)).text == (
            "See:\n\nChart:\n\n| Category | B |\n| --- | --- |\n| East | 5 |\n| West | 6 |\n\n"
        )

    def test_python_docx_pictures_and_boxes_do_not_disturb(self):
        document = Document()
        run = document.add_paragraph("before ").add_run()
        run._r.append(parse_xml(f"<w:drawing {nsdecls('w')}/>"))
        assert read(saved(document)).text.strip() == "before"


class TestLosses:
    def test_an_embedded_document_is_named_as_left_out(self):
        extracted = read(word(paragraph("text") + '<w:altChunk r:id="x"/>'))
        assert extracted.metadata["truncated_reason"] == "an embedded document is left out"


class TestDepth:
    def test_tables_in_tables_in_tables_are_read(self):
        body = paragraph("deep")
        for _ in range(40):
            body = f"<w:tbl><w:tr><w:tc>{body}</w:tc><w:tc>{paragraph('x')}</w:tc></w:tr></w:tbl>"
        assert "deep" in text_of(body)

    def test_frames_in_frames_are_read(self):
        body = paragraph("deep")
        for _ in range(60):
            body = f"<w:tbl><w:tr><w:tc>{body}</w:tc></w:tr></w:tbl>"
        assert text_of(body) == "deep"

    def test_wrappers_around_a_run_are_read(self):
        body = "<w:p>" + "<w:ins>" * 240 + "<w:r><w:t>deep</w:t></w:r>" + "</w:ins>" * 240 + "</w:p>"
        assert text_of(body) == "deep"
