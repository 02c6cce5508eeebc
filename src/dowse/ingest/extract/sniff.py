"""Which type some bytes are of: by what they are, what they are called, and what is said of them.

Binary formats are known by their marks, which overrule everything: a picture named notes.md is a picture.
Text has no marks. There a specific declaration (a server's `text/html`) comes first, then the name, then
what the content looks like. Vague declarations, such as `text/plain`, say no more than nothing.
"""

import re
from typing import Final

from dowse.errors import SourceError
from dowse.ingest.extract.charsets import decode_declared
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.formats import FORMATS
from dowse.ingest.extract.media_types import known_media_type, media_type_of
from dowse.ingest.extract.signatures import OLE, ZIP, recognise

__all__ = ["guess_from_head", "in_utf8", "media_type_of_content"]

_HEAD = 8_000
_BINARY = "application/octet-stream"
_PLAIN = "text/plain"
_HTML = "text/html"
_XHTML = "application/xhtml+xml"
_NOTEBOOK = "application/x-ipynb+json"

_READABLE: Final = frozenset(each.media_type for each in FORMATS)
_PACKED: Final = frozenset(
    each.media_type for each in FORMATS if each.family in {"office", "pdf"} or each.media_type.endswith("+zip")
)
"""Types that are no text."""
_MIXED: Final = frozenset(each.media_type for each in FORMATS if each.family == "mail")
"""Text that may have anything in it."""
_OFFICE: Final = frozenset(each.media_type for each in FORMATS if each.family == "office")

_NARROWER: Final = {
    "application/json": frozenset({_NOTEBOOK, "application/geo+json", "application/jsonl"}),
    _HTML: frozenset({_XHTML}),
}
"""Types that a name may tell from the wider one that a server declares."""

_DEFAULT_CHARSETS = frozenset({"", "utf-8", "utf8", "us-ascii", "ascii"})
_WIDE = ("utf-16", "utf-32", "utf16", "utf32")

_XML_START = r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:[^-]|-(?!->))*+-->\s*)*+"
_LOOKS: Final = (
    (rf"{_XML_START}<!doctype\s+html[^>]*xhtml", _XHTML),
    (rf"{_XML_START}<(?:!doctype\s+html|html|head|body)\b", _HTML),
    (rf"{_XML_START}(?:<!doctype\s+svg[^>]*>\s*)?<svg\b", "image/svg+xml"),
    (r"<\?php\b", "text/x-php"),
    (r"#!.*\bpython", "text/x-python"),
    (r"#!.*\b(?:node|deno|bun)\b", "text/javascript"),
    (r"#!.*\bruby", "text/x-ruby"),
    (r"#!.*\bphp", "text/x-php"),
    (r"#!.*\b(?:ba|z|k|da|a)?sh\b", "text/x-shellscript"),
    (r"WEBVTT(?:\s|$)", "text/vtt"),
    (r"\s*\d+[ \t]*\n\d{1,2}:\d\d:\d\d[,.]\d{1,3}[ \t]*-->", "application/x-subrip"),
    (r"From \S+ .*\d{4}\n(?:[\w-]+:.*\n(?:[ \t].*\n)*+){2}", "application/mbox"),
    (r"(?:\s*+%.*\n)*+\s*+\\documentclass\b", "application/x-tex"),
    (r"(?:\s*#.*\n)*?\s*#\+(?:title|author|startup|options):", "text/org"),
    (r"---\n(?:[\w-]+:.*\n(?:(?:[ \t]|- ).*\n)*+)++---\n", "text/markdown"),
    (r'\s*\{\s*"(?:[^"\\\n]|\\.)*+"\s*:.*\}\s*\n\s*\{\s*"', "application/jsonl"),
    (r'\s*(?:\[\s*)?\{\s*(?:"(?:[^"\\\n]|\\.)*+"\s*:|\}\s*$)', "application/json"),
)
"""How the text of a format begins, where its beginning tells; compiled when first asked, which is rarely."""

_HEADER = re.compile(r"([A-Za-z][\w-]*):.*\n(?:[ \t].*\n)*+")
_MAIL_HEADERS = frozenset(
    {"from", "to", "date", "subject", "message-id", "received", "mime-version", "return-path", "delivered-to"}
)
_ENOUGH_HEADERS = 3
_MARKDOWN: Final = (
    r"^# \S.*\n(?:\s*\n|\Z)",
    r"^#{2,6} \S.*\n(?:\s*\n|\Z)",
    r"^(?:```|~~~)",
    r"\[[^\[\]\n]+\](?:\([^()\s]+\)|\])",
    r"^(?:[-*+]|\d+\.) \S.*\n(?:[-*+]|\d+\.) \S",
    r"\*\*\S[^*\n]*\*\*",
    r"^[^\n|]*\|.*\n\|?[ :|-]*---",
)
_ENOUGH_MARKDOWN = 2


def media_type_of_content(data: bytes, name: str = "", declared: str = "") -> str:
    """The media type of these bytes, which may be one that cannot be read: `image/png`.

    `name` is that of the file, `declared` the Content-Type that came with it; both may be empty.
    """
    by_name, told = media_type_of(name), known_media_type(declared)
    head = _text_of(data[:_HEAD])
    marked = recognise(data, is_text=head is not None)
    if marked is not None:
        return _of_marked(marked, by_name, told)
    if head is None:
        # Readers of these find out what is wrong with them, and say so better.
        return next((each for each in (told, by_name) if each in _PACKED | _MIXED), _BINARY)
    return _of_text(data, head, by_name, told, is_plain=declared.strip().lower().startswith(_PLAIN))


def guess_from_head(head: bytes, name: str = "") -> str | None:
    """The type of a file by its first bytes (8 KB are enough), None where it is none that we read, or empty."""
    found = media_type_of_content(head, name) if head.strip() else _BINARY
    return found if found in _READABLE else None


def in_utf8(data: bytes, media_type: str, charset: str) -> bytes:
    """The bytes of a text in UTF-8, where whoever sent it says that it is in another encoding.

    Readers find out the encoding by themselves, but cannot know what only a Content-Type header tells.
    """
    label = charset.strip().strip("\"'").lower()
    if label in _DEFAULT_CHARSETS or media_type in _PACKED | _MIXED:
        return data
    try:
        is_wide = label.startswith(_WIDE) and b"\0" in data[:_HEAD]
        return data.decode(label).encode() if is_wide else decode_declared(data, label, "").encode()
    except (SourceError, UnicodeError, LookupError):
        return data


def _of_marked(marked: str, by_name: str | None, told: str | None) -> str:
    """A container of which only the outside is known is taken for what it is called, if that is one."""
    fitting = {ZIP: _PACKED, OLE: _OFFICE, "application/msword": _OFFICE, "application/vnd.ms-excel": _OFFICE}
    inside = fitting.get(marked, frozenset())
    return next((each for each in (by_name, told) if each in inside), marked)


def _of_text(data: bytes, head: str, by_name: str | None, told: str | None, *, is_plain: bool) -> str:
    if told in _PACKED or told == _PLAIN:
        told = None
    if told is None and by_name is not None and by_name not in _PACKED:
        return by_name  # as for nearly every file of a folder, without a closer look
    looks = _look(head, data)
    if by_name in _PACKED:
        if told is None and looks is None:
            return by_name or _PLAIN  # whose reader says what is wrong
        by_name = None
    if told is not None:
        # Some servers call every text HTML, and every JSON just that.
        is_wrong = told == _HTML and looks not in {_HTML, _XHTML}
        is_narrower = by_name in _NARROWER.get(told, ())
        return by_name if by_name and (is_wrong or is_narrower) else told
    return _PLAIN if looks is None or (is_plain and looks in {_HTML, _XHTML}) else looks


def _text_of(head: bytes) -> str | None:
    try:
        return decode(head, "")
    except SourceError:
        return None


def _look(head: str, data: bytes) -> str | None:
    """What a text looks like, None for nothing in particular."""
    for pattern, media_type in _LOOKS:
        if re.match(pattern, head, re.IGNORECASE):
            is_notebook = media_type == "application/json" and b'"nbformat"' in data and b'"cells"' in data
            return _NOTEBOOK if is_notebook else media_type
    if _begins_as_mail(head):
        return "message/rfc822"
    marks = sum(1 for pattern in _MARKDOWN if re.search(pattern, head, re.MULTILINE))
    return "text/markdown" if marks >= _ENOUGH_MARKDOWN else None


def _begins_as_mail(head: str) -> bool:
    names: set[str] = set()
    end = 0
    while found := _HEADER.match(head, end):
        names.add(found[1].lower())
        end = found.end()
    return "from" in names and len(names & _MAIL_HEADERS) >= _ENOUGH_HEADERS
