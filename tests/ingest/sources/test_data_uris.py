"""Content inside its own address: percent-encoded, base64, or just written there."""

import base64
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.ingest.sources.data_uris import key_of_content, parse_data_uri


@pytest.mark.parametrize(
    ("uri", "data", "media_type", "charset"),
    [
        ("data:,", b"", "", ""),
        ("data:,Hello%2C%20World%21", b"Hello, World!", "", ""),
        ("DATA:Text/HTML;Charset=UTF-8,%3Ch1%3EHi%3C%2Fh1%3E", b"<h1>Hi</h1>", "text/html", "UTF-8"),
        ("data:;charset=latin1,%E9", b"\xe9", "", "latin1"),
        ('data:text/plain;charset="utf-8",x', b"x", "text/plain", "utf-8"),
        ('data:text/plain;title="a,b",x', b"x", "text/plain", ""),
        ("data:text/plain;base64,SGVsbG8=", b"Hello", "text/plain", ""),
        ("data:;base64,SGVsbG8", b"Hello", "", ""),
        ("data:text/plain; BASE64 ,SGVs\n bG8=", b"Hello", "text/plain", ""),
        ("data:;base64,-_-_", b"\xfb\xff\xbf", "", ""),
        ("data:;base64,SGVsbG8%3D", b"Hello", "", ""),
        ("data:application/vnd.api+json,{}", b"{}", "application/vnd.api+json", ""),
        ("data:,a,b;base64,c", b"a,b;base64,c", "", ""),
        ("data:text/markdown,# Title", b"# Title", "text/markdown", ""),
        ("data:text/html,<h1>Hello%20World</h1>", b"<h1>Hello World</h1>", "text/html", ""),
        ("data:,caf\u00e9", "caf\u00e9".encode(), "", ""),
    ],
)
def test_every_form_is_understood(uri, data, media_type, charset):
    assert parse_data_uri(uri)[:3] == (data, media_type, charset)


def test_the_example_of_the_rag_specification_is_taken_as_it_stands():
    found = parse_data_uri('data:,fn main() { println!("Hello"); }')
    assert found.data == b'fn main() { println!("Hello"); }'


@pytest.mark.parametrize("code", ['printf("%05d\\n", x);', "100 %25 of it", "a = b %20c\n", "50% off, now"])
def test_text_that_was_never_encoded_is_not_decoded(code):
    found = parse_data_uri(f"data:,{code}")
    is_ambiguous = "%20" in code
    assert found.data == (b"a = b  c\n" if is_ambiguous else code.encode())


def test_a_parameter_may_name_the_file():
    assert parse_data_uri("data:text/plain;name=my%20notes.txt;base64,SGk=").name == "my notes.txt"
    assert parse_data_uri("data:text/plain;filename=a.txt,x").name == "a.txt"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("data:", "no comma"),
        ("data:text/plain", "no comma"),
        ("data:text/plain;base64", "no comma"),
        ('data:text/plain;title="a,b', "no comma"),
        ("data:hello, world", "no media type"),
        ("data:;base64,SGVsbG8*", "no base64"),
        ("data:;base64,S", "no base64"),
        ("data:;base64,SGV=sbG8=", "no base64"),
        ("data:sha256," + "0" * 64, "by its hash"),
    ],
)
def test_what_is_malformed_is_refused_with_the_way_out(uri, message):
    with pytest.raises(UsageError, match=message) as caught:
        parse_data_uri(uri)
    assert caught.value.hint


@given(st.binary())
@example(b"\xff%20 \n")
def test_what_was_encoded_comes_back(data):
    assert parse_data_uri(f"data:,{quote(data, safe='')}").data == data
    assert parse_data_uri(f"data:;base64,{base64.b64encode(data).decode()}").data == data
    assert parse_data_uri(f"data:;base64,{base64.urlsafe_b64encode(data).decode().rstrip('=')}").data == data


@given(st.text())
def test_nothing_else_than_a_usage_error_comes_of_nonsense(text):
    for prefix in ("data:", "data:,", "data:;base64,", "data:text/plain;"):
        with suppress(UsageError):
            parse_data_uri(prefix + text)


def test_the_key_is_short_and_the_same_for_the_same_content():
    assert key_of_content(b"x" * 10_000_000) == key_of_content(b"x" * 10_000_000)
    assert key_of_content(b"a") != key_of_content(b"b")
    assert len(key_of_content(b"")) == len("data:sha256,") + 64
