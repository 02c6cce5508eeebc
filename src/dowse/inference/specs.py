"""A model in one line: `KIND:PLACE#NAME;option=value`, as the settings embedder, reranker and expander take it.

    onnx:/models/multilingual-e5-small
    openai:http://127.0.0.1:11434/v1#nomic-embed-text
    cohere:https://api.example.org/v2#rerank-3;key=RERANK_KEY

PLACE is a folder, a file, an address or a name at the hub; NAME is the model behind an address, or a
revision. A `#`, `;` or `%` that belongs to a place or a value is written `%23`, `%3B` or `%25`. Secrets have
no spelling here: `key` names the environment variable that holds one. Nothing is opened or asked.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from dowse.errors import ConfigError
from dowse.records import record

_KIND = re.compile(r"[a-z][a-z0-9-]*")
_MOST = 1_000_000
_LONGEST = 3600
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@record
class Spec:
    """A parsed line: which kind of model, where it is, what it is called there, and its options."""

    text: str
    kind: str
    place: str
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str, default: str = "") -> str:
        """The value of an option, as text."""
        return self.options.get(name, default)

    def whole(self, name: str, default: int) -> int:
        """The value of an option that is a whole number above zero."""
        return int(self.options[name]) if name in self.options else default

    def seconds(self, name: str, default: float) -> float:
        """The value of an option that is a time."""
        return float(self.options[name]) if name in self.options else default


def kind_of(text: str) -> str:
    """What stands before the first colon; empty where that is no kind, as in a plain name."""
    kind, colon, _ = text.partition(":")
    return kind if colon and _KIND.fullmatch(kind) else ""


def parse(text: str, role: str, kinds: Mapping[str, Collection[str]], names: Iterable[str] = ()) -> Spec:
    """Take a line apart; `kinds` are the known ones with their options, `names` what else may stand there.

    ConfigError names the nearest known kind or option. It never repeats the line: that may hold a secret by mistake.
    """
    kind = kind_of(text)
    if kind not in kinds:
        raise _unknown(
            f"There is no {role} {kind or text!r}.", kind or text, [*names, *(f"{kind}:…" for kind in kinds)]
        )
    rest, *options = text[len(kind) + 1 :].split(";")
    place, _, name = rest.partition("#")
    if not place.strip():
        raise ConfigError(f"The {role} {kind}: does not say where it is.", hint=f"Write it like {kind}:PLACE")
    found = {}
    for option in options:
        key, equals, value = option.partition("=")
        if key not in kinds[kind]:
            raise _unknown(f"There is no option {key!r} of the {role} {kind}.", key, sorted(kinds[kind]))
        if not equals or not value:
            raise ConfigError(
                f"The option {key!r} of the {role} {kind} has no value.", hint=f"Write it like ;{key}=VALUE"
            )
        found[key] = unquote(value)
    spec = Spec(text, kind, unquote(place), unquote(name), found)
    _check_values(spec)
    return spec


def folder_or_file(spec: Spec) -> Path:
    """The place as a path; relative ones are refused, they would mean something else in every folder."""
    path = Path(spec.place).expanduser()
    if not path.is_absolute():
        raise ConfigError(
            f"The path in {spec.text!r} is relative.", hint=f"Write it in full: {spec.kind}:{path.absolute()}"
        )
    return path


def address(spec: Spec) -> str:
    """The place as the address of a service, without a slash at its end."""
    if "@" in spec.place:
        raise ConfigError(
            "An address must not hold a user name or password.",  # and must not be repeated in a message
            hint="Put the secret into an environment variable and name that: ;key=VARIABLE",
        )
    try:
        parts = urlsplit(spec.place)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and not parts.query
    except ValueError:
        is_good = False
    if not is_good:
        raise ConfigError(
            f"{spec.place!r} is no usable address.", hint=f"Write it like {spec.kind}:http://127.0.0.1:8080/v1#MODEL"
        )
    return spec.place.rstrip("/")


def _check_values(spec: Spec) -> None:
    for name, value in spec.options.items():
        check = _CHECKS.get(name)
        if check is not None and not check.accepts(value):
            given = "what it was given" if name == "key" else repr(value)  # which may be a secret
            message = f"The option {name!r} of a {spec.kind} model cannot be {given}."
            raise ConfigError(message, hint=f"It takes {check.takes}.")


def _is_whole(value: str) -> bool:
    return value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST


def _is_time(value: str) -> bool:
    try:
        return 0 < float(value) <= _LONGEST
    except ValueError:
        return False


def _one_of(*choices: str) -> Callable[[str], bool]:
    return choices.__contains__


class _Check(NamedTuple):
    takes: str
    accepts: Callable[[str], bool]


_CHECKS = {
    **dict.fromkeys(("dims", "tokens", "batch"), _Check(f"a whole number from 1 to {_MOST}", _is_whole)),
    "timeout": _Check(f"seconds, above 0 and up to {_LONGEST}", _is_time),
    "key": _Check(
        "the name of an environment variable, not the key itself", lambda value: bool(_VARIABLE.fullmatch(value))
    ),
    "pooling": _Check("cls, mean, last or max", _one_of("cls", "mean", "last", "max")),
    "scores": _Check("logit or probability", _one_of("logit", "probability")),
}


def _unknown(message: str, asked: str, known: list[str]) -> ConfigError:
    import difflib  # needed by this error alone

    near = difflib.get_close_matches(asked, [*known, *(each.rstrip(":…") for each in known)], n=1, cutoff=0.3)
    guess = f"Did you mean {near[0]!r}? " if near else ""
    return ConfigError(message, hint=f"{guess}Known are: {', '.join(known)}.")
