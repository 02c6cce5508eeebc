"""The headings of a PDF: its outline, laid over the words on its pages, or else the size of its letters.

An entry of the outline is looked for on the page that it leads to; where its words stand, that line becomes
the heading, and where they do not, the entry is written at its place. Without an outline, short parts in clearly
larger letters than most of the text are headings, and the sizes are their levels.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dowse.ingest.extract.pdf.file import Bookmark
from dowse.ingest.extract.pdf.paragraphs import Part

__all__ = ["mark_by_outline", "mark_by_size", "title_by_size", "usual_size"]

_LARGER = 1.15
_TITLE_LARGER = 1.2
_LONGEST = 180
_MOST_LINES = 3
_SAME_SIZE = 1.04
_DEEPEST = 6
_MOST_SHARE = 0.3
"""Of the letters of a document; where more are large, size says nothing."""
_LEAST_SHARE = 0.35
"""That have about the usual size; where fewer have, as in text that was recognised on a scan, neither."""
_JITTER = 0.05
_NEAR = 1.7
_ABOVE = 10.0
"""Points by which a line may reach above the height that an entry leads to."""
_MOST_ENTRIES = 500
"""Of one page."""
_NOT_WORDS = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:(?:chapter|section|part|appendix|kapitel|teil|chapitre)?(?:\d+|[ivxlc]+|[a-z]))?")
_NOTHING = re.compile(r"(?:page|slide|seite|folie|p)?\W*\d*", re.IGNORECASE)
_NO_TITLE = re.compile(r"(?:table of )?contents|index|abstract|inhalt(?:sverzeichnis)?|sommaire", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u2e80-\u9fff\uac00-\ud7af]")


def usual_size(pages: Iterable[Sequence[Part]]) -> float:
    """The size of most letters."""
    sizes: Counter[float] = Counter()
    for parts in pages:
        for part in parts:
            sizes[round(2 * part.size) / 2] += len(part.text) if part.size else 0
    return max(sizes, key=lambda size: (sizes[size], size), default=0.0) or 10.0


def mark_by_outline(pages: Mapping[int, list[Part]], outline: Sequence[Bookmark]) -> bool:
    """Make the entries of an outline the headings of its pages; False when none of them says anything."""
    by_page: dict[int, list[Bookmark]] = {}
    for entry in outline:
        if entry.page in pages and not _NOTHING.fullmatch(entry.title):
            by_page.setdefault(entry.page, []).append(entry)
    for page, entries in by_page.items():
        keys = [_key(part) for part in pages[page]]
        for entry in entries[:_MOST_ENTRIES]:
            _mark(pages[page], keys, entry)
    return bool(by_page)


def _mark(parts: list[Part], keys: list[tuple[str, str]], entry: Bookmark) -> None:
    """Make the part that says what an entry says a heading, or write one at its place."""
    wanted = _plain(entry.title)
    matches = [
        index
        for index, (whole, first) in enumerate(keys)
        if (_says(whole, wanted) or _says(first, wanted)) and not parts[index].level
    ]
    if matches:
        index = max(matches, key=lambda each: (round(parts[each].size), -_distance(parts[each], entry)))
        first, _, rest = parts[index].text.partition("\n")
        if not _says(keys[index][0], wanted):
            parts.insert(index + 1, replace(parts[index], text=rest, lines=max(1, parts[index].lines - 1)))
            parts[index] = replace(parts[index], text=first, lines=1)
            keys[index : index + 1] = (_key(parts[index]), _key(parts[index + 1]))
    else:
        index = next((index for index, part in enumerate(parts) if _is_below(part, entry)), len(parts))
        parts.insert(index, Part("paragraph", entry.title, entry.y or 0.0))
        keys.insert(index, ("", ""))
    parts[index].level = entry.level


def _key(part: Part) -> tuple[str, str]:
    """The letters of a part and of its first line, as far as they may be a heading."""
    if part.kind in ("table", "code"):
        return "", ""
    first = part.text.partition("\n")[0]
    return (_plain(part.text) if len(part.text) <= _LONGEST else ""), (_plain(first) if len(first) <= _LONGEST else "")


def _plain(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()


def _says(found: str, wanted: str) -> bool:
    """Whether these are the same letters but for a number before them, which the outline may have or the page."""
    if not found or not wanted:
        return False
    if found.endswith(wanted):
        return bool(_NUMBERING.fullmatch(found[: len(found) - len(wanted)]))
    return wanted.endswith(found) and bool(_NUMBERING.fullmatch(wanted[: len(wanted) - len(found)]))


def _distance(part: Part, entry: Bookmark) -> float:
    return abs(part.top - entry.y) if entry.y is not None else 0.0


def _is_below(part: Part, entry: Bookmark) -> bool:
    return entry.y is None or part.top <= entry.y + _ABOVE


def mark_by_size(pages: Iterable[list[Part]], usual: float) -> None:
    """Make short parts in large letters headings."""
    pages = list(pages)
    large = [part for parts in pages for part in parts if _is_large(part, usual)]
    letters = sum(len(part.text) for parts in pages for part in parts)
    near = sum(len(part.text) for parts in pages for part in parts if abs(part.size - usual) <= _JITTER * usual)
    if sum(len(part.text) for part in large) > _MOST_SHARE * letters or near < _LEAST_SHARE * letters:
        return
    levels: dict[float, int] = {}
    level, largest = 0, float("inf")
    for size in sorted({part.size for part in large}, reverse=True):
        if largest > _SAME_SIZE * size:
            level, largest = min(_DEEPEST, level + 1), size
        levels[size] = level
    for part in large:
        part.level = levels[part.size]
    for parts in pages:
        parts[:] = _joined(parts)


def _is_large(part: Part, usual: float) -> bool:
    return (
        part.kind == "paragraph"
        and part.size >= _LARGER * usual
        and part.lines <= _MOST_LINES
        and len(part.text) <= _LONGEST
        and bool(_LETTERS.search(part.text))
    )


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Headings that go on in the next part are one."""
    found: list[Part] = []
    for part in parts:
        above = found[-1] if found else part
        near = 0 < above.top - part.top <= _NEAR * part.size * above.lines
        if part.level and above.level == part.level and near and len(above.text) + len(part.text) < _LONGEST:
            found[-1] = replace(above, text=f"{above.text} {part.text}", lines=above.lines + part.lines)
        else:
            found.append(part)
    return found


def title_by_size(parts: Sequence[Part], usual: float) -> str:
    """The largest words of a page, when they are clearly larger than the text and short enough for a title."""
    large = [part for part in parts if _is_large(part, usual) and part.size >= _TITLE_LARGER * usual]
    if not large:
        return ""
    largest = max(part.size for part in large)
    words = ""
    for part in parts:
        if _is_large(part, usual) and part.size * _SAME_SIZE >= largest and len(words) + len(part.text) < _LONGEST:
            words = f"{words} {part.text}"
        elif words:
            break
    words = " ".join(words.split())
    return "" if _NO_TITLE.fullmatch(words) else words
