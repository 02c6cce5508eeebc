"""What a page says of itself: its title, author, dates and tags, from the `meta` elements of its head."""

import re
from collections.abc import Iterable

from dowse.types import MetadataValue

__all__ = ["metadata_of", "shared_title"]

_LONGEST = 2_000
_MOST = 50
_MOST_NAMES = 1_000
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,3}")
# In order of trust: the first name that a page uses gives the value. Those that are lists gather all.
_FIELDS: dict[str, tuple[str, ...]] = {
    "description": ("description", "og:description", "dcterms.description", "dc.description", "twitter:description"),
    "author": ("author", "article:author", "dcterms.creator", "dc.creator", "citation_author", "parsely-author"),
    "created": (
        *("article:published_time", "datepublished", "date", "dcterms.created", "dcterms.date", "dc.date"),
        *("dc.date.issued", "citation_publication_date", "pubdate", "publish-date", "og:published_time"),
    ),
    "modified": ("article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified"),
    "tags": ("keywords", "article:tag", "news_keywords", "citation_keywords"),
    "site": ("og:site_name", "application-name"),
    "type": ("og:type",),
    "section": ("article:section",),
    "url": ("og:url",),
}
_LISTS = {"tags"}
_SEPARATOR = re.compile(r"\s*[,;]\s*")
_NAMES = ("name", "property", "itemprop", "http-equiv")


def metadata_of(metas: Iterable[dict[str, str]], language: str) -> dict[str, MetadataValue]:
    """Flat metadata; a page that says nothing gives none."""
    given = _given(metas)
    metadata: dict[str, MetadataValue] = {}
    for key, names in _FIELDS.items():
        values = [value for name in names for value in given.get(name, ())]
        if key in _LISTS:
            words = [word for value in values for word in _SEPARATOR.split(value) if word]
            if words:
                metadata[key] = list(dict.fromkeys(words))[:_MOST]
        elif values:
            metadata[key] = values[0]
    spoken = language or next(iter(given.get("og:locale", given.get("content-language", ()))), "")
    if _LANGUAGE.fullmatch(spoken.strip()):
        metadata["language"] = spoken.strip().replace("_", "-")
    return metadata


def shared_title(metas: Iterable[dict[str, str]]) -> str:
    """The title under which the page wants to be shared."""
    given = _given(metas)
    return next((given[name][0] for name in ("og:title", "dcterms.title", "dc.title") if name in given), "")


def _given(metas: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for meta in metas:
        value = " ".join(meta.get("content", "")[:_LONGEST].split())
        for name in filter(None, map(meta.get, _NAMES)):
            if value and len(given) < _MOST_NAMES:
                given.setdefault(name.lower(), []).append(value)
    return given
