"""Running heads, running feet and page numbers: what repeats at the edges of pages is said once.

Only parts that stand apart at the top or the bottom of their page are looked at. Words are dropped where the
same words stood on an earlier page, so that each is still found on the first one; a number is dropped when it
counts the pages, with the same difference on most of them, and stands alone or beside a title.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from dowse.ingest.extract.pdf.paragraphs import Part

__all__ = ["drop_running_parts"]

_FEWEST_PAGES = 3
_LONGEST = 400
_LARGEST = 1.15
"""Of the usual size; larger letters are titles, as on slides, which may repeat for some pages."""
_DENSE = 0.6
_NUMBER = re.compile(r"\d{1,5}")
_FRONT_MATTER = 60
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BARE = re.compile(
    r"[^\w#]*+(?:p|pg|pp|page|seite|s|p\u00e1gina|pagina|strona|\u7b2c)?[^\w#]*+#\W*+(?:of|von|de|di|sur)?"
    r"\W*+\d*+\W*+\u9875?",
    re.IGNORECASE,
)
_FEWEST_LETTERS = 12
"""Of a title that a page number may stand beside; `Day 3` and `Invoice 1003` say what is counted."""


class _Pattern(NamedTuple):
    """The words of a part; where they count pages, `#` for the number, and how far that is from the page's own."""

    words: str
    difference: int | None = None


def drop_running_parts(pages: Mapping[int, list[Part]], usual_size: float) -> None:
    """Take what repeats out of the pages, given by their numbers."""
    seen: defaultdict[_Pattern, list[int]] = defaultdict(list)
    for number, parts in pages.items():
        for pattern in {pattern for part in filter(_may_run, parts) for pattern in _patterns(part.text, number)}:
            seen[pattern].append(number)
    everywhere = {pattern for pattern, numbers in seen.items() if _is_dense(numbers, len(pages))}
    nearby = {pattern for pattern, numbers in seen.items() if _is_dense(numbers, numbers[-1] - numbers[0] + 1)}
    anywhere = everywhere | nearby
    kept: set[_Pattern] = set()
    for number, parts in pages.items():
        alone = len(parts) == 1
        parts[:] = [
            part
            for part in parts
            if not _may_run(part)
            or not _is_dropped(
                _patterns(part.text, number),
                everywhere if part.size > _LARGEST * usual_size else anywhere,
                kept,
                alone=alone,
            )
        ]


def _may_run(part: Part) -> bool:
    return part.margin and not part.level and 0 < len(part.text) <= _LONGEST


def _is_dropped(
    patterns: Iterable[_Pattern], running: AbstractSet[_Pattern], kept: set[_Pattern], *, alone: bool
) -> bool:
    """Whether a part goes: a number does; of words the first ones stay, and those that are all that a page says."""
    for pattern in patterns:
        if pattern in running:
            if pattern.difference is not None and _BARE.fullmatch(pattern.words):
                return True
            if pattern in kept and not alone:
                return True
            kept.add(pattern)
    return False


def _is_dense(numbers: Sequence[int], pages: int) -> bool:
    """Whether these are most of so many pages, or most of every other one."""
    step = 2 if len({number % 2 for number in numbers}) == 1 else 1
    return len(numbers) >= _FEWEST_PAGES and step * len(numbers) >= _DENSE * (pages + step - 1)


def _patterns(text: str, number: int) -> Iterator[_Pattern]:
    """The words as they are, and with each number in them as the one that may count pages."""
    yield _Pattern(text)
    for found in _NUMBER.finditer(text):
        words, difference = f"{text[: found.start()]}#{text[found.end() :]}", int(found[0]) - number
        if _BARE.fullmatch(words) or (_is_title(words) and abs(difference) <= _FRONT_MATTER):
            yield _Pattern(words, difference)
    if _ROMAN.fullmatch(text):
        yield _Pattern("#", _roman(text.lower()) - number)


def _is_title(words: str) -> bool:
    return " " in words.strip("# ") and sum(map(str.isalpha, words)) >= _FEWEST_LETTERS


def _roman(digits: str) -> int:
    values = [_ROMAN_VALUES[digit] for digit in digits]
    return sum(-value if value < max(values[index + 1 :], default=0) else value for index, value in enumerate(values))
