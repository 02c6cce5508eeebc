r"""From bytes to text: which encoding this is, or that it is no text at all.

UTF-8 is tried first and nearly always right. A byte order mark decides otherwise. What is neither is a
damaged UTF-8 file when most of its characters beyond ASCII are sound, and Windows-1252 (a superset of
printable Latin-1) when they are not. Line ends become `\n`: line numbers stay true and spans are the
same on every system.
"""

import codecs

from dowse.errors import SourceError

__all__ = ["decode"]

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 8_000
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b\x1a") | {127})
_FEW = 8
_FEW_PERCENT = 5


def decode(data: bytes, name: str) -> str:
    r"""The text of these bytes, with `\n` as its only line end and neither NUL nor a byte order mark.

    Raises:
        SourceError: reason `binary`, when they are no text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _tidy(data[len(mark) :].decode(encoding, "replace"))
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if b"\0" in sample or controls > max(_FEW, len(sample) * _FEW_PERCENT // 100):
        raise SourceError(
            f"{name} is not text: it holds bytes that no text has.",
            reason="binary",
            hint="Rename it after its real type, or add it to .dowseignore.",
        )
    try:
        return _tidy(data.decode())
    except UnicodeDecodeError:
        return _tidy(_decode_damaged(data))


def _decode_damaged(data: bytes) -> str:
    repaired = data.decode("utf-8", "replace")
    broken = repaired.count("\ufffd")
    sound = len(repaired) - len(repaired.encode("ascii", "ignore")) - broken
    if sound > broken:
        return repaired
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _tidy(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "\ufffd")
