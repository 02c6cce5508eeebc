"""What rag_ingest takes and refuses, what becomes of documents that change, and what goes wrong."""

import base64
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse import Engine
from dowse.errors import ModelError, SourceError, StoreError
from dowse.inference.hashed import HashedEmbedder
from dowse.interfaces.mcp.access import Access, RefusedError
from dowse.interfaces.mcp.dialect import UnexpectedError
from dowse.interfaces.mcp.dialects.rag import metadata
from dowse.interfaces.mcp.dialects.rag.failures import failed
from dowse.interfaces.mcp.dialects.rag.ids import parse_ulid, ulid
from dowse.types import new_document_id
from interfaces.mcp.talking import in_process
from workbench import open_at, write

PAGE = b"# Release notes\n\nThe wombat release.\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("rag")


@pytest.fixture(scope="module")
def server(root):
    """A server that may read below its folder."""
    with in_process("rag", root) as talk:
        talk.call("rag_create_collection", {"name": "code"})
        yield talk


@pytest.fixture
def rag(server):
    """The same, with nothing in its one collection."""
    for each in server.call("rag_list_documents", {"collection": "code"})["structuredContent"]["documents"]:
        server.call("rag_delete", {"doc_id": each["id"]})
    return server


@pytest.fixture
def folder(root, tmp_path):
    """A folder of this test's own that may be read."""
    own = root / tmp_path.name
    own.mkdir()
    return own


@pytest.fixture
def site():
    """A web server on this computer with one page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/README.md"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/markdown")
            self.end_headers()
            self.wfile.write(PAGE if found else b"")

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def ingest(talk, uri, **more):
    return talk.call("rag_ingest", {"uri": uri, "collection": "code", **more})["structuredContent"]


def code(talk, uri, **more):
    """The code of an error, of which nothing stays behind."""
    result = talk.failure("rag_ingest", {"uri": uri, "collection": "code", **more})
    return result["structuredContent"]["error"]["code"]


def document(talk, identifier):
    return json.loads(talk.request("resources/read", {"uri": f"rag://documents/{identifier}"})["contents"][0]["text"])


def found(talk, query, **more):
    result = talk.call("rag_search", {"query": query, "hybrid": False, **more})
    return [each["source"] for each in result["structuredContent"]["results"]]


@pytest.mark.covers("rag-ingest-changed")
def test_a_changed_file_is_updated_in_place(rag, folder):
    write(folder, {"a.md": "# One\n\nAardvarks.\n"})
    uri = (folder / "a.md").as_uri()
    before = ingest(rag, uri)
    write(folder, {"a.md": "# One\n\nBadgers.\n\n# Two\n\nMore badgers.\n"})
    after = ingest(rag, uri)
    assert after["doc_id"] == before["doc_id"]
    assert (before["chunks_created"], after["chunks_created"]) == (1, 2)
    assert found(rag, "aardvarks") == []
    assert set(found(rag, "badgers")) == {before["doc_id"]}


@pytest.mark.covers("rag-ingest-lost")
def test_a_file_that_cannot_be_read_any_more_stays_as_it_was(rag, folder):
    write(folder, {"a.md": "Aardvarks.\n"})
    uri = (folder / "a.md").as_uri()
    made = ingest(rag, uri)
    (folder / "a.md").unlink()
    assert code(rag, uri) == "LOAD_FAILED"
    assert found(rag, "aardvarks") == [made["doc_id"]]


@pytest.mark.covers("rag-ingest-web")
def test_a_web_address_is_fetched(tmp_path, site):
    access = Access(allow_private_urls=True)
    with in_process("rag", tmp_path, access=access) as talk:
        talk.call("rag_create_collection", {"name": "code"})
        made = ingest(talk, f"{site}/README.md")
        assert (made["source_uri"], made["content_type"]) == (f"{site}/README.md", "markdown")
        assert found(talk, "wombat") == [made["doc_id"]]
        assert ingest(talk, f"{site}/README.md") == made
        assert code(talk, f"{site}/nothing.md") == "LOAD_FAILED"


@pytest.mark.covers("rag-ingest-private")
def test_a_private_web_address_is_refused(rag, site):
    assert code(rag, f"{site}/README.md") == "LOAD_FAILED"


@pytest.mark.covers("rag-ingest-data")
@pytest.mark.parametrize(
    "uri",
    [
        "data:,Wombats dig burrows",
        "data:text/plain,Wombats%20dig%20burrows",
        "data:text/plain;base64," + base64.b64encode(b"Wombats dig burrows").decode(),
    ],
)
def test_raw_content_is_one_document_however_it_is_written(rag, uri):
    made = ingest(rag, uri)
    assert made["content_type"] == "plain_text"
    assert document(rag, made["doc_id"])["raw_content"] == "Wombats dig burrows"
    assert ingest(rag, "data:,Wombats dig burrows")["doc_id"] == made["doc_id"]


@pytest.mark.covers("rag-ingest-type", "rag-content-type", "rag-content-type-names")
@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        *(("rust", "Rust"), ("python", "Python"), ("typescript", "TypeScript"), ("javascript", "JavaScript")),
        *(("go", "Go"), ("java", "Java"), ("cpp", "C++"), ("markdown", "Markdown"), ("html", "HTML")),
        *(("json", "JSON"), ("yaml", "YAML"), ("plain_text", "Plain text")),
    ],
)
def test_a_content_type_overrules_what_a_name_says(rag, folder, content_type, name):
    write(folder, {"a.txt": '{"a": 1}\n'})
    made = ingest(rag, (folder / "a.txt").as_uri(), content_type=content_type)
    assert made["content_type"] == content_type
    assert document(rag, made["doc_id"])["content_type"] == name


@pytest.mark.covers("rag-content-type")
def test_a_type_that_the_specification_does_not_know_goes_by_its_own_name(rag, folder):
    write(folder, {"a.csv": "name,place\nwombat,burrow\n", "b.sh": "echo wombat\n"})
    assert ingest(rag, (folder / "a.csv").as_uri())["content_type"] == "csv"
    assert ingest(rag, (folder / "b.sh").as_uri())["content_type"] == "shell"


@pytest.mark.covers("rag-ingest-metadata")
def test_metadata_comes_back_as_it_was_given(rag):
    given_ = {
        "author": "Ada",
        "year": 1843,
        "draft": False,
        "tags": ["a", "b"],
        "nested": {"deep": [1, None, {"x": 2.5}]},
        "nothing": None,
        "marked": "json:{",
    }
    made = ingest(rag, "data:,Notes on the engine", metadata=given_)
    kept = document(rag, made["doc_id"])["metadata"]
    assert {key: kept[key] for key in given_} == given_
    again = ingest(rag, "data:,Notes on the engine", metadata={"author": "Lovelace"})
    assert again["doc_id"] == made["doc_id"]
    kept = document(rag, made["doc_id"])["metadata"]
    assert kept["author"] == "Lovelace"
    assert "year" not in kept


@pytest.mark.covers("rag-ingest-metadata")
@pytest.mark.parametrize("bad", [{"": 1}, {"a": "x" * 70_000}])
def test_metadata_that_cannot_be_kept_is_refused(rag, bad):
    assert code(rag, "data:,x", metadata=bad) == "INVALID_ARGUMENT"


@pytest.mark.covers("rag-uri-invalid")
@pytest.mark.parametrize(
    "uri",
    [
        *(
            "",
            " ",
            "notes.md",
            "/etc/passwd",
            "C:\\notes.md",
            "ftp://example.org/a",
            "content:/a",
            "javascript:alert(1)",
        ),
        *("file:relative.md", "file://elsewhere/a.md", "file:///a%00b", "https://", "https://user:secret@example.org/"),
        *("data:no comma", "data:text/plain;base64,A", "data:sha256," + "0" * 64),
    ],
)
def test_what_is_no_address_is_an_invalid_uri(rag, uri):
    assert code(rag, uri) == "INVALID_URI"


@pytest.mark.covers("rag-load-failed")
def test_what_cannot_be_read_failed_to_load(rag, folder):
    write(folder, {"a.pdf": b"no pdf at all", "folder/b.md": "x", "c.bin": bytes(range(256)) * 10})
    for name in ("nothing.md", "a.pdf", "c.bin", "folder"):
        assert code(rag, (folder / name).as_uri()) == "LOAD_FAILED", name


@pytest.mark.covers("rag-roots")
def test_files_outside_of_the_roots_are_refused_whether_they_are_there_or_not(tmp_path):
    write(tmp_path, {"open/a.md": "a", "secret/b.md": "b", "open/.hidden/c.md": "c", "open/.env": "KEY=1"})
    (tmp_path / "open" / "link.md").symlink_to(tmp_path / "secret" / "b.md")
    with in_process("rag", tmp_path, access=Access.over_http([tmp_path / "open"])) as talk:
        talk.call("rag_create_collection", {"name": "code"})
        assert ingest(talk, (tmp_path / "open" / "a.md").as_uri())["success"]
        for name in ("secret/b.md", "open/.hidden/c.md", "open/.env", "open/../secret/b.md", "open/link.md"):
            assert code(talk, f"{tmp_path.as_uri()}/{name}") == "LOAD_FAILED", name
        outside = [
            talk.failure("rag_ingest", {"uri": (tmp_path / "secret" / name).as_uri(), "collection": "code"})
            for name in ("b.md", "x.md")
        ]
        there, missing = (each["structuredContent"]["error"]["message"] for each in outside)
        assert there.replace("b.md", "x.md") == missing


@pytest.mark.covers("rag-read-only")
def test_a_read_only_server_has_only_the_tools_that_read(tmp_path):
    with in_process("rag", tmp_path, access=Access(read_only=True)) as talk:
        names = [tool["name"] for tool in talk.request("tools/list")["tools"]]
        assert names == ["rag_search", "rag_list_collections", "rag_list_documents", "rag_stats"]
        assert talk.error("tools/call", {"name": "rag_delete", "arguments": {}})["code"] == -32602


@pytest.mark.covers("rag-text-too-long")
def test_a_document_above_the_configured_size_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr("interfaces.mcp.talking.open_at", partial(open_at, max_file_size=1_000))
    write(tmp_path, {"a.txt": "word " * 201})
    with in_process("rag", tmp_path) as talk:
        talk.call("rag_create_collection", {"name": "code"})
        assert code(talk, (tmp_path / "a.txt").as_uri()) == "TEXT_TOO_LONG"
        assert code(talk, "data:," + "word " * 201) == "TEXT_TOO_LONG"
        assert ingest(talk, "data:," + "word " * 199)["success"]


@pytest.mark.covers("rag-text-too-long")
def test_a_query_above_8192_tokens_is_too_long(rag):
    result = rag.failure("rag_search", {"query": "word " * 8_193})
    assert result["structuredContent"]["error"]["code"] == "TEXT_TOO_LONG"
    assert "isError" not in rag.call("rag_search", {"query": "word " * 8_192})
    huge = rag.failure("rag_search", {"query": "x" * 1_000_000})
    assert huge["structuredContent"]["error"]["code"] == "TEXT_TOO_LONG"


@pytest.mark.covers("rag-query-empty")
@pytest.mark.parametrize("query", ["", " \n\t"])
def test_an_empty_query_is_an_invalid_argument(rag, query):
    error = rag.failure("rag_search", {"query": query})["structuredContent"]["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert "'query'" in error["message"]


@pytest.mark.covers("rag-id-malformed")
@pytest.mark.parametrize(
    "identifier",
    [
        *("", "x", "01HRE4KXQN8Z3J2X5Y7A9B4C6", "81HRE4KXQN8Z3J2X5Y7A9B4C6D", "01HRE4KXQN8Z3J2X5Y7A9B4C6U"),
        *("İ" * 26, "0198c2a4-7f3e-7abc-8def-0123456789ab"),
    ],
)
def test_a_malformed_id_is_an_invalid_argument(rag, identifier):
    result = rag.failure("rag_delete", {"doc_id": identifier})
    assert result["structuredContent"]["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.covers("rag-id-malformed")
def test_a_malformed_id_in_an_address_is_an_invalid_parameter(rag):
    assert rag.error("resources/read", {"uri": "rag://documents/x"})["code"] == -32602


@pytest.mark.covers("rag-ids")
def test_a_file_that_is_called_like_an_id_is_not_the_document_with_this_id(rag, folder):
    made = ingest(rag, "data:,The real one")
    name = str(parse_ulid(made["doc_id"]))
    write(folder, {name: "The impostor\n"})
    other = ingest(rag, (folder / name).as_uri(), content_type="plain_text")
    result = rag.call("rag_delete", {"doc_id": made["doc_id"]})
    assert result.get("isError") or result["structuredContent"]["deleted_doc_id"] == made["doc_id"]
    assert document(rag, other["doc_id"])["raw_content"] == "The impostor\n"
    assert "isError" not in rag.call("rag_delete", {"doc_id": other["doc_id"]})


@pytest.mark.covers("rag-warnings")
def test_a_document_without_vectors_stays_and_the_result_says_why(tmp_path, monkeypatch):
    def broken(*_):
        raise ModelError("The model does not answer.")

    monkeypatch.setattr(HashedEmbedder, "embed_passages", broken)
    with in_process("rag", tmp_path) as talk:
        talk.call("rag_create_collection", {"name": "code"})
        made = ingest(talk, "data:,Numbats eat termites")
        assert made["success"]
        assert made["warnings"] == ["The model does not answer."]
        assert found(talk, "numbats") == found(talk, "numbats", hybrid=True) == [made["doc_id"]]
        stats = talk.call("rag_stats", {})["structuredContent"]
        assert (stats["chunks"], stats["embeddings"]) == (1, 0)


@pytest.mark.covers("rag-error-database")
def test_a_broken_index_is_a_database_error(rag, monkeypatch):
    def broken(_):
        raise StoreError("The index is damaged.", hint="Repair it.")

    monkeypatch.setattr(Engine, "stats", broken)
    error = rag.failure("rag_stats", {})["structuredContent"]["error"]
    assert error == {"code": "DATABASE_ERROR", "message": "The index is damaged. Repair it."}


@pytest.mark.covers("rag-error-embedding", "rag-error-database", "rag-load-failed")
def test_every_kind_of_error_has_a_code_of_the_specification():
    errors = {
        ModelError("x"): "EMBEDDING_ERROR",
        StoreError("x"): "DATABASE_ERROR",
        UnexpectedError("x"): "DATABASE_ERROR",
        SourceError("x"): "LOAD_FAILED",
        RefusedError("x"): "LOAD_FAILED",
    }
    for error, expected in errors.items():
        reply = failed(error, "rag_ingest")
        assert reply.is_error
        assert reply.structured == {"error": {"code": expected, "message": "x"}}


@pytest.mark.covers("rag-ids")
@given(st.uuids())
def test_an_id_and_its_ulid_are_the_same_sixteen_bytes(identifier):
    assert parse_ulid(ulid(identifier)) == identifier
    assert parse_ulid(ulid(identifier).lower()) == identifier


@pytest.mark.covers("rag-ids")
def test_ulids_sort_by_the_time_that_their_documents_were_made():
    made = [new_document_id() for _ in range(3)]
    assert sorted(made, key=lambda each: each.int >> 80) == sorted(made, key=lambda each: ulid(each)[:10])


@pytest.mark.covers("rag-ingest-metadata")
@settings(max_examples=50)
@given(
    st.dictionaries(
        st.text(min_size=1).filter(str.strip),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
        max_size=4,
    )
)
def test_any_metadata_survives(said):
    assert metadata.shown(metadata.stored(said)) == said
