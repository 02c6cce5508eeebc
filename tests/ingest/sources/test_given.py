"""What a user gives becomes one absolute address, the same however it was spelled."""

import os
import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.ingest.sources import given_content, parse_given
from dowse.ingest.sources.given import path_of_file_uri
from dowse.ingest.sources.urls import parse_url

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs the file names of Linux")


class TestPaths:
    def test_a_path_is_made_absolute_and_its_links_are_resolved(self, tmp_path):
        target = tmp_path / "real" / "notes.md"
        target.parent.mkdir()
        target.write_text("text")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        found = parse_given("link/../link/notes.md", base=tmp_path)
        assert (found.kind, found.path, found.name) == ("file", target.resolve(), "notes.md")
        assert found.uri == target.resolve().as_uri()
        assert found == parse_given(str(target)) == parse_given(target.as_uri())

    def test_a_relative_path_starts_at_the_current_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert parse_given("a/b.md").path == (tmp_path / "a/b.md").resolve()

    def test_a_tilde_is_the_home_folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        assert parse_given("~/notes.md").path == (tmp_path / "notes.md").resolve()

    def test_whether_it_is_there_is_for_the_reader_to_find_out(self, tmp_path):
        assert parse_given(str(tmp_path / "missing.md")).kind == "file"

    @linux_only
    @pytest.mark.parametrize(
        "name", ["http-notes.md", "notes: today.md", "a%20b.md", "mailto:ada", "C# & more?.md", " x "]
    )
    def test_a_name_that_looks_like_something_else_is_still_a_file(self, tmp_path, name):
        (tmp_path / name).write_text("text")
        assert parse_given(name, base=tmp_path).path == (tmp_path / name).resolve()

    @linux_only
    def test_names_that_are_no_unicode_have_an_address_and_can_be_shown(self, tmp_path):
        path = os.fsencode(tmp_path) + b"/\xff.md"
        Path(os.fsdecode(path)).write_text("text")
        found = parse_given(os.fsdecode(path))
        assert found.uri.endswith("/%FF.md")
        assert found.name.encode() == b"\\udcff.md"
        assert parse_given(found.uri) == found

    @pytest.mark.parametrize("text", ["", "  ", "\n", "a\0b", "~nobody-of-this-name/x"])
    def test_what_is_no_path_is_refused(self, text):
        with pytest.raises(UsageError) as caught:
            parse_given(text)
        assert caught.value.hint

    @pytest.mark.parametrize(
        "text", ["ftp://example.org/a", "mailto:ada@example.org", "javascript:alert(1)", "s3://b/k"]
    )
    def test_other_schemes_are_refused_and_the_known_ones_named(self, text):
        with pytest.raises(UsageError) as caught:
            parse_given(text)
        assert text.partition(":")[0] in caught.value.message
        for known in ("file://", "https://", "data:"):
            assert known in caught.value.hint


class TestFileUris:
    @pytest.mark.parametrize(
        ("uri", "posix", "windows"),
        [
            ("file:///home/ada/a%20b.md", "/home/ada/a b.md", r"\home\ada\a b.md"),
            ("file://localhost/a.md", "/a.md", r"\a.md"),
            ("FILE://LOCALHOST/a.md", "/a.md", r"\a.md"),
            ("file:/a.md", "/a.md", r"\a.md"),
            ("file:///C:/Users/Ada/caf%C3%A9.md", "/C:/Users/Ada/café.md", r"C:\Users\Ada\café.md"),
            ("file:///c:/", "/c:/", "c:\\"),
            ("file:///a?b.md", "/a?b.md", r"\a?b.md"),
            ("file:///100%.md", "/100%.md", r"\100%.md"),
        ],
    )
    def test_they_mean_a_path_on_each_system(self, uri, posix, windows):
        assert path_of_file_uri(uri, windows=False) == PurePosixPath(posix)
        assert path_of_file_uri(uri, windows=True) == PureWindowsPath(windows)

    @pytest.mark.parametrize("path", [r"C:\Users\Ada\a b#c%d.md", r"D:\x"])
    def test_the_address_of_a_windows_path_leads_back_to_it(self, path):
        assert path_of_file_uri(PureWindowsPath(path).as_uri(), windows=True) == PureWindowsPath(path)

    @pytest.mark.parametrize(
        "uri", ["file:", "file://", "file:a.md", "file://server/share/a.md", "file://~/a.md", "file:///a%00b"]
    )
    def test_other_computers_and_relative_paths_are_refused(self, uri):
        with pytest.raises(UsageError) as caught:
            parse_given(uri)
        assert "file:///" in caught.value.hint

    @linux_only
    def test_a_number_sign_is_part_of_the_name_only_if_such_a_file_is_there(self, tmp_path):
        (tmp_path / "C# notes.md").write_text("text")
        (tmp_path / "a.md").write_text("text")
        assert parse_given(f"file://{tmp_path}/C# notes.md").name == "C# notes.md"
        assert parse_given(f"file://{tmp_path}/C%23%20notes.md").name == "C# notes.md"
        assert parse_given(f"file://{tmp_path}/a.md#L10").name == "a.md"


class TestWebAddresses:
    @pytest.mark.parametrize(
        ("text", "uri", "name"),
        [
            ("https://example.org", "https://example.org/", "example.org/"),
            (" HTTPS://Example.ORG:443/A/b.md#part ", "https://example.org/A/b.md", "b.md"),
            ("http://example.org:80?x=1", "http://example.org/?x=1", "example.org/"),
            ("http://example.org:8080/a/", "http://example.org:8080/a/", "a"),
            ("http://example.org/a/./b/../c d", "http://example.org/a/c%20d", "c d"),
            ("http://example.org/a/..", "http://example.org/", "example.org/"),
            ("http://example.org/%7euser/%2e%2e/%c3%a9", "http://example.org/%C3%A9", "é"),
            ("http://example.org/../../a", "http://example.org/a", "a"),
            ("http://example.org/é?q=ü", "http://example.org/%C3%A9?q=%C3%BC", "é"),
            ("http://example.org/100%", "http://example.org/100%25", "100%"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/", "xn--bcher-kva.example/"),
            ("http://2130706433/", "http://127.0.0.1/", "127.0.0.1/"),
            ("http://0177.1:8000/x", "http://127.0.0.1:8000/x", "x"),
            ("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:7f00:1]/", "[::ffff:7f00:1]/"),
            ("https:example.org/a", "https://example.org/a", "a"),
            ("http://good.example\\@evil.example/", "http://good.example/@evil.example/", "@evil.example"),
            ("http://example.org/a%5Cb\\c", "http://example.org/a%5Cb/c", "c"),
            ("https://docs.rs", "https://docs.rs/", "docs.rs/"),
            ("http://example.org/a%0d%0aX:y", "http://example.org/a%0D%0AX:y", "a\r\nX:y"),
        ],
    )
    def test_each_has_one_spelling(self, text, uri, name):
        found = parse_given(text)
        assert (found.kind, found.uri, found.name) == ("url", uri, name)
        assert parse_given(uri) == found

    @pytest.mark.parametrize(
        "text",
        [
            *("http://", "https:///", "http://?x", "http://a b/", "http://exa\nmple.org/", "http://example.org:99999/"),
            *(
                "http://example.org:0/",
                "http://example.org:8x/",
                "http://[::1",
                "http://[::1%25lo]/",
                "http://256.1.1.1/",
            ),
            *("http://a..b/", "http://%00/", "http://" + "a" * 20_000),
        ],
    )
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(UsageError) as caught:
            parse_given(text)
        assert caught.value.hint

    @pytest.mark.parametrize(
        "text", ["https://ada:secret@example.org/", "http://token@example.org/", "http://@h.example/"]
    )
    def test_credentials_are_refused_and_not_repeated(self, text):
        with pytest.raises(UsageError) as caught:
            parse_given(text)
        assert "password" in caught.value.message
        assert "secret" not in str(caught.value.message) + caught.value.hint
        assert "token" not in caught.value.message

    @given(st.text())
    def test_a_parsed_address_is_its_own_spelling(self, text):
        try:
            found = parse_url(f"http://example.org/{text}")
        except UsageError:
            return
        assert found.text.isascii()
        assert found.host == "example.org"
        assert parse_url(found.text) == found

    @given(st.text())
    def test_nothing_else_than_a_usage_error_comes_of_nonsense(self, text):
        for prefix in ("http://", "https:", "file://", "file:///"):
            with suppress(UsageError):
                parse_given(prefix + text)


class TestDataAndContent:
    def test_the_key_of_data_is_the_hash_of_its_content(self):
        found = parse_given("data:text/markdown;charset=utf-8;base64,IyBIaQ==")
        assert (found.kind, found.data, found.media_type, found.charset) == ("data", b"# Hi", "text/markdown", "utf-8")
        assert found.uri == parse_given("  data:,%23%20Hi").uri
        assert found.uri.startswith("data:sha256,")
        assert found.name.startswith("data-")

    def test_data_may_bring_a_name(self):
        assert parse_given("data:text/plain;name=..%2F..%2Fa.txt,x").name == "a.txt"

    def test_content_goes_by_its_name(self):
        found = given_content("Grüße", " /minutes/Nov 2026.md ")
        assert found.uri == "content:/minutes/Nov%202026.md"
        assert (found.kind, found.name, found.data) == ("content", "Nov 2026.md", "Grüße".encode())
        assert given_content(b"other", "minutes/Nov 2026.md").uri == found.uri

    def test_two_encodings_of_an_accent_are_one_name(self):
        assert given_content("", "e\u0301.md").uri == given_content("", "\u00e9.md").uri

    @pytest.mark.parametrize("name", ["", "  ", "/", "a\nb", "a\0b", "../x", "a//b", "a/./b", "x" * 2_000, "\ud800"])
    def test_content_without_a_usable_name_is_refused(self, name):
        with pytest.raises(UsageError) as caught:
            given_content("text", name)
        assert caught.value.hint

    def test_content_does_not_fill_messages(self):
        assert "secret" not in repr(given_content("secret " * 1_000, "a.md"))
