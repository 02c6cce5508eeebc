"""Writes mails as text: the subject as heading, who wrote to whom and when, the body, the names of attachments."""

import re
from itertools import pairwise

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.hypertext.reading import read_parts, write_page
from dowse.ingest.extract.mail.headers import Headers, read_headers
from dowse.ingest.extract.mail.mime import Text, read_body
from dowse.types import MetadataValue

__all__ = ["extract_eml", "extract_mbox"]

_DEEPEST = 4
"""Of mails inside mails."""
_MOST_SHOWN = 20
_LONGEST_SUBJECT = 300
_TELLING = ("from", "to", "subject", "date", "message-id", "received", "sender", "return-path", "mime-version")
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
# Behind an empty line the time is enough to tell it from prose that begins with the same word.
_SEPARATOR = re.compile(
    rb"^From [^\r\n]{0,200}?\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [^\r\n]{0,100}?\d\d?:\d\d[^\r\n]{0,100}\r?\n"
    rb"|(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,200}?\d\d?:\d\d[^\r\n]{0,100}\r?\n",
    re.MULTILINE,
)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_NO_SUBJECT = "(no subject)"


def extract_eml(data: bytes, name: str) -> Extracted:
    """Read one mail.

    Raises:
        SourceError: reason `empty` or `damaged`, when there are no headers.
    """
    data = _without_mark(data)
    headers, _ = read_headers(data, 0, len(data))
    if not any(each in headers for each in _TELLING):
        raise _no_mail(data, name)
    composer = Composer(len(data))
    attachments, is_sealed = _write(composer, data, (0, len(data)), 1)
    metadata = _metadata(headers)
    if attachments:
        metadata["attachments"] = attachments
    if is_sealed:
        metadata["encrypted"] = True
    return composer.extracted(headers.words("subject")[:_LONGEST_SUBJECT] or None, metadata)


def extract_mbox(data: bytes, name: str) -> Extracted:
    """Read a mailbox: each message is a unit under its subject, and its passages say which one.

    Raises:
        SourceError: reason `empty` or `damaged`, when there are no messages.
    """
    data = _without_mark(data)
    composer = Composer(len(data))
    count = 0
    for message in _messages(data):
        if composer.full:
            composer.cut("messages are left out")
            break
        if b">From " in message:
            message = _ESCAPED.sub(rb"\1", message)  # noqa: PLW2901 - the same message
        headers, _ = read_headers(message, 0, len(message))
        place = {key: value for key, value in _metadata(headers).items() if key in {"message_id", "from", "date"}}
        composer.unit(place=place)
        _write(composer, message, (0, len(message)), 1)
        count += 1
    if not count:
        raise _no_mail(data, name)
    return composer.extracted(None, {"messages": count})


def _messages(data: bytes) -> list[bytes]:
    """The messages of a mailbox, without the lines that part them."""
    marks = [(found.start(), found.end()) for found in _SEPARATOR.finditer(data)]
    if marks:
        ends = [*marks, (len(data), len(data))]
        return [data[start:end] for (_, start), (end, _) in pairwise(ends)]
    headers, _ = read_headers(data, 0, len(data))
    return [data] if any(each in headers for each in _TELLING) else []


def _metadata(headers: Headers) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {
        "from": ", ".join(headers.addresses("from")),
        "to": headers.addresses("to"),
        "cc": headers.addresses("cc"),
        "subject": headers.words("subject"),
        "date": headers.date(),
        "message_id": headers.words("message-id"),
        "in_reply_to": headers.words("in-reply-to"),
    }
    return {key: value for key, value in found.items() if value}


def _write(composer: Composer, data: bytes, span: tuple[int, int], level: int) -> tuple[list[str], bool]:
    """Write the mail in this span; returns the names of its attachments, and whether it is encrypted."""
    headers, start = read_headers(data, *span)
    composer.heading(level, headers.words("subject") or _NO_SUBJECT)
    composer.block("paragraph", _envelope(headers))
    body = read_body(data, headers, start, span[1])
    if body.is_cut:
        composer.cut("parts of a message are nested too deeply or are too many")
    for text in body.texts:
        _write_text(composer, text, level)
    if body.is_sealed:
        composer.block("paragraph", "(The content is encrypted.)")
    if body.attachments:
        composer.block("list", "\n".join(["Attachments:", *(f"- {name}" for name in body.attachments)]))
    attachments = list(body.attachments)
    for inner in body.forwarded:
        if level < _DEEPEST:
            attachments += _write(composer, data, inner, level + 1)[0]
        else:
            composer.cut("messages inside messages are left out")
    return attachments, body.is_sealed


def _write_text(composer: Composer, text: Text, level: int) -> None:
    if not text.is_html:
        for paragraph in _EMPTY_LINES.split(text.content):
            composer.block("paragraph", paragraph)
        return
    page, parts = read_parts(text.content, whole=True, local_links=False)
    for part in parts:
        if part.kind == "heading":
            part.level += level
    write_page(composer, page, parts)


def _envelope(headers: Headers) -> str:
    lines = []
    for label, name in (("From", "from"), ("To", "to"), ("Cc", "cc")):
        people = headers.addresses(name)
        more = f" and {len(people) - _MOST_SHOWN} more" if len(people) > _MOST_SHOWN else ""
        if people:
            lines.append(f"{label}: {', '.join(people[:_MOST_SHOWN])}{more}")
    if date := headers.date():
        lines.append(f"Date: {date}")
    return "\n".join(lines)


def _without_mark(data: bytes) -> bytes:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")


def _no_mail(data: bytes, name: str) -> SourceError:
    if not data.strip():
        return SourceError(f"{name} is empty.", reason="empty", hint="Replace it by a sound copy, or delete it.")
    return SourceError(
        f"{name} is no mail: it has no headers.",
        reason="damaged",
        hint="Export it again from the mail program, or rename it after its real type.",
    )
