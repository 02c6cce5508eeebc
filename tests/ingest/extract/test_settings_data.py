"""YAML, TOML and INI stay the text that they are, cut along documents, keys, tables and sections."""

import pytest
from hypothesis import given, settings

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

YAML = "application/yaml"
TOML = "application/toml"
INI = "text/x-ini"

MANIFEST = """\
# The web server
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
---
apiVersion: apps/v1
kind: Deployment
spec:
- name: "one"
  image: nginx
# the second
- name: two
"""
PYPROJECT = '''\
# The project
title = "An example"

[project]
name = "dowse"
description = """
[not a table]
"""

# How it is built
[build-system]
requires = ["hatchling"]  # [neither]

[[tool.source]]
url = 'x'
'''
SETTINGS = """\
; for everyone
[DEFAULT]
colour = red

# one server
[server one]
host: example.org
port = 80
"""


def read(text: str, media_type: str) -> Extracted:
    extracted = check(extract(text.encode(), media_type, "a"))
    assert extracted.text == text
    return extracted


def blocks(text: str, media_type: str) -> list[str]:
    extracted = read(text, media_type)
    return [extracted.text[block.start : block.end] for block in extracted.blocks]


class TestNames:
    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            ("a.yaml", YAML),
            ("a.yml", YAML),
            ("a.toml", TOML),
            ("setup.cfg", INI),
            ("a.ini", INI),
            ("messages.properties", INI),
            (".env", None),
            ("production.env", None),
        ],
    )
    def test_they_decide_and_secrets_have_no_reader(self, name, media_type):
        assert media_type_of(name) == media_type


class TestYaml:
    def test_documents_share_no_chunk_and_are_numbered(self):
        extracted = read(MANIFEST, YAML)
        assert extracted.metadata == {"documents": 2}
        chunks = chunk(extracted, TokenCounter(None))
        assert [dict(each.place) for each in chunks] == [{"document": 1}, {"document": 2}]
        assert chunks[0].text.startswith("# The web server")
        assert chunks[1].text.startswith("---\napiVersion: apps/v1")
        assert chunks[1].first_line == 7

    def test_long_documents_are_cut_between_entries(self):
        text = "".join(f"# about {number}\nkey{number}:\n  words: {'word ' * 40}\n" for number in range(30))
        for each in chunk(read(text, YAML), TokenCounter(None)):
            assert each.text.startswith("# about")
            assert each.text.count("# about") == each.text.count("words:")

    def test_a_large_entry_names_itself_and_is_cut_between_its_own(self):
        items = "".join(f"- name: n{number}\n  text: {'word ' * 30}\n" for number in range(40))
        extracted = read(f"title: The list\nitems:\n{items}'last key':\n  a: b\n", YAML)
        assert [dict(unit.place) for unit in extracted.units] == [{}, {"key": "items"}, {}]
        assert extracted.title == "The list"
        for each in chunk(extracted, TokenCounter(None))[1:-1]:
            assert each.text.startswith(("items:", "- name:"))

    def test_nested_keys_are_borders_too(self):
        paths = "".join(f"  /path{number}:\n    get:\n      summary: {'word ' * 60}\n" for number in range(30))
        extracted = read(f"openapi: 3.0.0\npaths:\n{paths}", YAML)
        starts = [extracted.text[block.start :].split("\n")[0] for block in extracted.blocks]
        assert starts[2:] == [f"  /path{number}:" for number in range(1, 30)]

    def test_a_list_at_the_top_is_cut_between_items(self):
        text = "".join(f"- {'word ' * 100}\n" for _ in range(10))
        assert len(blocks(text, YAML)) == 10

    @pytest.mark.parametrize("text", ["a: [1, 2", "a: b: c\n", "\tx: y", "a: 'b", "{{ template }}: - x\n  y"])
    def test_a_broken_file_is_text_and_says_so(self, text):
        assert read(text, YAML).metadata["damaged"] is True

    @pytest.mark.parametrize(
        "text", ["", "\n", "just words", "a: |\n  # no comment\n  ---\n", "--- # a\n...\n", "%YAML 1.2\n---\na: 1\n"]
    )
    def test_unusual_files_are_whole(self, text):
        assert "damaged" not in read(text, YAML).metadata
        assert "documents" not in read(text, YAML).metadata

    def test_depth_and_aliases_do_no_harm(self):
        assert read("[" * 100_000, YAML).blocks
        assert read("".join(" " * depth + "a:\n" for depth in range(1_000)), YAML).blocks
        bomb = "a: &a [x]\n" + "".join(
            f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        )
        assert read(bomb, YAML).metadata == {}


class TestToml:
    def test_tables_are_borders_with_the_comments_above_them(self):
        long = PYPROJECT.replace('"x"', "x").replace('name = "dowse"', f'name = "{"dowse " * 50}"')
        long = long.replace('"hatchling"', ", ".join(['"hatchling"'] * 40)).replace(
            "url = ", f"text = '{'u' * 300}'\nurl = "
        )
        assert [part.split("\n")[0] for part in blocks(long, TOML)] == [
            *("# The project", "[project]", "# How it is built", "[[tool.source]]")
        ]

    def test_small_files_are_one_chunk_with_their_title(self):
        extracted = read(PYPROJECT, TOML)
        assert extracted.title == "An example"
        assert extracted.metadata == {}
        assert [each.text for each in chunk(extracted, TokenCounter(None))] == [PYPROJECT.rstrip()]

    def test_a_large_table_names_itself(self):
        keys = "".join(f"key{number} = '{'word ' * 20}'\n" for number in range(60))
        extracted = read(f"a = 1\n[tool.big]\n{keys}[tool.small]\nb = 2\n", TOML)
        assert [dict(unit.place) for unit in extracted.units] == [{}, {"key": "tool.big"}, {}]
        for each in chunk(extracted, TokenCounter(None), Chunking(max_tokens=100))[1:-1]:
            assert each.text.startswith(("[tool.big]", "key"))

    @pytest.mark.parametrize("text", ["a = ", "[a", "a = 'b", "what is this", "[a]\n[a]\n"])
    def test_a_broken_file_is_text_and_says_so(self, text):
        assert read(text, TOML).metadata == {"damaged": True}

    @pytest.mark.parametrize("text", ["a = " + "[" * 50_000 + "]" * 50_000, "a." * 50_000 + "b = 1"])
    def test_what_nests_too_deep_is_not_looked_at(self, text):
        assert read(text, TOML).metadata == {}


class TestIni:
    def test_sections_are_borders_with_the_comments_above_them(self):
        long = SETTINGS.replace("red", "red " * 80).replace("80", "80 " * 100)
        assert [part.split("\n")[0] for part in blocks(long, INI)] == ["; for everyone", "# one server"]

    def test_a_large_section_names_itself(self):
        keys = "".join(f"key{number} = {'word ' * 20}\n" for number in range(60))
        extracted = read(f"{SETTINGS}[big one]\n{keys}", INI)
        assert [dict(unit.place) for unit in extracted.units] == [{}, {"key": "big one"}]

    def test_properties_without_sections_are_cut_between_keys(self):
        text = "".join(f"message.{number}={'word ' * 30}\n" for number in range(50))
        assert all(part.startswith("message.") for part in blocks(text, INI))
        assert len(blocks(text, INI)) > 10


class TestDamage:
    @settings(deadline=None, max_examples=60)
    @given(
        data=mutated(
            (MANIFEST + PYPROJECT + SETTINGS).encode(),
            (b"---\n", b"[", b"]", b"- ", b": ", b"'''", b'"""', b"#", b"  "),
        )
    )
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        for media_type in (YAML, TOML, INI):
            read_or_refuse(data, media_type)

    @pytest.mark.parametrize(("sample", "media_type"), [(MANIFEST, YAML), (PYPROJECT, TOML), (SETTINGS, INI)])
    def test_being_cut_off_anywhere_is_survived(self, sample, media_type):
        survives_being_cut_off(sample.encode(), media_type)

    @pytest.mark.parametrize(
        "part", ["[", '"""\\', "'''", '\\"""', "a: ", "- - ", "? ", "---\n", "#\n", "[ ", "'", "{a: "]
    )
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        for media_type in (YAML, TOML, INI):
            read(part * 20_000, media_type)
