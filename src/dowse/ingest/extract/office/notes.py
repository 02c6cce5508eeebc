"""The footnotes and endnotes of a Word document, by the order in which the text cites them."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from dowse.ingest.extract.office.inline import Inline, Note
from dowse.ingest.extract.office.names import WORD
from dowse.ingest.extract.office.package import Package
from dowse.ingest.extract.tables import one_line

__all__ = ["Notes"]


class Notes:
    """Numbers notes when they are cited, and hands each one out once, to be written near its citation."""

    def __init__(self, package: Package, parts: Mapping[str, str]) -> None:
        self._found: dict[Note, Element] = {}
        self._inlines: dict[bool, Inline] = {}
        self._markers: dict[Note, str] = {}
        self._counts = {False: 0, True: 0}
        self._waiting: list[Note] = []
        for tag, is_endnote in (("footnote", False), ("endnote", True)):
            part = parts.get(f"{tag}s")
            root = package.optional(part)
            if part is None or root is None:
                continue
            self._inlines[is_endnote] = Inline(package.relations(part), lambda _: "")
            for each in root.iter(f"{WORD}{tag}"):
                self._found[Note(is_endnote, each.get(f"{WORD}id", ""))] = each

    def cite(self, note: Note) -> str:
        """The mark of a note in the text; empty for one that is not there."""
        if note not in self._found:
            return ""
        marker = self._markers.get(note)
        if marker is None:
            self._counts[note.is_endnote] += 1
            marker = f"[^{'e' if note.is_endnote else ''}{self._counts[note.is_endnote]}]"
            self._markers[note] = marker
            self._waiting.append(note)
        return marker

    def take(self) -> list[str]:
        """The notes that were cited for the first time since the last call, each with its mark."""
        waiting, self._waiting = self._waiting, []
        return [
            f"{self._markers[note]}: {_text(self._found[note], self._inlines[note.is_endnote])}" for note in waiting
        ]


def _text(note: Element, inline: Inline) -> str:
    return " ".join(filter(None, (one_line(inline.text(paragraph)) for paragraph in note.iter(f"{WORD}p"))))
