"""The lines of a passage that answer best: whole, truly numbered, with the query's words marked."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contract.builders import make_draft, put_texts
from dowse.errors import ModelError
from dowse.ports import Store
from dowse.search.matching import Matcher
from dowse.search.pipeline import Models, answer
from dowse.search.snippet import snippet
from dowse.text.analyse import analyse, query_terms
from dowse.types import Chunk, Query, Snippet
from search.asking import EMBEDDER, IDENTITY, ask, embed_all

LENGTH = 300


def chunk_of(text: str, *, start: int = 0, first_line: int = 1) -> Chunk:
    return Chunk(text, start, start + len(text), first_line, first_line + text.count("\n"), tokens=1)


def shown(query: str, text: str) -> Snippet:
    return snippet(chunk_of(text), Matcher(query_terms(query)))


def marked(query: str, text: str) -> list[str]:
    """The words of a short text that a query marks."""
    found = shown(query, text)
    return [found.text[start:end] for start, end in found.highlights]


def lines(count: int, **special: str) -> str:
    """Numbered lines of forty characters, some of them special: `l7="…"`."""
    return "\n".join(special.get(f"l{number}", f"line {number:03} {'filler ' * 4}xx") for number in range(1, count + 1))


# What is marked


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("tea", "Tea, (tea) teapot TEA!", ["Tea", "tea", "TEA"]),
        ("handling", "handles handled handling handler hand", ["handles", "handled", "handling"]),
        ("happy", "happiness, happier people", ["happiness"]),
        ("use", "using used uses user us", ["using", "used", "uses"]),
        ("writing", "write writing writes", ["write", "writing", "writes"]),
        ("possible", "the possibility", ["possibility"]),
        ("sky", "skies", ["skies"]),
        ("cat", "concatenate a category of cats", ["cats"]),
        ("the cat", "the cat", ["cat"]),
        ("the who", "The Who", ["The", "Who"]),
        ("could", "Couldn't? Couldn’t.", ["Couldn't", "Couldn’t"]),
        ("rust", "Rust's", ["Rust"]),
        ("x", "x, y and xx", ["x"]),
    ],
)
def test_every_form_of_a_word_is_marked_and_no_other_word(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("name", "getUserName user_name rename", ["getUserName", "user_name"]),
        ("getUserName", "call getUserName()", ["getUserName"]),
        ("getUserName", "a user and a name", ["user", "name"]),
        (
            "username",
            "getUserName user_name user-name user.name users",
            ["getUserName", "user_name", "user-name", "user.name"],
        ),
        ("user-name", "username", ["username"]),
        ("wifi", "Wi-Fi, wifi, wife", ["Wi-Fi", "wifi"]),
        ("i18n", "see src/lib/i18n.ts", ["i18n"]),
        ("src/lib/i18n.ts", "in (src/lib/i18n.ts).", ["src/lib/i18n.ts"]),
        ("2026.4.10", "v2026.4.10 and 2026", ["v2026", "4", "10", "2026"]),
        ("c++", "C++ or Java", ["C++"]),
        ("c#", "C# or Java", ["C#"]),
        (".net", "use .NET", ["NET"]),
        ("python3", "python 3 and python3", ["python", "3", "python3"]),
        ("x+b (c|d) [e]* $^", "b d e x.c", ["b", "d", "e", "x", "c"]),
    ],
)
def test_identifiers_are_marked_by_name_part_and_joined_parts(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("busqueda", "la búsqueda, BÚSQUEDA, bu\u0301squeda", ["búsqueda", "BÚSQUEDA", "bu\u0301squeda"]),
        ("búsqueda", "busqueda", ["busqueda"]),
        ("strasse", "Straße STRASSE", ["Straße", "STRASSE"]),
        ("istanbul", "in İstanbul", ["İstanbul"]),
        ("naive cafe", "“naïve” café—bar", ["naïve", "café"]),
        ("мир", "миру мир", ["миру", "мир"]),
        ("Αθήνα", "στην Αθηνα", ["Αθηνα"]),
        ("हिन्दी", "यह हिन्दी है", ["हिन्दी"]),
        ("dokument", "Do\u00adku\u00adment", ["Do\u00adku\u00adment"]),
        ("don't panic", "Don’t panic", ["panic"]),
        ("api", "ＡＰＩ und API", ["ＡＰＩ", "API"]),
        ("€ 😀", "5 € 😀", ["€", "😀"]),
    ],
)
def test_words_are_marked_in_any_spelling_that_the_index_takes_for_the_same(
    query: str, text: str, expected: list[str]
) -> None:
    assert marked(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("数据库", "这是数据库系统", ["数据库"]),
        ("数据库", "数字和数据", ["数据"]),
        ("数据库", "数字", ["数"]),
        ("库", "仓库", ["库"]),
        ("検索エンジン", "全文検索のエンジン", ["検索", "エンジン"]),
        ("검색", "검색을 합니다", ["검색"]),
        ("api", "検索API設計", ["API"]),
        ("数据 api", "数据api接口", ["数据api"]),
        ("ไทย", "ภาษาไทยง่าย", ["ไทย"]),
    ],
)
def test_in_scripts_without_spaces_only_what_is_meant_is_marked(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


WORDS = (
    "use using user useful tea teas handle handling hope hoping hop running runner possibility possible capable "
    "getUserName user_name userName src/lib/i18n.ts don't Wi-Fi node.js c++ v1.2.3 HTTPServer caching cache easily "
    "early skies sky flies fly agreed agree relational conditional naïve café Straße Привет мира 数据库 検索 검색을"
)
words = st.sampled_from(WORDS.split())


@given(query=st.lists(words, min_size=1, max_size=4), text=st.lists(words, min_size=1, max_size=8))
def test_every_word_that_the_index_matches_is_marked(query: list[str], text: list[str]) -> None:
    terms = set(query_terms(" ".join(query)))
    found = Matcher(list(terms)).matches(" ".join(text))
    at = 0
    for word in text:
        spans = [span for span in found if at <= span[0] and span[1] <= at + len(word)]
        assert bool(spans) == bool(terms.intersection(analyse(word)))
        at += len(word) + 1


# Which lines are shown


def test_a_short_passage_is_shown_whole() -> None:
    text = "# Tea\n\nGreen tea.\n\tBlack tea."
    assert shown("black", text) == Snippet(text, 1, 0, ((19, 24),))


def test_the_lines_around_the_match_are_shown_one_before_and_the_rest_after() -> None:
    found = shown("harbour", lines(40, l20="here is the harbour"))
    assert found.first_line == 19
    assert found.text.split("\n")[1] == "here is the harbour"
    assert LENGTH - 45 < len(found.text) <= LENGTH


def test_where_nothing_follows_the_match_more_is_shown_before_it() -> None:
    found = shown("harbour", lines(40, l40="here is the harbour"))
    assert found.text.endswith("here is the harbour")
    assert LENGTH - 45 < len(found.text) <= LENGTH


def test_without_any_match_the_beginning_is_shown() -> None:
    found = shown("harbour", lines(40))
    assert found.first_line == 1
    assert found.text.startswith("line 001")
    assert found.highlights == ()


def test_more_of_the_words_beat_more_of_the_same_word() -> None:
    text = lines(60, l5="tea tea tea tea", l30="green tea", l55="green green tea")
    assert "green green tea" in shown("green tea", text).text
    text = lines(60, l5="tea tea tea tea", l30="green tea", l55="green tea")
    assert shown("green tea", text).first_line == 29


def test_blank_lines_at_the_ends_are_left_out_and_indentation_is_kept() -> None:
    text = "\n \n\t\n    indented tea\n\n\n  more  \n\n \n"
    assert shown("tea", text) == Snippet("    indented tea\n\n\n  more", 4, 5, ((13, 16),))


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \n\t\n"])
def test_a_blank_passage_has_an_empty_snippet(text: str) -> None:
    assert shown("tea", text).text == ""


def test_a_line_that_is_too_long_is_cut_at_words_around_the_match() -> None:
    text = " ".join(["word"] * 200 + ["harbour"] + ["word"] * 200)
    found = shown("harbour", text)
    assert set(found.text.split(" ")) == {"word", "harbour"}
    assert LENGTH - 10 < len(found.text) <= LENGTH
    (start, end) = found.highlights[0]
    assert found.text[start:end] == "harbour"
    assert 20 < start < 200
    assert found.first_line == 1


def test_a_long_line_is_shown_where_most_of_the_words_are() -> None:
    text = "tea " + "word " * 100 + "green tea in the harbour " + "word " * 100 + "green tea"
    assert "green tea in the harbour" in shown("green tea harbour", text).text


def test_a_heading_is_shown_with_the_beginning_of_the_long_line_below_it() -> None:
    found = shown("harbour", "# Harbour\n\n" + "It is a place for ships. " * 40)
    assert found.text.startswith("# Harbour\n\nIt is a place")
    assert len(found.text) > LENGTH // 2


def test_what_has_no_spaces_is_cut_anywhere() -> None:
    found = shown("数据库", "很" * 500 + "数据库" + "长" * 500)
    assert "数据库" in found.text
    assert LENGTH - 100 < len(found.text) <= LENGTH


def test_line_numbers_are_those_of_the_document(store: Store) -> None:
    text = lines(30, l10="", l20="") + "\n\n" + lines(30, l7="here is the harbour")
    store.put([make_draft("a.md", text)])
    hit = ask(store, "harbour", mode="lex").hits[0]
    numbered = text.split("\n")
    last_line = hit.snippet.first_line + hit.snippet.text.count("\n")
    assert "\n".join(numbered[hit.snippet.first_line - 1 : last_line]) == hit.snippet.text
    assert "here is the harbour" in hit.snippet.text
    assert hit.chunk.first_line <= hit.snippet.first_line <= last_line <= hit.chunk.last_line


# Whatever is asked of whatever text

WORDLIKE = "tea Tea harbour handles user_name Wi-Fi café e\u0301 数据库 数 ไทย 😀 İ ß"
BETWEEN = (" ", "\n", "\t", "\r\n", "\n\n", ". ", "-", "_", "/", "\u3000", "\x1c", "\0")
pieces = st.sampled_from([*WORDLIKE.split(), *BETWEEN, "x" * 120, "长" * 120, " word" * 30])
texts = st.one_of(
    st.lists(pieces, max_size=40).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.text("ab \n", max_size=600),
)
queries = st.lists(pieces, min_size=1, max_size=5).map(" ".join) | st.text(
    st.characters(exclude_categories=()), max_size=20
)


@settings(max_examples=300, deadline=None)
@given(query=queries, text=texts, start=st.integers(0, 1_000), first_line=st.integers(1, 1_000))
@example(query="İ", text="İİ İ\nİx", start=0, first_line=1)
@example(query="a", text="a" * 10_000, start=0, first_line=1)
@example(query="a b", text="a.b" * 5_000, start=0, first_line=1)
def test_a_snippet_always_stands_where_it_says_and_marks_what_is_inside(
    query: str, text: str, start: int, first_line: int
) -> None:
    chunk = chunk_of(text, start=start, first_line=first_line)
    terms = query_terms(query)
    found = snippet(chunk, Matcher(terms))
    at = found.start - chunk.start
    assert text[at : at + len(found.text)] == found.text
    assert found.first_line == first_line + text.count("\n", 0, at)
    assert len(found.text) <= LENGTH
    assert found.text.rstrip() == found.text
    assert bool(found.text) == bool(text.strip())
    end = 0
    for first, last in found.highlights:
        assert end <= first < last <= len(found.text)
        end = last
        if last < len(found.text):
            assert set(terms).intersection(analyse(found.text[first:last]))


@settings(max_examples=200, deadline=None)
@given(query=queries, text=texts)
def test_lines_are_shown_whole_unless_they_are_longer_than_a_snippet(query: str, text: str) -> None:
    found = shown(query, text)
    whole = text.split("\n")
    for number, line in enumerate(found.text.split("\n"), start=found.first_line - 1):
        if len(whole[number]) <= LENGTH:
            assert line.rstrip() == whole[number].rstrip()


@given(st.lists(st.text(st.sampled_from("ab数据库 \n-_,."), max_size=20), min_size=2, max_size=4))
@example(["数据库", "数"])
def test_several_texts_match_as_lines_under_each_other_do(texts: list[str]) -> None:
    terms = query_terms("a ab-b 数据库")
    assert Matcher(terms).matches(*texts) == Matcher(terms).matches("\n".join(texts))


# What chooses the lines


def test_a_word_that_is_worth_more_beats_several_common_ones() -> None:
    text = lines(40, l5="the report of the year", l30="a neutrino was seen")
    terms = ["report", "year", "neutrino"]
    assert "report" in snippet(chunk_of(text), Matcher(terms)).text
    assert "neutrino" in snippet(chunk_of(text), Matcher(terms), [1.0, 1.0, 5.0]).text


def test_a_passage_without_any_of_the_words_is_shown_by_meaning_and_else_meaning_is_not_asked() -> None:
    asked: list[list[str]] = []

    def nearest(texts: Sequence[str]) -> int:
        asked.append(list(texts))
        return next(number for number, each in enumerate(texts) if "line 033" in each)

    text = lines(40)
    found = snippet(chunk_of(text), Matcher(["tea"]), None, nearest)
    assert "line 033" in found.text
    assert found.highlights == ()
    assert text[found.start : found.start + len(found.text)] == found.text
    assert all(0 < len(each) <= LENGTH for each in asked[0])
    snippet(chunk_of(text), Matcher(["filler"]), None, nearest)
    snippet(chunk_of("One line."), Matcher(["tea"]), None, nearest)
    assert len(asked) == 1


def test_a_search_by_meaning_shows_the_lines_with_its_words(store: Store) -> None:
    put_texts(store, {"long.md": lines(40, l30="where the copper kettle stood")})
    embed_all(store)
    best = ask(store, "copper kettle", mode="vec", limit=1).hits[0].snippet
    assert [best.text[start:end] for start, end in best.highlights] == ["copper", "kettle"]


def test_a_model_that_fails_after_the_question_costs_the_choice_of_lines_alone(store: Store) -> None:
    def failing(_: object) -> None:
        raise ModelError("It went away.")

    put_texts(store, {"long.md": lines(40)})
    embed_all(store)
    embedder = SimpleNamespace(embed_query=EMBEDDER.embed_query, embed_passages=failing)
    with store.snapshot() as view:
        models = Models(lambda: IDENTITY, lambda: embedder)  # type: ignore[arg-type,return-value]
        found = answer(view, Query("neutrino", mode="vec"), models)
    assert found.hits[0].snippet.text.startswith("line 001")
