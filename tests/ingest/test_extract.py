"""Bytes become text with true lines, blocks with exact spans, a title and metadata."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.extract import Extracted, extract, media_type_of

unhurried = settings(deadline=None)

LINES = st.lists(
    st.sampled_from(
        [
            *("", "", " ", "\t", "\x0c", "\u3000", "text", "  text  ", "    code", "\tcode", "two words. And more"),
            *(
                "# One",
                "## Two ##",
                "### *Three* {#id}",
                "#",
                "#tag",
                "   # indented",
                "===",
                "---",
                "- - -",
                "***",
                "-",
            ),
            *("- item", "  - nested", "1. first", "2) second", "+", "```", "```python", "~~~", "````", "    ```"),
            *("| a | b |", "|---|:-:|", "a | b", "--- | ---", "> quote", "> # no", "<!--", "-->", "<div>", "</div>"),
            *("<pre>", "</pre>", "<https://a.b>", "<b>x</b> y", "a\x0bb", "a\u2028b", "a\x85b", "漢字。", "[l]: u"),
        ]
    ),
    max_size=25,
)
MARKDOWN = st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])).map(lambda made: made[1].join(made[0]))


def markdown(text: str) -> Extracted:
    return extract(text.encode(), "text/markdown", "note.md")


def kinds(text: str) -> list[tuple[str, str]]:
    extracted = markdown(text)
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in markdown(text).blocks if block.kind == "heading"]


def assert_blocks_hold_everything_but_white_space(extracted: Extracted) -> None:
    position = 0
    for block in extracted.blocks:
        assert position <= block.start < block.end
        assert not extracted.text[position : block.start].strip()
        assert block.start == 0 or extracted.text[block.start - 1] == "\n"
        assert not extracted.text[block.end - 1].isspace()
        position = block.end
    assert not extracted.text[position:].strip()


class TestNames:
    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            ("a.md", "text/markdown"),
            ("A.MD", "text/markdown"),
            ("v1.2.markdown", "text/markdown"),
            ("a.txt", "text/plain"),
            ("docs/README", "text/plain"),
            ("LICENSE", "text/plain"),
            ("a.pdf", "application/pdf"),
            ("a.bin", None),
            ("md", None),
            (".md", None),
            ("notes.md.bak", None),
        ],
    )
    def test_the_name_decides_the_media_type(self, name, media_type):
        assert media_type_of(name) == media_type

    def test_a_type_that_nobody_reads_is_refused(self):
        with pytest.raises(SourceError) as caught:
            extract(b"", "image/png", "a.png")
        assert caught.value.reason == "unsupported"
        assert "text/markdown" in caught.value.hint


class TestEncodings:
    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
    )  # the last two write a byte order mark
    def test_unicode_is_read_with_and_without_a_mark(self, encoding):
        assert extract("naïve 漢字 😀".encode(encoding), "text/plain", "a").text == "naïve 漢字 😀"

    def test_big_endian_is_read_too(self):
        assert extract(b"\xfe\xff\x00a\x00\xe9", "text/plain", "a").text == "aé"

    def test_what_is_not_utf_8_is_taken_for_windows_text(self):
        assert extract("“Größe” – 5 €".encode("cp1252"), "text/plain", "a").text == "“Größe” – 5 €"

    def test_bytes_that_windows_does_not_know_are_latin_1(self):
        assert extract(b"gr\xf6\x81e", "text/plain", "a").text == "grö\x81e"

    def test_a_few_broken_bytes_in_utf_8_are_replaced(self):
        assert extract("Größe naïve Übung".encode() + b" \xff!", "text/plain", "a").text == "Größe naïve Übung \ufffd!"

    @pytest.mark.parametrize(
        "data", [b"\x89PNG\r\n\x1a\n\0\0\0", b"text\0text", bytes(range(1, 32)) * 9, "a".encode("utf-16-le")]
    )
    def test_what_is_no_text_is_refused_with_a_hint(self, data):
        with pytest.raises(SourceError) as caught:
            extract(data, "text/plain", "a.txt")
        assert caught.value.reason == "binary"
        assert "a.txt" in caught.value.message
        assert caught.value.hint

    def test_colours_of_a_terminal_are_text(self):
        assert "\x1b[31m" in extract(b"\x1b[31mred\x1b[0m\n" * 50, "text/plain", "a").text

    def test_a_late_nul_is_replaced(self):
        assert extract(b"a" * 9_000 + b"\0b", "text/plain", "a").text.endswith("a\ufffdb")

    @pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
    def test_every_line_end_becomes_one_newline(self, end):
        assert extract(f"a{end}{end}b{end}".encode(), "text/plain", "a").text == "a\n\nb\n"

    @unhurried
    @given(data=st.binary(max_size=60))
    def test_any_bytes_become_storable_text_or_a_refusal(self, data):
        try:
            text = extract(data, "text/plain", "a").text
        except SourceError:
            return
        text.encode()
        assert "\r" not in text
        assert "\0" not in text


class TestPlainText:
    def test_paragraphs_lie_between_empty_lines(self):
        extracted = extract(b"\n\n  one\ntwo  \n \t\nthree\n", "text/plain", "a")
        assert [extracted.text[block.start : block.end] for block in extracted.blocks] == ["  one\ntwo", "three"]
        assert extracted.title is None

    @unhurried
    @given(text=MARKDOWN)
    def test_blocks_hold_everything_but_white_space(self, text):
        assert_blocks_hold_everything_but_white_space(extract(text.encode(), "text/plain", "a"))

    def test_nothing_gives_nothing(self):
        assert extract(b"", "text/plain", "a").blocks == ()
        assert extract(b" \n\n\t\n", "text/markdown", "a").blocks == ()


class TestMarkdownBlocks:
    @unhurried
    @given(text=MARKDOWN)
    def test_blocks_hold_everything_but_white_space(self, text):
        assert_blocks_hold_everything_but_white_space(markdown(text))

    def test_the_text_is_the_whole_file(self):
        text = "---\ntitle: T\n---\n\n# H\n\nbody\n"
        assert markdown(text).text == text

    def test_each_kind_is_recognised(self):
        text = (
            "para\nmore\n\n- a\n  b\n- c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```py\n# no\n\nx\n```\n"
            "<div>\n# no\n</div>\n\n    indented\n\n<!-- a\n\n# no -->\nend"
        )
        assert [kind for kind, _ in kinds(text)] == [
            *("paragraph", "list", "table", "code", "html", "code", "html", "paragraph")
        ]

    def test_a_table_begins_at_its_head_and_not_with_the_line_above_it(self):
        assert kinds("lead in\na | b\n--|--\n1 | 2\n\nend") == [
            ("paragraph", "lead in"),
            ("table", "a | b\n--|--\n1 | 2"),
            ("paragraph", "end"),
        ]

    def test_a_list_may_interrupt_a_paragraph_but_a_year_does_not(self):
        assert kinds("These:\n- a\n- b") == [("paragraph", "These:"), ("list", "- a\n- b")]
        assert kinds("It was in\n1984. Good times.") == [("paragraph", "It was in\n1984. Good times.")]

    def test_a_fence_ends_only_at_a_fence_of_its_kind_and_length(self):
        assert kinds("````\n```\n~~~~\n````  \nend") == [("code", "````\n```\n~~~~\n````"), ("paragraph", "end")]

    def test_a_fence_in_a_list_item_is_code(self):
        assert kinds("1. Do:\n\n    ```sh\n# no heading\n    ```\n\n2. Done") == [
            ("list", "1. Do:"),
            ("code", "    ```sh\n# no heading\n    ```"),
            ("list", "2. Done"),
        ]

    def test_rules_and_indented_marks_are_what_they_look_like(self):
        assert kinds("a\n\n* * *\n\n    - no list\n\n    ```\n\n**bold**\n\n5 apples") == [
            ("paragraph", "a"),
            ("paragraph", "* * *"),
            ("code", "    - no list"),
            ("code", "    ```"),
            ("paragraph", "**bold**"),
            ("paragraph", "5 apples"),
        ]

    def test_inline_code_of_three_ticks_opens_no_fence(self):
        assert headings("```x``` is code\n\n# Real") == [(1, "Real")]

    def test_an_open_fence_or_comment_reaches_to_the_end(self):
        assert kinds("```\n# no\n\nend") == [("code", "```\n# no\n\nend")]
        assert kinds("<!--\n# no\n\nend") == [("html", "<!--\n# no\n\nend")]


class TestHeadings:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("# One", (1, "One")),
            ("###### Six ######", (6, "Six")),
            ("   ## Indented", (2, "Indented")),
            ("#\tTab", (1, "Tab")),
            ("# C#", (1, "C#")),
            ("Setext\n======", (1, "Setext")),
            ("Two\nlines\n---", (2, "Two lines")),
            ("# `Vec<T>` and *emphasis* and __strong__", (1, "Vec<T> and emphasis and strong")),
            ("# [Link](http://a.b/c_(d)) ![alt](i.png) [ref][1]", (1, "Link alt ref")),
            ("# snake_case_name and 2 * 3 * 4", (1, "snake_case_name and 2 * 3 * 4")),
            (r"# \*literal\* &amp; more <br>", (1, "*literal* & more")),
            ("# Title {#anchor .class}", (1, "Title")),
            ("# [Outer *inner*](x) ~~gone~~", (1, "Outer inner gone")),
            ("# <https://a.b/>", (1, "https://a.b/")),
            ("# Set {a, b}", (1, "Set {a, b}")),
        ],
    )
    def test_headings_are_found_and_stripped_of_markup(self, text, found):
        assert headings(text) == [found]

    @pytest.mark.parametrize(
        "text",
        [
            "#tag",
            "####### seven",
            "    # code",
            "```\n# comment\n```",
            "<!-- \n# comment\n-->",
            "<pre>\n\n# shown\n\n</pre>",
            "> # quoted",
            "> quoted\n---",
            "- item\n\n  # in the item",
            "- item\n---",
            "one\ntwo\nthree\n---",
            "| a |\n|---|",
        ],
    )
    def test_what_only_looks_like_a_heading_is_none(self, text):
        assert headings(text) == []

    def test_an_endless_heading_has_a_short_label(self):
        ((_, label),) = headings("# " + "[" * 50_000)
        assert len(label) <= 300


class TestTitle:
    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("---\ntitle: From  front\n---\n# Heading", "From front"),
            ("---\ntitle: 2024\n---\n", "2024"),
            ("---\ntitle: [a]\n---\n# Heading", "Heading"),
            ("---\ntags: [a]\n---\n# Heading", "Heading"),
            ("intro\n\n## Second level first", "Second level first"),
            ("```\n# comment\n```\n\nReal\n====", "Real"),
            ("#\n\n# Named", "Named"),
            ("no heading", None),
            ("", None),
        ],
    )
    def test_front_matter_or_the_first_heading_gives_it(self, text, title):
        assert markdown(text).title == title


class TestFrontMatter:
    def test_values_become_flat_metadata(self):
        text = (
            "---\ntitle: T\nn: 3\nf: 1.5\nyes: true\nday: 2024-05-06\nat: 2024-05-06T07:08:09Z\nnone:\n"
            "tags: [a, 2, true, 2024-01-01, {x: y}]\nauthor: {name: N, links: {web: w}}\nlist: [{a: b}]\nempty: []\n"
            "nan: .nan\nhuge: 99999999999999999999\n---\n"
        )
        assert markdown(text).metadata == {
            "title": "T",
            "n": 3,
            "f": 1.5,
            "True": True,
            "day": "2024-05-06",
            "at": "2024-05-06T07:08:09+00:00",
            "tags": ["a", "2", "true", "2024-01-01"],
            "author.name": "N",
            "author.links.web": "w",
            "empty": [],
            "huge": "99999999999999999999",
        }

    def test_it_is_one_block_of_the_text(self):
        assert kinds("---\na: b\n...\nbody") == [("front matter", "---\na: b\n..."), ("paragraph", "body")]

    @pytest.mark.parametrize(
        "source",
        [
            "a: b: c",
            "a: [1, 2",
            "title: x\nday: 2024-99-99",
            "a: &x [1]\nb: *x",
            "a: " + "[" * 40 + "]" * 40,
            "a: " + "[" * 60_000,
            "a: !!python/object:os.system x",
            "a: \tb\x01",
        ],
    )
    def test_what_is_malformed_or_refused_is_text_without_metadata(self, source):
        extracted = markdown(f"---\n{source}\n---\n\n# Heading\n")
        assert extracted.metadata == {}
        assert extracted.title == "Heading"
        assert [block.kind for block in extracted.blocks] == ["front matter", "heading"]

    @pytest.mark.parametrize(
        "text",
        [
            "\n---\na: b\n---\n",
            "---\n\nA rule above.\n\n---\n",
            "---\njust prose here\n---\n",
            "---\na: b\n",
            "----\na: b\n----\n",
            "---\na: " + "x" * 70_000 + "\n---\n",
        ],
    )
    def test_what_does_not_open_the_file_and_close_soon_is_none(self, text):
        extracted = markdown(text)
        assert extracted.metadata == {}
        assert extracted.blocks[0].kind != "front matter"

    def test_yaml_is_imported_only_for_front_matter(self):
        script = (
            "import sys; from dowse.ingest.extract import extract\n"
            "extract(b'# Title', 'text/markdown', 'a'); assert 'yaml' not in sys.modules\n"
            "assert extract(b'---\\na: b\\n---', 'text/markdown', 'a').metadata == {'a': 'b'}"
        )
        subprocess.run([sys.executable, "-c", script], check=True)
