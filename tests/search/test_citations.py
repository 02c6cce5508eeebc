"""Citations: what they carry, that they can be read back, and that they are read as people write them."""

import string
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.search.citations import EDITORS, check_editor, citation_of, cite, text_hash
from dowse.search.references import Reference, parse_citation
from dowse.types import Chunk, DocumentInfo, Explain, Fingerprint, Hit, Snippet

CHUNK = Chunk("Feed the starter.\nIt rests.", 120, 147, 10, 11, 7, ("Bread", "Starter"), 2)
INFO = DocumentInfo(
    UUID(int=7),
    "notes",
    "house/my bread.md",
    "file:///home/me/notes/house/my%20bread.md",
    "Bread",
    "1c291ca3d1a2" + "0" * 52,
    "text/markdown",
    "walked",
    Fingerprint(1, 1),
)


def test_a_hit_carries_its_citation():
    hit = Hit(INFO, CHUNK, 3, 0.5, Snippet("", 10, 120), (), Explain((), 0.5, 0.5))
    citation = citation_of(hit)
    assert citation.id == INFO.id
    assert citation.file == "notes/house/my bread.md"
    assert citation.content_hash == INFO.content_hash
    assert (citation.first_line, citation.last_line, citation.start, citation.end) == (10, 11, 120, 147)
    assert (citation.page, citation.headings) == (None, ("Bread", "Starter"))
    assert citation.uri == (
        f"dowse://notes/house/my%20bread.md?hash=1c291ca3d1a2&chars=120-147&text={text_hash(CHUNK.text)}#L10-L11"
    )
    assert citation.editor == "file:///home/me/notes/house/my%20bread.md#L10"


def test_a_uri_says_everything_that_verifying_needs():
    assert parse_citation(cite(INFO, CHUNK).uri) == Reference(
        "notes/house/my bread.md",
        is_exact=True,
        content_hash="1c291ca3d1a2",
        text_hash=text_hash(CHUNK.text),
        lines=(10, 11),
        span=(120, 147),
    )


@given(st.text(st.characters(blacklist_characters="\0"), min_size=1).filter(lambda path: path.strip("/")))
def test_any_path_is_read_back(path):
    path = path.strip("/")
    citation = cite(replace(INFO, path=path), replace(CHUNK, last_line=10))
    assert set(citation.uri) <= set(string.ascii_letters + string.digits + ":/?#=&%-._~")
    reference = parse_citation(f"as said in ({citation.uri}).")
    assert reference is not None
    assert reference.name == f"notes/{path}"
    assert (reference.lines, reference.span) == ((10, 10), (120, 147))


PLAIN = Reference("notes/a.md", is_exact=True)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("dowse://notes/a.md", PLAIN),
        ("DOWSE://notes/a.md", PLAIN),
        ("qmd://notes/a.md", PLAIN),
        ("qmd://notes%2Fa.md", PLAIN),
        ("  <dowse://notes/a.md>  ", PLAIN),
        ("[the note](dowse://notes/a.md#L3).", replace(PLAIN, lines=(3, 3))),
        ("dowse://notes/a.md#L3-L9", replace(PLAIN, lines=(3, 9))),
        ("dowse://notes/a.md#L3-9,", replace(PLAIN, lines=(3, 9))),
        ("dowse://notes/a.md#L3C1-L9C2", replace(PLAIN, lines=(3, 9))),
        ("dowse://notes/a.md#3-9", replace(PLAIN, lines=(3, 9))),
        ("dowse://notes/a.md#L9-L3", replace(PLAIN, lines=(9, 9))),
        ("dowse://notes/a.md:3-9", replace(PLAIN, lines=(3, 9))),
        ("dowse://notes/a.md?chars=5-8", replace(PLAIN, span=(5, 8))),
        ("dowse://notes/a.md?hash=ABCDEF12&chars=x&other=1#nothing", replace(PLAIN, content_hash="abcdef12")),
        ("a.md:3", Reference("a.md", lines=(3, 3))),
        ("notes/a b.md:3-9", Reference("notes/a b.md", lines=(3, 9))),
        ("notes/a.md#L3-L9", Reference("notes/a.md", lines=(3, 9))),
        ("#1c291c:4", Reference("#1c291c", lines=(4, 4))),
        ("Green tea wants cool water.", None),
        ("a.md", None),
        ("dowse://", None),
        ("dowse:///", None),
        ("", None),
        (":12", None),
    ],
)
def test_citations_are_read_as_people_write_them(text, reference):
    assert parse_citation(text) == reference


@given(st.text())
def test_no_text_makes_reading_fail(text):
    parse_citation(text)
    parse_citation(f"dowse://{text}")


# Links for editors


@pytest.mark.parametrize("name", EDITORS)
def test_every_editor_gets_the_path_and_most_the_line(name):
    link = cite(INFO, CHUNK, name).editor
    assert "/home/me/notes/house/my%20bread.md" in link
    assert "10" in link
    assert check_editor(name) == name


def test_a_template_of_ones_own_will_do():
    assert cite(INFO, CHUNK, check_editor("my-editor:{path}+{line}")).editor == (
        "my-editor:/home/me/notes/house/my%20bread.md+10"
    )


@pytest.mark.parametrize("template", ["", "emcas", "x{line}", "{path", "{nothing}{path}", "{0}{path}", "{path.x}"])
def test_what_is_no_editor_is_refused_with_the_known_ones(template):
    with pytest.raises(UsageError) as caught:
        check_editor(template)
    assert "vscode" in caught.value.hint


@pytest.mark.parametrize(
    ("uri", "media_type", "page", "link"),
    [
        ("file:///x/a.pdf", "application/pdf", 3, "file:///x/a.pdf#page=3"),
        ("file:///x/a.html", "text/html", None, "file:///x/a.html"),
        ("file:///x/a.csv", "text/csv", None, "file:///x/a.csv"),
        ("file:///x/a.py", "text/x-python", None, "vscode://file/x/a.py:10:1"),
        ("file:///C:/x/a.md", "text/markdown", None, "vscode://file/C:/x/a.md:10:1"),
        ("https://example.com/a?b", "text/html", None, "https://example.com/a?b"),
        ("data:text/plain,hello", "text/plain", None, ""),
        ("dowse-content:abc", "text/plain", None, ""),
    ],
)
def test_the_link_fits_the_source(uri, media_type, page, link):
    info = replace(INFO, uri=uri, media_type=media_type)
    assert cite(info, replace(CHUNK, page=page), "vscode").editor == link
