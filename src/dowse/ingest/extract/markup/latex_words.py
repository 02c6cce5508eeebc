"""The words of a piece of LaTeX as a reader sees them, for titles, authors and heading paths."""

import re
import unicodedata

__all__ = ["closing_brace", "plain_words"]

_LONGEST_GROUP = 4_000
_MARKS = "`'^~\"=.uvHckrd"
_ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323"
_COMBINING = dict(zip(_MARKS, _ACCENTS, strict=True))
_NAMES = ("ss", "ae", "AE", "oe", "OE", "aa", "AA", "o", "O", "l", "L", "i", "dots", "ldots", "quad", "qquad")
_LETTERS = dict(zip(_NAMES, "ßæÆœŒåÅøØłŁı……  ", strict=True)) | {name: name for name in ("TeX", "LaTeX", "BibTeX")}
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n?[ \t]*")
_ACCENT = re.compile(
    r"""\\(?:(?P<mark>[`'^~"=.])\s*|(?P<name>[uvHckrd])(?:\s+|(?=\{)))(?:\{\\?(?P<braced>[^\W\d_])\}|\\?(?P<bare>[^\W\d_]))"""
)
_UNSEEN = re.compile(
    r"\\(?:cite\w*|footnote(?:mark|text)?|index|label|thanks|inst|orcidID|email|vspace|hspace|vskip)\*?\s*"
    r"(?:\[[^\]]*\]\s*)?(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})?"
)
_BOTH_FORMS = re.compile(r"\\texorpdfstring\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*")
_MATH = re.compile(r"\$[^$]*\$")
_COMMAND = re.compile(r"\\(?:\\\*?(?:\[[^\]]*\])?|(?P<name>[A-Za-z]+)\*?\s*(?:\[[^\]]*\])?|(?P<mark>[\W\d_]))")
_QUOTES = str.maketrans({"{": "", "}": "", "~": " "})


def closing_brace(text: str, position: int, pair: str = "{}") -> int | None:
    """Where the group that opens here closes; None when it does not soon."""
    depth = 0
    end = min(len(text), position + _LONGEST_GROUP)
    while position < end:
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "%":
            position = text.find("\n", position, end)
            if position < 0:
                return None
        elif character == pair[0]:
            depth += 1
        elif character == pair[1]:
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return None


def plain_words(source: str) -> str:
    """No commands, braces, notes or comments; accents as letters, mathematics as it is; one line."""
    source = _COMMENT.sub("", source)
    if "\\" in source:
        source = _UNSEEN.sub("", _BOTH_FORMS.sub("", source))
        source = _ACCENT.sub(_accented, source)
    parts: list[str] = []
    reached = 0
    for found in _MATH.finditer(source):
        parts += (_without_commands(source[reached : found.start()]), found[0])
        reached = found.end()
    parts.append(_without_commands(source[reached:]))
    return " ".join("".join(parts).split())


def _accented(found: re.Match[str]) -> str:
    letter = found["braced"] or found["bare"]
    return unicodedata.normalize("NFC", letter + _COMBINING[found["mark"] or found["name"]])


def _without_commands(source: str) -> str:
    source = _COMMAND.sub(_shown, source).translate(_QUOTES)
    return source.replace("---", "\u2014").replace("--", "\u2013").replace("``", '"').replace("''", '"')


def _shown(found: re.Match[str]) -> str:
    if found["name"]:
        return _LETTERS.get(found["name"], "")
    return found["mark"] if found["mark"] and found["mark"] in "%&$#_" else " "
