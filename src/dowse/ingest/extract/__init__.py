"""From bytes to readable text with its structure: one module per family of formats, one table of them all."""

from importlib import import_module

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Block, BlockKind, Extracted, Unit
from dowse.ingest.extract.formats import FORMATS, Format

__all__ = ["Block", "BlockKind", "Extracted", "Format", "Unit", "extract", "format_of", "media_type_of"]

_BY_TYPE = {each.media_type: each for each in FORMATS}
_BY_SUFFIX = {suffix: each.media_type for each in FORMATS for suffix in each.suffixes}


def media_type_of(name: str) -> str | None:
    """The media type that a file's name (or path) gives it, None when it is none that we read."""
    stem, dot, suffix = name.rpartition("/")[2].lower().rpartition(".")
    return _BY_SUFFIX.get(f".{suffix}" if stem and dot else suffix)


def format_of(media_type: str) -> Format | None:
    """The row of the table for a media type."""
    return _BY_TYPE.get(media_type)


def extract(data: bytes, media_type: str, name: str) -> Extracted:
    """Read the bytes of one source; `name` is for messages.

    Raises:
        SourceError: reason `unsupported` for a media type without a reader, `library` where the reader
            needs something that is not installed, and whatever the reader finds wrong with the bytes.
    """
    found = format_of(media_type)
    if found is None:
        raise SourceError(
            f"{name} is of type {media_type}, which cannot be read.",
            reason="unsupported",
            hint=f"These types can be: {', '.join(sorted(_BY_TYPE))}.",
        )
    module, _, function = found.reader.partition(":")
    extracted: Extracted = getattr(import_module(f"{__name__}.{module}"), function)(data, name)
    return extracted
