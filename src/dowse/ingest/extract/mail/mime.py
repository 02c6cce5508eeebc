"""The parts of a mail: which of them are to be read, and which are attachments, without decoding those.

The standard library's parser recurses into parts and looks at every line once per level. This one walks
the bytes in place, as deep and as far as real mail goes.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dowse.errors import SourceError
from dowse.ingest.extract.charsets import decode_declared
from dowse.ingest.extract.hypertext.reading import decode_html
from dowse.ingest.extract.mail.headers import Headers, read_headers
from dowse.records import record

__all__ = ["Body", "Text", "read_body"]

_DEEPEST = 16
_MOST_PARTS = 2_000
_LONGEST_NAME = 200
_SHORT = 200
_MUCH = 2_000
"""A plain text below the one may only say that there is a better one, if that is above the other."""
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_READABLE = frozenset({"text/plain", "text/html", "text/enriched", "message/delivery-status", "text/rfc822-headers"})
_SEALED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_MESSAGES = frozenset({"message/rfc822", "message/global"})


@record
class Text:
    """A text to be read."""

    content: str
    is_html: bool


@dataclass(slots=True)
class Body:
    """What a mail holds."""

    texts: list[Text] = field(default_factory=list)
    forwarded: list[tuple[int, int]] = field(default_factory=list)
    """The spans of mails inside the mail."""
    attachments: list[str] = field(default_factory=list)
    """Their names."""
    is_sealed: bool = False
    """Encrypted, so that only the headers can be read."""
    is_cut: bool = False
    """Nested too deeply, or of too many parts, to be read to the end."""

    def add(self, other: "Body") -> None:
        """Go on with another part."""
        self.texts += other.texts
        self.forwarded += other.forwarded
        self.attachments += other.attachments
        self.is_sealed |= other.is_sealed
        self.is_cut |= other.is_cut


def read_body(data: bytes, headers: Headers, start: int, end: int) -> Body:
    """Read the body with these headers that lies in this span."""
    return _Walk(data).read(headers, start, end, 0)


class _Walk:
    """One walk through the parts of one mail."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = _MOST_PARTS

    def read(self, headers: Headers, start: int, end: int, depth: int, default: str = "text/plain") -> Body:
        """The body of one part, and of all in it."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return Body(is_cut=True)
        kind = headers.token("content-type")
        if "/" not in kind:
            kind = default
        if kind in _SEALED and headers.parameters("content-type").get("smime-type", "") != "signed-data":
            return Body(is_sealed=True)
        if kind.startswith("multipart/"):
            boundary = headers.parameters("content-type").get("boundary", "")
            inner = "message/rfc822" if kind == "multipart/digest" else "text/plain"
            bodies = [self.read(*part, depth + 1, inner) for part in self._parts(boundary, start, end)]
            if bodies:
                return _together(kind, bodies)
            kind = "text/plain"
        return self._leaf(kind, headers, start, end)

    def _parts(self, boundary: str, start: int, end: int) -> Iterator[tuple[Headers, int, int]]:
        """The headers and spans of the parts between the lines of a boundary."""
        if not boundary:
            return
        mark = re.escape(boundary.encode("utf-8", "replace"))
        lines = re.compile(rb"^--" + mark + rb"(--)?[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
        before: int | None = None
        position = start
        while found := lines.search(self._data, position, end):
            stop = _before_line_end(self._data, found.start(), start)
            if before is not None and stop >= before:
                headers, body = read_headers(self._data, before, stop)
                yield headers, body, stop
            before = position = found.end()
            if found[1] or self._left < 0:
                return
        if before is not None:
            headers, body = read_headers(self._data, before, end)
            yield headers, body, end

    def _leaf(self, kind: str, headers: Headers, start: int, end: int) -> Body:
        name = headers.parameters("content-disposition").get("filename", "")
        name = (name or headers.parameters("content-type").get("name", ""))[:_LONGEST_NAME]
        is_attached = headers.token("content-disposition") == "attachment" or (name and kind != "text/html")
        if kind in _MESSAGES:
            return Body(forwarded=[(start, end)])
        if is_attached or kind not in _READABLE:
            return Body(attachments=[name or kind])
        raw = _transferred(self._data[start:end], headers.token("content-transfer-encoding"))
        charset = headers.parameters("content-type").get("charset", "")
        try:
            is_html = kind == "text/html"
            content = decode_html(raw, name, charset) if is_html else decode_declared(raw, charset, name)
        except SourceError:
            return Body(attachments=[name or kind])
        return Body([Text(content, is_html)])


def _together(kind: str, bodies: list[Body]) -> Body:
    if kind == "multipart/alternative":
        return _best(bodies)
    whole = Body()
    for body in bodies:
        whole.add(body)
    return whole


def _best(bodies: list[Body]) -> Body:
    """Of several forms of one text the plain one, unless it only stands in for the other."""
    plain = next((body for body in bodies if body.texts and not any(text.is_html for text in body.texts)), None)
    rich = next((body for body in reversed(bodies) if any(text.is_html for text in body.texts)), None)
    chosen = plain or rich or bodies[0]
    if plain and rich:
        size, other = (sum(len(text.content.strip()) for text in body.texts) for body in (plain, rich))
        chosen = rich if not size or (size < _SHORT and other > _MUCH) else plain
    for body in bodies:
        if body is not chosen:
            chosen.forwarded += body.forwarded
            chosen.attachments += body.attachments
            chosen.is_sealed |= body.is_sealed
            chosen.is_cut |= body.is_cut
    return chosen


def _before_line_end(data: bytes, position: int, start: int) -> int:
    """The line end before a boundary belongs to the boundary."""
    for mark in (b"\n", b"\r"):
        if position > start and data[position - 1 : position] == mark:
            position -= 1
    return position


def _transferred(raw: bytes, encoding: str) -> bytes:
    if encoding == "quoted-printable":
        return binascii.a2b_qp(raw)
    if encoding != "base64":
        return raw
    digits = _NOT_BASE64.sub(b"", raw)
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
