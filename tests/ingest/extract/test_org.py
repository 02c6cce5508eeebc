"""Org keeps its text; headlines, source blocks, tables and keywords are found as Org finds them."""

import pytest
from hypothesis import given, settings

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

ORG = "text/org"
DOCUMENT = """\
:PROPERTIES:
:ID: 4c0b-1
:END:
#+TITLE: Notes on /search/
#+AUTHOR: Jane Doe
#+FILETAGS: :work:index:
#+TODO: IDEA | DROPPED
#+OPTIONS: toc:nil

An introduction.

* TODO [#A] First *bold* [[https://example.org][link]] :urgent:home:
SCHEDULED: <2024-01-01>
:LOGBOOK:
- state changed
:END:
- one
- two
  goes on

  and on
not in the list
** IDEA Code in =python=
#+begin_src python
# not a heading
  * neither
#+end_src
| a | b |
|---+---|
| 1 | 2 |
#+TBLFM: $2=$1
: fixed
: width
text again
* COMMENT Later
#+BEGIN_QUOTE
quoted
#+END_QUOTE
"""


def org(text: str) -> Extracted:
    return check(extract(text.encode(), ORG, "notes.org"))


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in org(text).blocks if block.kind == "heading"]


def blocks(text: str) -> list[tuple[str, str]]:
    extracted = org(text)
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


class TestADocument:
    def test_its_text_is_the_file(self):
        assert org(DOCUMENT).text == DOCUMENT

    def test_headlines_lose_states_priorities_tags_and_markup(self):
        assert headings(DOCUMENT) == [(1, "First bold link"), (2, "Code in python"), (1, "Later")]

    def test_keywords_and_properties_are_metadata(self):
        extracted = org(DOCUMENT)
        assert extracted.title == "Notes on search"
        assert extracted.metadata == {
            "title": "Notes on search",
            "author": "Jane Doe",
            "tags": ["work", "index"],
            "id": "4c0b-1",
        }

    def test_each_kind_of_block_is_recognised(self):
        assert [(kind, text.split("\n")[0]) for kind, text in blocks(DOCUMENT)] == [
            ("front matter", ":PROPERTIES:"),
            ("paragraph", "An introduction."),
            ("heading", "* TODO [#A] First *bold* [[https://example.org][link]] :urgent:home:"),
            ("paragraph", "SCHEDULED: <2024-01-01>"),
            ("list", "- state changed"),
            ("paragraph", ":END:"),
            ("list", "- one"),
            ("list", "  and on"),
            ("paragraph", "not in the list"),
            ("heading", "** IDEA Code in =python="),
            ("code", "#+begin_src python"),
            ("table", "| a | b |"),
            ("code", ": fixed"),
            ("paragraph", "text again"),
            ("heading", "* COMMENT Later"),
            ("paragraph", "#+BEGIN_QUOTE"),
        ]

    def test_chunks_are_cited_by_their_lines_and_headings(self):
        chunks = chunk(org(DOCUMENT), TokenCounter(None))
        code = next(each for each in chunks if "begin_src" in each.text)
        assert code.headings == ("First bold link", "Code in python")
        assert code.level == 2
        assert DOCUMENT.split("\n")[code.first_line - 1] == "** IDEA Code in =python="
        assert DOCUMENT.split("\n")[code.last_line - 1] == "text again"


class TestHeadlines:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("* One\n*** Three\n", [(1, "One"), (3, "Three")]),
            ("******** Eight\n", [(6, "Eight")]),
            ("* TODO\n", [(1, "TODO")]),
            ("* TODOs are many\n", [(1, "TODOs are many")]),
            ("* a/b/c and 2*3*4\n", [(1, "a/b/c and 2*3*4")]),
            ("* [[file:x.org]]\n", [(1, "file:x.org")]),
            ("#+begin_src sh\n* wins over code\n#+end_src\n", [(1, "wins over code")]),
        ],
    )
    def test_headlines_are_found(self, text, found):
        assert headings(text) == found

    @pytest.mark.parametrize("text", [" * item\n", "*bold* text\n", "*\n", "#+begin_src\n ,* escaped\n#+end_src\n"])
    def test_what_only_looks_like_a_headline_is_none(self, text):
        assert headings(text) == []

    def test_the_first_headline_is_the_title_where_no_keyword_gives_one(self):
        assert org("text\n* Head\n").title == "Head"
        assert org("text\n").title is None


class TestDamage:
    @settings(deadline=None, max_examples=60)
    @given(data=mutated(DOCUMENT.encode(), (b"* ", b"#+begin_src\n", b"#+end_src\n", b"| ", b": ", b":END:")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        read_or_refuse(data, ORG)

    def test_being_cut_off_anywhere_is_survived(self):
        survives_being_cut_off(DOCUMENT.encode(), ORG)

    @pytest.mark.parametrize("part", ["#+begin_src\n", "#+begin_src\n#+begin_example\n", "* *a ", "[[a][", ":a: b\n"])
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        org(part * 20_000)

    def test_nothing_gives_nothing(self):
        assert org("").blocks == org(" \n\t\n").blocks == ()
