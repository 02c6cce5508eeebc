"""What every reader promises, checked on any result: the one checker that the tests of all formats share."""

from bisect import bisect_left, bisect_right
from math import isfinite

from dowse.errors import SourceError
from dowse.ingest.extract import Extracted, extract

KINDS = {"heading", "paragraph", "list", "table", "code", "html", "front matter"}


def check(extracted: Extracted) -> Extracted:
    """Fail unless text, blocks, units, title and metadata are as the chunker and the stores expect them."""
    text = extracted.text
    text.encode()
    assert "\r" not in text
    assert "\0" not in text
    check_blocks(extracted)
    check_units(extracted)
    assert extracted.title is None or extracted.title == extracted.title.strip() != ""
    for name, value in extracted.metadata.items():
        assert isinstance(name, str)
        assert isinstance(value, str | int | float | bool | list)
        assert not isinstance(value, float) or isfinite(value)
        assert not isinstance(value, list) or all(isinstance(each, str) for each in value)
    return extracted


def check_blocks(extracted: Extracted) -> None:
    """Blocks hold everything but white space, once, in order, from starts of lines on."""
    text, position = extracted.text, 0
    for block in extracted.blocks:
        assert block.kind in KINDS
        assert position <= block.start < block.end <= len(text)
        assert not text[position : block.start].strip()
        assert block.start == 0 or text[block.start - 1] == "\n"
        assert not text[block.end - 1].isspace()
        assert (1 <= block.level <= 6) if block.kind == "heading" else (block.level == 0 and not block.label)
        assert "\n" not in block.label
        position = block.end
    assert not text[position:].strip()


def check_units(extracted: Extracted) -> None:
    """Units follow each other from 0 on, and no block lies across a border of theirs."""
    starts = [unit.start for unit in extracted.units]
    assert starts == sorted(set(starts))
    assert not starts or (starts[0] == 0 and starts[-1] <= len(extracted.text))
    for block in extracted.blocks:
        assert bisect_right(starts, block.start) == bisect_left(starts, block.end)
    assert all(unit.page is None or unit.page >= 1 for unit in extracted.units)


def read_or_refuse(data: bytes, media_type: str) -> Extracted | SourceError:
    """What becomes of any bytes: a valid result, or a refusal that says what to do."""
    try:
        return check(extract(data, media_type, "some file"))
    except SourceError as error:
        refusal = error
    assert refusal.message
    assert refusal.reason
    assert refusal.hint
    return refusal
