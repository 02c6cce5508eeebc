"""What the embedding model reads of a chunk: its text, introduced by where it stands."""

import hashlib
from collections.abc import Sequence

__all__ = ["embedding_text", "vector_key"]


def embedding_text(title: str | None, headings: Sequence[str], text: str) -> str:
    """The title and the headings above a chunk, outermost first, then its text.

    Nothing is said twice: a title that is also the first heading, and whatever the text itself starts with,
    are left out.
    """
    names = [name for name in headings if name.strip()]
    if title and title.strip() and not (names and _plain(names[0]) == _plain(title)):
        names.insert(0, title)
    opening = _opening_headings(text, {_plain(name) for name in names})
    front = [name.strip() for name in names if _plain(name) not in opening]
    return " > ".join(front) + "\n\n" + text if front else text


def vector_key(text: str) -> bytes:
    """What the vector of this text is known by: the first 16 bytes of its sha256."""
    return hashlib.sha256(text.encode()).digest()[:16]


def _opening_headings(text: str, names: set[str]) -> set[str]:
    """Those of the names that stand as headings at the start of the text, marked in whatever way."""
    found: set[str] = set()
    rest = text
    while rest:
        line, _, rest = rest.partition("\n")
        name = _plain(line)
        if name in names:
            found.add(name)
        elif name:
            break
    return found


def _plain(heading: str) -> str:
    """A heading without its markup, for comparison; empty for blank lines and underlines."""
    return " ".join(heading.strip().strip("#=-~*_ \t").casefold().split())
