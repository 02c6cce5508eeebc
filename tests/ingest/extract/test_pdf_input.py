"""PDF: what files say of themselves, scans, and files that are damaged, hostile or too large."""

import zlib
from base64 import a85encode
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption

from dowse.ingest.extract.pdf import file as file_module
from dowse.ingest.extract.pdf import page as page_module
from dowse.ingest.extract.pdf import pages as pages_module
from dowse.ingest.extract.pdf import streams as streams_module
from ingest.extract.checking import read_or_refuse
from ingest.extract.make_pdf import (
    drawn,
    lines,
    raw_page,
    raw_pdf,
    scan,
    stream,
    together,
)
from ingest.extract.pdf_reading import MEDIA_TYPE, read, refusal


class TestInformation:
    def test_becomes_metadata(self):
        def draw(canvas):
            canvas.setTitle("The Keeper's Book")
            canvas.setAuthor("A. Keeper")
            canvas.setSubject("Lighthouses")
            canvas.setKeywords("sea, fog; bells")
            lines("Text.")(canvas)

        extracted = read(drawn(draw, lang="en-GB"))
        assert extracted.title == "The Keeper's Book"
        assert extracted.metadata == {
            "author": "A. Keeper",
            "subject": "Lighthouses",
            "language": "en-GB",
            "keywords": ["sea", "fog", "bells"],
            "created": "2000-01-01T00:00:00+00:00",
            "modified": "2000-01-01T00:00:00+00:00",
            "pages": 1,
        }

    @pytest.mark.parametrize("title", ["untitled", "Microsoft Word - book.doc", "scan0001.pdf", "(anonymous)", "12-34"])
    def test_that_says_nothing_is_no_title(self, title):
        def draw(canvas):
            canvas.setTitle(title)
            lines("Text.")(canvas)

        extracted = read(drawn(draw))
        assert extracted.title is None
        assert "author" not in extracted.metadata

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            (b"D:20240229113015+01'30'", "2024-02-29T11:30:15+01:30"),
            (b"D:20240229", "2024-02-29"),
            (b"D:2024", "2024-01-01"),
            (b"D:20241399", None),
            (b"yesterday", None),
        ],
    )
    def test_has_dates_as_everybody_writes_them(self, written, meant):
        objects = raw_page(b"BT /F 12 Tf 72 700 Td (Text.) Tj ET").partition(b"trailer")[0]
        data = objects.replace(b"xref", b"7 0 obj\n<</CreationDate(%b)>>\nendobj\nxref" % written, 1)
        data += b"trailer\n<</Size 8/Root 1 0 R/Info 7 0 R>>\nstartxref\n0\n%%EOF"
        assert read(data).metadata.get("created") == meant

    def test_in_forms_is_part_of_the_page(self):
        def draw(canvas):
            lines("Name:")(canvas)
            canvas.acroForm.textfield(name="who", value="Grace Darling", x=120, y=730, width=200, height=20)

        assert "Grace Darling" in read(drawn(draw)).text


class TestScans:
    def test_without_any_text_are_refused_with_a_way_out(self):
        error = refusal(drawn(scan, scan))
        assert error.reason == "scanned"
        assert "ocrmypdf" in error.hint

    def test_with_nothing_but_page_numbers_are_refused_too(self):
        pages = [together(scan, lines(f"page {number}", y=40), lines("Archive", y=800)) for number in range(1, 5)]
        assert (
            refusal(drawn(*(together(scan, lines(f"- {number} -", y=40)) for number in range(1, 5)))).reason
            == "scanned"
        )
        assert read(drawn(*pages)).text == "Archive\n\n"

    def test_among_pages_of_text_are_named(self):
        stamped = together(scan, lines("p. 7"))
        extracted = read(drawn(lines("Some text."), scan, scan, lines("More text."), stamped))
        assert extracted.metadata["scanned_pages"] == ["2-3", "5"]
        assert [unit.page for unit in extracted.units] == [1, 4, 5]

    def test_with_recognised_text_are_text(self):
        story = together(scan, lines("These words were recognised on", "the page by another program."))
        assert "scanned_pages" not in read(drawn(story)).metadata


class TestUnreadableFonts:
    # A Type 3 font draws its letters itself and need not say what they mean.
    OBJECTS = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R/G 7 0 R>>>>/Contents 5 0 R>>",
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[.1 0 0 .1 0 0]/FirstChar 1/LastChar 3/Widths[9 9 9]%b"
        % b"/CharProcs<</a 6 0 R>>/Encoding<</Differences[1/a/a/a]>>/Resources<<>>>>",
    )
    GLYPH = stream(b"9 0 0 0 9 9 d1 0 0 8 8 re f")
    HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"

    def test_are_told_of(self):
        content = b"BT /F 12 Tf 72 700 Td <0102030102030102030102030303> Tj ET BT /G 12 Tf 72 600 Td (Hello) Tj ET"
        extracted = read(raw_pdf((*self.OBJECTS, stream(content), self.GLYPH, self.HELVETICA)))
        assert extracted.text == "Hello\n\n"
        assert extracted.metadata["unreadable_pages"] == ["1"]

    def test_alone_are_refused_with_a_way_out(self):
        content = b"BT /F 12 Tf 72 700 Td <010203> Tj ET"
        error = refusal(raw_pdf((*self.OBJECTS, stream(content), self.GLYPH)))
        assert error.reason == "unreadable"
        assert "ocrmypdf" in error.hint


class TestBadInput:
    GOOD = drawn(lines("The first page."), lines("The second page."))

    def test_of_no_bytes_or_other_bytes_is_refused(self):
        assert refusal(b"").reason == "empty"
        assert refusal(b"PK\x03\x04 certainly no PDF").reason == "damaged"
        assert refusal(b"%PDF-1.7\n").reason == "damaged"

    def test_that_is_encrypted_is_read_only_without_a_password(self):
        open_to_all = drawn(lines("Not so secret."), encrypt=StandardEncryption("", "owner", canPrint=0))
        assert read(open_to_all).text == "Not so secret.\n\n"
        error = refusal(drawn(lines("Secret."), encrypt=StandardEncryption("user", "owner")))
        assert error.reason == "encrypted"

    def test_that_is_cut_off_anywhere_gives_what_is_there_or_is_refused(self):
        for size in range(0, len(self.GOOD), len(self.GOOD) // 50):
            read_or_refuse(self.GOOD[:size], MEDIA_TYPE)

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_that_was_changed_anywhere_gives_what_is_there_or_is_refused(self, data):
        broken = bytearray(self.GOOD)
        for _ in range(data.draw(st.integers(1, 8))):
            start = data.draw(st.integers(0, len(broken)))
            broken[start : start + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=20))
        read_or_refuse(bytes(broken), MEDIA_TYPE)

    def test_with_wild_numbers_is_read(self):
        for number in (b"1e39", b"-1e39", b"0", b"nan", b"99999999999999999999"):
            content = b"BT /F %b Tf %b 700 Td (wild) Tj 1 0 0 %b 72 600 Tm (wilder) Tj ET" % (number, number, number)
            read_or_refuse(raw_page(content), MEDIA_TYPE)

    @pytest.mark.parametrize(
        "pages",
        [
            b"<</Type/Pages/Kids[]/Count 0>>",
            b"<</Type/Pages/Kids[2 0 R]/Count 1>>",
            b"<</Type/Pages/Kids[2 0 R 2 0 R 9 0 R]/Count 2147483647>>",
            b"<</Type/Pages/Kids 2 0 R/Count -1>>",
        ],
        ids=["none", "its own child", "far too many", "nonsense"],
    )
    def test_with_a_strange_tree_of_pages_is_refused(self, pages):
        assert refusal(raw_pdf((b"<</Type/Catalog/Pages 2 0 R>>", pages))).reason in {"empty", "damaged"}

    def test_with_an_outline_of_actions_is_read(self):
        objects = (
            b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            stream(b"BT /F 10 Tf 72 700 Td (Text.) Tj ET"),
            b"<</First 7 0 R/Last 9 0 R>>",
            b"<</Title(Inside)/Parent 6 0 R/Next 8 0 R/A<</S/GoTo/D[3 0 R/XYZ 72 720 0]>>>>",
            b"<</Title(Outside)/Parent 6 0 R/Next 9 0 R/A<</S/URI/URI(https://example.org)>>>>",
            b"<</Title(Nowhere)/Parent 6 0 R/Dest[8 0 R/Fit]>>",
        )
        assert read(raw_pdf(objects)).text == "# Inside\n\nText.\n\n"

    def test_with_an_outline_that_bites_its_tail_is_read(self):
        objects = (
            b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            stream(b"BT /F 10 Tf 72 700 Td (Text.) Tj ET"),
            b"<</First 7 0 R/Last 7 0 R>>",
            b"<</Title(Round)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>",
        )
        assert read(raw_pdf(objects)).text == "# Round\n\nText.\n\n"

    def test_with_pages_that_cannot_be_loaded_names_them(self):
        objects = (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R 9 0 R]/Count 2>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            stream(b"BT /F 10 Tf 72 700 Td (Text.) Tj ET"),
        )
        assert read(raw_pdf(objects)).metadata["damaged_pages"] == ["2"]

    @pytest.mark.parametrize(
        ("filters", "layers"),
        [
            (b"/FlateDecode", (zlib.compress,)),
            (b"/FlateDecode/FlateDecode", (zlib.compress, zlib.compress)),
            (b"/ASCII85Decode/FlateDecode", (zlib.compress, lambda packed: a85encode(packed) + b"~>")),
        ],
        ids=["packed", "packed twice", "packed and in letters"],
    )
    def test_that_unpacks_to_far_too_much_is_refused(self, filters, layers, monkeypatch):
        monkeypatch.setattr(streams_module, "_MOST_OF_STREAM", 2_000_000)
        monkeypatch.setattr(streams_module, "_SHORTEST_ASCII", 100)
        packed = bytes(2_500_000)
        for layer in layers:
            packed = layer(packed)
        data = raw_page(b"").replace(stream(b""), stream(packed, b"/Filter[" + filters + b"]"), 1)
        assert refusal(data).reason == "too_large"

    def test_of_many_pages_is_cut_and_says_so(self, monkeypatch):
        monkeypatch.setattr(pages_module, "_MOST_PAGES", 2)
        extracted = read(drawn(*(lines(f"Page {number}.") for number in range(4))))
        assert extracted.text == "Page 0.\n\nPage 1.\n\n"
        assert extracted.metadata["pages"] == 4
        assert extracted.metadata["truncated"] is True
        assert "3" in extracted.metadata["truncated_reason"]

    @pytest.mark.parametrize(("name", "limit"), [("_MOST_WORK", 0), ("_MOST_SECONDS", 1.5)])
    def test_that_is_too_much_work_is_cut_and_says_so(self, name, limit, monkeypatch):
        monkeypatch.setattr(pages_module, name, limit)
        monkeypatch.setattr(pages_module, "thread_time", iter(range(100)).__next__)
        extracted = read(drawn(*(lines(f"Page {number}.") for number in range(4))))
        assert extracted.text == "Page 0.\n\n"
        assert "takes too long" in extracted.metadata["truncated_reason"]

    def test_that_is_too_much_work_before_any_text_is_refused(self, monkeypatch):
        monkeypatch.setattr(pages_module, "_MOST_WORK", 0)
        assert refusal(drawn(*[lambda canvas: canvas.line(0, 0, 9, 9)] * 3)).reason == "too_large"

    def test_with_far_too_many_letters_on_a_page_is_cut_and_says_so(self, monkeypatch):
        monkeypatch.setattr(page_module, "_MOST_CHARACTERS", 8)
        extracted = read(drawn(lines("Some text that is longer.")))
        assert extracted.text == "Some tex\n\n"
        assert extracted.metadata["truncated_reason"] == "the end of page 1"

    def test_without_the_library_is_refused_with_the_way_to_get_it(self, monkeypatch):
        def missing(name):
            if name.startswith("pypdfium2"):
                raise ImportError(name)
            return import_module(name)

        monkeypatch.setattr(file_module, "import_module", missing)
        error = refusal(self.GOOD)
        assert error.reason == "library"
        assert "pip install" in error.hint
