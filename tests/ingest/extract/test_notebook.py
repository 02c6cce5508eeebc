"""Notebooks become Markdown: headings are headings, code is fenced, printed text is kept within bounds."""

import json

import pytest
from hypothesis import given, settings

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

NOTEBOOK = "application/x-ipynb+json"
PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python"}, "language_info": {"name": "python"}}


def markdown(*lines: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": [*(f"{line}\n" for line in lines[:-1]), lines[-1]]}


def code(source: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def stream(text: object) -> dict[str, object]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data: object) -> dict[str, object]:
    kinds = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": kinds}


def file_of(*cells: dict[str, object], metadata: dict[str, object] | None = None) -> bytes:
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": PYTHON if metadata is None else metadata, "cells": cells}
    return json.dumps(made, indent=1).encode()


def notebook(*cells: dict[str, object], metadata: dict[str, object] | None = None) -> Extracted:
    return check(extract(file_of(*cells, metadata=metadata), NOTEBOOK, "work.ipynb"))


SAMPLE = file_of(
    markdown("# Study", "", "What we *did*."),
    code("import numpy\n", stream(["one\n", "two\n"])),
    markdown("## Results", "", "| a | b |", "|---|---|", "| 1 | 2 |"),
    code("plot()", shown(image_png="iVBORw0KGgo=" * 50, text_plain=["<Figure size 640x480 with 1 Axes>"])),
    code("1 / 0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "no", "traceback": ["\x1b[31mx"]}),
)


class TestANotebook:
    def test_cells_become_markdown_in_their_order(self):
        assert check(extract(SAMPLE, NOTEBOOK, "work.ipynb")).text == (
            "# Study\n\nWhat we *did*.\n\n"
            "```python\nimport numpy\n```\n\n"
            "```text\none\ntwo\n```\n\n"
            "## Results\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
            "```python\nplot()\n```\n\n"
            "```python\n1 / 0\n```\n\n"
            "```text\nZeroDivisionError: no\n```\n\n"
        )

    def test_blocks_title_and_language_are_known(self):
        extracted = extract(SAMPLE, NOTEBOOK, "work.ipynb")
        assert [block.kind for block in extracted.blocks] == [
            *("heading", "paragraph", "code", "code", "heading", "table", "code", "code", "code")
        ]
        assert extracted.title == "Study"
        assert extracted.metadata == {"language": "python", "kernel": "Python 3"}

    def test_chunks_say_which_cells_they_come_from(self):
        chunks = chunk(extract(SAMPLE, NOTEBOOK, "work.ipynb"), TokenCounter(None))
        assert [(each.headings, each.level, dict(each.place)) for each in chunks] == [
            (("Study",), 1, {"cells": "1-2"}),
            (("Study", "Results"), 2, {"cells": "3-5"}),
        ]

    def test_a_long_run_of_cells_is_cited_in_parts(self):
        extracted = notebook(*(code(f"step_{number}()\n" + "x = 1\n" * 100) for number in range(1, 11)))
        assert [unit.place["cells"] for unit in extracted.units] == ["1-4", "5-8", "9-10"]

    def test_a_heading_stays_with_the_cell_below_it(self):
        extracted = notebook(markdown("# A"), markdown("## B"), code("b()"), markdown("# C"), code("c()"))
        assert [unit.place["cells"] for unit in extracted.units] == ["1-3", "4-5"]
        assert [each.headings for each in chunk(extracted, TokenCounter(None))] == [("A", "B"), ("C",)]

    def test_the_title_and_authors_of_its_metadata_count(self):
        about = {**PYTHON, "title": " A \n title", "authors": [{"name": "Jane"}, {"name": "Bob"}, "odd"]}
        extracted = notebook(markdown("# Heading"), metadata=about)
        assert extracted.title == "A title"
        assert extracted.metadata["author"] == ["Jane", "Bob"]

    def test_a_raw_cell_at_the_top_may_be_front_matter(self):
        raw = {"cell_type": "raw", "metadata": {}, "source": "---\ntitle: From above\ntags: [a]\n---"}
        extracted = notebook(raw, markdown("# Heading"))
        assert extracted.title == "From above"
        assert extracted.metadata["tags"] == ["a"]
        assert [block.kind for block in extracted.blocks] == ["front matter", "heading"]


class TestOutputs:
    def test_long_outputs_are_cut_and_the_metadata_says_so(self):
        extracted = notebook(code("x", stream("line\n" * 5_000)))
        assert len(extracted.text) < 5_000
        assert "\u2026 20,999 more characters" in extracted.text
        assert extracted.metadata["truncated"] is True
        assert extracted.metadata["truncated_reason"] == "1 of its cells printed more than is kept"

    @pytest.mark.parametrize(
        ("output", "kept"),
        [
            (stream("\x1b[31mred\x1b[0m"), "red"),
            (stream("10%\r50%\r100%\ndone\n"), "100%\ndone"),
            (stream("a\r\nb\r"), "a\nb"),
            (shown(text_plain="   x  y\n0  1  2", text_html="<table>"), "   x  y\n0  1  2"),
            (shown(text_plain="<IPython.core.display.Markdown object>", text_markdown=["**b**"]), "**b**"),
            ({"output_type": "pyout", "text": ["42"]}, "42"),
            (stream(["no", "newlines"]), "no\nnewlines"),
        ],
    )
    def test_text_is_kept_as_a_reader_saw_it(self, output, kept):
        assert notebook(code("x", output)).text == f"```python\nx\n```\n\n```text\n{kept}\n```\n\n"

    @pytest.mark.parametrize(
        "output",
        [
            shown(image_png="iVBORw0KGgo="),
            shown(text_html="<b>x</b>"),
            shown(text_plain="<Figure size 10x10 with 2 Axes>"),
            {"output_type": "stream"},
            {"data": [1]},
            {},
        ],
    )
    def test_what_has_no_words_is_left_out(self, output):
        assert notebook(code("x", output)).text == "```python\nx\n```\n\n"

    def test_images_inside_markdown_lose_their_bytes(self):
        text = notebook(markdown(f"![plot](data:image/png;base64,{'QUJD' * 1000})")).text
        assert text == "![plot](data:image/png;base64,\u2026)\n\n"

    def test_a_fence_is_longer_than_any_inside(self):
        extracted = notebook(code("'''\n```\n````\n'''"))
        assert extracted.text.startswith("`````python\n")
        assert [block.kind for block in extracted.blocks] == ["code"]


class TestOtherVersions:
    def test_format_3_is_read(self):
        cells = [
            {"cell_type": "heading", "level": 2, "source": ["Old heading"]},
            {"cell_type": "code", "language": "julia", "input": ["x = 1"], "outputs": [{"text": "1"}]},
        ]
        made = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
        extracted = check(extract(json.dumps(made).encode(), NOTEBOOK, "old.ipynb"))
        assert extracted.text == "## Old heading\n\n```julia\nx = 1\n```\n\n```text\n1\n```\n\n"
        assert extracted.title == "Old heading"
        assert extracted.metadata == {"language": "julia"}

    @pytest.mark.parametrize("data", [b"", b" \n", file_of(), b'{"nbformat": 4}', b'{"nbformat": 3, "worksheets": 1}'])
    def test_an_empty_notebook_is_empty(self, data):
        assert check(extract(data, NOTEBOOK, "a.ipynb")).blocks == ()


class TestDamage:
    @pytest.mark.parametrize("data", [b"{", b"[]", b'{"cells": 1}', b"[" * 100_000, SAMPLE[:-10], b"1" * 5_000])
    def test_what_is_no_notebook_is_refused_with_a_hint(self, data):
        with pytest.raises(SourceError) as caught:
            extract(data, NOTEBOOK, "a.ipynb")
        assert caught.value.reason == "damaged"
        assert caught.value.hint

    def test_lone_surrogates_are_replaced(self):
        assert "\ud800" not in notebook(markdown("a\ud800b")).text

    @settings(deadline=None, max_examples=60)
    @given(data=mutated(SAMPLE, (b"[", b"]", b"{", b"}", b",", b"null", b"1e999", b'\\ud800"', b"true")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        read_or_refuse(data, NOTEBOOK)

    def test_being_cut_off_anywhere_is_survived(self):
        survives_being_cut_off(SAMPLE, NOTEBOOK)
