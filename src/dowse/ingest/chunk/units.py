"""The places of chunks in units: the page they are on, and where on it."""

from collections.abc import Mapping

from dowse.ingest.extract import Extracted, Unit
from dowse.types import MetadataValue

__all__ = ["Units"]

_THIRDS = ("start", "middle", "end")
_NOWHERE: Mapping[str, MetadataValue] = {}


class Units:
    """The units of one document."""

    def __init__(self, extracted: Extracted) -> None:
        self._units = extracted.units or (Unit(0),)
        self._ends = [*(unit.start for unit in self._units[1:]), len(extracted.text)]

    def place_of(self, unit: int, start: int, end: int) -> tuple[int | None, Mapping[str, MetadataValue]]:
        """The page of a span in a unit, and what else there is to say of its place."""
        found = self._units[unit]
        if found.page is None:
            return None, found.place or _NOWHERE
        length = self._ends[unit] - found.start
        third = 3 * ((start + end) // 2 - found.start) // max(1, length)
        return found.page, {**found.place, "page_position": _THIRDS[min(third, 2)]}
