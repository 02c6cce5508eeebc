"""From a request to checked arguments: path, query string and body, each as its schema says."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl, unquote_to_bytes

from dowse.interfaces.http.errors import MediaTypeError, UnreadableError
from dowse.interfaces.http.rows import Row
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Json
from dowse.interfaces.mcp.schema import Checker

from starlette.datastructures import Headers  # isort: skip
from starlette.types import Scope  # isort: skip

__all__ = ["arguments_of", "check_spelling", "media_type_of", "refuse_parameters"]

_JSON = "application/json"
_MOST_PARAMETERS = 200
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_WORDS = {"true": True, "1": True, "false": False, "0": False}


def arguments_of(row: Row, checker: Checker, scope: Scope, headers: Headers, body: bytes) -> Arguments:
    """Everything that was said, checked as one.

    Raises:
        UnreadableError: the body is no JSON object, or something is no UTF-8.
        BadArgumentsError: it is not what the row takes.
        MediaTypeError: the body says that it is something else.
    """
    given: dict[str, Any] = {}
    parameters = _parameters(scope["query_string"])
    if row.in_body:
        if parameters:
            raise BadArgumentsError(
                f"Unknown parameter '{parameters[0][0][:60]}': {row.name} takes its arguments as JSON in the body.",
                details={"argument": parameters[0][0][:60]},
            )
        given = _object_of(body, headers)
    else:
        given = _from_parameters(row, parameters)
    named: Mapping[str, str] = scope.get("path_params", {})
    for name in named:
        if name in given:
            raise BadArgumentsError(f"Argument '{name}' stands in the address already.", details={"argument": name})
    return checker.check(given | {name: str(value) for name, value in named.items()})


def check_spelling(scope: Scope) -> None:
    """Whether the address is UTF-8 behind its percent signs; servers put something else in place of what is not.

    Raises:
        UnreadableError: it is not.
    """
    try:
        unquote_to_bytes(scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError as error:
        raise UnreadableError("The address is not valid UTF-8.", hint="Percent-encode the bytes of UTF-8.") from error


def media_type_of(headers: Headers) -> str:
    """The type that the body says it has, without parameters and in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _object_of(body: bytes, headers: Headers) -> Json:
    if not body:
        return {}
    media_type = media_type_of(headers)
    if media_type != _JSON:
        raise MediaTypeError(
            f"The body is {media_type[:60] or 'of no declared type'}, not {_JSON}.",
            hint=f"Send JSON, with the header Content-Type: {_JSON}",
        )
    try:
        value = json.loads(body.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise UnreadableError("The body is not valid UTF-8.", hint="Send JSON in UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"The body is not JSON: {str(error)[:200]}.", hint="Send one JSON object.") from error
    if not isinstance(value, dict):
        raise UnreadableError("The body is JSON, but not an object.", hint="Send one JSON object.")
    _check_unicode(body, value)
    return value


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _check_unicode(body: bytes, value: object) -> None:
    """Halves of characters can be escaped in JSON, and no encoding takes them."""
    if b"\\u" not in body:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UnreadableError("The body has halves of characters in it.", hint="Send valid Unicode.") from error


def _parameters(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeDecodeError as error:
        raise UnreadableError("The query string is not valid UTF-8.", hint="Percent-encode UTF-8.") from error
    except ValueError as error:
        raise UnreadableError("The query string has too many parameters.", hint="Use POST.") from error


def _from_parameters(row: Row, parameters: Iterable[tuple[str, str]]) -> Json:
    """Texts as the types that the schema asks for; what cannot be one stays a text, which the checker refuses."""
    given: Json = {}
    for name, text in parameters:
        schema = row.takes["properties"].get(name, {})
        if schema.get("type") == "array":
            given.setdefault(name, []).append(_value(text, schema.get("items", {})))
        elif name in given:
            raise BadArgumentsError(f"Argument '{name[:60]}' was given twice.", details={"argument": name[:60]})
        else:
            given[name] = _value(text, schema)
    return given


def _value(text: str, schema: Json) -> Any:
    match schema.get("type"):
        case "integer":
            return int(text) if _WHOLE.fullmatch(text) else text
        case "number":
            return _number(text)
        case "boolean":
            return _WORDS.get(text.lower(), text)
        case "object":
            return _object(text)
    return text


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if abs(value) < float("inf") else text


def _object(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text
    _check_unicode(text.encode(), value)
    return value


def refuse_parameters(scope: Scope) -> None:
    """For a route that takes none.

    Raises:
        BadArgumentsError: there are some.
    """
    for name, _ in _parameters(scope["query_string"]):
        known = name[:60]
        raise BadArgumentsError(f"Unknown parameter '{known}': there are none here.", details={"argument": known})
