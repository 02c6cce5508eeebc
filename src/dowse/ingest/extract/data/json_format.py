"""JSON with one entry per line, made from JSON that has none: tokens are kept as they are, only space changes.

Nothing is parsed, so that numbers keep their digits, keys their order and a broken file its text, and
nothing is nested too deep.
"""

import re

__all__ = ["OPEN_STRING", "STRING", "is_crowded", "reindent"]

OPEN_STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
STRING = OPEN_STRING + '"?+'
"""One that is not closed reaches to the end of its line, so that nothing is ever looked at twice."""
_LONGEST_LINE = 2_000
_LONGEST_INLINE = 100
_DEEPEST_INDENT = 9
"""Deeper levels are indented no further: a file of brackets alone grows to at most twenty times its size."""

_ONE_STRING = re.compile(rf"\s*+(?:{STRING}\s*+:\s*+)?{STRING}\s*+,?\s*+")
_TOKEN = re.compile(
    rf"""
      (?P<flat>[\[{{](?:[^\[\]{{}}"\n]++|{STRING})*+[\]}}])       # a container without containers inside
    | (?P<atom>{STRING}|[^\s\[\]{{}},:"]++)
    | (?P<mark>[\[\]{{}},:])
    """,
    re.VERBOSE,
)


def is_crowded(text: str) -> bool:
    """Whether some line is too long to read or cite, and not only because of one long string."""
    start = 0
    while len(text) - start > _LONGEST_LINE:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start > _LONGEST_LINE and not _ONE_STRING.fullmatch(text, start, end):
            return True
        start = end + 1
    return False


def reindent(text: str) -> str:
    """The same tokens, each entry on a line of its own; short containers stay on one line."""
    out: list[str] = []
    depth = position = atom_end = 0
    while found := _TOKEN.search(text, position):
        mark = found[0]
        position = found.end()
        if found["flat"] and len(mark) > _LONGEST_INLINE:
            mark = mark[0]
            position = found.start() + 1
        elif found["flat"] or found["atom"]:
            if 0 < atom_end < found.start():
                out.append(" ")  # only in what is no JSON, such as a comment
            out.append(mark)
            atom_end = position
            continue
        atom_end = 0
        if mark in "[{":
            depth += 1
            out += (mark, _new_line(depth))
        elif mark in "]}":
            depth = max(0, depth - 1)
            out += (_new_line(depth), mark)
        else:
            out.append(": " if mark == ":" else f",{_new_line(depth)}")
    return "".join(out)


def _new_line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST_INDENT)
