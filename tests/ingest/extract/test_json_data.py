"""JSON stays the text that it is, cut along its entries; what is broken, deep or crowded is read all the same."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

JSON = "application/json"
LINES = "application/jsonl"
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=40)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=8), inner, max_size=6), st.text(max_size=3)
    ),
    max_leaves=25,
)


def read(text: str, media_type: str = JSON) -> Extracted:
    return check(extract(text.encode("utf-8", "surrogatepass"), media_type, "a.json"))


def record(number: int) -> dict[str, object]:
    return {"id": number, "name": f"record {number}", "tags": ["a", "b"], "text": "some words " * 10}


SAMPLE = json.dumps({"title": "Orders", "count": 3, "orders": [record(number) for number in range(3)]}, indent=2)


class TestText:
    def test_it_is_the_file(self):
        assert read(SAMPLE).text == SAMPLE

    @pytest.mark.parametrize("name", ["a.json", "b.geojson", "c.jsonl", "d.ndjson"])
    def test_names_decide(self, name):
        assert media_type_of(name) in {JSON, LINES, "application/geo+json"}
        assert media_type_of("secrets.env") is None

    @pytest.mark.parametrize(
        ("written", "shown"),
        [
            (r'"caf\u00e9 \u6F22\u5b57"', '"café 漢字"'),
            (r'"\ud83d\ude00"', '"😀"'),
            (r'"\u0022 \u005c \u000a \u2028 \ud800"', r'"\" \\ \n \u2028 \ud800"'),
            (r'"\\u00e9 \n"', r'"\\u00e9 \n"'),
            (r'"\u12"', r'"\u12"'),
        ],
    )
    def test_letters_written_as_numbers_are_shown_as_letters(self, written, shown):
        assert read(written).text == shown

    @settings(deadline=None)
    @given(value=VALUES, indent=st.sampled_from([None, 0, 2]))
    def test_its_meaning_never_changes(self, value, indent):
        text = json.dumps(value, indent=indent)
        extracted = read(text)
        assert json.loads(extracted.text) == value
        assert "damaged" not in extracted.metadata


class TestEntries:
    def test_chunks_hold_whole_entries(self):
        items = json.dumps([record(number) for number in range(200)], indent=2)
        extracted = read(items)
        assert extracted.metadata == {"records": 200}
        for each in chunk(extracted, TokenCounter(None)):
            assert each.text.count('"id"') == each.text.count('"text"') >= 1
            assert each.text == items[each.start : each.end]

    def test_a_large_entry_names_itself_and_small_ones_share(self):
        text = json.dumps({"a": 1, "b": 2, "big": [record(number) for number in range(60)], "c": 3, "d": 4}, indent=1)
        extracted = read(text)
        assert [dict(unit.place) for unit in extracted.units] == [{}, {"key": "big"}, {}]
        chunks = chunk(extracted, TokenCounter(None))
        assert {each.place["key"] for each in chunks if '"id"' in each.text} == {"big"}
        assert '"a": 1' in chunks[0].text
        assert '"b": 2' in chunks[0].text

    def test_large_items_of_a_list_are_numbered(self):
        extracted = read(json.dumps([{"text": "word " * 1_000}, {"text": "word " * 1_000}], indent=1))
        assert [dict(unit.place) for unit in extracted.units] == [{"key": "[0]"}, {"key": "[1]"}]

    def test_small_files_have_no_units(self):
        assert read(SAMPLE).units == ()
        assert read("{}").units == read("3").units == ()

    def test_a_title_at_the_top_is_the_title(self):
        assert read(SAMPLE).title == "Orders"
        assert read('{"a": {"title": "inner"}, "title": " The\\n\\"one\\" "}').title == 'The "one"'
        assert read('{"title": 3}').title is None
        assert read('[{"title": "item"}]').title is None


class TestCrowdedFiles:
    def test_a_file_in_one_line_gets_lines(self):
        value = {"items": [record(number) for number in range(100)], "empty": {}, "point": [1.50, -2e5]}
        written = json.dumps(value)
        extracted = read(written)
        assert extracted.metadata == {"reformatted": True}
        assert json.loads(extracted.text) == value
        assert '"point": [1.5, -200000.0]' in extracted.text
        assert max(map(len, extracted.text.split("\n"))) < 200
        assert len(extracted.blocks) > 50

    def test_numbers_keep_their_digits_and_keys_their_order(self):
        written = '{"b": 1.10, "a": 1E400, "b": 123456789012345678901234567890, "x": [' + "0, " * 1_000 + "0]}"
        text = read(written).text
        assert text.startswith('{\n  "b": 1.10,\n  "a": 1E400,\n  "b": 123456789012345678901234567890,\n')

    def test_one_long_string_is_no_reason_to_change_lines(self):
        written = json.dumps({"a": "word " * 1_000, "b": 1}, indent=2)
        extracted = read(written)
        assert extracted.text == written
        assert extracted.metadata == {}

    def test_text_that_is_no_json_is_left_alone(self):
        written = "Once, upon a time: " * 200
        assert read(written).text == written
        assert read(written).metadata == {"damaged": True}

    def test_a_file_of_brackets_grows_within_bounds(self):
        text = read("[" * 100_000 + "]" * 100_000).text
        assert len(text) < 20 * 200_000


class TestJsonLines:
    def test_each_line_is_a_record(self):
        text = "\n".join(json.dumps(record(number)) for number in range(20)) + "\n"
        extracted = read(text, LINES)
        assert extracted.text == text
        assert extracted.metadata == {"records": 20}
        for each in chunk(extracted, TokenCounter(None), Chunking(max_tokens=100)):
            assert json.loads(each.text.split("\n")[0])["id"] == each.first_line - 1

    def test_long_records_get_lines_and_tell_their_number(self):
        text = "\n".join(json.dumps([record(number)] * 30) for number in range(3))
        extracted = read(text, LINES)
        assert extracted.metadata == {"records": 3, "reformatted": True}
        assert [unit.place["record"] for unit in extracted.units] == [1, 2, 3]
        assert chunk(extracted, TokenCounter(None))[-1].place == {"record": 3}

    def test_a_few_long_records_do_not_move_the_lines_of_the_rest(self):
        text = "\n".join([*(json.dumps(record(number)) for number in range(100)), json.dumps([record(0)] * 40)])
        extracted = read(text, LINES)
        assert extracted.text == text
        assert extracted.units[-1].place == {"record": 101}

    @pytest.mark.parametrize("line", ['{"a": 1', "[1, 2", "words"])
    def test_a_broken_record_marks_the_file(self, line):
        assert read('{"a": 1}\n' + line, LINES).metadata == {"records": 2, "damaged": True}

    def test_records_may_be_anything(self):
        assert read('1\n"a"\nnull\n-2.5\n\ntrue\n', LINES).metadata == {"records": 5}


class TestDamage:
    @pytest.mark.parametrize(
        "text", ['{"a": 1', "[1, 2}", '{"a": "b}', "{} {}", "]", '{"a": ["x", "y]}', "what is this"]
    )
    def test_a_broken_file_is_text_and_says_so(self, text):
        extracted = read(text)
        assert extracted.text == text
        assert extracted.metadata["damaged"] is True

    @pytest.mark.parametrize(
        "text",
        [
            '// don\'t "worry\n{\n  "a": 1, // it\'s "fine\n  /* [ { */\n  "b": [2,],\n}\n',
            '{"url": "http://x/*y*/"}',
            "",
            "\n",
        ],
    )
    def test_comments_and_trailing_commas_are_no_damage(self, text):
        assert read(text).metadata == {}

    def test_any_depth_is_read(self):
        deep = '{"a":\n' * 100_000 + "1" + "}" * 100_000
        assert read(deep).blocks
        assert read("[" * 100_000).metadata["damaged"] is True

    @settings(deadline=None, max_examples=60)
    @given(data=mutated(SAMPLE.encode(), (b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\u", b"/*", b"//")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        for media_type in (JSON, LINES):
            read_or_refuse(data, media_type)

    @pytest.mark.parametrize("media_type", [JSON, LINES])
    def test_being_cut_off_anywhere_is_survived(self, media_type):
        survives_being_cut_off(SAMPLE.encode(), media_type)
        survives_being_cut_off(json.dumps(json.loads(SAMPLE) | {"more": [1] * 2_000}).encode(), media_type)

    @pytest.mark.parametrize(
        "part", ['"\\', '\\"', "/*", '{"a":', "[1,", '"a\n', "\\u0041", "\\ud800", '"', "[]", ",\n"]
    )
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        for media_type in (JSON, LINES):
            read(part * 20_000, media_type)

    @settings(deadline=None)
    @given(text=st.text(alphabet='[]{},:"\\/*\n a1', max_size=200))
    def test_any_marks_give_a_valid_result_whose_blocks_follow_each_other(self, text):
        for media_type in (JSON, LINES):
            extracted = read(text, media_type)
            assert all(before.end < after.start for before, after in pairwise(extracted.blocks))
