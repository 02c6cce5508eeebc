"""Does a citation or quote still hold? In every store: valid, moved, changed, gone."""

from dataclasses import replace

import pytest

from contract.builders import add_collections, id_at, make_draft, put_texts
from dowse.errors import UsageError
from dowse.ports import Store
from dowse.search.citations import citation_of
from dowse.search.references import parse_citation
from dowse.search.verify import Verdict, verify
from dowse.search.verify.quotes import difference, nearest_span, spans_of
from search.asking import ask

TEA = (
    "# Tea\n\nGreen tea wants water below eighty degrees, or it turns bitter.\n\n"
    "Black tea wants boiling water.\nIt may stand for five minutes, and milk does it no harm.\n"
)
CHANGED_TEA = TEA.replace("below eighty", "below seventy")
SOUP = "# Soup\n\nSoup wants salt and time.\n"


@pytest.fixture
def notes(store: Store) -> Store:
    add_collections(store, "notes", "work")
    put_texts(store, {"tea.md": TEA, "soup.md": SOUP})
    return store


def checked(store: Store, claim: str, **options) -> Verdict:
    with store.snapshot() as view:
        return verify(view, claim, **options)


def cited(store: Store, words: str) -> str:
    """The URI of the best hit."""
    return citation_of(ask(store, words, mode="lex").hits[0]).uri


def replaced(store: Store, path: str, text: str) -> None:
    store.put([make_draft(path, text, id=id_at(store, f"notes/{path}"))])


# Citations


def test_what_did_not_change_is_valid(notes):
    uri = cited(notes, "green bitter")
    verdict = checked(notes, uri)
    assert verdict.state == "valid"
    assert verdict.quotes == ("Green tea wants water below eighty degrees, or it turns bitter.",)
    assert verdict.citations[0].uri == uri
    assert verdict.notes == ()


def test_a_passage_is_valid_while_its_document_changes_elsewhere(notes):
    uri = cited(notes, "green bitter")
    replaced(notes, "tea.md", TEA + "\nIced tea is cold.\n")
    verdict = checked(notes, uri)
    assert verdict.state == "valid"
    assert verdict.notes == ("The document has changed, but not here.",)


def test_a_passage_that_stands_further_down_has_moved(notes):
    uri = cited(notes, "green bitter")
    replaced(notes, "tea.md", "# News\n\nNew things first.\n\n" + TEA)
    verdict = checked(notes, uri)
    assert verdict.state == "moved"
    assert "line 7" in verdict.message
    (now,) = verdict.citations
    assert (now.file, now.first_line, now.headings) == ("notes/tea.md", 7, ("Tea",))
    assert checked(notes, now.uri).state == "valid"


def test_a_passage_follows_its_renamed_file(notes):
    uri = cited(notes, "green bitter")
    notes.put([make_draft("drinks/tea.md", TEA, id=id_at(notes, "notes/tea.md"))])
    verdict = checked(notes, uri)
    assert verdict.state == "moved"
    assert verdict.citations[0].file == "notes/drinks/tea.md"
    assert verdict.citations[0].first_line == 3


def test_a_passage_is_found_in_another_document_where_its_text_is_known(notes):
    uri = cited(notes, "green bitter")
    notes.delete([id_at(notes, "notes/tea.md")])
    put_texts(notes, {"drinks.md": "# Drinks\n\nA list.\n\n" + TEA}, collection="work")
    assert checked(notes, uri).state == "gone"
    verdict = checked(notes, uri, old_texts=lambda _: [SOUP, TEA])
    assert verdict.state == "moved"
    assert verdict.citations[0].file == "work/drinks.md"
    assert checked(notes, uri, quote="Green tea wants water below eighty degrees").state == "moved"


def test_a_passage_in_other_words_has_changed_and_the_difference_is_shown(notes):
    uri = cited(notes, "green bitter")
    replaced(notes, "tea.md", CHANGED_TEA)
    verdict = checked(notes, uri, old_texts=lambda _: [SOUP, TEA])
    assert verdict.state == "changed"
    assert verdict.diff.splitlines()[1:] == [
        "-Green tea wants water below eighty degrees, or it turns bitter.",
        "+Green tea wants water below seventy degrees, or it turns bitter.",
    ]
    assert verdict.quotes == ("Green tea wants water below seventy degrees, or it turns bitter.",)


def test_without_the_old_text_it_is_said_that_it_changed_and_what_stands_there_now(notes):
    uri = cited(notes, "green bitter")
    replaced(notes, "tea.md", CHANGED_TEA)
    verdict = checked(notes, uri)
    assert verdict.state == "changed"
    assert verdict.diff == ""
    assert "not known" in verdict.message
    assert verdict.citations[0].first_line == 3


def test_a_passage_that_was_taken_out_is_gone(notes):
    uri = cited(notes, "green bitter")
    replaced(notes, "tea.md", "# Tea\n\nNothing is said about it any more.\n")
    verdict = checked(notes, uri, old_texts=lambda _: [SOUP, TEA])
    assert verdict.state == "gone"
    assert "The document is there" in verdict.message


def test_a_deleted_document_is_gone(notes):
    uri = cited(notes, "green bitter")
    notes.delete([id_at(notes, "notes/tea.md")])
    verdict = checked(notes, uri, old_texts=lambda _: [SOUP, TEA])
    assert verdict == Verdict("gone", "The document is not in the index.")


def test_a_uri_names_a_whole_path_not_the_end_of_another(notes):
    put_texts(notes, {"notes/new.md": SOUP}, collection="work")
    assert checked(notes, "dowse://notes/new.md#L1").state == "gone"


def test_a_citation_without_hashes_is_checked_by_its_place(notes):
    verdict = checked(notes, "tea.md:3")
    assert verdict.state == "valid"
    assert verdict.quotes[0].startswith("Green tea")
    assert "no hash" in verdict.notes[0]
    assert checked(notes, "notes/tea.md:5-6").quotes[0].endswith("no harm.")
    assert checked(notes, "dowse://notes/tea.md#L99").state == "changed"


def test_a_quote_beside_a_citation_is_what_counts(notes):
    uri = cited(notes, "green bitter")
    assert checked(notes, uri, quote="“water below  eighty\ndegrees”").state == "valid"
    elsewhere = checked(notes, uri, quote="Black tea wants boiling water.")
    assert elsewhere.state == "moved"
    assert elsewhere.citations[0].first_line == 5
    assert checked(notes, uri, quote="Soup wants salt").citations[0].file == "notes/soup.md"
    assert checked(notes, uri, quote="entirely unheard of nonsense").state == "gone"


def test_the_same_bytes_read_otherwise_are_not_taken_for_the_same_text(notes):
    """Another extractor may make another text of a file that did not change."""
    uri = cited(notes, "green bitter")
    reference = parse_citation(uri)
    assert reference is not None
    assert reference.span is not None
    start, end = reference.span
    shifted = uri.replace(f"chars={start}-{end}", f"chars={start + 1}-{end + 1}")
    verdict = checked(notes, shifted)
    assert verdict.state == "moved"
    assert verdict.citations[0].start == start


@pytest.mark.parametrize(("freshness", "says"), [("stale", "has changed"), ("gone", "vanished"), ("fresh", "")])
def test_a_source_that_is_newer_than_the_index_is_told(notes, freshness, says):
    verdict = checked(notes, cited(notes, "green bitter"), freshness_of=lambda _: freshness)
    assert verdict.freshness == freshness
    assert says in " ".join(verdict.notes)
    assert bool(verdict.notes) is bool(says)


# Quotes


@pytest.mark.parametrize(
    "quoted",
    [
        "Green tea wants water below eighty degrees",
        '"Green tea wants water below eighty degrees, or it turns bitter."',
        "Black tea wants boiling water. It may stand for five minutes",
        "green tea".replace("green", "Green"),
        "Green tea wants water … turns bitter",
        "turns bitter.\n\nBlack tea",
    ],
)
def test_a_quote_is_valid_wherever_it_stands(notes, quoted):
    verdict = checked(notes, quoted)
    assert verdict.state == "valid"
    assert verdict.citations[0].file == "notes/tea.md"
    text = TEA[verdict.citations[0].start : verdict.citations[0].end]
    assert verdict.quotes[0] == text


def test_every_place_of_a_quote_is_listed(notes):
    put_texts(notes, {"copy.md": TEA, "twice.md": "It turns bitter. Yes, it turns bitter."}, collection="work")
    verdict = checked(notes, "turns bitter")
    assert sorted(each.file for each in verdict.citations) == [
        "notes/tea.md",
        "work/copy.md",
        "work/twice.md",
        "work/twice.md",
    ]


def test_a_quote_is_found_in_collections_that_are_not_searched_by_default(notes):
    with notes.snapshot() as view:
        (work,) = (each for each in view.collections() if each.name == "work")
    notes.put_collection(replace(work, included=False))
    put_texts(notes, {"plan.md": "The plan is to wait."}, collection="work")
    assert checked(notes, "plan is to wait").state == "valid"


def test_a_quote_in_other_words_has_changed(notes):
    verdict = checked(notes, "Black tea wants boiling water. It may stand for ten minutes, and milk does it no harm.")
    assert verdict.state == "changed"
    assert "-It may stand for ten minutes, and milk does it no harm." in verdict.diff
    assert "+It may stand for five minutes, and milk does it no harm." in verdict.diff
    assert (verdict.citations[0].first_line, verdict.citations[0].last_line) == (5, 6)


def test_a_quote_that_nobody_wrote_is_gone(notes):
    assert checked(notes, "The emperor wears purple on Tuesdays").state == "gone"
    assert checked(notes, "tea is a fine thing to have in winter when water freezes").state == "gone"


@pytest.mark.parametrize("claim", ["", "  ", "!!!", "…"])
def test_nothing_cannot_be_verified(notes, claim):
    with pytest.raises(UsageError):
        checked(notes, claim)


# Texts


@pytest.mark.parametrize(
    ("quoted", "text", "found"),
    [
        ("a b", "x a\n  b y", ["a\n  b"]),
        ("don't", "He don’t know", ["don’t"]),
        ("a - b", "a — b", ["a — b"]),
        ("吾輩は猫である", "吾輩は\n猫である。", ["吾輩は\n猫である"]),
        ("使用 Python 编程", "我使用Python编程。", ["使用Python编程"]),
        ("a.b*", "a.b* axb", ["a.b*"]),
        ("x", "x x x", ["x", "x", "x"]),
        ("ab", "a b", []),
        ("", "a", []),
        ("...", "a", []),
    ],
)
def test_white_space_and_kinds_of_marks_do_not_matter(quoted, text, found):
    assert [text[start:end] for start, end in spans_of(quoted, text)] == found


def test_the_part_of_a_text_that_is_most_like_a_quote_is_found():
    text = "Before it, other words. " * 5 + "The quick brown fox jumps over the lazy dog today. " + "And after it. " * 5
    ratio, start, end = nearest_span("The quick red fox jumps over the very lazy dog today.", text)
    assert text[start:end] == "The quick brown fox jumps over the lazy dog today."
    assert 0.8 < ratio < 1
    assert nearest_span("words", "") == (0.0, 0, 0)


def test_equal_texts_have_no_difference():
    assert difference("One. Two.", "One.\nTwo.") == ""
    assert difference("One. Two. Three.", "One. Two! Three.").splitlines() == [
        "@@ -1,3 +1,3 @@",
        " One.",
        "-Two.",
        "+Two!",
        " Three.",
    ]
