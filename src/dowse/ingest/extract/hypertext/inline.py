"""The text inside a paragraph, gathered until it ends, with links and code written as Markdown does."""

import re
from typing import NamedTuple

__all__ = ["Inline", "Mark", "Paragraph"]

_BREAK = "\0"
_LONGEST_ADDRESS = 300
"""Longer ones carry tracking or data, which nobody searches for; the words of the link stay."""
_LOCAL = re.compile(r"(?![A-Za-z][A-Za-z0-9+.-]*:)[^#]")
_REMOTE = re.compile(r"https?://.", re.IGNORECASE)
_UNSAFE = re.compile(r"[\s()<>\x00-\x1f]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_EXPONENT = re.compile(r"[-+\u2212]?\w{1,8}")
_DISPLAY_STYLE = re.compile(r"\{\\displaystyle (.*)\}", re.DOTALL)


class Mark(NamedTuple):
    """A place in the open paragraph."""

    paragraph: int
    piece: int


class Paragraph(NamedTuple):
    """A finished paragraph; its lines are those that its author broke."""

    text: str
    words: int
    """The number of characters outside of links."""


class Inline:
    """The open paragraph. A mark that it has passed the end of takes nothing out."""

    __slots__ = ("_count", "_linked", "_local", "_pieces", "_readings", "_tex", "is_plain")

    def __init__(self, *, local_links: bool) -> None:
        self._local = local_links
        self._pieces: list[str] = []
        self._count = 0
        self._linked = 0
        self._readings: list[str] = []
        self._tex = ""
        self.is_plain = False
        """In a heading or in code, where links and marks would only disturb."""

    def add(self, text: str) -> None:
        """Go on with this."""
        self._pieces.append(text)

    def break_line(self) -> None:
        """Begin a new line, or a new paragraph where the line is empty."""
        self._pieces.append(_BREAK)

    def mark(self) -> Mark:
        """Where the paragraph is now."""
        return Mark(self._count, len(self._pieces))

    def end_link(self, mark: Mark, address: str) -> None:
        """What was added since the mark is a link."""
        taken, words = self._take(mark)
        self._linked += len(words)
        if words and not any(map(str.isalnum, words)):
            # The sign beside a heading that links to it is no word of the heading.
            self._pieces.append(" " if address.startswith("#") else taken)
        elif words and not self.is_plain and (target := self._target(address)) and target != words:
            self._linked += len(target) + 4
            self._put(taken, f"[{words}]({target})")
        else:
            self._pieces.append(taken)

    def end_code(self, mark: Mark) -> None:
        """What was added since the mark is code."""
        taken, words = self._take(mark)
        if not words:
            self._pieces.append(taken)
        elif "`" in words:
            self._put(taken, words if "``" in words else f"`` {words} ``")
        else:
            self._put(taken, f"`{words}`")

    def end_exponent(self, mark: Mark) -> None:
        """What was added since the mark stands above the line: `10^6` is not 106."""
        taken, words = self._take(mark)
        before = "".join(self._pieces[-1:])[-1:]
        self._pieces.append(f"^{words}" if before.isalnum() and _EXPONENT.fullmatch(words) else taken)

    def end_reading(self, mark: Mark) -> None:
        """What was added since the mark says how the characters before it are pronounced."""
        self._readings.append(self._take(mark)[1])

    def end_ruby(self) -> None:
        """Write the readings after the word, which stays whole."""
        if reading := "".join(self._readings):
            self._pieces.append(f"({reading})")
        self._readings.clear()

    def end_tex(self, mark: Mark) -> None:
        """What was added since the mark is the formula around it, in TeX."""
        self._tex = self._take(mark)[1]

    def end_formula(self, mark: Mark) -> None:
        """What was added since the mark is a formula."""
        taken, words = self._take(mark)
        if self._tex:
            styled = _DISPLAY_STYLE.fullmatch(self._tex)
            words = f"${(styled[1] if styled else self._tex).strip()}$"
        self._tex = ""
        self._put(taken, words)

    def finish(self) -> list[Paragraph]:
        """End the paragraph; two line breaks in a row made it several."""
        text = "".join(self._pieces)
        linked = self._linked
        self._pieces.clear()
        self._count += 1
        self._linked = 0
        if _BREAK not in text:
            words = _collapsed(text)
            return [Paragraph(words, max(len(words) - linked, 0))] if words else []
        groups: list[list[str]] = [[]]
        for line in map(_collapsed, text.split(_BREAK)):
            if line:
                groups[-1].append(line)
            elif groups[-1]:
                groups.append([])
        texts = ["\n".join(group) for group in groups if group]
        share = linked / max(sum(map(len, texts)), 1)
        return [Paragraph(each, max(len(each) - round(share * len(each)), 0)) for each in texts]

    def _take(self, mark: Mark) -> tuple[str, str]:
        """What was added since the mark, as it is and as words."""
        if mark.paragraph != self._count:
            return "", ""
        taken = "".join(self._pieces[mark.piece :])
        del self._pieces[mark.piece :]
        return taken, _collapsed(taken.replace(_BREAK, " "))

    def _put(self, taken: str, words: str) -> None:
        before = " " if taken[:1].isspace() else ""
        after = " " if taken[-1:].isspace() else ""
        self._pieces.append(f"{before}{words}{after}")

    def _target(self, address: str) -> str:
        address = address.strip()
        if len(address) > _LONGEST_ADDRESS:
            return ""
        if not (_REMOTE.match(address) or (self._local and _LOCAL.match(address))):
            return ""
        return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", address)


def _collapsed(text: str) -> str:
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    return " ".join(text.split())
