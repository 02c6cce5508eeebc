"""Globs over paths with `/`: `*` and `?` stay inside a segment, `**` crosses them, `{a,b}` offers a choice."""

import re

_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}]*\}|.)", re.DOTALL)
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for `fullmatch`; what cannot be read as a glob stands for itself."""
    return re.compile(_translate(pattern), re.DOTALL)


def _translate(pattern: str) -> str:
    return "".join(_part(part) for part in _PARTS.findall(pattern))


def _part(part: str) -> str:
    if part in _MEANINGS:
        return _MEANINGS[part]
    if len(part) > 1 and part[0] == "{":
        return "(?:" + "|".join(_translate(choice) for choice in part[1:-1].split(",")) + ")"
    if len(part) > 1 and part[0] == "[":
        return _set(part[1:-1])
    return re.escape(part)


def _set(inside: str) -> str:
    negated, members = (True, inside[1:]) if inside.startswith("!") else (False, inside)
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    candidate = f"[{'^/' if negated else ''}{escaped}]"
    try:
        re.compile(candidate)
    except re.error:
        return re.escape(f"[{inside}]")
    return candidate
