"""The YAML between `---` lines at the very start of a Markdown file, as flat metadata.

Malformed front matter is no error: it stays text, and gives no metadata. YAML is a rich language and a
file may come from anywhere, so what front matter does not need is refused before anything is built:
aliases (a few lines can mean billions of values), deep nesting (it overflows the C parser's stack) and
more than 64 KB.
"""

import re
from collections.abc import Iterator
from datetime import date
from math import isfinite
from typing import Any

from dowse.types import MetadataValue

__all__ = ["read_front_matter"]

_LONGEST = 64 * 1024
_DEEPEST = 16
_LARGEST_INTEGER = 2**63
_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_FIRST_KEY = re.compile(r"""(?:\s*\#.*\n)*["']?[\w][\w .-]*["']?[ \t]*:(?:\s|$)""")


def read_front_matter(text: str) -> tuple[int, dict[str, MetadataValue]]:
    """Where the front matter ends, 0 when there is none, and its values under dotted keys.

    A block that opens like a mapping but is not valid YAML is front matter without values: reading it
    as Markdown would make headings of its last line.
    """
    opening = _OPENING.match(text)
    if not opening:
        return 0, {}
    closing = _CLOSING.search(text, opening.end(), opening.end() + _LONGEST)
    if not closing:
        return 0, {}
    source = text[opening.end() : closing.start()]
    tree = _load(source)
    if isinstance(tree, dict):
        return closing.end(), dict(_flatten("", tree))
    if not source.strip() or (tree is None and _FIRST_KEY.match(source)):
        return closing.end(), {}
    return 0, {}


def _load(source: str) -> Any:
    """What the YAML means, None when it is malformed or refused."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(source, Loader=loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > _DEEPEST or isinstance(event, yaml.AliasEvent):
                return None
        return yaml.load(source, Loader=loader)  # noqa: S506 - one of the two safe loaders
    except Exception:  # noqa: BLE001 - besides YAMLError, whatever int() or date() say of a bad value
        return None


def _flatten(prefix: str, tree: dict[Any, Any]) -> Iterator[tuple[str, MetadataValue]]:
    """Scalars and lists of scalars under dotted keys; anything else is left out."""
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(f"{name}.", value)
        elif isinstance(value, list | set):
            words = [_word(scalar) for item in value if (scalar := _scalar(item)) is not None]
            if words or not value:
                yield name, words
        elif (scalar := _scalar(value)) is not None:
            yield name, scalar


def _scalar(value: object) -> str | int | float | None:
    """A value that every store can keep and compare; dates become ISO 8601, which sorts by time."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int):
        return value if -_LARGEST_INTEGER <= value < _LARGEST_INTEGER else str(value)
    return None


def _word(scalar: str | float) -> str:
    return str(scalar).lower() if isinstance(scalar, bool) else str(scalar)
