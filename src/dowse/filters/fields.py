"""The fields that can be compared: one table.

A field names the raw parts that it is made of, and one function that makes its values from them. The parts
come from nouns here and from columns in a store, so that both make the same values.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from dowse.filters import values
from dowse.filters.tree import Operator
from dowse.filters.values import Values, fold
from dowse.records import record
from dowse.types import Chunk, DocumentInfo

__all__ = ["FIELDS", "KINDS", "Field", "Kind", "Part", "field_of", "values_of"]

Kind: TypeAlias = Literal["text", "number", "date", "metadata"]
Part: TypeAlias = str
"""The name of something raw: a key of the two tables at the end."""

_ORDER: tuple[Operator, ...] = ("eq", "in", "gt", "gte", "lt", "lte", "exists")
_TEXT: tuple[Operator, ...] = (*_ORDER, "contains", "prefix", "glob")
KINDS: dict[Kind, tuple[Operator, ...]] = {"text": _TEXT, "number": _ORDER, "date": _ORDER, "metadata": _TEXT}
"""What can be asked of the fields of each kind."""


@record
class Field:
    """One row of the table."""

    name: str
    kind: Kind
    meaning: str
    parts: tuple[Part, ...]
    values: Callable[..., Values]
    """Takes the parts; returns every value that a comparison may hold for."""
    given: Callable[[str], str] = fold
    """Makes a text that is compared alike."""
    keys: tuple[str, ...] = ()
    """Which keys of the metadata, or of the place, it looks at."""
    of_passage: bool = False
    """Whether the passages of one document may differ in it."""


def field_of(name: str) -> Field:
    """The field of this name: of the table, or else a key of the metadata or of the place."""
    if name in FIELDS:
        return FIELDS[name]
    part = "place" if name.startswith("place.") else "metadata"
    key = name.removeprefix(f"{part}.")
    return Field(
        name=name,
        kind="metadata",
        meaning=f"{key} of the {part}",
        parts=(part,),
        values=lambda mapping: (mapping[key],) if key in mapping else (),
        given=str,
        keys=(key,),
        of_passage=part == "place",
    )


def values_of(field: Field, info: DocumentInfo, chunk: Chunk | None = None, ordinal: int = 0) -> Values:
    """The values that a field has there; a document alone has none of those that its passages differ in."""
    if field.of_passage:
        return field.values(*(_OF_CHUNK[part](chunk, ordinal) for part in field.parts)) if chunk else ()
    return field.values(*(_OF_DOCUMENT[part](info) for part in field.parts))


_FIELDS = (
    Field("collection", "text", "the name of the collection", ("collection",), values.folded),
    Field(
        "path",
        "text",
        "the path in its collection, with or without the collection in front",
        ("collection", "path"),
        values.paths,
        values.given_path,
    ),
    Field(
        "type",
        "text",
        "family, format, suffix or media type: `code`, `python`, `py`, `text/x-python`",
        ("media_type", "path"),
        values.types,
        values.given_type,
    ),
    Field("title", "text", "the title", ("title",), values.folded),
    Field(
        "tag",
        "text",
        "a tag, or what it stands below: `work` for `work/plans`",
        ("metadata",),
        values.tags,
        values.given_tag,
        values.TAG_KEYS,
    ),
    Field(
        "date",
        "date",
        "the date that the document gives itself, else that of its file",
        ("metadata", "mtime_ns"),
        values.own_date,
        keys=values.DATE_KEYS,
    ),
    Field("modified", "date", "when the file was modified", ("mtime_ns",), values.milliseconds),
    Field("created_at", "date", "when it came into the index", ("created_at",), values.number),
    Field("updated_at", "date", "when it last changed in the index", ("updated_at",), values.number),
    Field("size", "number", "the size of the file in bytes", ("size",), values.number),
    Field("origin", "text", "`walked` or `ingested`", ("origin",), values.folded),
    Field("media_type", "text", "the media type", ("media_type",), values.folded),
    Field("docid", "text", "the short handle, with or without `#`", ("hash",), values.docids, values.given_docid),
    Field("hash", "text", "the sha256 of the bytes", ("hash",), values.folded),
    Field("id", "text", "the id, a UUID", ("id",), values.folded, values.given_id),
    Field("uri", "text", "where the bytes come from, as a URI", ("uri",), values.folded),
    Field("source", "text", "the same as an absolute path or address", ("uri",), values.sources, values.given_source),
    Field("page", "number", "the page, from 1", ("page",), values.number, of_passage=True),
    Field("heading", "text", "one of the headings above the passage", ("headings",), values.headings, of_passage=True),
    Field("heading_path", "text", "all of them: `Part > Chapter`", ("headings",), values.heading_path, of_passage=True),
    Field("level", "number", "the depth of the heading, 0 without one", ("level",), values.number, of_passage=True),
    Field("first_line", "number", "the first line of the passage", ("first_line",), values.number, of_passage=True),
    Field("last_line", "number", "the last line of the passage", ("last_line",), values.number, of_passage=True),
    Field("ordinal", "number", "which passage it is, from 0", ("ordinal",), values.number, of_passage=True),
)
FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}

_OF_DOCUMENT: dict[Part, Callable[[DocumentInfo], Any]] = {
    "id": lambda info: info.id.hex,
    "collection": attrgetter("collection"),
    "path": attrgetter("path"),
    "uri": attrgetter("uri"),
    "title": attrgetter("title"),
    "hash": attrgetter("content_hash"),
    "media_type": attrgetter("media_type"),
    "origin": attrgetter("origin"),
    "size": attrgetter("fingerprint.size"),
    "mtime_ns": attrgetter("fingerprint.mtime_ns"),
    "created_at": attrgetter("created_at"),
    "updated_at": attrgetter("updated_at"),
    "metadata": attrgetter("metadata"),
}
_OF_CHUNK: dict[Part, Callable[[Chunk, int], Any]] = {
    "page": lambda chunk, _: chunk.page,
    "headings": lambda chunk, _: "\n".join(heading.replace("\n", " ") for heading in chunk.headings),
    "level": lambda chunk, _: chunk.level,
    "first_line": lambda chunk, _: chunk.first_line,
    "last_line": lambda chunk, _: chunk.last_line,
    "ordinal": lambda _, ordinal: ordinal,
    "place": lambda chunk, _: chunk.place,
}
