"""Addresses of resources: templates such as `qmd://{+path}`, and paths as parts of an address."""

import re
from collections.abc import Callable
from urllib.parse import quote

__all__ = ["encoded_path", "matcher"]

_VARIABLE = re.compile(r"\\\{(\\\+)?(\w+)\\\}")
_UNRESERVED = "!'()*"  # what encodeURIComponent leaves as it is, beside letters, digits and -_.~


def matcher(template: str) -> Callable[[str], dict[str, str] | None]:
    """Tells which address fits: a function from one to what stands at the variables, or to None.

    `{name}` is one segment, `{+path}` is anything; both as sent, percent signs included.
    """
    pattern = re.compile(
        _VARIABLE.sub(lambda found: f"(?P<{found[2]}>{'.+' if found[1] else '[^/?#]+'})", re.escape(template)),
        re.DOTALL,
    )

    def match(uri: str) -> dict[str, str] | None:
        found = pattern.fullmatch(uri)
        return found.groupdict() if found else None

    return match


def encoded_path(path: str) -> str:
    """Each segment percent-encoded on its own, the slashes kept."""
    return "/".join(quote(segment, safe=_UNRESERVED) for segment in path.split("/"))
