"""Documents by name, by several names, by glob; and what is suggested where a name is wrong."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contract.builders import add_collections, content_hash, id_at, make_draft, put_texts
from contract.conftest import MAKERS
from dowse.errors import NotFoundError, UsageError
from dowse.ports import Store
from dowse.search.lookup import Found, get, get_many, similar
from dowse.search.spelling import similar_names
from dowse.types import Document, DocumentInfo

NOTES = {
    "readme.md": "about these notes",
    "2025/meeting.md": "\n".join(f"line {number}" for number in range(1, 201)),
    "2025/My file.md": "with a space",
    "2025/50%25 off.md": "with a percent sign",
    "2025/talk:12": "first\nsecond\nthird",
    "2025/talk:12:3": "a name like a place",
    "a, b.md": "with a comma",
    "[draft].md": "with brackets",
    "d.md": "found by a set",
    "deadbeef": "a name like a docid",
    "ünï/çödé.md": "with accents",
}
WORK = {"readme.md": "about this work", "2025/meeting.md": "another meeting", "plan.txt": "a plan"}
WEB = {"https://example.com/": "the page", "https://example.com/a?b=c#d": "a page below"}


@pytest.fixture(scope="module", params=list(MAKERS))
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Documents whose names are hard to tell from something else; not to be written to."""
    filled = MAKERS[request.param](tmp_path_factory.mktemp("shelf"))
    add_collections(filled, "notes", "work", "web")
    for collection, texts in {"notes": NOTES, "work": WORK, "web": WEB}.items():
        put_texts(filled, texts, collection=collection)
    yield filled
    filled.close()


def got(store: Store, name: str, **options: int) -> Document:
    with store.snapshot() as view:
        return get(view, name, **options)


def got_many(store: Store, pattern: str, **options: int) -> Found:
    with store.snapshot() as view:
        return get_many(view, pattern, **options)


def file_of(store: Store, name: str) -> str:
    return got(store, name).info.file


def files_of(found: Found) -> list[str]:
    return [document.info.file for document in found.documents]


# One name


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("notes/readme.md", "notes/readme.md"),
        ("work/readme.md", "work/readme.md"),
        ("/notes/readme.md", "notes/readme.md"),
        ("notes/readme.md/", "notes/readme.md"),
        ("2025/My file.md", "notes/2025/My file.md"),
        ("My file.md", "notes/2025/My file.md"),
        ("plan.txt", "work/plan.txt"),
        ("a, b.md", "notes/a, b.md"),
        ("[draft].md", "notes/[draft].md"),
        ("çödé.md", "notes/ünï/çödé.md"),
        ("50%25 off.md", "notes/2025/50%25 off.md"),
        ("deadbeef", "notes/deadbeef"),
        ("https://example.com/", "web/https://example.com/"),
        ("https://example.com/a?b=c#d", "web/https://example.com/a?b=c#d"),
        ("web/https://example.com/a?b=c#d", "web/https://example.com/a?b=c#d"),
    ],
)
def test_a_document_is_found_by_its_name_or_by_the_end_of_it_from_a_slash_on(
    shelf: Store, name: str, file: str
) -> None:
    assert file_of(shelf, name) == file


@pytest.mark.parametrize(
    "name", ["eeting.md", "y file.md", "otes/readme.md", "Readme.md", "2025", "notes", "", "/", "qmd://"]
)
def test_what_only_looks_like_the_end_of_a_name_is_not_found(shelf: Store, name: str) -> None:
    with pytest.raises(NotFoundError):
        got(shelf, name)


def test_of_several_that_end_alike_the_first_by_path_is_meant(shelf: Store) -> None:
    assert file_of(shelf, "readme.md") == "notes/readme.md"
    assert file_of(shelf, "2025/meeting.md") == "notes/2025/meeting.md"


def test_a_whole_name_beats_an_earlier_one_that_ends_alike(store: Store) -> None:
    put_texts(store, {"work/readme.md": "notes about work"})
    put_texts(store, {"readme.md": "work itself"}, collection="work")
    assert file_of(store, "work/readme.md") == "work/readme.md"


@pytest.mark.parametrize("scheme", ["qmd://", "dowse://", "QMD://"])
@pytest.mark.parametrize(
    ("rest", "file"),
    [
        ("notes/readme.md", "notes/readme.md"),
        ("notes/2025/My%20file.md", "notes/2025/My file.md"),
        ("notes%2F2025%2FMy%20file.md", "notes/2025/My file.md"),
        ("notes/2025/My file.md", "notes/2025/My file.md"),
        ("2025/My%20file.md", "notes/2025/My file.md"),
        ("notes/2025/50%2525%20off.md", "notes/2025/50%25 off.md"),
        ("notes/2025/50%25 off.md", "notes/2025/50%25 off.md"),
        ("notes/%C3%BCn%C3%AF/%C3%A7%C3%B6d%C3%A9.md", "notes/ünï/çödé.md"),
        ("web/https%3A//example.com/", "web/https://example.com/"),
    ],
)
def test_a_uri_is_read_percent_encoded_or_not(shelf: Store, scheme: str, rest: str, file: str) -> None:
    assert file_of(shelf, scheme + rest) == file


def test_a_plain_name_is_not_decoded(shelf: Store) -> None:
    with pytest.raises(NotFoundError):
        got(shelf, "notes/2025/My%20file.md")


def test_a_docid_finds_with_and_without_its_sign_in_any_case_and_length(shelf: Store) -> None:
    digest = content_hash(NOTES["readme.md"])
    for length in (6, 7, 12, 64):
        for spelled in (digest[:length], digest[:length].upper()):
            assert file_of(shelf, spelled) == "notes/readme.md"
            assert file_of(shelf, f"#{spelled}") == "notes/readme.md"
    assert got(shelf, "plan.txt").info.docid == f"#{content_hash(WORK['plan.txt'])[:6]}"
    assert file_of(shelf, f"#{digest[:8]}:1") == "notes/readme.md"
    for length in (1, 5):
        with pytest.raises(NotFoundError):
            got(shelf, f"#{digest[:length]}")


def test_of_copies_a_docid_means_the_first_by_path(store: Store) -> None:
    put_texts(store, {"b.md": "same", "a.md": "same"})
    assert file_of(store, content_hash("same")[:6]) == "notes/a.md"


def test_a_file_beats_the_docid_that_it_is_called_like(store: Store) -> None:
    digits = content_hash("other")[:6]
    put_texts(store, {digits: "called so", "z.md": "other"})
    assert file_of(store, digits) == f"notes/{digits}"
    assert file_of(store, f"#{digits}") == "notes/z.md"


def test_an_id_finds_in_each_way_of_writing_it(shelf: Store) -> None:
    document = id_at(shelf, "work/plan.txt")
    for spelled in (str(document), str(document).upper(), document.hex, document.urn):
        assert file_of(shelf, spelled) == "work/plan.txt"


def test_an_unknown_id_is_not_found(shelf: Store) -> None:
    with pytest.raises(NotFoundError):
        got(shelf, str(make_draft("x.md", "x").info.id))


# Lines


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("meeting.md", 1, 200),
        ("meeting.md:120", 120, 200),
        ("meeting.md:120:40", 120, 159),
        ("notes/2025/meeting.md:200", 200, 200),
        ("qmd://notes/2025/meeting.md:7:2", 7, 8),
        ("meeting.md:199:40", 199, 200),
        ("meeting.md:1:1", 1, 1),
    ],
)
def test_lines_are_picked_in_the_name(shelf: Store, name: str, first: int, last: int) -> None:
    found = got(shelf, name)
    assert found.first_line == first
    assert found.text == "\n".join(f"line {number}" for number in range(first, last + 1))
    assert found.total_lines == 200


def test_lines_are_picked_by_arguments_and_those_in_the_name_win(shelf: Store) -> None:
    assert got(shelf, "meeting.md", first_line=3, max_lines=2).text == "line 3\nline 4"
    assert got(shelf, "meeting.md", max_lines=1).text == "line 1"
    assert got(shelf, "meeting.md:7", first_line=3, max_lines=2).text == "line 7\nline 8"
    assert got(shelf, "meeting.md:7:1", first_line=3, max_lines=2).text == "line 7"


def test_a_name_that_ends_like_a_place_is_still_a_name(shelf: Store) -> None:
    assert got(shelf, "talk:12").text == "first\nsecond\nthird"
    assert got(shelf, "talk:12:2").text == "second\nthird"
    assert got(shelf, "talk:12:2:1").text == "second"
    assert got(shelf, "talk:12:3").text == "a name like a place"


def test_beyond_the_end_there_are_no_lines(shelf: Store) -> None:
    found = got(shelf, "meeting.md:1000")
    assert (found.text, found.first_line, found.total_lines) == ("", 1000, 200)


@pytest.mark.parametrize("name", ["meeting.md:0", "meeting.md:5:0", "meeting.md:0:5"])
def test_lines_are_counted_from_1(shelf: Store, name: str) -> None:
    with pytest.raises(UsageError) as refusal:
        got(shelf, name)
    assert refusal.value.hint


@pytest.mark.parametrize("options", [{"first_line": 0}, {"max_lines": 0}, {"first_line": -3}])
def test_arguments_count_from_1_too(shelf: Store, options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        got(shelf, "meeting.md", **options)


@pytest.mark.parametrize(
    "name", ["meeting.md:", "meeting.md:x", "meeting.md:1:2:3", "meeting.md:-1", f"meeting.md:{'9' * 5000}"]
)
def test_what_is_no_line_number_is_part_of_the_name(shelf: Store, name: str) -> None:
    with pytest.raises(NotFoundError):
        got(shelf, name)


@given(
    name=st.text(
        st.characters(exclude_categories=()) | st.sampled_from("notes/readme.md:#%*?[]{},0123456789abcdef"), max_size=40
    )
)
@example("\ud800.md")
@example("\0")
def test_no_name_breaks_anything(shelf: Store, name: str) -> None:
    for find in (got, got_many):
        with suppress(NotFoundError, UsageError):
            find(shelf, name)


# Suggestions


def suggested(store: Store, name: str) -> object:
    with pytest.raises(NotFoundError) as refusal:
        got(store, name)
    similar_to_it = refusal.value.details["similar"]
    assert isinstance(similar_to_it, list)
    assert all(file in refusal.value.hint for file in similar_to_it)
    with store.snapshot() as view:
        assert similar(view, name) == similar_to_it
    return similar_to_it


@pytest.mark.parametrize(
    "name", ["raedme.md", "redme.md", "README.md", "notes/raedme.md", "qmd://notes/raedme.md", "raedme.md:12:3"]
)
def test_a_misspelled_name_gets_up_to_three_suggestions_with_or_without_its_collection(store: Store, name: str) -> None:
    put_texts(store, {"readme.md": "a", "sub/readme.md": "b", "readme.txt": "c", "something-else-entirely.md": "d"})
    put_texts(store, {"readme.md": "e"}, collection="work")
    found = suggested(store, name)
    assert isinstance(found, list)
    assert len(found) == 3
    assert found[0] == "notes/readme.md"
    assert "notes/something-else-entirely.md" not in found


def test_nearer_names_come_first_and_equally_near_ones_by_name(store: Store) -> None:
    put_texts(store, {"planet.md": "a", "plant.md": "b", "planes.md": "c", "plane.md": "d"})
    assert suggested(store, "plan.md") == ["notes/plane.md", "notes/plant.md", "notes/planes.md"]


def test_where_nothing_is_alike_the_hint_says_where_to_look(shelf: Store) -> None:
    with pytest.raises(NotFoundError) as refusal:
        got(shelf, "entirely/different/and/much/longer/than/any.docx")
    assert refusal.value.details["similar"] == []
    assert "dowse ls" in refusal.value.hint
    assert "entirely/different" in refusal.value.message


def infos(*paths: str) -> list[DocumentInfo]:
    return [make_draft(path, "text").info for path in sorted(paths)]


def levenshtein(left: str, right: str) -> int:
    """By the definition."""
    rows = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        above, rows[0] = rows[0], i
        for j, b in enumerate(right, start=1):
            above, rows[j] = rows[j], min(rows[j] + 1, rows[j - 1] + 1, above + (a != b))
    return rows[-1]


names = st.text("abAé/.", min_size=1, max_size=9)


@given(wanted=names, paths=st.sets(names, max_size=8))
def test_suggestions_are_the_nearest_by_levenshtein(wanted: str, paths: set[str]) -> None:
    def distance(info: DocumentInfo) -> tuple[int, str]:
        forms = (info.file, info.path, info.path.rsplit("/", 1)[-1])
        return min((levenshtein(wanted.casefold(), form.casefold()), form) for form in forms)

    documents = infos(*paths)
    near = [
        (distance(info)[0], info.file)
        for info in documents
        if distance(info)[0] <= max(3, max(len(wanted), len(distance(info)[1])) // 2)
    ]
    assert similar_names(wanted, documents) == [file for _, file in sorted(near)[:3]]


@pytest.mark.parametrize(
    "asked", ["week-0412/metting-notes.md", "notes/week-0412/meeting-nots.md", "wek-0412/meeting-notes.md"]
)
def test_one_name_among_thousands_is_suggested(asked: str) -> None:
    documents = infos(*(f"week-{number:04}/{name}.md" for number in range(1_000) for name in ("meeting-notes", "plan")))
    assert similar_names(asked, documents)[0] == "notes/week-0412/meeting-notes.md"


def test_an_endless_name_is_like_no_other() -> None:
    assert similar_names("x" * 100_000, infos("x.md")) == []
    assert similar_names("", infos("x.md")) == []


# Several names


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("work/*", ["work/plan.txt", "work/readme.md"]),
        ("work/**", ["work/2025/meeting.md", "work/plan.txt", "work/readme.md"]),
        ("**/meeting.md", ["notes/2025/meeting.md", "work/2025/meeting.md"]),
        ("2025/meet*", ["notes/2025/meeting.md", "work/2025/meeting.md"]),
        ("*.txt", ["work/plan.txt"]),
        ("work/{plan.txt,readme.md}", ["work/plan.txt", "work/readme.md"]),
        ("{notes,work}/readme.md", ["notes/readme.md", "work/readme.md"]),
        ("?.md", ["notes/d.md"]),
        ("work/[pr]*", ["work/plan.txt", "work/readme.md"]),
        ("work/[!p]*", ["work/readme.md"]),
        ("qmd://work/*", ["work/plan.txt", "work/readme.md"]),
        ("notes/2025/My*", ["notes/2025/My file.md"]),
        ("dowse://notes/2025/My%20f*", ["notes/2025/My file.md"]),
    ],
)
def test_a_glob_finds_by_the_whole_name_or_by_the_path(shelf: Store, pattern: str, expected: list[str]) -> None:
    found = got_many(shelf, pattern)
    assert files_of(found) == expected
    assert found.missed == ()


def test_a_name_that_looks_like_a_glob_or_a_list_is_still_a_name(shelf: Store) -> None:
    assert files_of(got_many(shelf, "notes/[draft].md")) == ["notes/[draft].md"]
    assert files_of(got_many(shelf, "notes/a, b.md")) == ["notes/a, b.md"]
    assert files_of(got_many(shelf, "a, b.md")) == ["notes/a, b.md"]
    assert files_of(got_many(shelf, "a, b.md:1:1")) == ["notes/a, b.md"]


def test_a_list_is_answered_in_its_order_each_document_once(shelf: Store) -> None:
    found = got_many(shelf, " plan.txt ,notes/readme.md,, work/plan.txt, [draft].md, *.txt, {d,e}.md,")
    assert files_of(found) == ["work/plan.txt", "notes/readme.md", "notes/[draft].md", "notes/d.md"]
    assert found.missed == ()


def test_a_list_may_name_docids_and_lines(shelf: Store) -> None:
    digest = content_hash(WORK["plan.txt"])
    found = got_many(shelf, f"#{digest[:6]}, meeting.md:7:2, meeting.md:9")
    assert files_of(found) == ["work/plan.txt", "notes/2025/meeting.md", "notes/2025/meeting.md"]
    assert found.documents[1].text == "line 7\nline 8"
    assert found.documents[2].first_line == 9


def test_unknown_names_in_a_list_are_missed_with_a_suggestion_and_the_others_found(shelf: Store) -> None:
    found = got_many(shelf, "plan.txt, raedme.md, zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz, nothing/*.xyz")
    assert files_of(found) == ["work/plan.txt"]
    assert [name for name, _ in found.missed] == ["raedme.md", "z" * 41, "nothing/*.xyz"]
    reasons = dict(found.missed)
    assert "Not found" in reasons["raedme.md"]
    assert "notes/readme.md" in reasons["raedme.md"]
    assert "dowse ls" in reasons["z" * 41]


def test_when_all_names_are_unknown_each_is_missed(shelf: Store) -> None:
    found = got_many(shelf, "nowhere.md, neither.md")
    assert found.documents == ()
    assert [name for name, _ in found.missed] == ["nowhere.md", "neither.md"]


@pytest.mark.parametrize("pattern", ["nothing/*.xyz", "*.xyz", "{q,w}.md", "", " , "])
def test_when_nothing_matches_it_is_not_found(shelf: Store, pattern: str) -> None:
    with pytest.raises(NotFoundError) as refusal:
        got_many(shelf, pattern)
    assert refusal.value.hint


def test_what_is_larger_than_allowed_is_missed_with_its_size_in_whole_kilobytes(store: Store) -> None:
    sizes = {"a.md": 1_535, "b.md": 1_536, "c.md": 2_560, "d.md": 10_240, "e.md": 15_000, "f.md": 400}
    put_texts(store, {path: "x" * size for path, size in sizes.items()})
    found = got_many(store, "notes/*.md", max_bytes=400)
    assert files_of(found) == ["notes/f.md"]
    assert found.missed == (
        ("notes/a.md", "File too large (1KB)."),
        ("notes/b.md", "File too large (2KB)."),
        ("notes/c.md", "File too large (3KB)."),
        ("notes/d.md", "File too large (10KB)."),
        ("notes/e.md", "File too large (15KB)."),
    )
    assert files_of(got_many(store, "d.md", max_bytes=10_240)) == ["notes/d.md"]
    assert got_many(store, "d.md", max_bytes=10_239).documents == ()


def test_bytes_are_counted_not_characters(store: Store) -> None:
    put_texts(store, {"a.md": "é" * 300})
    assert got_many(store, "a.md", max_bytes=599).documents == ()
    assert files_of(got_many(store, "a.md", max_bytes=600)) == ["notes/a.md"]


def test_lines_of_a_document_that_is_too_large_as_a_whole_may_be_small_enough(shelf: Store) -> None:
    assert got_many(shelf, "notes/2025/meeting.md", max_bytes=100).documents == ()
    (part,) = got_many(shelf, "notes/2025/meeting.md:7:2", max_bytes=100).documents
    assert part.text == "line 7\nline 8"


def test_a_limit_of_lines_holds_for_each_and_the_name_may_ask_for_fewer(shelf: Store) -> None:
    found = got_many(shelf, "notes/2025/meeting.md, talk:12, work/2025/meeting.md", max_lines=2)
    assert [document.text for document in found.documents] == ["line 1\nline 2", "first\nsecond", "another meeting"]
    assert got_many(shelf, "meeting.md:5:1", max_lines=2).documents[0].text == "line 5"
    assert got_many(shelf, "meeting.md:5:9", max_lines=2).documents[0].text == "line 5\nline 6"


def test_a_found_document_is_complete(store: Store) -> None:
    put_texts(store, {"a.md": "one\ntwo\n"})
    found = got(store, "a.md")
    assert found.text == "one\ntwo\n"
    assert found.first_line == 1
    assert found.total_lines == 2
    assert got(store, "a.md:2").text == "two\n"
    assert got(store, "a.md:2:1").text == "two"
