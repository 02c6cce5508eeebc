"""Mail: who wrote what to whom and when, however it was encoded; attachments by their names."""

import mailbox
from email import policy
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.text.tokens import TokenCounter
from ingest.extract.checking import check, read_or_refuse

unhurried = settings(deadline=None)

MAIL, BOX = "message/rfc822", "application/mbox"
WORDS = TokenCounter(None)
SUBJECT = "Tee für die nächste Sitzung: 山田太郎さんからのとても長い件名のメールです。ありがとうございます"
HEAD = "From: ada@example.org\r\nSubject: Tea\r\n"


def message(
    subject: str = SUBJECT, body: str = "Hallo Bob,\n\ngrüner Tee.\n\n> Was trinken wir?\n> Tee?\n\n-- \nAda\n"
):
    made = EmailMessage()
    made["From"] = "Ada Löve <ada@example.org>"
    made["To"] = 'Bob <bob@example.org>, "Yamada, 太郎" <taro@example.jp>'
    made["Cc"] = "carol@example.org"
    made["Subject"] = subject
    made["Date"] = "Wed, 01 May 2024 12:20:30 +0200"
    made["Message-ID"] = "<1@example.org>"
    made.set_content(body)
    return made


def full_message() -> EmailMessage:
    made = message()
    made.add_alternative("<h1>Hallo Bob</h1><p>grüner <b>Tee</b></p>", subtype="html")
    made.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="Bericht für März.pdf")
    made.add_attachment("not to be read", filename="notes.txt")
    return made


FULL = full_message().as_bytes(policy=policy.SMTP)


def read(data: bytes | str | EmailMessage, media_type: str = MAIL) -> Extracted:
    if isinstance(data, EmailMessage):
        data = data.as_bytes(policy=policy.SMTP)
    return check(extract(data.encode() if isinstance(data, str) else data, media_type, "some mail"))


def body_of(data: bytes | str | EmailMessage) -> str:
    """What comes below the subject and the sender."""
    return read(data).text.strip().split("\n\n", 2)[2]


class TestAMail:
    def test_reads_as_it_was_written(self):
        assert read(FULL).text.strip() == (
            f"# {SUBJECT}\n\n"
            "From: Ada Löve <ada@example.org>\n"
            "To: Bob <bob@example.org>, Yamada, 太郎 <taro@example.jp>\n"
            "Cc: carol@example.org\n"
            "Date: 2024-05-01T10:20:30+00:00\n\n"
            "Hallo Bob,\n\n"
            "grüner Tee.\n\n"
            "> Was trinken wir?\n> Tee?\n\n"
            "-- \nAda\n\n"
            "Attachments:\n- Bericht für März.pdf\n- notes.txt"
        )

    def test_carries_its_headers_as_metadata(self):
        extracted = read(FULL)
        assert extracted.title == SUBJECT
        assert extracted.metadata == {
            "from": "Ada Löve <ada@example.org>",
            "to": ["Bob <bob@example.org>", "Yamada, 太郎 <taro@example.jp>"],
            "cc": ["carol@example.org"],
            "subject": SUBJECT,
            "date": "2024-05-01T10:20:30+00:00",
            "message_id": "<1@example.org>",
            "attachments": ["Bericht für März.pdf", "notes.txt"],
        }

    def test_gives_passages_below_its_subject(self):
        chunks = chunk(read(FULL), WORDS)
        assert {each.headings for each in chunks} == {(SUBJECT,)}
        assert chunks[0].first_line == 1

    @pytest.mark.parametrize("transfer", ["7bit", "8bit", "quoted-printable", "base64"])
    def test_may_travel_in_any_encoding(self, transfer):
        made = EmailMessage()
        made["From"], made["Subject"] = "a@b.c", "Tea"
        words = "plain tea" if transfer == "7bit" else "grüner Tee, " * 20
        made.set_content(words, cte=transfer)
        assert body_of(made) == words.strip()

    @pytest.mark.parametrize("charset", ["iso-8859-1", "iso-2022-jp", "koi8-r", "utf-8", "gb2312"])
    def test_may_be_in_any_charset(self, charset):
        words = {"iso-2022-jp": "お茶", "koi8-r": "чай", "gb2312": "绿茶"}.get(charset, "grün")
        made = EmailMessage()
        made["From"], made["Subject"] = "a@b.c", "Tea"
        made.set_content(words, charset=charset)
        assert body_of(made) == words

    def test_in_html_alone_is_read_as_a_page(self):
        made = EmailMessage()
        made["From"], made["Subject"] = "a@b.c", "Tea"
        made.set_content("<style>x</style><h1>Hot</h1><p>Green <a href='https://a.b/'>tea</a></p>", subtype="html")
        extracted = read(made)
        assert extracted.text.strip().endswith("## Hot\n\nGreen [tea](https://a.b/)")
        assert chunk(extracted, WORDS)[-1].headings == ("Tea", "Hot")

    def test_whose_plain_form_only_points_to_the_other_is_read_in_that(self):
        made = message(body="Please see this mail in a browser.")
        made.add_alternative(f"<p>{'All about green tea. ' * 200}</p>", subtype="html")
        assert "All about green tea." in body_of(made)
        empty = message(body=" ")
        empty.add_alternative("<p>tea</p>", subtype="html")
        assert body_of(empty) == "tea"

    def test_inside_a_mail_is_a_section_of_its_own(self):
        made = message("Outer", "See below.")
        made.add_attachment(b"x", maintype="image", subtype="png", filename="a.png")
        inner = message("Inner", "The old words.")
        inner.add_attachment(b"x", maintype="image", subtype="png", filename="b.png")
        made.add_attachment(inner)
        extracted = read(made)
        assert [(block.level, block.label) for block in extracted.blocks if block.kind == "heading"] == [
            (1, "Outer"),
            (2, "Inner"),
        ]
        assert extracted.text.index("- a.png") < extracted.text.index("## Inner")
        assert extracted.metadata["attachments"] == ["a.png", "b.png"]

    def test_that_is_encrypted_keeps_its_headers(self):
        data = (
            HEAD + 'Content-Type: multipart/encrypted; boundary="x"\r\n\r\n'
            "--x\r\nContent-Type: application/octet-stream\r\n\r\nSECRET\r\n--x--\r\n"
        )
        extracted = read(data)
        assert extracted.metadata["encrypted"] is True
        assert "SECRET" not in extracted.text
        assert extracted.title == "Tea"

    def test_is_known_by_its_name(self):
        assert media_type_of("inbox/1.eml") == MAIL
        assert media_type_of("Archive.mbox") == BOX


class TestHeaders:
    @pytest.mark.parametrize(
        ("written", "subject"),
        [
            (b"Subject: =?utf-8?q?gr=C3=BCner_Tee?=", "grüner Tee"),
            (b"Subject: =?UTF-8?B?Z3LDvG4=?= =?UTF-8?B?ZXI=?=", "grüner"),
            (b"Subject: =?utf-8?B?Z3LD?=\r\n =?utf-8?B?vG4=?= tea", "grün tea"),
            (b"Subject: =?iso-8859-1*de?Q?gr=FCn?=", "grün"),
            (b"Subject: =?no-such?Q?gr=FCn?=", "grün"),
            (b"Subject: =?utf-8?B?!!!?= =?utf-8?X?a?=", "=?utf-8?X?a?="),
            (b"Subject: gr\xc3\xbcn", "grün"),
            (b"Subject: gr\xfcn", "grün"),
            (b"subject :\tfolded\r\n  over\r\n\tlines", "folded over lines"),
            (b"Subject: \x00", "\ufffd"),
            (b"Subject:", None),
        ],
    )
    def test_are_decoded_however_they_are_written(self, written, subject):
        assert read(b"From: a@b.c\r\n" + written + b"\r\n\r\nText").title == subject

    @pytest.mark.parametrize(
        ("written", "date"),
        [
            ("Wed, 01 May 2024 12:20:30 +0200", "2024-05-01T10:20:30+00:00"),
            ("1 May 2024 12:20:30 -0000", "2024-05-01T12:20:30+00:00"),
            ("Wed, 1 May 2024 12:20 GMT (comment)", "2024-05-01T12:20:00+00:00"),
            ("yesterday", None),
            ("Wed, 99 May 99999 12:20:30 +9999", None),
        ],
    )
    def test_dates_are_in_utc(self, written, date):
        assert read(f"{HEAD}Date: {written}\r\n\r\nText").metadata.get("date") == date

    @pytest.mark.parametrize(
        ("parameter", "name"),
        [
            ('filename="a b.pdf"', "a b.pdf"),
            ("filename=plain.pdf", "plain.pdf"),
            ('filename="=?utf-8?q?gr=C3=BCn.pdf?="', "grün.pdf"),
            ("filename*=utf-8''gr%C3%BCn.pdf", "grün.pdf"),
            ('filename*0="one "; filename*1*=%C3%BC; filename*2=.pdf', "one ü.pdf"),
            ('filename="a\\"b.pdf"', 'a"b.pdf'),
            ("", "application/pdf"),
        ],
    )
    def test_names_of_attachments_are_decoded(self, parameter, name):
        part = f"Content-Type: application/pdf\r\nContent-Disposition: attachment; {parameter}\r\n\r\nx"
        data = f'{HEAD}Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n{part}\r\n--b--'
        assert read(data).metadata["attachments"] == [name]


class TestBrokenMail:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (f"{HEAD}\r\nBody", "Body"),
            (f"\r\n{HEAD}\r\nBody".replace("\r\n", "\n"), "Body"),
            (f"\ufeff{HEAD}\r\nBody", "Body"),
            (f"{HEAD}Content-Type: multipart/mixed\r\n\r\nno boundary", "no boundary"),
            (f"{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\nnever used", "never used"),
            (f"{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\npreamble\r\n--b\r\n\r\nunclosed", "unclosed"),
            (f"{HEAD}Content-Type: nonsense\r\n\r\nBody", "Body"),
            (f"{HEAD}Content-Transfer-Encoding: base64\r\n\r\nR3LDvG5*!\r\nlcjE=", "Grüner1"),
            (f"{HEAD}Content-Type: text/plain; charset=none-such\r\n\r\ngrün", "grün"),
        ],
    )
    def test_loses_no_text(self, data, text):
        assert body_of(data) == text

    @pytest.mark.parametrize("data", [b"", b"\r\n \n", b"no headers at all\n\nbody", b"\x00\x01\x02\x03" * 99])
    def test_without_headers_is_refused(self, data):
        for media_type in (MAIL, BOX):
            with pytest.raises(SourceError) as caught:
                extract(data, media_type, "a.eml")
            assert caught.value.reason in {"empty", "damaged"}
            assert caught.value.hint

    def test_nested_without_end_is_cut(self):
        levels = "".join(
            f'Content-Type: multipart/mixed; boundary="b{level}"\r\n\r\n--b{level}\r\n' for level in range(5_000)
        )
        assert read(HEAD + levels).metadata["truncated"] is True
        assert read(HEAD + "Content-Type: message/rfc822\r\n\r\nFrom: x@y\r\n" * 5_000).metadata["truncated"] is True

    def test_of_very_many_parts_is_cut(self):
        parts = "--b\r\n\r\ntext\r\n" * 5_000
        data = f"{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n{parts}--b--"
        assert read(data).metadata["truncated"] is True

    @pytest.mark.parametrize("header", ["(" * 9_000, "a@b.c, " * 9_000, '"' * 9_001, "=?utf-8?Q?" * 9_000, "<" * 9_000])
    def test_headers_of_any_shape_are_bounded(self, header):
        read(f"From: {header}\r\nTo: {header}\r\nSubject: {header}\r\nContent-Type: {header}\r\n\r\nText")

    def test_a_part_that_is_no_text_is_only_named(self):
        data = f"{HEAD}Content-Type: text/plain\r\n\r\n".encode() + b"\x00\x01\x02" * 100
        assert body_of(data) == "Attachments:\n- text/plain"

    @unhurried
    @given(position=st.integers(0, len(FULL)), garbage=st.binary(max_size=8), length=st.integers(0, 60))
    def test_bytes_may_be_damaged_anywhere(self, position, garbage, length):
        damaged = FULL[:position] + garbage + FULL[position + length :]
        read_or_refuse(damaged, MAIL)
        read_or_refuse(damaged, BOX)

    @unhurried
    @given(value=st.text(max_size=60), name=st.sampled_from(["From", "To", "Subject", "Date", "Content-Type"]))
    def test_headers_may_hold_anything(self, value, name):
        read(f"X: y\r\nSubject: s\r\n{name}: {value}\r\n\r\nText".encode("utf-8", "surrogatepass"))

    def test_mails_may_be_cut_anywhere(self):
        for part in range(50):
            read_or_refuse(FULL[: len(FULL) * part // 50], MAIL)


@pytest.fixture
def box(tmp_path) -> bytes:
    """A mailbox as Python writes one."""
    made = mailbox.mbox(tmp_path / "box.mbox")
    made.add(message("First", "Green tea.\n\nFrom here 10:30 on it gets warm.\n"))
    second = message("", "Black tea.\n")
    del second["Message-ID"], second["Date"]
    made.add(second)
    made.add(full_message())
    made.close()
    return (tmp_path / "box.mbox").read_bytes()


class TestAMailbox:
    def test_is_its_messages_one_after_the_other(self, box):
        extracted = read(box, BOX)
        assert [block.label for block in extracted.blocks if block.kind == "heading"] == [
            "First",
            "(no subject)",
            SUBJECT,
        ]
        assert extracted.metadata == {"messages": 3}
        assert extracted.title is None

    def test_has_a_unit_per_message_and_passages_that_name_it(self, box):
        extracted = read(box, BOX)
        places = [
            {
                "from": "Ada Löve <ada@example.org>",
                "date": "2024-05-01T10:20:30+00:00",
                "message_id": "<1@example.org>",
            },
            {"from": "Ada Löve <ada@example.org>"},
            {
                "from": "Ada Löve <ada@example.org>",
                "date": "2024-05-01T10:20:30+00:00",
                "message_id": "<1@example.org>",
            },
        ]
        assert [unit.place for unit in extracted.units] == places
        chunks = chunk(extracted, WORDS)
        assert [(each.headings, dict(each.place)) for each in chunks] == [
            (("First",), places[0]),
            (("(no subject)",), places[1]),
            ((SUBJECT,), places[2]),
        ]

    def test_lines_that_begin_like_a_message_are_text(self, box):
        text = read(box, BOX).text
        assert "\nFrom here 10:30 on it gets warm.\n" in text
        assert ">From" not in text

    @pytest.mark.parametrize(
        "line",
        [
            b"From ada@example.org Wed May  1 12:20:30 2024\n",
            b"From - Wed May 01 12:20:30 2024\n",
            b"From 1797@xxx Wed May 01 12:20:30 +0000 2024\r\n",
            b"From MAILER-DAEMON Wed May  1 12:20:30 2024\n",
        ],
    )
    def test_may_be_written_by_any_program(self, line):
        one = b"Subject: One\nFrom: a@b.c\n\nFrom prose on.\n"
        extracted = read(
            line + one + line + b"Subject: Two\n\nText\n\n" + line + b"\n" + line + b"Subject: Four\n\n", BOX
        )
        assert extracted.metadata["messages"] == 4
        assert "From prose on." in extracted.text

    def test_with_a_single_message_and_no_mark_is_that_message(self):
        assert read(FULL, BOX).metadata == {"messages": 1}

    def test_may_be_cut_anywhere(self, box):
        for part in range(50):
            read_or_refuse(box[: len(box) * part // 50], BOX)
