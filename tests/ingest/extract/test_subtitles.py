"""Subtitles become what is said, on the lines where it stands, with the times of each part."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

SRT = "application/x-subrip"
VTT = "text/vtt"
SAMPLE = """\
1
00:00:01,000 --> 00:00:03,500
<i>Hello</i> and welcome
to the show.

2
00:00:03,600 --> 00:00:06,000
{\\an8}Today we talk about

3
00:00:06,100 --> 00:00:08,000
searching &amp; finding.

4
00:00:15,000 --> 00:00:18,000
JANE: After a pause.
"""
CAPTIONS = """\
WEBVTT - The talk
Kind: captions
Language: en

STYLE
::cue { color: red }

NOTE written by hand

intro-1
00:01.000 --> 00:04.000 align:start position:0%
<v Roger Bingham>We are in New York City

NOTE a remark

00:04.000 --> 00:06.000
<v Roger Bingham>right <c.loud>now</c>.

the second part
00:06.000 --> 00:09.000
<v.soft Neil>Didn't you <00:07.000>say so?
"""


def srt(text: str) -> Extracted:
    return check(extract(text.encode(), SRT, "a.srt"))


def vtt(text: str) -> Extracted:
    return check(extract(text.encode(), VTT, "a.vtt"))


def cues(count: int, *, length: int = 3_000, words: str = "And so on we go") -> str:
    """So many cues, one after the other without a pause."""

    def clock(time: int) -> str:
        return f"{time // 3_600_000:02}:{time // 60_000 % 60:02}:{time // 1_000 % 60:02},{time % 1_000:03}"

    return "\n".join(
        f"{number + 1}\n{clock(number * length)} --> {clock((number + 1) * length)}\n{words} {number}\n"
        for number in range(count)
    )


class TestSrt:
    def test_words_stay_on_their_lines_and_times_leave_the_text(self):
        extracted = srt(SAMPLE)
        assert extracted.text.split("\n") == [
            *("", "[00:00:01]", "Hello and welcome", "to the show.", ""),
            *("", "", "Today we talk about", ""),
            *("", "", "searching & finding.", ""),
            *("", "[00:00:15]", "JANE: After a pause.", ""),
        ]

    def test_a_pause_begins_a_paragraph(self):
        extracted = srt(SAMPLE)
        assert [(block.kind, extracted.text[block.start : block.start + 10]) for block in extracted.blocks] == [
            ("paragraph", "[00:00:01]"),
            ("paragraph", "[00:00:15]"),
        ]

    def test_metadata_tells_duration_and_speakers(self):
        assert srt(SAMPLE).metadata == {"duration": 18.0, "speakers": ["JANE"]}
        assert srt(SAMPLE).title is None

    def test_chunks_are_cited_by_time_and_by_the_lines_of_the_file(self):
        text = cues(60)
        chunks = chunk(srt(text), TokenCounter(None))
        assert [dict(each.place) for each in chunks] == [
            {"start": "00:00:00.000", "end": "00:01:00.000"},
            {"start": "00:01:00.000", "end": "00:02:00.000"},
            {"start": "00:02:00.000", "end": "00:03:00.000"},
        ]
        lines = text.split("\n")
        for each in chunks:
            assert lines[each.first_line - 1].startswith(each.text[1:9])
            assert lines[each.last_line - 1] == each.text.split("\n")[-1]

    def test_a_long_paragraph_ends_with_a_sentence(self):
        extracted = srt(cues(8, length=10_000, words="It is so.\nAnd so"))
        assert len(extracted.blocks) == 2
        sentences = srt(cues(8, length=10_000, words="And").replace("And 3", "That is it."))
        assert [sentences.text[block.start :][:10] for block in sentences.blocks] == ["[00:00:00]", "[00:00:40]"]

    @pytest.mark.parametrize(
        "times",
        [
            "00:00:01,000 --> 00:00:02,000",
            "0:00:01.0 --> 0:00:02.0",
            "00:01.000-->00:02.000",
            "00:00:01,000 --> 00:00:02,000 X1:1 X2:2",
        ],
    )
    def test_times_are_read_in_every_usual_form(self, times):
        extracted = srt(f"{times}\nWords\n")
        assert extracted.text == "[00:00:01]\nWords\n"
        assert extracted.units[0].place == {"start": "00:00:01.000", "end": "00:00:02.000"}

    def test_cues_without_empty_lines_between_them_keep_their_words(self):
        text = "00:01.000 --> 00:02.000\nYes\n00:02.000 --> 00:03.000\nNo\n2\n00:03.000 --> 00:04.000\nMaybe"
        assert srt(text).text == "[00:00:01]\nYes\n\nNo\n\n\nMaybe"

    def test_a_cue_may_hold_an_empty_line(self):
        assert srt("1\n00:00:01,000 --> 00:00:02,000\na\n\nb\n").text == "\n[00:00:01]\na\n\nb\n"


class TestWebVtt:
    def test_speakers_are_named_and_marks_and_times_leave_the_text(self):
        assert vtt(CAPTIONS).text == (
            "WEBVTT - The talk\nKind: captions\nLanguage: en\n\nSTYLE\n::cue { color: red }\n\nNOTE written by hand\n\n"
            "\n[00:00:01]\nRoger Bingham: We are in New York City\n\nNOTE a remark\n\n"
            "\nRoger Bingham: right now.\n\n"
            "the second part\n[00:00:06]\nNeil: Didn't you say so?\n"
        )

    def test_a_change_of_speaker_begins_a_paragraph(self):
        assert [block.kind for block in vtt(CAPTIONS).blocks] == ["front matter", "paragraph", "paragraph"]

    def test_the_header_gives_title_and_language(self):
        extracted = vtt(CAPTIONS)
        assert extracted.title == "The talk"
        assert extracted.metadata == {"duration": 9.0, "language": "en", "speakers": ["Roger Bingham", "Neil"]}

    def test_captions_that_roll_are_said_once(self):
        spoken = ["so the first thing", "that we look at", "is how it works", "and why it does", "as it does today"]
        lines = ["WEBVTT\n"]
        for at, words in enumerate(spoken):
            above = spoken[at - 1] if at else " "
            lines.append(f"00:0{at}.000 --> 00:0{at + 1}.000\n{above}\n{words}\n")
        extracted = vtt("\n".join(lines))
        assert [line for line in extracted.text.split("\n") if line][2:] == spoken
        assert extracted.metadata["repeated_lines"] == "left out"

    def test_a_chorus_is_not_rolling(self):
        extracted = vtt("WEBVTT\n\n00:01.000 --> 00:02.000\nNo!\n\n00:02.000 --> 00:03.000\nNo!\n")
        assert extracted.text.count("No!") == 2

    def test_a_file_without_cues_is_no_failure(self):
        assert vtt("WEBVTT\n").metadata == {}
        assert vtt("").blocks == ()


class TestDamage:
    def test_a_file_that_is_no_subtitle_is_plain_text(self):
        extracted = srt("Just some\nwords.\n\nAnd more.")
        assert [block.kind for block in extracted.blocks] == ["paragraph", "paragraph"]
        assert extracted.metadata == {"damaged": True}

    @settings(deadline=None, max_examples=60)
    @given(data=st.one_of(mutated(SAMPLE.encode(), (b"-->", b"\n\n", b"<v A>", b"1\n")), mutated(CAPTIONS.encode())))
    def test_any_change_leaves_a_valid_result_with_the_same_lines(self, data):
        for media_type in (SRT, VTT):
            extracted = read_or_refuse(data, media_type)
            if isinstance(extracted, Extracted):
                plain = extract(data, "text/plain", "a")
                assert extracted.text.count("\n") == plain.text.count("\n")

    @pytest.mark.parametrize(("sample", "media_type"), [(SAMPLE, SRT), (CAPTIONS, VTT)])
    def test_being_cut_off_anywhere_is_survived(self, sample, media_type):
        survives_being_cut_off(sample.encode(), media_type)

    def test_times_that_go_back_or_overlap_are_read(self):
        text = "\n".join(f"00:0{minute}:00,000 --> 00:00:30,000\nword {minute}\n" for minute in (5, 1, 9, 0))
        assert [unit.place["start"] for unit in srt(text).units] == [
            *("00:05:00.000", "00:01:00.000", "00:09:00.000", "00:00:00.000")
        ]
