"""PDF: whatever stands wherever on a page, laying it out loses no word and says none twice."""

import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.ingest.extract.pdf.aligned import aligned_tables
from dowse.ingest.extract.pdf.drawings import Ruling
from dowse.ingest.extract.pdf.layout import zones
from dowse.ingest.extract.pdf.page import Fragment, Word
from dowse.ingest.extract.pdf.paragraphs import parts_of
from dowse.ingest.extract.pdf.ruled import ruled_tables

# Few different places, so that rows, columns and grids come about.
XS = st.sampled_from([50.0, 56.0, 120.0, 180.0, 200.0, 300.0, 306.0, 420.0])
YS = st.integers(0, 30).map(lambda row: 750.0 - 12 * row) | st.floats(20, 780)
SIZES = st.sampled_from([9.0, 10.0, 10.0, 10.0, 16.0, 40.0])
WIDTHS = st.sampled_from([8.0, 30.0, 60.0, 110.0, 230.0, 480.0])


@st.composite
def pages(draw) -> list[Fragment]:
    places = draw(st.lists(st.tuples(XS, YS, WIDTHS, SIZES, st.integers(1, 3), st.booleans()), min_size=1, max_size=60))
    orders = draw(st.permutations(range(len(places)))) if draw(st.booleans()) else range(len(places))
    fragments = []
    for number, ((x, y, width, size, count, mono), order) in enumerate(zip(places, orders, strict=True)):
        step = width / count
        words = [
            Word(f"w{number}x{index}", 0, x + index * step, y - 2, x + (index + 0.9) * step, y + size)
            for index in range(count)
        ]
        text = " ".join(word.text for word in words)
        fragments.append(Fragment(text, x, x + width, y - size / 4, y + 0.8 * size, y, size, order, words, mono))
    return fragments


LEVELS = st.tuples(XS, YS, WIDTHS).map(lambda line: Ruling(line[0], line[1], line[0] + line[2], line[1]))
UPRIGHTS = st.tuples(XS, YS, WIDTHS).map(lambda line: Ruling(line[0], line[1] - line[2], line[0], line[1]))


@given(pages(), st.lists(LEVELS | UPRIGHTS, max_size=30))
@settings(max_examples=150, deadline=None)
def test_every_word_is_kept_exactly_once(fragments, rulings):
    items = ruled_tables(fragments, rulings)
    found = parts_of([zone._replace(rows=aligned_tables(zone.rows)) for zone in zones(items)])
    texts = [text for part in found for text in (part.text, *(cell for row in part.cells for cell in row))]
    said = Counter(word for text in texts for word in re.findall(r"w\d+x\d+", text))
    assert said == Counter(word.text for fragment in fragments for word in fragment.words)
    for part in found:
        if part.plain:
            assert " ".join(each.text for each in part.plain).split() == part.text.split()
