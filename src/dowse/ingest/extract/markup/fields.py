"""Metadata that documents carry as lines of `name: value`, made flat and bounded."""

import re
from collections.abc import Iterable

from dowse.types import MetadataValue

__all__ = ["metadata_of"]

_MOST_FIELDS = 64
_LONGEST_NAME = 64
_LONGEST_VALUE = 2_000
_LISTS = {"authors", "categories", "filetags", "keywords", "tags"}
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def metadata_of(fields: Iterable[tuple[str, str]]) -> dict[str, MetadataValue]:
    """Names in small letters with their values; what is a list by its name, or is said twice, is one.

    Fields without a value are switches of some tool and left out.
    """
    metadata: dict[str, MetadataValue] = {}
    for name, value in fields:
        key = " ".join(name.lower().split())[:_LONGEST_NAME]
        words = " ".join(value[:_LONGEST_VALUE].split())
        if not key or not words or (key not in metadata and len(metadata) >= _MOST_FIELDS):
            continue
        values = [each for each in _SEPARATOR.split(words) if each] if key in _LISTS else [words]
        if key in metadata:
            before = metadata[key]
            metadata[key] = [*(before if isinstance(before, list) else [str(before)]), *values][:_MOST_FIELDS]
        else:
            metadata[key] = values if key in _LISTS else words
    return metadata
