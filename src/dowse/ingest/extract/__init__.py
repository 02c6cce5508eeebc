"""From bytes to readable text with its structure: one module per family of formats, one table of them all."""

from importlib import import_module

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Block, BlockKind, Extracted, Unit
from dowse.ingest.extract.formats import FORMATS, Format
from dowse.ingest.extract.media_types import ALIASES, describe_media_type, media_type_of, resolve_media_type
from dowse.ingest.extract.sniff import guess_from_head, in_utf8, media_type_of_content

__all__ = [
    "ALIASES",
    "Block",
    "BlockKind",
    "Extracted",
    "Format",
    "Unit",
    "describe_media_type",
    "extract",
    "format_of",
    "guess_from_head",
    "in_utf8",
    "media_type_of",
    "media_type_of_content",
    "resolve_media_type",
]

_BY_TYPE = {each.media_type: each for each in FORMATS}


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
            f"{name} is {describe_media_type(media_type)}, which cannot be read.",
            reason="unsupported",
            hint=f"These types can be: {', '.join(sorted(_BY_TYPE))}.",
        )
    module, _, function = found.reader.partition(":")
    extracted: Extracted = getattr(import_module(f"{__name__}.{module}"), function)(data, name)
    return extracted
