"""Subtitles, SRT and WebVTT: what is said, line by line where it stands in the file.

Time codes and numbers would be most of the text that is searched, so they leave it: the lines that they
stood on stay, empty, and line N is still line N of the file. Cues are joined into paragraphs by pauses,
speakers and sentences, each below its time; one or two minutes make a unit, whose place tells start and
end. Captions that roll, each cue repeating the line above, are said once.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from dowse.ingest.extract.blocks import Block, Extracted, Unit
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.plain import extract_plain
from dowse.types import MetadataValue

__all__ = ["extract_subtitles"]

_PAUSE = 2_000
_LONG_PARAGRAPH = 30_000
_LONGEST_PARAGRAPH = 60_000
_LONG_UNIT = 60_000
"""All in milliseconds: two paragraphs of the longest kind make a unit of two minutes."""
_MOST_SPEAKERS = 64
_ROLLING_SHARE = 3

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_IDENTIFIER = re.compile(r"\s*\S+\s*$")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_VOICE = re.compile(r"\s*<v(?:\.[^\s<>]*)?\s+([^<>]{1,80})>")
_NAME = re.compile(r"\s*-?\s*([A-Z][A-Z .'-]{1,30}|[A-Z][a-z]+(?: [A-Z][a-z]+)?):\s")
_TAG = re.compile(r"</?(?:[biscuv]|font|lang|ruby|rt)(?:[ .][^<>]*)?>|<[\d:.]+>|\{\\[^{}]*\}")
_ENTITIES = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": " ",
    "&quot;": '"',
    "&#39;": "'",
    "&lrm;": "",
    "&rlm;": "",
}
_ENTITY = re.compile("|".join(_ENTITIES))
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"')\]\u201d\u2019]*$")
_HEADER = re.compile(r"WEBVTT(?:[ \t]+-?[ \t]*(?P<title>\S.*))?")
_LANGUAGE = re.compile(r"Language:\s*([\w-]{2,20})\s*$")


@dataclass(slots=True)
class _Cue:
    head: int
    """The first of its lines."""
    line: int
    """The line of its times."""
    start: int
    end: int
    stop: int = 0
    """The line after its last one."""
    words: list[str] = field(default_factory=list)
    speaker: str = ""


def extract_subtitles(data: bytes, name: str) -> Extracted:
    """Read SRT or WebVTT; a file without cues is plain text."""
    lines = decode(data, name).split("\n")
    cues = _cues(lines)
    if not cues:
        plain = extract_plain(data, name)
        damaged = bool(plain.blocks) and not _HEADER.match(lines[0])
        return Extracted(plain.text, plain.blocks, None, {"damaged": True} if damaged else {})
    header = lines[: cues[0].head]
    rolling = _is_rolling(lines, cues)
    before: list[str] = []
    for cue in cues:
        before = _read(lines, cue, before if rolling else [])
    spoken = [cue for cue in cues if cue.words]
    starts = [cue for cue, is_start in zip(spoken, _paragraph_starts(spoken), strict=True) if is_start]
    for cue in starts:
        lines[cue.line] = f"[{_clock(cue.start)[:-4]}]"
    text = "\n".join(lines)
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    blocks = tuple(_blocks(text, [offsets[cue.head] for cue in starts]))
    units = tuple(_units(spoken, starts, offsets))
    return Extracted(text, blocks, _title(header), _metadata(header, spoken, rolling=rolling), units)


def _cues(lines: list[str]) -> list[_Cue]:
    """The cues with their times; the lines of times and numbers are emptied."""
    cues: list[_Cue] = []
    for at, line in enumerate(lines):
        found = _TIMES.match(line) if "-->" in line else None
        if not found:
            continue
        start, end = _milliseconds(found.groups()[:4]), _milliseconds(found.groups()[4:])
        head = at
        if at and _names_a_cue(lines, at - 1, after_times=bool(cues) and cues[-1].line == at - 2):
            if _IDENTIFIER.match(lines[at - 1]):
                lines[at - 1] = ""
            else:
                head = at - 1
        lines[at] = ""
        cues.append(_Cue(head, at, start, max(start, end)))
    for cue, after in pairwise(cues):
        cue.stop = after.head
    if cues:
        cues[-1].stop = len(lines)
    return cues


def _names_a_cue(lines: list[str], at: int, *, after_times: bool) -> bool:
    """Whether the line above a cue's times is its number or name, and not the last words of the cue before."""
    words = lines[at].strip()
    return words.isdigit() or (bool(words) and not after_times and (at == 0 or not lines[at - 1].strip()))


def _milliseconds(parts: Iterable[str | None]) -> int:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return (int(hours) * 3_600 + int(minutes) * 60 + int(seconds)) * 1_000 + int(fraction.ljust(3, "0"))


def _clock(milliseconds: int) -> str:
    seconds, fraction = divmod(milliseconds, 1_000)
    return f"{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:03}"


def _clean(line: str) -> str:
    if "<" in line or "{" in line:
        line = _TAG.sub("", line)
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], line) if "&" in line else line


def _is_rolling(lines: list[str], cues: list[_Cue]) -> bool:
    """Whether many cues begin with what the one before ended with, as captions made live do."""
    repeated = 0
    last = ""
    for cue in cues:
        shown = [words for line in lines[cue.line + 1 : cue.stop] if (words := _clean(line).strip())]
        repeated += bool(shown) and shown[0] == last
        last = shown[-1] if shown else last
    return repeated * _ROLLING_SHARE > len(cues) > _ROLLING_SHARE


def _read(lines: list[str], cue: _Cue, before: list[str]) -> list[str]:
    """Clean the cue's lines in place, without those that the cue before showed; returns what this one shows."""
    shown: list[str] = []
    aside = False
    for at in range(cue.line + 1, cue.stop):
        line = lines[at]
        aside = bool(line.strip()) and (aside or bool(not lines[at - 1].strip() and _ASIDE.match(line)))
        if aside:
            continue
        voice = _VOICE.match(line)
        named = voice or _NAME.match(line)
        if named and not cue.speaker:
            cue.speaker = " ".join(named[1].split())
        words = _clean(line).strip()
        if words:
            shown.append(words)
        if words in before:
            words = ""
        elif words:
            cue.words.append(words)
        lines[at] = f"{' '.join(voice[1].split())}: {words}" if voice and words else words
    return shown


def _paragraph_starts(cues: list[_Cue]) -> Iterator[bool]:
    """Which cues begin a paragraph: after a pause, with another speaker, or where the last one grew long."""
    before: _Cue | None = None
    began = 0
    speaker = ""
    for cue in cues:
        starts = before is None
        if before:
            length = before.end - began
            starts = (
                not -_PAUSE <= cue.start - before.end <= _PAUSE
                or (bool(cue.speaker) and cue.speaker != speaker)
                or length >= _LONGEST_PARAGRAPH
                or (length >= _LONG_PARAGRAPH and bool(_SENTENCE_END.search(before.words[-1])))
            )
        yield starts
        began = cue.start if starts else began
        speaker = cue.speaker or speaker
        before = cue


def _blocks(text: str, starts: list[int]) -> Iterator[Block]:
    for number, (start, end) in enumerate(pairwise([0, *starts, len(text)])):
        body = text[start:end].rstrip()
        if body:
            yield Block("paragraph" if number else "front matter", start, start + len(body))


def _units(cues: list[_Cue], starts: list[_Cue], offsets: list[int]) -> Iterator[Unit]:
    """Paragraphs of a minute or more together, with the time codes of their first and last cue."""
    borders = {cue.head for cue in starts}
    began: _Cue | None = None
    end = 0
    offset = 0
    for cue in cues:
        if began is None:
            began = cue
        elif cue.head in borders and not 0 <= cue.start - began.start < _LONG_UNIT:
            yield Unit(offset, place={"start": _clock(began.start), "end": _clock(end)})
            began, end, offset = cue, 0, offsets[cue.head]
        end = max(end, cue.end)
    if began:
        yield Unit(offset, place={"start": _clock(began.start), "end": _clock(end)})


def _title(header: list[str]) -> str | None:
    found = _HEADER.match(header[0]) if header else None
    return " ".join(found["title"].split())[:300] if found and found["title"] else None


def _metadata(header: list[str], cues: list[_Cue], *, rolling: bool) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {"duration": max((cue.end for cue in cues), default=0) / 1_000}
    language = next((found[1] for line in header if (found := _LANGUAGE.match(line))), None)
    speakers = list(dict.fromkeys(cue.speaker for cue in cues if cue.speaker))
    metadata |= {"language": language} if language else {}
    metadata |= {"speakers": speakers[:_MOST_SPEAKERS]} if speakers else {}
    metadata |= {"repeated_lines": "left out"} if rolling else {}
    return metadata
