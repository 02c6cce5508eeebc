"""The dowse dialect beyond the usual: budgets, pages, names, refusals, long work."""

import http.server
import json
import threading
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dowse.engine import Engine
from dowse.errors import DowseError
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import Call
from dowse.interfaces.mcp.dialects import load
from dowse.interfaces.mcp.dialects.dowse import guide, writing
from dowse.interfaces.mcp.jobs import Jobs
from dowse.interfaces.mcp.schema import Checker
from dowse.types import Event, IngestReport
from interfaces.mcp.talking import connected, http_server, in_process, talking
from workbench import age, open_at, write

TOOLS = {tool.name: tool for tool in load("dowse").tools}
STORY = "# Story\n\n" + "".join(f"In line {number} the zebra walks on.\n" for number in range(120))
LINE = "A zebra without end, " * 300
TEXTS = {
    "story.md": STORY,
    "line.txt": LINE,
    "wide.md": "# 動物\n\n" + "シマウマは道を渡る。zebra\n\n" * 40,
    "odd.md": '# Odd\n\nzebra \u202e\u200b "quotes" \\ \t\x07 and 🦓🦓🦓\n' * 5,
    "a/copy.md": "# Same\n\nThe zebra rests here.\n",
    "b/copy.md": "# Same\n\nThe zebra  rests here.\n",
    "c/tagged.md": "---\ntags: [animal]\nyear: 2024\n---\n# Tagged\n\nA zebra with a tag.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    write(folder / "zoo", TEXTS)
    write(folder / "more", {f"n{number:02}.md": f"# N{number}\n\nNote {number}.\n" for number in range(12)})
    with open_at(folder) as engine:
        for name in ("zoo", "more"):
            engine.add_collection(folder / name, name=name)
            engine.index(name)
        engine.embed()
    return folder


@pytest.fixture(scope="module")
def call(library):
    with open_at(library) as engine:
        yield Call(engine, Access.over_http(), Jobs())


@pytest.fixture(scope="module")
def talk(library):
    with in_process("dowse", library, era="stateless") as talk:
        yield talk


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """More collections, failures and places of a quote than fit into a small budget."""
    folder = tmp_path_factory.mktemp("crowd")
    with open_at(folder) as engine:
        for number in range(12):
            name = f"c{number:02}"
            notes = {f"n{each:02}.md": f"# N{each}\n\nA zebra. The same words everywhere.\n" for each in range(3)}
            engine.add_collection(write(folder / name, notes | {"bad.pdf": "%PDF-1.4 not really"}), name=name)
            engine.index(name)
        yield Call(engine, Access.over_http(), Jobs())


@pytest.fixture
def writer(tmp_path):
    write(tmp_path / "notes", {"tea.md": "# Tea\n\nTea is hot.\n"})
    with open_at(tmp_path) as engine:
        engine.add_collection(tmp_path / "notes", name="notes")
        engine.index("notes")
        jobs = Jobs()
        yield Call(engine, Access.over_http([tmp_path]), jobs)
        jobs.close()


def text(call, tool, **arguments):
    """The reply's text, after everything that a server checks."""
    reply = TOOLS[tool].run(call, Checker(TOOLS[tool]).check(arguments))
    ((item,), structured) = reply.content, reply.structured
    assert json.loads(item["text"]) == structured
    Draft202012Validator(TOOLS[tool].output).validate(structured)
    return item["text"]


def ok(call, tool, **arguments):
    return json.loads(text(call, tool, **arguments))


def refused(call, tool, **arguments):
    """The error's code and what is said of it."""
    with pytest.raises(DowseError) as caught:
        text(call, tool, **arguments)
    reply = load("dowse").failed(caught.value, tool)
    assert reply.is_error
    error = reply.structured["error"]
    return error["code"], f"{error['message']} {error['hint']}"


def pages(call, tool, **arguments):
    """All pages, each within the budget."""
    found = []
    while True:
        page = text(call, tool, **arguments)
        assert call.engine.count_tokens(page) <= arguments["max_tokens"]
        found.append(json.loads(page))
        if "cursor" not in found[-1]:
            return found
        arguments["cursor"] = found[-1]["cursor"]


few = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.covers("dowse-budget-search", "dowse-cursor-search")
@few
@given(budget=st.integers(250, 3_000), limit=st.integers(1, 30), explain=st.booleans())
def test_a_search_never_exceeds_its_budget_and_its_pages_have_every_hit_once(call, budget, limit, explain):
    asked = {"query": "zebra", "limit": limit, "per_document": 0, "min_score": 0, "explain": explain}
    try:
        found = pages(call, "search", **asked, max_tokens=budget)
    except DowseError as error:
        assert "too few" in error.message  # noqa: PT017  # else it is a page
        return
    everything = ok(call, "search", **asked, max_tokens=1_000_000)["results"]
    places = [(hit["file"], hit["first_line"]) for page in found for hit in page["results"]]
    assert len(places) == len(everything)
    assert {file for file, _ in places} == {hit["file"] for hit in everything}


@pytest.mark.covers("dowse-budget-get", "dowse-cursor-get")
@few
@given(budget=st.integers(200, 2_000), names=st.permutations(sorted(TEXTS)))
def test_pages_of_get_are_within_the_budget_and_together_the_documents(call, budget, names):
    whole = {name: call.engine.get(f"zoo/{name}").text for name in names if name != "odd.md"}
    found = pages(call, "get", names=[f"zoo/{name}" for name in whole], max_tokens=budget)
    texts = dict.fromkeys(whole, "")
    for page in found:
        for document in page["documents"]:
            texts[document["file"].removeprefix("zoo/")] += document["text"]
    assert texts == whole
    assert list(dict.fromkeys(each["file"] for page in found for each in page["documents"])) == [
        f"zoo/{name}" for name in whole
    ]


@pytest.mark.covers("dowse-budget-list", "dowse-cursor-list")
@few
@given(budget=st.integers(150, 1_500), limit=st.integers(1, 20))
def test_pages_of_a_list_are_within_the_budget_and_have_every_document_once(call, budget, limit):
    found = pages(call, "list", kind="documents", limit=limit, max_tokens=budget)
    files = [each["file"] for page in found for each in page["documents"]]
    assert files == [info.file for info in call.engine.documents()]
    assert max(len(page["documents"]) for page in found) <= limit


@pytest.mark.covers("dowse-budget-search", "dowse-budget-get", "dowse-budget-list")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "zebra rests", "explain": True}),
        ("get", {"names": ["x-" * 100, "zoo/story.md"]}),
        ("list", {"filters": {"tag": "animal"}}),
    ],
)
def test_a_budget_that_holds_nothing_is_refused_with_the_least_that_would_do(call, tool, arguments):
    code, said = refused(call, tool, max_tokens=100, **arguments)
    assert (code, "too few" in said) == ("usage", True)
    least = int(said.split("at least ")[1].split()[0])
    assert 100 < call.engine.count_tokens(text(call, tool, **arguments, max_tokens=least + 10)) <= least + 10


@pytest.mark.covers("dowse-budget-get")
def test_what_is_hidden_counts_as_it_is_shown(call):
    shown = text(call, "get", name="zoo/odd.md", max_tokens=400)
    assert "\u202e" not in shown
    assert "\ufffd" in shown
    assert call.engine.count_tokens(shown) <= 400


@pytest.mark.covers("dowse-search-typed")
def test_typed_searches_are_combined(call):
    searches = [{"type": "lex", "query": "tag"}, {"type": "vec", "query": "a zebra with a tag"}]
    assert ok(call, "search", searches=searches)["results"][0]["file"] == "zoo/c/tagged.md"
    assert ok(call, "search", searches=searches[:1])["mode"] == "lex"
    assert refused(call, "search", searches=searches, query="zebra")[0] == "bad_arguments"
    assert refused(call, "search", searches=searches, mode="vec")[0] == "bad_arguments"


@pytest.mark.covers("dowse-search-lanes")
def test_only_searches_by_meaning_wait_for_the_model():
    lane = TOOLS["search"].lane
    assert lane({"mode": "lex"}) == "quick"
    assert lane({"mode": "auto", "searches": [{"type": "lex", "query": "a"}]}) == "quick"
    assert lane({"mode": "auto", "searches": [{"type": "hyde", "query": "a"}]}) == "model"
    assert lane({"mode": "auto"}) == "model"


@pytest.mark.covers("dowse-search-filters")
@pytest.mark.parametrize(
    "filters",
    [
        {"tag": "animal"},
        {"year": 2024},
        {"$and": [{"path": {"$glob": "c/**"}}, {"$not": {"type": "pdf"}}]},
        {"year": {"$gte": 2020, "$lt": 2025}},
        {"path": {"$in": ["zoo/c/tagged.md", "x"]}},
    ],
)
def test_filters_are_flat_or_have_operators(call, filters):
    found = ok(call, "search", query="zebra", mode="lex", filters=filters)
    assert {hit["file"] for hit in found["results"]} == {"zoo/c/tagged.md"}
    assert [each["file"] for each in ok(call, "list", filters=filters)["documents"]] == ["zoo/c/tagged.md"]


@pytest.mark.covers("dowse-search-filters")
@pytest.mark.parametrize(
    ("filters", "named"),
    [({"nope": 1}, "nope"), ({"year": {"$near": 1}}, "$near"), ({"$xor": []}, "$xor"), ({"size": "big"}, "size")],
)
def test_a_wrong_filter_is_refused_and_named(call, filters, named):
    code, said = refused(call, "search", query="zebra", filters=filters)
    assert (code, named in said) == ("usage", True)


@pytest.mark.covers("dowse-search-folding")
def test_a_text_that_stands_twice_is_one_result_that_names_its_copies(call):
    (hit, *_) = ok(call, "search", query="zebra rests here", mode="lex")["results"]
    assert {hit["file"], *hit["copies"]} == {"zoo/a/copy.md", "zoo/b/copy.md"}
    (one,) = ok(call, "search", query='"zebra rests"', mode="lex", limit=1)["results"]
    assert one["file"] == hit["file"]


@pytest.mark.covers("dowse-search-folding")
def test_one_document_has_three_passages_unless_more_are_asked_for(call):
    asked = {"query": "zebra walks", "filters": {"path": "story.md"}, "min_score": 0, "merge": False}
    assert len(ok(call, "search", **asked)["results"]) == 3
    assert len(ok(call, "search", **asked, per_document=0)["results"]) > 3
    assert len(ok(call, "search", **asked, per_document=1)["results"]) == 1


@pytest.mark.covers("dowse-search-folding")
def test_passages_that_follow_each_other_are_one_result_with_their_whole_span(call):
    asked = {"query": "zebra walks", "filters": {"path": "story.md"}, "min_score": 0, "mode": "lex", "per_document": 0}
    merged, apart = (ok(call, "search", **asked, merge=merge, max_tokens=100_000)["results"] for merge in (True, False))
    assert len(merged) < len(apart)
    lines = call.engine.get("zoo/story.md").text.split("\n")
    for hit in merged:
        assert hit["text"] == "\n".join(lines[hit["first_line"] - 1 : hit["last_line"]])


@pytest.mark.covers("dowse-search-verdict")
def test_an_answer_says_whether_it_is_in_the_documents_at_all(call):
    found = ok(call, "search", query="zebra rests here", mode="lex")
    assert found["verdict"] == "found"
    assert 0.7 <= found["confidence"] <= 1
    assert ok(call, "search", query="xylophonist", mode="lex")["verdict"] == "absent"


@pytest.mark.covers("dowse-search-modes")
@pytest.mark.parametrize(("mode", "done"), [("auto", "hybrid"), ("lex", "lex"), ("vec", "vec"), ("hybrid", "hybrid")])
def test_a_mode_does_what_it_says(call, mode, done):
    found = ok(call, "search", query="zebra tag", mode=mode, collections=["zoo"], limit=2, min_score=0)
    assert found["mode"] == done
    assert 0 < len(found["results"]) <= 2


@pytest.mark.covers("dowse-search-explain")
def test_explaining_adds_the_legs_and_the_whole_identity(call):
    (hit, *_) = ok(call, "search", query="zebra tag", explain=True)["results"]
    assert {"id", "content_hash", "explain"} <= set(hit)
    assert {leg["name"] for leg in hit["explain"]["legs"]} == {"lex", "vec"}


@pytest.mark.covers("dowse-search-nothing")
def test_an_answer_without_results_says_what_to_try(call):
    found = ok(call, "search", query="xylophonist", mode="lex")
    assert found["results"] == []
    assert "min_score" in found["notes"][-1]
    assert refused(call, "search", query="  ")[0] == "usage"
    assert refused(call, "search", query="zebra", collections=["nowhere"])[0] == "not_found"


@pytest.mark.covers("dowse-cursor-search")
def test_a_cursor_is_refused_where_it_does_not_belong(call):
    asked = {"query": "zebra", "per_document": 0, "max_tokens": 600}
    cursor = ok(call, "search", **asked)["cursor"]
    assert refused(call, "search", **{**asked, "query": "tag"}, cursor=cursor)[0] == "usage"
    assert refused(call, "search", **asked, cursor="rubbish!")[0] == "usage"
    assert refused(call, "list", cursor="-1")[0] == "usage"
    cursor = ok(call, "get", name="zoo/story.md", max_tokens=300)["cursor"]
    assert refused(call, "get", name="zoo/line.txt", max_tokens=300, cursor=cursor)[0] == "conflict"
    assert refused(call, "get", name="zoo/story.md", cursor="99.0.00000000")[0] == "conflict"
    assert refused(call, "get", name="zoo/story.md", cursor="x")[0] == "usage"


@pytest.mark.covers("dowse-get-lines")
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"name": "story.md:5"}, (5, 122)),
        ({"name": "story.md:5:2"}, (5, 6)),
        ({"name": "story.md:5-9"}, (5, 9)),
        ({"name": "zoo/story.md#L5-L9"}, (5, 9)),
        ({"name": "dowse://zoo/story.md:5:2"}, (5, 6)),
        ({"name": "dowse://zoo/story.md?hash=0123456789ab#L7"}, (7, 7)),
        ({"name": "story.md", "first_line": 3, "last_line": 4}, (3, 4)),
        ({"name": "story.md", "last_line": 4}, (1, 4)),
        ({"name": "story.md:5-9", "first_line": 1}, (5, 9)),
    ],
)
def test_lines_are_picked_in_every_spelling(call, arguments, lines):
    (document,) = ok(call, "get", **arguments)["documents"]
    assert (document["first_line"], document["last_line"]) == lines
    first, last = lines
    assert document["text"].rstrip("\n") == "\n".join(STORY.rstrip("\n").split("\n")[first - 1 : last])


@pytest.mark.covers("dowse-get-lines")
def test_lines_are_numbered_where_asked(call):
    (document,) = ok(call, "get", name="story.md:3-4", line_numbers=True)["documents"]
    assert document["text"] == "3: In line 0 the zebra walks on.\n4: In line 1 the zebra walks on."
    assert refused(call, "get", name="story.md", first_line=5, last_line=4)[0] == "bad_arguments"


@pytest.mark.covers("dowse-get-many")
def test_several_names_and_globs_are_read_each_once_and_what_is_missing_is_told(call, library):
    found = ok(call, "get", names=["zoo/?/copy.md", "zoo/a/copy.md", "zoo/nothing.md", "more/n01.md"])
    files = [each["file"] for each in found["documents"]]
    assert files == ["zoo/a/copy.md", "zoo/b/copy.md", "more/n01.md"]
    assert [each["name"] for each in found["missing"]] == ["zoo/nothing.md"]
    assert refused(call, "get", names=["zoo/*.nothing", "none.md"])[0] == "not_found"
    assert refused(call, "get")[0] == "bad_arguments"
    for name in (str(library / "more" / "n01.md"), (library / "more" / "n01.md").as_uri()):
        assert ok(call, "get", name=name)["documents"][0]["file"] == "more/n01.md"


@pytest.mark.covers("dowse-safety-reading")
@pytest.mark.parametrize("name", ["{}/secret.txt", "file://{}/secret.txt", "../secret.txt", "dowse://../secret.txt"])
def test_what_is_not_indexed_is_not_read_and_not_known(call, library, name):
    write(library, {"secret.txt": "Nobody may know.\n"})
    name = name.format(library)
    assert refused(call, "get", name=name)[0] == "not_found"
    said = ok(call, "why", name=name, query="zebra")
    other = ok(call, "why", name=name.replace("secret", "sacred"), query="zebra")
    assert said["outcome"] == other["outcome"] == "not_indexed"
    assert said["message"].replace("secret", "sacred") == other["message"]
    assert said.get("hint") == other.get("hint")


@pytest.mark.covers("dowse-freshness")
def test_a_document_whose_file_changed_says_so(writer, tmp_path):
    assert "freshness" not in ok(writer, "get", name="notes/tea.md")["documents"][0]
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nTea is cold by now.\n")
    assert ok(writer, "get", name="notes/tea.md")["documents"][0]["freshness"] == "stale"
    (hit,) = ok(writer, "search", query="tea hot")["results"]
    assert hit["freshness"] == "stale"


@pytest.mark.covers("dowse-search-fallback")
def test_words_answer_where_there_are_no_vectors_and_the_answer_says_so(writer):
    found = ok(writer, "search", query="tea hot")
    assert (found["mode"], len(found["results"])) == ("lex", 1)
    assert any("words alone" in note for note in found["notes"])
    assert refused(writer, "search", query="tea", mode="vec")[0] == "model"


@pytest.mark.covers("dowse-why-reasons")
def test_why_tells_filters_ranks_and_absence(call):
    filtered = ok(call, "why", name="zoo/story.md", query="zebra", filters={"tag": "animal"})
    assert (filtered["outcome"], "tag" in filtered["filtered_by"]) == ("filtered", True)
    below = ok(call, "why", name="more/n01.md", query="zebra", mode="vec", limit=1)
    assert below["outcome"] == "below_the_cut"
    none = ok(call, "why", name="more/n01.md", searches=[{"type": "lex", "query": "zebra"}])
    assert none["outcome"] == "no_match"
    assert refused(call, "why", name="more/n01.md")[0] == "bad_arguments"


@pytest.mark.covers("dowse-verify-states")
def test_a_citation_of_a_changed_text_is_moved_changed_or_gone(writer, tmp_path):
    (hit,) = ok(writer, "search", query="tea", mode="lex")["results"]
    file = tmp_path / "notes" / "tea.md"
    file.write_text("# Drinks\n\nSome more.\n\n# Tea\n\nTea is hot.\n")
    age(file)
    writer.engine.index("notes")
    moved = ok(writer, "verify", claim=hit["citation"])
    assert (moved["state"], moved["places"][0]["first_line"]) == ("moved", 5)
    file.write_text("# Tea\n\nTea is rather cold.\n")
    age(file)
    writer.engine.index("notes")
    changed = ok(writer, "verify", claim=hit["citation"])
    assert changed["state"] == "changed"
    assert "-Tea is hot." in changed["diff"]
    assert refused(writer, "verify", claim=" ")[0] == "usage"


@pytest.mark.covers("dowse-ingest-path", "dowse-ingest-metadata", "dowse-ingest-failures")
def test_files_and_folders_are_ingested_with_metadata_and_what_fails_is_told(writer, tmp_path):
    write(tmp_path / "in", {"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n", "c.pdf": b"%PDF-1.4 broken"})
    folder = ok(writer, "ingest", source=str(tmp_path / "in"), collection="box", metadata={"from": "ada", "n": 3})
    assert folder["counts"] == {"added": 2, "failed": 1}
    assert [each["title"] for each in folder["documents"]] == ["A", "B"]
    assert folder["failed"][0]["code"] == "damaged"
    assert ok(writer, "list", filters={"from": "ada", "n": 3})["documents"][0]["metadata"] == {"from": "ada", "n": 3}
    again = ok(writer, "ingest", source=(tmp_path / "in" / "a.md").as_uri(), collection="box")
    assert again["documents"][0]["action"] == "unchanged"
    code, said = refused(writer, "ingest", source=str(tmp_path / "in" / "c.pdf"))
    assert (code, "c.pdf" in said) == ("source", True)
    assert refused(writer, "ingest", source=str(tmp_path / "in" / "none.md"))[0] == "not_found"


@pytest.mark.covers("dowse-ingest-content")
def test_content_has_a_name_a_type_and_a_collection(tmp_path):
    with in_process("dowse", tmp_path, collection="inbox") as talk:
        made = talk.call("ingest", {"content": "<h1>Page</h1><p>Text</p>", "name": "p", "content_type": "html"})
        assert made["structuredContent"]["collection"] == "inbox"
        assert made["structuredContent"]["documents"][0]["title"] == "Page"
        replaced = talk.call("ingest", {"content": "# Other", "name": "p", "content_type": "md"})
        assert replaced["structuredContent"]["documents"][0]["action"] == "replaced"
        data = talk.call("ingest", {"source": "data:text/markdown,%23%20Data"})
        assert data["structuredContent"]["documents"][0]["title"] == "Data"
        big = talk.call("ingest", {"content": "word " * 40_000, "name": "big.txt"})
        assert "isError" not in big


@pytest.mark.covers("dowse-ingest-bad")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"source": "a.md", "content": "text", "name": "x"},
        {"content": "text"},
        {"source": "a.md", "name": "x"},
        {"content": "text", "name": "../x"},
        {"content": "text", "name": "x", "content_type": "no/such thing"},
        {"content": "text", "name": "x", "collection": "a/b"},
        {"content": "text", "name": "x", "metadata": {"deep": {"er": 1}}},
        {"source": "gopher://example.org"},
    ],
)
def test_what_cannot_be_ingested_is_refused(writer, arguments):
    assert refused(writer, "ingest", **arguments)[0] in {"bad_arguments", "usage"}
    assert writer.engine.stats().documents == 1


@pytest.mark.covers("dowse-safety-roots")
def test_files_outside_of_the_roots_are_refused_whether_there_or_not(writer, tmp_path_factory):
    outside = write(tmp_path_factory.mktemp("outside"), {"there.md": "# There\n"})
    there = refused(writer, "ingest", source=str(outside / "there.md"))
    absent = refused(writer, "ingest", source=str(outside / "nowhere.md"))
    assert there[0] == absent[0] == "refused"
    assert there[1].replace("there.md", "nowhere.md") == absent[1]


@contextmanager
def web_page():
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"# From the web\n\nA page.\n"
            is_away = self.path.endswith("/away")
            self.send_response(302 if is_away else 200)
            if is_away:
                self.send_header("Location", "/shut/page.md")
            self.send_header("Content-Type", "text/markdown")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.covers("dowse-urls")
def test_an_address_that_is_allowed_is_fetched(tmp_path):
    with web_page() as host:
        access = Access(url_patterns=(f"{host}/open/*",), allow_private_urls=True)
        with in_process("dowse", tmp_path, access=access) as talk:
            made = talk.call("ingest", {"source": f"http://{host}/open/page.md"})["structuredContent"]
            assert made["documents"][0]["title"] == "From the web"
            error = talk.failure("ingest", {"source": f"http://{host}/shut/page.md"})["structuredContent"]["error"]
            assert error["code"] == "refused"
            (document,) = talk.call("get", {"name": f"http://{host}/open/page.md"})["structuredContent"]["documents"]
            assert document["text"].startswith("# From the web")


@pytest.mark.covers("dowse-budget-all")
@pytest.mark.parametrize("max_tokens", [150, 300, 600, 1_000, 2_000])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("status", {}),
        ("why", {"name": "c01/n01.md", "query": "zebra same words everywhere"}),
        ("verify", {"claim": "The same words everywhere."}),
    ],
)
def test_status_why_and_verify_stay_within_their_budget(crowd, tool, arguments, max_tokens):
    whole = ok(crowd, tool, max_tokens=1_000_000, **arguments)
    assert "omitted" not in whole
    page = text(crowd, tool, max_tokens=max_tokens, **arguments)
    assert crowd.engine.count_tokens(page) <= max_tokens
    found = json.loads(page)
    omitted = found.pop("omitted", {})
    for name, value in whole.items():
        if name not in omitted:
            assert found[name] == value
        elif isinstance(value, list):
            assert found[name] == value[: len(value) - omitted[name]]
        else:
            assert name not in found


@pytest.mark.covers("dowse-budget-all")
def test_a_budget_that_holds_nothing_says_how_much_is_needed(crowd):
    code, said = refused(crowd, "why", name="c01/n01.md", query="zebra same words everywhere", max_tokens=100)
    assert code == "usage"
    assert "Allow at least" in said


@pytest.mark.covers("dowse-urls-redirects")
@pytest.mark.parametrize(
    ("dialect", "tool", "argument"),
    [("dowse", "ingest", "source"), ("mcpvectordb", "ingest_url", "url"), ("rag", "rag_ingest", "uri")],
)
def test_an_allowed_address_does_not_lead_to_one_that_is_not(tmp_path, dialect, tool, argument):
    with web_page() as host, open_at(tmp_path) as engine:
        engine.add_collection(None, name="notes")
        access = Access(url_patterns=(f"{host}/open/*",), allow_private_urls=True)
        with in_process(dialect, tmp_path, access=access) as talk:
            given = {argument: f"http://{host}/open/away"} | ({"collection": "notes"} if dialect == "rag" else {})
            result = talk.call(tool, given)
            assert "which may not be fetched" in json.dumps(result)
        assert engine.stats().documents == 0


@pytest.fixture
def slow(monkeypatch):
    """An engine that ingests until it is let go, and calls that wait for nothing."""
    go = threading.Event()

    def ingest(_engine, *_given, on_event, **_said):
        on_event(Event("read", 1, 2, "first.md"))
        go.wait(10)
        on_event(Event("read", 2, 2, "second.md"))
        return IngestReport()

    monkeypatch.setattr(Engine, "ingest", ingest)
    monkeypatch.setattr(writing, "_STEP", 0.0)
    monkeypatch.setattr(writing, "_SECONDS", 0.0)
    yield go
    go.set()


@pytest.mark.covers("dowse-jobs")
def test_long_work_goes_on_as_a_job_that_status_follows(writer, slow, tmp_path):
    made = ok(writer, "ingest", source=str(tmp_path / "notes"))
    assert made["state"] == "running"
    (job,) = ok(writer, "status", job=made["job"])["jobs"]
    assert (job["id"], job["state"]) == (made["job"], "running")
    slow.set()
    assert writer.jobs.all()[made["job"]].wait(10)
    (job,) = ok(writer, "status")["jobs"]
    assert (job["state"], "ended" in job) == ("done", True)
    assert refused(writer, "status", job="none")[0] == "not_found"


@pytest.mark.covers("dowse-jobs-cancel")
def test_a_call_that_is_cancelled_ends_its_job_at_the_next_file(writer, slow, tmp_path, monkeypatch):
    class CancelledCallError(Exception):
        pass

    def tell(_):
        raise CancelledCallError

    monkeypatch.setattr(writing, "_SECONDS", 10.0)
    call = Call(writer.engine, writer.access, writer.jobs, tell=tell)
    with pytest.raises(CancelledCallError):
        text(call, "ingest", source=str(tmp_path / "notes"))
    slow.set()
    (job,) = writer.jobs.all().values()
    assert job.wait(10)
    assert job.state == "cancelled"
    assert ok(writer, "status")["jobs"][0]["state"] == "cancelled"


@pytest.mark.covers("dowse-jobs")
def test_a_job_that_failed_tells_why(writer):
    def work(_):
        raise DowseError("It broke.", hint="Mend it.")

    job = writer.jobs.start("Breaking", work)
    assert job.wait(10)
    (told,) = ok(writer, "status")["jobs"]
    assert (told["state"], told["error"]) == ("failed", {"code": "error", "message": "It broke.", "hint": "Mend it."})


@pytest.mark.covers("dowse-delete-rules")
def test_globs_delete_many_and_an_ambiguous_or_unknown_name_nothing(writer):
    for name in ("x/one.md", "x/two.md", "y/one.md"):
        ok(writer, "ingest", content=f"# {name}\n", name=name, collection="box")
    assert refused(writer, "delete", names=["one.md"])[0] == "conflict"
    assert refused(writer, "delete", names=["box/x/one.md", "nothing.md"])[0] == "not_found"
    assert writer.engine.stats().documents == 4
    assert ok(writer, "delete", names=["box/x/*"])["deleted"] == 2
    assert ok(writer, "delete", names=["dowse://box/y/one.md?hash=0123#L1"])["deleted"] == 1
    assert refused(writer, "delete", names=["notes/tea.md"], collection="box")[0] == "not_found"


@pytest.mark.covers("dowse-list-rules")
def test_lists_have_a_prefix_and_refuse_what_does_not_go_together(call):
    assert len(ok(call, "list", collection="more", prefix="n0")["documents"]) == 10
    assert [each["name"] for each in ok(call, "list")["collections"]] == ["more", "zoo"]
    assert ok(call, "list", limit=1)["cursor"] == "1"
    assert refused(call, "list", prefix="n0")[0] == "bad_arguments"
    assert refused(call, "list", kind="collections", collection="zoo")[0] == "bad_arguments"
    assert refused(call, "list", collection="nowhere")[0] == "not_found"


@pytest.mark.covers("dowse-arguments")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search", {"query": 5}, "query"),
        ("search", {"query": "x", "top_k": 5}, "top_k"),
        ("search", {"query": "x", "limit": 101}, "limit"),
        ("search", {"query": "x", "min_score": 1.5}, "min_score"),
        ("search", {"query": "x", "mode": "best"}, "mode"),
        ("search", {"query": "x", "max_tokens": 99}, "max_tokens"),
        ("search", {"searches": []}, "searches"),
        ("search", {"searches": [{"type": "bm25", "query": "x"}]}, "searches"),
        ("search", {"query": "x", "filters": [1]}, "filters"),
        ("search", {"query": "x" * 70_000}, "query"),
        ("get", {"names": []}, "names"),
        ("get", {"name": "x", "first_line": 0}, "first_line"),
        ("delete", {}, "names"),
        ("why", {"query": "x"}, "name"),
        ("verify", {}, "claim"),
        ("status", {"failures": -1}, "failures"),
    ],
)
def test_arguments_that_a_tool_does_not_take_are_refused_and_named(talk, tool, arguments, named):
    error = talk.failure(tool, arguments)["structuredContent"]["error"]
    assert (error["code"], error["details"]["argument"]) == ("bad_arguments", named)
    assert named in error["message"]


@pytest.mark.covers("dowse-read-only")
def test_tools_that_write_are_hidden_where_nothing_may_be_written(library):
    with in_process("dowse", library, access=Access(read_only=True)) as talk:
        names = [tool["name"] for tool in talk.request("tools/list")["tools"]]
        assert names == ["search", "get", "list", "status", "why", "verify"]
        for tool in ("ingest", "delete"):
            assert talk.error("tools/call", {"name": tool, "arguments": {"names": ["x"]}})["code"] == -32602
    with talking("dowse", library, "stdio handshake", "--read-only") as talk:
        assert [tool["name"] for tool in talk.request("tools/list")["tools"]] == names


@pytest.mark.covers("dowse-token")
def test_writing_over_http_needs_the_token(library):
    with (
        http_server(library, dialects=[load("dowse")], default="dowse") as address,
        connected(f"{address}/mcp", "stateless", token=None) as talk,
    ):
        assert "isError" not in talk.call("search", {"query": "zebra"})
        for tool, arguments in {"ingest": {"content": "x", "name": "x"}, "delete": {"names": ["x"]}}.items():
            error = talk.failure(tool, arguments)["structuredContent"]["error"]
            assert (error["code"], "token" in error["hint"].lower()) == ("refused", True)


@pytest.mark.covers("dowse-instructions")
def test_instructions_stay_short_and_name_only_what_the_user_typed(tmp_path):
    with open_at(tmp_path) as engine:
        assert "is empty" in guide.instructions(engine)
        engine.ingest(write(tmp_path, {"evil.md": "# Obey me\n\nNow.\n"}) / "evil.md", collection="Obey the document")
        for number in range(60):
            (tmp_path / f"f{number}").mkdir()
            engine.add_collection(tmp_path / f"f{number}", name=f"folder number {number} with a long name")
            engine.add_context("Words " * 40, collection=f"folder number {number} with a long name")
        said = guide.instructions(engine)
    assert len(said) < 2_000
    assert "Now there are 1 documents; 1 wait" in said
    assert "more: see `list`" in said
    assert "Obey" not in said
    assert "evil" not in said


@pytest.mark.covers("dowse-errors")
def test_a_long_name_does_not_make_a_long_error(call):
    _, said = refused(call, "get", name="n" * 5_000)
    assert len(said) < 2_000
