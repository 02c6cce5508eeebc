"""AsciiDoc keeps its text; sections, delimited blocks, tables and the header are found as Asciidoctor finds them."""

import pytest
from hypothesis import given, settings

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

ASCIIDOC = "text/asciidoc"
DOCUMENT = """\
:product: Dowse
= The *Guide* to {product}
Jane Q. Doe <jane@example.org>; Bob_Lee Ray
v1.2, 2024-05-06: Spring
:toc: left
:keywords: search, \\
  local
// a comment

What this is about.

[[install]]
== Installing `dowse` on https://example.org[Linux]

.Get it
[source,sh]
----
# not a heading
== not either

pip install dowse
----

NOTE: Mind the gap.

[NOTE]
====
== No section in here

* item
====

Old style
---------

|===
|Name |Value

|x |1
|===

* one
+
....
shown as it is
....
* two

=== Details about {product}

[source]
print(1)
print(2)

////
== A comment
////

 indented is literal

The end.
"""


def asciidoc(text: str) -> Extracted:
    return check(extract(text.encode(), ASCIIDOC, "guide.adoc"))


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in asciidoc(text).blocks if block.kind == "heading"]


def blocks(text: str) -> list[tuple[str, str]]:
    extracted = asciidoc(text)
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


class TestADocument:
    def test_its_text_is_the_file(self):
        assert asciidoc(DOCUMENT).text == DOCUMENT

    def test_sections_are_found_outside_delimited_blocks_only(self):
        assert headings(DOCUMENT) == [
            (1, "The Guide to Dowse"),
            (2, "Installing dowse on Linux"),
            (2, "Old style"),
            (3, "Details about Dowse"),
        ]

    def test_the_header_gives_title_and_metadata(self):
        extracted = asciidoc(DOCUMENT)
        assert extracted.title == "The Guide to Dowse"
        assert extracted.metadata == {
            "product": "Dowse",
            "title": "The Guide to Dowse",
            "author": ["Jane Q. Doe", "Bob Lee Ray"],
            "email": "jane@example.org",
            "revnumber": "1.2",
            "revdate": "2024-05-06",
            "keywords": ["search", "local"],
        }

    def test_blocks_hold_their_delimiters_attributes_and_titles(self):
        found = [(kind, text.split("\n")[0], text.split("\n")[-1]) for kind, text in blocks(DOCUMENT)]
        assert found == [
            ("front matter", ":product: Dowse", ":product: Dowse"),
            ("heading", "= The *Guide* to {product}", "= The *Guide* to {product}"),
            ("paragraph", "Jane Q. Doe <jane@example.org>; Bob_Lee Ray", "// a comment"),
            ("paragraph", "What this is about.", "What this is about."),
            ("heading", "[[install]]", "== Installing `dowse` on https://example.org[Linux]"),
            ("code", ".Get it", "----"),
            ("paragraph", "NOTE: Mind the gap.", "NOTE: Mind the gap."),
            ("paragraph", "[NOTE]", "== No section in here"),
            ("list", "* item", "===="),
            ("heading", "Old style", "---------"),
            ("table", "|===", "|==="),
            ("list", "* one", "+"),
            ("code", "....", "...."),
            ("list", "* two", "* two"),
            ("heading", "=== Details about {product}", "=== Details about {product}"),
            ("code", "[source]", "print(2)"),
            ("paragraph", "////", "////"),
            ("code", " indented is literal", " indented is literal"),
            ("paragraph", "The end.", "The end."),
        ]

    def test_chunks_are_cited_by_their_lines_and_headings(self):
        chunks = chunk(asciidoc(DOCUMENT), TokenCounter(None), Chunking(max_tokens=80, min_tokens=4))
        last = chunks[-1]
        assert last.headings == ("The Guide to Dowse", "Old style", "Details about Dowse")
        assert last.level == 3
        assert DOCUMENT.split("\n")[last.last_line - 1] == "The end."


class TestTitles:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("== A ==\n", [(2, "A")]),
            ("# A\n\n## B\n", [(1, "A"), (2, "B")]),
            ("Title\n=====\n\nPart\n----\n\nDeeper\n~~~~~~\n", [(1, "Title"), (2, "Part"), (3, "Deeper")]),
            ("== array[0] and *b* and <<x,ref>>\n", [(2, "array[0] and b and ref")]),
            ("[#id]\n\n== After an empty line\n", [(2, "After an empty line")]),
            ("====\n== In\n====\n\n== Out\n", [(2, "Out")]),
            ("====\nunclosed\n\n== Still found\n", [(2, "Still found")]),
            ("= {unknown}\n", [(1, "{unknown}")]),
        ],
    )
    def test_titles_are_found(self, text, found):
        assert headings(text) == found

    @pytest.mark.parametrize(
        "text",
        [
            "==no space\n",
            "para\n== glued\n",
            " == indented\n",
            "======= seven\n",
            "text much longer\n----\nx\n----\n",
            "[source]\n--------\nx\n--------\n",
            "* item\n------\n",
            "----\n== a\n----\n",
            "****\nSide\n\n== a\n****\n",
        ],
    )
    def test_what_only_looks_like_a_title_is_none(self, text):
        assert headings(text) == []


class TestBlocks:
    def test_a_container_may_hold_code(self):
        assert blocks("====\nSee:\n\n----\n== x\n----\n====\nend") == [
            ("paragraph", "====\nSee:"),
            ("code", "----\n== x\n----\n===="),
            ("paragraph", "end"),
        ]

    def test_an_outer_delimiter_closes_what_is_open_inside(self):
        assert headings("====\n****\nx\n====\n\n== Out\n\n****\n") == [(2, "Out")]

    def test_front_matter_is_read_as_in_markdown(self):
        extracted = asciidoc("---\ntags: [a, b]\ntitle: '  From above'\n---\n\nText\n")
        assert extracted.metadata == {"tags": ["a", "b"], "title": "  From above"}
        assert extracted.title == "From above"
        assert extracted.blocks[0].kind == "front matter"

    @pytest.mark.parametrize("text", ["Text first.\n\n:late: x\n", "== Section\n:late: x\n"])
    def test_attributes_in_the_body_are_no_metadata(self, text):
        assert asciidoc(text).metadata == {}

    def test_a_sentence_below_the_title_is_no_author(self):
        assert asciidoc("= T\nThis is a sentence, and not a name at all.\n").metadata == {"title": "T"}

    def test_nothing_gives_nothing(self):
        assert asciidoc("").blocks == asciidoc(" \n\t\n").blocks == ()


class TestDamage:
    @settings(deadline=None, max_examples=60)
    @given(data=mutated(DOCUMENT.encode(), (b"----", b"====", b"|===", b"[", b"= ", b"* ", b"--\n")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        read_or_refuse(data, ASCIIDOC)

    def test_being_cut_off_anywhere_is_survived(self):
        survives_being_cut_off(DOCUMENT.encode(), ASCIIDOC)

    @pytest.mark.parametrize("part", ["----\n====\n", "|===\n", "[a[", ":a: b \\\n", "--\n", ".a\n", "[[a]]\n\n"])
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        asciidoc(part * 15_000)

    def test_delimiters_of_every_length_do_not_hang(self):
        asciidoc("".join("-" * length + "\n" + "=" * length + "\n" for length in range(4, 800)))

    def test_a_signature_that_shares_the_suffix_is_refused(self):
        assert media_type_of("release.tar.gz.asc") == ASCIIDOC
        with pytest.raises(SourceError) as caught:
            extract(b"-----BEGIN PGP SIGNATURE-----\n\niQEz\n", ASCIIDOC, "release.asc")
        assert caught.value.reason == "unsupported"
