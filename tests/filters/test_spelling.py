"""Filters from JSON, and what is said of those that cannot be."""

import pytest

from dowse.errors import UsageError
from dowse.filters import And, Compare, Not, Or, check, from_flat, from_operators

KEYS = {"author", "rating", "header"}


def test_flat_equality_is_all_of_its_conditions():
    assert from_flat({}) is None
    assert from_flat({"type": "pdf"}) == Compare("type", "eq", "pdf")
    assert from_flat({"type": "pdf", "page": 3, "draft": True}) == And(
        (Compare("type", "eq", "pdf"), Compare("page", "eq", 3), Compare("draft", "eq", True))
    )


def test_a_caller_may_have_names_of_its_own_for_fields():
    names = {"library": "collection", "page_number": "page"}
    assert from_flat({"library": "a"}, names=names) == Compare("collection", "eq", "a")
    found = from_operators({"$and": [{"page_number": {"$gte": 10, "$lte": 20}}]}, names=names)
    assert found == And((Compare("page", "gte", 10), Compare("page", "lte", 20)))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, None),
        ({"source": "/path/to/doc.md"}, Compare("source", "eq", "/path/to/doc.md")),
        ({"source": "/a.md", "level": 2}, And((Compare("source", "eq", "/a.md"), Compare("level", "eq", 2)))),
        ({"page": {"$gte": 10, "$lte": 20}}, And((Compare("page", "gte", 10), Compare("page", "lte", 20)))),
        ({"source": {"$contains": "config"}}, Compare("source", "contains", "config")),
        ({"page": {"$eq": 1}}, Compare("page", "eq", 1)),
        ({"page": {"$ne": 1}}, Not(Compare("page", "eq", 1))),
        ({"page": {"$gt": 1}}, Compare("page", "gt", 1)),
        ({"page": {"$lt": 1}}, Compare("page", "lt", 1)),
        ({"page": {"$in": [1, 2]}}, Compare("page", "in", (1, 2))),
        ({"page": {"$nin": [1, 2]}}, Not(Compare("page", "in", (1, 2)))),
        ({"page": {"$exists": True}}, Compare("page", "exists", True)),
        ({"page": {"$not": {"$gt": 1}}}, Not(Compare("page", "gt", 1))),
        ({"$or": [{"page": 1}, {"tag": "a"}]}, Or((Compare("page", "eq", 1), Compare("tag", "eq", "a")))),
        (
            {"$and": [{"page": 1}, {"$not": {"tag": "a"}}]},
            And((Compare("page", "eq", 1), Not(Compare("tag", "eq", "a")))),
        ),
        (
            {"date": {"$gte": "2024-05", "$lt": "today"}},
            And((Compare("date", "gte", "2024-05"), Compare("date", "lt", "today"))),
        ),
    ],
)
def test_operators_and_what_joins_them(written, expected):
    assert from_operators(written) == expected


@pytest.mark.parametrize(
    ("written", "place", "named"),
    [
        ({"page": {"$gte": 1, "$regex": "x"}}, "page.$regex", "$contains"),
        ({"page": {"eq": 1}}, "page.eq", "$eq"),
        ({"$nor": [{"page": 1}]}, "$nor", "$and, $or, $not"),
        ({"$and": [{"page": 1}, {"$xor": []}]}, "$and[1].$xor", "$or"),
        ({"$or": []}, "$or", "list"),
        ({"$or": {"page": 1}}, "$or", "list"),
        ({"$or": [{}]}, "$or[0]", "object"),
        ({"$and": [3]}, "$and[0]", "object"),
        ({"$not": [{"page": 1}]}, "$not", "object"),
        ({"page": {}}, "page", "$gte"),
        ({"page": None}, "page", "text, a number, true or false"),
        ({"page": [1, 2]}, "page", "$eq takes one value"),
        ({"page": {"$in": 3}}, "page.$in", "list"),
        ({"page": {"$in": [1, "x"]}}, "page.$in", "a number, not 'x'"),
        ({"page": "3"}, "page", "a number, not '3'"),
        ({"page": True}, "page", "a number"),
        ({"page": {"$contains": "3"}}, "page.$contains", "$gte"),
        ({"title": 3}, "title", "text"),
        ({"date": {"$gt": "soon"}}, "date.$gt", "a date, such as 2024"),
        ({"page": {"$exists": 1}}, "page.$exists", "true or false"),
        ({"rating": {"$gt": True}}, "rating.$gt", "text or a number"),
        ({"rating": {"$contains": 3}}, "rating.$contains", "text"),
        ({"path": {"$glob": "{a,b}" * 9}}, "path.$glob", "fewer choices"),
        ({"rating": float("nan")}, "rating", "number"),
        ({"title": "x" * 5_000}, "title", "4096"),
        ({"page": {"$in": list(range(2_000))}}, "page.$in", "1000"),
        ({"": 1}, "", "name"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(written, place, named):
    with pytest.raises(UsageError) as caught:
        from_operators(written)
    said = f"{caught.value.message} {caught.value.hint}"
    assert place in said
    assert named in said


@pytest.mark.parametrize("value", [{"$gt": 1}, [1], None])
def test_flat_equality_takes_single_values_only(value):
    with pytest.raises(UsageError) as caught:
        from_flat({"page": value})
    assert "page" in caught.value.message


def test_a_filter_that_is_too_deep_too_long_or_no_object_is_refused():
    deep: dict[str, object] = {"page": 1}
    fields: dict[str, object] = {"$gt": 1}
    for _ in range(50):
        deep, fields = {"$not": deep}, {"$not": fields}
    for written in (deep, {"page": fields}, {"$or": [{"page": number} for number in range(500)]}):
        with pytest.raises(UsageError):
            from_operators(written)
    with pytest.raises(UsageError):
        from_operators([1])  # type: ignore[arg-type]


def test_fields_and_metadata_that_there_are_pass_the_check():
    found = from_operators({"author": "Ada", "metadata.rating": {"$gt": 3}, "page": 1, "place.sheet": "x"})
    assert found is not None
    check(found, KEYS)


def test_an_unknown_field_is_named_with_its_likely_meaning_and_all_that_there_are():
    with pytest.raises(UsageError) as caught:
        check(Not(Compare("autor", "eq", "Ada")), KEYS)
    error = caught.value
    assert error.message == "There is no field 'autor'. Did you mean author?"
    assert "collection, path, type" in error.hint
    assert "author, header, rating" in error.hint
    assert error.details["field"] == "autor"


def test_an_unknown_field_of_a_caller_with_names_of_its_own_is_told_in_these():
    names = {"library": "collection", "page_number": "page"}
    with pytest.raises(UsageError) as caught:
        check(Compare("librari", "eq", "x"), (), names=names)
    assert "Did you mean library?" in caught.value.message
    assert caught.value.hint == "Fields: library, page_number. Metadata in this index: none."
    with pytest.raises(UsageError) as caught:
        check(Compare("page", "eq", "x"), (), names=names)
    assert caught.value.message == "page_number takes a number, not 'x'."


def test_keys_of_places_are_checked_where_they_are_known():
    check(Compare("place.sheet", "eq", "x"), ())
    check(Compare("place.sheet", "eq", "x"), (), place_keys={"sheet"})
    with pytest.raises(UsageError):
        check(Compare("place.shet", "eq", "x"), (), place_keys={"sheet"})


def test_a_long_list_of_metadata_is_cut():
    with pytest.raises(UsageError) as caught:
        check(Compare("zzz", "eq", 1), {f"key{number:03}" for number in range(100)})
    assert "key029 and 70 more" in caught.value.hint
