"""`data:` URIs (RFC 2397): content that comes inside its own address."""

import base64
import binascii
import hashlib
import re
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from dowse.errors import UsageError

__all__ = ["DataUri", "key_of_content", "name_of_data", "parse_data_uri"]

_HEADER = re.compile(r"""data:((?:[^,"]|"[^"]*")*+),""", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[\w.+*-]+/[\w.+*-]+", re.ASCII)
_KEY = re.compile(r"data:sha256,[0-9a-f]{64}")
_PARAMETER = re.compile(r""";((?:[^;"]|"[^"]*")*+)""")
# Whoever encodes a text encodes its white space and quotes first.
_NEVER_ENCODED = re.compile(r'[\s"]')
_SURELY_ENCODED = re.compile(r"%(?:20|0[9AD]|22)", re.IGNORECASE)
_SPACE = re.compile(rb"\s+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_EXAMPLE = "It looks like data:text/plain,Some%20text or data:text/markdown;base64,IyBUaXRsZQ=="


class DataUri(NamedTuple):
    """What a data: URI holds."""

    data: bytes
    media_type: str
    """As it says itself, in lower case; empty where it says nothing."""
    charset: str
    name: str
    """Of its `name` or `filename` parameter, which browsers and mail programs write; mostly empty."""


def name_of_data(content_hash: str) -> str:
    """What content is called that came without a name."""
    return f"data-{content_hash[:8]}"


def parse_data_uri(uri: str) -> DataUri:
    """Take a data: URI apart, percent-encoded, base64, or with its text just put after the comma.

    A text with white space or quotes of its own, and none that are encoded, was never encoded: it is taken
    as it stands, so that the `%20` in a line of code survives. A `#` is part of the content in any case.

    Raises:
        UsageError: it has no comma, no media type where one must be, or no base64 where it promises some.
    """
    if _KEY.fullmatch(uri):
        raise UsageError(
            "This address names content by its hash, it does not hold it.", hint="Give the content itself after data:,"
        )
    found = _HEADER.match(uri)
    if not found:
        raise UsageError("This data: URI has no comma before its content.", hint=_EXAMPLE)
    media_type, parameters, is_base64 = _read_header(found[1])
    payload = uri[found.end() :]
    data = _from_base64(payload) if is_base64 else _from_text(payload)
    return DataUri(
        data, media_type, parameters.get("charset", ""), parameters.get("name", parameters.get("filename", ""))
    )


def key_of_content(data: bytes) -> str:
    """The address that stands for content itself, however large: the same bytes have the same one."""
    return f"data:sha256,{hashlib.sha256(data).hexdigest()}"


def _read_header(header: str) -> tuple[str, dict[str, str], bool]:
    media_type = header.partition(";")[0].strip().lower()
    if media_type and not _MEDIA_TYPE.fullmatch(media_type):
        raise UsageError("What stands before the comma of this data: URI is no media type.", hint=_EXAMPLE)
    parameters: dict[str, str] = {}
    is_base64 = False
    for parameter in _PARAMETER.findall(header):
        key, is_given, value = parameter.partition("=")
        is_base64 = is_base64 or (not is_given and key.strip().lower() == "base64")
        parameters[key.strip().lower()] = unquote(value.strip().strip('"'), errors="replace")
    return media_type, parameters, is_base64


def _from_text(payload: str) -> bytes:
    raw = payload.encode("utf-8", "surrogatepass")
    if _NEVER_ENCODED.search(payload) and not _SURELY_ENCODED.search(payload):
        return raw
    return unquote_to_bytes(raw)


def _from_base64(payload: str) -> bytes:
    """Decode the usual and the URL-safe alphabet, with or without padding, line breaks and percent signs."""
    packed = (
        _SPACE.sub(b"", unquote_to_bytes(payload.encode("utf-8", "surrogatepass"))).translate(_URL_SAFE).rstrip(b"=")
    )
    try:
        return base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except binascii.Error as error:
        raise UsageError(
            f"The content of this data: URI is no base64 ({error}).", hint="Was it cut off? Leave out ;base64 for text."
        ) from error
