"""Words for JSON Schemas: what routes take and what they give."""

from typing import Any

from dowse.interfaces.mcp.dialect import Json

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
ANYTHING: Json = {"type": "object"}
ID: Json = {"type": "string", "format": "uuid"}
TIME: Json = {"type": "string", "format": "date-time"}
COUNTS: Json = {"type": "object", "additionalProperties": WHOLE}
FRESHNESS: Json = {"type": "string", "enum": ["fresh", "stale", "gone", "unknown"]}


def object_of(required: Json, optional: Json | None = None) -> Json:
    """An object with exactly these members."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def taking(properties: Json, *required: str) -> Json:
    """The arguments of a route: no others are taken."""
    made: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": list(required)} if required else {})


def list_of(items: Json) -> Json:
    """A list."""
    return {"type": "array", "items": items}


def maybe(schema: Json) -> Json:
    """That or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def enum(*values: str) -> Json:
    """One of these."""
    return {"type": "string", "enum": list(values)}


def text(description: str, low: int = 0, high: int | None = None, **more: Any) -> Json:
    """A text of so many characters."""
    bounds = ({"minLength": low} if low else {}) | ({"maxLength": high} if high else {})
    return {"type": "string", "description": description, **bounds, **more}


def texts(description: str, most: int, least: int = 1) -> Json:
    """Several of them."""
    items = {"type": "string", "minLength": 1}
    return {"type": "array", "items": items, "minItems": least, "maxItems": most, "description": description}


def whole(description: str, low: int, high: int, **more: Any) -> Json:
    """A whole number."""
    return {"type": "integer", "minimum": low, "maximum": high, "description": description, **more}


def flag(description: str, *, default: bool = False) -> Json:
    """True or false."""
    return {"type": "boolean", "default": default, "description": description}


def choice(description: str, values: tuple[str, ...], **more: Any) -> Json:
    """One of several words."""
    return {"type": "string", "enum": list(values), "description": description, **more}


CURSOR = text("`meta.next_cursor` of the page before this one; repeat the other arguments.", 1, 4_096)
