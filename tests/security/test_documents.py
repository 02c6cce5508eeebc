"""Documents made to harm whoever reads them: entities, bombs, patterns that never end.

The rules of archives and their XML are tested in tests/ingest/extract/test_zipped.py, limits of time and memory in
test_limits.py beside it, bodies from the web in tests/ingest/sources/test_web.py. Here every format that holds XML is
poisoned in every part of it.
"""

import signal
from contextlib import contextmanager

import pytest

from dowse.errors import DowseError, SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import extract
from dowse.ingest.sources.patterns import IgnoreRules, PathPattern
from dowse.search.references import parse_citation
from dowse.search.syntax import parse
from dowse.text.analyse import analyse
from dowse.text.globs import compile_glob
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from fuzz.samples import FILES, sample
from ingest.extract.make_office import members, zipped

SECRET = "the horse is called Battery"  # noqa: S105 - what must not be read
OF_XML = {
    "word": "word/document.xml",
    "slides": "ppt/slides/slide1.xml",
    "sheets": "xl/worksheets/sheet1.xml",
    "epub": "OEBPS/text/a.xhtml",
}
"""With a part of each that is read."""


def laughs(root: str, _: str) -> str:
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE {root} [<!ENTITY l0 "ha">{lines}]>'


def outside(root: str, place: str) -> str:
    return f'<!DOCTYPE {root} [<!ENTITY l9 SYSTEM "file://{place}">]>'


def by_parameter(root: str, place: str) -> str:
    return f'<!DOCTYPE {root} [<!ENTITY % p SYSTEM "file://{place}"> %p;]><!-- -->'


def poisoned(content: bytes, declare, place: str) -> bytes | None:
    """This XML with a declaration in front of its root, and the entity in front of its end; None: it is no XML."""
    start = content.find(b"<", content.find(b"?>") + 1 if content.startswith(b"<?xml") else 0)
    end = content.rfind(b"</")
    if not content.lstrip().startswith(b"<") or end < 0 or b"<!DOCTYPE" in content:
        return None
    root = content[start + 1 :].split(b">")[0].split()[0].decode()
    return content[:start] + declare(root, place).encode() + content[start:end] + b"&l9;" + content[end:]


@pytest.mark.parametrize("declare", [laughs, outside, by_parameter])
@pytest.mark.parametrize("name", OF_XML)
def test_no_part_of_an_archive_may_define_entities(name, declare, tmp_path):
    place = tmp_path / "secret"
    place.write_text(SECRET)
    media_type, sound = sample(name)
    parts = members(sound)
    tried = refused = 0
    for part, content in parts.items():
        changed = poisoned(content, declare, str(place))
        if changed is None:
            continue
        tried += 1
        try:
            text = extract(zipped(parts | {part: changed}), media_type, "bad").text
        except SourceError as error:
            refused += error.reason == "damaged"
        else:  # a part that nothing reads, or one that is read as HTML, where entities cannot be declared
            assert SECRET not in text
            assert "haha" not in text
    assert tried >= 2
    # What a book says of itself is read leniently: without what it declares, rather than not at all.
    assert refused or name == "epub"


@pytest.mark.parametrize("declare", [laughs, outside, by_parameter])
@pytest.mark.parametrize("media_type", ["text/html", "application/xhtml+xml"])
@pytest.mark.parametrize(
    "page", ["<html><p>tea</p></html>", '<svg xmlns="http://www.w3.org/2000/svg"><text>tea</text></svg>']
)
def test_pages_and_drawings_in_them_expand_nothing(media_type, page, declare, tmp_path):
    place = tmp_path / "secret"
    place.write_text(SECRET)
    data = poisoned(page.encode(), declare, str(place))
    text = extract(data, media_type, "a.html").text
    assert SECRET not in text
    assert "haha" not in text
    assert len(text) < 1_000


@pytest.mark.parametrize("name", OF_XML)
def test_a_member_that_unpacks_to_a_thousand_times_its_size_is_refused(name):
    media_type, sound = sample(name)
    parts = members(sound)
    bomb = parts[OF_XML[name]].replace(b"</", b" " * 30_000_000 + b"</", 1)
    with pytest.raises(SourceError) as caught:
        extract(zipped(parts | {OF_XML[name]: bomb}), media_type, "bomb")
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize("name", ["yaml", "json", "toml"])
def test_data_that_refers_to_itself_does_not_grow(name):
    bombs = {
        "yaml": b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (n, n, n - 1, n - 1) for n in range(98, 122)),
        "json": b"[" * 100_000,
        "toml": b"a." * 20_000 + b"b = 1",
    }
    try:
        assert len(extract(bombs[name], sample(name)[0], name).text) < 10_000_000
    except SourceError as refusal:
        assert refusal.hint  # noqa: PT017 - either will do


# Patterns

CPU_SECONDS = 10
LONG = 8_000
"""Characters: enough for what is cubic or worse to take minutes."""
REPEATED = (
    *(
        "[",
        "![",
        "*",
        "_a",
        "`",
        "<a ",
        "<!--",
        "| ",
        "> ",
        "- ",
        "[](",
        "[^",
        "\\",
        "$",
        "::",
        '"',
        "1. ",
        "a:",
        "http://",
    ),
    *("<b>", "```", "=", " \t", "\n ", "a\n\n", "0", "/", ".."),
)


@contextmanager
def bounded():
    """End what takes too much processor time, whatever else the machine does; re looks for signals as it works."""

    def too_slow(*_: object) -> None:
        pytest.fail("a pattern goes on and on")

    before = signal.signal(signal.SIGVTALRM, too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such timers")


@posix
@pytest.mark.parametrize(
    "use",
    [
        pytest.param(parse, id="query"),
        pytest.param(parse_citation, id="citation"),
        pytest.param(analyse, id="words"),
        pytest.param(lambda text: compile_glob(text[:300]).fullmatch("a/" * 2_000), id="glob"),
        pytest.param(lambda text: compile_glob("**/a*" * 20 + "b").fullmatch(text), id="path of a glob"),
        pytest.param(lambda text: PathPattern(text[:300]).matches("a/" * 2_000), id="pattern"),
        pytest.param(lambda text: IgnoreRules([text[:300]]).decide("a/" * 999, "a", is_folder=True), id="ignore"),
    ],
)  # fmt: skip
def test_texts_that_repeat_what_patterns_look_for_take_no_time(use):
    with bounded():
        for piece in REPEATED:
            text = piece * (LONG // len(piece))
            for each in (text, f"x {text}", f"{text} x"):
                try:
                    use(each)
                except DowseError:
                    continue


@posix
@pytest.mark.parametrize(
    "name", [name for name in FILES if name not in {*OF_XML, "pdf", "python", "javascript", "rust", "shell"}]
)
def test_files_that_repeat_what_readers_look_for_take_no_time(name):
    # Grammars of programming languages are libraries in C, and kept within time by the process that runs them.
    with bounded():
        for piece in REPEATED:
            try:
                extract((piece * (LONG // len(piece))).encode(), sample(name)[0], "a")
            except SourceError:
                continue


@posix
def test_passages_are_cut_in_time_whatever_the_text(monkeypatch):
    with bounded():
        for piece in REPEATED[::3]:
            extracted = extract((piece * (LONG // len(piece))).encode(), "text/markdown", "a.md")
            assert chunk(extracted, TokenCounter(None), Chunking(max_tokens=256)) is not None
