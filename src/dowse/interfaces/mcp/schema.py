"""Arguments are what a tool's schema says, or the client learns which one is not and what it takes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Json

if TYPE_CHECKING:
    from jsonschema import ValidationError  # type: ignore[import-untyped]
    from jsonschema.protocols import Validator  # type: ignore[import-untyped]

__all__ = ["Checker", "takes"]

_LONGEST_VALUE = 60  # characters of a wrong value in a message
_DEEPEST = 32  # levels of lists and objects inside of an argument
_A = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"} | {
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class Checked(Protocol):
    """What takes arguments: a tool, or a route of HTTP."""

    @property
    def name(self) -> str:
        """As messages call it."""
        ...

    @property
    def input(self) -> Json:
        """The JSON Schema of the arguments."""
        ...

    @property
    def longest_text(self) -> int:
        """Characters that one argument may have."""
        ...

    @property
    def fills_defaults(self) -> bool:
        """Whether what was left out gets the schema's default."""
        ...


class Checker:
    """Checks the arguments of one tool; the schema is compiled by the first call."""

    def __init__(self, tool: Checked) -> None:
        self._tool = tool
        self._properties: Json = tool.input.get("properties", {})
        self._defaults = {
            name: schema["default"]
            for name, schema in self._properties.items()
            if tool.fills_defaults and schema.get("default") is not None
        }
        self._validator: Validator | None = None

    def check(self, given: Mapping[str, Any] | None) -> Arguments:
        """The arguments with the schema's defaults filled in.

        Raises:
            BadArgumentsError: they are not what the schema asks for.
        """
        arguments = dict(given or {})
        self._check_names(arguments)
        self._check_size(arguments)
        error = next(iter(sorted(self._compiled().iter_errors(arguments), key=_depth)), None)
        if error is not None:
            raise self._wrong(error)
        return self._defaults | arguments

    def _compiled(self) -> "Validator":
        if self._validator is None:
            from jsonschema import Draft202012Validator

            self._validator = Draft202012Validator(self._tool.input)
        return self._validator

    def _check_names(self, arguments: Json) -> None:
        for name in arguments:
            if name not in self._properties:
                known = ", ".join(self._properties) or "no arguments"
                raise BadArgumentsError(
                    f"Unknown argument '{name[:_LONGEST_VALUE]}': {self._tool.name} takes {known}.",
                    details={"argument": name[:_LONGEST_VALUE]},
                )
        for name in self._tool.input.get("required", []):
            if name not in arguments:
                raise BadArgumentsError(
                    f"Missing argument '{name}': {takes(self._properties[name])} is required.",
                    details={"argument": name},
                )

    def _check_size(self, arguments: Json) -> None:
        for name, value in arguments.items():
            length = _longest(value, _DEEPEST)
            if length > self._tool.longest_text:
                raise BadArgumentsError(
                    f"Argument '{name}' is too long: at most {self._tool.longest_text:,} characters.",
                    details={"argument": name},
                )
            if length < 0:
                raise BadArgumentsError(f"Argument '{name}' is nested too deeply.", details={"argument": name})

    def _wrong(self, error: "ValidationError") -> BadArgumentsError:
        path = list(error.absolute_path)
        name = str(path[0]) if path else ""
        where = name + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path[1:])
        if error.validator == "required" and isinstance(error.instance, dict):
            missing = next(each for each in error.validator_value if each not in error.instance)
            return BadArgumentsError(f"Argument '{where}' lacks '{missing}'.", details={"argument": name})
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            unknown = next(each for each in error.instance if each not in error.schema.get("properties", {}))
            known = ", ".join(error.schema.get("properties", {}))
            return BadArgumentsError(
                f"Argument '{where}' has an unknown member '{str(unknown)[:_LONGEST_VALUE]}': it takes {known}.",
                details={"argument": name},
            )
        return BadArgumentsError(
            f"Argument '{where}' must be {takes(error.schema)}, not {_value(error.instance)}.",
            details={"argument": name},
        )


def takes(schema: Json) -> str:
    """What a value must be, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(str(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(takes(each) for each in schema["anyOf"])
    kinds = schema.get("type", [])
    said = " or ".join(_A[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "something else"
    low, high = (
        schema.get("minimum", schema.get("minItems", schema.get("minLength"))),
        schema.get("maximum", schema.get("maxItems", schema.get("maxLength"))),
    )
    unit = {"array": " entries", "string": " characters"}.get(kinds if isinstance(kinds, str) else "", "")
    if "pattern" in schema:
        return f"{said} that matches {schema['pattern']}"
    if low is not None and high is not None:
        return f"{said} {'of' if unit else 'from'} {low} to {high}{unit}"
    if low is not None:
        return f"{said} of at least {low}{unit}"
    return said if high is None else f"{said} of at most {high}{unit}"


def _depth(error: "ValidationError") -> tuple[int, str]:
    """The outermost problem first, and always the same one of several."""
    return len(error.absolute_path), str(list(error.absolute_path))


def _value(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if not text:
        text = {True: "true", False: "false", None: "null"}.get(value, "") if _is_simple(value) else ""  # type: ignore[call-overload]
    shown = text or ("a list" if isinstance(value, list) else "an object")
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}…"


def _is_simple(value: object) -> bool:
    return value is None or isinstance(value, bool)


def _longest(value: object, levels: int) -> int:
    """The length of the longest text or list in a value; -1 where it is nested more deeply than that."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, list | dict):
        return 0
    if not levels:
        return -1
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    lengths = [_longest(each, levels - 1) for each in parts]
    return -1 if -1 in lengths else max([len(value), *lengths])
