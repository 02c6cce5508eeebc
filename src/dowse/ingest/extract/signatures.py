"""What the first bytes of a file say, whatever its name: archives, Office files, pictures, sound, programs.

Most of these cannot be read, and are known here so that a message can say what they are.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["LABELS", "OLE", "ZIP", "recognise"]

ZIP = "application/zip"
OLE = "application/x-ole-storage"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_XLS = "application/vnd.ms-excel"
_OPEN = "application/vnd.oasis.opendocument"


class _Signature(NamedTuple):
    mark: bytes
    media_type: str
    label: str
    offset: int = 0


_SIGNATURES: Final = tuple(
    _Signature(*row)
    for row in (
        (b"%PDF-", "application/pdf", "a PDF"),
        (b"{\\rtf", "application/rtf", "an RTF document"),
        (b"%!PS", "application/postscript", "a PostScript document"),
        (b"PK\x03\x04", ZIP, "a zip archive"),
        (b"PK\x05\x06", ZIP, "a zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE, "an Office file of before 2007"),
        (b"\x1f\x8b", "application/gzip", "a gzip archive"),
        (b"BZh", "application/x-bzip2", "a bzip2 archive"),
        (b"\xfd7zXZ\0", "application/x-xz", "an xz archive"),
        (b"\x28\xb5\x2f\xfd", "application/zstd", "a zstd archive"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"),
        (b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
        (b"ustar", "application/x-tar", "a tar archive", 257),
        (b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
        (b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
        (b"GIF87a", "image/gif", "a GIF image"),
        (b"GIF89a", "image/gif", "a GIF image"),
        (b"WEBP", "image/webp", "a WebP image", 8),
        (b"II*\0", "image/tiff", "a TIFF image"),
        (b"MM\0*", "image/tiff", "a TIFF image"),
        (b"BM", "image/bmp", "a BMP image"),
        (b"\0\0\1\0", "image/x-icon", "an icon"),
        (b"8BPS", "image/vnd.adobe.photoshop", "a Photoshop image"),
        (b"ftypheic", "image/heic", "a HEIC image", 4),
        (b"ftypmif1", "image/heif", "a HEIF image", 4),
        (b"ftypavif", "image/avif", "an AVIF image", 4),
        (b"ftypM4A", "audio/mp4", "an audio file", 4),
        (b"ftypqt", "video/quicktime", "a video", 4),
        (b"ftyp", "video/mp4", "a video", 4),
        (b"\x1a\x45\xdf\xa3", "video/x-matroska", "a video"),
        (b"AVI ", "video/x-msvideo", "a video", 8),
        (b"WAVE", "audio/wav", "an audio file", 8),
        (b"ID3", "audio/mpeg", "an audio file"),
        (b"\xff\xfb", "audio/mpeg", "an audio file"),
        (b"\xff\xf3", "audio/mpeg", "an audio file"),
        (b"fLaC", "audio/flac", "an audio file"),
        (b"OggS", "audio/ogg", "an audio file"),
        (b"MThd", "audio/midi", "a MIDI file"),
        (b"\x7fELF", "application/x-executable", "a program"),
        (b"MZ", "application/vnd.microsoft.portable-executable", "a program"),
        (b"\xfe\xed\xfa\xce", "application/x-mach-binary", "a program"),
        (b"\xfe\xed\xfa\xcf", "application/x-mach-binary", "a program"),
        (b"\xcf\xfa\xed\xfe", "application/x-mach-binary", "a program"),
        (b"\xca\xfe\xba\xbe", "application/java-vm", "a compiled program"),
        (b"\0asm", "application/wasm", "a compiled program"),
        (b"SQLite format 3\0", "application/vnd.sqlite3", "an SQLite database"),
        (b"PAR1", "application/vnd.apache.parquet", "a Parquet table"),
        (b"OTTO", "font/otf", "a font"),
        (b"\0\1\0\0\0", "font/ttf", "a font"),
        (b"wOFF", "font/woff", "a font"),
        (b"wOF2", "font/woff2", "a font"),
        (b"AT&TFORM", "image/vnd.djvu", "a DjVu document"),
        (b"BOOKMOBI", "application/x-mobipocket-ebook", "a Kindle book", 60),
        (b"!<arch>\n", "application/x-archive", "a compiled library"),
    )
)
_SURE = frozenset({"application/pdf", "application/rtf", "application/postscript"})
"""Their marks are letters, and mean what they say even where text follows."""

LABELS: Final = {each.media_type: each.label for each in _SIGNATURES} | {
    f"{_OPEN}.text": "an OpenDocument text",
    f"{_OPEN}.spreadsheet": "an OpenDocument spreadsheet",
    f"{_OPEN}.presentation": "an OpenDocument presentation",
    "application/java-archive": "a Java archive",
    "application/vnd.android.package-archive": "an Android app",
    "application/vnd.ms-visio.drawing": "a Visio drawing",
    "application/vnd.ms-outlook": "an Outlook message",
    "image/svg+xml": "an SVG drawing",
    "application/octet-stream": "binary data",
}
"""What the types that cannot be read are, as part of a sentence."""

_ENDS = 1 << 16
"""How much of a zip's start and end is looked at for names."""
_LOCAL_ENTRY = re.compile(rb"PK\x03\x04.{22}(..)..", re.DOTALL)
_CENTRAL_ENTRY = re.compile(rb"PK\x01\x02.{24}(..).{16}", re.DOTALL)
_STORED_TYPE = re.compile(rb"PK\x03\x04.{22}\x08\0(?:\0\0)mimetype([\w.+/-]{1,100}?)(?=PK|$)", re.DOTALL)
_PACKAGE = "[content_types].xml"
_OFFICE: Final = (
    ("word/", _DOCX),
    ("ppt/", _PPTX),
    ("xl/workbook.bin", _XLS),
    ("xl/", _XLSX),
    ("visio/", "application/vnd.ms-visio.drawing"),
)
_ZIPPED: Final = (
    ("meta-inf/container.xml", "application/epub+zip"),
    ("androidmanifest.xml", "application/vnd.android.package-archive"),
    ("meta-inf/manifest.mf", "application/java-archive"),
)
_STREAMS: Final = (
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("Workbook", _XLS),
    ("__substg1.0_", "application/vnd.ms-outlook"),
)


def recognise(data: bytes, *, is_text: bool) -> str | None:
    """The media type that the bytes are marked with; the start of a file is mostly enough.

    `is_text` says whether they could be text: then a mark of letters, such as BM or MZ, is just how it begins.
    """
    for mark, media_type, _, offset in _SIGNATURES:
        if data.startswith(mark, offset) and (not is_text or media_type in _SURE or not _is_lettered(mark)):
            if media_type == ZIP:
                return _zipped(data)
            return _old_office(data) if media_type == OLE else media_type
    return None


def _is_lettered(mark: bytes) -> bool:
    return mark.isascii() and mark.decode().isprintable()


def _zipped(data: bytes) -> str:
    """What kind of zip archive this is, by the names in it."""
    if told := _STORED_TYPE.match(data):
        media_type = told[1].decode()
        return media_type if media_type in LABELS or media_type == "application/epub+zip" else ZIP
    names = set(_names(data))
    if _PACKAGE in names:
        for start, media_type in _OFFICE:
            if any(name.startswith(start) for name in names):
                return media_type
    return next((media_type for name, media_type in _ZIPPED if name in names), ZIP)


def _names(data: bytes) -> Iterator[str]:
    for part, entry in ((data[:_ENDS], _LOCAL_ENTRY), (data[-_ENDS:], _CENTRAL_ENTRY)):
        for found in entry.finditer(part):
            length = int.from_bytes(found[1], "little")
            name = part[found.end() : found.end() + length]
            yield name.decode("utf-8", "replace").replace("\\", "/").lower()


def _old_office(data: bytes) -> str:
    """Which program's file this is, by the names of its streams; they are in UTF-16."""
    return next((media_type for name, media_type in _STREAMS if name.encode("utf-16-le") in data), OLE)
