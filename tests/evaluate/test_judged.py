"""Judged queries from YAML and from BEIR folders, and what is said of those that cannot be read."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import NotFoundError, SourceError
from dowse.evaluate.judged import read_judged, read_qrels


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def beir(folder: Path, queries: str, table: str, name: str = "qrels/test.tsv") -> Path:
    write(folder / "queries.jsonl", queries)
    write(folder / name, table)
    return folder


def test_yaml_names_one_file_several_or_several_with_grades(tmp_path):
    path = write(
        tmp_path / "queries.yaml",
        "how hot: tea.md\nyes: [a.md, 'b c.md']\n12:30:\n  - noon.md\n2024:\n  plan.md: 2\n  old.md: 0\n",
    )
    assert read_judged(path) == {
        "how hot": {"tea.md": 1},
        "yes": {"a.md": 1, "b c.md": 1},
        "12:30": {"noon.md": 1},
        "2024": {"plan.md": 2, "old.md": 0},
    }


def test_json_is_yaml(tmp_path):
    assert read_judged(write(tmp_path / "q.json", '{"how hot": ["tea.md"]}')) == {"how hot": {"tea.md": 1}}


@pytest.mark.parametrize("table", ["qrels/test.tsv", "qrels/dev.tsv", "qrels.tsv"])
def test_a_beir_folder_is_read_with_or_without_a_head(tmp_path, table):
    rows = '{"_id": "1", "text": "how hot"}\n\n{"_id": 2, "text": "how cold"}\n{"_id": "3", "text": "unjudged"}\n'
    expected = {"how hot": {"tea.md": 2, "ice.md": 0}, "how cold": {"ice.md": 1}}
    head = "query-id\tcorpus-id\tscore\n"
    body = "1\ttea.md\t2\n1\tice.md\t0\n2\tice.md\t1\r\n"
    assert read_judged(beir(tmp_path / "a", rows, head + body, table)) == expected
    assert read_judged(beir(tmp_path / "b", rows, body, table)) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a table"),
        ("- a\n- b\n", "is not a table"),
        ("just words", "is not a table"),
        ("a: [b\n", "line 2, is not YAML"),
        ("a: b: c\n", "line 1, is not YAML"),
        ("how hot:\n", "does not say which files"),
        ("how hot: []\n", "does not say which files"),
        ("how hot: [[a.md]]\n", "does not say which files"),
        ("how hot: {a.md: good}\n", "does not say which files"),
        ("how hot: {a.md: 0}\n", "No query"),
        ("'': a.md\n", "no text"),
        ("? [a, b]\n: c\n", "is not YAML"),
        ("[" * 1_000, "is not YAML"),
    ],
)
def test_yaml_that_is_no_table_of_queries_is_refused_with_its_line(tmp_path, text, says):
    with pytest.raises(SourceError, match=says) as caught:
        read_judged(write(tmp_path / "queries.yaml", text))
    assert "path/of/file.md" in caught.value.hint


@pytest.mark.parametrize(
    ("queries", "table", "says"),
    [
        ('{"_id": "1"}', "1\ta\t1", "no `text`"),
        ('{"text": "x"}', "1\ta\t1", "no `_id`"),
        ("nonsense", "1\ta\t1", "line 1, is not a JSON object"),
        ('{"_id": "1", "text": "x"}\n[1]', "1\ta\t1", "line 2, is not a JSON object"),
        ('{"_id": "1", "text": "x"}', "1\ta", "line 1, is not a query, a document"),
        ('{"_id": "1", "text": "x"}', "1\ta\t1\n1\tb\tgood", "line 2, is not"),
        ('{"_id": "1", "text": "x"}', "2\ta\t1", "No query"),
        ('{"_id": "1", "text": "x"}', "", "No query"),
    ],
)
def test_a_beir_folder_that_makes_no_sense_is_refused_with_its_line(tmp_path, queries, table, says):
    with pytest.raises(SourceError, match=says) as caught:
        read_judged(beir(tmp_path / "set", queries, table))
    assert "queries.jsonl" in caught.value.hint


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nothing\.yaml"):
        read_judged(tmp_path / "nothing.yaml")
    with pytest.raises(NotFoundError, match="table of judgements"):
        read_judged(tmp_path)
    write(tmp_path / "qrels.tsv", "1\ta\t1")
    with pytest.raises(NotFoundError, match=r"no queries\.jsonl"):
        read_judged(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "queries.yaml"
    path.write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(SourceError, match="not UTF-8"):
        read_judged(path)


@given(st.text(max_size=80) | st.text("a: []{}-\n\t\"'&*!|>", max_size=40))
def test_any_text_is_read_or_refused_in_our_words(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    path = folder / "q.yaml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    for read in (read_judged, read_qrels):
        with suppress(SourceError):
            assert isinstance(read(path), dict)
