"""Chunks cover a document exactly, obey their limit, and follow its sections."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from dowse.errors import ConfigError
from dowse.ingest.chunk import check_chunking, chunk
from dowse.ingest.extract import extract
from dowse.text.tokens import TokenCounter
from dowse.types import Chunk, Chunking
from text.tiny_tokenizer import SENTENCES, tiny_tokenizer_json

unhurried = settings(deadline=None)

WORDS = TokenCounter(None)
TOKENS = TokenCounter(tiny_tokenizer_json())

WORD = st.sampled_from(
    ["alpha", "beta.", "Gamma", "it's", "x" * 90, "naïve", "漢字", "名前はまだ無い。", "😀", "e\u0301", "`code`"]
)
SENTENCE = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
CJK = st.lists(
    st.sampled_from(["吾輩は猫である。", "名前はまだ無い", "！", "「どこで生れたか」", "とんと見当がつかぬ？"]),
    min_size=1,
    max_size=40,
)
BLOCK = st.one_of(
    SENTENCE,
    SENTENCE.map(lambda words: words.replace(" ", "\n")),
    CJK.map("".join),
    st.tuples(st.integers(1, 4), WORD).map(lambda made: f"{'#' * made[0]} {made[1]}"),
    WORD.map(lambda word: f"{word}\n===="),
    st.lists(SENTENCE, max_size=12).map(
        lambda lines: "\n".join(["```py", *(f"    {line}" for line in lines), "", "end", "```"])
    ),
    st.lists(SENTENCE, min_size=1, max_size=8).map(
        lambda cells: "\n".join(["| a |", "|---|", *(f"| {cell} |" for cell in cells)])
    ),
    st.lists(SENTENCE, min_size=1, max_size=8).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.sampled_from(["<div>", "</div>", "---", "> quote", "<!--\n\n# no\n-->", "    indented code", "Lead in:"]),
    st.sampled_from(["a\x0bb", "\x0c", "\x85", "a\u2028b", "\u3000", "\t", "\x1c", "trailing  "]),
    st.sampled_from(SENTENCES),
    st.integers(200, 700).map(lambda length: "y" * length),
)
GAP = st.sampled_from(["\n\n", "\n\n", "\n", "\r\n\r\n", "\n \n\t\n", "\r", "\n\n\n\n"])
FRONT_MATTER = st.sampled_from(["", "", "---\ntags: [a, b]\n---\n", "---\ndescription: " + "word " * 60 + "\n---\n"])
DOCUMENT = st.tuples(FRONT_MATTER, st.lists(st.tuples(BLOCK, GAP), max_size=20)).map(
    lambda made: made[0] + "".join(block + gap for block, gap in made[1])
)
LIMITS = st.sampled_from([16, 24, 40, 64, 256])
MEDIA_TYPES = st.sampled_from(["text/markdown", "text/plain"])


def cut(text: str, max_tokens: int = 20, *, counter: TokenCounter = WORDS, **settings: int) -> list[Chunk]:
    extracted = extract(text.encode(), "text/markdown", "note.md")
    return list(chunk(extracted, counter, Chunking(max_tokens, **({"min_tokens": 4} | settings))))


def texts(text: str, max_tokens: int = 20, **settings: int) -> list[str]:
    return [each.text for each in cut(text, max_tokens, **settings)]


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


class TestEveryDocument:
    @unhurried
    @given(document=DOCUMENT, media_type=MEDIA_TYPES, limit=LIMITS, counter=st.sampled_from([WORDS, TOKENS]))
    def test_chunks_are_exact_spans_in_order_within_the_limit(self, document, media_type, limit, counter):
        extracted = extract(document.encode(), media_type, "a")
        chunks = chunk(extracted, counter, Chunking(limit, min_tokens=limit // 8))
        position = 0
        for each in chunks:
            assert each.text == extracted.text[each.start : each.end]
            assert each.text.strip()
            assert not extracted.text[position : each.start].strip(), "only white space is left out"
            assert position <= each.start
            assert each.tokens == counter.count(each.text) <= limit
            assert each.first_line == 1 + extracted.text.count("\n", 0, each.start)
            assert each.last_line == 1 + extracted.text.count("\n", 0, each.end)
            position = each.end
        assert not extracted.text[position:].strip()

    @unhurried
    @given(document=DOCUMENT, limit=LIMITS)
    def test_no_chunk_crosses_into_another_section(self, document, limit):
        extracted = extract(document.encode(), "text/markdown", "a")
        headings = {block.start: block for block in extracted.blocks if block.kind == "heading"}
        for each in chunk(extracted, TOKENS, Chunking(limit, min_tokens=0)):
            inside = [block for block in extracted.blocks if each.start <= block.start < each.end]
            body_seen = False
            for block in inside:
                if block.start in headings:
                    assert not body_seen
                elif block.kind != "front matter":
                    body_seen = True

    @unhurried
    @given(document=DOCUMENT, overlap=st.sampled_from([4, 8, 16]))
    def test_an_overlap_repeats_but_loses_nothing_and_keeps_the_limit(self, document, overlap):
        extracted = extract(document.encode(), "text/markdown", "a")
        chunks = chunk(extracted, TOKENS, Chunking(40, min_tokens=4, overlap_tokens=overlap))
        position, start = 0, 0
        for each in chunks:
            assert each.text == extracted.text[each.start : each.end]
            assert each.tokens == TOKENS.count(each.text) <= 40
            assert start <= each.start
            assert not extracted.text[position : max(position, each.start)].strip()
            assert TOKENS.count(extracted.text[each.start : max(position, each.start)]) <= overlap
            assert each.first_line == 1 + extracted.text.count("\n", 0, each.start)
            position, start = each.end, each.start
        assert not extracted.text[position:].strip()


class TestSections:
    def test_a_small_section_is_a_chunk_of_its_own(self):
        assert texts("# A\n\none\n\n# B\n\ntwo") == ["# A\n\none", "# B\n\ntwo"]

    def test_the_heading_path_leads_to_the_section(self):
        chunks = cut("intro\n\n# A\n\na\n\n### *Deep*\n\nb\n\n## B `c`\n\nd\n\n# E\n\nf")
        assert [each.headings for each in chunks] == [(), ("A",), ("A", "Deep"), ("A", "B c"), ("E",)]

    def test_a_heading_without_a_body_opens_the_deeper_section_below_it(self):
        chunks = cut("# Book\n\n## Chapter\n\n### Part\n\ntext\n\n### Next\n\nmore")
        assert [(each.text, each.headings) for each in chunks] == [
            ("# Book\n\n## Chapter\n\n### Part\n\ntext", ("Book", "Chapter", "Part")),
            ("### Next\n\nmore", ("Book", "Chapter", "Next")),
        ]

    def test_a_heading_without_a_body_before_its_equal_stands_alone(self):
        assert texts("# A\n\n# B\n\ntext\n\n## C") == ["# A", "# B\n\ntext", "## C"]

    def test_a_section_starts_at_its_heading_even_when_what_follows_fills_a_chunk(self):
        chunks = cut(f"# Head\n\n{words(19)}", 20)
        assert chunks[0].text.startswith("# Head\n\nword")
        assert len(chunks) == 2

    def test_every_chunk_of_a_long_section_carries_its_headings(self):
        chunks = cut(f"# A\n\n{words(50)}", 20)
        assert len(chunks) == 3
        assert {each.headings for each in chunks} == {("A",)}

    def test_an_empty_heading_names_nothing(self):
        assert cut("#\n\ntext")[0].headings == ()


class TestFrontMatter:
    def test_short_front_matter_opens_the_first_section(self):
        (only,) = cut("---\ntags: a\n---\n# A\n\ntext", 40)
        assert only.text.startswith("---\ntags: a")
        assert only.headings == ("A",)

    def test_long_front_matter_is_a_chunk_of_its_own(self):
        chunks = cut(f"---\nabout: {words(8)}\n---\n# A\n\ntext", 40)
        assert [each.headings for each in chunks] == [(), ("A",)]
        assert chunks[1].text == "# A\n\ntext"

    def test_front_matter_alone_is_searchable(self):
        assert texts("---\ntags: a\n---\n") == ["---\ntags: a\n---"]


class TestSplitting:
    def test_short_paragraphs_are_merged_inside_their_section(self):
        assert len(texts("\n\n".join(words(4) for _ in range(5)), 20)) == 1

    def test_a_run_of_paragraphs_is_split_evenly(self):
        sizes = [each.tokens for each in cut("\n\n".join(words(5) for _ in range(6)), 20)]
        assert sizes == [15, 15]

    def test_a_long_paragraph_is_split_at_sentence_ends(self):
        text = f"{words(9).capitalize()}. {words(9).capitalize()}? {words(9).capitalize()}! {words(9).capitalize()}."
        assert all(part[0] == "W" and part[-1] in ".?!" for part in texts(text, 24))

    def test_an_abbreviation_does_not_end_a_sentence(self):
        text = f"{words(12)} e.g. {words(12)}. Then {words(12)} i.e. {words(12)}."
        assert [part.split()[0] for part in texts(text, 32)] == ["word", "Then"]

    def test_a_sentence_without_end_is_split_at_words(self):
        parts = cut(words(100), 20)
        assert {word for part in parts for word in part.text.split()} == {"word"}
        assert {part.tokens for part in parts} == {20}

    def test_japanese_is_split_at_its_full_stops(self):
        parts = cut("吾輩は猫である。名前はまだ無い。" * 40, 128, counter=TOKENS)
        assert len(parts) > 1
        assert all(part.text.endswith("。") for part in parts)

    def test_text_without_any_borders_is_split_anywhere_but_not_before_accents(self):
        parts = [part for count in range(290, 300) for part in cut("e\u0301" * count, 64, counter=TOKENS)]
        assert len(parts) > 1
        assert all(part.text[0] == "e" for part in parts)

    def test_parts_that_need_more_tokens_together_than_apart_still_keep_the_limit(self):
        # "abcd" is a-bc-d, three tokens, but "ab" and "cd" are one each.
        vocabulary = {token: number for number, token in enumerate(["a", "b", "c", "d", "bc", "ab", "cd"])}
        tokenizer = Tokenizer(BPE(vocabulary, [("b", "c"), ("a", "b"), ("c", "d")]))
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        counter = TokenCounter(tokenizer.to_str().encode())
        for length in range(40, 160):
            text = ("abcd" * 40)[:length]
            parts = cut(text, 16, counter=counter)
            assert "".join(part.text for part in parts) == text
            assert all(part.tokens == counter.count(part.text) <= 16 for part in parts)

    def test_code_that_fits_is_kept_whole(self):
        fence = f"```\n{words(5)}\n\n{words(5)}\n```"
        assert fence in texts(f"{words(8)}\n\n{fence}\n\n{words(8)}", 20)

    def test_long_code_is_split_at_empty_lines_and_keeps_its_indent(self):
        code = "\n\n".join(f"    def {name}():\n        {words(4, name)}" for name in "abcdef")
        parts = texts(f"```\n{code}\n```", 40)
        assert len(parts) > 1
        assert all(part.startswith("    def") for part in parts[1:])

    def test_a_long_table_is_split_between_rows(self):
        rows = "\n".join(f"| {number} | cell |" for number in range(30))
        parts = texts(f"| a | b |\n|---|---|\n{rows}", 40)
        assert len(parts) > 1
        assert all(part.startswith("| ") and part.endswith(" |") for part in parts)

    def test_a_long_list_is_split_between_items(self):
        items = "\n".join(f"- {words(4)}\n  {words(2)}" for _ in range(12))
        parts = texts(items, 32)
        assert len(parts) > 1
        assert all(part.startswith("- ") for part in parts)

    def test_an_introduction_stays_with_what_it_introduces(self):
        text = f"{words(10)}\n\nSee this:\n\n```\n{words(4)}\n```\n\n{words(10)}"
        assert any("See this:\n\n```" in part for part in texts(text, 32))

    def test_no_tiny_rest_is_left_behind(self):
        assert min(each.tokens for each in cut("\n\n".join(words(10) for _ in range(21)), 100, min_tokens=20)) >= 60

    def test_a_text_longer_than_a_window_is_covered(self):
        text = f"{words(30)}.\n" * 1_000 + "z" * 70_000
        parts = cut(text, 256)
        assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())


class TestOverlap:
    def test_a_chunk_repeats_the_end_of_the_one_before_it_from_a_sentence_on(self):
        text = " ".join(f"Sentence {number} has words." for number in range(20))
        parts = texts(text, 40, overlap_tokens=10)
        for before, after in pairwise(parts):
            repeated = after[: after.index(".") + 1]
            assert repeated.startswith("Sentence")
            assert before.endswith(repeated) or repeated in before

    def test_sections_do_not_overlap(self):
        assert texts("# A\n\none\n\n# B\n\ntwo", 40, overlap_tokens=10) == ["# A\n\none", "# B\n\ntwo"]


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [{"max_tokens": 4}, {"min_tokens": -1}, {"overlap_tokens": 129}, {"overlap_tokens": -1}],
    )
    def test_what_cannot_work_is_refused(self, wrong):
        with pytest.raises(ConfigError):
            check_chunking(Chunking(**wrong))

    def test_nothing_gives_no_chunks(self):
        assert cut("") == cut(" \n\n\t") == []
