r"""The headers of a mail: unfolded, decoded, and never trusted to be well-formed.

The standard library's modern policy fails on many broken headers of real mail, its old one leaves the
decoding to its users. So lines are read here, and only addresses and dates are left to the library.
"""

import binascii
import re
from datetime import UTC
from email.utils import getaddresses, parsedate_to_datetime

from dowse.errors import SourceError
from dowse.ingest.extract.charsets import decode_declared

__all__ = ["Headers", "decoded_bytes", "read_headers"]

_MOST = 1_000
_LONGEST = 64 * 1024
_LONGEST_ADDRESSES = 32 * 1024
_MOST_ADDRESSES = 500
_LINE = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*)", re.DOTALL)
_LARGEST = 1 << 20
_END = re.compile(rb"\r?\n\r?\n")
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_NEW_LINE = re.compile(rb"\r?\n")
_WORD = re.compile(r"=\?([^?*\s]{1,40})(?:\*[^?]{0,40})?\?([bBqQ])\?([^?\s]*(?: [^?\s]*)*)\?=")
_PARAMETER = re.compile(r""";\s*([!#-'*-+.\w^`{|}~-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^\s;"]*+))""")
_SECTION = re.compile(r"([^*]+)\*(\d{1,3})?(\*)?")
_ESCAPED = re.compile(r"\\(.)")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


class Headers:
    """The headers of a message or of one part of it; of two with one name the first counts."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def words(self, name: str) -> str:
        """The value in one line, decoded; empty without one."""
        return " ".join(_decoded_words(self._fields.get(name, "")).split())

    def addresses(self, name: str) -> list[str]:
        """The addresses with their names, decoded."""
        value = self._fields.get(name, "")[:_LONGEST_ADDRESSES]
        try:
            pairs = getaddresses([value])
        except Exception:  # noqa: BLE001 - the parser of addresses stumbles over broken ones in many ways
            pairs = []
        found = [_address(_decoded_words(person), address) for person, address in pairs[:_MOST_ADDRESSES] if address]
        return found or ([self.words(name)] if self.words(name) else [])

    def date(self) -> str:
        """When the message was sent, in ISO 8601 and UTC; empty when that is not said or makes no sense."""
        try:
            sent = parsedate_to_datetime(self._fields.get("date", ""))
            return (sent if sent.tzinfo else sent.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
        except Exception:  # noqa: BLE001 - years, zones and months out of range fail in many ways
            return ""

    def token(self, name: str) -> str:
        """The value before its parameters, in lower case."""
        return self._fields.get(name, "").partition(";")[0].strip().lower()

    def parameters(self, name: str) -> dict[str, str]:
        """The parameters of a value, the long ones put together and decoded."""
        value = self._fields.get(name, "")
        found: dict[str, str] = {}
        sections: dict[str, dict[int, tuple[str, bool]]] = {}
        for key, quoted, bare in _PARAMETER.findall(value):
            text = _ESCAPED.sub(r"\1", quoted) if quoted else bare
            section = _SECTION.fullmatch(key.lower())
            if section:
                is_encoded = bool(section[3]) or not section[2]
                sections.setdefault(section[1], {})[int(section[2] or 0)] = (text, is_encoded)
            else:
                found.setdefault(key.lower(), " ".join(_decoded_words(text).split()))
        for key, parts in sections.items():
            found.setdefault(key, _joined([parts[index] for index in sorted(parts)]))
        return found


def read_headers(data: bytes, start: int, end: int) -> tuple[Headers, int]:
    """The headers in this span of a mail, and where the body after them begins."""
    blank = _NEW_LINE.match(data, start, end)
    if blank:
        return Headers({}), blank.end()
    blank = _END.search(data, start, min(end, start + _LARGEST))
    stop, body = (blank.start(), blank.end()) if blank else (min(end, start + _LARGEST),) * 2
    fields: dict[str, str] = {}
    for line in _NEW_LINE.split(_FOLDED.sub(b" ", data[start:stop]))[:_MOST]:
        found = _LINE.match(line)
        if found:
            fields.setdefault(found[1].decode("ascii").lower(), _raw_text(found[2][:_LONGEST]).strip())
    return Headers(fields), body


def decoded_bytes(data: bytes, charset: str) -> str:
    """Text in the charset that a mail declares, or that it turns out to be in; never fails."""
    try:
        return decode_declared(data, charset, "a header")
    except SourceError:
        return data.decode("latin-1").replace("\0", "\ufffd")


def _raw_text(value: bytes) -> str:
    text = value.decode("ascii") if value.isascii() else decoded_bytes(value, "")
    return text.replace("\0", "\ufffd").replace("\r", " ")


def _decoded_words(value: str) -> str:
    """Decode the encoded words in a value; white space between two of them only parts them."""
    pieces: list[str] = []
    held, charset, reached = b"", "", 0
    for found in _WORD.finditer(value):
        data = _word_bytes(found[2], found[3])
        if data is None:
            continue
        between = value[reached : found.start()]
        follows = bool(reached) and not between.strip()
        # A character may have been cut in two by the end of a word, so words are decoded together.
        if not follows or found[1].lower() != charset:
            pieces += (decoded_bytes(held, charset), "" if follows else between)
            held, charset = b"", found[1].lower()
        held += data
        reached = found.end()
    pieces += (decoded_bytes(held, charset), value[reached:])
    return "".join(pieces).replace("\0", "\ufffd")


def _word_bytes(encoding: str, text: str) -> bytes | None:
    raw = text.encode("utf-8", "replace")
    try:
        return binascii.a2b_base64(raw + b"==") if encoding in "bB" else binascii.a2b_qp(raw, header=True)
    except binascii.Error:
        return None


def _address(person: str, address: str) -> str:
    person = " ".join(person.split())
    return f"{person} <{address}>" if person and person != address else address


def _joined(parts: list[tuple[str, bool]]) -> str:
    """A parameter in sections, as RFC 2231 has it; the first one names the charset."""
    charset = ""
    data = b""
    for index, (text, is_encoded) in enumerate(parts):
        if is_encoded and not index and text.count("'") > 1:
            charset, _, text = text.split("'", 2)  # noqa: PLW2901 - the rest is the text
        raw = text.encode("utf-8", "replace")
        data += _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), raw) if is_encoded else raw
    return " ".join(decoded_bytes(data, charset).split())
