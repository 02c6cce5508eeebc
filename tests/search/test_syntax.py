"""How queries are read: every text is one, and what is not understood is searched for."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.filters import And, Compare, Filter, Not, Or
from dowse.search.syntax import MAX_SEARCHES, Condition, Item, Parsed, Phrase, Search, Word, parse, typed


def items(text: str) -> tuple[Item, ...]:
    (search,) = parse(text).searches
    return search.items


def words(text: str) -> list[str]:
    """The words of a query that has nothing but words to look for."""
    found = items(text)
    assert all(isinstance(item, Word) and not item.excluded for item in found), found
    return [item.text for item in found if isinstance(item, Word)]


def filter_of(text: str) -> Filter | None:
    return parse(text).filter


def test_words_phrases_exclusions_and_conditions_are_told_apart():
    text = 'conf* "connection  pool" -redis -"test data" type:md -path:archive/ timeout'
    assert items(text) == (
        Word("conf", prefix=True),
        Phrase("connection pool"),
        Word("redis", excluded=True),
        Phrase("test data", excluded=True),
        Condition("type", ("md",)),
        Condition("path", ("archive/",), excluded=True),
        Word("timeout"),
    )


def test_a_search_says_what_it_looks_for_without_exclusions_conditions_and_signs():
    (search,) = parse('conf* "connection pool" -redis type:md timeout -"test data"').searches
    assert search.text == "conf connection pool timeout"
    assert search.words == (Word("conf", prefix=True), Word("timeout"))
    assert search.phrases == ("connection pool",)
    assert search.excluded == (Word("redis", excluded=True), Phrase("test data", excluded=True))
    assert (search.kind, search.weight) == ("plain", 2.0)


@pytest.mark.parametrize(
    "text",
    [
        *("std::vec", "Vec::new", "vec::new()", "type::Foo", "path::join", "http://x", r"C:\dir", "12:30", "foo:bar"),
        *(
            "e-mail",
            "-",
            "--",
            "--flag",
            "-5",
            "-0.5",
            "-v",
            "->next",
            "a-b-c",
            "mytype:pdf",
            "(type:pdf)",
            "f(path:str)",
        ),
        *(
            "after:banana",
            "before:",
            "type:",
            "tag:,",
            "title:-",
            'title:""',
            "after:2024-13",
            "path:",
            "collection::x",
        ),
        *("*", "**bold**", "*foo*", "foo**", "a*b", "C++", "C#", ".NET", "@scope/name", "OR", "what?", '5"', "'it's'"),
        *("lex", "lexer:x", "vector: x", "hyde::park"),
    ],
)
def test_what_only_looks_like_syntax_is_searched_as_words(text):
    assert words(text) == text.split()


def test_a_quote_that_is_never_closed_is_part_of_a_word():
    assert items('foo "bar baz') == (Word("foo"), Word('"bar'), Word("baz"))
    assert items('title:"foo bar') == (Word('title:"foo'), Word("bar"))
    assert items('-"foo bar') == (Word('"foo', excluded=True), Word("bar"))


def test_a_quote_inside_a_word_opens_nothing():
    assert words('19" monitor 24" stand') == ['19"', "monitor", '24"', "stand"]
    assert words('print("hello world")') == ['print("hello', 'world")']


def test_what_follows_a_closing_quote_stands_by_itself():
    assert items('"foo bar"baz""-"x y"') == (Phrase("foo bar"), Word('baz""-"x'), Word('y"'))
    assert items('"foo""bar" title:"a b"c') == (Phrase("foo"), Phrase("bar"), Condition("title", ("a b",)), Word("c"))


@pytest.mark.parametrize(
    "text", ["“two words”", "„two words“", "«two words»", "»two words«", "＂two words＂", '“two words"']
)
def test_quotes_of_phones_and_other_languages_are_quotes(text):
    assert items(text) == (Phrase("two words"),)


@pytest.mark.parametrize("text", ["", "  \n\t", '""', '"  " “”', '-""'])
def test_a_query_without_anything_asks_for_nothing(text):
    assert parse(text) == Parsed(())
    assert parse(text).text == ""


def test_a_query_of_exclusions_alone_looks_for_nothing():
    parsed = parse('-redis -"test data"')
    assert parsed.text == ""
    assert [len(search.excluded) for search in parsed.searches] == [2]


def test_a_query_of_conditions_alone_looks_for_nothing_and_has_a_filter():
    parsed = parse("tag:kitchen type:md")
    assert parsed.text == ""
    assert parsed.filter == And((Compare("type", "eq", "md"), Compare("tag", "eq", "kitchen")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", None),
        ("collection:notes x", Compare("collection", "eq", "notes")),
        ("Type:PDF", Compare("type", "eq", "PDF")),
        ("type:pdf type:md", Or((Compare("type", "eq", "pdf"), Compare("type", "eq", "md")))),
        ("type:pdf,md,", Compare("type", "in", ("pdf", "md"))),
        ("tag:a tag:b", And((Compare("tag", "eq", "a"), Compare("tag", "eq", "b")))),
        ('tag:"a, b"', Compare("tag", "eq", "a, b")),
        ("tag:work*,home", Or((Compare("tag", "glob", "work*"), Compare("tag", "eq", "home")))),
        ("-type:pdf -type:md", And((Not(Compare("type", "eq", "pdf")), Not(Compare("type", "eq", "md"))))),
        ("path:docs/api", Compare("path", "prefix", "docs/api")),
        ("path:docs/**/*.md", Compare("path", "glob", "docs/**/*.md")),
        ("path:{a,b}/c", Compare("path", "glob", "{a,b}/c")),
        (r"path:C:\dir", Compare("path", "prefix", r"C:\dir")),
        ('path:"my notes/"', Compare("path", "prefix", "my notes/")),
        ("title:plan", Compare("title", "contains", "plan")),
        ("title:“grand plan”", Compare("title", "contains", "grand plan")),
        ("after:2024-05 before:7d", And((Compare("date", "gte", "2024-05"), Compare("date", "lt", "7d")))),
        ("-after:yesterday", Not(Compare("date", "gte", "yesterday"))),
    ],
)
def test_conditions_make_a_filter(text, expected):
    assert filter_of(text) == expected


def test_a_pattern_with_too_many_choices_is_a_word():
    text = "path:" + "{a,b}" * 9
    assert words(text) == [text]


def test_conditions_beyond_reason_are_words():
    parsed = parse(" ".join(f"tag:t{number}" for number in range(100)))
    assert len(parsed.conditions) == 32
    assert len(parsed.searches[0].words) == 68
    assert words("type:" + ",".join("abcdefgh" * 5)) == ["type:" + ",".join("abcdefgh" * 5)]


def test_a_document_has_one_search_per_line_and_the_first_counts_double():
    parsed = parse(
        'lex: "connection pool" -redis\nVEC: why do   connections time out\n\nhyde:Pools run dry.\n  Then we wait.'
    )
    assert parsed.searches == (
        Search("lex", (Phrase("connection pool"), Word("redis", excluded=True)), 2.0),
        Search("vec", (Phrase("why do connections time out"),), 1.0),
        Search("hyde", (Phrase("Pools run dry. Then we wait."),), 1.0),
    )
    assert parsed.is_typed
    assert [search.text for search in parsed.searches][1:] == [
        "why do connections time out",
        "Pools run dry. Then we wait.",
    ]
    assert parsed.text == "connection pool"


def test_searches_by_meaning_have_no_syntax():
    (search,) = parse('vec: how is "type:pdf" -read').searches
    assert search.text == 'how is "type:pdf" -read'
    assert (search.words, search.phrases, search.excluded) == ((), (), ())


def test_an_intent_is_not_searched_for_and_a_line_after_it_is_a_search():
    parsed = parse("intent: C++, not\nperformance -sports\nlex: speed\nintent: sports")
    assert parsed.intent == "C++, not sports"
    assert parsed.searches == (
        Search("plain", (Word("performance"), Word("sports", excluded=True)), 2.0),
        Search("lex", (Word("speed"),), 1.0),
    )


def test_an_intent_or_a_kind_without_any_search_is_words():
    assert words("intent: classification") == ["intent:", "classification"]
    assert words("lex:") == ["lex:"]


def test_expand_asks_for_an_ordinary_search():
    assert parse("expand: rate limiter") == parse("rate limiter")


def test_a_document_starts_with_its_first_line():
    assert words("what is\nlex: about") == ["what", "is", "lex:", "about"]


def test_conditions_of_one_line_hold_for_the_whole_document():
    parsed = parse("lex: type:md -tag:draft\nvec: how to restore")
    assert parsed.filter == And((Compare("type", "eq", "md"), Not(Compare("tag", "eq", "draft"))))
    assert [search.weight for search in parsed.searches] == [1.0, 2.0], "a line that looks for nothing is not the first"


def test_more_than_ten_searches_are_cut_and_said_so():
    parsed = parse("\n".join(f"lex: word{number}" for number in range(12)))
    assert len(parsed.searches) == MAX_SEARCHES
    assert parsed.notes == ("Only the first 10 of 12 searches were made.",)


def test_typed_searches_are_read_as_lines_are():
    asked = [("lex", '"connection pool" -redis'), ("vec", "why?"), ("hyde", "Because.")]
    text = "\n".join(f"{kind}: {query}" for kind, query in asked)
    assert typed(asked, " about pools ") == parse(f"intent: about pools\n{text}")
    assert typed([("plain", "x")]) == parse("x")


@pytest.mark.parametrize(
    ("searches", "problem"),
    [
        ([], "0 searches"),
        ([("lex", "x")] * 11, "11 searches"),
        ([("bm25", "x")], "'bm25'"),
        ([("lex", "x"), ("vec", " ")], "Search 2 has no text"),
    ],
)
def test_typed_searches_that_cannot_be_made_are_refused(searches, problem):
    with pytest.raises(UsageError) as caught:
        typed(searches)
    assert problem in caught.value.message
    assert caught.value.hint


pieces = st.sampled_from(
    [
        *(
            '"',
            "“",
            "”",
            "«",
            "-",
            "--",
            "*",
            ":",
            "::",
            ",",
            "\\",
            "/",
            ".",
            "#",
            "{",
            "}",
            "\n",
            "\n",
            " ",
            " ",
            "\u2028",
        ),
        *(
            "type:",
            "tag:",
            "title:",
            "path:",
            "after:",
            "before:",
            "collection:",
            "Tag:",
            "lex:",
            "vec:",
            "hyde: ",
            "intent: ",
        ),
        *(
            "expand:",
            "foo",
            "bar",
            "x",
            "5",
            "2024",
            "2024-05-01 10:30",
            "today",
            "7d",
            "md",
            "数据库",
            "é",
            "🙂",
            "\0",
            "\ud800",
        ),
    ]
)
queries = st.one_of(st.lists(pieces, max_size=25).map("".join), st.text(max_size=40))


@given(queries)
@example('after:"x "" 2024"')
@example('title:" " foo "bar"')
@example('"" lex: foo')
@example('lex: ""\nvec: a')
def test_every_text_can_be_read_and_reading_what_it_prints_gives_the_same(text):
    parsed = parse(text)
    assert parse(str(parsed)) == parsed
    assert len(parsed.searches) <= MAX_SEARCHES
    if parsed.conditions:
        assert parsed.filter is not None


@given(queries)
def test_every_word_of_a_query_is_kept(text):
    parsed = parse(text)
    kept = [parsed.intent]
    for search in parsed.searches:
        for item in search.items:
            kept += [item.key, *item.values] if isinstance(item, Condition) else [item.text]
    left = " ".join(kept).lower()
    named = re.compile(r"(?:lex|vec|hyde|expand|intent):", re.IGNORECASE)
    for word in re.findall(r"\w+", named.sub(" ", text)):
        assert word.lower() in left or len(parsed.searches) == MAX_SEARCHES
