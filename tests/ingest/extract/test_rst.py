"""reStructuredText keeps its text; sections, code, tables and fields are found as docutils finds them."""

import pytest
from hypothesis import given, settings

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

RST = "text/x-rst"
DOCUMENT = """\
=========
The Guide
=========

:Author: Jane Doe
:Date: 2024-05-06
:Keywords: search, local
:orphan:

Some *introduction*::

    # Not a title
    ====

    still literal

.. _install:

Installing ``dowse`` with :ref:`pip <target>`
=============================================

.. code-block:: sh
   :linenos:

   pip install dowse

   Title
   -----

.. note:: Mind this.

   Inside
   ------

- one
- two

  more of two

On Linux
--------
>>> print(1)
1

+-----+-----+
| a   | b   |
+=====+=====+
| 1   | 2   |
+-----+-----+

=====  =====
Name   Value
=====  =====
x      1
=====  =====

.. list-table:: Things

   * - a
     - b

..
   Comment
   =======

Using it
========

----

The end.
"""


def rst(text: str) -> Extracted:
    return check(extract(text.encode(), RST, "guide.rst"))


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in rst(text).blocks if block.kind == "heading"]


def blocks(text: str) -> list[tuple[str, str]]:
    extracted = rst(text)
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


class TestADocument:
    def test_its_text_is_the_file(self):
        assert rst(DOCUMENT).text == DOCUMENT

    def test_sections_have_levels_by_the_order_of_their_adornments(self):
        assert headings(DOCUMENT) == [
            (1, "The Guide"),
            (2, "Installing dowse with pip"),
            (3, "On Linux"),
            (2, "Using it"),
        ]

    def test_title_and_metadata_come_from_its_top(self):
        extracted = rst(DOCUMENT)
        assert extracted.title == "The Guide"
        assert extracted.metadata == {"author": "Jane Doe", "date": "2024-05-06", "keywords": ["search", "local"]}

    def test_code_and_tables_are_whole_blocks(self):
        found = [(kind, text.split("\n")[0], text.split("\n")[-1]) for kind, text in blocks(DOCUMENT)]
        assert [each for each in found if each[0] in {"code", "table", "list"}] == [
            ("code", "    # Not a title", "    still literal"),
            ("code", ".. code-block:: sh", "   -----"),
            ("list", "- one", "- two"),
            ("list", "  more of two", "  more of two"),
            ("code", ">>> print(1)", "1"),
            ("table", "+-----+-----+", "+-----+-----+"),
            ("table", "=====  =====", "=====  ====="),
            ("table", ".. list-table:: Things", "     - b"),
        ]

    def test_chunks_are_cited_by_their_lines_and_headings(self):
        chunks = chunk(rst(DOCUMENT), TokenCounter(None), Chunking(max_tokens=60, min_tokens=4))
        by_heading = {each.headings: each for each in chunks}
        using = by_heading["The Guide", "Using it"]
        assert using.level == 2
        assert DOCUMENT.split("\n")[using.first_line - 1] == "Using it"
        assert using.text.endswith("The end.")
        install = next(each for each in chunks if each.headings[-1:] == ("Installing dowse with pip",))
        assert install.text.startswith(".. _install:\n\nInstalling")


class TestTitles:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("Title\n=====\n", [(1, "Title")]),
            ("A\n=\n\nB\n-\n\nC\n=\n", [(1, "A"), (2, "B"), (1, "C")]),
            ("Long title\n====\n", [(1, "Long title")]),
            ("===\nABC\n===\n\nABC\n===\n", [(1, "ABC"), (2, "ABC")]),
            ("########\n  Inset\n########\n", [(1, "Inset")]),
            ("*Emphasis*, **strong**, |sub|, \\*literal\\*\n" + "=" * 40, [(1, "Emphasis, strong, sub, *literal*")]),
            ("The `link <http://x>`__ and :class:`~a.b.C` and name_\n" + "=" * 50, [(1, "The link and C and name")]),
            ("CMAKE_<LANG>_FLAGS\n------------------\n", [(1, "CMAKE_<LANG>_FLAGS")]),
            ("".join(f"{mark}\n{mark}\n\n" for mark in "=-~^\"'+"), []),
            ("".join(f"abc\n{mark * 3}\n\n" for mark in "=-~^\"'+"), [(min(at, 6), "abc") for at in range(1, 8)]),
            ("text\n====\n====\nAfter\n====\n", [(1, "text"), (2, "After")]),
        ],
    )
    def test_titles_are_found(self, text, found):
        assert headings(text) == found

    @pytest.mark.parametrize(
        "text",
        [
            "Too long\n==\n",
            "two\nlines\n=====\n",
            "  indented\n==========\n",
            ".. comment\n==========\n",
            "para\n\n----\n\npara",
            "- item\n======\n",
            "::\n\n  a\n  =\n",
            "..\n  Title\n  =====\n",
            "Hm\n::\n",
        ],
    )
    def test_what_only_looks_like_a_title_is_none(self, text):
        assert headings(text) == []

    def test_an_endless_title_has_a_short_label(self):
        ((_, label),) = headings("a" + "`" * 50_000 + "\n====\n")
        assert len(label) <= 300


class TestBlocks:
    def test_a_literal_block_ends_with_its_indent(self):
        assert blocks("See::\n\n  a\n\n   b\nc") == [
            ("paragraph", "See::"),
            ("code", "  a\n\n   b"),
            ("paragraph", "c"),
        ]

    def test_two_colons_without_an_indented_block_announce_nothing(self):
        assert blocks("a::\n\nb::\n\n") == [("paragraph", "a::"), ("paragraph", "b::")]

    def test_a_simple_table_without_an_end_is_text(self):
        assert [kind for kind, _ in blocks("== ==\na  b\n\nend")] == ["paragraph", "paragraph"]

    def test_fields_that_open_the_file_are_front_matter(self):
        found = rst(":Title: T\n:Tags: a; b\n\nText\n")
        assert [block.kind for block in found.blocks] == ["front matter", "paragraph"]
        assert found.metadata == {"title": "T", "tags": ["a", "b"]}

    def test_the_meta_directive_is_metadata(self):
        text = "Title\n=====\n\n.. meta::\n   :description: Short words\n   :keywords: a, b\n\nText"
        assert rst(text).metadata == {"description": "Short words", "keywords": ["a", "b"]}

    def test_nothing_gives_nothing(self):
        assert rst("").blocks == rst(" \n\t\n").blocks == ()


class TestDamage:
    @settings(deadline=None, max_examples=60)
    @given(data=mutated(DOCUMENT.encode(), (b"::", b"====", b".. ", b"+-+", b"   ", b"- ")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        read_or_refuse(data, RST)

    def test_being_cut_off_anywhere_is_survived(self):
        survives_being_cut_off(DOCUMENT.encode(), RST)

    @pytest.mark.parametrize("part", ["== ==\n", "a::\n\n", ".. code::\n", "=\n", "`a <", ":a", "+--+\n"])
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        rst(part * 20_000)
