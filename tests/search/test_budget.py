"""Responses that fit: what is taken, passed over and shortened, and how the rest is asked for."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from dowse.errors import ConflictError, UsageError
from dowse.search.budget import (
    Page,
    Portion,
    Rest,
    cut,
    fit,
    make_cursor,
    pack,
    page_of,
    read_cursor,
    sentence_ends,
    shorter_passage,
    shorter_snippet,
)
from dowse.text.tokens import TokenCounter
from dowse.types import Answer, Chunk, DocumentInfo, Explain, Fingerprint, Hit, Query, Snippet
from text.tiny_tokenizer import tiny_tokenizer_json

COUNT = TokenCounter(tiny_tokenizer_json()).count
LONG = "One sentence about tea. Another one about bread! A third, is it? And the last of them ends here."


def words(text: str) -> int:
    return len(text.split())


def joined(items: Sequence[str], rest: Rest) -> str:
    """A frame of one word, the items, and a cursor that is a word if there is one."""
    return " ".join(["frame", *items, *([rest.cursor] if rest.cursor else [])])


def first_words(item: str, tokens: int) -> str | None:
    return " ".join(item.split()[:tokens]) or None


def packed(items: Sequence[str], max_tokens: int, **options):
    return pack(items, render=joined, count=words, max_tokens=max_tokens, **options)


def test_everything_is_given_where_it_fits():
    found = packed(["a b", "c"], 4, cursor_of=lambda _: "more")
    assert found.items == ("a b", "c")
    assert found.rest == Rest()
    assert (found.rendered, found.tokens) == ("frame a b c", 4)


def test_what_is_too_large_is_passed_over_and_smaller_ones_behind_it_are_taken():
    found = packed(["a b", "c c c c c c", "d", "e e e", "f"], 5, best_first=False)
    assert found.items == ("a b", "d", "f")
    assert found.given == (0, 2, 4)
    assert found.rest.omitted == 2


def test_the_cursor_counts_and_knows_what_was_given():
    found = packed(["a", "b", "c", "d"], 4, cursor_of=lambda given: f"after-{len(given)}")
    assert found.rendered == "frame a b after-2"
    assert found.tokens == 4


def test_the_best_item_is_shortened_rather_than_left_out():
    found = packed(["a a a a a a", "b"], 4, shorten=first_words)
    assert found.items == ("a a a",)
    assert found.rest.omitted == 1


def test_an_item_behind_the_first_is_never_shortened_where_something_fits():
    assert packed(["a", "b b b b b", "c"], 3, shorten=first_words).items == ("a", "c")


def test_where_asked_for_an_item_is_shortened_only_if_none_fits():
    assert packed(["a a a a a a", "b"], 4, shorten=first_words, best_first=False).items == ("b",)
    assert packed(["a a a a a a", "b b b b"], 4, shorten=first_words, best_first=False).items == ("a a a",)


def test_an_item_that_cannot_be_shortened_makes_room_for_the_next():
    def not_the_first(item: str, tokens: int) -> str | None:
        return None if item.startswith("a") else first_words(item, tokens)

    assert packed(["a a a a a a", "b b b b b"], 4, shorten=not_the_first).items == ("b b b",)


@pytest.mark.parametrize("items", [[], ["a a"], ["a a", "b"]])
def test_a_budget_below_the_least_is_an_error_that_names_a_budget_that_works(items):
    with pytest.raises(UsageError) as caught:
        packed(items, 0, shorten=first_words)
    least = caught.value.details["least"]
    assert f"{least} tokens" in caught.value.hint
    assert packed(items, least, shorten=first_words).tokens == least
    with pytest.raises(UsageError):
        packed(items, least - 1, shorten=first_words)


def test_whatever_counts_can_be_the_measure():
    """As where the sum of the contents is bounded, and not the response."""
    found = pack(
        [3, 9, 2],
        render=lambda sizes, _: list(sizes),
        count=sum,
        max_tokens=6,
    )
    assert found.rendered == [3, 2]


def test_items_that_cost_more_together_than_alone_are_tried_with_fewer():
    """Every pair costs a token that no item alone shows."""

    def count(items: tuple[str, ...]) -> int:
        return len(items) + len(items) * (len(items) - 1) // 2

    found = pack(list("abcdefgh"), render=lambda items, _: tuple(items), count=count, max_tokens=11)
    assert found.tokens <= 11
    assert found.items[:3] == ("a", "b", "c")


def test_it_takes_few_renderings():
    rendered = []

    def render(items: Sequence[str], rest: Rest) -> str:
        rendered.append(len(items))
        return joined(items, rest)

    pack([f"w{n} " * (n % 7 + 1) for n in range(200)], render=render, count=words, max_tokens=90)
    assert len([size for size in rendered if size > 1]) <= 6
    assert len(rendered) <= 210


# Sentences


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One. Two! Three? Four", ["One.", "One. Two!", "One. Two! Three?"]),
        ('He said "no." Then "yes!" and left', ['He said "no."', 'He said "no." Then "yes!"']),
        ("See e.g. this, by J. Doe, at 3.5 percent. Then go", ["See e.g. this, by J. Doe, at 3.5 percent."]),
        (
            "今日は晴れ。明日は雨！「本当？」そう",
            ["今日は晴れ。", "今日は晴れ。明日は雨！", "今日は晴れ。明日は雨！「本当？」"],
        ),
        ("यह एक वाक्य है। दूसरा", ["यह एक वाक्य है।"]),
        ("# Title\n\nwrapped in\ntwo lines\n- one\n- two", ["# Title", "# Title\n\nwrapped in\ntwo lines", None]),
        ("Wait... what", ["Wait..."]),
        ("v1.2.3 and a.b", []),
    ],
)
def test_sentences_end_at_marks_and_blocks_at_their_ends(text, ends):
    found = [text[:end] for end in sentence_ends(text)]
    expected = [text.removesuffix("\n- two") if end is None else end for end in ends]
    assert found == expected


def test_a_text_is_cut_at_the_end_of_a_sentence():
    assert cut(LONG, 14, words) == "One sentence about tea. Another one about bread! A third, is it?"
    assert cut(LONG, 1_000, words) == LONG


def test_a_sentence_that_is_too_long_is_cut_between_words():
    assert cut("a long sentence without any end", 3, words) == "a long sentence"
    assert cut("Oh. A long sentence without any end that goes on and on", 9, words) == (
        "Oh. A long sentence without any end that goes"
    )


@pytest.mark.parametrize("text", ["吾輩は猫である" * 20, "สวัสดีชาวโลก" * 20, "x" * 300, "👩‍👩‍👧" * 30, "e\u0301" * 90])
def test_a_text_without_spaces_is_cut_between_characters(text):
    for room in range(1, 40):
        part = cut(text, room, COUNT)
        assert text.startswith(part)
        assert COUNT(part) <= room
        assert not text[len(part) :].startswith(("\u0301", "\u200d"))
    assert len(cut(text, 39, COUNT)) > 5


def test_nothing_fits_into_nothing():
    assert cut("text", 0, words) == ""
    assert cut("", 5, words) == ""


# Hits


def hit_of(text: str, *, number: int = 1, start: int = 100, line: int = 7, at: int = 0, length: int = 10**9) -> Hit:
    """A hit whose snippet is `text[at:][:length]`."""
    chunk = Chunk(text, start, start + len(text), line, line + text.count("\n"), words(text), ("Top", "Sub"), 2)
    shown = text[at:][:length]
    snippet = Snippet(shown, line + text.count("\n", 0, at), start + at, ((0, 3),))
    info = DocumentInfo(
        UUID(int=number),
        "notes",
        f"n{number}.md",
        f"file:///library/n{number}.md",
        "Title",
        f"{number:064x}",
        "text/markdown",
        "walked",
        Fingerprint(1, 1),
    )
    return Hit(info, chunk, 0, 0.5, snippet, (), Explain((), 0.5, 0.5))


def answer_of(*texts: str, query: Query | None = None) -> Answer:
    hits = tuple(hit_of(text, number=number) for number, text in enumerate(texts, 1))
    return Answer(query or Query("tea", limit=50), "lex", hits)


def test_a_shortened_passage_says_where_it_ends_and_what_is_left():
    text = "One sentence.\nTwo sentences here. Three of them now, and more."
    portion = shorter_passage(Portion(hit_of(text)), 9, words)
    assert portion is not None
    chunk = portion.hit.chunk
    assert chunk.text == "One sentence.\nTwo sentences here."
    assert (chunk.start, chunk.end) == (100, 100 + len(chunk.text))
    assert (chunk.first_line, chunk.last_line, chunk.tokens) == (7, 8, 5)
    assert portion.hit.snippet.text == chunk.text
    assert portion.passage == chunk.text + " … [6 more tokens]"
    assert not portion.is_whole


def test_a_passage_is_shortened_around_the_lines_that_answer():
    text = "Something else first. And more of it.\nGreen tea wants cool water. Then some more text follows."
    at = text.index("Green")
    portion = shorter_passage(Portion(hit_of(text, at=at, length=27)), 8, words)
    assert portion is not None
    chunk = portion.hit.chunk
    assert chunk.text == "Green tea wants cool water."
    assert (chunk.start, chunk.first_line, chunk.last_line) == (100 + at, 8, 8)
    assert portion.passage == f"… {chunk.text} … [5 more tokens]"
    assert portion.hit.snippet.text == chunk.text
    assert portion.hit.snippet.highlights == ((0, 3),)


def test_a_shortened_snippet_leaves_the_passage_as_it_is():
    hit = hit_of("One two three. Four five six seven eight nine.")
    portion = shorter_snippet(Portion(hit), 8, words)
    assert portion is not None
    assert portion.hit.chunk == hit.chunk
    assert portion.snippet == portion.shown.snippet.text == "One two three. … [6 more tokens]"
    assert Portion(hit).shown is hit


def test_a_few_tokens_of_a_longer_text_are_not_worth_showing():
    assert shorter_snippet(Portion(hit_of("One two three. Four five six seven eight nine.")), 7, words) is None
    assert shorter_passage(Portion(hit_of("### " + "-" * 500)), 8, COUNT) is None
    short = Portion(hit_of("One two."))
    assert shorter_passage(short, 2, words) == short


def render_json(page: Page) -> str:
    made = {
        "results": [{"file": each.hit.info.file, "text": each.passage} for each in page.portions],
        "omitted": page.omitted,
        "cursor": page.cursor,
    }
    return json.dumps(made, ensure_ascii=False, indent=2)


def test_pages_give_every_hit_exactly_once_and_end():
    answer = answer_of(*(f"Passage {number}. " * (number % 5 * 4 + 1) for number in range(30)))
    seen: list[str] = []
    cursor, pages = "", 0
    while True:
        found = fit(answer, render_json, count=COUNT, max_tokens=150, cursor=cursor)
        assert found.tokens == COUNT(found.rendered) <= 150
        made = json.loads(found.rendered)
        seen += [each["file"] for each in made["results"]]
        cursor, pages = made["cursor"], pages + 1
        assert made["omitted"] == 30 - len(seen)
        if not cursor:
            break
    assert sorted(seen) == sorted(hit.info.file for hit in answer.hits)
    assert pages > 3


def test_a_page_without_a_budget_has_all_that_is_left():
    answer = answer_of("a", "b", "c")
    assert len(page_of(answer).portions) == 3
    left = page_of(answer, make_cursor(answer, [1])).portions
    assert [each.hit.info.path for each in left] == ["n1.md", "n3.md"]


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(UsageError, match="0 tokens"):
        fit(answer_of("a"), render_json, count=COUNT, max_tokens=0)


# Cursors


@pytest.mark.parametrize("given", [[], [0], [3], [0, 1, 2], [0, 2, 5, 6], [1, 4], list(range(300)), [299]])
def test_a_cursor_says_what_was_given(given):
    answer = answer_of("a", "b")
    cursor = make_cursor(answer, given)
    assert read_cursor(answer, cursor) == frozenset(given)
    assert re.fullmatch(r"[\w-]+", cursor)


def test_a_cursor_is_short():
    assert len(make_cursor(answer_of("a"), [*range(40), 47])) <= 16


@pytest.mark.parametrize("cursor", ["!", "a", "abc", "AAAA", "gICAgICAgICAgICAgICA", "ü", "A" * 5_000])
def test_what_is_not_a_cursor_is_refused(cursor):
    with pytest.raises(UsageError):
        read_cursor(answer_of("a"), cursor)


def test_a_cursor_of_another_query_is_refused():
    cursor = make_cursor(answer_of("a", "b"), [0])
    for other in (Query("coffee", limit=50), Query("tea", limit=5), Query("tea", limit=50, collections=("x",))):
        with pytest.raises(UsageError, match="another query"):
            read_cursor(answer_of("a", "b", query=other), cursor)


def test_how_hits_are_shown_is_not_part_of_the_query():
    cursor = make_cursor(answer_of("a", "b"), [0])
    shown = Query("tea", limit=50, snippets=False, fresh="ignore")
    assert read_cursor(answer_of("a", "b", query=shown), cursor) == {0}


def test_a_cursor_is_refused_once_the_answer_is_another_one():
    answer = answer_of("a", "b")
    cursor = make_cursor(answer, [0])
    first, second = answer.hits
    changed = replace(second, info=replace(second.info, content_hash="f" * 64))
    for hits in ((second, first), (first,), (first, changed)):
        with pytest.raises(ConflictError, match="changed"):
            read_cursor(replace(answer, hits=hits), cursor)
