"""Which script is a text written in? Enough to know when an English model has nothing to say."""

import unicodedata

__all__ = ["share_beyond_latin"]


def share_beyond_latin(text: str) -> float:
    """How much of a text's letters belong to other scripts than Latin, from 0 to 1."""
    if text.isascii():
        return 0.0
    letters = [letter for letter in unicodedata.normalize("NFKC", text) if letter.isalpha()]
    return sum(map(_is_foreign, letters)) / len(letters) if letters else 0.0


def _is_foreign(letter: str) -> bool:
    return not letter.isascii() and not unicodedata.name(letter, "").startswith("LATIN")
