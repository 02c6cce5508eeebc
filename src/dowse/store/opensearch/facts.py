"""What can be asked of a document or a passage by a filter, as terms: one for each value of each field.

A term names its field and the kind of its value, so that one field of the index answers every comparison:
equality is a term, order a range of terms, the start of a text a prefix. Numbers are spelled so that their order is
that of their spelling.

    s   text, exact           f   text, folded            m   a member of a list, exact
    n   a number              d   an instant              b   true or false             x   it has values
"""

import math
import struct
from collections.abc import Iterator
from typing import Any, Literal

from dowse.filters.dates import instant_of
from dowse.filters.fields import FIELDS, Field, field_of, values_of
from dowse.filters.values import fold
from dowse.types import Chunk, DocumentInfo

__all__ = ["Kind", "canonical", "chunk_facts", "document_facts", "head", "number", "term"]

Kind = Literal["s", "f", "m", "n", "d", "b", "x"]
LONGEST = 8_000
"""Characters of a value that are compared: what the index takes as one term."""

_OF_DOCUMENTS = tuple(field for field in FIELDS.values() if not field.of_passage)
_OF_PASSAGES = tuple(field for field in FIELDS.values() if field.of_passage)


def canonical(name: str) -> str:
    """The one name of a field: those of the metadata and of the place say so."""
    if name in FIELDS or name.startswith("place."):
        return name
    return f"metadata.{name.removeprefix('metadata.')}"


def head(name: str, kind: Kind) -> str:
    """What every term of this field and kind starts with; the length keeps names apart that start alike."""
    return f"{len(name)}:{name}:{kind}:"


def term(name: str, kind: Kind, value: str) -> str:
    """One value of a field."""
    return head(name, kind) + value[:LONGEST]


def number(value: float) -> str:
    """A number so spelled that smaller ones sort first; whole numbers beyond a float's precision have a second part."""
    try:
        main = float(value)
    except OverflowError:
        return "g" if value > 0 else "0"
    rest = value - int(main) if isinstance(value, int) and math.isfinite(main) else 0
    return _ordered(main) + _ordered(float(rest))


def document_facts(info: DocumentInfo) -> list[str]:
    """The terms that all passages of a document share."""
    facts = [fact for field in _OF_DOCUMENTS for fact in _facts(field, field.name, info, None, 0)]
    for key in info.metadata:
        name = f"metadata.{key}"
        facts += _facts(field_of(name), name, info, None, 0)
    return facts


def chunk_facts(info: DocumentInfo, chunk: Chunk, ordinal: int) -> list[str]:
    """The terms of one passage alone."""
    facts = [fact for field in _OF_PASSAGES for fact in _facts(field, field.name, info, chunk, ordinal)]
    for key in chunk.place:
        name = f"place.{key}"
        facts += _facts(field_of(name), name, info, chunk, ordinal)
    return facts


def _facts(field: Field, name: str, info: DocumentInfo, chunk: Chunk | None, ordinal: int) -> Iterator[str]:
    found = values_of(field, info, chunk, ordinal)
    if found:
        yield term(name, "x", "")
    for value in found:
        if field.kind == "metadata":
            yield from _of_metadata(name, value)
        elif field.kind == "text":
            yield term(name, "f", str(value))
        else:
            yield term(name, "n", number(value))  # type: ignore[arg-type]  # of these kinds all values are numbers


def _of_metadata(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield term(name, "b", str(value))
    elif isinstance(value, int | float):
        if not math.isnan(value):
            yield term(name, "n", number(value))
    elif isinstance(value, str):
        yield from _of_text(name, value)
    else:
        for member in value:
            yield from _of_text(name, member)
            yield term(name, "m", member)


def _of_text(name: str, value: str) -> Iterator[str]:
    yield term(name, "s", value)
    yield term(name, "f", fold(value))
    instant = instant_of(value)
    if instant is not None:
        yield term(name, "d", number(instant))


def _ordered(value: float) -> str:
    """The bits of a float, with the sign turned so that they sort as numbers do."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return f"{bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63):016x}"
