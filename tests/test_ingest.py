"""What is given one by one: files, folders, web addresses, data: URIs, content with a name; and its removal."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from dowse import Chunking, ConflictError, Engine, NotFoundError, UsageError, given_content
from dowse.types import DocumentInfo, IngestReport
from workbench import files_found, open_at, problems, write


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_at(tmp_path) as engine:
        yield engine


def only(report: IngestReport) -> tuple[str, DocumentInfo]:
    assert (report.failed, report.skipped) == ((), ())
    (done,) = report.done
    return done.action, done.info


class TestFiles:
    def test_a_file_from_anywhere_goes_into_the_default_collection_under_its_address(self, engine, tmp_path):
        file = write(tmp_path / "far", {"zebra.md": "# Zebra\n\nstripes\n"}) / "zebra.md"
        action, info = only(engine.ingest(file))
        assert (action, info.collection, info.path, info.uri) == ("added", "default", file.as_uri(), file.as_uri())
        assert (info.origin, info.title, info.chunks, info.media_type) == ("ingested", "Zebra", 1, "text/markdown")
        assert files_found(engine, "stripes") == [f"default/{file.as_uri()}"]

    def test_the_same_file_again_is_unchanged_and_a_changed_one_replaces_it_under_the_same_id(self, engine, tmp_path):
        file = write(tmp_path / "far", {"zebra.md": "# Zebra\n\nstripes\n"}) / "zebra.md"
        _, first = only(engine.ingest(str(file)))
        action, again = only(engine.ingest(file.as_uri()))
        assert (action, again.id) == ("unchanged", first.id)
        file.write_text("# Zebra\n\nspots\n")
        action, second = only(engine.ingest(file))
        assert (action, second.id) == ("replaced", first.id)
        assert files_found(engine, "stripes") == []
        assert files_found(engine, "spots") == [second.file]

    def test_a_folder_gives_all_its_files_and_says_what_it_left_out(self, engine, tmp_path):
        folder = write(tmp_path / "far", {"a.md": "alpha", "sub/b.txt": "beta", "c.png": "x", "id_rsa": "secret"})
        report = engine.ingest(folder, collection="box")
        assert [done.info.path for done in report.done] == [
            (folder / "a.md").as_uri(),
            (folder / "sub/b.txt").as_uri(),
        ]
        assert {entry.path.rpartition("/")[2]: entry.code for entry in report.skipped} == {
            "c.png": "unsupported",
            "id_rsa": "secret",
        }

    def test_a_secret_is_read_when_it_is_named_itself(self, engine, tmp_path):
        file = write(tmp_path / "far", {".env": "TOKEN=zebra\n"}) / ".env"
        action, _ = only(engine.ingest(file, content_type="text"))
        assert action == "added"

    def test_a_file_that_is_not_there_fails_and_leaves_no_trace(self, engine, tmp_path):
        report = engine.ingest(tmp_path / "nowhere.md")
        assert [(entry.code, entry.state) for entry in report.failed] == [("missing", "failed")]
        assert report.done == ()
        assert engine.ledger() == []

    def test_one_that_fails_is_recorded_and_the_others_go_on(self, engine, tmp_path):
        folder = write(tmp_path / "far", {"bad.pdf": b"%PDF-1.4 nothing", "good.md": "zebra"})
        report = engine.ingest(folder / "bad.pdf", folder / "good.md")
        assert [done.info.title for done in report.done] == ["good.md"]
        (entry,) = engine.ledger("default")
        assert (entry.path, entry.state) == ((folder / "bad.pdf").as_uri(), "failed")
        assert entry in report.failed
        write(folder, {"bad.pdf": b"now it is text"})
        only(engine.ingest(folder / "bad.pdf", content_type="txt"))
        assert engine.ledger() == []

    def test_a_failure_is_forgotten_when_it_is_deleted(self, engine, tmp_path):
        file = write(tmp_path / "far", {"bad.pdf": b"%PDF-1.4 nothing"}) / "bad.pdf"
        engine.ingest(file)
        assert engine.delete(file.as_uri()) == ()
        assert engine.ledger() == []

    def test_an_update_reads_ingested_files_again_and_keeps_those_that_are_gone(self, engine, tmp_path):
        folder = write(tmp_path / "far", {"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
        engine.ingest(folder)
        assert engine.index("default").unchanged == 3
        write(folder, {"a.md": "zebra"})
        (folder / "b.md").unlink()
        report = engine.index("default")
        assert (report.changed, report.removed, report.unchanged) == (1, 0, 2)
        assert files_found(engine, "zebra") == [f"default/{(folder / 'a.md').as_uri()}"]
        (hit,) = engine.search("beta").hits
        assert hit.freshness == "gone"


class TestOwnership:
    @pytest.fixture
    def notes(self, engine, tmp_path):
        folder = write(
            tmp_path / "notes", {"a.md": "alpha", "b.md": "beta", ".gitignore": "kept.md\n", "kept.md": "zebra"}
        )
        engine.add_collection(folder, name="notes")
        engine.index("notes")
        return folder

    def test_a_file_of_the_collections_own_folder_is_the_document_that_the_walk_found(self, engine, notes):
        _, info = only(engine.ingest(notes / "a.md", collection="notes", metadata={"team": "kitchen"}))
        assert (info.path, info.origin, dict(info.metadata)) == ("a.md", "walked", {"team": "kitchen"})
        assert [each.path for each in engine.documents("notes")] == ["a.md", "b.md"]

    def test_what_was_said_of_a_walked_file_outlives_its_changes_and_moves(self, engine, notes):
        engine.ingest(notes / "a.md", collection="notes", metadata={"team": "kitchen"})
        write(notes, {"a.md": "alpha and more"})
        engine.index("notes")
        (notes / "a.md").rename(notes / "z.md")
        assert engine.index("notes").moved == 1
        assert dict(engine.get("notes/z.md").info.metadata) == {"team": "kitchen"}

    def test_a_file_that_the_walk_does_not_see_stays_ingested(self, engine, notes):
        _, info = only(engine.ingest(notes / "kept.md", collection="notes"))
        assert (info.path, info.origin) == ((notes / "kept.md").as_uri(), "ingested")
        assert engine.index("notes").removed == 0
        assert files_found(engine, "zebra") == [info.file]

    def test_when_the_walk_comes_to_see_it_there_is_one_document_and_it_keeps_its_id(self, engine, notes):
        _, info = only(engine.ingest(notes / "kept.md", collection="notes", metadata={"team": "kitchen"}))
        (notes / ".gitignore").unlink()
        engine.index("notes")
        assert [each.path for each in engine.documents("notes")] == ["a.md", "b.md", "kept.md"]
        now = engine.get("notes/kept.md").info
        assert (now.id, now.origin, dict(now.metadata)) == (info.id, "walked", {"team": "kitchen"})

    def test_a_deleted_walked_document_stays_away_until_it_is_ingested_again(self, engine, notes):
        assert [info.path for info in engine.delete("notes/a.md")] == ["a.md"]
        engine.index("notes")
        assert files_found(engine, "alpha") == []
        assert [(entry.path, entry.state) for entry in engine.ledger("notes")] == [("a.md", "excluded")]
        _, info = only(engine.ingest(notes / "a.md", collection="notes"))
        assert (info.path, info.origin) == ("a.md", "walked")
        engine.index("notes")
        assert files_found(engine, "alpha") == ["notes/a.md"]
        assert engine.ledger("notes") == []

    def test_content_cannot_take_the_place_of_a_file(self, engine, notes):
        with pytest.raises(ConflictError, match=r"a\.md"):
            engine.ingest(given_content("x", "a.md"), collection="notes")


class TestContent:
    def test_content_with_a_name_is_a_document_of_that_path(self, engine):
        _, info = only(engine.ingest(given_content("# Minutes\n\nzebra\n", "2026/minutes.md"), collection="work"))
        assert (info.file, info.title, info.media_type) == ("work/2026/minutes.md", "Minutes", "text/markdown")
        assert engine.get("minutes.md").text == "# Minutes\n\nzebra\n"

    def test_the_same_name_again_replaces_it(self, engine):
        _, first = only(engine.ingest(given_content("zebra", "a.md")))
        action, second = only(engine.ingest(given_content("lion", "a.md")))
        assert (action, second.id) == ("replaced", first.id)

    @pytest.mark.parametrize("uri", ["data:text/markdown,%23%20Zebra%0A", "data:text/markdown;base64,IyBaZWJyYQo="])
    def test_data_uris_are_documents_by_their_content(self, engine, uri):
        _, info = only(engine.ingest(uri))
        assert info.path == f"data:sha256,{info.content_hash}"
        assert (info.title, info.media_type) == ("Zebra", "text/markdown")
        assert only(engine.ingest(uri)) == ("unchanged", info)

    def test_other_lengths_of_passages_cut_it_anew_from_the_bytes_that_were_kept(self, engine):
        words = " ".join(f"word{number}" for number in range(300))
        engine.ingest(given_content(f"# Long\n\n{words}\n", "long.md"), "data:text/plain,short", collection="box")
        before = engine.get("long.md").info
        engine.configure_collection("box", chunking=Chunking(max_tokens=64, min_tokens=0, overlap_tokens=0))
        assert engine.index("box").changed == 2
        after = engine.get("long.md").info
        assert after.chunks > before.chunks
        assert (after.id, after.title, after.content_hash) == (before.id, before.title, before.content_hash)
        assert engine.index("box").unchanged == 2

    def test_kept_bytes_leave_with_the_last_document_that_has_them(self, engine):
        engine.ingest(given_content("zebra", "a.md"))
        engine.delete("a.md")
        engine.cleanup(days=0)
        assert problems(engine) == []


class TestSaying:
    def test_other_metadata_is_stored_without_embedding_anything_anew(self, engine):
        content = given_content("# Zebra\n\nstripes\n", "a.md")
        engine.ingest(content, metadata={"year": 2026, "draft": True, "tags": ["a", "b"], "weight": 0.5})
        engine.embed()
        action, info = only(engine.ingest(content, metadata={"year": 2027}))
        assert (action, dict(info.metadata)) == ("described", {"year": 2027})
        assert engine.embed().embedded == 0

    def test_saying_nothing_keeps_what_was_said(self, engine):
        content = given_content("zebra", "a.md")
        engine.ingest(content, metadata={"year": 2026})
        action, info = only(engine.ingest(content))
        assert (action, dict(info.metadata)) == ("unchanged", {"year": 2026})

    def test_what_is_said_counts_more_than_front_matter(self, engine):
        _, info = only(
            engine.ingest(given_content("---\nauthor: Bob\nyear: 1\n---\n# X\n", "a.md"), metadata={"year": 2})
        )
        assert dict(info.metadata) == {"author": "Bob", "year": 2}

    @pytest.mark.parametrize("metadata", [{"": "x"}, {"a": {"b": 1}}, {"a": [1, 2]}, {"a": None}])
    def test_what_cannot_be_metadata_is_refused_before_anything_is_read(self, engine, metadata):
        with pytest.raises(UsageError, match="metadata"):
            engine.ingest(given_content("x", "a.md"), metadata=metadata)
        assert engine.collections() == ()

    def test_the_users_word_on_the_type_overrules_name_and_content_and_stays(self, engine, tmp_path):
        folder = write(tmp_path / "notes", {"a.txt": "# Zebra\n\n## Stripes\n\nblack\n"})
        engine.add_collection(folder, name="notes")
        engine.index("notes")
        _, info = only(engine.ingest(folder / "a.txt", collection="notes", content_type="markdown"))
        assert (info.media_type, info.title) == ("text/markdown", "Zebra")
        assert engine.index("notes").unchanged == 1
        write(folder, {"a.txt": "# Zebra\n\n## Stripes\n\nblack and white\n"})
        engine.index("notes")
        assert engine.get("a.txt").info.media_type == "text/markdown"

    def test_an_unknown_type_is_refused_with_the_nearest_one(self, engine):
        with pytest.raises(UsageError) as caught:
            engine.ingest(given_content("x", "a.md"), content_type="markdwn")
        assert "markdown" in caught.value.hint


class TestRemoval:
    def test_a_document_goes_by_any_of_its_names(self, engine, tmp_path):
        file = write(tmp_path / "far", {"zebra.md": "stripes"}) / "zebra.md"
        for name_of in (
            lambda info: info.docid,
            lambda info: str(info.id),
            lambda info: info.uri,
            lambda info: info.file,
            lambda _: str(file),
            lambda _: "default/**/zebra.*",
        ):
            _, info = only(engine.ingest(file))
            assert [gone.id for gone in engine.delete(name_of(info))] == [info.id]
            assert files_found(engine, "stripes") == []

    def test_a_name_that_could_be_several_deletes_none_and_lists_them(self, engine):
        engine.ingest(given_content("one", "x/a.md"), given_content("two", "y/a.md"))
        with pytest.raises(ConflictError, match=r"default/x/a\.md, default/y/a\.md"):
            engine.delete("a.md")
        assert len(engine.documents()) == 2

    def test_an_unknown_name_deletes_nothing_of_the_others_either(self, engine):
        engine.ingest(given_content("one", "a.md"))
        with pytest.raises(NotFoundError):
            engine.delete("a.md", "b.md")
        assert len(engine.documents()) == 1

    def test_a_collection_narrows_what_a_name_may_mean(self, engine):
        engine.ingest(given_content("one", "a.md"), collection="x")
        engine.ingest(given_content("two", "a.md"), collection="y")
        assert [info.file for info in engine.delete("a.md", collection="y")] == ["y/a.md"]


@contextmanager
def web(pages: dict[str, tuple[dict[str, str], bytes]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server of these pages, and the requests that it got: path and If-None-Match."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            condition = self.headers.get("If-None-Match", "")
            asked.append((self.path, condition))
            headers, body = pages.get(self.path, ({}, b""))
            if condition and condition == headers.get("ETag"):
                self.send_response(304)
                self.end_headers()
                return
            self.send_response(200 if self.path in pages else 404)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base class calls it so

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class TestWeb:
    PAGE = b"<html><head><title>Zebra</title></head><body><h1>Zebra</h1><p>black stripes</p></body></html>"

    def test_a_page_is_read_by_its_declared_type_and_asked_for_again_only_if_it_changed(self, engine):
        pages = {"/z": ({"Content-Type": "text/html", "ETag": '"1"'}, self.PAGE)}
        with web(pages) as (address, asked):
            _, info = only(engine.ingest(f"{address}/z", allow_private_urls=True))
            assert (info.path, info.title, info.media_type) == (f"{address}/z", "Zebra", "text/html")
            assert info.fingerprint.etag == '"1"'
            assert only(engine.ingest(f"{address}/z#part", allow_private_urls=True)) == ("unchanged", info)
            action, described = only(engine.ingest(f"{address}/z", metadata={"a": "b"}, allow_private_urls=True))
            assert (action, dict(described.metadata)["a"]) == ("described", "b")
            assert asked == [("/z", ""), ("/z", '"1"'), ("/z", '"1"')]

    def test_an_update_asks_the_web_only_when_told_to(self, engine):
        pages = {"/z": ({"Content-Type": "text/html", "ETag": '"1"'}, self.PAGE)}
        with web(pages) as (address, asked):
            engine.ingest(f"{address}/z", allow_private_urls=True)
            engine.index("default")
            assert len(asked) == 1
            pages["/z"] = ({"Content-Type": "text/html", "ETag": '"2"'}, self.PAGE.replace(b"black", b"white"))
            assert engine.index("default", web="ask anywhere").changed == 1
        assert files_found(engine, "white") == [f"default/{address}/z"]
        assert engine.index("default", web="ask anywhere").failed[0].code == "unreachable"
        assert files_found(engine, "white") == [f"default/{address}/z"]

    def test_a_letter_set_that_only_the_header_tells_is_heard(self, engine):
        pages = {"/z.txt": ({"Content-Type": "text/plain; charset=windows-1251"}, "зебра в полоску".encode("cp1251"))}
        with web(pages) as (address, _):
            only(engine.ingest(f"{address}/z.txt", allow_private_urls=True))
        assert files_found(engine, "полоску") == [f"default/{address}/z.txt"]

    def test_a_private_address_is_refused_unless_it_is_allowed(self, engine):
        with web({}) as (address, asked):
            report = engine.ingest(f"{address}/z")
            assert [entry.code for entry in report.failed] == ["refused_address"]
            assert asked == []

    @pytest.mark.parametrize("given", ["ftp://example.org/a.md", "", "http://user:secret@example.org/", "mailto:a@b"])
    def test_what_is_no_source_is_refused(self, engine, given):
        with pytest.raises(UsageError):
            engine.ingest(given)
