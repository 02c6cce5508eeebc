"""Globs over paths with `/`, as Git reads them, and with choices.

`*` and `?` stay inside a segment, `[a-z]` and `[!a-z]` are one character, `**` as a whole segment stands for any
number of segments, `{a,b}` offers a choice. What cannot be read as any of these stands for itself.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from dowse.errors import UsageError

__all__ = ["compile_glob"]

_MOST_CHOICES = 256
_DEEPEST = 8  # braces: with two choices each, more are too many
_LONGEST = 4_096  # characters, as paths have at most
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_TOKEN = re.compile(r"(?P<star>\*+)|\[(?P<not>[!^]?+)(?P<set>\][^\]]*|[^\]]+)\]|(?P<other>.)", re.DOTALL)
_RANGE = re.compile(r"(.)(?:-(.))?", re.DOTALL)


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for `fullmatch`, which takes no longer for a malicious glob than for another.

    Raises:
        UsageError: the choices multiply beyond reason, or it is longer than any path.
    """
    if len(pattern) > _LONGEST:
        raise UsageError(f"The pattern has more than {_LONGEST:,} characters.", hint="Use a shorter one.")
    readings = list(islice(_readings(pattern), _MOST_CHOICES + 1))
    if len(readings) > _MOST_CHOICES:
        raise _too_many()
    return re.compile("|".join(map(_translate, dict.fromkeys(readings))), re.DOTALL)


def _too_many() -> UsageError:
    return UsageError("The pattern has too many choices.", hint="Use fewer braces.")


def _readings(glob: str, depth: int = 0) -> Iterator[str]:
    """The glob with each choice made in each way."""
    braces = _BRACES.search(glob)
    if braces is None:
        yield glob
        return
    if depth >= _DEEPEST:
        raise _too_many()
    for choice in braces[1].split(","):
        yield from _readings(glob[: braces.start()] + choice + glob[braces.end() :], depth + 1)


def _translate(glob: str) -> str:
    """A glob without choices as a regular expression.

    What stands between two `**`, or between two `*` of a segment, may take the first place that it finds: a later
    one is never better. So these are atomic groups, and nothing is tried twice.
    """
    head, *middle = _stretches(glob.split("/"))
    if not middle:
        return "/".join(head)
    *between, tail = middle
    return (
        "".join(f"{segment}/" for segment in head)
        + "".join(f"(?>(?:[^/]*/)*?{'/'.join(stretch)}/)" for stretch in between if stretch)
        + (f"(?:.*/)?{'/'.join(tail)}" if tail else ".+")
    )


def _stretches(segments: Sequence[str]) -> list[list[str]]:
    """The translated segments before, between and after the `**`."""
    stretches: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            stretches.append([])
        else:
            stretches[-1].append(_segment(segment))
    return stretches


def _segment(segment: str) -> str:
    pieces = [""]
    for token in _TOKEN.finditer(segment):
        if token["star"]:
            pieces.append("")
        else:
            pieces[-1] += _character(token)
    first, *rest = pieces
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1]) + f"[^/]*{rest[-1]}"


def _character(token: re.Match[str]) -> str:
    """What matches one character; a set with a range that goes backwards is no set."""
    if token["other"]:
        return "[^/]" if token["other"] == "?" else re.escape(token["other"])
    ranges = [(low, high or low) for low, high in _RANGE.findall(token["set"])]
    if any(low > high for low, high in ranges):
        return re.escape(token[0])
    members = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in ranges)
    return f"(?!/)[{'^' if token['not'] else ''}{members}]"
