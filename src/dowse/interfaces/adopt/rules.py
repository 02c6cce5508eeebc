"""The masks and ignore rules of qmd in the words of Dowse.

qmd matches globs against whole paths below the folder; Dowse has one mask and rules as in .gitignore, where a rule
without a slash counts at every depth. So each rule is tied to the folder, and its choices in braces are written out.
"""

import re

from dowse.errors import UsageError
from dowse.ingest.sources.patterns import PathPattern, expand

__all__ = ["ALWAYS_LEFT_OUT", "exclusions_of", "mask_of"]

ALWAYS_LEFT_OUT = ("vendor/", "dist/", "build/")
"""Folders that qmd never looks into, and Dowse does unless it is told; it leaves out the others by itself."""

_EXTENDED = re.compile(r"[@!+*?]\(|\\$")
"""`+(a|b)` and its like, which Git does not know."""


def mask_of(pattern: str) -> tuple[str, list[str]]:
    """The mask, and the rules that stood in it with a `!`.

    Raises:
        UsageError: it cannot be said in Dowse.
    """
    depth, parts = 0, [""]
    for character in pattern:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    wanted = [part.strip() for part in parts if part.strip()]
    mask = ",".join(part for part in wanted if not part.startswith("!")) or "**/*"
    if _EXTENDED.search(mask):
        raise UsageError(f"The mask {mask!r} has a choice in brackets.")
    PathPattern(mask)
    return mask, [part[1:] for part in wanted if part.startswith("!")]


def exclusions_of(rule: str) -> list[str]:
    """The lines of .gitignore that leave out the same paths.

    Raises:
        UsageError: it cannot be said in Dowse.
    """
    rule = rule.strip()
    if not rule or rule.startswith("!") or _EXTENDED.search(rule):
        raise UsageError(f"The ignore rule {rule!r} has no counterpart.")
    lines = []
    for reading in expand(rule):
        glob = reading.removeprefix("./").lstrip("/")
        lines.append(glob if glob.startswith("**/") else f"/{glob}")
    return lines
