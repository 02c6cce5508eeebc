"""What Dowse leaves behind: files that are their owner's alone, no secrets in what it says, no foreign headers."""

import json
import logging
import os
import stat

import pytest

from dowse import DowseError
from dowse.inference.specs import parse_spec
from dowse.ingest.sources import AddressPolicy, given_content
from dowse.ingest.sources.web import FetchLimits, fetch
from dowse.types import Fingerprint
from ingest.sources.serving import serving
from workbench import many, open_at, write

PASSWORD = "tr0ub4dor"  # noqa: S105 - what must not be repeated
URLS = (
    f"https://ada:{PASSWORD}@example.org/page",
    f"http://{PASSWORD}@127.0.0.1/",
    f"https://ada:{PASSWORD}@[::1",
    f"https://ada:{PASSWORD}@exa mple.org/",
)
posix = pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")


def everything_said(engine, caplog) -> str:
    told = [str(engine.stats()), str(engine.ledger()), str(engine.doctor()), caplog.text]
    return "\n".join(told)


@pytest.mark.parametrize("url", URLS)
def test_a_password_in_an_address_is_in_no_message_log_ledger_or_status(tmp_path, caplog, url):
    caplog.set_level(logging.DEBUG)
    with open_at(tmp_path) as engine:
        with pytest.raises(DowseError) as refusal:
            engine.ingest(url)
        error = refusal.value
        assert PASSWORD not in f"{error.message} {error.hint} {json.dumps(error.details, default=str)}"
        assert PASSWORD not in everything_said(engine, caplog)


def test_a_redirect_to_an_address_with_a_password_does_not_repeat_it(caplog):
    caplog.set_level(logging.DEBUG)
    with serving() as server:
        start = server.redirect("/start", f"http://ada:{PASSWORD}@127.0.0.1:{server.port}/")
        with pytest.raises(DowseError) as refusal:
            fetch(start, limits=FetchLimits(total_seconds=20), policy=AddressPolicy(True), proxy_for=lambda _: None)
    assert PASSWORD not in f"{refusal.value.message} {refusal.value.hint} {caplog.text}"


@pytest.mark.parametrize(
    "line", [f"openai:http://ada:{PASSWORD}@127.0.0.1:9/v1#m", f"cohere:http://127.0.0.1:9?key={PASSWORD}"]
)
def test_the_line_of_a_model_with_a_secret_in_it_does_not_repeat_it(line):
    try:
        spec = parse_spec(line)
    except DowseError as error:
        told = f"{error.message} {error.hint}"
    else:
        told = f"{spec!r}"
    assert f"ada:{PASSWORD}" not in told


@pytest.mark.parametrize(
    "path", ["/a%0d%0aX-Evil:%201", "/a\r\nX-Evil: 1", "/a\nX-Evil: 1", "/a?b=\r\nX-Evil: 1", "/a\tb"]
)
def test_no_address_brings_a_header_along(path):
    with serving() as server:
        server.answers = dict.fromkeys(
            ("/a%0D%0AX-Evil:%201", "/a%0AX-Evil:%201", "/a", "/a%09b"), lambda r: r.answer(b"x")
        )
        url = f"http://127.0.0.1:{server.port}{path}"
        try:
            fetch(url, limits=FetchLimits(total_seconds=20), policy=AddressPolicy(True), proxy_for=lambda _: None)
        except DowseError:
            assert not server.requests  # noqa: PT017 - refused before anybody was asked
        for request in server.requests:
            assert "X-Evil" not in request.headers


@pytest.mark.parametrize("etag", ['"a"\r\nX-Evil: 1', '"a"\nX-Evil: 1', "é", '"' + "a" * 5_000 + '"'])
def test_what_a_server_called_a_version_brings_no_header_along(etag):
    with serving() as server:
        url = server.page("/a", ETag="" if "\n" in etag or not etag.isascii() else etag)
        before = Fingerprint(1, 0, 0, 0, etag)
        try:
            fetch(
                url,
                limits=FetchLimits(total_seconds=20),
                policy=AddressPolicy(True),
                proxy_for=lambda _: None,
                before=before,
            )
        except (DowseError, UnicodeEncodeError):
            assert not server.requests
        for request in server.requests:
            assert "X-Evil" not in request.headers


@posix
def test_every_file_and_folder_that_is_made_is_its_owners_alone(tmp_path):
    before = os.umask(0o000)
    try:
        notes = write(tmp_path / "notes", many(4))
        with open_at(tmp_path) as engine:
            engine.add_collection(notes, name="notes")
            engine.index("notes")
            engine.ingest(given_content("kept bytes", "minutes.md"))
            engine.embed()
            engine.search("zebra")
            engine.backup(tmp_path / "kept.backup")
            engine.export("notes", tmp_path / "notes.export")
            engine.cleanup()
    finally:
        os.umask(before)
    made = [*(tmp_path / "index").rglob("*"), *(tmp_path / "data").rglob("*"), *(tmp_path / "cache").rglob("*")]
    made += [tmp_path / "index", *tmp_path.glob("kept.backup*"), *tmp_path.glob("notes.export*")]
    assert len(made) > 8
    open_to_others = {str(each.relative_to(tmp_path)): oct(stat.S_IMODE(each.stat().st_mode)) for each in made}
    inside = tmp_path / "index"
    for each in made:
        # Inside of a closed folder nobody else gets anywhere, whatever a library gives its files.
        if each == inside or not each.is_relative_to(inside):
            assert not stat.S_IMODE(each.stat().st_mode) & 0o077, open_to_others
    assert not stat.S_IMODE((inside / "dowse.db").stat().st_mode) & 0o077, open_to_others
