"""What a PDF says of itself: its document information as metadata, and its title when it means one."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

from dowse.types import MetadataValue

__all__ = ["metadata_of", "page_ranges", "title_of"]

_DATE = re.compile(
    r"(?:D:)?(?P<year>\d{4})(?P<month>\d\d)?(?P<day>\d\d)?(?P<hour>\d\d)?(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?P<zone>Z|[-+]\d\d'?(?:\d\d)?)?"
)
_DATES = (("CreationDate", "created"), ("ModDate", "modified"))
_STRINGS = (("Author", "author"), ("Subject", "subject"), ("Lang", "language"))
_BETWEEN = re.compile(r"\s*[,;]\s*")
_MOST_KEYWORDS = 200
# What programs write when nobody said anything.
_NOTHING_SAID = re.compile(
    r"untitled.*|title|document\W*\d*|slide \d+|powerpoint presentation|no job name"
    r"|microsoft (?:word|powerpoint|excel)\b.*|<[0-9a-f]+>|anonymous|unspecified"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|dvi|tex|pdf|odt|rtf|qxd|p65|fm|txt|html?|ps|eps|cdr)|[\W\d_]*|\(.*\)",
    re.IGNORECASE,
)


def title_of(info: Mapping[str, str]) -> str | None:
    """The title, unless it is none: the name of a file, or what a program puts there by itself."""
    title = info.get("Title", "")
    return None if _NOTHING_SAID.fullmatch(title) else title


def metadata_of(info: Mapping[str, str]) -> dict[str, MetadataValue]:
    """Author, subject, language, keywords and dates, as far as they are given and can be read."""
    found: dict[str, MetadataValue] = {
        ours: info[theirs] for theirs, ours in _STRINGS if not _NOTHING_SAID.fullmatch(info.get(theirs, ""))
    }
    keywords = [word for word in _BETWEEN.split(info.get("Keywords", "")) if word]
    if keywords:
        found["keywords"] = keywords[:_MOST_KEYWORDS]
    for theirs, ours in _DATES:
        moment = _moment(info.get(theirs, ""))
        if moment:
            found[ours] = moment
    return found


def _moment(text: str) -> str | None:
    """A date of the PDF standard as ISO 8601; one without a time stays without."""
    found = _DATE.match(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in found.groups()[:6])
    try:
        moment = datetime(
            year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=_zone(found["zone"])
        )
    except ValueError:
        return None
    return moment.isoformat() if hour is not None else moment.date().isoformat()


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text == "Z":
        return UTC
    digits = text[1:].replace("'", "")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4] or 0))
    return timezone(-away if text[0] == "-" else away)


def page_ranges(numbers: list[int]) -> list[str]:
    """Numbers in rising order as people write them: `1-3`, `7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ["-".join(map(str, each)) for each in ranges]
