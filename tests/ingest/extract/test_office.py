"""Office files of every kind: recognised by content, refused with a way out, never worse than that."""

from io import BytesIO

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from pptx import Presentation

from dowse.errors import SourceError
from dowse.ingest.extract import extract, media_type_of
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.make_office import main_is, members, paragraph, word, zipped

unhurried = settings(deadline=None, max_examples=50)

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
REASONS = {"damaged", "empty", "encrypted", "too_large", "unsupported", "legacy"}


def saved(made) -> bytes:
    stream = BytesIO()
    made.save(stream)
    return stream.getvalue()


def a_document() -> bytes:
    document = Document()
    document.add_heading("Aims", 1)
    document.add_paragraph("item", style="List Number")
    document.add_table(2, 2).cell(0, 0).text = "cell"
    return saved(document)


def a_show() -> bytes:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Aims"
    slide.notes_slide.notes_text_frame.text = "note"
    return saved(show)


def a_book() -> bytes:
    book = Workbook()
    for row in (["name", "age"], ["Ann", 34], ["Bob", 27.5]):
        book.active.append(row)
    book.active.merge_cells("A3:A4")
    return saved(book)


FILES = {WORD: a_document(), SLIDES: a_show(), SHEETS: a_book()}


def refusal(data: bytes, media_type: str = WORD) -> SourceError:
    found = read_or_refuse(data, media_type)
    assert isinstance(found, SourceError)
    return found


class TestNames:
    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            *(("a.docx", WORD), ("a.DOCM", WORD), ("a.dotx", WORD), ("a.pptx", SLIDES), ("a.ppsm", SLIDES)),
            *(("a.xlsx", SHEETS), ("a.xlsm", SHEETS), ("a.xltx", SHEETS), ("a.doc", "application/msword")),
            *(("a.xls", "application/vnd.ms-excel"), ("a.ppt", "application/vnd.ms-powerpoint")),
        ],
    )
    def test_tell_the_type(self, name, media_type):
        assert media_type_of(name) == media_type

    @pytest.mark.parametrize("wrong", [WORD, SLIDES, SHEETS, "application/msword"])
    @pytest.mark.parametrize(("right", "words"), [(WORD, "Aims"), (SLIDES, "Aims"), (SHEETS, "| Ann | 34 |")])
    def test_that_are_wrong_do_not_matter(self, wrong, right, words):
        assert words in check(extract(FILES[right], wrong, "a")).text


class TestRefusals:
    @pytest.mark.parametrize("media_type", [WORD, "application/msword", "application/vnd.ms-excel"])
    def test_of_old_files_name_the_way_out(self, media_type):
        error = refusal(OLE, media_type)
        assert error.reason == "legacy"
        assert "save it as .docx" in error.hint

    @pytest.mark.parametrize("media_type", [WORD, "application/msword"])
    def test_of_encrypted_files_say_so(self, media_type):
        error = refusal(OLE + "EncryptedPackage".encode("utf-16-le"), media_type)
        assert error.reason == "encrypted"
        assert "password" in error.hint

    def test_of_other_files_under_old_names_name_the_real_type(self):
        assert refusal(b"{\\rtf1 hello}", "application/msword").reason == "damaged"

    def test_of_other_zip_archives_say_that_there_is_no_document(self):
        assert refusal(zipped({"readme.txt": "hello"})).reason == "damaged"

    def test_of_binary_workbooks_name_the_way_out(self):
        error = refusal(zipped(main_is("xl/workbook.bin") | {"xl/workbook.bin": b"\0\1"}), SHEETS)
        assert error.reason == "unsupported"
        assert ".xlsx" in error.hint

    def test_of_entities_keep_files_of_this_machine_out(self):
        body = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document xmlns:w="urn:x">&x;</w:document>'
        assert refusal(zipped(main_is("word/document.xml") | {"word/document.xml": body})).reason == "damaged"

    def test_of_bombs_come_before_they_go_off(self):
        body = "<w:document>" + " " * 12_000_000 + "</w:document>"
        assert refusal(zipped(main_is("word/document.xml") | {"word/document.xml": body})).reason == "too_large"


class TestDamagedParts:
    @pytest.mark.parametrize("part", ["styles", "numbering", "footnotes", "endnotes"])
    def test_that_only_add_to_the_text_are_left_out_and_named(self, part):
        extracted = check(extract(word(paragraph("kept"), **{part: "<broken>"}), WORD, "a.docx"))
        assert extracted.text == "kept\n\n"
        assert extracted.metadata["truncated_reason"] == f"word/{part}.xml is damaged"

    def test_of_relations_leave_the_usual_names(self):
        parts = members(word(paragraph("kept"))) | {"_rels/.rels": b"<broken>"}
        assert extract(zipped(parts), WORD, "a.docx").text == "kept\n\n"


class TestAnyDamage:
    @pytest.mark.parametrize("media_type", FILES)
    def test_truncated_anywhere_is_refused(self, media_type):
        data = FILES[media_type]
        for part in range(50):
            assert refusal(data[: len(data) * part // 50], media_type).reason in REASONS

    @unhurried
    @given(
        media_type=st.sampled_from(list(FILES)),
        changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=5),
    )
    def test_of_bytes_gives_a_valid_text_or_a_refusal(self, media_type, changes):
        data = bytearray(FILES[media_type])
        for place, byte in changes:
            data[place % len(data)] = byte
        read_or_refuse(bytes(data), media_type)

    @unhurried
    @given(
        media_type=st.sampled_from(list(FILES)),
        draw=st.integers(0, 1 << 30),
        place=st.integers(0, 1 << 30),
        change=st.sampled_from(["cut", "drop", "digit", "tag", "twice"]),
    )
    def test_of_parts_gives_a_valid_text_or_a_refusal(self, media_type, draw, place, change):
        parts = members(FILES[media_type])
        name = sorted(parts)[draw % len(parts)]
        content = parts[name]
        place %= len(content) + 1
        if change == "drop":
            del parts[name]
        elif change == "cut":
            parts[name] = content[:place]
        elif change == "digit":
            parts[name] = content[:place] + content[place:].replace(b'"1"', b'"-9x"', 3).replace(
                b'"0"', b'"99999999"', 3
            )
        elif change == "tag":
            parts[name] = content[:place] + content[place:].replace(b"<w:p>", b"<w:tbl>").replace(b"<a:p>", b"<a:tbl>")
        else:
            parts[name] = content[:place] + content[place // 2 : place] + content[place:]
        read_or_refuse(zipped(parts), media_type)
