"""From bytes to readable text with its structure: one function per family of formats.

`MEDIA_TYPES` says what a file's name makes of it, `_EXTRACTORS` who reads that. A new format is a module
and its rows here. `VERSION` is part of every document's recipe: it changes whenever the same bytes
would give another text, other blocks or other metadata.
"""

from collections.abc import Callable
from pathlib import PurePosixPath

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Block, BlockKind, Extracted
from dowse.ingest.extract.markdown import extract_markdown
from dowse.ingest.extract.plain import extract_plain

__all__ = ["MEDIA_TYPES", "VERSION", "Block", "BlockKind", "Extracted", "extract", "media_type_of"]

VERSION = "1"

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdown": "text/markdown",
    ".mkd": "text/markdown",
    ".mkdn": "text/markdown",
    ".mdx": "text/markdown",
    ".qmd": "text/markdown",
    ".rmd": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".rst": "text/plain",
    ".adoc": "text/plain",
    ".asciidoc": "text/plain",
    ".org": "text/plain",
}
"""What the end of a name says, in lower case."""

_NAMES = frozenset(
    {"authors", "changelog", "changes", "contributing", "copying", "install"}
    | {"license", "news", "notice", "readme", "todo"}
)
"""Names without a suffix that are plain text by custom."""

_EXTRACTORS: dict[str, Callable[[bytes, str], Extracted]] = {
    "text/markdown": extract_markdown,
    "text/plain": extract_plain,
}


def media_type_of(name: str) -> str | None:
    """The media type that a file's name (or path) gives it, None when it is none that we read."""
    dot = name.rfind(".")
    if dot > 0 and (found := MEDIA_TYPES.get(name[dot:].lower())):
        return found
    return "text/plain" if PurePosixPath(name).name.lower() in _NAMES else None


def extract(data: bytes, media_type: str, name: str) -> Extracted:
    """Read the bytes of one source; `name` is for messages.

    Raises:
        SourceError: reason `unsupported` for a media type without a reader, `binary` for bytes that are
            no text.
    """
    extractor = _EXTRACTORS.get(media_type)
    if extractor is None:
        raise SourceError(
            f"{name} is of type {media_type}, which cannot be read.",
            reason="unsupported",
            hint=f"These types can be: {', '.join(sorted(_EXTRACTORS))}.",
        )
    return extractor(data, name)
