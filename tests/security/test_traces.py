"""What Dowse leaves behind: files that are their owner's alone, no secrets in what it says, no foreign headers."""

import json
import os
import stat

import pytest

from dowse import DowseError
from dowse.ingest.sources import AddressPolicy, given_content
from dowse.ingest.sources.web import FetchLimits, fetch
from dowse.logs import listen
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


@pytest.fixture
def logged():
    """What Dowse logs; of what libraries log, nothing is passed on."""
    heard: list[str] = []
    with listen(lambda record: heard.append(str(record))):
        yield heard


def everything_said(engine, logged) -> str:
    return "\n".join([str(engine.stats()), str(engine.ledger()), str(engine.doctor()), *logged])


@pytest.mark.parametrize("url", URLS)
def test_a_password_in_an_address_is_in_no_message_log_ledger_or_status(tmp_path, logged, url):
    with open_at(tmp_path) as engine:
        with pytest.raises(DowseError) as refusal:
            engine.ingest(url)
        error = refusal.value
        assert PASSWORD not in f"{error.message} {error.hint} {json.dumps(error.details, default=str)}"
        assert PASSWORD not in everything_said(engine, logged)


def test_a_redirect_to_an_address_with_a_password_does_not_repeat_it(logged):
    with serving() as server:
        start = server.redirect("/start", f"http://ada:{PASSWORD}@127.0.0.1:{server.port}/")
        with pytest.raises(DowseError) as refusal:
            fetch(
                start,
                limits=FetchLimits(total_seconds=20),
                policy=AddressPolicy(allow_private=True),
                proxy_for=lambda _: None,
            )
    assert PASSWORD not in f"{refusal.value.message} {refusal.value.hint} {logged}"


def test_the_line_of_a_model_with_a_password_in_it_does_not_repeat_it(tmp_path, logged):
    write(tmp_path / "notes", many(1))

    def use() -> None:
        with open_at(tmp_path, embedder=f"openai:http://ada:{PASSWORD}@127.0.0.1:9/v1#m") as engine:
            engine.add_collection(tmp_path / "notes", name="notes")
            engine.index("notes")
            engine.embed()

    with pytest.raises(DowseError) as refusal:
        use()
    assert PASSWORD not in f"{refusal.value.message} {refusal.value.hint} {logged}"


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
            fetch(
                url,
                limits=FetchLimits(total_seconds=20),
                policy=AddressPolicy(allow_private=True),
                proxy_for=lambda _: None,
            )
        except DowseError:
            assert not server.requests
        for request in server.requests:
            assert "X-Evil" not in request.headers


@pytest.mark.parametrize("etag", ['"a"\r\nX-Evil: 1', '"a"\nX-Evil: 1', "é", '"' + "a" * 5_000 + '"'])
def test_what_a_server_called_a_version_brings_no_header_along(etag):
    with serving() as server:
        found = fetch(
            server.page("/a"),
            limits=FetchLimits(total_seconds=20),
            policy=AddressPolicy(allow_private=True),
            proxy_for=lambda _: None,
            before=Fingerprint(1, 0, 0, 0, etag),
        )
        assert found.data == b"text"
        assert "X-Evil" not in server.requests[0].headers
        assert "If-None-Match" not in server.requests[0].headers


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
            engine.export_collection("notes", tmp_path / "notes.export")
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
