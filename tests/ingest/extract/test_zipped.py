"""Archives are read within limits, whatever their headers say, and their XML declares nothing."""

import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.extract import zipped as module
from dowse.ingest.extract.zipped import Archive
from ingest.extract.make_office import zipped

unhurried = settings(deadline=None)


def refusal(action) -> SourceError:
    with pytest.raises(SourceError) as caught:
        action()
    assert caught.value.hint
    return caught.value


def xml_of(content: str | bytes):
    return Archive(zipped({"a.xml": content}), "a.zip").xml("a.xml")


class TestMembers:
    def test_are_found_whatever_the_case_and_slashes_of_their_names(self):
        archive = Archive(zipped({"Word\\Document.xml": b"x"}), "a.docx")
        assert archive.names == ("Word/Document.xml",)
        assert archive.read("/word/document.XML") == b"x"
        assert "word/document.xml" in archive
        assert "word/styles.xml" not in archive

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_with_one_name_are_the_last_of_them(self):
        made = BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("a", "old")
            archive.writestr("a", "new")
        found = Archive(made.getvalue(), "a.zip")
        assert found.names == ("a",)
        assert found.read("a") == b"new"

    def test_that_are_missing_make_the_file_damaged(self):
        error = refusal(lambda: Archive(zipped({"a": "x"}), "a.zip").read("b"))
        assert error.reason == "damaged"
        assert error.message == "a.zip is damaged: b is missing in it."

    def test_that_are_encrypted_are_refused_as_such(self):
        data = bytearray(zipped({"a": "x"}))
        for header in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
            data[header] |= 1
        assert refusal(lambda: Archive(bytes(data), "a.zip").read("a")).reason == "encrypted"

    def test_packed_in_rare_ways_are_refused(self):
        made = BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("a", "x" * 1000)
        assert refusal(lambda: Archive(made.getvalue(), "a.zip").read("a")).reason == "damaged"


class TestLimits:
    def test_a_bomb_is_refused_by_its_ratio_before_it_is_unpacked(self):
        archive = Archive(zipped({"a": b"\0" * 20_000_000}), "bomb.docx")
        assert refusal(lambda: archive.read("a")).reason == "too_large"

    def test_a_small_member_may_shrink_as_much_as_it_likes(self):
        assert len(Archive(zipped({"a": b"\0" * 1_000_000}), "a.docx").read("a")) == 1_000_000

    def test_the_sum_of_what_is_read_counts(self, monkeypatch):
        monkeypatch.setattr(module, "_LARGEST_TOTAL", 250_000)
        archive = Archive(zipped({"a": b"x" * 100_000}), "a.zip")
        archive.read("a")
        archive.read("a")
        assert refusal(lambda: archive.read("a")).reason == "too_large"

    def test_members_and_their_number_have_limits(self, monkeypatch):
        monkeypatch.setattr(module, "_LARGEST_WHOLE", 10)
        assert refusal(lambda: Archive(zipped({"a": "x" * 11}), "a.zip").read("a")).reason == "too_large"
        monkeypatch.setattr(module, "_LARGEST_MEMBER", 10)
        assert refusal(lambda: list(Archive(zipped({"a": "x" * 11}), "a").pieces("a"))).reason == "too_large"
        monkeypatch.setattr(module, "_MOST_MEMBERS", 2)
        assert refusal(lambda: Archive(zipped(dict.fromkeys("abc", "")), "a.zip")).reason == "too_large"

    def test_a_size_that_lies_about_less_ends_in_a_refusal(self):
        data = zipped({"a": b"x" * 100_000}).replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
        assert refusal(lambda: Archive(data, "a.zip").read("a")).reason == "damaged"


class TestXml:
    def test_tags_carry_their_namespaces(self):
        root = xml_of('<a xmlns="urn:x" xmlns:y="urn:y"><b y:c="1">text</b></a>')
        assert root.tag == "{urn:x}a"
        assert root[0].get("{urn:y}c") == "1"
        assert root[0].text == "text"

    def test_strict_office_names_become_the_usual_ones(self):
        root = xml_of('<w:p xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"/>')
        assert root.tag == "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
    def test_may_be_in_another_encoding(self, encoding):
        assert xml_of(f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(encoding)).text == "é"

    def test_may_name_a_document_type_as_xhtml_does(self):
        assert xml_of('<!DOCTYPE html PUBLIC "-//W3C//DTD" "http://x.invalid/a.dtd"><html/>').tag == "html"

    @pytest.mark.parametrize(
        "content",
        [
            '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
            '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
            '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://x.invalid/"> %b;]><a/>',
            '<!DOCTYPE a [<!ENTITY b "cccc"><!ENTITY d "&b;&b;&b;&b;">]><a>&d;</a>'.encode("utf-16"),
            "<a>&undefined;</a>",
        ],
    )
    def test_never_defines_or_expands_an_entity(self, content):
        assert refusal(lambda: xml_of(content)).reason == "damaged"

    @pytest.mark.parametrize(
        "content",
        [
            *("", "text", "<a>", "<a></b>", "<a/><b/>", "\0", "<a>\x01</a>", "<?xml version='1.0' encoding='no'?><a/>"),
            *(f"<!--{'x' * 70_000}--><a/>", b"<a>\xff</a>", "<a b='1' b='2'/>", "<x:a/>"),
        ],
    )
    def test_that_is_not_well_formed_is_damaged(self, content):
        assert refusal(lambda: xml_of(content)).reason == "damaged"

    def test_has_a_limit_to_its_depth(self):
        assert len(list(xml_of("<a>" * 200 + "</a>" * 200).iter())) == 200
        assert refusal(lambda: xml_of("<a>" * 300 + "</a>" * 300)).reason == "damaged"

    def test_has_a_limit_to_the_number_of_elements(self, monkeypatch):
        monkeypatch.setattr(module, "_MOST_ELEMENTS", 100)
        assert refusal(lambda: xml_of(f"<a>{'<b/>' * 100}</a>")).reason == "too_large"
        archive = Archive(zipped({"a.xml": f"<a>{'<b/>' * 1000}</a>"}), "a.zip")
        assert len(list(archive.elements("a.xml", {"b"}))) == 1000, "which counts what is held, not what passes"

    def test_gives_the_outermost_elements_one_by_one(self):
        archive = Archive(zipped({"a.xml": "<a>no<p>1<p>2</p>3</p><s><t/><p>4</p></s></a>"}), "a.zip")
        found = list(archive.elements("a.xml", {"p", "t"}))
        assert [each.tag for each in found] == ["p", "t", "p"]
        assert ["".join(each.itertext()) for each in found] == ["123", "", "4"]


class TestDamage:
    def test_nothing_at_all_is_called_empty(self):
        assert refusal(lambda: Archive(b"", "a.docx")).reason == "empty"

    @unhurried
    @given(data=st.binary(max_size=300))
    def test_any_bytes_are_an_archive_or_refused(self, data):
        try:
            Archive(data, "a.zip")
        except SourceError as error:
            assert error.reason in {"empty", "damaged"}  # noqa: PT017 - either is fine, anything else is not

    @unhurried
    @given(place=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.booleans())
    def test_any_changed_byte_gives_the_content_or_a_refusal(self, place, byte, cut):
        data = bytearray(zipped({"a.xml": "<a>text</a>", "b.xml": "<b/>"}))
        place %= len(data)
        if cut:
            del data[place:]
        else:
            data[place] = byte
        try:
            archive = Archive(bytes(data), "a.zip")
            for name in archive.names:
                archive.xml(name)
        except SourceError as error:
            assert error.reason in {"empty", "damaged", "encrypted", "too_large"}  # noqa: PT017 - see above
