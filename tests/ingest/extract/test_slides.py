"""PowerPoint presentations: slides as pages under their titles, with lists, tables, charts and notes."""

from io import BytesIO

from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.make_office import NAMESPACES, main_is, relations, zipped

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
WORDS = TokenCounter(None)
OPENING, CONTENT, EMPTY = 0, 1, 6
BOX = (0, 0, Inches(2), Inches(2))


def read(data: bytes) -> Extracted:
    return check(extract(data, MEDIA_TYPE, "talk.pptx"))


def saved(show) -> bytes:
    made = BytesIO()
    show.save(made)
    return made.getvalue()


def add(show, layout: int, title: str = "", body: str = ""):
    slide = show.slides.add_slide(show.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    if body:
        slide.placeholders[1].text = body
    return slide


def slides(*contents: str, shows: str = "") -> bytes:
    """A presentation of slides whose shapes are given as XML."""
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(contents) + 1))
    arrows = {f"rId{n}": ("slide", f"slides/slide{n}.xml") for n in range(1, len(contents) + 1)}
    parts = {
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(arrows),
    }
    for number, content in enumerate(contents, 1):
        tree = f"<p:cSld><p:spTree>{content}</p:spTree></p:cSld>"
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {NAMESPACES} {shows}>{tree}</p:sld>"
    return zipped(main_is("ppt/presentation.xml") | parts)


def shape(paragraphs: str, place: str = "") -> str:
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def line(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


class TestSlides:
    def test_are_pages_under_their_titles_and_the_title_of_the_talk(self):
        show = Presentation()
        add(show, OPENING, "The Talk", "by Ann")
        add(show, CONTENT, "Aims", "first\nsecond")
        add(show, CONTENT, "Limits", "Only one thing to say.")
        extracted = read(saved(show))
        assert extracted.text == (
            "# The Talk\n\nby Ann\n\n## Aims\n\n- first\n- second\n\n## Limits\n\nOnly one thing to say.\n\n"
        )
        assert extracted.title == "The Talk"
        chunks = chunk(extracted, WORDS)
        assert [(each.page, each.headings, each.level) for each in chunks] == [
            (1, ("The Talk",), 1),
            (2, ("The Talk", "Aims"), 2),
            (3, ("The Talk", "Limits"), 2),
        ]
        assert all(each.place["page_position"] in {"start", "middle", "end"} for each in chunks)

    def test_nest_their_bullets(self):
        show = Presentation()
        frame = add(show, CONTENT, "Aims", "top").placeholders[1].text_frame
        for text, level in (("deeper", 1), ("deepest", 2), ("top again", 0)):
            added = frame.add_paragraph()
            added.text, added.level = text, level
        assert "- top\n  - deeper\n    - deepest\n- top again" in read(saved(show)).text

    def test_without_a_title_are_called_by_their_number(self):
        show = Presentation()
        add(show, CONTENT, "Aims", "x")
        add(show, EMPTY).shapes.add_textbox(*BOX).text_frame.text = "free text"
        extracted = read(saved(show))
        assert extracted.text.endswith("## Slide 2\n\nfree text\n\n")
        assert chunk(extracted, WORDS)[-1].headings == ("Slide 2",)

    def test_that_are_empty_leave_no_trace_but_count(self):
        show = Presentation()
        add(show, CONTENT, "Aims", "x")
        add(show, EMPTY)
        add(show, CONTENT, "Limits", "y")
        assert [unit.page for unit in read(saved(show)).units] == [1, 3]

    def test_that_are_hidden_are_kept_and_say_so(self):
        extracted = read(slides(shape(line("not shown")), shows='show="0"'))
        assert "not shown" in extracted.text
        assert extracted.units[0].place == {"hidden": True}

    def test_take_the_title_of_the_properties_where_none_opens_the_talk(self):
        show = Presentation()
        show.core_properties.title, show.core_properties.author = "From the properties", "Ann"
        add(show, CONTENT, "Aims", "x")
        extracted = read(saved(show))
        assert extracted.title == "From the properties"
        assert extracted.metadata["author"] == "Ann"
        assert extracted.text.startswith("# From the properties\n\n## Aims\n")

    def test_have_their_notes_below_a_line_that_says_so(self):
        show = Presentation()
        add(show, CONTENT, "Aims", "x").notes_slide.notes_text_frame.text = "Smile.\nWait."
        extracted = read(saved(show))
        assert extracted.text.endswith("x\n\nNotes:\nSmile.\nWait.\n\n")
        assert len(chunk(extracted, WORDS)) == 1


class TestShapes:
    def test_tables_are_markdown_rows_with_merged_cells(self):
        show = Presentation()
        table = add(show, EMPTY).shapes.add_table(4, 2, *BOX).table
        for cell, text in zip(table.iter_cells(), ["who", "what", "Ann", "x|y", "", "z", "all", ""], strict=True):
            cell.text = text
        table.cell(1, 0).merge(table.cell(2, 0))
        table.cell(3, 0).merge(table.cell(3, 1))
        assert "| who | what |\n| --- | --- |\n| Ann | x\\|y |\n| Ann | z |\n| all |  |" in read(saved(show)).text

    def test_charts_are_tables_of_their_values(self):
        show = Presentation()
        slide = add(show, EMPTY)
        data = CategoryChartData()
        data.categories = ["East", "West"]
        data.add_series("2023", (1.5, 2))
        data.add_series("2024", (3, None))
        chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "Sales"
        points = XyChartData()
        series = points.add_series("path")
        series.add_data_point(1, 10)
        slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *BOX, points)
        text = read(saved(show)).text
        assert (
            "Chart: Sales\n\n| Category | 2023 | 2024 |\n| --- | --- | --- |\n| East | 1.5 | 3 |\n| West | 2 |  |"
            in text
        )
        assert "| Category | path |\n| --- | --- |\n| 1 | 10 |" in text

    def test_diagrams_are_lists_of_their_boxes(self):
        graphic = '<a:graphic><a:graphicData><dgm:relIds r:dm="rId1"/></a:graphicData></a:graphic>'
        frame = f"<p:graphicFrame>{graphic}</p:graphicFrame>"
        listed = '<p:sldIdLst><p:sldId r:id="a"/></p:sldIdLst>'
        points = (
            f"<dgm:pt><dgm:t>{line('Plan')}</dgm:t></dgm:pt><dgm:pt type='pres'><dgm:t>{line('no')}</dgm:t></dgm:pt>"
            f"<dgm:pt type='node'><dgm:t>{line('Build')}</dgm:t></dgm:pt>"
        )
        parts = main_is("ppt/presentation.xml") | {
            "ppt/presentation.xml": f"<p:presentation {NAMESPACES}>{listed}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations({"a": ("slide", "/ppt/s.xml")}),
            "ppt/s.xml": f"<p:sld {NAMESPACES}><p:cSld><p:spTree>{frame}</p:spTree></p:cSld></p:sld>",
            "ppt/_rels/s.xml.rels": relations({"rId1": ("diagramData", "../ppt/d.xml")}),
            "ppt/d.xml": f"<dgm:dataModel {NAMESPACES}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>",
        }
        assert "- Plan\n- Build" in read(zipped(parts)).text

    def test_groups_and_newer_versions_are_read_once(self):
        inner = shape(line("in a group"))
        body = (
            f"<p:grpSp>{inner}</p:grpSp><mc:AlternateContent><mc:Choice Requires='x'>{shape(line('new'))}</mc:Choice>"
            f"<mc:Fallback>{shape(line('old'))}</mc:Fallback></mc:AlternateContent>"
        )
        assert read(slides(body)).text == "## Slide 1\n\nin a group\n\nnew\n\n"

    def test_numbers_dates_and_footers_of_slides_are_left_out(self):
        repeated = "".join(shape(line(kind), f'<p:ph type="{kind}"/>') for kind in ("sldNum", "dt", "ftr"))
        assert read(slides(repeated + shape(line("text")))).text == "## Slide 1\n\ntext\n\n"

    def test_pictures_give_what_is_said_of_them(self):
        picture = '<p:pic><p:nvPicPr><p:cNvPr id="1" name="x" descr="A red house"/></p:nvPicPr></p:pic>'
        assert "[Image: A red house]" in read(slides(picture)).text


class TestParagraphs:
    def test_with_numbers_of_their_own_are_counted(self):
        def numbered(kind: str, more: str = "", level: int = 0) -> str:
            return f'<a:pPr lvl="{level}"><a:buAutoNum type="{kind}" {more}/></a:pPr>'

        body = (
            line("a", numbered("arabicPeriod", 'startAt="3"'))
            + line("b", numbered("arabicPeriod", 'startAt="3"'))
            + line("c", numbered("alphaLcParenR", level=1))
            + line("d", numbered("romanUcPeriod"))
            + line("e", numbered("nonsense"))
        )
        text = read(slides(shape(body))).text
        assert "3. a\n4. b\n  a) c\n" in text

    def test_say_themselves_whether_they_are_items(self):
        body = line("plain", "<a:pPr><a:buNone/></a:pPr>") + line("item") + line("other")
        text = read(slides(shape(body, '<p:ph idx="1"/>'))).text
        assert "plain\n\n- item\n- other" in text
        last = line("item") + line("plain", "<a:pPr><a:buNone/></a:pPr>")
        assert "- item\n\nplain" in read(slides(shape(last, '<p:ph idx="1"/>'))).text
        assert "- starred" in read(slides(shape(line("starred", '<a:pPr><a:buChar char="*"/></a:pPr>')))).text

    def test_keep_links_breaks_and_fields(self):
        show = Presentation()
        paragraph = add(show, EMPTY).shapes.add_textbox(*BOX).text_frame.paragraphs[0]
        run = paragraph.add_run()
        run.text = "the site"
        run.hyperlink.address = "https://example.org/"
        paragraph.add_line_break()
        paragraph._p.append(parse_xml(f'<a:fld {NAMESPACES} id="{{0}}" type="x"><a:t>field</a:t></a:fld>'))
        assert "[the site](https://example.org/)\nfield" in read(saved(show)).text


class TestBadPresentations:
    def test_a_damaged_slide_leaves_the_others(self):
        extracted = read(slides(shape(line("kept")), "<p:sp>", shape(line("kept too"))))
        assert "kept" in extracted.text
        assert [unit.page for unit in extracted.units] == [1, 3]
        assert extracted.metadata["truncated_reason"] == "slide 2 cannot be read"

    def test_with_nothing_but_damaged_slides_is_refused(self):
        assert getattr(read_or_refuse(slides("<p:sp>"), MEDIA_TYPE), "reason", "") == "damaged"

    def test_without_slides_is_empty(self):
        assert read(slides()).blocks == ()

    def test_groups_in_groups_end_somewhere(self):
        assert "deep" in read(slides("<p:grpSp>" * 200 + shape(line("deep")) + "</p:grpSp>" * 200)).text
        deeper = slides("<p:grpSp>" * 300 + shape(line("deep")) + "</p:grpSp>" * 300)
        assert getattr(read_or_refuse(deeper, MEDIA_TYPE), "reason", "") == "damaged"
