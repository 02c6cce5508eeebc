"""What filters mean: the sentences at the top of `dowse.filters`, one by one."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from dowse.filters import And, Compare, Filter, Not, Or, both, describe, from_operators, matches, unmet
from dowse.filters.media import type_words
from dowse.ingest.extract.formats import FORMATS
from dowse.types import Chunk, DocumentInfo, Fingerprint

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
DAY_NS = 86_400 * 10**9
HASH = "abcdef0123456789" * 4
BREAD = DocumentInfo(
    id=UUID("0190a5b0-0000-7000-8000-00000000002a"),
    collection="Notes",
    path="House/Bread.MD",
    uri="file:///home/me/My%20Notes/House/Bread.MD",
    title="Sourdough Bread",
    content_hash=HASH,
    media_type="text/markdown",
    origin="walked",
    fingerprint=Fingerprint(size=1_200, mtime_ns=19_844 * DAY_NS),  # 2024-05-01
    metadata={
        "tags": ["Kitchen", "#slow/Food"],
        "date": "2024-02-03",
        "author": "Ada",
        "rating": 4,
        "price": 2.5,
        "draft": False,
        "years": ["2023", "2024"],
        "due": "2024-05-01T10:00:00+02:00",
        "empty": [],
        "type": "recipe",
    },
    created_at=1_000,
    updated_at=2_000,
)
PASSAGE = Chunk(
    text="Feed the starter.",
    start=0,
    end=17,
    first_line=3,
    last_line=5,
    tokens=4,
    headings=("Bread", "Day One"),
    level=2,
    page=7,
    place={"sheet": "Costs"},
)


def holds(filter: Filter, info: DocumentInfo = BREAD, chunk: Chunk | None = PASSAGE) -> bool:  # noqa: A002
    return matches(filter, info, chunk, 2, now=NOW)


@pytest.mark.parametrize(
    ("field", "operator", "value", "expected"),
    [
        ("collection", "eq", "notes", True),
        ("collection", "eq", "note", False),
        ("collection", "in", ("work", "NOTES"), True),
        ("path", "eq", "house/bread.md", True),
        ("path", "eq", "notes/house/bread.md", True),
        ("path", "eq", "bread.md", False),
        ("path", "prefix", "house/b", True),
        ("path", "prefix", "./House/", True),
        ("path", "prefix", "notes/", True),
        ("path", "prefix", "bread", False),
        ("path", "glob", "*.md", True),
        ("path", "glob", "br*", True),
        ("path", "glob", "house/*", True),
        ("path", "glob", "**/bread.{md,txt}", True),
        ("path", "glob", "h*/", True),
        ("path", "glob", "notes/*.md", False),
        ("path", "contains", "BREAD", True),
        *(("type", "eq", value, True) for value in ("md", ".MD", "markdown", "Text/Markdown")),
        ("type", "eq", "text", False),
        ("type", "in", ("pdf", "md"), True),
        ("type", "eq", "recipe", False),
        ("metadata.type", "eq", "recipe", True),
        ("title", "eq", "sourdough bread", True),
        ("title", "contains", "DOUGH", True),
        ("title", "gt", "sour", True),
        ("tag", "eq", "kitchen", True),
        ("tag", "eq", "#Kitchen", True),
        ("tag", "eq", "slow", True),
        ("tag", "eq", "slow/food", True),
        ("tag", "eq", "food", False),
        ("tag", "glob", "kit*", True),
        ("docid", "eq", "#ABCDEF", True),
        ("docid", "eq", "abcdef0123", True),
        ("docid", "eq", "abcde", False),
        ("docid", "eq", HASH, True),
        ("hash", "eq", HASH, True),
        ("hash", "eq", "abcdef", False),
        ("id", "eq", str(BREAD.id).upper(), True),
        ("id", "eq", BREAD.id.hex, True),
        ("uri", "prefix", "file:///home/", True),
        ("source", "eq", "/home/me/My Notes/House/Bread.MD", True),
        ("source", "eq", "\\home\\me\\my notes\\house\\bread.md", True),
        ("source", "contains", "My Notes", True),
        ("origin", "eq", "walked", True),
        ("size", "gte", 1_200, True),
        ("size", "gt", 1_200, False),
        ("size", "eq", 1200.0, True),
        ("date", "eq", "2024-02", True),
        ("date", "gt", "2024-02", False),
        ("date", "gte", "2024-02", True),
        ("date", "lt", "2024-02-03", False),
        ("date", "lte", "2024-02-03", True),
        ("date", "gte", "4m", True),
        ("date", "gte", "3m", False),
        ("modified", "eq", "2024-05-01", True),
        ("modified", "eq", "2024-05-01T00:00:00+00:00", True),
        ("modified", "in", ("2023", "2024"), True),
        ("created_at", "eq", 1_000, True),
        ("created_at", "eq", 1_001, False),
        ("updated_at", "lt", "today", True),
        ("page", "eq", 7, True),
        ("page", "in", (1, 7), True),
        ("level", "lte", 2, True),
        ("first_line", "eq", 3, True),
        ("last_line", "eq", 5, True),
        ("ordinal", "eq", 2, True),
        ("heading", "eq", "day one", True),
        ("heading", "contains", "rea", True),
        ("heading_path", "eq", "Bread > Day One", True),
        ("place.sheet", "eq", "Costs", True),
        ("place.sheet", "eq", "costs", False),
        ("author", "eq", "Ada", True),
        ("author", "eq", "ada", False),
        ("author", "contains", "aD", True),
        ("author", "prefix", "a", True),
        ("author", "glob", "?da", True),
        ("author", "gt", "Ac", True),
        ("rating", "eq", 4, True),
        ("rating", "eq", 4.0, True),
        ("rating", "eq", "4", False),
        ("rating", "gt", 3.5, True),
        ("rating", "gt", "3", False),
        ("price", "lt", 3, True),
        ("draft", "eq", False, True),
        ("draft", "eq", 0, False),
        ("rating", "eq", True, False),
        ("years", "eq", "2024", True),
        ("years", "eq", 2024, True),
        ("years", "in", (2022, 2023), True),
        ("years", "gt", "2023", True),
        ("years", "contains", "02", True),
        ("due", "lt", "2024-05-01T09:00", True),
        ("due", "gt", "2024-05-01", False),
        ("due", "lt", "today", True),
        ("author", "lt", "2025", False),
        ("empty", "eq", "", False),
        ("empty", "exists", True, True),
        ("metadata.rating", "exists", True, True),
        ("nothing", "exists", False, True),
        ("nothing", "eq", "x", False),
    ],
)
def test_a_comparison_holds_for_what_it_says(field, operator, value, expected):
    assert holds(Compare(field, operator, value)) is expected
    assert holds(Not(Compare(field, operator, value))) is not expected


@pytest.mark.parametrize(
    ("field", "value"),
    [("page", True), ("page", "7"), ("title", 3), ("date", "soon"), ("date", 2.5), ("size", "big"), ("path", False)],
)
def test_a_value_that_the_field_cannot_have_holds_for_nothing(field, value):
    assert not holds(Compare(field, "eq", value))
    assert not holds(Compare(field, "gt", value))


def test_a_missing_field_fails_all_but_negations():
    bare = replace(BREAD, metadata={})
    for operator in ("eq", "gt", "gte", "lt", "lte", "contains", "prefix", "glob"):
        assert not holds(Compare("author", operator, "Ada"), bare)
    assert not holds(Compare("author", "in", ("Ada",)), bare)
    for condition in ({"$ne": "Ada"}, {"$nin": ["Ada"]}, {"$exists": False}, {"$not": {"$eq": "Ada"}}):
        found = from_operators({"author": condition})
        assert found is not None
        assert holds(found, bare)


def test_a_document_alone_has_no_field_of_its_passages():
    for field, value in (("page", 7), ("heading", "Bread"), ("level", 2), ("ordinal", 2), ("place.sheet", "Costs")):
        assert holds(Compare(field, "eq", value))
        assert not holds(Compare(field, "eq", value), chunk=None)
        assert holds(Compare(field, "exists", False), chunk=None)


def test_a_passage_without_page_or_heading_lacks_these_fields():
    plain = replace(PASSAGE, page=None, headings=())
    assert holds(Compare("page", "exists", False), chunk=plain)
    assert holds(Compare("heading", "exists", False), chunk=plain)
    assert holds(Compare("heading_path", "exists", False), chunk=plain)


@pytest.mark.parametrize(
    ("metadata", "day"),
    [
        ({}, "2024-05-01"),
        ({"date": "soon"}, "2024-05-01"),
        ({"date": "soon", "created": "2020-01-02T03:04:05Z"}, "2020-01-02"),
        ({"created": "2020-01-02", "modified": "2021-01-02"}, "2020-01-02"),
        ({"modified": "2021-01-02"}, "2021-01-02"),
        ({"date": 2019, "created": "2020-01-02"}, "2019-01-01"),
    ],
)
def test_the_date_is_the_documents_own_where_it_has_one_and_else_that_of_its_file(metadata, day):
    assert holds(Compare("date", "eq", day), replace(BREAD, metadata=metadata))


@pytest.mark.parametrize("tags", ["one, two; Three", ["one", "two", "three"], ["#one", "two/2", "three "]])
def test_tags_are_a_list_or_a_text_with_commas(tags):
    for key in ("tags", "tag", "keywords", "categories"):
        tagged = replace(BREAD, metadata={key: tags})
        assert all(holds(Compare("tag", "eq", tag), tagged) for tag in ("one", "TWO", "three"))
        assert not holds(Compare("tag", "eq", "on"), tagged)


def test_case_and_accents_are_folded_in_every_script():
    there = replace(BREAD, path="Straße/E\u0301TUDE.md")
    assert holds(Compare("path", "eq", "STRASSE/étude.md"), there)


def test_a_file_is_of_the_type_of_its_suffix_its_format_and_its_family():
    script = replace(BREAD, path="a/tool.tar.pyw", media_type="text/x-python")
    for word in ("py", "python", "code", "pyw", "tar.pyw", "text/x-python"):
        assert holds(Compare("type", "eq", word), script), word
    unknown = replace(BREAD, path="a/b", media_type="image/x-Thing")
    assert holds(Compare("type", "eq", "thing"), unknown)
    assert holds(Compare("type", "eq", "image/x-thing"), unknown)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_goes_by_its_family_and_its_first_suffix(form):
    words = type_words(form.media_type)
    assert words[0] == form.family
    assert form.suffixes[0].removeprefix(".") in words


def test_a_windows_path_is_a_source_as_people_write_it():
    there = replace(BREAD, uri="file:///C:/Users/Ada/plan.md")
    assert holds(Compare("source", "eq", r"c:\users\ada\plan.md"), there)
    web = replace(BREAD, uri="https://example.org/a?b")
    assert holds(Compare("source", "eq", "https://example.org/a?b"), web)


def test_and_or_and_not_join_what_they_hold():
    yes, no = Compare("page", "eq", 7), Compare("page", "eq", 8)
    assert holds(And((yes, yes)))
    assert not holds(And((yes, no)))
    assert holds(Or((no, yes)))
    assert not holds(Or((no, no)))
    assert holds(Not(no))
    assert holds(And(()))
    assert not holds(Or(()))


def test_filters_from_several_places_are_one():
    yes, no = Compare("page", "eq", 7), Compare("page", "eq", 8)
    assert both(None, None) is None
    assert both(None, yes) == yes
    assert both(And((yes, no)), None, yes) == And((yes, no, yes))


def test_the_first_part_that_does_not_hold_is_told_in_words():
    wanted = And((Compare("page", "eq", 7), Or((Compare("tag", "eq", "x"), Not(Compare("rating", "in", (4, 5)))))))
    found = unmet(wanted, BREAD, PASSAGE, now=NOW)
    assert found is not None
    assert describe(found) == "tag is x or not (rating is one of 4, 5)"
    assert describe(wanted) == "page is 7 and (tag is x or not (rating is one of 4, 5))"
    assert describe(Compare("page", "exists", False)) == "page is missing"
    assert unmet(Compare("page", "eq", 7), BREAD, PASSAGE) is None
