"""CSV and TSV: tables in text, whatever parts their cells.

Which mark parts the cells is found by trying: the one that cuts the first rows into the same number of
cells, more than one, is right. A `sep=;` line, as Excel knows it, decides. Quotes are understood as
spreadsheets write them; a file whose quotes do not close is read without them rather than not at all.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import islice

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.grid import write_grid
from dowse.ingest.extract.tables import Row, one_line

__all__ = ["extract_delimited"]

_MARKS = "\t;|,"
"""The likelier one first where two cut evenly: numbers may hold commas, words hardly ever tabs."""
_SAMPLE = 1 << 16
_SAMPLE_ROWS = 50
_DECLARATION = "sep="


def extract_delimited(data: bytes, name: str) -> Extracted:
    """Read a file of rows: Markdown tables in slices, each with the header and the numbers of its rows."""
    text = decode(data, name)
    first, _, rest = text.partition("\n")
    is_declared = first.lower().startswith(_DECLARATION) and first[len(_DECLARATION) :] in tuple(_MARKS)
    if is_declared:
        mark, text = first[-1], rest
    else:
        mark = _mark(text)
    composer = Composer(len(data))
    write_grid(composer, _rows(_records(text, mark), 1 + is_declared), {})
    return composer.extracted()


def _mark(text: str) -> str:
    """What parts the cells of this text."""
    sample = text[:_SAMPLE]
    if len(sample) == _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    return max(_MARKS, key=lambda mark: _evenness(sample, mark))


def _evenness(sample: str, mark: str) -> float:
    """How many of the rows have the most common number of cells; none if that is one."""
    widths: Counter[int] = Counter()
    try:
        for cells in csv.reader(StringIO(sample), delimiter=mark):
            if cells:
                widths[len(cells)] += 1
            if widths.total() == _SAMPLE_ROWS:
                break
    except csv.Error:
        return 0.0
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return count / widths.total() if width > 1 else 0.0


def _records(text: str, mark: str) -> Iterable[list[str]]:
    """The rows as lists of cells."""
    if '"' in text and _quotes_close(text, mark):
        return csv.reader(StringIO(text), delimiter=mark)
    return (line.split(mark) for line in text.split("\n"))


def _quotes_close(text: str, mark: str) -> bool:
    """Whether quotes can be trusted: one that never closes makes a single cell of everything behind it."""
    reader = csv.reader(StringIO(text), delimiter=mark)
    before = last = 0
    try:
        for _ in reader:
            before, last = last, reader.line_num
        ending = "".join(islice(StringIO(text), before, None))
        return last == before + 1 or any(csv.reader(StringIO(ending), delimiter=mark, strict=True))
    except csv.Error:  # a cell of more than 128 KB, or, strictly read, an open one at the end
        return False


def _rows(records: Iterable[list[str]], first: int) -> Iterator[Row]:
    for number, cells in enumerate(records, first):
        lines = [one_line(cell) for cell in cells]
        while lines and not lines[-1]:
            lines.pop()
        if lines:
            yield Row(number, lines)
