"""Text from documents as it may be shown to a model or a person: nothing invisible, nothing that reorders.

Hidden characters smuggle instructions past whoever looks at a text, and controls take over terminals. Each one
becomes U+FFFD, so that every offset still holds and that something was there stays visible.
"""

import re
import unicodedata
from typing import Any

REPLACEMENT = "\ufffd"

_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n"
_JOINERS = "\u200c\u200d"
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, without tab and the ends of lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # which way text runs
    "\u180e\u200b-\u200d\u2060-\u2065\ufeff\ufff9-\ufffb"  # without width
    "\U000e0000-\U000e007f"  # tags: a whole invisible alphabet
    "\ud800-\udfff]"  # halves of characters, which no encoding takes
    "|\r(?!\n)"  # a lone return lets the rest of the line overwrite what stands before it
)


def shown(text: str) -> str:
    """The text with everything invisible or reordering replaced, character by character."""
    # Nearly always there is nothing, which is told much faster than by looking for it.
    if text.isascii():
        is_plain = not text.encode().translate(None, _PLAIN)
    else:
        is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    if is_plain:
        return text
    return _SUSPECT.sub(_replaced, text)


def all_shown(value: Any) -> Any:
    """The same for every text in a JSON value, keys included."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown(key): all_shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [all_shown(each) for each in value]
    return value


def _replaced(found: re.Match[str]) -> str:
    """A joiner stays where writing needs it: between letters of scripts that join, or parts of an emoji."""
    text, at = found.string, found.start()
    if found[0] in _JOINERS and 0 < at < len(text) - 1 and _joins(text[at - 1]) and _joins(text[at + 1]):
        return found[0]
    return REPLACEMENT


def _joins(character: str) -> bool:
    return character >= "\u0590" and unicodedata.category(character) in {"Lo", "Mn", "Mc", "So", "Sk"}
