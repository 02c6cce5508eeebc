"""Reads PDF files of tests, and checks whatever is read."""

import pytest

from dowse.errors import SourceError
from dowse.ingest.extract import Extracted, extract
from ingest.extract.checking import check

MEDIA_TYPE = "application/pdf"


def read(data: bytes) -> Extracted:
    return check(extract(data, MEDIA_TYPE, "file.pdf"))


def paragraphs(data: bytes) -> list[str]:
    extracted = read(data)
    return [extracted.text[block.start : block.end] for block in extracted.blocks]


def refusal(data: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        extract(data, MEDIA_TYPE, "file.pdf")
    assert caught.value.hint
    return caught.value


def sentences(name: str, count: int = 12) -> str:
    return " ".join(f"{name} sentence {number} goes on about the weather at some length." for number in range(count))
