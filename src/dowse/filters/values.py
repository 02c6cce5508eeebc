"""How the values of each field are made of raw parts, and how what is compared with them is made alike."""

import re
import unicodedata
from collections.abc import Mapping
from typing import TypeAlias
from urllib.parse import unquote

from dowse.filters.dates import instant_of
from dowse.filters.media import type_words
from dowse.types import MetadataValue

Values: TypeAlias = tuple[MetadataValue, ...]
"""Those of one field: none where it is missing. Text is folded, a date is in milliseconds."""

TAG_KEYS = ("tags", "tag", "keywords", "categories", "category")
DATE_KEYS = ("date", "published", "created", "modified", "updated", "lastmod")
"""Where a document says its date, in order of trust."""

_BETWEEN_TAGS = re.compile(r"\s*[,;]\s*")
_DRIVE = re.compile(r"/[a-z]:", re.IGNORECASE)
_SHORTEST_DOCID, _LONGEST_DOCID = 6, 16
_FILE = "file://"


def fold(text: str) -> str:
    """Text as it is compared without regard to case, and to how its accents are composed."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def folded(text: str) -> Values:
    """One text; an empty one is none."""
    return (fold(text),) if text else ()


def number(value: int | None) -> Values:
    """One number, if there is one."""
    return () if value is None else (value,)


def milliseconds(nanoseconds: int) -> Values:
    """A time of the file system in the unit of all others."""
    return (nanoseconds // 1_000_000,)


def paths(collection: str, path: str) -> Values:
    """The path alone, and with its collection in front."""
    return fold(path), fold(f"{collection}/{path}")


def given_path(text: str) -> str:
    """A path without what only says that it starts at the top."""
    return fold(text.removeprefix("./").lstrip("/"))


def types(media_type: str, path: str) -> Values:
    """The names of the type, and each suffix of the file: `tar.gz` and `gz`."""
    values = list(type_words(media_type))
    name = path[path.rfind("/") + 1 :]
    dot = name.find(".")
    while dot >= 0:
        suffix = name[dot + 1 :]
        if suffix.isascii():  # a store may compare these without our folding
            values.append(suffix.lower())
        dot = name.find(".", dot + 1)
    return tuple(values)


def given_type(text: str) -> str:
    """A type; `.md` is `md`."""
    return fold(text).removeprefix(".")


def tags(metadata: Mapping[str, MetadataValue]) -> Values:
    """The tags and what they stand below: `work/plans` is also `work`. A text may hold several, with commas."""
    found: dict[str, None] = {}
    for key in TAG_KEYS:
        if key not in metadata:
            continue
        value = metadata[key]
        texts = value if isinstance(value, list) else [str(value), *_BETWEEN_TAGS.split(str(value))]
        for tag in map(given_tag, texts):
            while tag and tag not in found:
                found[tag] = None
                tag = tag.rpartition("/")[0]  # noqa: PLW2901 - upwards, to what it stands below
    return tuple(found)


def given_tag(text: str) -> str:
    """A tag without its sign."""
    return fold(text.strip().lstrip("#").strip("/"))


def docids(content_hash: str) -> Values:
    """The handle as short as it is shown, longer ones that tell more contents apart, and the whole."""
    return (*(content_hash[:length] for length in range(_SHORTEST_DOCID, _LONGEST_DOCID + 1)), content_hash)


def given_docid(text: str) -> str:
    """A handle without its sign."""
    return fold(text).removeprefix("#")


def given_id(text: str) -> str:
    """A UUID without its dashes."""
    return fold(text).replace("-", "")


def sources(uri: str) -> Values:
    """Where it comes from as people write it: the absolute path of a file, or else the address."""
    if not uri.startswith(_FILE):
        return (given_source(uri),)
    path = unquote(uri[len(_FILE) :])
    return (given_source(path[1:] if _DRIVE.match(path) else path),)


def given_source(text: str) -> str:
    """A path or address, with slashes as everywhere but on Windows."""
    return fold(text.replace("\\", "/"))


def own_date(metadata: Mapping[str, MetadataValue], mtime_ns: int) -> Values:
    """The first date that the document gives itself and that can be read, else that of its file."""
    for key in DATE_KEYS:
        if key in metadata and (instant := instant_of(metadata[key])) is not None:
            return (instant,)
    return milliseconds(mtime_ns)


def headings(lines: str) -> Values:
    """Each of the headings, which come as lines."""
    return tuple(map(fold, lines.split("\n"))) if lines else ()


def heading_path(lines: str) -> Values:
    """All of the headings as one text."""
    return folded(lines.replace("\n", " > "))
