"""The one mapping from nouns to JSON."""

import json
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from dowse.errors import NotFoundError
from dowse.interfaces import wire
from dowse.types import (
    Chunk,
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    EmbedReport,
    Explain,
    Finding,
    Fingerprint,
    Hit,
    IndexReport,
    LedgerEntry,
    Leg,
    ModelIdentity,
    Snippet,
    StoreStats,
)

INFO = DocumentInfo(
    id=UUID("01890a5d-ac96-774b-bcce-b302099a8057"),
    collection="notes",
    path="tea/green.md",
    uri="file:///notes/tea/green.md",
    title="Green tea",
    content_hash="ab12cd" + "0" * 58,
    media_type="text/markdown",
    origin="walked",
    fingerprint=Fingerprint(120, 1_700_000_000_000_000_000),
    updated_at=1_750_250_096_789,
)
HIT = Hit(
    info=INFO,
    chunk=Chunk("Water below\neighty degrees.", 10, 37, 3, 4, 6, headings=("Green tea", "Water"), page=2),
    ordinal=1,
    score=0.123456,
    snippet=Snippet("Water below\neighty degrees.", 3, 10, ((0, 5),)),
    contexts=("Everything", "About tea"),
    explain=Explain((Leg("lex", 1, 12.5, 0.5, 0.42), Leg("vec", None, 0.7, 0.7, 0.58)), 0.616, 0.123456),
)
STATS = StoreStats(
    collections=(
        CollectionStats(
            Collection("notes", "/notes", "**/*.md", created_at=1_000, updated_at=1_750_250_096_789), 3, 9, 1, 2, 4
        ),
        CollectionStats(Collection("given", None, included=False), 0, 0, 0, 0, 0),
    ),
    documents=3,
    chunks=9,
    vectors=8,
    bytes_on_disk=4096,
    model=ModelIdentity("m", "w", 4, "cls", "int8", 512),
)


def test_a_hit_has_the_keys_of_the_specification_and_its_citation():
    made = wire.hit(HIT)
    assert {key: made[key] for key in ("docid", "file", "title", "score", "line", "context", "snippet")} == {
        "docid": "#ab12cd",
        "file": "notes/tea/green.md",
        "title": "Green tea",
        "score": 0.1235,
        "line": 3,
        "context": "Everything\nAbout tea",
        "snippet": "Water below\neighty degrees.",
    }
    assert made["headings"] == ["Green tea", "Water"]
    assert (made["page"], made["first_line"], made["last_line"]) == (2, 3, 4)
    assert made["id"] == str(INFO.id)
    assert made["content_hash"] == INFO.content_hash
    assert "explain" not in made
    assert "body" not in made


def test_a_hit_explains_itself_and_carries_the_whole_text_when_asked():
    made = wire.hit(HIT, line_numbers=True, explain=True, body="one\ntwo\n")
    assert made["snippet"] == "3: Water below\n4: eighty degrees."
    assert made["body"] == "1: one\n2: two\n"
    assert made["explain"]["legs"][0]["name"] == "lex"
    assert made["explain"]["legs"][1]["rank"] is None
    assert json.loads(wire.dumps(made)) == json.loads(json.dumps(made))


def test_a_result_without_context_says_null():
    assert wire.context_text(()) is None


def test_status_has_the_keys_of_the_specification():
    entry = LedgerEntry("notes", "bad.md", "failed", "unreadable", "It cannot be read.", "Allow it.", at=99)
    made = wire.status(STATS, [entry], version="1.2.3")
    assert (made["totalDocuments"], made["needsEmbedding"], made["hasVectorIndex"]) == (3, 1, True)
    first, second = made["collections"]
    assert {key: first[key] for key in ("name", "path", "pattern", "documents", "lastUpdated")} == {
        "name": "notes",
        "path": "/notes",
        "pattern": "**/*.md",
        "documents": 3,
        "lastUpdated": "2025-06-18T12:34:56.789Z",
    }
    assert (second["path"], second["pattern"], second["included"]) == ("", "", False)
    assert made["failures"][0]["file"] == "notes/bad.md"
    assert made["model"]["precision"] == "int8"
    assert made["version"] == "1.2.3"


def test_status_leaves_out_what_depends_on_how_the_index_came_about():
    text = wire.dumps(wire.status(STATS, [], version="1"))
    assert "4096" not in text


def test_times_are_iso_in_utc_with_milliseconds():
    assert wire.iso(1_750_250_096_789) == "2025-06-18T12:34:56.789Z"
    assert wire.iso(0) is None


def test_reports_documents_contexts_and_findings_become_plain_json():
    failed = LedgerEntry("notes", "x.md", "failed", "code", "reason")
    nouns = [
        wire.index_report(IndexReport("notes", added=2, failed=(failed,), guarded="because")),
        wire.embed_report(EmbedReport(5, 1, 0.12345)),
        wire.context(Context(None, "", "all")),
        wire.finding(Finding("database", ok=False, message="bad", hint="mend")),
        wire.document_info(INFO),
        wire.document(Document(INFO, "a\nb", ("c",), first_line=7, total_lines=9), line_numbers=True),
        wire.missed("x.md", "too large"),
        wire.collection(STATS.collections[0]),
        wire.error(NotFoundError("gone", hint="look", details={"similar": ["a"]})),
    ]
    again = json.loads(wire.dumps(nouns))
    assert again[0]["added"] == 2
    assert again[0]["failed"][0]["reason"] == "reason"
    assert again[0]["guarded"] == "because"
    assert again[1] == {"embedded": 5, "remaining": 1, "seconds": 0.123}
    assert again[2]["collection"] is None
    assert again[4]["bytes"] == 120
    assert again[5]["body"] == "7: a\n8: b"
    assert again[8] == {
        "error": {"code": "not_found", "message": "gone", "hint": "look", "details": {"similar": ["a"]}}
    }


@given(st.text(max_size=200))
@example("half a surrogate: \udc80, and a control of C1: \x9b")
def test_json_text_means_the_same_and_holds_nothing_that_a_terminal_obeys(text):
    dumped = wire.dumps({"text": text})
    assert json.loads(dumped) == {"text": text}
    dumped.encode("utf-8")
    assert not any(ord(letter) < 32 and letter != "\n" for letter in dumped)
    assert not any(127 <= ord(letter) < 160 for letter in dumped)


@given(
    st.lists(st.text(alphabet=st.characters(exclude_characters="\n"), max_size=20), min_size=1), st.integers(1, 9999)
)
def test_numbering_keeps_every_line_and_counts_truly(lines, first):
    text = "\n".join(lines)
    numbered = wire.numbered(text, first)
    if not text:
        assert numbered == ""
        return
    ending = text.endswith("\n")
    pieces = numbered.removesuffix("\n").split("\n") if ending else numbered.split("\n")
    expected = text.removesuffix("\n").split("\n") if ending else lines
    assert [piece.split(": ", 1)[1] for piece in pieces] == expected
    assert [int(piece.split(":")[0]) for piece in pieces] == list(range(first, first + len(expected)))
    assert numbered.endswith("\n") == ending


def test_compact_json_can_be_encoded_whatever_is_in_it():
    assert wire.compact({"a": ["é", 1]}) == '{"a":["é",1]}'
    assert wire.compact({"a": "\ud800"}).encode() == b'{"a":"\\ud800"}'
