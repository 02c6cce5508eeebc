"""Whatever is packed by whatever serializer into whatever budget: it fits, and nothing is lost or given twice."""

import json
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.interfaces import wire
from dowse.interfaces.cli import render
from dowse.search.budget import Page, cut, fit, make_cursor, read_cursor, shorter_passage, shorter_snippet
from dowse.search.citations import cite
from dowse.text.tokens import TokenCounter
from dowse.types import Answer, Chunk, DocumentInfo, Explain, Fingerprint, Hit, Query, Snippet
from text.tiny_tokenizer import tiny_tokenizer_json

COUNT = TokenCounter(tiny_tokenizer_json()).count

WORDS = [
    *("tea", "bread", "water", "e.g.", "getUserName", "src/lib/i18n.ts", "don't", "10:45", "naïve", "Größe"),
    *("吾輩は猫である。", "名前", "สวัสดี", "किताब।", "👩‍👩‍👧", "\\", '"quoted"', "<tag>", "{}", "…", "\u2028", "x" * 70),
]
texts = st.lists(
    st.sampled_from([*WORDS, ". ", "! ", "\n", "\n\n", "\t", "\n- ", "    "]), min_size=1, max_size=60
).map(" ".join)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    hits = []
    for number, text in enumerate(draw(st.lists(texts, max_size=12)), 1):
        at = draw(st.integers(0, len(text) - 1))
        chunk = Chunk(
            text, 50, 50 + len(text), 4, 4 + text.count("\n"), COUNT(text), tuple(draw(st.lists(texts, max_size=2)))
        )
        snippet = Snippet(text[at : at + 300], 4 + text.count("\n", 0, at), 50 + at, ((0, min(3, len(text) - at)),))
        path = draw(st.sampled_from(["a.md", "b/é c.md", "吾輩/猫.md", "https://example.com/?a=b#c", "d" * 60]))
        info = DocumentInfo(
            UUID(int=number), "notes", path, f"file:///library/{number}.md", draw(texts), f"{number:064x}",
            "text/markdown", "walked", Fingerprint(1, 1),
        )  # fmt: skip
        hits.append(Hit(info, chunk, number, 0.5, snippet, (), Explain((), 0.5, 0.5)))
    return Answer(Query(draw(texts), limit=20), "lex", tuple(hits), tuple(draw(st.lists(texts, max_size=1))))


def as_json(page: Page, indent: int | None = None) -> str:
    made = {
        "results": [
            {"uri": cite(each.hit.info, each.hit.chunk).uri, "title": each.hit.info.title, "text": each.passage}
            for each in page.portions
        ],
        "notes": page.answer.notes,
        "omitted": page.omitted,
        "cursor": page.cursor,
    }
    return json.dumps(made, ensure_ascii=indent is None, indent=indent)


def as_lines(page: Page) -> str:
    return "".join(f"{each.hit.info.file}:{each.snippet}" for each in page.portions) + page.cursor


def in_format(name: str) -> Callable[[Page], str]:
    """As the command line prints it, with the cursor behind."""

    def rendered(page: Page) -> str:
        return render.hits([each.hit for each in page.portions], {}, render.Look(name)) + f"\n{page.cursor}"

    return rendered


SERIALIZERS = {
    "json": as_json,
    "readable json": lambda page: as_json(page, 2),
    "wire": lambda page: wire.dumps([wire.hit(each.hit) for each in page.portions]) + page.cursor,
    "lines": as_lines,
    **{name: in_format(name) for name in render.FORMATS},
}
SHORTENED = {"json": shorter_passage, "readable json": shorter_passage}


@given(answers(), st.integers(1, 1_500), st.sampled_from(sorted(SERIALIZERS)))
@settings(deadline=None)
def test_a_response_never_exceeds_its_budget_and_pages_are_complete(answer, max_tokens, name):
    cursor, seen = "", []
    serialize, shorten = SERIALIZERS[name], SHORTENED.get(name, shorter_snippet)
    for _ in range(len(answer.hits) + 1):
        try:
            found = fit(answer, serialize, count=COUNT, max_tokens=max_tokens, cursor=cursor, shorten=shorten)
        except UsageError as error:
            least = error.details["least"]
            assert least > max_tokens
            again = fit(answer, serialize, count=COUNT, max_tokens=least, cursor=cursor, shorten=shorten)
            assert again.tokens == COUNT(again.rendered) <= least
            return
        assert found.tokens == COUNT(found.rendered) <= max_tokens
        assert found.items or not answer.hits
        seen += [each.hit.ordinal for each in found.items]
        for portion in found.items:
            whole = answer.hits[portion.hit.ordinal - 1].chunk
            part = portion.hit.chunk
            assert part.text == whole.text[part.start - whole.start : part.end - whole.start]
            assert part.first_line == whole.first_line + whole.text.count("\n", 0, part.start - whole.start)
        cursor = found.rest.cursor
        if not cursor:
            break
    assert sorted(seen) == list(range(1, len(answer.hits) + 1))


@given(texts, st.integers(0, 80))
def test_a_cut_text_fits_and_is_a_beginning(text, room):
    part = cut(text, room, COUNT)
    assert text.startswith(part)
    assert COUNT(part) <= room


@given(st.sets(st.integers(0, 400)))
def test_a_cursor_is_read_as_it_was_written(places):
    answer = Answer(Query("tea"), "lex", ())
    assert read_cursor(answer, make_cursor(answer, places)) == places


@given(st.text(max_size=60))
def test_any_text_that_is_no_cursor_is_refused_in_words(text):
    with pytest.raises(UsageError) as caught:
        read_cursor(Answer(Query("tea"), "lex", ()), text)
    assert caught.value.hint
