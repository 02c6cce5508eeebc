"""What holds in the docvec dialect whatever carries it: the rules of seeds/004 and DIALECTS.md, one by one."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine, Query
from dowse.errors import ModelError, StoreCorruptError
from dowse.inference.hashed import HashedEmbedder
from dowse.interfaces.mcp.access import Access
from ingest.extract.make_pdf import drawn, lines
from interfaces.mcp.dialects.test_docvec import CODE, LONG_PAGE, error, metadata_of, ok
from interfaces.mcp.talking import Talk, connected, http_server, in_process, talking
from workbench import open_at, write


@pytest.fixture
def docvec(tmp_path) -> Iterator[Talk]:
    with in_process("docvec", tmp_path) as talk:
        yield talk


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Iterator[Talk]:
    """A connection to an index that no test changes."""
    folder = tmp_path_factory.mktemp("shelf")
    write(
        folder,
        {
            "docs/manual.pdf": drawn(lines("Lighthouses burn."), lines(*LONG_PAGE), lines("Storms follow.")),
            "docs/deploy.py": CODE,
            "docs/sections.md": "# All\n\n" + "\n\n".join(f"## Part {n}\n\nZebra number {n}." for n in range(60)),
        },
    )
    with open_at(folder) as engine:
        engine.ingest(folder / "docs")
        engine.embed()
    with in_process("docvec", folder) as talk:
        yield talk


def contents(data: dict[str, Any]) -> list[str]:
    return [each["content"] for each in data["results"]]


def raising(failure: Exception) -> Any:
    def raises(*_: object, **__: object) -> None:
        raise failure

    return raises


@pytest.mark.covers("docvec-file-path")
def test_a_path_may_be_relative_to_the_working_directory(docvec, tmp_path, monkeypatch):
    write(tmp_path, {"docs/tea.md": "# Tea\n\nGreen tea.\n"})
    monkeypatch.chdir(tmp_path)
    made = ok(docvec, "index_file", file_path="docs/tea.md")
    assert ok(docvec, "index_file", file_path=str(tmp_path / "docs" / "tea.md")) == made
    (found,) = metadata_of(docvec, "tea", source_file="docs/tea.md")
    assert found["source_file"] == str(tmp_path / "docs" / "tea.md")


@pytest.mark.covers("docvec-file-formats", "docvec-formats-beyond")
def test_every_format_has_the_name_of_its_family(docvec, tmp_path):
    files: dict[str, str | bytes] = {
        "a.md": "# A\n\nText.",
        "b.pdf": drawn(lines("A page.")),
        "c.txt": "Plain.",
        "d.py": "x = 1\n",
        "e.html": "<h1>Title</h1><p>Words.</p>",
        "f.csv": "name,age\nAda,36\n",
        "g.eml": "From: a@example.org\nTo: b@example.org\nSubject: Hello\n\nWords.\n",
        "h.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["Hi"], "metadata": {}}], "metadata": {}, '
        '"nbformat": 4, "nbformat_minor": 5}',
    }
    write(tmp_path, files)
    formats = {name: ok(docvec, "index_file", file_path=str(tmp_path / name))["file_format"] for name in files}
    assert list(formats.values()) == ["markdown", "pdf", "text", "code", "html", "data", "mail", "notebook"]
    (page,) = metadata_of(docvec, "words", file_format="html")
    assert (page["header_path"], page["header_level"]) == ("Title", 1)


@pytest.mark.covers("docvec-metadata-markdown")
def test_a_passage_above_the_first_header_has_no_header(docvec, tmp_path):
    path = write(tmp_path, {"plain.md": "Zebras without a heading.\n"}) / "plain.md"
    ok(docvec, "index_file", file_path=str(path))
    assert metadata_of(docvec, "zebras") == [
        {"source_file": str(path), "chunk_index": 0, "file_format": "markdown"},
    ]


@pytest.mark.covers("docvec-file-changed")
def test_a_changed_file_takes_the_place_of_what_it_was(docvec, tmp_path):
    path = write(tmp_path, {"a.txt": "Zebras walk."}) / "a.txt"
    before = ok(docvec, "index_file", file_path=str(path))
    write(tmp_path, {"a.txt": "Lions sleep."})
    after = ok(docvec, "index_file", file_path=str(path))
    assert after["doc_hash"] != before["doc_hash"]
    assert contents(ok(docvec, "search", query="zebras lions")) == ["Lions sleep."]


@pytest.mark.covers("docvec-file-permission", "docvec-dir-errors")
def test_a_file_that_may_not_be_read_is_told_as_such(docvec, tmp_path, monkeypatch):
    path = write(tmp_path, {"docs/locked.md": "Secret.", "docs/open.md": "Known."}) / "docs" / "locked.md"
    real = os.open

    def guarded(name: Any, *rest: Any, **options: Any) -> int:
        if str(name).endswith("locked.md"):
            raise PermissionError(13, "Permission denied")
        return real(name, *rest, **options)

    monkeypatch.setattr(os, "open", guarded)
    refused = error(docvec, "index_file", file_path=str(path))
    assert (refused["error"], refused["error_code"]) == (f"Permission denied: {path}", "PERMISSION_DENIED")
    data = ok(docvec, "index_directory", dir_path=str(path.parent))
    assert data["new_documents"] == 1
    assert data["errors"] == [{"file_path": str(path), "error": f"Permission denied: {path}"}]


@pytest.mark.covers("docvec-wrong-kind", "docvec-dir-not-found", "docvec-refused")
def test_files_and_directories_are_told_apart_and_missing_ones_named(docvec, tmp_path):
    path = write(tmp_path, {"docs/a.md": "A."}) / "docs"
    for tool, argument, given, code, message in (
        ("index_file", "file_path", path, "INVALID_INPUT", "Not a file: "),
        ("index_directory", "dir_path", path / "a.md", "INVALID_INPUT", "Not a directory: "),
        ("index_directory", "dir_path", path / "none", "FILE_NOT_FOUND", "Directory not found: "),
        ("index_directory", "dir_path", path / "a.md" / "none", "FILE_NOT_FOUND", "Directory not found: "),
        ("index_directory", "dir_path", Path("/etc"), "PERMISSION_DENIED", "Permission denied: "),
        ("index_directory", "dir_path", Path("/no-such-folder"), "PERMISSION_DENIED", "Permission denied: "),
    ):
        said = error(docvec, tool, **{argument: str(given)})
        assert (said["error_code"], said["error"]) == (code, f"{message}{given}")


@pytest.mark.covers("docvec-refused")
def test_a_link_does_not_lead_out_of_the_allowed_folders(tmp_path):
    outside = write(tmp_path / "outside", {"secret.md": "Secret zebra."})
    inside = write(tmp_path / "inside", {"a.md": "A zebra."})
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "folder").symlink_to(outside)
    with in_process("docvec", tmp_path, access=Access.over_http([inside])) as docvec:
        for path in (inside / "link.md", inside / "folder" / "secret.md", f"{inside}/../outside/secret.md"):
            assert error(docvec, "index_file", file_path=str(path))["error_code"] == "PERMISSION_DENIED"
        assert ok(docvec, "index_directory", dir_path=str(inside))["new_documents"] == 1
        assert contents(ok(docvec, "search", query="zebra")) == ["A zebra."]


@pytest.mark.covers("docvec-file-embedding")
def test_a_document_whose_embedding_fails_stays_with_a_warning(docvec, tmp_path, monkeypatch):
    path = write(tmp_path, {"a.txt": "Zebras walk."}) / "a.txt"
    monkeypatch.setattr(HashedEmbedder, "embed_passages", raising(ModelError("The model is asleep.")))
    for tool, argument in (("index_file", {"file_path": str(path)}), ("index_directory", {"dir_path": str(tmp_path)})):
        data = ok(docvec, tool, **argument)
        assert data["warnings"] == ["Embedding service unavailable: The model is asleep."]
    assert contents(ok(docvec, "search", query="zebras")) == ["Zebras walk."]


@pytest.mark.covers("docvec-error-codes")
def test_failures_of_models_and_of_the_index_have_their_codes(docvec, tmp_path, monkeypatch):
    path = write(tmp_path, {"a.txt": "Zebras walk."}) / "a.txt"
    monkeypatch.setattr(Engine, "ingest", raising(ModelError("No tokenizer.", hint="Install it.")))
    assert error(docvec, "index_file", file_path=str(path)) == {
        "success": False,
        "error": "Embedding service unavailable",
        "error_code": "EMBEDDING_FAILED",
        "details": {"cause": "No tokenizer.", "hint": "Install it."},
    }
    damaged = StoreCorruptError("The database is damaged.", hint="Run dowse doctor.")
    for failure, message in ((damaged, "The database is damaged."), (RuntimeError("a bug"), "Something went wrong")):
        monkeypatch.setattr(Engine, "ingest", raising(failure))
        monkeypatch.setattr(Engine, "search", raising(failure))
        stored = error(docvec, "index_file", file_path=str(path))
        asked = error(docvec, "search", query="zebras")
        assert (stored["error_code"], asked["error_code"]) == ("STORAGE_ERROR", "QUERY_FAILED")
        assert stored["error"].startswith(message)
        assert asked["error"].startswith(message)


@pytest.mark.covers("docvec-dir-recursive")
def test_subdirectories_are_scanned_unless_told_otherwise(docvec, tmp_path):
    folder = write(tmp_path / "docs", {"top.md": "Top.", "a/b/deep.md": "Deep."})
    flat = ok(docvec, "index_directory", dir_path=str(folder), recursive=False)
    assert list(flat["chunk_ids"]) == [str(folder / "top.md")]
    whole = ok(docvec, "index_directory", dir_path=str(folder))
    assert list(whole["chunk_ids"]) == [str(folder / "a/b/deep.md")]
    assert whole["duplicates_skipped"] == 1


@pytest.mark.covers("docvec-dir-ignored")
def test_ignore_rules_apply_to_a_directory(docvec, tmp_path):
    texts = {
        ".gitignore": "drafts/\n",
        ".dowseignore": "*.tmp.md\n",
        "drafts/a.md": "A draft.",
        "b.tmp.md": "For now.",
        ".hidden/c.md": "Hidden.",
        "node_modules/d.md": "Somebody else's.",
        "e.md": "Kept.",
    }
    folder = write(tmp_path / "docs", texts)
    data = ok(docvec, "index_directory", dir_path=str(folder))
    assert list(data["chunk_ids"]) == [str(folder / "e.md")]
    assert (data["duplicates_skipped"], data["errors"]) == (0, [])


@pytest.mark.covers("docvec-dir-copies", "docvec-dir-errors")
def test_copies_share_the_fate_of_the_first_one(docvec, tmp_path):
    broken = b"%PDF-1.4 nonsense"
    texts = {"a.md": "Same.", "b.md": "Same.", "c.pdf": broken, "d.pdf": broken}
    folder = write(tmp_path / "docs", texts)
    (folder / "e.md").symlink_to(folder / "nowhere.md")
    data = ok(docvec, "index_directory", dir_path=str(folder))
    assert (data["new_documents"], data["duplicates_skipped"]) == (1, 1)
    assert [(Path(each["file_path"]).name, each["error"]) for each in data["errors"]] == [
        ("c.pdf", "Failed to extract content from PDF"),
        ("d.pdf", "Failed to extract content from PDF"),
        ("e.md", f"File not found: {folder / 'e.md'}"),
    ]
    assert len(ok(docvec, "search", query="same")["results"]) == 1


@pytest.mark.covers("docvec-dir-known", "docvec-dir-changed")
def test_a_changed_file_of_a_directory_is_new_even_as_a_copy_of_another(docvec, tmp_path):
    folder = write(tmp_path / "docs", {"a.md": "Zebras walk.", "b.md": "Lions sleep."})
    ok(docvec, "index_directory", dir_path=str(folder))
    write(folder, {"b.md": "Zebras walk."})
    data = ok(docvec, "index_directory", dir_path=str(folder))
    assert (data["new_documents"], data["duplicates_skipped"]) == (1, 1)
    assert list(data["chunk_ids"]) == [str(folder / "b.md")]
    assert "Lions sleep." not in contents(ok(docvec, "search", query="lions"))


@pytest.mark.covers("docvec-dir-known", "docvec-everywhere", "docvec-collection")
def test_all_collections_are_searched_and_count_as_indexed(tmp_path):
    folder = write(tmp_path / "notes", {"a.md": "Zebras walk."})
    with open_at(tmp_path) as engine:
        engine.add_collection(folder, name="notes")
        engine.index("notes")
        engine.include_collection("notes", included=False)
    with in_process("docvec", tmp_path) as docvec:
        assert contents(ok(docvec, "search", query="zebras")) == ["Zebras walk."]
        assert ok(docvec, "index_directory", dir_path=str(folder))["duplicates_skipped"] == 1
        other = write(tmp_path / "other", {"b.md": "Lions sleep."})
        ok(docvec, "index_directory", dir_path=str(other))
    with open_at(tmp_path) as engine:
        assert {info.collection for info in engine.documents()} == {"notes", "default"}


@pytest.mark.covers("docvec-collection", "docvec-dir-errors")
def test_the_command_line_says_which_collection_is_written_to(tmp_path):
    folder = write(tmp_path / "papers", {"a.md": "Zebras walk.", "b.pdf": b"%PDF-1.4 nonsense"})
    other = write(tmp_path / "other", {"c.md": "Lions sleep."}) / "c.md"
    with open_at(tmp_path) as engine:
        engine.add_collection(folder, name="papers")
    with talking("docvec", tmp_path, "stdio handshake", "--collection", "papers") as docvec:
        ok(docvec, "index_file", file_path=str(other))
        data = ok(docvec, "index_directory", dir_path=str(folder))
    assert list(data["chunk_ids"]) == [str(folder / "a.md")]
    assert [each["file_path"] for each in data["errors"]] == [str(folder / "b.pdf")]
    with open_at(tmp_path) as engine:
        assert {(info.collection, info.origin, info.uri) for info in engine.documents()} == {
            ("papers", "walked", (folder / "a.md").as_uri()),
            ("papers", "ingested", other.as_uri()),
        }


@pytest.mark.covers("docvec-search-embedding-time")
def test_the_time_for_the_vector_of_the_query_is_measured_by_itself(shelf):
    data = ok(shelf, "search", query="zebra")
    assert data["query_embedding_time"] > 0
    assert data["search_time"] > 0


@pytest.mark.covers("docvec-search-hybrid")
def test_a_search_ranks_as_the_engine_does_at_its_best(shelf):
    found = ok(shelf, "search", query="deployment lever zebra", n_results=50)
    with open_at(Path(found["results"][0]["metadata"]["source_file"]).parent.parent) as engine:
        best = engine.search(Query("deployment lever zebra", mode="hybrid", limit=50))
    assert best.mode == "hybrid"
    assert contents(found) == [hit.chunk.text for hit in best.hits]
    assert [each["score"] for each in found["results"]] == [round(hit.score, 4) for hit in best.hits]


@pytest.mark.covers("docvec-search-empty")
def test_an_empty_index_answers_with_no_results(docvec):
    data = ok(docvec, "search", query="anything")
    assert (data["results"], data["total_tokens"]) == ([], 0)
    assert ok(docvec, "search_with_budget", query="anything") == {
        "results": [],
        "total_tokens": 0,
        "budget_utilized": 0.0,
        "truncated": False,
        "truncated_count": 0,
    }


@pytest.mark.covers("docvec-filters-optional")
@pytest.mark.parametrize("given", [{}, {"filters": {}}])
def test_filters_may_be_left_out(shelf, given):
    found = ok(shelf, "search_with_filters", query="zebra lighthouses", n_results=7, **given)
    assert contents(found) == contents(ok(shelf, "search", query="zebra lighthouses", n_results=7))


@pytest.mark.covers("docvec-filters-inside")
def test_filters_apply_before_the_best_are_picked(shelf):
    (only,) = metadata_of(shelf, "zebra", header_path="All > Part 59")
    assert only["header_path"] == "All > Part 59"
    (first,) = ok(shelf, "search_with_filters", query="zebra", filters={"function_name": "undeploy"}, n_results=1)[
        "results"
    ]
    assert first["metadata"]["function_name"] == "undeploy"
    assert metadata_of(shelf, "zebra", function_name="none such") == []


@pytest.mark.covers("docvec-filters-range", "docvec-filters-contains", "docvec-filters-operators", "docvec-filters-or")
@pytest.mark.parametrize(
    ("filters", "pages"),
    [
        ({"page_number": {"$gte": 2, "$lte": 3}}, {2, 3}),
        ({"page_number": {"$gt": 1, "$lt": 3}}, {2}),
        ({"page_number": {"$eq": 3}}, {3}),
        ({"page_number": {"$ne": 3}}, {1, 2}),
        ({"page_number": {"$in": [1, 3]}}, {1, 3}),
        ({"page_number": {"$nin": [1, 3]}}, {2}),
        ({"source_file": {"$contains": "manu"}}, {1, 2, 3}),
        ({"$and": [{"page_number": {"$gte": 2}}, {"page_number": {"$lt": 3}}]}, {2}),
        ({"$or": [{"page_number": 1}, {"page_number": 3}]}, {1, 3}),
        ({"page_position": "end", "page_number": 2}, {2}),
    ],
)
def test_operators_compare(shelf, filters, pages):
    found = metadata_of(shelf, "deployment lighthouses storms", **{"file_format": "pdf"} | filters)
    assert {each["page_number"] for each in found} == pages


@pytest.mark.covers("docvec-filters-unknown", "docvec-filters-values")
@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"colour": "red"}, "colour"),
        ({"$or": [{"header_level": 2}, {"title": "x"}]}, "title"),
        ({"page_number": {"$near": 3}}, "$near"),
        ({"$nor": [{"page_number": 3}]}, "$nor"),
        ({"page_number": "three"}, "page_number"),
        ({"start_line": {"$gte": "three"}}, "start_line"),
        ({"source_file": {"$contains": 3}}, "source_file"),
        ({"$and": []}, "$and"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_and_named(shelf, filters, named):
    refused = error(shelf, "search_with_filters", query="deployment", filters=filters)
    assert refused["error_code"] == "INVALID_INPUT"
    assert named in refused["error"]


@pytest.mark.covers("docvec-arguments", "docvec-unknown-tool")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search", {}, "query"),
        ("search", {"query": 3}, "query"),
        ("search", {"query": " \n"}, "query"),
        ("search", {"query": "x", "limit": 3}, "limit"),
        ("search", {"query": "x", "n_results": "many"}, "n_results"),
        ("search", {"query": "x" * 70_000}, "query"),
        ("search_with_filters", {"query": "x", "filters": "type:pdf"}, "filters"),
        ("search_with_filters", {"query": "x", "n_results": 51}, "n_results"),
        ("search_with_budget", {"query": "x", "max_tokens": 0}, "max_tokens"),
        ("search_with_budget", {"query": "x", "max_tokens": 1.5}, "max_tokens"),
        ("index_file", {}, "file_path"),
        ("index_file", {"file_path": ["a"]}, "file_path"),
        ("index_directory", {"dir_path": ".", "recursive": "yes"}, "recursive"),
    ],
)
def test_arguments_that_a_tool_does_not_take_are_refused_and_named(shelf, tool, arguments, named):
    refused = error(shelf, tool, **arguments)
    assert refused["error_code"] == "INVALID_INPUT"
    assert f"'{named}'" in refused["error"]
    assert refused["details"]["argument"] == named
    assert shelf.error("tools/call", {"name": "reindex", "arguments": {}})["code"] == -32602


@pytest.mark.covers("docvec-budget-candidates")
def test_at_most_fifty_candidates_are_considered(shelf):
    data = ok(shelf, "search_with_budget", query="zebra", max_tokens=1_000_000)
    assert (len(data["results"]), data["truncated"], data["truncated_count"]) == (50, False, 0)
    less = ok(shelf, "search_with_budget", query="zebra", max_tokens=data["total_tokens"] - 1)
    assert less["truncated"] is True
    assert len(less["results"]) + less["truncated_count"] == 50


@pytest.mark.covers("docvec-budget-total", "docvec-budget-utilized")
def test_no_budget_is_ever_exceeded(shelf):
    for budget in [*range(5, 60, 3), 200, 800]:
        data = ok(shelf, "search_with_budget", query="zebra deployment lever", max_tokens=budget)
        assert 0 < data["total_tokens"] <= budget
        assert data["total_tokens"] == sum(each["token_count"] for each in data["results"])
        assert data["budget_utilized"] == round(data["total_tokens"] / budget, 2)
        assert data["truncated"] is (data["truncated_count"] > 0)


@pytest.mark.covers("docvec-budget-skips", "docvec-budget-order")
def test_what_does_not_fit_is_skipped_and_the_next_tried(docvec, tmp_path):
    texts = {
        "long.md": "Zebras zebras. " + "They walk far away. " * 20,
        "short.md": "Zebras rest.",
        "other.md": "Lions.",
    }
    write(tmp_path / "docs", texts)
    ok(docvec, "index_directory", dir_path=str(tmp_path / "docs"))
    assert contents(ok(docvec, "search", query="zebras walk"))[0].startswith("Zebras zebras.")
    data = ok(docvec, "search_with_budget", query="zebras walk", max_tokens=10)
    assert contents(data)[0] == "Zebras rest."
    assert data["truncated"] is True
    assert data["truncated_count"] == 3 - len(data["results"])


@pytest.mark.covers("docvec-budget-cut", "docvec-budget-exceeded")
def test_where_nothing_fits_the_best_one_is_cut_at_a_sentence(docvec, tmp_path):
    path = write(tmp_path, {"a.txt": "Zebras walk far.\nThen they rest.\nThen they walk on and on."}) / "a.txt"
    ok(docvec, "index_file", file_path=str(path))
    data = ok(docvec, "search_with_budget", query="zebras", max_tokens=9)
    (only,) = data["results"]
    assert only["content"] == "Zebras walk far.\nThen they rest."
    assert (only["metadata"]["start_line"], only["metadata"]["end_line"]) == (1, 2)
    assert data["total_tokens"] == only["token_count"] <= 9
    assert (data["truncated"], data["truncated_count"]) == (True, 1)
    small = error(docvec, "search_with_budget", query="zebras", max_tokens=3)
    assert small["error_code"] == "BUDGET_EXCEEDED"
    assert small["error"].startswith("Token budget too small")
    assert small["details"]["max_tokens"] == 3
    assert small["details"]["smallest_result"] > 9


@pytest.mark.covers("docvec-read-only")
def test_tools_that_write_are_hidden_where_nothing_may_be_written(tmp_path):
    with in_process("docvec", tmp_path, access=Access(read_only=True)) as docvec:
        names = {each["name"] for each in docvec.request("tools/list")["tools"]}
        assert names == {"search", "search_with_filters", "search_with_budget"}


@pytest.mark.covers("docvec-token")
def test_indexing_over_http_needs_the_token(tmp_path):
    path = write(tmp_path, {"a.md": "A."}) / "a.md"
    with http_server(tmp_path) as address, connected(f"{address}/docvec/mcp", "handshake", token=None) as docvec:
        refused = error(docvec, "index_file", file_path=str(path))
        assert refused["error_code"] == "PERMISSION_DENIED"
        assert "token" in refused["error"]
        assert ok(docvec, "search", query="a")["results"] == []
