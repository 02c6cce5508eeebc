"""What a file does while it is read costs that file, and nothing else."""

import json
import signal
import sys
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.extract import Block, Extracted, Unit, extract
from dowse.ingest.extract.limits import Limits, extract_within_limits, reading
from dowse.ingest.extract.limits.helper import Helper
from dowse.ingest.extract.limits.packing import NonsenseError, encode, pack, unpack
from ingest.extract.checking import KINDS, check
from ingest.extract.make_epub import book, chapter
from ingest.extract.make_office import word, zipped
from ingest.extract.make_pdf import drawn

HTML = "text/html"
PLENTY = Limits(seconds=60, memory=1 << 30)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the memory of a process")
with_signals = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


@pytest.fixture
def read(monkeypatch):
    """Files are read by one of the misbehaving readers; HTML never is read in this process."""
    made = []

    def choose(function, **options):
        helper = Helper(f"ingest.extract.misbehaving:{function}", **options)
        made.append(helper)
        monkeypatch.setattr(reading, "_helper", lambda: helper)

        def read(text="words", name="page.html", limits=PLENTY):
            return extract_within_limits(text.encode(), HTML, name, limits).text

        return read

    yield choose
    for helper in made:
        helper.close()


@pytest.fixture(scope="module", autouse=True)
def _end_the_real_one():
    yield
    reading._helper().close()


def refused(read, *arguments, **options):
    with pytest.raises(SourceError) as caught:
        read(*arguments, **options)
    return caught.value


# Where nothing is wrong


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Tea", "Ada <ada@example.org>"
    message.set_content("Come for tea.")
    return message.as_bytes()


SAMPLES = {
    "page.html": (HTML, b"<title>Tea</title><h1>Tea</h1><p>Water &amp; leaves.<table><tr><td>1<td>2</table>"),
    "note.eml": ("message/rfc822", mail()),
    "book.epub": ("application/epub+zip", book({"a.xhtml": chapter("<h1>One</h1><p>Words.</p>")}, {"a.xhtml": "One"})),
    "page.pdf": ("application/pdf", drawn(lambda page: page.drawString(72, 700, "Words on a page"))),
    "text.docx": (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        word("<w:p><w:r><w:t>Words</w:t></w:r></w:p>"),
    ),
    "code.py": ("text/x-python", b"class Tea:\n    def brew(self):\n        return 1\n"),
    "data.json": ("application/json", b'{"tea": ["green", {"black": 1.5}], "water": null}'),
    "table.csv": ("text/csv", "name,price\nTee,1\nÄthiopien ☕,2\n".encode()),
    "long.md": ("text/markdown", b"---\ntags: [a, b]\n---\n# Title\n\nA paragraph of words.\n\n" * 3000),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_gives_the_same_wherever_it_is_read(name):
    media_type, data = SAMPLES[name]
    found = check(extract_within_limits(data, media_type, name, PLENTY))
    assert found == extract(data, media_type, name)
    assert type(found.blocks[0]) is Block
    assert all(type(unit) is Unit for unit in found.units)


def test_small_files_of_simple_formats_need_no_process(read):
    read("leave")
    assert extract_within_limits(b"# Title\n", "text/markdown", "1", PLENTY).title == "Title"
    assert extract_within_limits(b"words\n", "text/plain", "1", PLENTY).text == "words\n"


def test_large_files_of_simple_formats_do(read):
    read("leave")
    with pytest.raises(SourceError) as caught:
        extract_within_limits(b"# Title\n" * 20_000, "text/markdown", "1", PLENTY)
    assert caught.value.reason == "crashed"


def test_without_limits_there_is_no_process(read):
    read("leave")
    assert extract_within_limits(b"<p>words", HTML, "1", Limits(seconds=0)).text.strip() == "words"


def test_a_type_that_cannot_be_read_is_refused_at_once(read):
    read("leave")
    with pytest.raises(SourceError) as caught:
        extract_within_limits(b"", "image/png", "1", PLENTY)
    assert caught.value.reason == "unsupported"


# What readers say themselves


def test_a_refusal_of_the_reader_arrives_word_by_word(read):
    error = refused(read("refuse"), name="page.html")
    assert (error.message, error.reason, error.hint) == ("page.html is empty.", "empty", "Fill it.")
    assert error.details == {"reason": "empty"}


def test_the_real_readers_refuse_from_afar():
    data = zipped({"word/document.xml": b"0" * 60_000_000})
    media_type = SAMPLES["text.docx"][0]
    with pytest.raises(SourceError) as here:
        extract(data, media_type, "bomb.docx")
    with pytest.raises(SourceError) as there:
        extract_within_limits(data, media_type, "bomb.docx", PLENTY)
    assert (there.value.message, there.value.reason, there.value.hint) == (
        here.value.message,
        here.value.reason,
        here.value.hint,
    )


@pytest.mark.parametrize(
    ("function", "words"),
    [("fail", "ValueError: page.html"), ("recurse", "RecursionError"), ("return_nothing", ""), ("return_objects", "")],
)
def test_a_fault_of_the_reader_is_said_to_be_one(read, function, words):
    error = refused(read(function))
    assert error.reason == "internal"
    assert words in error.message
    assert "report" in error.hint


def test_a_fault_in_this_process_is_said_to_be_one_as_well(monkeypatch):
    def fail(_data, _media_type, _name):
        raise ValueError("words")

    monkeypatch.setattr(reading, "extract", fail)
    error = refused(extract_within_limits, b"# Title\n", "text/markdown", "note.md", PLENTY)
    assert error.reason == "internal"
    assert "ValueError: words" in error.message


def test_what_a_library_prints_does_not_get_among_the_answers(read):
    ask = read("chatter")
    assert [ask("one"), ask("two")] == ["one", "two"]


# Time


@with_signals
@pytest.mark.parametrize("function", ["spin", "spin_in_c"])
def test_a_file_that_computes_for_too_long_is_given_up(read, function):
    error = refused(read(function), limits=Limits(seconds=0.2))
    assert error.reason == "too_slow"
    assert "0.2 seconds" in error.message
    assert "extract_seconds" in error.hint
    assert ".dowseignore" in error.hint


def test_a_file_that_waits_for_too_long_is_given_up(read):
    assert refused(read("sleep"), limits=Limits(seconds=0.05)).reason == "too_slow"


def test_where_the_system_has_no_limits_a_thread_keeps_them(read):
    assert refused(read("spin", enforcers=("thread",)), limits=Limits(seconds=0.2)).reason == "too_slow"
    assert refused(read("sleep", enforcers=("thread",)), limits=Limits(seconds=0.05)).reason == "too_slow"
    limits = Limits(seconds=60, memory=128 << 20)
    assert refused(read("eat_slowly", enforcers=("thread",)), limits=limits).reason == "too_much_memory"


def test_with_no_limits_of_its_own_the_process_is_ended_from_outside(read):
    assert refused(read("spin", enforcers=()), limits=Limits(seconds=0.05)).reason == "too_slow"


@with_signals
def test_the_limit_holds_though_its_signal_is_ignored_here(read):
    before = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    try:
        assert refused(read("spin"), limits=Limits(seconds=0.2)).reason == "too_slow"
    finally:
        signal.signal(signal.SIGPROF, before)


def test_the_time_of_one_file_is_not_held_against_the_next(read):
    ask = read("echo")
    limits = Limits(seconds=0.5)
    assert all(ask(f"{number} " * 10_000, limits=limits) for number in range(100))


def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_is_read():
    page = b"<ul>" + b"<li><a href=x>words</a> &amp; <b>more</b>" * 200_000
    error = refused(extract_within_limits, page, HTML, "long.html", Limits(seconds=0.3))
    assert error.reason == "too_slow"
    assert extract_within_limits(page[:1000], HTML, "short.html", Limits(seconds=10)).blocks


# Memory


@on_linux
@pytest.mark.parametrize("function", ["eat", "eat_slowly"])
def test_a_file_that_takes_too_much_memory_is_given_up(read, function):
    error = refused(read(function), name=str(1 << 30), limits=Limits(seconds=60, memory=256 << 20))
    assert error.reason == "too_much_memory"
    assert "256 MB" in error.message
    assert "extract_memory" in error.hint
    assert ".dowseignore" in error.hint


@on_linux
def test_a_real_file_that_takes_too_much_memory_is_given_up_and_the_next_one_is_read():
    limits = Limits(seconds=60, memory=192 << 20)
    error = refused(extract_within_limits, b"words\n" * (12 << 20), "text/plain", "long.txt", limits)
    assert error.reason == "too_much_memory"
    assert extract_within_limits(b"words\n" * 30_000, "text/plain", "short.txt", limits).blocks


@with_signals
def test_a_process_that_has_grown_is_not_asked_again(read):
    ask = read("keep")
    limits = Limits(seconds=60, memory=400 << 20)
    first, again, grown, new = (ask(name=str(size), limits=limits) for size in (0, 120 << 20, 0, 0))
    assert first == again
    assert grown == new != again


@on_linux
def test_what_other_files_left_behind_is_not_held_against_a_file(read):
    ask = read("keep")
    roomy, narrow = Limits(seconds=60, memory=2 << 30), Limits(seconds=60, memory=300 << 20)
    assert ask(name=str(280 << 20), limits=roomy)
    assert ask(name=str(40 << 20), limits=narrow)


# Crashes


@pytest.mark.parametrize(
    ("function", "name", "words"),
    [
        ("leave", "3", "exit code 3"),
        pytest.param("abort", "", "SIGABRT", marks=with_signals),
        pytest.param("read_nowhere", "", "SIGSEGV", marks=with_signals),
        pytest.param("die", "SIGKILL", "SIGKILL", marks=with_signals),
    ],
)
def test_a_file_that_crashes_its_reader_is_given_up(read, function, name, words):
    error = refused(read(function), name=name)
    assert error.reason == "crashed"
    assert words in error.message
    assert ".dowseignore" in error.hint


def test_the_file_after_one_that_crashed_is_read(read):
    ask = read("real_but_for_one")
    for name in ("bad.html", "good.html", "bad.html", "good.html"):
        if name == "good.html":
            assert ask("<p>words", name=name).strip() == "words"
        else:
            assert refused(ask, name=name).reason == "crashed"


def test_a_crash_that_files_before_caused_is_not_held_against_a_file(read):
    ask = read("grow_tired")
    assert [ask("one"), ask("two"), ask("three")] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "answer",
    [
        b"\xff" * 64,
        b"\x06" + bytes(15) + b"[1, 2]",
        b"\x12" + bytes(15) + b'["refused",[1,2],0]',
        b"\x12" + bytes(15) + b'["unheard","of",0]',
        b"\x13" + bytes(15) + b'["extracted",[],99]',
        b"\x40\x0d\x03" + bytes(13) + b"[" * 200_000,
    ],
)
def test_an_answer_that_makes_no_sense_is_a_crash(read, answer):
    assert refused(read("babble"), name=answer.hex()).reason == "crashed"


def test_an_answer_that_promises_more_than_comes_is_waited_for_no_longer_than_the_limit(read):
    assert refused(read("babble"), name=b"words".hex(), limits=Limits(seconds=0.1)).reason == "too_slow"


# No process


def test_without_an_interpreter_a_file_is_not_read(read, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    error = refused(read("echo"), name="page.html")
    assert error.reason == "no_process"
    assert "page.html" in error.message
    assert "extract_seconds" in error.hint


def test_a_process_that_ends_while_it_starts_is_no_fault_of_the_file(read):
    assert refused(read("no_such_reader")).reason == "no_process"


# What travels

text = st.text(alphabet=st.characters(), max_size=20)
integer = st.integers(-(2**63), 2**64)
value = st.one_of(text, integer, st.floats(allow_nan=False), st.booleans(), st.lists(text, max_size=3))
metadata = st.dictionaries(text, value, max_size=3)
block = st.builds(Block, st.sampled_from(sorted(KINDS)), integer, integer, integer, text)
unit = st.builds(Unit, integer, st.none() | integer, metadata)


@settings(max_examples=50, deadline=None)
@given(
    st.builds(
        Extracted,
        text=text,
        blocks=st.lists(block, max_size=5).map(tuple),
        title=st.none() | text,
        metadata=metadata,
        units=st.lists(unit, max_size=3).map(tuple),
    )
)
def test_what_was_extracted_travels_unchanged(extracted):
    head, body = pack(extracted)
    assert unpack(json.loads(encode(head).decode("utf-8", "surrogatepass")), body) == extracted


@pytest.mark.parametrize(
    "head",
    [
        None,
        [],
        "text",
        [[], None, {}],
        [[], 1, {}, []],
        [[], None, [], []],
        [[], None, {"a": None}, []],
        [[], None, {"a": [1]}, []],
        [[], None, {}, [1]],
        [[], None, {}, [["0", None, {}]]],
        [[], None, {}, [[0, None, {"a": {}}]]],
        [[["heading"], [0], [1], [1]], None, {}, []],
        [[["heading"], [0], [1], [1], [""], [""]], None, {}, []],
        [[["heading"], [0], [1], [True], [""]], None, {}, []],
        [[["heading"], [0, 1], [1], [1], [""]], None, {}, []],
        [[["nonsense"], [0], [1], [1], [""]], None, {}, []],
        [[[["heading"]], [0], [1], [1], [""]], None, {}, []],
    ],
)
def test_nonsense_is_not_taken_for_a_document(head):
    with pytest.raises(NonsenseError):
        unpack(head, b"text")


def test_bytes_that_are_no_text_are_not_taken_for_a_document():
    with pytest.raises(NonsenseError):
        unpack([[], None, {}, []], b"\xff")
