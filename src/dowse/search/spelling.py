"""Which documents are spelled much like this name? For the hint below a name that is not found."""

from collections.abc import Callable, Iterable
from heapq import nlargest

from dowse.types import DocumentInfo

_SUGGESTIONS = 3
_SHORTLIST = 100  # how many are measured: those that share the most pairs of letters with the name
_PAIRS = 30  # how many of a long name are looked for, from its end
_LONGEST = 512  # nobody mistypes a longer name
_MUCH_LONGER = 10_000  # than any path is than another


def similar_names(name: str, documents: Iterable[DocumentInfo]) -> list[str]:
    """Up to three documents whose name is a few letters away, with or without its folders; the nearest first."""
    wanted = name.casefold()
    if not 0 < len(wanted) <= _LONGEST:
        return []
    distance_to = _distance_from(wanted)
    near = []
    for info in nlargest(_SHORTLIST, documents, key=_likeness_to(wanted)):
        path = info.path.casefold()
        known_as = {info.file.casefold(), path, path.rpartition("/")[2]}
        distance, of = min((distance_to(each), each) for each in known_as)
        if distance <= max(3, max(len(wanted), len(of)) // 2):
            near.append((distance, info.file))
    return [file for _, file in sorted(near)[:_SUGGESTIONS]]


def _likeness_to(wanted: str) -> Callable[[DocumentInfo], int]:
    """A cheap measure: the pairs of letters in common (a typing error spoils at most two), then the length."""
    end = f"/{wanted}"[-_PAIRS - 1 :]
    pairs = {end[at : at + 2] for at in range(len(end) - 1)}
    length = len(wanted)

    def likeness(info: DocumentInfo) -> int:
        file = info.file
        without_collection = len(file) - len(info.collection) - 1 - length
        without_folders = len(file) - file.rfind("/") - 1 - length
        longer = min(abs(len(file) - length), abs(without_collection), abs(without_folders))
        return _MUCH_LONGER * sum(map(f"/{file}".casefold().__contains__, pairs)) - longer

    return likeness


def _distance_from(wanted: str) -> Callable[[str], int]:
    """Levenshtein's distance, with a column of its table as the bits of two integers (Myers 1999, Hyyrö 2003)."""
    everything = (1 << len(wanted)) - 1
    last = 1 << len(wanted) - 1
    places: dict[str, int] = {}
    for at, letter in enumerate(wanted):
        places[letter] = places.get(letter, 0) | 1 << at

    def distance_to(name: str) -> int:
        distance, up, down = len(wanted), everything, 0
        for letter in name:
            equal = places.get(letter, 0)
            kept = ((equal & up) + up ^ up) | equal | down
            right, left = down | ~(kept | up), kept & up
            distance += bool(right & last) - bool(left & last)
            right = right << 1 | 1
            up = (left << 1 | ~(kept | right)) & everything
            down = right & kept & everything
        return distance

    return distance_to
