"""What a row of the lexical index holds, and what it is worth."""

import tantivy
from hypothesis import given
from hypothesis import strategies as st

from dowse.text.analyse import analyse
from dowse.text.fields import AROUND, BOOSTS, K1, B, ceiling, idf, lexical_rows
from dowse.types import Chunk


def chunk(text: str, *headings: str) -> Chunk:
    return Chunk(text, 0, len(text), 1, 1, 0, headings)


def rows_of(title: str, path: str, chunks: list[Chunk]) -> list[dict[str, list[str]]]:
    return [{field: terms.split() for field, terms in row.items()} for row in lexical_rows(title, path, chunks)]


def test_every_field_has_a_boost():
    (row,) = rows_of("Title", "a/b.md", [chunk("text")])
    assert row.keys() == BOOSTS.keys()


def test_the_constants_are_those_of_tantivy():
    assert (K1, B) == (1.2, 0.75)


def test_body_is_introduced_by_title_and_headings():
    (row,) = rows_of("Guide", "guide.md", [chunk("plain words", "Setup", "Linux")])
    assert row["title"] == analyse("Guide Setup Linux")
    assert row["body"] == analyse("Guide Setup Linux plain words")


def test_a_title_that_is_the_first_heading_counts_once():
    (row,) = rows_of("Guide", "guide.md", [chunk("text", "Guide", "Setup")])
    assert row["title"] == analyse("Guide Setup")


def test_a_path_is_found_by_its_name_and_its_folders():
    (row,) = rows_of("", "notes/api-design.md", [chunk("text")])
    assert {"note", "api", "design", "apidesign", "notesapi"} <= set(row["path"])


def test_a_lone_chunk_has_nothing_around_it():
    (row,) = rows_of("Title", "p", [chunk("one two", "Heading")])
    assert row["around"] == row["body"]


def test_around_holds_the_neighbours_in_their_order():
    before, middle, after = rows_of("", "p", [chunk("red"), chunk("green"), chunk("blue")])
    assert before["around"] == middle["around"] == after["around"] == ["red", "green", "blue"]
    assert middle["body"] == ["green"]


def test_around_reaches_as_far_as_its_number_of_terms():
    words = [f"w{number}x" for number in range(1_000)]
    chunks = [chunk(" ".join(words[at : at + 30])) for at in range(0, 1_000, 30)]
    rows = rows_of("", "p", chunks)
    assert rows[10]["around"] == words[300 - AROUND : 330 + AROUND]
    assert rows[0]["around"] == words[: 30 + AROUND]
    assert rows[-1]["around"] == words[990 - AROUND :]


def test_a_document_without_chunks_has_no_rows():
    assert rows_of("Title", "p", []) == []


@given(st.lists(st.text(max_size=40), max_size=6))
def test_a_body_is_the_middle_of_its_around(texts):
    for row in rows_of("Title", "p", [chunk(text) for text in texts]):
        body = row["body"][1:]
        around = row["around"][1:]
        assert len(around) <= len(body) + 2 * AROUND
        assert any(around[at : at + len(body)] == body for at in range(len(around) - len(body) + 1))


def test_rare_terms_tell_more():
    assert idf(100, 1) > idf(100, 50) > idf(100, 100) > 0


def test_the_ceiling_adds_what_each_field_could_give_at_most():
    assert ceiling({"body": [1.0, 2.0], "path": [3.0]}) == (K1 + 1) * (BOOSTS["body"] * 3 + BOOSTS["path"] * 3)
    assert ceiling({}) == 0


def test_tantivy_keeps_the_terms_as_they_are_and_scores_below_the_ceiling():
    texts = ["Use c++, C# and .NET: getUserName()", "战国无双3是由光荣 ภาษาไทย 👩‍💻 naïve", "x" * 500, "plain words"]
    rows = rows_of("Notes on α", "src/lib/i18n.ts", [chunk(text) for text in texts])
    builder = tantivy.SchemaBuilder()
    for field in BOOSTS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(15_000_000, 1)
    for row in rows:
        document = tantivy.Document()
        for field, terms in row.items():
            document.add_text(field, " ".join(terms))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    for field in BOOSTS:
        for term in {term for row in rows for term in row[field]}:
            containing = sum(term in row[field] for row in rows)
            assert searcher.doc_freq(field, term) == containing
            query = tantivy.Query.term_query(schema, field, term, "freq")
            best = searcher.search(query, 1).hits[0][0] * BOOSTS[field]
            assert 0 < best <= ceiling({field: [idf(len(rows), containing)]})
