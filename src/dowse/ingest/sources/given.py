"""What a user gives to be ingested, understood without reading it: a path, a URI, or content with a name.

Each becomes a `Given` with one absolute URI that is the same however it was spelled:

    file      file:///home/ada/notes.md      symbolic links resolved
    url       https://example.org/a?b=1      host in lower case, no default port, no fragment
    data      data:sha256,9f86d0…            the hash of the content, for megabytes are no key
    content   content:/minutes.md            the name that came with it, percent-encoded
"""

import os
import re
import unicodedata
from dataclasses import field
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from dowse.errors import UsageError
from dowse.ingest.sources.data_uris import key_of_content, name_of_data, parse_data_uri
from dowse.ingest.sources.names import normal_name, shown_name
from dowse.ingest.sources.urls import parse_url
from dowse.places import full_path
from dowse.records import record

__all__ = ["Given", "GivenKind", "given_content", "given_path", "parse_given", "path_of_file_uri"]

GivenKind = Literal["file", "url", "data", "content"]

# One letter before a colon is a drive of Windows.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_FILE_URI = re.compile(r"file:(?://([^/?#]*))?(/.*)?", re.IGNORECASE | re.DOTALL)
_DRIVE = re.compile(r"/[A-Za-z]:(?=/|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Names that Windows takes for devices in any folder, and what follows a colon, which is another stream of a file.
_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?:[. ].*)?|.*:.*", re.IGNORECASE)
_LONGEST_NAME = 1_024
_KNOWN = "Known are file://, http://, https:// and data:, and plain paths."


@record
class Given:
    """One source as its user named it."""

    kind: GivenKind
    uri: str
    """Absolute and normalised: the same source has the same one."""
    name: str
    """What a file with this content would be called: for titles, messages, and its type."""
    path: Path | None = None
    """Of a file (or a folder: only looking tells), absolute and without links."""
    data: bytes | None = field(default=None, repr=False)
    """Of data and content, which come with it."""
    media_type: str = ""
    """What a data: URI says of itself."""
    charset: str = ""


def parse_given(text: str, *, base: Path | None = None) -> Given:
    """Understand a path or URI; `base` is the folder that a relative path starts from, the current one by default.

    Raises:
        UsageError: it is neither, or it is malformed, or its scheme is none that can be read.
    """
    if not text.strip():
        raise UsageError("An empty text names nothing to ingest.", hint=_KNOWN)
    found = _SCHEME.match(text.lstrip())
    scheme = found[1].lower() if found else ""
    if scheme in {"http", "https"}:
        url = parse_url(text)
        return Given("url", url.text, url.name)
    if scheme == "data":
        return _given_data(text.lstrip())
    if scheme == "file":
        return _given_file(_existing_path(text.strip()))
    path = Path(text)
    given = _given_file(path if base is None or path.is_absolute() else base / path)
    if scheme and not _exists(given.path):
        raise UsageError(f"Nothing can be read from {scheme}: addresses, and no file has this name.", hint=_KNOWN)
    return given


def given_content(content: str | bytes, name: str, media_type: str = "") -> Given:
    """Content that has no address, under the name that its user gives it; the same name replaces it.

    Raises:
        UsageError: the name is empty, or none that can be shown and asked for again.
    """
    name = unicodedata.normalize("NFC", name.strip()).strip("/")
    parts = name.split("/")
    if not name or len(name) > _LONGEST_NAME or _CONTROL.search(name) or {"", ".", ".."} & set(parts):
        raise UsageError("Content needs a name.", hint="Give it one as files have them, such as minutes/2026-11.md")
    try:
        uri = f"content:/{quote(name)}"
        data = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise UsageError("The content or its name is not valid Unicode.", hint="Give it as bytes.") from error
    return Given(
        "content", uri, parts[-1], data=data, media_type=media_type, charset="utf-8" if data is not content else ""
    )


def given_path(resolved: Path) -> Given:
    """A path that was checked: it is not resolved a second time, which may give another answer."""
    name = resolved.name or str(resolved)
    return Given("file", resolved.as_uri(), normal_name(name) or shown_name(name), resolved)


def path_of_file_uri(uri: str, *, windows: bool = os.name == "nt") -> PurePath:
    """The path that a file: URI means on this system, or on another.

    Raises:
        UsageError: it names another computer, or no absolute path.
    """
    found = _FILE_URI.fullmatch(uri)
    if not found or not found[2]:
        raise UsageError(f"{uri[:100]} is no address of a file.", hint="It looks like file:///home/ada/notes.md")
    if found[1] and found[1].lower() != "localhost":
        raise UsageError(
            f"{uri[:100]} names a file on another computer, {found[1]}.",
            hint="A path on this one has three slashes: file:///home/ada/notes.md",
        )
    decoded = unquote_to_bytes(found[2].encode("utf-8", "surrogateescape"))
    if b"\0" in decoded:
        raise UsageError("No path has a NUL character in it.", hint="It looks like file:///home/ada/notes.md")
    if not windows:
        return PurePosixPath(decoded.decode("utf-8", "surrogateescape"))
    path = decoded.decode("utf-8", "replace").replace("\\", "/")
    meant = PureWindowsPath(path[1:] if _DRIVE.match(path) else path)
    if path.startswith("//") or any(_DEVICE.fullmatch(part) for part in meant.parts[1:]):
        raise UsageError(
            f"{uri[:100]} names a device or another computer.",
            hint="A path on this one looks like file:///C:/Users/Ada/notes.md",
        )
    return meant


def _existing_path(uri: str) -> Path:
    """The path of a file: URI; what follows a `#` belongs to its name only if such a file is there."""
    whole = Path(path_of_file_uri(uri.replace("#", "%23")))
    return whole if "#" not in uri or _exists(whole) else Path(path_of_file_uri(uri.partition("#")[0]))


def _exists(path: Path | None) -> bool:
    try:
        return path is not None and path.exists()
    except OSError:
        return False


def _given_file(path: Path) -> Given:
    try:
        return given_path(full_path(path))
    except (OSError, RuntimeError, ValueError) as error:  # too long, links in a circle, `~` of nobody, a NUL
        raise UsageError(f"{str(path)[:100]!r} is no path of a file ({error}).", hint=_KNOWN) from error


def _given_data(uri: str) -> Given:
    found = parse_data_uri(uri)
    key = key_of_content(found.data)
    name = _CONTROL.sub("", found.name.replace("\\", "/").rpartition("/")[2]) or name_of_data(key.rpartition(",")[2])
    return Given("data", key, name, data=found.data, media_type=found.media_type, charset=found.charset)
