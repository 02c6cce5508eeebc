"""Numbers that must be whole: the specification's schema says `number`, as its TypeScript has only that."""

import math

from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError

__all__ = ["whole", "whole_or_none"]


def whole(arguments: Arguments, name: str) -> int:
    """The argument as an integer.

    Raises:
        BadArgumentsError: it has a fraction.
    """
    value = arguments[name]
    if not math.isfinite(value) or value != int(value):
        raise BadArgumentsError(f"Argument '{name}' must be a whole number, not {value}.", details={"argument": name})
    return int(value)


def whole_or_none(arguments: Arguments, name: str) -> int | None:
    """The same for one that may be left out."""
    return whole(arguments, name) if name in arguments else None
