"""What kinds of documents are called here: `rust` in tools, `Rust` in resources."""

from collections.abc import Mapping
from typing import Final

from dowse.ingest.extract import format_of

__all__ = ["MEDIA_TYPES", "lower_name", "proper_name"]

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "rust": "text/x-rust",
    "python": "text/x-python",
    "typescript": "text/typescript",
    "javascript": "text/javascript",
    "go": "text/x-go",
    "java": "text/x-java",
    "cpp": "text/x-c++",
    "markdown": "text/markdown",
    "html": "text/html",
    "json": "application/json",
    "yaml": "application/yaml",
    "plain_text": "text/plain",
}
"""The specification's names and the media types they stand for."""

_NAMES: Final = {media_type: name for name, media_type in MEDIA_TYPES.items()}


def lower_name(media_type: str) -> str:
    """The specification's name; for what it does not know, the format's own in lower case."""
    return _NAMES.get(media_type) or "_".join(proper_name(media_type).lower().split())


def proper_name(media_type: str) -> str:
    """The format's name as people write it."""
    found = format_of(media_type)
    return found.name if found else media_type.rpartition("/")[2]
