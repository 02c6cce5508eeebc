"""A type is known by content, name and declaration, and the surest of them wins."""

import gzip
import json
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import SourceError, UsageError
from dowse.ingest.extract import (
    ALIASES,
    describe_media_type,
    extract,
    format_of,
    guess_from_head,
    in_utf8,
    media_type_of_content,
    resolve_media_type,
)
from dowse.ingest.extract.formats import FORMATS

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS = "application/vnd.ms-excel"
EPUB = "application/epub+zip"
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
HTML = b"<!DOCTYPE html>\n<html><head><title>T</title></head><body><p>x</p></body></html>"
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4}).encode()


def zipped(*names: str, first: bytes = b"x", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(name, first if name == names[0] else b"x" * 1_000)
    return file.getvalue()


def ole(stream: str) -> bytes:
    return OLE + stream.encode("utf-16-le") + bytes(100)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PDF, "application/pdf"),
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "image/jpeg"),
        (b"GIF89a\1\0\1\0\x80\0\0", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x24\0\0\0WAVEfmt \0", "audio/wav"),
        (b"\0\0\0\x20ftypisom\0\0\2\0", "video/mp4"),
        (b"ID3\4\0\0\0\0\0\0", "audio/mpeg"),
        (b"\x7fELF\2\1\1\0", "application/x-executable"),
        (b"MZ\x90\0\3\0\0\0", "application/vnd.microsoft.portable-executable"),
        (b"SQLite format 3\0\x10\0", "application/vnd.sqlite3"),
        (gzip.compress(b"text", mtime=0), "application/gzip"),
        (bytes(257) + b"ustar\x0000", "application/x-tar"),
        (zipped("[Content_Types].xml", "word/document.xml"), DOCX),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), PPTX),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), XLSX),
        (zipped("[Content_Types].xml", "xl/workbook.bin"), XLS),
        (zipped(*(f"media/{n}.png" for n in range(2_000)), "[Content_Types].xml", "word/document.xml"), DOCX),
        (zipped("mimetype", "META-INF/container.xml", first=EPUB.encode(), method=zipfile.ZIP_STORED), EPUB),
        (zipped("META-INF/container.xml", "content.opf"), EPUB),
        (
            zipped(
                "mimetype", "content.xml", first=b"application/vnd.oasis.opendocument.text", method=zipfile.ZIP_STORED
            ),
            "application/vnd.oasis.opendocument.text",
        ),
        (zipped("META-INF/MANIFEST.MF", "A.class"), "application/java-archive"),
        (zipped("word/notes.txt"), "application/zip"),
        (zipped(), "application/zip"),
        (ole("WordDocument"), "application/msword"),
        (ole("Workbook"), XLS),
        (ole("PowerPoint Document"), "application/vnd.ms-powerpoint"),
        (ole("__substg1.0_"), "application/vnd.ms-outlook"),
        (b"{\\rtf1\\ansi Hello}", "application/rtf"),
        (bytes(range(256)) * 4, "application/octet-stream"),
    ],
)
def test_binary_formats_are_known_by_their_bytes_whatever_they_are_called(data, media_type):
    assert media_type_of_content(data) == media_type
    assert media_type_of_content(data, "notes.md", "text/html") == media_type
    assert media_type_of_content(data, "notes", "application/octet-stream") == media_type


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("just words", "text/plain"),
        ("", "text/plain"),
        (HTML.decode(), "text/html"),
        ("\n <!-- saved -->\n<HTML lang=en>", "text/html"),
        ('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">', "application/xhtml+xml"),
        ('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        ("<note>not a page</note>", "text/plain"),
        ('{"a": [1, 2]}', "application/json"),
        ('[\n  {"a": 1},\n  {"a": 2}\n]', "application/json"),
        ('{"a": 1}\n{"a": 2}\n', "application/jsonl"),
        (NOTEBOOK.decode(), "application/x-ipynb+json"),
        ("[1] A footnote", "text/plain"),
        ("{braces} in a sentence", "text/plain"),
        ("WEBVTT\n\n00:01.000 --> 00:04.000\nHi", "text/vtt"),
        ("1\r\n00:00:01,000 --> 00:00:04,000\r\nHi\r\n", "application/x-subrip"),
        ("From ada@example.org Sat Jan  3 01:05:34 2026\nFrom: ada\nTo: bob\nSubject: x\n\nHi", "application/mbox"),
        ("Return-Path: <a@b>\nReceived: by x;\n\tlater\nFrom: ada\nTo: bob\nSubject: x\n\nHi", "message/rfc822"),
        ("From: the start\nto the end", "text/plain"),
        ("% a comment\n\\documentclass{article}", "application/x-tex"),
        ("#+TITLE: Notes\n* One", "text/org"),
        ("#!/usr/bin/env python3\nprint()", "text/x-python"),
        ("#!/bin/bash\nls", "text/x-shellscript"),
        ("#!/usr/bin/env node\n", "text/javascript"),
        ("<?php echo 1;", "text/x-php"),
        ("---\ntitle: Tea\ntags:\n- green\n---\nText", "text/markdown"),
        ("# Tea\n\nSee [the list](list.md).\n", "text/markdown"),
        ("# Tea\n\n## Green\n\nText", "text/markdown"),
        ("- a\n- b\n\n**bold**", "text/markdown"),
        ("# a comment\nkey = value\n", "text/plain"),
    ],
)
def test_text_without_a_name_is_known_by_how_it_looks(text, media_type):
    for encoding in ("utf-8", "utf-8-sig"):
        assert media_type_of_content(text.encode(encoding)) == media_type
    assert media_type_of_content(text.encode("utf-16")) == media_type or media_type == "application/x-ipynb+json"


@pytest.mark.parametrize(
    ("data", "name", "declared", "media_type"),
    [
        # A vague declaration leaves it to the name, and that to the looks.
        (b"x", "notes.md", "text/plain; charset=utf-8", "text/markdown"),
        (b"x", "notes.md", "application/octet-stream", "text/markdown"),
        (b"x", "main.rs", "", "text/x-rust"),
        (b"x", "page", "text/plain", "text/plain"),
        (b"x", "page", "text/nonsense", "text/plain"),
        (HTML, "page", "text/plain", "text/plain"),
        (HTML, "page", "", "text/html"),
        (HTML, "notes.txt", "", "text/plain"),
        (b"# T\n\n## U\n\n", "raw", "text/plain", "text/markdown"),
        # A specific one goes before the name: pages about a file are not the file.
        (HTML, "README.md", "text/html; charset=utf-8", "text/html"),
        (HTML, "index.php", "text/html", "text/html"),
        (b'{"a": 1}', "readme.md", "application/json", "application/json"),
        (b"a: 1", "x", "application/x-yaml", "application/yaml"),
        (b"x", "x", "text/x-markdown", "text/markdown"),
        (b'{"a": 1}', "x", "application/vnd.api+json", "application/json"),
        (b"<p>x", "x", "application/xhtml+xml", "application/xhtml+xml"),
        (b"<a/>", "x", "text/xml", "text/plain"),
        # Unless the content, or a name that says more, tells otherwise.
        (b"# Just Markdown", "README.md", "text/html", "text/markdown"),
        (b"<p>part of a page", "part", "text/html", "text/html"),
        (NOTEBOOK, "a.ipynb", "application/json", "application/x-ipynb+json"),
        (b"{}", "a.geojson", "application/json", "application/geo+json"),
        (b"export const a = 1", "a.ts", "video/mp2t", "text/typescript"),
        (b"not a PDF", "a.txt", "application/pdf", "text/plain"),
        # Names that promise a binary format.
        (HTML, "export.xls", "", "text/html"),
        (b"not a PDF", "a.pdf", "", "application/pdf"),
        (b"\0\1\2 damaged", "a.pdf", "", "application/pdf"),
        (b"\0\1\2 damaged", "a", "application/pdf", "application/pdf"),
        (b"\0\1\2", "a.md", "", "application/octet-stream"),
        (zipped("a.txt"), "a.docx", "", DOCX),
        (zipped("a.txt"), "a", DOCX, DOCX),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "a.docx", DOCX, XLSX),
        (ole("EncryptedPackage"), "a.docx", "", DOCX),
        (ole("EncryptedPackage"), "a", "", "application/x-ole-storage"),
        (ole("WordDocument"), "a.doc", "", "application/msword"),
        (b"From: a\nTo: b\n\n\0\0\0", "a.eml", "", "message/rfc822"),
        # Text that begins like something binary.
        (b"BM is short for body mass", "", "", "text/plain"),
        (b"MZ and ID3 are marks", "notes.md", "", "text/markdown"),
    ],
)
def test_the_surest_of_content_declaration_and_name_wins(data, name, declared, media_type):
    assert media_type_of_content(data, name, declared) == media_type


def test_every_type_that_content_can_have_is_read_or_can_be_described():
    with pytest.raises(SourceError) as caught:
        extract(PNG, media_type_of_content(PNG, "a.md"), "a.md")
    assert caught.value.reason == "unsupported"
    assert describe_media_type("image/png") == "a PNG image"
    assert describe_media_type("application/x-unheard-of") == "of the type application/x-unheard-of"
    assert describe_media_type("text/markdown") == "of the type Markdown"


@given(st.binary(max_size=300), st.text(max_size=10), st.text(max_size=20))
def test_any_bytes_have_a_type(data, name, declared):
    media_type = media_type_of_content(data, name, declared)
    assert format_of(media_type) or describe_media_type(media_type)


class TestHeads:
    @pytest.mark.parametrize(
        ("data", "name", "media_type"),
        [
            (b"server {\n  listen 80;\n}\n" * 1_000, "nginx.conf", "text/plain"),
            (PDF + bytes(20_000), "paper", "application/pdf"),
            (HTML, "saved.page", "text/html"),
            ("Grüße\n".encode("latin-1"), "letter.xyz", "text/plain"),
            ("Grüße\n".encode("utf-16"), "letter.xyz", "text/plain"),
            (PNG, "picture", None),
            (b'<svg xmlns="http://www.w3.org/2000/svg">', "drawing.svg", None),
            (bytes(100), "core", None),
            (b"", "empty.xyz", None),
            (b" \n", "empty.xyz", None),
        ],
    )
    def test_the_first_bytes_tell_whether_there_is_text(self, data, name, media_type):
        assert guess_from_head(data[:8_192], name) == media_type

    def test_a_head_may_end_within_a_character(self):
        text = "Grüße aus München, schöne Tage. " * 500
        for end in (4_000, 4_001, 4_002, 8_190, 8_191, 8_192):
            assert guess_from_head(text.encode()[:end], "x.xyz") == "text/plain"


class TestNames:
    @pytest.mark.parametrize(
        ("text", "media_type"),
        [
            ("markdown", "text/markdown"),
            ("md", "text/markdown"),
            (".MD", "text/markdown"),
            (" Text/Markdown; charset=utf-8", "text/markdown"),
            ("text/x-markdown", "text/markdown"),
            ("pdf", "application/pdf"),
            ("Jupyter_Notebook", "application/x-ipynb+json"),
            ("C++", "text/x-c++"),
            ("c#", "text/x-csharp"),
            ("docx", DOCX),
            ("application/x-yaml", "application/yaml"),
            ("application/javascript", "text/javascript"),
        ],
    )
    def test_a_user_may_call_a_type_by_any_of_its_names(self, text, media_type):
        assert resolve_media_type(text) == media_type

    @pytest.mark.parametrize(
        ("text", "suffix"),
        [
            *[("rust", ".rs"), ("python", ".py"), ("typescript", ".ts"), ("javascript", ".js"), ("go", ".go")],
            *[("java", ".java"), ("cpp", ".cpp"), ("markdown", ".md"), ("html", ".html"), ("json", ".json")],
            *[("yaml", ".yaml"), ("plain_text", ".txt")],
        ],
    )
    def test_the_content_types_of_the_rag_specification_are_names(self, text, suffix):
        row = format_of(resolve_media_type(text))
        assert row is not None
        assert suffix in row.suffixes

    @pytest.mark.parametrize(("text", "meant"), [("markdwon", "markdown"), ("pyhton", "python"), ("jsn", "json")])
    def test_a_misspelt_name_is_refused_with_what_was_meant(self, text, meant):
        with pytest.raises(UsageError) as caught:
            resolve_media_type(text)
        assert meant in caught.value.hint

    @pytest.mark.parametrize("text", ["", "image/png", "klingon", "text/", ";"])
    def test_what_cannot_be_read_is_no_name(self, text):
        with pytest.raises(UsageError, match="no type of document"):
            resolve_media_type(text)

    def test_every_name_means_a_format_and_every_format_has_its_names(self):
        assert set(ALIASES.values()) == {each.media_type for each in FORMATS}
        assert all(name == name.lower() for name in ALIASES)
        for each in FORMATS:
            assert resolve_media_type(each.media_type) == resolve_media_type(each.name) == each.media_type


class TestCharsets:
    @pytest.mark.parametrize(
        ("charset", "text"),
        [
            ("Shift_JIS", "日本語の文書です"),
            ('"windows-1251"', "Привет, мир"),
            ("gb2312", "中文文档"),
            ("utf-16le", "plain"),
            ("iso-8859-1", "Grüße"),
            ("iso-2022-jp", "日本"),
        ],
    )
    def test_text_in_a_declared_encoding_becomes_utf8(self, charset, text):
        assert in_utf8(text.encode(charset.strip('"')), "text/html", charset).decode() == text

    @pytest.mark.parametrize("charset", ["", "utf-8", "UTF8", "us-ascii", "nonsense", "rot13", "utf-16"])
    def test_what_is_utf8_stays_whatever_is_declared(self, charset):
        assert in_utf8("Grüße".encode(), "text/plain", charset).decode() == "Grüße"

    @pytest.mark.parametrize("media_type", ["application/pdf", DOCX, "message/rfc822"])
    def test_what_is_no_text_is_not_touched(self, media_type):
        assert in_utf8(b"\xe9\0\xff", media_type, "latin-1") == b"\xe9\0\xff"

    @given(st.binary(max_size=200), st.sampled_from(["latin-1", "utf-16", "utf-32", "shift_jis", "x", "hex", "zlib"]))
    def test_no_bytes_make_it_fail(self, data, charset):
        assert isinstance(in_utf8(data, "text/plain", charset), bytes)
