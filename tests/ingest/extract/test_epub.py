"""E-books: chapters in reading order, each a unit that its passages name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.make_epub import METADATA, book, chapter, contents, epub, old_contents, package

unhurried = settings(deadline=None)

MEDIA_TYPE = "application/epub+zip"
WORDS = TokenCounter(None)
CHAPTERS = {
    "z1.xhtml": chapter(
        "<h1>One</h1><p>Sencha &amp; <a href='a%20b.xhtml#n1'>more</a>.</p><aside><p>A note.</p></aside>"
    ),
    "a b.xhtml": chapter("<p>Gyokuro&#160;wants <a href='https://a.b/'>care</a>.</p><script src='x.js'/><p>Much.</p>"),
    "m3.xhtml": chapter("<h2>Three</h2><p>Matcha.</p>", "Page title"),
}
BOOK = book(CHAPTERS, {"z1.xhtml": "Chapter 1", "a%20b.xhtml": "Chapter 2", "a%20b.xhtml#later": "No"})
ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="{algorithm}"/>
<enc:CipherData><enc:CipherReference URI="{path}"/></enc:CipherData></enc:EncryptedData></encryption>"""


def read(data: bytes) -> Extracted:
    return check(extract(data, MEDIA_TYPE, "tea.epub"))


def refusal(data: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        extract(data, MEDIA_TYPE, "tea.epub")
    assert caught.value.hint
    return caught.value


class TestABook:
    def test_is_its_chapters_in_reading_order(self):
        assert read(BOOK).text.strip() == (
            "# One\n\nSencha & more.\n\nA note.\n\n"
            "# Chapter 2\n\nGyokuro wants [care](https://a.b/).\n\nMuch.\n\n"
            "## Three\n\nMatcha."
        )

    def test_says_what_it_is(self):
        extracted = read(BOOK)
        assert extracted.title == "The Tea Book"
        assert extracted.metadata == {
            "author": "Ada Byron",
            "language": "en",
            "created": "2024-05-01",
            "modified": "2024-06-01T00:00:00Z",
            "tags": ["Tea", "Water"],
            "publisher": "Kettle",
            "description": "All about tea.",
        }

    def test_has_a_unit_per_chapter_and_passages_that_name_it(self):
        chunks = chunk(read(BOOK), WORDS)
        assert [(each.place, each.headings, each.level, each.page) for each in chunks] == [
            ({"chapter": "Chapter 1"}, ("One",), 1, None),
            ({"chapter": "Chapter 2"}, ("Chapter 2",), 1, None),
            ({"chapter": "Three"}, ("Chapter 2", "Three"), 2, None),
        ]

    def test_of_several_authors_lists_them(self):
        metadata = METADATA + "<dc:creator>Bob</dc:creator><dc:creator>Ada Byron</dc:creator>"
        data = epub({"OEBPS/book.opf": package(["a.xhtml"], "", metadata), "OEBPS/a.xhtml": chapter("Text")})
        assert read(data).metadata["author"] == ["Ada Byron", "Bob"]

    def test_of_the_second_version_has_its_contents_in_another_file(self):
        extra = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        data = epub(
            {
                "OEBPS/book.opf": package(["a.html"], extra),
                "OEBPS/toc.ncx": old_contents({"a.html#top": "Preface &amp; thanks"}),
                "OEBPS/a.html": chapter("<p>Text</p>"),
            }
        )
        assert read(data).text.strip() == "# Preface & thanks\n\nText"

    def test_does_not_repeat_its_table_of_contents(self):
        nav = '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        spine = package(["a.xhtml"], nav).replace("<spine>", '<spine><itemref idref="n"/>')
        nav_page = contents({"a.xhtml": "Entry"})
        data = epub({"OEBPS/book.opf": spine, "OEBPS/nav.xhtml": nav_page, "OEBPS/a.xhtml": chapter("<h1>A</h1>Text")})
        assert read(data).text.strip() == "# A\n\nText"

    def test_is_known_by_its_name(self):
        assert media_type_of("Tea.EPUB") == MEDIA_TYPE

    def test_chapters_may_be_in_another_encoding(self):
        page = "<?xml version='1.0' encoding='windows-1251'?><html><body>Зелёный чай</body></html>".encode("cp1251")
        assert "Зелёный чай" in read(epub({"OEBPS/book.opf": package(["a.html"]), "OEBPS/a.html": page})).text


class TestBadBooks:
    def test_under_rights_management_are_refused(self):
        locked = ENCRYPTION.format(algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc", path="OEBPS/a.xhtml")
        members = {"OEBPS/book.opf": package(["a.xhtml"]), "OEBPS/a.xhtml": b"\x00\x8f\x10" * 99}
        error = refusal(epub({**members, "META-INF/encryption.xml": locked}))
        assert error.reason == "encrypted"
        assert "rights" in error.message

    def test_with_obfuscated_fonts_are_read(self):
        fonts = ENCRYPTION.format(algorithm="http://www.idpf.org/2008/embedding", path="OEBPS/a.otf")
        members = {"OEBPS/book.opf": package(["a.xhtml"]), "OEBPS/a.xhtml": chapter("Text")}
        assert read(epub({**members, "META-INF/encryption.xml": fonts})).text.strip() == "Text"

    def test_with_a_missing_chapter_say_so(self):
        names = [f"{number}.xhtml" for number in range(8)]
        data = epub({"OEBPS/book.opf": package(names), "OEBPS/0.xhtml": chapter("Text")})
        reason = "pages are missing or damaged: 1.xhtml, 2.xhtml, 3.xhtml, 4.xhtml, 5.xhtml and 2 more"
        assert read(data).metadata["truncated_reason"] == reason

    def test_with_a_binary_chapter_keep_the_others(self):
        members = {"OEBPS/a.xhtml": chapter("Text"), "OEBPS/b.xhtml": b"\x00\x01\x02" * 50}
        extracted = read(epub({"OEBPS/book.opf": package(["a.xhtml", "b.xhtml"]), **members}))
        assert extracted.text.strip() == "Text"
        assert extracted.metadata["truncated"] is True

    @pytest.mark.parametrize("broken", [b"", b"\x00\x01\x02" * 50, b"<nav><a href='x.xhtml'>"])
    def test_with_a_broken_table_of_contents_are_read_without_it(self, broken):
        nav = '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        members = {"OEBPS/nav.xhtml": broken, "OEBPS/a.xhtml": chapter("Text")}
        extracted = read(epub({"OEBPS/book.opf": package(["a.xhtml"], nav), **members}))
        assert extracted.text.strip() == "Text"

    @pytest.mark.parametrize("broken", ["", "<package>", "no xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"])
    def test_with_a_broken_package_are_read_in_the_order_of_the_archive(self, broken):
        members = {"OEBPS/2.xhtml": chapter("First"), "OEBPS/1.xhtml": chapter("Second"), "OEBPS/x.css": "p {}"}
        assert read(epub({"OEBPS/book.opf": broken, **members})).text.split() == ["First", "Second"]

    def test_entities_of_their_own_are_never_expanded(self):
        bomb = (
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a 'EXPANDED'><!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
            "<html><body><p>Text &a; &x;</p></body></html>"
        )
        assert (
            read(epub({"OEBPS/book.opf": package(["a.xhtml"]), "OEBPS/a.xhtml": bomb})).text.strip() == "Text &a; &x;"
        )

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "empty"),
            (b"PK\x03\x04 no zip", "damaged"),
            (BOOK[: len(BOOK) // 2], "damaged"),
            (epub({"a.txt": "nothing"}), "damaged"),
            (book({"a.xhtml": chapter("<img src='a.jpg'/>")}), "empty"),
            (epub({"OEBPS/book.opf": package(["a.xhtml"])}), "damaged"),
            (book({"a.xhtml": chapter("x" * 20_000_000)}), "too_large"),
        ],
    )
    def test_that_cannot_be_read_say_why(self, data, reason):
        assert refusal(data).reason == reason

    def test_a_book_longer_than_any_is_cut(self, monkeypatch):
        monkeypatch.setattr("dowse.ingest.extract.epub._MOST_TOKENS", 50)
        extracted = read(book({f"{number}.xhtml": chapter(f"<p>{'word ' * 50}</p>") for number in range(9)}))
        assert extracted.metadata["truncated"] is True
        assert 0 < extracted.text.count("word") < 450

    @unhurried
    @given(position=st.integers(0, len(BOOK)), garbage=st.binary(max_size=8), length=st.integers(0, 20))
    def test_bytes_may_be_damaged_anywhere(self, position, garbage, length):
        read_or_refuse(BOOK[:position] + garbage + BOOK[position + length :], MEDIA_TYPE)

    @unhurried
    @given(data=st.data())
    def test_members_may_be_damaged_anywhere(self, data):
        members = {
            "META-INF/container.xml": "",
            "OEBPS/book.opf": package(["a.xhtml"]),
            "OEBPS/nav.xhtml": contents({"a.xhtml": "A"}),
            "OEBPS/a.xhtml": chapter("<p>Text</p>"),
        }
        name = data.draw(st.sampled_from(sorted(members)))
        content = members[name].encode()
        position = data.draw(st.integers(0, len(content)))
        damaged = content[:position] + data.draw(st.binary(max_size=8)) + content[position + 3 :]
        read_or_refuse(epub({**members, name: damaged}), MEDIA_TYPE)

    def test_files_may_be_cut_anywhere(self):
        for part in range(50):
            assert isinstance(read_or_refuse(BOOK[: len(BOOK) * part // 50], MEDIA_TYPE), SourceError)
