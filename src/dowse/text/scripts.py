"""Which script is a text written in? Enough to know when an English model has nothing to say."""

import re
from functools import cache

__all__ = ["share_of_cjk"]

# Han, kana, hangul and bopomofo, with their extensions and half-width forms.
_CJK = (
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff]"
)
_LETTER = re.compile(r"[^\W\d_]")


def share_of_cjk(text: str) -> float:
    """How much of a text's letters are CJK, from 0 to 1."""
    if text.isascii():
        return 0.0
    letters = _LETTER.findall(text)
    return len(_cjk().findall("".join(letters))) / len(letters) if letters else 0.0


@cache  # a class of so many letters takes milliseconds to compile, and plain English never needs it
def _cjk() -> re.Pattern[str]:
    return re.compile(_CJK)
