"""The encodings that files of the web and mails name, and how far they can be believed."""

import codecs
import re

from dowse.ingest.extract.encoding import decode

__all__ = ["decode_declared"]

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
# What browsers take these names for: the names were given before the larger sets were common.
_MEANT = {
    "ascii": "cp1252",
    "latin-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
}
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949",
    "x-gbk": "gb18030",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
    "x-euc-jp": "euc_jp",
    "iso-8859-8-i": "iso8859-8",
    "unknown-8bit": "",
    "utf8mb4": "utf-8",
}
# Beside these Python knows codecs that are no encodings of text, or that decode ordinary text into something else.
_TRUSTED = re.compile(
    r"cp(?:125\d|437|85\d|86\d|874|93\d|949|950)|iso8859-\d+|koi8-[rtu]|mac-\w+|gb18030|hz|big5(?:hkscs)?"
    r"|euc_(?:jp|jis_2004|jisx0213)|iso2022_\w+|johab|shift_jis\w+|tis-620|kz1048|ptcp154"
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_SAMPLE = 8_000
_FEW_PERCENT = 5
_FEW = 4


def decode_declared(data: bytes, declared: str, name: str) -> str:
    r"""The text of these bytes in the encoding that their source declares, unless they tell otherwise.

    Bytes that are valid UTF-8 beyond ASCII are UTF-8, whatever a copied header says; a byte order mark and
    the project's own detection decide where the declared name is none, or makes nonsense of them.

    Raises:
        SourceError: reason `binary`, when they are no text.
    """
    encoding = _trusted(declared)
    if encoding and not data.startswith(_MARKS) and b"\0" not in data[:_SAMPLE]:
        try:
            if not data.isascii():
                return _tidy(data.decode())
        except UnicodeDecodeError:
            pass
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") <= max(_FEW, len(text) * _FEW_PERCENT // 100):
            return _tidy(text)
    return decode(data, name)


def _trusted(declared: str) -> str:
    """The codec for a name, empty for UTF-8 (which is tried anyway) and for what is not to be trusted."""
    label = declared.strip().strip("\"'").lower()
    if not _NAME.fullmatch(label):
        return ""
    try:
        canonical = codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return ""
    canonical = _MEANT.get(canonical, canonical)
    return canonical if _TRUSTED.fullmatch(canonical) else ""


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
